"""A stream as steps: what goes into one write, and how long after the write before it. No input or output here."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

__all__ = [
    "COMMENT",
    "Ending",
    "Playback",
    "Step",
    "Stream",
    "at_pace",
    "behind",
    "by_events",
    "is_event",
    "is_sentinel",
    "pieces",
]

COMMENT = b": keep-alive\n\n"

#: What comes behind the last step: the end of the body, the end of the connection in mid-body by FIN or by RST, nothing
#: while the connection stays open, or nothing but comments.
Ending = Literal["whole", "close", "reset", "silence", "comments"]

#: Steps, and bytes in them, that take some milliseconds to go through.
_MANY = 2000
_LARGE = 2**20

_LINE_END = rb"(?:\r\n|\r(?!\n)|\n)"
#: What ends an event, or a comment or other lines that stand alone: the empty lines behind it are its own.
_BLOCK_END = re.compile(_LINE_END + _LINE_END + rb"+")
_DATA_LINE = re.compile(rb"(?:\A(?:\xef\xbb\xbf)?|[\r\n])data[:\r\n]")
_SENTINEL = re.compile(rb"(?:\A(?:\xef\xbb\xbf)?|[\r\n])data:\s*\[DONE\]\s*\Z")


class Step(NamedTuple):
    """One write."""

    #: Seconds since the write before it; for the first one, since the head of the answer.
    pause: float
    data: bytes


class Stream(NamedTuple):
    """A stream that can be replayed."""

    name: str
    steps: tuple[Step, ...]
    #: The pauses were recorded; otherwise there are none, and the steps are events.
    paced: bool

    @property
    def events(self) -> int:
        """How many events it has, the sentinel included."""
        return sum(is_event(step.data) for step in by_events(self.steps))

    @property
    def large(self) -> bool:
        """Whether to go through it takes more than some milliseconds."""
        return len(self.steps) > _MANY or sum(len(step.data) for step in self.steps) > _LARGE


def _event_stream_headers() -> dict[str, str]:
    return {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache, no-transform"}


def _whole(data: bytes) -> Iterable[bytes]:
    return (data,)


@dataclass(frozen=True)
class Playback:
    """One answer: its head, its steps, and how it ends."""

    steps: tuple[Step, ...]
    ending: Ending = "whole"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=_event_stream_headers)
    #: Cuts what a step has into what goes into one write.
    cut: Callable[[bytes], Iterable[bytes]] = _whole

    def writes(self) -> Iterator[Step]:
        """The steps as they are cut, the later pieces of each at once behind the first.

        One at a time: a body cut into bytes has millions of them.
        """
        pause = 0.0
        for step in self.steps:
            pause += step.pause
            for piece in self.cut(step.data):
                yield Step(pause, piece)
                pause = 0.0


def is_event(block: bytes) -> bool:
    """Whether a block has a data line, as events have and comments have not."""
    return _DATA_LINE.search(block) is not None


def is_sentinel(block: bytes) -> bool:
    """Whether a block is the sentinel."""
    return _SENTINEL.search(block) is not None


def by_events(steps: Iterable[Step]) -> list[Step]:
    """The same bytes, one event or comment a step, each at the time when its last byte came."""
    reads = list(steps)
    ends: list[tuple[int, float]] = []
    offset, time = 0, 0.0
    for read in reads:
        offset, time = offset + len(read.data), time + read.pause
        ends.append((offset, time))
    whole: list[Step] = []
    come = iter(ends)
    read_end = end = 0
    before = now = 0.0
    for block in pieces(b"".join(read.data for read in reads), _BLOCK_END):
        end += len(block)
        while read_end < end:
            read_end, now = next(come)
        whole.append(Step(now - before, block))
        before = now
    return whole


def pieces(data: bytes, end: re.Pattern[bytes]) -> Iterator[bytes]:
    """The data cut behind each match; no piece is empty."""
    start = 0
    for match in end.finditer(data):
        yield data[start : match.end()]
        start = match.end()
    if start < len(data):
        yield data[start:]


def behind(steps: Sequence[Step], count: int) -> tuple[tuple[Step, ...], tuple[Step, ...]]:
    """The steps to the end of so many events, and those behind them; each step must be an event or a comment."""
    events = 0
    for number, step in enumerate(steps):
        if events == count:
            return tuple(steps[:number]), tuple(steps[number:])
        events += is_event(step.data)
    return tuple(steps), ()


def at_pace(stream: Stream, gap: float | None, speed: float) -> tuple[Step, ...]:
    """The steps of a stream at a pace.

    Args:
        stream: The stream.
        gap: Seconds between two steps; None is the pace that was recorded, or a fiftieth of a second.
        speed: How many times as fast.
    """
    if gap is None and stream.paced:
        return tuple(Step(step.pause / speed, step.data) for step in stream.steps)
    pause = (0.02 if gap is None else gap) / speed
    return tuple(Step(pause if number else 0.0, step.data) for number, step in enumerate(stream.steps))
