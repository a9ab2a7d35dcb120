"""`iter_batches`: a list for each read that completes chunks, and every error behind the list of the chunks before it.

Interruptions, and lists among other ways to iterate, are in `test_mixed_batches.py`; that the lists hold what plain
iteration gives, over whole corpora, is in `tests/corpus/test_batched.py`.
"""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Callable, Iterable
from typing import Any, Final

import msgspec
import pytest

from ssewire import (
    APIError,
    AsyncChatStream,
    ChatStream,
    DecodeError,
    EventTooLargeError,
    IncompleteStreamError,
    NotAStreamError,
)
from tests.conftest import Run
from tests.unit.cases import ERROR, LIMIT, STOP
from tests.unit.making import DONE, AsyncReads, Reads, choice, chunk, lines, sse
from tests.unit.test_own_types import DOCUMENTED, TYPES

# A list has so many chunks at the most.
MOST: Final = 256

# More errors than any body here has.
ERRORS: Final = 20

A, B, C, D = (chunk(text) for text in "abcd")

# Lists of texts, and the kinds of errors in their places.
Lists = list[Any]


def text(item: Any) -> str:
    return "".join(choice["delta"].get("content") or "" for choice in msgspec.to_builtins(item).get("choices", ()))


def lists(view: Iterable[list[Any]]) -> Lists:
    """The texts of each list, and the kind of each error in its place: iteration goes on behind every one."""
    found: Lists = []
    iterator = iter(view)
    for _ in range(ERRORS):
        try:
            for batch in iterator:
                found.append(list(map(text, batch)))
        except Exception as error:
            found.append(type(error))
        else:
            return found
    raise AssertionError("no end of errors")


async def lists_async(view: AsyncIterator[list[Any]]) -> Lists:
    found: Lists = []
    for _ in range(ERRORS):
        try:
            async for batch in view:
                found.append(list(map(text, batch)))
        except Exception as error:
            found.append(type(error))
        else:
            return found
    raise AssertionError("no end of errors")


CASES: Final[dict[str, tuple[list[Any], Lists]]] = {
    # One list a read
    "two chunks in a read": ([A + B, C, DONE], [["a", "b"], ["c"]]),
    "cut inside an event": ([A + B[:20], B[20:] + C + D[:-1], D[-1:], DONE], [["a"], ["b", "c"], ["d"]]),
    "reads that complete nothing": ([b"", A[:9], b"", A[9:], b": hi\n\n", B, DONE], [["a"], ["b"]]),
    "nothing but the sentinel": ([b": hi\n\n", DONE], []),
    "the sentinel in the same read": ([A + B + DONE + C], [["a", "b"]]),
    "the last event without its blank line": ([A + STOP[:-2]], [["a"], [""]]),
    "no choices": ([sse({"choices": []}) + A + DONE], [["", "a"]]),
    "named events": ([b"event: ping\ndata: {}\n\n", A + b"event: ping\ndata: {}\n\n" + B + DONE], [["a", "b"]]),
    "lines of an event": ([lines(A[6:-2], B[6:-2], C[6:-2]) + D + DONE], [["a", "b", "c", "d"]]),
    "documents on a line": ([sse(A[6:-2] + B[6:-2]) + C + DONE], [["a", "b", "c"]]),
    "the sentinel among lines": ([A, lines(B[6:-2], b"[DONE]", C[6:-2]) + D], [["a"], ["b"]]),
    # Errors
    "an error": ([A + B + ERROR + C + D + DONE], [["a", "b"], APIError, ["c", "d"]]),
    "an error that comes first": ([ERROR + A + DONE], [APIError, ["a"]]),
    "an error in a read of its own": ([A, ERROR, B + DONE], [["a"], APIError, ["b"]]),
    "two errors": ([A + ERROR + ERROR + B + DONE], [["a"], APIError, APIError, ["b"]]),
    "an error beside choices": (
        [A + sse({"choices": [choice("b", "error")], "error": {"code": 502}}) + C + DONE],
        [["a", "b"], APIError, ["c"]],
    ),
    "an event named error": ([A + b"event: error\ndata: no\n\n" + B + DONE], [["a"], APIError, ["b"]]),
    "an error in a field": ([A + b"error: no\n\n" + B + DONE], [["a"], APIError, ["b"]]),
    "an error among lines": (
        [lines(A[6:-2], b'{"error":"no"}', B[6:-2]) + C + DONE],
        [["a"], APIError, ["b", "c"]],
    ),
    "no chunk": ([A + sse(b"oops") + B + DONE], [["a"], DecodeError, ["b"]]),
    "no chunk among lines": ([lines(A[6:-2], b'{"choi', B[6:-2]) + C + DONE], [["a"], DecodeError, ["b", "c"]]),
    "beyond the limit": ([A + B + sse(b"x" * (LIMIT + 1)) + C], [["a", "b"], EventTooLargeError]),
    "the end without the sentinel": ([A + B], [["a", "b"], IncompleteStreamError]),
    "the end behind an event without its blank line": ([A + B[:-1]], [["a"], ["b"], IncompleteStreamError]),
    "a cut event": ([A + B + C[:-9]], [["a", "b"], IncompleteStreamError]),
    "a cut line": ([A, lines(B[6:-2], C[6:-9])[:-2]], [["a"], ["b"], IncompleteStreamError]),
    "no stream": ([b"<html>"], [NotAStreamError]),
    "the source raises": ([A + B, OSError("reset")], [["a", "b"], OSError]),
    "the source gives no bytes": ([A, B, "text"], [["a"], ["b"], TypeError]),
}

each_case = pytest.mark.parametrize(("reads", "right"), CASES.values(), ids=CASES)


@each_case
def test_lists_and_errors(reads: list[Any], right: Lists) -> None:
    stream = ChatStream(Reads(*reads), max_event_size=LIMIT)
    assert lists(stream.iter_batches()) == right
    assert lists(stream.iter_batches()) == []


@each_case
def test_the_same_from_an_asynchronous_source(reads: list[Any], right: Lists, run: Run) -> None:
    async def read() -> None:
        stream = AsyncChatStream(AsyncReads(*reads), max_event_size=LIMIT)
        assert await lists_async(stream.iter_batches()) == right
        assert await lists_async(stream.iter_batches()) == []

    run(read())


@each_case
def test_an_error_is_the_streams_no_earlier_than_it_is_raised(reads: list[Any], right: Lists) -> None:
    source = Reads(*reads)
    stream = ChatStream(source, max_event_size=LIMIT)
    view = stream.iter_batches()
    state = "open"
    for item, behind in itertools.pairwise([*right, []]):
        if isinstance(item, list):
            next(view)
            # What comes behind the last list may be known already.
            assert not behind or (stream.state, source.closed) == (state, 0)
        else:
            with pytest.raises(item):
                next(view)
            state = stream.state
    assert list(view) == []


# How many chunks are there at once, and in the lists.
LENGTHS: Final = {
    1: [1],
    255: [255],
    256: [256],
    257: [256, 1],
    1000: [256, 256, 256, 232],
}

LARGE: Final[dict[str, Callable[[int], bytes]]] = {
    "events": lambda number: b"".join(chunk(str(i)) for i in range(number)),
    "lines of an event": lambda number: lines(*(chunk(str(i))[6:-2] for i in range(number))),
    "documents on a line": lambda number: sse(b"".join(chunk(str(i))[6:-2] for i in range(number))),
}


@pytest.mark.parametrize("body_of", LARGE.values(), ids=LARGE)
@pytest.mark.parametrize(("number", "lengths"), LENGTHS.items(), ids=map(str, LENGTHS))
def test_a_list_has_256_chunks_at_the_most(
    body_of: Callable[[int], bytes], number: int, lengths: list[int], run: Run
) -> None:
    body = body_of(number) + DONE
    found = lists(ChatStream([body]).iter_batches())
    assert list(map(len, found)) == lengths
    assert list(itertools.chain(*found)) == list(map(str, range(number)))
    # Here other tasks have their turns in between, so that lists may be shorter.
    found = run(lists_async(AsyncChatStream(AsyncReads(body)).iter_batches()))
    assert all(1 <= len(batch) <= MOST for batch in found)
    assert list(itertools.chain(*found)) == list(map(str, range(number)))


@pytest.mark.parametrize(("most", "right"), [(1, ["a", "b", "c"]), (2, ["ab", "c"]), (3, ["abc"]), (10**6, ["abc"])])
def test_a_list_may_have_fewer(most: int, right: Lists, run: Run) -> None:
    body = A + B + C + ERROR + A + B + DONE
    right = [*right, APIError, *(["a", "b"] if most == 1 else ["ab"])]
    found = lists(ChatStream([body]).iter_batches(most))
    assert [item if isinstance(item, type) else "".join(item) for item in found] == right
    found = run(lists_async(AsyncChatStream(AsyncReads(body)).iter_batches(most=most)))
    assert [item if isinstance(item, type) else "".join(item) for item in found] == right


def test_an_empty_list_is_refused_at_once() -> None:
    for stream in (ChatStream(A + DONE), AsyncChatStream(A + DONE)):
        for most in (0, -1):
            with pytest.raises(ValueError, match=f"at least one chunk, not {most}"):
                stream.iter_batches(most)


def test_an_error_behind_a_full_list(run: Run) -> None:
    full = list(map(str, range(MOST)))
    body = b"".join(map(chunk, full)) + ERROR + A + DONE
    assert lists(ChatStream([body]).iter_batches()) == [full, APIError, ["a"]]
    *found, error, last = run(lists_async(AsyncChatStream(AsyncReads(body)).iter_batches()))
    assert (list(itertools.chain(*found)), error, last) == (full, APIError, ["a"])


# What is asked of the source


def test_the_source_is_not_asked_again_for_a_list_that_has_a_chunk(run: Run) -> None:
    source = Reads(A + B[:9], AssertionError("read on"))
    with ChatStream(source) as stream:
        assert list(map(text, next(stream.iter_batches()))) == ["a"]
        assert (source.asked, source.closed) == (1, 0)

    async def read() -> int:
        source = AsyncReads(A + B[:9], AssertionError("read on"))
        async with AsyncChatStream(source) as stream:
            assert list(map(text, await anext(stream.iter_batches()))) == ["a"]
            return source.asked

    assert run(read()) == 1


def test_a_sentinel_behind_the_chunks_ends_the_stream_without_another_read(run: Run) -> None:
    source = Reads(A + DONE, AssertionError("read on"))
    stream = ChatStream(source)
    assert lists(stream.iter_batches()) == [["a"]]
    assert (stream.state, source.asked, source.closed) == ("done", 1, 1)

    async def read() -> tuple[str, int, int]:
        source = AsyncReads(A + DONE, AssertionError("read on"))
        stream = AsyncChatStream(source)
        assert await lists_async(stream.iter_batches()) == [["a"]]
        return stream.state, source.asked, source.closed

    assert run(read()) == ("done", 1, 1)


def test_no_list_is_handed_out_twice() -> None:
    view = ChatStream([A, B, DONE]).iter_batches()
    first = next(view)
    first.clear()
    second = next(view)
    assert (first, list(map(text, second))) == ([], ["b"])


# What becomes of events that are no chunk


def test_what_a_function_for_decode_errors_raises_comes_behind_the_list(run: Run) -> None:
    def refuse(error: DecodeError) -> None:
        raise KeyError(error.payload)

    reads = [A + sse(b"oops") + sse(b"again") + B + DONE]
    right: Lists = [["a"], KeyError, KeyError, ["b"]]
    assert lists(ChatStream(reads, on_decode_error=refuse).iter_batches()) == right
    assert run(lists_async(AsyncChatStream(AsyncReads(*reads), on_decode_error=refuse).iter_batches())) == right


def test_events_that_are_left_out_divide_no_list(run: Run) -> None:
    seen: list[bytes] = []
    reads = [A + sse(b"oops") + B + sse(b"again") + C + DONE]
    right: Lists = [["a", "b", "c"]]
    assert lists(ChatStream(reads, on_decode_error=lambda error: seen.append(error.payload)).iter_batches()) == right
    assert seen == [b"oops", b"again"]
    assert run(lists_async(AsyncChatStream(AsyncReads(*reads), on_decode_error="skip").iter_batches())) == right


# Chunks of other types


@pytest.mark.parametrize("type", TYPES.values(), ids=TYPES)
def test_chunks_of_own_types(type: Any, run: Run) -> None:
    reads = [A + B + sse(b"oops") + C[:9], C[9:] + ERROR + DONE]
    right: Lists = [["a", "b"], DecodeError, ["c"], APIError]
    assert lists(ChatStream(reads, type=type).iter_batches()) == right
    assert run(lists_async(AsyncChatStream(AsyncReads(*reads), type=type).iter_batches())) == right


@pytest.mark.parametrize("type", DOCUMENTED.values(), ids=DOCUMENTED)
def test_chunks_of_documented_types(type: Any) -> None:
    a, b = (chunk(text, id="i", created=1, model="m", object="chat.completion.chunk") for text in "ab")
    assert lists(ChatStream([a + b + A + b + DONE], type=type).iter_batches()) == [["a", "b"], DecodeError, ["b"]]


class Own(msgspec.Struct):
    """A chunk whose making, or whose choices, may raise."""

    id: str
    error: Any = None

    def __post_init__(self) -> None:
        match self.id:
            case "interrupted":
                raise KeyboardInterrupt
            case "refused":
                raise ZeroDivisionError

    @property
    def choices(self) -> list[Any]:
        if self.id == "odd":
            raise ZeroDivisionError
        return []


def named(*names: str) -> bytes:
    return b"".join(sse({"id": name}) for name in names)


@pytest.mark.parametrize(("name", "raised"), [("refused", DecodeError), ("odd", ZeroDivisionError)])
def test_what_a_type_raises_comes_behind_the_list(name: str, raised: type[Exception]) -> None:
    view = ChatStream([named("a", "b", name, "c") + DONE], type=Own).iter_batches()
    assert [item.id for item in next(view)] == ["a", "b"]
    with pytest.raises(raised):
        next(view)
    assert [item.id for batch in view for item in batch] == ["c"]
