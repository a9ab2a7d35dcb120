"""Twice the bytes are twice the work, whatever an event holds and whatever lines stand between events.

Work is counted, not timed: each call of a Python function, each call of a compiled one from there, and each byte of the
texts handed to a function. The framer's own work is counted in `rust/core/tests`.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable
from types import FrameType
from typing import Any, Final, Self

import msgspec
import pytest

from ssewire import ChatStream
from tests.reading import with_errors
from tests.unit.making import DONE, chunk, lines, sse

# Linear work has a part that is the same at every size, so that twice the bytes are less than twice the work.
RATIO: Final = 2.2

A: Final = chunk("a")[6:-2]
ERROR: Final = b'{"error":{"message":"boom"}}'
WORD: Final = b'{"choices":[{"index":0,"delta":{"content":"the \\"error\\""}}]}'
BARE_WORD: Final = b'{"name":"error"}'


_PLACES: Final = {"at", "idx"}


class Count:
    """Counts while it is entered."""

    def __init__(self) -> None:
        self.work = 0

    def __enter__(self) -> Self:
        sys.setprofile(self._see)
        return self

    def __exit__(self, *_: object) -> None:
        sys.setprofile(None)

    def _see(self, frame: FrameType, kind: str, _: Any) -> None:
        if kind in ("call", "c_call"):
            self.work += 1
        if kind == "call":
            self.work += sum(map(_bytes, _arguments(frame)))


def _arguments(frame: FrameType) -> Iterable[Any]:
    """What a function is handed to look at all of it.

    A generator is called whenever it goes on, but is handed its arguments once; and one that is told where to begin
    need not look at all.
    """
    code = frame.f_code
    names = code.co_varnames[: code.co_argcount]
    if code.co_flags & inspect.CO_GENERATOR or not _PLACES.isdisjoint(names):
        return ()
    return [frame.f_locals[name] for name in names if name in frame.f_locals]


def _bytes(value: object) -> int:
    return len(value) if isinstance(value, (bytes, bytearray, str)) else 0


def unknown(line: bytes) -> Callable[[int], bytes]:
    return lambda count: (line + b"\n") * count


# An event that holds so many, or so many events.
EVENTS: Final[dict[str, Callable[[int], bytes]]] = {
    "lines": lambda count: lines(*[A] * count),
    "empty lines": lambda count: lines(A, *[b""] * count, A),
    "lines of null": lambda count: lines(A, *[b"null"] * count),
    "lines, broken": lambda count: lines(A, *[b"oops"] * count),
    "lines, broken, the chunk last": lambda count: lines(*[b"oops"] * count, A),
    "lines, broken objects": lambda count: lines(*[b'{"id":'] * count),
    "lines, no chunk among them": lambda count: lines(*[b"oops"] * count),
    "lines, errors": lambda count: lines(A, *[ERROR] * count),
    "lines, a word": lambda count: lines(*[WORD] * count),
    "lines, a word, the last broken": lambda count: lines(*[WORD] * count, b"oops"),
    "lines, the second decoder": lambda count: lines(*[b'{"choices":null}'] * count),
    "lines, NaN": lambda count: lines(*[b'{"choices":[],"x":NaN}'] * count),
    "lines of documents": lambda count: lines(*[A + A] * count),
    "lines of documents, broken": lambda count: lines(*[A + b"{"] * count, A),
    "documents": lambda count: lines(A * count),
    "documents, the last broken": lambda count: lines(A * count + b"{"),
    "documents, errors": lambda count: lines(A + ERROR * count),
    "documents, white space": lambda count: lines((A + b" " * 50) * count),
    "one document over lines": lambda count: lines(b'{"x":[', *[b"1,"] * count, b"1]}"),
    "one document over lines, broken": lambda count: lines(b'{"x":[', *[b"1,"] * count, b"1]"),
    "one document over lines, NaN": lambda count: lines(b'{"x":[', *[b"NaN,"] * count, b"1]}"),
    "named lines": lambda count: b"event: chunk\n" + lines(*[A] * count),
    "named lines, skipped": lambda count: b"event: ping\n" + lines(*[b"oops"] * count),
    "named documents": lambda count: b"event: chunk\n" + lines(A * count),
    "an event of the name error, chunks": lambda count: b"event: error\n" + lines(*[A] * count, ERROR),
    "an event of the name error, texts": lambda count: b"event: error\n" + lines(*[b"out of memory"] * count),
    "an event of the name error, objects": lambda count: b"event: error\n" + lines(*[b"{"] * count),
    "an event of the name error, both": lambda count: b"event: error\n" + lines(*[A, b"oops"] * count),
    "events, the second decoder": lambda count: sse(b'{"choices":null}') * count,
    "events, broken": lambda count: sse(b'{"choices":') * count,
    "events, errors": lambda count: sse(ERROR) * count,
}

# So many lines that are no field.
LINES: Final[dict[str, Callable[[int], bytes]]] = {
    "of text": unknown(b"upstream: reset"),
    "objects": unknown(b'{"a":1}'),
    "objects, broken": unknown(b'{"a":'),
    "objects, a word": unknown(BARE_WORD),
    "objects, a word, broken": unknown(b'{"error":'),
    "objects, deep": unknown(b"[" * 50 + b'"error"'),
    "objects, open": unknown(b'{\n"error":'),
    "objects, closed by and by": unknown(b'{\n"error":\n}'),
    "brackets, closing": lambda count: b'{"error":\n' + b"}\n" * count,
    "a document over lines": lambda count: b"{\n" + b'"error": null,\n' * count + b"}\n",
    "errors": unknown(b"error: boom"),
    "one long line": lambda count: b'{"error": "' + b"x" * (20 * count) + b"\n",
}

# Where they stand.
PLACES: Final[dict[str, Callable[[bytes], bytes]]] = {
    "between events": lambda body: sse(A) + body + b"\n" + sse(A) + DONE,
    "inside an event": lambda body: b"data: " + A + b"\n" + body + b"\n" + DONE,
    "at the end": lambda body: sse(A) + body,
    "alone": lambda body: body,
}


def work(body: bytes, way: str) -> int:
    """The work of reading a body."""
    with Count() as count:
        stream = ChatStream([body])
        with_errors(stream if way == "chunks" else stream.iter_payloads())
    return count.work


def check(body: Callable[[int], bytes], way: str) -> None:
    first, second, third = (work(body(count), way) for count in (100, 200, 400))
    assert second <= RATIO * first
    assert third <= RATIO * second


@pytest.mark.parametrize("way", ["chunks", "payloads"])
@pytest.mark.parametrize("event", EVENTS.values(), ids=EVENTS)
def test_work_grows_with_what_events_hold(event: Callable[[int], bytes], way: str) -> None:
    check(lambda count: event(count) + DONE, way)
    check(lambda count: sse(A) + event(count)[:-1], way)


@pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
@pytest.mark.parametrize("lines", LINES.values(), ids=LINES)
def test_work_grows_with_lines_that_are_no_field(
    lines: Callable[[int], bytes], place: Callable[[bytes], bytes]
) -> None:
    check(lambda count: place(lines(count)), "chunks")


def test_what_is_quadratic_is_seen() -> None:
    def copies(data: bytes) -> int:
        return len(data)

    def quadratic(data: bytes) -> None:
        for end in range(len(data)):
            copies(data[:end])

    works = []
    for size in (200, 400):
        with Count() as count:
            quadratic(bytes(size))
        works.append(count.work)
    assert works[1] > RATIO * works[0]


# How often a document is decoded


class Decoded(msgspec.Struct):
    """A type of the user's own, which counts how often one of it is made."""

    choices: list[Any]
    made: list[None] = []

    def __post_init__(self) -> None:
        MADE.append(None)


MADE: list[None] = []


@pytest.mark.parametrize("count", [10, 1000])
@pytest.mark.parametrize("way", ["chunks", "texts", "pairs"])
@pytest.mark.parametrize(
    "event",
    [lambda count: lines(*[A] * count), lambda count: lines(A * count), lambda count: b"event: x\n" + lines(A * count)],
    ids=["lines", "documents", "named documents"],
)
def test_each_document_is_decoded_once(event: Callable[[int], bytes], way: str, count: int) -> None:
    """The first of an event is decoded before it shows that there is more, so that makes one on top."""
    MADE.clear()
    stream = ChatStream([event(count) + DONE], type=Decoded)
    views: dict[str, Any] = {"chunks": stream, "texts": stream.iter_text(), "pairs": stream.iter_with_payload()}
    assert sum(1 for _ in views[way]) == count
    assert len(MADE) == count + 1
