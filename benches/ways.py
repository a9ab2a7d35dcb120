"""`python -m benches.ways`: what each way to read the same chat stream costs, merging included.

The figures behind `BATCH` in `python/ssewire/chat.py`, and the price of `accumulate=True`. Every way reads the same
body in turn; what it gives is compared with what is right before anything is timed.
"""

import argparse
import asyncio
import gc
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable
from statistics import median

from rich.table import Table

import ssewire
from benches import corpus
from benches.measure import clock
from benches.report import announced, save

Way = Callable[[list[bytes]], object]

_BATCHES = (1, 16, 64, 256, 1024, 16_384)


def _stream(reads: list[bytes], *, accumulate: bool = False) -> ssewire.ChatStream[ssewire.ChatCompletionChunk]:
    return ssewire.ChatStream(iter(reads), accumulate=accumulate)


def _drain(items: Iterable[object]) -> None:
    deque(items, maxlen=0)


def _asynchronously(
    read: Callable[[ssewire.AsyncChatStream[ssewire.ChatCompletionChunk]], AsyncIterator[object]],
) -> Way:
    async def source(reads: list[bytes]) -> AsyncIterator[bytes]:
        for one in reads:
            yield one

    async def run(reads: list[bytes]) -> None:
        async for _ in read(ssewire.AsyncChatStream(source(reads))):
            pass

    return lambda reads: asyncio.run(run(reads))


def _by_hand(reads: list[bytes]) -> None:
    accumulator = ssewire.ChatAccumulator()
    for chunk in _stream(reads):
        accumulator.add(chunk)


def _each_hundred(reads: list[bytes]) -> None:
    stream = _stream(reads, accumulate=True)
    for number, _ in enumerate(stream):
        if number % 100 == 0:
            stream.completion()


_WAYS: dict[str, Way] = {
    "chunks": lambda reads: _drain(_stream(reads)),
    **{
        f"batches of {most:,}": lambda reads, most=most: _drain(_stream(reads).iter_batches(most))  # type: ignore[misc]
        for most in _BATCHES
    },
    "text": lambda reads: _drain(_stream(reads).iter_text()),
    "text of one choice": lambda reads: _drain(_stream(reads).iter_text(choice=0)),
    "payloads": lambda reads: _drain(_stream(reads).iter_payloads()),
    "payload and chunk": lambda reads: _drain(_stream(reads).iter_with_payload()),
    "bytes": lambda reads: _drain(_stream(reads).iter_bytes()),
    "chunks, accumulate": lambda reads: _drain(_stream(reads, accumulate=True)),
    "batches, accumulate": lambda reads: _drain(_stream(reads, accumulate=True).iter_batches()),
    "bytes, accumulate": lambda reads: _drain(_stream(reads, accumulate=True).iter_bytes()),
    "chunks, ChatAccumulator": _by_hand,
    "chunks, accumulate, completion() each hundred": _each_hundred,
    "collect()": lambda reads: _stream(reads).collect(),
    "async chunks": _asynchronously(lambda stream: stream),
    "async batches": _asynchronously(lambda stream: stream.iter_batches()),
    "async bytes": _asynchronously(lambda stream: stream.iter_bytes()),
}


def main() -> None:
    """Measure, print, and save when asked to."""
    parser = argparse.ArgumentParser(prog="python -m benches.ways", description=__doc__)
    parser.add_argument("--rounds", type=int, default=11, help="timed rounds of each way (default: %(default)s)")
    parser.add_argument("--save", metavar="NAME", help="write benches/results/NAME.json")
    arguments = parser.parse_args()

    console = announced()
    body = corpus.generated()
    check(body)
    inputs = {name: body.cut(name).reads for name in ("event", "4k")} | {"whole": [body.data]}
    rows = [
        row for name, reads in inputs.items() for row in measured(name, reads, len(body.payloads), arguments.rounds)
    ]
    table = Table(title="ns an event, medians; and times what plain chunks take", title_justify="left")
    table.add_column("way", no_wrap=True)
    for name in inputs:
        table.add_column(f"reads: {name}", justify="right")
    for way in _WAYS:
        cells = [f"{row['ns']:,.0f} ({row['x chunks']:.2f})" for row in rows if row["way"] == way]
        table.add_row(way, *cells)
    console.print(table)
    if arguments.save:
        save(arguments.save, results=rows)


def check(body: corpus.Body) -> None:
    """Every way gives the same."""
    reads = body.cut("4k").reads
    chunks = list(_stream(reads))
    text = "".join(chunk.text for chunk in chunks)
    assert [chunk for batch in _stream(reads).iter_batches() for chunk in batch] == chunks
    assert list(_stream(reads).iter_with_payload()) == list(zip(body.payloads, chunks, strict=True))
    assert list(_stream(reads).iter_payloads()) == body.payloads
    assert "".join(_stream(reads).iter_text()) == "".join(_stream(reads).iter_text(choice=0)) == text
    assert list(_stream(reads).iter_bytes()) == reads
    accumulator = ssewire.ChatAccumulator()
    for chunk in chunks:
        accumulator.add(chunk)
    assert _stream(reads).collect() == accumulator.completion()
    assert accumulator.completion().text == text


def measured(name: str, reads: list[bytes], events: int, rounds: int) -> list[dict[str, object]]:
    """Time all ways in turn."""
    times: dict[str, list[float]] = {way: [] for way in _WAYS}
    for number in range(rounds + 1):
        for way, run in _WAYS.items():
            gc.collect()
            start = clock()
            run(reads)
            if number:  # nobody's first round counts
                times[way].append((clock() - start) / events)
    medians = {way: median(taken) for way, taken in times.items()}
    return [
        {
            "reads": name,
            "way": way,
            "ns": round(taken, 1),
            "x chunks": round(taken / medians["chunks"], 3),
            "min": round(min(times[way]), 1),
            "max": round(max(times[way]), 1),
        }
        for way, taken in medians.items()
    ]


if __name__ == "__main__":
    main()
