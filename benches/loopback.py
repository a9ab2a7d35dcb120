"""`python -m benches.loopback`: end to end over loopback, what an event costs the process that reads, client by client.

A server in another process sends the same stream, as fast as it goes or one event at a time. What is told is the
processor time of this process, all threads of it and the system's work for it included, and what of it is beyond
reading the bytes alone by the same client in the same round: so much the parser adds.
"""

import argparse
import asyncio
import gc
import json
from functools import cache
from statistics import median
from time import process_time_ns
from typing import Any

from benches import corpus
from benches.peers.chat import chunk_facts, expected_facts, expected_text
from benches.report import announced, print_rows, save
from benches.wire.clients import CLIENTS
from benches.wire.reading import BARE, Client, Kind, Reading, collected, drained, entered
from benches.wire.server import Pace, base, running

_EVENTS: dict[Pace, int] = {"fast": 4000, "paced": 1000}
_TITLES: dict[Pace, str] = {"fast": "as fast as it goes", "paced": "one write an event, {:g} ms apart"}


def main() -> None:
    """Measure, print, and save when asked to."""
    parser = argparse.ArgumentParser(prog="python -m benches.loopback", description=__doc__)
    names = [client.name for client in CLIENTS]
    parser.add_argument("--client", choices=names, action="append", help="only this client (may be repeated)")
    parser.add_argument("--pace", choices=_EVENTS, action="append", help="only this pace (may be repeated)")
    parser.add_argument(
        "--pause", type=float, default=0.3, help="milliseconds between two events (default: %(default)s)"
    )
    parser.add_argument("--rounds", type=int, default=7, help="timed rounds of each reading (default: %(default)s)")
    parser.add_argument("--save", metavar="NAME", help="write benches/results/NAME.json")
    arguments = parser.parse_args()

    console = announced()
    rows: list[dict[str, object]] = []
    with running() as address:
        for pace in arguments.pace or _EVENTS:
            events = _EVENTS[pace]
            url = base(address, pace, events, arguments.pause / 1e3)
            found: list[dict[str, object]] = []
            for client in CLIENTS:
                if client.name in (arguments.client or names):
                    with console.status(f"{client.name}, {pace}"):
                        found += asyncio.run(measured(client, pace, url, arguments.rounds))
            title = _TITLES[pace].format(arguments.pause)
            print_rows(console, f"microseconds of processor time an event; {events:,} events, {title}", found)
            rows += found
    if arguments.save:
        save(arguments.save, pause=[arguments.pause], results=rows)


async def measured(client: Client, pace: Pace, url: str, rounds: int) -> list[dict[str, object]]:
    """Check what all readings of a client give, then time them in turn."""
    events = _EVENTS[pace]
    times: dict[str, list[float]] = {reading.name: [] for reading in client.readings}
    async with entered(client) as session:
        reads = 0
        for reading in client.readings:
            items = await collected(client, reading, session, url)
            check(client, reading, items, events)
            if reading.name == BARE:
                reads = len(items)
        for _ in range(rounds):
            for reading in client.readings:
                gc.collect()
                start = process_time_ns()
                await drained(client, reading, session, url)
                times[reading.name].append((process_time_ns() - start) / 1e3 / events)
    bare = times[BARE]
    return [
        {
            "pace": pace,
            "client": client.name,
            "reading": name,
            "us": round(median(taken), 2),
            "beyond bytes": round(median(a - b for a, b in zip(taken, bare, strict=True)), 2),
            "min": round(min(taken), 2),
            "max": round(max(taken), 2),
            "reads an event": round(reads / events, 3),
        }
        for name, taken in times.items()
    ]


def check(client: Client, reading: Reading, items: list[Any], events: int) -> None:
    """Refuse to time a reading that does not give what the body says."""
    if _said(reading.kind, items) != expected(reading.kind, events):
        raise AssertionError(f"{client.name}, {reading.name}: the items differ from what was sent")


def _said(kind: Kind, items: list[Any]) -> object:
    if kind == "bytes":
        return b"".join(items)
    if kind == "text":
        return "".join(items)
    return [chunk_facts(item) for item in items] if kind == "chunks" else items


@cache
def expected(kind: Kind, events: int) -> object:
    """Give what a stream says, by the corpus and the standard library's JSON."""
    body = corpus.generated(events)
    if kind == "bytes":
        return body.data
    if kind == "text":
        return expected_text(body.payloads)[0]
    return expected_facts(body.payloads) if kind == "chunks" else [json.loads(payload) for payload in body.payloads]


if __name__ == "__main__":
    main()
