"""What a peer is: a timed loop over one stream, and the same items collected for comparison.

The timed loop is a user's: `for item in open(reads)`, and for events a look at `item.data`. Nothing stands between the
peer and that loop, no wrapping generator and no counter: at 100 ns an event each of them would show.
"""

import asyncio
import atexit
from collections.abc import AsyncIterable, AsyncIterator, Callable, Iterable
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from functools import cache
from typing import Protocol, TypeVar

from benches.corpus import DONE, Body, Input

T = TypeVar("T")


@dataclass(frozen=True)
class Peer:
    """One contender in one suite."""

    name: str
    run: Callable[[Input], None]
    collect: Callable[[Input], list[object]]
    # How much of the generated body one round reads, for peers so slow that a round of all of it would take a second.
    events: int | None = None


class HasData(Protocol):
    """An event of any parser: its text goes by the name that the standard gives it."""

    @property
    def data(self) -> str:
        """Its text."""
        ...


def pulled(
    name: str,
    open_: Callable[[Input], Iterable[T]],
    plain: Callable[[T], object],
    *,
    events: int | None = None,
    ends_with: type[Exception] | tuple[()] = (),
) -> Peer:
    """Make a peer out of something to iterate over, whose items need no further look.

    `ends_with` is an exception with which the peer may end a stream, instead of simply ending it.
    """

    def run(stream: Input) -> None:
        try:
            for _ in open_(stream):
                pass
        except ends_with:
            pass

    def collect(stream: Input) -> list[object]:
        items: list[object] = []
        with suppress(ends_with) if ends_with else nullcontext():
            items.extend(plain(item) for item in open_(stream))
        return items

    return Peer(name, run, collect, events)


def pulled_data(name: str, open_: Callable[[Input], Iterable[HasData]]) -> Peer:
    """Make a peer out of something to iterate over, whose events are asked for their text."""

    def run(stream: Input) -> None:
        for event in open_(stream):
            event.data  # noqa: B018 (asking is what is measured: some peers make the text only then)

    return Peer(name, run, lambda stream: [event.data for event in open_(stream)])


def pulled_text(name: str, open_: Callable[[Input], Iterable[str]], *, events: int | None = None) -> Peer:
    """Make a peer out of something that gives pieces of text, compared as the whole text."""

    def run(stream: Input) -> None:
        for _ in open_(stream):
            pass

    return Peer(name, run, lambda stream: ["".join(open_(stream))], events)


def pulled_async(name: str, open_: Callable[[Input], AsyncIterable[T]], plain: Callable[[T], object]) -> Peer:
    """Make a peer out of something to iterate over with `async for`."""

    async def loop(stream: Input) -> None:
        async for _ in open_(stream):
            pass

    async def collect(stream: Input) -> list[object]:
        return [plain(item) async for item in open_(stream)]

    return Peer(name, lambda stream: _runner().run(loop(stream)), lambda stream: _runner().run(collect(stream)))


async def async_reads(stream: Input) -> AsyncIterator[bytes]:
    """Give the reads as an asynchronous client does; none of them has to be waited for."""
    for read in stream.reads:
        yield read


@cache
def _runner() -> asyncio.Runner:
    # One event loop for all rounds: making one would count as much as a thousand events.
    runner = asyncio.Runner()
    atexit.register(runner.close)
    return runner


def check_equal(peer: Peer, body: Body, reads: str, expected: list[object]) -> None:
    """Refuse to time a peer that does not give what the body says.

    Event parsers know nothing of the sentinel and give it as a last event; that is the only difference let through.
    """
    got = peer.collect(body.cut(reads))
    if got and got[-1] in (DONE, DONE.decode()):
        got = got[:-1]
    if got != expected:
        at = next(
            (n for n, (a, b) in enumerate(zip(got, expected, strict=False)) if a != b), min(len(got), len(expected))
        )
        raise AssertionError(
            f"{peer.name} differs on {body.name} at reads of {reads}, item {at} of {len(expected)}"
            f" ({len(got)} given): {got[at : at + 1]!r:.300} instead of {expected[at : at + 1]!r:.300}"
        )
