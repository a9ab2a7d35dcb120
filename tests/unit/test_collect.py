"""`collect()`, and `completion()` at every end that a stream comes to: the answer so far, whatever became of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import msgspec
import pytest

from ssewire import (
    APIError,
    AsyncChatStream,
    ChatCompletion,
    ChatStream,
    DecodeError,
    EventTooLargeError,
    IncompleteStreamError,
    NotAStreamError,
    SSEWireError,
)
from tests.conftest import Run
from tests.unit.cases import ERROR, LIMIT, STOP
from tests.unit.making import DONE, AsyncReads, Reads, Response, choice, chunk, lines, sse
from tests.unit.test_own_types import DOCUMENTED, TYPES

A, B, C = (chunk(text) for text in "abc")
USAGE: Final[dict[str, Any]] = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}

# Reads; then what collect gives or raises, call by call, with the text so far; then the state.
ENDS: Final[dict[str, tuple[list[Any], list[tuple[type[Exception] | None, str]], str]]] = {
    "done": ([A, B + STOP, DONE], [(None, "ab")], "done"),
    "done without a finish reason": ([A + B + DONE + C], [(None, "ab")], "done"),
    "done without a chunk": ([DONE], [(None, "")], "done"),
    "finished": ([A + B, STOP], [(None, "ab")], "finished"),
    "finished without its blank line": ([A, STOP[:-2]], [(None, "a")], "finished"),
    "incomplete": ([A, B], [(IncompleteStreamError, "ab"), (None, "ab")], "incomplete"),
    "cut": ([A + B[:-9]], [(IncompleteStreamError, "a"), (None, "a")], "incomplete"),
    "cut behind a whole line": (
        [lines(A[6:-2], B[6:-9])[:-2]],
        [(IncompleteStreamError, "a"), (None, "a")],
        "incomplete",
    ),
    "comments only": ([b": hi\n\n"], [(IncompleteStreamError, ""), (None, "")], "incomplete"),
    "an error": ([A + ERROR + B, DONE], [(APIError, "a"), (None, "ab")], "error"),
    "an error at the end": ([A, ERROR], [(APIError, "a"), (None, "a")], "error"),
    "an error first": ([ERROR, A + DONE], [(APIError, ""), (None, "a")], "error"),
    "two errors": ([A + ERROR, ERROR + B + DONE], [(APIError, "a"), (APIError, "a"), (None, "ab")], "error"),
    "no chunk": ([A + sse(b"oops") + B, DONE], [(DecodeError, "a"), (None, "ab")], "done"),
    "no chunk, and incomplete": (
        [A + sse(b"oops") + B],
        [(DecodeError, "a"), (IncompleteStreamError, "ab"), (None, "ab")],
        "incomplete",
    ),
    "no chunk among lines": (
        [lines(A[6:-2], b'{"choi', B[6:-2]) + DONE],
        [(DecodeError, "a"), (None, "ab")],
        "done",
    ),
    "no stream": ([b"<html>"], [(NotAStreamError, ""), (None, "")], "error"),
    "beyond the limit": ([A + sse(b"x" * (LIMIT + 1))], [(EventTooLargeError, "a"), (None, "a")], "error"),
    "the client raises": ([A, OSError("reset")], [(OSError, "a"), (None, "a")], "incomplete"),
    "the client gives no bytes": ([A, B, "text"], [(TypeError, "ab"), (None, "ab")], "incomplete"),
}

OPTIONS: Final[dict[str, dict[str, Any]]] = {"as it is": {}, "accumulate": {"accumulate": True}, "dict": {"type": dict}}

each_end = pytest.mark.parametrize(("reads", "calls", "state"), ENDS.values(), ids=ENDS)
with_options = pytest.mark.parametrize("options", OPTIONS.values(), ids=OPTIONS)


@each_end
@with_options
def test_ends(
    reads: list[Any], calls: list[tuple[type[Exception] | None, str]], state: str, options: dict[str, Any]
) -> None:
    source = Reads(*reads)
    stream = ChatStream(source, max_event_size=LIMIT, **options)
    # It goes on behind an error, and at the end gives the same again.
    for error, text in [*calls, calls[-1]]:
        if error is None:
            found = stream.collect()
            assert (type(found), found.text) == (ChatCompletion, text)
        else:
            with pytest.raises(error) as caught:
                stream.collect()
            if isinstance(caught.value, IncompleteStreamError):
                assert caught.value.completion == stream.completion()
        assert stream.completion().text == text
    assert (stream.state, source.closed) == (state, 1)


@each_end
@with_options
def test_ends_of_asynchronous_streams(
    reads: list[Any], calls: list[tuple[type[Exception] | None, str]], state: str, options: dict[str, Any], run: Run
) -> None:
    async def read() -> None:
        source = AsyncReads(*reads)
        stream = AsyncChatStream(source, max_event_size=LIMIT, **options)
        for error, text in [*calls, calls[-1]]:
            if error is None:
                assert (await stream.collect()).text == text
            else:
                with pytest.raises(error) as caught:
                    await stream.collect()
                if isinstance(caught.value, IncompleteStreamError):
                    assert caught.value.completion == stream.completion()
            assert stream.completion().text == text
        assert (stream.state, source.closed) == (state, 1)

    run(read())


def test_the_whole_answer() -> None:
    members = {"id": "i", "created": 1, "model": "m", "object": "chat.completion.chunk"}
    calls = [{"index": 0, "id": "c", "type": "function", "function": {"name": "f", "arguments": '{"x":'}}]
    more = [{"index": 0, "function": {"arguments": "1}"}}]
    body = b"".join(
        [
            sse({**members, "choices": [{"index": 0, "delta": {"role": "assistant", "reasoning_content": "hm"}}]}),
            sse({**members, "choices": [choice("a"), choice("x", index=1)]}),
            sse({**members, "choices": [{"index": 0, "delta": {"content": "b", "tool_calls": calls}}]}),
            sse({**members, "choices": [{"index": 0, "delta": {"tool_calls": more}, "finish_reason": "tool_calls"}]}),
            sse({**members, "choices": [choice(None, "stop", index=1)]}),
            sse({**members, "choices": [], "usage": USAGE}),
        ]
    )
    call = {"id": "c", "type": "function", "function": {"name": "f", "arguments": '{"x":1}'}}
    first = {"role": "assistant", "content": "ab", "reasoning": "hm", "tool_calls": [call]}
    second = {"role": "assistant", "content": "x"}
    right = {
        **members,
        "object": "chat.completion",
        "choices": [
            {"index": 0, "message": first, "finish_reason": "tool_calls"},
            {"index": 1, "message": second, "finish_reason": "stop"},
        ],
        "usage": USAGE,
    }
    for options in OPTIONS.values():
        assert msgspec.to_builtins(ChatStream([body + DONE], **options).collect()) == right


def test_each_answer_is_another_object() -> None:
    stream = ChatStream([A, B, DONE])
    first, second = stream.collect(), stream.completion()
    first.choices[0].message.content = "changed"
    assert (second.text, stream.completion().text, stream.collect().text) == ("ab", "ab", "ab")


# Events that are no chunk


def test_events_that_are_left_out() -> None:
    seen: list[bytes] = []
    reads = [A + sse(b"oops") + B + DONE]
    assert ChatStream(reads, on_decode_error="skip").collect().text == "ab"
    assert ChatStream(reads, on_decode_error=lambda error: seen.append(error.payload)).collect().text == "ab"
    assert seen == [b"oops"]


def test_what_a_function_for_decode_errors_raises() -> None:
    def refuse(error: DecodeError) -> None:
        raise KeyError(error.payload)

    stream = ChatStream([A + sse(b"oops") + B + DONE], on_decode_error=refuse)
    with pytest.raises(KeyError):
        stream.collect()
    assert stream.completion().text == "a"
    assert stream.collect().text == "ab"


# Chunks that were handed out before

TAKE: Final[dict[str, Callable[[Any], Any]]] = {
    "a chunk": lambda stream: next(stream),
    "a text": lambda stream: next(stream.iter_text()),
    "a payload": lambda stream: next(stream.iter_payloads()),
    "a pair": lambda stream: next(stream.iter_with_payload()),
    "a list": lambda stream: next(stream.iter_batches(1)),
}


@pytest.mark.parametrize("take", TAKE.values(), ids=TAKE)
def test_chunks_that_were_handed_out_and_not_merged_are_missed(take: Callable[[Any], Any]) -> None:
    stream = ChatStream([A, B, DONE])
    take(stream)
    with pytest.raises(SSEWireError) as caught:
        stream.collect()
    assert str(caught.value) == (
        "collect() has not all chunks: 1 of them were handed out before and not merged; "
        "make the stream with accumulate=True"
    )
    with pytest.raises(SSEWireError, match="make the stream with accumulate=True"):
        stream.completion()
    # It took nothing.
    assert [chunk.text for chunk in stream] == ["b"]


@pytest.mark.parametrize("take", TAKE.values(), ids=TAKE)
def test_with_accumulate_nothing_is_missed(take: Callable[[Any], Any]) -> None:
    stream = ChatStream([A, B, DONE], accumulate=True)
    take(stream)
    assert stream.completion().text == "a"
    assert stream.collect().text == "ab"


def test_the_same_of_asynchronous_streams(run: Run) -> None:
    async def read() -> None:
        stream = AsyncChatStream(AsyncReads(A, B, DONE))
        await anext(stream)
        with pytest.raises(SSEWireError, match="1 of them were handed out before"):
            await stream.collect()
        assert [chunk.text async for chunk in stream] == ["b"]
        stream = AsyncChatStream(AsyncReads(A, B, DONE), accumulate=True)
        await anext(stream)
        assert stream.completion().text == "a"
        assert (await stream.collect()).text == "ab"

    run(read())


def test_an_error_that_was_raised_before_is_no_chunk() -> None:
    stream = ChatStream([ERROR + A + DONE])
    with pytest.raises(APIError):
        next(stream)
    assert stream.collect().text == "a"


def test_chunks_behind_an_interrupted_collect_are_merged_however_they_are_read() -> None:
    stream = ChatStream([A + sse(b"oops") + B, C + DONE])
    with pytest.raises(DecodeError):
        stream.collect()
    assert next(stream).text == "b"
    assert stream.completion().text == "ab"
    assert list(stream.iter_text()) == ["c"]
    assert stream.completion().text == "abc"


# Streams that are closed, or read by somebody else


def test_a_closed_stream_has_no_more() -> None:
    stream = ChatStream([A, B], accumulate=True)
    next(stream)
    stream.close()
    with pytest.raises(SSEWireError, match="closed"):
        stream.collect()
    assert stream.completion().text == "a"


def test_a_stream_that_was_closed_before_has_merged_nothing() -> None:
    stream = ChatStream([A, B])
    stream.close()
    with pytest.raises(SSEWireError, match="closed"):
        stream.collect()
    with pytest.raises(SSEWireError, match="nothing was merged"):
        stream.completion()


def test_a_collect_while_another_reads_changes_nothing() -> None:
    refused: list[str] = []

    def reads() -> Any:
        yield A
        with pytest.raises(SSEWireError) as caught:
            stream.collect()
        refused.append(str(caught.value))
        yield B + DONE

    stream = ChatStream(reads(), accumulate=True)
    assert [chunk.text for chunk in stream] == ["a", "b"]
    assert "read already" in refused[0]
    assert stream.completion().text == "ab"


def test_a_collect_while_another_reads_the_first_chunk_does_not_begin_to_merge() -> None:
    def reads() -> Any:
        with pytest.raises(SSEWireError, match="read already"):
            stream.collect()
        yield A + B + DONE

    stream = ChatStream(reads())
    assert next(stream).text == "a"
    with pytest.raises(SSEWireError, match="1 of them were handed out before"):
        stream.collect()
    assert [chunk.text for chunk in stream] == ["b"]


def test_an_interruption_keeps_what_came_before_it() -> None:
    stream = ChatStream(Reads(A, B, KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        stream.collect()
    assert (stream.state, stream.completion().text) == ("closed", "ab")


def test_the_source_is_read_to_the_sentinel_and_closed() -> None:
    response = Response(A + B, DONE, AssertionError("read on"))
    with ChatStream(response) as stream:
        assert stream.collect().text == "ab"
        assert (stream.state, response.closed, response.generator_closed) == ("done", 1, True)
    assert stream.state == "done"


# Chunks of other types


@pytest.mark.parametrize("type", TYPES.values(), ids=TYPES)
def test_own_types(type: Any, run: Run) -> None:
    reads = [A + chunk("x", index=1) + sse(b"oops") + B, chunk("", "stop") + DONE]
    stream = ChatStream(reads, type=type)
    with pytest.raises(DecodeError):
        stream.collect()
    found = stream.collect()
    assert [(choice.index, choice.message.content) for choice in found.choices] == [(0, "ab"), (1, "x")]

    async def read() -> ChatCompletion:
        return await AsyncChatStream(AsyncReads(*reads), type=type, on_decode_error="skip").collect()

    assert run(read()) == found


@pytest.mark.parametrize("type", DOCUMENTED.values(), ids=DOCUMENTED)
def test_documented_types(type: Any) -> None:
    members = {"id": "i", "created": 1, "model": "m", "object": "chat.completion.chunk"}
    made = [[choice("a")], [choice("x", index=1)], [choice("b", "stop")]]
    body = b"".join(sse({**members, "choices": choices}) for choices in made)
    found = ChatStream([body + DONE], type=type).collect()
    assert (found.id, found.created, found.model) == ("i", 1, "m")
    said = [(choice.index, choice.message.content, choice.finish_reason) for choice in found.choices]
    assert said == [(0, "ab", "stop"), (1, "x", None)]


class Rest(msgspec.Struct):
    id: str = ""


def test_types_without_choices_are_refused_before_the_source_is_touched(run: Run) -> None:
    class Untouched:
        """Nothing may be asked of it."""

        def __getattribute__(self, name: str) -> Any:
            raise AssertionError(name)

    for make in (ChatStream, AsyncChatStream):
        with pytest.raises(
            TypeError, match="accumulate=True needs chunks with choices, and Rest has no member of that"
        ):
            make(Untouched(), type=Rest, accumulate=True)
    source = Reads(A, DONE)
    stream = ChatStream(source, type=Rest)
    with pytest.raises(TypeError, match=r"collect\(\) needs chunks with choices, and Rest has no member of that name"):
        stream.collect()
    assert (stream.state, source.asked) == ("open", 0)
    assert list(stream) == [Rest()]

    async def read() -> None:
        source = AsyncReads(A, DONE)
        stream = AsyncChatStream(source, type=Rest)
        with pytest.raises(TypeError, match=r"collect\(\) needs chunks with choices"):
            await stream.collect()
        assert (stream.state, source.asked) == ("open", 0)
        assert [chunk async for chunk in stream] == [Rest()]

    run(read())


@pytest.mark.parametrize("name", ["acumulate", "timeout", "most"])
def test_an_unknown_option_is_refused_by_name(name: str) -> None:
    make: Any
    for make in (ChatStream, AsyncChatStream):
        with pytest.raises(TypeError, match=name):
            make(DONE, **{name: True})
