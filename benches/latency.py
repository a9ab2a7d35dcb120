"""`python -m benches.latency`: from the server's write to the user's loop, client by client, parser or not.

A server in another process writes one event at a time, whose text is the time of the write; the user's loop takes the
time at which it has the item. Both clocks are the machine's one monotonic clock. In between lie two system calls, the
waking of a process that waits, the client, and the parser if there is one; readings of one run are taken in turn.
"""

import argparse
import asyncio
import gc
import re
from statistics import median, quantiles
from typing import Any

from benches.report import announced, print_rows, save
from benches.wire.clients import CLIENTS
from benches.wire.reading import BARE, Client, Kind, entered, stamped
from benches.wire.server import base, running

_EVENTS = 200
_STAMP = re.compile(rb'"content": *"(\d+)"')


def main() -> None:
    """Measure, print, and save when asked to."""
    parser = argparse.ArgumentParser(prog="python -m benches.latency", description=__doc__)
    names = [client.name for client in CLIENTS]
    parser.add_argument("--client", choices=names, action="append", help="only this client (may be repeated)")
    parser.add_argument("--pause", type=float, default=1, help="milliseconds between two events (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=9, help="streams of each reading (default: %(default)s)")
    parser.add_argument("--save", metavar="NAME", help="write benches/results/NAME.json")
    arguments = parser.parse_args()

    console = announced()
    rows: list[dict[str, object]] = []
    with running() as address:
        url = base(address, "stamped", _EVENTS, arguments.pause / 1e3)
        for client in CLIENTS:
            if client.name in (arguments.client or names):
                with console.status(client.name):
                    rows += asyncio.run(measured(client, url, arguments.rounds))
    title = f"microseconds from the write to the loop; {_EVENTS:,} events a stream, {arguments.pause:g} ms apart"
    print_rows(console, title, rows)
    if arguments.save:
        save(arguments.save, pause=[arguments.pause], results=rows)


async def measured(client: Client, url: str, rounds: int) -> list[dict[str, object]]:
    """Read a stream by each reading in turn; percentiles are those of each stream, and their medians."""
    found: dict[str, list[list[float]]] = {reading.name: [] for reading in client.readings}
    async with entered(client) as session:
        # What is imported once, and code that gets fast when it has run a while: nobody's first stream counts.
        for number in range(rounds + 1):
            for reading in client.readings:
                gc.collect()
                delays = _delays(reading.kind, await stamped(client, reading, session, url))
                assert len(delays) == _EVENTS, f"{client.name}, {reading.name}: {len(delays)} events"
                if number:
                    found[reading.name].append(delays)
    middles = {name: [median(delays) for delays in streams] for name, streams in found.items()}
    lasts = {name: [quantiles(delays, n=100)[-1] for delays in streams] for name, streams in found.items()}
    return [
        {
            "client": client.name,
            "reading": name,
            "p50": round(median(middles[name]), 1),
            "p99": round(median(lasts[name]), 1),
            "p50 beyond bytes": round(median(a - b for a, b in zip(middles[name], middles[BARE], strict=True)), 1),
        }
        for name in found
    ]


def _delays(kind: Kind, items: list[tuple[int, Any]]) -> list[float]:
    """Microseconds between the time that an item came and each time that is told in it."""
    return [(came - sent) / 1e3 for came, item in items for sent in _stamps(kind, item)]


def _stamps(kind: Kind, item: Any) -> list[int]:
    if kind == "bytes":
        return [int(stamp) for stamp in _STAMP.findall(item)]
    if kind == "text":
        return [int(item)]
    if kind == "chunks":
        texts = [choice.delta.content for choice in item.choices]
    else:
        texts = [choice["delta"].get("content") for choice in item["choices"]]
    return [int(text) for text in texts if text]


if __name__ == "__main__":
    main()
