"""Errors that servers send inside a stream: every shape of them, what it is told with, and what is no error."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable, Iterable
from typing import Any

import anyio
import msgspec
import pytest

from ssewire import (
    NSCALE,
    APIError,
    AsyncChatStream,
    ChatCompletionChunk,
    ChatStream,
    ChunkDecoder,
    SSEWireError,
)
from tests.reading import every_cut, pieces, with_errors, with_errors_async
from tests.unit.cases import HELLO, STOP
from tests.unit.making import DONE, AsyncResponse, Response, choice, chunk, sse
from tests.unit.outcomes import texts
from tests.unit.sent_errors import BARE, EVENTS, FIELDS, LINES, NAMED, NO_ERROR_LINES, NO_ERRORS, SENT, Sent, event

HEADERS = {"X-Request-Id": "r-1"}
MORE = chunk("more")


def check(error: object, sent: Sent, *, status: int | None = 200, headers: dict[str, str] | None = None) -> None:
    """An error tells all that the server sent."""
    assert isinstance(error, APIError)
    assert isinstance(error.message, str)
    assert error.message
    assert error.message == (sent.message or error.message)
    assert (error.type, error.code, error.param) == (sent.type, sent.code, sent.param)
    assert type(error.code) is type(sent.code)
    assert error.body == sent.body
    assert (error.status, error.headers) == (status, {"x-request-id": "r-1"} if headers is None else headers)


@pytest.mark.parametrize("sent", SENT.values(), ids=SENT)
def test_an_error_between_chunks_in_every_cut(sent: Sent) -> None:
    body = HELLO + sent.lines + MORE + DONE
    for reads in every_cut(body) if len(body) < 2000 else [[body], pieces(body, 700), pieces(body, 1)]:
        stream = ChatStream(Response(*reads, headers=HEADERS))
        assert (next(stream).text, stream.state) == ("Hello", "open")
        error, *behind = texts(stream)
        check(error, sent)
        # Iteration goes on behind it, and neither what follows nor the sentinel heals the state.
        assert (behind, stream.state) == (["more"], "error")


@pytest.mark.parametrize("sent", SENT.values(), ids=SENT)
@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n", b"\n\n"])
def test_an_error_at_the_end_of_the_body(sent: Sent, end: bytes) -> None:
    body = HELLO + sent.lines.rstrip(b"\r\n") + end
    for reads in ([body], pieces(body, 1), [body[:-3], body[-3:]]):
        stream = ChatStream(Response(*reads, headers=HEADERS))
        hello, error = texts(stream)
        assert (hello, stream.state) == ("Hello", "error")
        check(error, sent)


FIRST = EVENTS | NAMED | FIELDS


@pytest.mark.parametrize("sent", FIRST.values(), ids=FIRST)
def test_an_error_before_any_chunk(sent: Sent) -> None:
    body = sent.lines + HELLO + STOP
    for reads in ([body], pieces(body, 1)):
        stream = ChatStream(Response(*reads, headers=HEADERS))
        error, *behind = texts(stream)
        check(error, sent)
        assert (behind, stream.state) == (["Hello", ""], "error")


@pytest.mark.parametrize("sent", BARE.values(), ids=BARE)
@pytest.mark.parametrize("before", [b"", b": hi\n\n", b"\xef\xbb\xbf", b"\n", b"id: 1\nretry: 5\n"])
def test_a_bare_error_before_any_event_is_the_body_and_nothing_more_is_read(sent: Sent, before: bytes) -> None:
    body = before + sent.lines
    for reads in [[body, HELLO, DONE], [*pieces(body, 1), HELLO, DONE]]:
        response = Response(*reads, headers=HEADERS)
        stream = ChatStream(response)
        (error,) = texts(stream)
        check(error, sent)
        assert stream.state == "error"
        assert (response.closed, response.generator_closed) == (1, True)
        assert response.reads.asked <= len(reads) - 2


@pytest.mark.parametrize("sent", LINES.values(), ids=LINES)
def test_a_line_that_is_an_error_stands_behind_the_event_that_it_stands_in(sent: Sent) -> None:
    behind = HELLO[:-1] + sent.lines + MORE + DONE
    for reads in every_cut(behind):
        stream = ChatStream(Response(*reads, headers=HEADERS))
        hello, error, more = texts(stream)
        assert (hello, more, stream.state) == ("Hello", "more", "error")
        check(error, sent)


@pytest.mark.parametrize("sent", LINES.values(), ids=LINES)
def test_a_line_that_is_an_error_on_the_heels_of_an_open_event(sent: Sent) -> None:
    """So Chutes' gateway tells of a failure: no blank line before it, no line end behind it."""
    for before, found in ((HELLO[:-1], ["Hello"]), (MORE + HELLO[:-1], ["more", "Hello"])):
        body = before + sent.lines.rstrip(b"\r\n")
        for reads in every_cut(body):
            stream = ChatStream(Response(*reads, headers=HEADERS))
            *chunks, error = texts(stream)
            assert (chunks, stream.state) == (found, "error")
            check(error, sent)


def test_a_line_that_is_an_error_in_the_middle_of_an_event_leaves_the_event_whole() -> None:
    payload = HELLO.removeprefix(b"data: ").rstrip()
    body = MORE + b"data: " + payload[:10] + b'\n{"error":"m"}\ndata: ' + payload[10:] + b"\n\n" + DONE
    for reads in every_cut(body):
        more, hello, error = texts(ChatStream(reads))
        assert (more, hello) == ("more", "Hello")
        assert isinstance(error, APIError)


@pytest.mark.parametrize("sent", SENT.values(), ids=SENT)
def test_an_error_in_a_read_that_is_framed_ahead(sent: Sent) -> None:
    for end in (b"\n\n", b"\n") if sent in LINES.values() else (b"\n\n",):
        read = HELLO.rstrip() + end + sent.lines + MORE + DONE + b"\n" * 2**20
        stream = ChatStream(Response(read, headers=HEADERS))
        hello, error, more = texts(stream)
        check(error, sent)
        assert (hello, more, stream.state) == ("Hello", "more", "error")


@pytest.mark.parametrize("name", [name for name, sent in EVENTS.items() if sent.lines.count(b"data:") == 1])
def test_an_event_that_is_an_error_behind_a_forgotten_blank_line(name: str) -> None:
    sent = EVENTS[name]
    for reads in ([HELLO[:-1] + sent.lines + MORE + DONE], pieces(HELLO[:-1] + sent.lines + MORE + DONE, 1)):
        stream = ChatStream(Response(*reads, headers=HEADERS))
        hello, error, more = texts(stream)
        assert (hello, more, stream.state) == ("Hello", "more", "error")
        check(error, sent)


@pytest.mark.parametrize(
    "body",
    [
        HELLO + EVENTS["OpenAI"].lines,
        HELLO + LINES["bare, text"].lines,
        HELLO[:-1] + LINES["bare, text"].lines,
        HELLO[:-1] + LINES["field, capital"].lines,
        HELLO[:-1] + EVENTS["OpenAI"].lines,
        sse({"choices": [choice("Hello")], "error": {"message": "m"}}),
    ],
    ids=["event", "line", "line in an event", "field in an event", "data line in an event", "beside choices"],
)
def test_the_state_is_open_until_the_error_is_raised(body: bytes) -> None:
    for reads in every_cut(body + DONE):
        stream = ChatStream(reads)
        assert (next(stream).text, stream.state) == ("Hello", "open")
        with pytest.raises(APIError):
            next(stream)
        assert stream.state == "error"


def test_an_event_of_another_name_that_is_an_error() -> None:
    for name in ("message", "ping", "completion.error", "Error"):
        sent = event({"error": {"message": "m", "code": 7}}, "m", code=7, name=name)
        error, hello = texts(ChatStream(Response(sent.lines + HELLO + DONE, headers=HEADERS)))
        check(error, sent)
        assert hello == "Hello"


def test_several_errors_are_all_told_of() -> None:
    stream = ChatStream([b"".join(sent.lines for sent in list(SENT.values())[:5]) + DONE])
    errors = with_errors(stream)
    assert [error.message for error in errors if isinstance(error, APIError)] == [
        "m",
        "no credit",
        "slow down",
        "filtered",
        "m",
    ]
    assert (len(errors), stream.state) == (5, "error")


# An error beside choices: the chunk first

BESIDE = {
    "id": "g-1",
    "choices": [choice("so far", "error")],
    "usage": {"total_tokens": 3},
    "error": {"code": 502, "message": "lost"},
}
LOST = Sent(sse(BESIDE), BESIDE, "lost", code=502)


@pytest.mark.parametrize("type", [ChatCompletionChunk, dict[str, Any]])
def test_an_error_beside_choices_comes_behind_its_chunk(type: Any) -> None:
    for reads in every_cut(HELLO + LOST.lines + MORE + DONE):
        stream = ChatStream(Response(*reads, headers=HEADERS), type=type)
        hello, so_far, error, more = with_errors(stream.iter_text())
        assert (hello, so_far, more, stream.state) == ("Hello", "so far", "more", "error")
        check(error, LOST)
        assert stream.finish_reasons == {0: "error"}
        assert msgspec.to_builtins(stream.usage) == {"total_tokens": 3}


@pytest.mark.parametrize("end", [0, 1, 2])
def test_an_error_beside_choices_at_the_end_of_the_body(end: int) -> None:
    stream = ChatStream(Response(LOST.lines[: len(LOST.lines) - end], headers=HEADERS))
    so_far, error = texts(stream)
    assert (so_far, stream.state) == ("so far", "error")
    check(error, LOST)


def test_an_error_beside_an_empty_list_of_choices_has_a_chunk_too() -> None:
    payload = {"id": "x", "choices": [], "error": {"message": "m"}}
    item, error = with_errors(ChatStream([sse(payload) + DONE], type=dict[str, Any]))
    assert item == payload
    assert isinstance(error, APIError)


def test_an_error_beside_choices_in_the_other_ways_to_iterate() -> None:
    payload = msgspec.json.encode(BESIDE)
    found, error = with_errors(ChatStream([LOST.lines + DONE]).iter_payloads())
    assert found == payload
    assert isinstance(error, APIError)
    pair, behind = with_errors(ChatStream([LOST.lines + DONE]).iter_with_payload())
    assert isinstance(pair, tuple)
    assert (pair[0], pair[1].text) == (payload, "so far")
    assert isinstance(behind, APIError)


def test_an_error_that_groq_tells_of_beside_an_empty_list_of_choices() -> None:
    payload = {"id": "x", "choices": [], "x_groq": {"id": "r", "error": "over capacity"}}
    for reads in every_cut(HELLO + sse(payload) + DONE):
        stream = ChatStream(Response(*reads, headers=HEADERS))
        hello, empty, error = texts(stream)
        assert (hello, empty, stream.state) == ("Hello", "", "error")
        check(error, event(payload, "over capacity"))


class Strict(msgspec.Struct, forbid_unknown_fields=True):
    id: str
    choices: list[Any]
    created: int = 0
    model: str = ""
    object: str = ""

    @property
    def text(self) -> str:
        return "".join(item["delta"]["content"] or "" for item in self.choices)


@pytest.mark.parametrize("type", [Strict, NSCALE.chunk_type])
def test_where_the_type_refuses_the_chunk_the_error_beside_it_comes_alone(type: Any) -> None:
    stream = ChatStream(Response(LOST.lines + DONE, headers=HEADERS), type=type)
    (error,) = with_errors(stream)
    check(error, LOST)
    assert stream.state == "error"


# Whatever the chunk type, and however the stream is read


class Own(msgspec.Struct):
    id: str
    choices: list[dict[str, Any]]
    error: int = 0


WHOLE = {"id": "1", "created": 1, "model": "m", "object": "chat.completion.chunk", "choices": [choice("Hi", "stop")]}
TYPES: list[Any] = [ChatCompletionChunk, dict[str, Any], Any, Own, Strict, NSCALE.chunk_type]

WAYS: dict[str, Callable[[ChatStream[Any]], Iterable[Any]]] = {
    "chunks": lambda stream: stream,
    "texts": lambda stream: stream.iter_text(),
    "payloads": lambda stream: stream.iter_payloads(),
    "pairs": lambda stream: stream.iter_with_payload(),
}


@pytest.mark.parametrize("sent", SENT.values(), ids=SENT)
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_an_error_is_one_for_every_type_and_every_way_to_iterate(
    sent: Sent, way: Callable[[ChatStream[Any]], Iterable[Any]]
) -> None:
    for chunk_type in TYPES:
        stream = ChatStream(Response(sse(WHOLE) + sent.lines + sse(WHOLE) + DONE, headers=HEADERS), type=chunk_type)
        before, error, behind = with_errors(way(stream))
        assert before == behind
        assert not isinstance(before, SSEWireError)
        check(error, sent)
        assert stream.state == "error"


def test_an_error_is_one_for_a_type_without_choices() -> None:
    class Bare(msgspec.Struct):
        id: str

    for sent in SENT.values():
        stream = ChatStream(Response(sse({"id": "1"}) + sent.lines + DONE, headers=HEADERS), type=Bare)
        before, error = with_errors(stream)
        assert before == Bare("1")
        check(error, sent)


@pytest.mark.parametrize("sent", SENT.values(), ids=SENT)
def test_an_asynchronous_stream_and_a_decoder_tell_the_same(sent: Sent) -> None:
    body = HELLO + sent.lines + MORE + DONE

    async def main() -> None:
        for reads in ([body], pieces(body, 1)):
            stream = AsyncChatStream(AsyncResponse(*reads, headers=HEADERS))
            hello, error, more = await with_errors_async(stream.iter_text())
            assert (hello, more, stream.state) == ("Hello", "more", "error")
            check(error, sent)

    anyio.run(main)
    decoder = ChunkDecoder()
    hello, error, more = texts(decoder.feed(body))
    assert (hello, more, decoder.state, decoder.done) == ("Hello", "more", "error", True)
    check(error, sent, status=None, headers={})


@pytest.mark.parametrize("sent", SENT.values(), ids=SENT)
def test_an_error_pickles_and_copies(sent: Sent) -> None:
    (error,) = (
        item
        for item in with_errors(ChatStream(Response(HELLO + sent.lines, headers=HEADERS)))
        if isinstance(item, APIError)
    )
    for again in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
        check(again, sent)
        assert str(again) == str(error)


# What is no error


@pytest.mark.parametrize("members", NO_ERRORS.values(), ids=NO_ERRORS)
@pytest.mark.parametrize("type", [ChatCompletionChunk, dict[str, Any]])
def test_what_is_no_error(members: dict[str, Any], type: Any) -> None:
    payload = {"choices": [choice("x")], **members}
    for reads in every_cut(HELLO + sse(payload) + STOP + DONE):
        stream = ChatStream(reads, type=type)
        payloads = [payload for payload, _ in stream.iter_with_payload()]
        assert [msgspec.json.decode(found) for found in payloads][1:2] == [payload]
        assert (len(payloads), stream.state) == (3, "done")


@pytest.mark.parametrize("lines", NO_ERROR_LINES.values(), ids=NO_ERROR_LINES)
def test_lines_that_are_no_error(lines: bytes) -> None:
    for body in (HELLO + lines + b"\n" + STOP + DONE, HELLO[:-1] + lines + b"\n" + STOP + DONE):
        for reads in every_cut(body):
            stream = ChatStream(reads)
            assert texts(stream) == ["Hello", ""]
            assert stream.state == "done"
