"""`python -m benches.asyncio_streams`: many streams on one loop, against a bare `async for` over their reads.

So many streams at once as a gateway has, over sources in memory that really wait at times: every eighth read lets the
loop go round first, and all other streams with it. Whatever the number at once, the same streams are read in all. Told
is what an event takes, and what of it is neither the source and the loop, which a bare `async for` takes, too, nor the
work of a synchronous stream over the same reads: so much it costs to be asynchronous. For scale stands beside it what
msgspec alone takes to decode the payloads, split beforehand.
"""

import argparse
import asyncio
import gc
from collections.abc import Awaitable, Callable, Iterator
from statistics import median
from typing import Self

import msgspec

import ssewire
from benches import corpus
from benches.measure import clock
from benches.report import announced, print_rows, save

_AT_ONCE = (1, 100, 1000)
_STREAMS = 1000
_EVENTS = 200
_READS = ("event", "4k")
_WAITS_EACH = 8

BARE = "bare async for"
_MORE = ("beyond bare", "sync", "beyond bare and sync")


class Source:
    """The reads of one stream, as an asynchronous client hands them out; every so often none is there yet."""

    def __init__(self, reads: list[bytes]) -> None:
        self._reads = iter(reads)
        self._number = 0

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> bytes:
        self._number += 1
        if self._number % _WAITS_EACH == 0:
            await asyncio.sleep(0)
        for read in self._reads:
            return read
        raise StopAsyncIteration


async def _bare(reads: list[bytes]) -> None:
    async for _ in Source(reads):
        pass


async def _typed(reads: list[bytes]) -> None:
    async for _ in ssewire.AsyncChatStream(Source(reads)):
        pass


async def _text(reads: list[bytes]) -> None:
    async for _ in ssewire.AsyncChatStream(Source(reads)).iter_text():
        pass


async def _batches(reads: list[bytes]) -> None:
    async for batch in ssewire.AsyncChatStream(Source(reads)).iter_batches():
        for _ in batch:
            pass


def _typed_sync(reads: list[bytes]) -> None:
    for _ in ssewire.ChatStream(iter(reads)):
        pass


def _text_sync(reads: list[bytes]) -> None:
    for _ in ssewire.ChatStream(iter(reads)).iter_text():
        pass


def _batches_sync(reads: list[bytes]) -> None:
    for batch in ssewire.ChatStream(iter(reads)).iter_batches():
        for _ in batch:
            pass


_WAYS: dict[str, Callable[[list[bytes]], Awaitable[None]]] = {
    BARE: _bare,
    "typed": _typed,
    "text": _text,
    "batches": _batches,
}
_SYNC: dict[str, Callable[[list[bytes]], None]] = {
    "typed": _typed_sync,
    "text": _text_sync,
    "batches": _batches_sync,
}


def main() -> None:
    """Measure, print, and save when asked to."""
    parser = argparse.ArgumentParser(prog="python -m benches.asyncio_streams", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="timed rounds of each way (default: %(default)s)")
    parser.add_argument("--save", metavar="NAME", help="write benches/results/NAME.json")
    arguments = parser.parse_args()

    console = announced()
    rows: list[dict[str, object]] = []
    for name in _READS:
        reads = corpus.generated(_EVENTS).cut(name).reads
        asyncio.run(check(reads))
        with console.status(f"reads: {name}"):
            rows += measured(name, reads, arguments.rounds)
    print_rows(console, f"nanoseconds an event; {_STREAMS:,} streams of {_EVENTS} events", rows)
    decoding = floor(arguments.rounds)
    console.print(f"msgspec alone: {decoding} ns an event")
    if arguments.save:
        save(arguments.save, results=rows, floor=[{"ns": decoding}])


async def check(reads: list[bytes]) -> None:
    """All ways give the same."""
    chunks = list(ssewire.ChatStream(iter(reads)))
    text = "".join(chunk.text for chunk in chunks)
    assert len(chunks) == _EVENTS
    assert [read async for read in Source(reads)] == reads
    assert [chunk async for chunk in ssewire.AsyncChatStream(Source(reads))] == chunks
    assert "".join([text async for text in ssewire.AsyncChatStream(Source(reads)).iter_text()]) == text
    batches = [batch async for batch in ssewire.AsyncChatStream(Source(reads)).iter_batches()]
    assert [chunk for batch in batches for chunk in batch] == chunks
    assert "".join(ssewire.ChatStream(iter(reads)).iter_text()) == text


def floor(rounds: int) -> int:
    """Say what msgspec alone takes for an event."""
    payloads, decode = corpus.generated(_EVENTS).payloads, msgspec.json.Decoder(ssewire.ChatCompletionChunk).decode
    times: list[float] = []
    for _ in range(rounds + 1):
        gc.collect()
        start = clock()
        for _ in range(_STREAMS):
            for payload in payloads:
                decode(payload)
        times.append((clock() - start) / (_STREAMS * _EVENTS))
    return round(median(times[1:]))


def measured(name: str, reads: list[bytes], rounds: int) -> Iterator[dict[str, object]]:
    """Time all ways in turn, for each number of streams at once, and the synchronous ones beside them."""
    for at_once in _AT_ONCE:
        times: dict[str, list[float]] = {way: [] for way in _WAYS}
        alone: dict[str, list[float]] = {way: [] for way in _SYNC}
        for number in range(rounds + 1):
            for way in _WAYS:
                taken = asyncio.run(_asynchronously(_WAYS[way], reads, at_once))
                synchronously = _synchronously(_SYNC[way], reads) if way in _SYNC else 0.0
                if number:  # nobody's first round counts
                    times[way].append(taken)
                    if way in _SYNC:
                        alone[way].append(synchronously)
        bare = times[BARE]
        yield {"reads": name, "at once": at_once, "way": BARE, "ns": round(median(bare)), **dict.fromkeys(_MORE, 0)}
        for way, sync in alone.items():
            beyond = [ours - source for ours, source in zip(times[way], bare, strict=True)]
            rest = [more - other for more, other in zip(beyond, sync, strict=True)]
            more = map(round, map(median, (beyond, sync, rest)))
            row = {"reads": name, "at once": at_once, "way": way, "ns": round(median(times[way]))}
            yield {**row, **dict(zip(_MORE, more, strict=True))}


async def _asynchronously(way: Callable[[list[bytes]], Awaitable[None]], reads: list[bytes], at_once: int) -> float:
    async def one_after_another() -> None:
        for _ in range(_STREAMS // at_once):
            await way(reads)

    gc.collect()
    start = clock()
    await asyncio.gather(*(one_after_another() for _ in range(at_once)))
    return (clock() - start) / (_STREAMS * _EVENTS)


def _synchronously(way: Callable[[list[bytes]], None], reads: list[bytes]) -> float:
    gc.collect()
    start = clock()
    for _ in range(_STREAMS):
        way(reads)
    return (clock() - start) / (_STREAMS * _EVENTS)


if __name__ == "__main__":
    main()
