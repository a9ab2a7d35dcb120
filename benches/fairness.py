"""`python -m benches.fairness`: how long busy streams keep other tasks of an event loop waiting, and what turns cost.

The figures behind `STRETCH` in `rust/python/src/turn.rs`. Streams whose sources have everything at once, so that they
never wait, are read beside a task that ticks every millisecond: the gaps between its ticks are what a user's other
tasks see. The same is measured without turns, which a decoder takes that was not told to; and, without the ticks, what
an event costs either way.
"""

import argparse
import asyncio
import gc
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import product
from statistics import median
from time import perf_counter, thread_time_ns
from typing import Any, NamedTuple
from unittest.mock import patch

import trio
import trio.lowlevel

import ssewire
from benches.corpus import cut, generated
from benches.report import announced, print_rows, save
from ssewire import _core

_EVENTS = 10_000
_STREAMS = (50, 1)
# All streams of a run together; one alone is followed by the next.
_TOTAL = 50
_READS: dict[str, int | None] = {"4k": 4096, "whole": None}
_TICK = 0.001
# So long the ticks are looked at with nothing beside them.
_ALONE = 0.5


class Ready(AsyncIterator[bytes]):
    """A source that never waits."""

    def __init__(self, reads: list[bytes]) -> None:
        self._reads = iter(reads)

    async def __anext__(self) -> bytes:
        for read in self._reads:
            return read
        raise StopAsyncIteration


async def _chunks(reads: list[bytes]) -> int:
    count = 0
    async for _ in ssewire.AsyncChatStream(Ready(reads)):
        count += 1
    return count


async def _batches(reads: list[bytes]) -> int:
    count = 0
    async for batch in ssewire.AsyncChatStream(Ready(reads)).iter_batches():
        for _ in batch:
            count += 1
    return count


_WAYS: dict[str, Callable[[list[bytes]], Awaitable[int]]] = {"chunks": _chunks, "batches": _batches}


class _Turning(_core.ChunkDecoder[Any]):
    """The decoder as it is, in a class of its own like the other, so that classes make no difference."""


class _Endless(_core.ChunkDecoder[Any]):
    """One that is not told to take turns."""

    def take_turns(self) -> None:
        pass


_DECODERS: dict[str, type[_core.ChunkDecoder[Any]]] = {"yes": _Turning, "no": _Endless}


@contextmanager
def _turns(turns: str) -> Iterator[None]:
    with patch.object(_core, "ChunkDecoder", _DECODERS[turns]):
        yield


class Case(NamedTuple):
    """What is read, how, and on which loop."""

    loop: str
    way: str
    reads: str

    def bodies(self) -> list[bytes]:
        """Give the reads of one stream."""
        data, size = generated(_EVENTS).data, _READS[self.reads]
        return [data] if size is None else cut(data, size)

    async def read(self, streams: int) -> None:
        """Read so many streams, one after the other."""
        reads = self.bodies()
        for _ in range(streams):
            assert await _WAYS[self.way](reads) == _EVENTS


async def _on_asyncio(tasks: list[Callable[[], Awaitable[None]]], gaps: list[float]) -> None:
    async def tick() -> None:
        while True:
            start = perf_counter()
            await asyncio.sleep(_TICK)
            gaps.append(perf_counter() - start)

    async def run(task: Callable[[], Awaitable[None]]) -> None:
        await task()

    ticking = asyncio.create_task(tick())
    await asyncio.sleep(0)
    async with asyncio.TaskGroup() as group:
        for task in tasks:
            group.create_task(run(task))
    # The last gap ends where the streams do.
    await asyncio.sleep(2 * _TICK)
    ticking.cancel()


async def _on_trio(tasks: list[Callable[[], Awaitable[None]]], gaps: list[float]) -> None:
    async def tick() -> None:
        while True:
            start = perf_counter()
            await trio.sleep(_TICK)
            gaps.append(perf_counter() - start)

    async with trio.open_nursery() as outer:
        outer.start_soon(tick)
        await trio.lowlevel.checkpoint()
        async with trio.open_nursery() as inner:
            for task in tasks:
                inner.start_soon(task)
        await trio.sleep(2 * _TICK)
        outer.cancel_scope.cancel()


def _run(loop: str, tasks: list[Callable[[], Awaitable[None]]]) -> list[float]:
    """Run tasks on a loop beside the ticks; gives the gaps between these in milliseconds."""
    gaps: list[float] = []
    if loop == "asyncio":
        asyncio.run(_on_asyncio(tasks, gaps))
    else:
        trio.run(_on_trio, tasks, gaps)
    return [gap * 1e3 for gap in gaps]


_LOOPS = ("asyncio", "trio")
CASES = [Case(*case) for case in product(_LOOPS, _WAYS, _READS)]


def main() -> None:
    """Measure, print, and save when asked to."""
    parser = argparse.ArgumentParser(prog="python -m benches.fairness", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="rounds of each measurement (default: %(default)s)")
    parser.add_argument("--save", metavar="NAME", help="write benches/results/NAME.json")
    arguments = parser.parse_args()

    console = announced()
    # What the imports have made is not looked through again while somebody waits for a tick.
    gc.freeze()
    with console.status("gaps"):
        gaps = [*alone(arguments.rounds), *beside(arguments.rounds)]
    print_rows(console, "milliseconds between two ticks of a task beside the streams (medians of the rounds)", gaps)
    with console.status("costs"):
        costs = list(cost(arguments.rounds))
    print_rows(console, "nanoseconds of processor time an event, one stream alone", costs)
    if arguments.save:
        save(arguments.save, gaps=gaps, cost=costs)


def alone(rounds: int) -> Iterator[dict[str, object]]:
    """Give the gaps with nothing beside the ticks: what the loop and the machine make of a millisecond."""

    async def wait() -> None:
        await (asyncio.sleep if loop == "asyncio" else trio.sleep)(_ALONE)

    for loop in _LOOPS:
        runs = [_run(loop, [wait]) for _ in range(rounds)]
        yield {"loop": loop, "streams": 0, "way": "", "reads": "", "turns": "", **_summary(runs)}


def beside(rounds: int) -> Iterator[dict[str, object]]:
    """Give the gaps beside busy streams, with turns and without, interleaved."""
    for case, streams in product(CASES, _STREAMS):
        runs: dict[str, list[list[float]]] = {turns: [] for turns in _DECODERS}
        for _ in range(rounds):
            for turns, found in runs.items():
                gc.collect()
                with _turns(turns):
                    found.append(_run(case.loop, [partial(case.read, _TOTAL // streams)] * streams))
        for turns, found in runs.items():
            row = {"loop": case.loop, "streams": streams, "way": case.way, "reads": case.reads, "turns": turns}
            yield {**row, **_summary(found)}


def _summary(runs: list[list[float]]) -> dict[str, object]:
    return {
        "ticks": round(median(map(len, runs))),
        "median": round(median(map(median, runs)), 2),
        "largest": round(median(map(max, runs)), 2),
    }


def cost(rounds: int) -> Iterator[dict[str, object]]:
    """Time one stream after another with nothing beside them, with turns and without, interleaved."""
    for case in CASES:
        times: dict[str, list[float]] = {turns: [] for turns in _DECODERS}
        for _ in range(2 * rounds):
            for turns, found in times.items():
                gc.collect()
                with _turns(turns):
                    found.append(_cost(case))
        medians = {turns: median(found) for turns, found in times.items()}
        ratio = medians["yes"] / medians["no"]
        row = {f"turns: {turns}": round(nanoseconds) for turns, nanoseconds in medians.items()}
        yield {**case._asdict(), **row, "ratio": round(ratio, 3)}


def _cost(case: Case) -> float:
    streams = _TOTAL // 5
    spent: list[int] = []

    async def timed() -> None:
        start = thread_time_ns()
        await case.read(streams)
        spent.append(thread_time_ns() - start)

    if case.loop == "asyncio":
        asyncio.run(timed())
    else:
        trio.run(timed)
    return spent[0] / (streams * _EVENTS)


if __name__ == "__main__":
    main()
