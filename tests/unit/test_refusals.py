"""Refused requests: a status that is no success, and what the server says with it."""

from __future__ import annotations

import json
import pickle
from typing import Any, Final

import anyio
import pytest

from ssewire import APIError, AsyncChatStream, ChatStream, NotAStreamError
from tests.reading import pieces
from tests.unit.cases import ERROR, HELLO, STOP, USAGE
from tests.unit.error_bodies import (
    COMPLETION,
    ERRORS,
    HEADERS,
    HTML,
    KEPT,
    PACKED,
    REFUSALS,
    SEEN_HEADERS,
    WRITTEN,
    Told,
    check,
    cuts,
    only_error,
)
from tests.unit.making import DONE, AsyncResponse, Response, choice, lines, sse


def test_a_flag_is_no_status() -> None:
    class Flagged(Response):
        status_code: Any
        status: Any = True

        def __init__(self, status_code: Any) -> None:
            super().__init__(HELLO, DONE)
            self.status_code = status_code

    for status in (None, False, True, 200):
        assert [item.text for item in ChatStream(Flagged(status))] == ["Hello"]
    with pytest.raises(NotAStreamError):
        next(ChatStream(Flagged(404)))


@pytest.mark.parametrize(("read", "sentence"), [("text", "iter_bytes"), (7, "got int"), ([1], "got list")])
def test_a_refusal_whose_reads_are_no_bytes_says_so(read: Any, sentence: str) -> None:
    for reads in ([read], [b"no", read]):
        stream = ChatStream(Response(*reads, status=500))
        with pytest.raises(TypeError, match=f"expected bytes.*{sentence}"):
            next(stream)
        assert stream.state == "incomplete"

    async def main() -> None:
        with pytest.raises(TypeError, match=f"expected bytes.*{sentence}"):
            await anext(AsyncChatStream(AsyncResponse(read, status=500)))

    anyio.run(main)


@pytest.mark.parametrize("told", (ERRORS | REFUSALS).values(), ids=ERRORS | REFUSALS)
@pytest.mark.parametrize("status", [302, 404, 503])
def test_a_refusal_in_json(told: Told, status: int) -> None:
    for written in WRITTEN.values():
        body = written(told.body)
        for reads in ([body], pieces(body, 1), [body[:-3], body[-3:]]):
            check(only_error(reads, status), told, status)


@pytest.mark.parametrize("told", (ERRORS | REFUSALS).values(), ids=ERRORS | REFUSALS)
def test_a_refusal_in_json_in_every_cut(told: Told) -> None:
    body = json.dumps(told.body).encode()
    for reads in cuts(body):
        error = only_error(reads, 500)
        check(error, told, 500)
    assert isinstance(again := pickle.loads(pickle.dumps(error)), APIError)
    assert (str(again), vars(again)) == (str(error), vars(error))


@pytest.mark.parametrize("status", [100, 199, 300, 304, 400, 401, 402, 403, 422, 426, 429, 500, 502, 504, 529, 599])
def test_every_status_that_is_no_success_is_a_refusal(status: int) -> None:
    told = ERRORS["OpenAI"]
    body = json.dumps(told.body).encode()
    check(only_error([body], status), told, status)
    error = only_error([HELLO + DONE], status)
    assert isinstance(error, NotAStreamError)
    assert (error.status, error.body) == (status, HELLO + DONE)


@pytest.mark.parametrize(
    "body",
    [
        ERROR,
        b'event: error\ndata: {"error": {"message": "overloaded", "type": "server_error", "code": 503}}',
        HELLO + ERROR,
    ],
    ids=["event", "named", "behind a chunk"],
)
@pytest.mark.parametrize("end", [b"", DONE])
def test_a_refusal_in_the_form_of_a_stream(body: bytes, end: bytes) -> None:
    told = Told(
        {"error": {"message": "overloaded", "type": "server_error", "code": 503}}, "overloaded", "server_error", 503
    )
    for reads in cuts(body.rstrip() + (b"\n\n" + end if end else b"")):
        check(only_error(reads, 503), told, 503)


def test_a_refusal_that_is_a_named_event_with_a_text() -> None:
    error = only_error([b"event: error\ndata: overloaded\n\n"], 503)
    check(error, Told("overloaded", "overloaded"), 503)


@pytest.mark.parametrize(
    "body",
    [
        HTML,
        b"upstream connect error: reset",
        b"",
        b"\n",
        b"null",
        b"7",
        b'"overloaded"',
        b"[1]",
        b"[]",
        b'{"error": "cu',
        HELLO + STOP + DONE,
        b": ping\n\n",
        PACKED["gzip"],
        b"\xff\xfe\x00",
        json.dumps(COMPLETION).encode()[:-1],
    ],
)
@pytest.mark.parametrize("status", [302, 404, 502])
def test_a_refusal_that_says_nothing_in_json(body: bytes, status: int) -> None:
    for reads in cuts(body):
        error = only_error(reads, status)
        assert isinstance(error, NotAStreamError)
        assert (error.status, error.headers, error.body) == (status, SEEN_HEADERS, body)
        assert error.reason
        assert error.reason in str(error)
        assert str(status) in str(error)


# In the form of a stream


BOOM: Final = Told({"error": {"message": "boom", "code": 5}}, "boom", code=5)
BOOM_JSON: Final = json.dumps(BOOM.body).encode()
BESIDE: Final[dict[str, Any]] = {"choices": [choice("so far", "error")], "error": {"message": "lost"}}
LONG: Final[dict[str, Any]] = {
    "detail": [{"msg": "too long", "loc": ["body", "messages", 0, "content"], "input": "x" * 500_000}]
}
LONG_TOLD: Final = Told(LONG, "body.messages.0.content: too long")

STREAMS: Final[dict[str, tuple[bytes, Told]]] = {
    "an error line": (b"error: " + BOOM_JSON + b"\n\n", BOOM),
    "an error line, no line end": (b"error: " + BOOM_JSON, BOOM),
    "an error line, a text": (b"ERROR: overloaded\n\n", Told("overloaded", "overloaded")),
    "a detail": (b'data: {"detail": "x"}\n\n', Told({"detail": "x"}, "x")),
    "a detail and the sentinel": (b'data: {"detail": "x"}\n\n' + DONE, Told({"detail": "x"}, "x")),
    "a message": (b'data: {"message": "x", "code": "c"}\n\n', Told({"message": "x", "code": "c"}, "x", code="c")),
    "a detail of another name": (b'event: ping\ndata: {"detail": "x"}\n\n', Told({"detail": "x"}, "x")),
    "behind a chunk": (HELLO + sse(BOOM_JSON) + DONE, BOOM),
    "a line behind a chunk": (HELLO + b"error: " + BOOM_JSON, BOOM),
    "bare behind a chunk": (HELLO + BOOM_JSON, BOOM),
    "in the event of a chunk": (lines(HELLO[6:-2], BOOM_JSON) + DONE, BOOM),
    "on the line of a chunk": (sse(HELLO[6:-2] + BOOM_JSON) + DONE, BOOM),
    "beside choices": (sse(BESIDE), Told(BESIDE, "lost")),
    "behind keep-alives": (b": hi\n\n: hi\n\n" + sse(BOOM_JSON), BOOM),
    "the first of two": (sse(BOOM_JSON) + sse({"error": "later"}), BOOM),
    "over several lines": (lines(b"{", BOOM_JSON[1:-1], b"}"), BOOM),
    "a name and no text": (b"event: error\ndata:\n\n", Told("", "the server sent an error and nothing about it")),
}


@pytest.mark.parametrize(("body", "told"), STREAMS.values(), ids=STREAMS)
def test_a_refusal_in_the_form_of_a_stream_is_the_error_in_it(body: bytes, told: Told) -> None:
    for reads in cuts(body):
        check(only_error(reads, 503), told, 503)
    for written in (body.replace(b"\n", b"\r\n"), b"\xef\xbb\xbf" + body):
        check(only_error([written], 400), told, 400)


NOTHING_SAID: Final[dict[str, bytes]] = {
    "chunks": HELLO + STOP + DONE,
    "a chunk that shares its event": lines(HELLO[6:-2], STOP[6:-2]),
    "usage": USAGE,
    "the sentinel": DONE,
    "null": b"data: null\n\n",
    "a text": b"data: no capacity\n\n",
    "an array": b'data: ["no", "capacity"]\n\n',
    "no error": sse({"choices": [], "error": None}),
    # Without a data line there is no event.
    "a name alone": b"event: error\n\n",
    "a name alone, not ended": b"event: error",
    "an empty error line": b"error:\n\n",
    "an error line of null": b"error: null\n\n",
}


@pytest.mark.parametrize("body", NOTHING_SAID.values(), ids=NOTHING_SAID)
def test_a_refusal_in_the_form_of_a_stream_without_an_error(body: bytes) -> None:
    for reads in cuts(body):
        error = only_error(reads, 503)
        assert isinstance(error, NotAStreamError)
        assert (error.reason, error.status, error.body) == ("the server refused the request", 503, body)


@pytest.mark.parametrize(
    "body",
    [json.dumps(LONG).encode(), json.dumps(LONG, ensure_ascii=False, indent=1).encode(), sse(LONG)],
    ids=["one line", "pretty", "event"],
)
def test_a_refusal_with_the_whole_prompt_in_it(body: bytes) -> None:
    """500 kB: servers that validate requests send back what was wrong in them."""
    assert len(body) > 500_000
    for reads in ([body], pieces(body, 1000), pieces(body, 65_536)):
        error = only_error(reads, 422)
        check(error, LONG_TOLD, 422)
        assert len(str(error)) < 200


def test_an_error_behind_the_first_mebibyte_is_not_read() -> None:
    error = only_error([b": keep-alive\n" * 100_000, b"error: late\n"], 503)
    assert isinstance(error, NotAStreamError)
    assert error.body == (b": keep-alive\n" * 100_000)[:KEPT]


# What the reason names


@pytest.mark.parametrize("name", PACKED)
@pytest.mark.parametrize("status", [403, 502])
def test_the_reason_names_how_a_refusal_is_compressed(name: str, status: int) -> None:
    for reads in cuts(PACKED[name]):
        error = only_error(reads, status)
        assert isinstance(error, NotAStreamError)
        assert name.split(",")[0] in error.reason
        assert "decompress" in error.reason
        assert (error.status, error.body) == (status, PACKED[name])


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
@pytest.mark.parametrize("body", [b"", HTML])
def test_the_reason_of_a_redirect_names_where_it_goes(status: int, body: bytes) -> None:
    for name in ("Location", "location"):
        response = Response(body, status=status, headers={name: "https://other.example/v1"})
        with pytest.raises(NotAStreamError, match=r"https://other\.example/v1.*follow redirects") as caught:
            next(ChatStream(response))
        assert (caught.value.status, caught.value.body, response.closed) == (status, body, 1)
    with pytest.raises(NotAStreamError, match="follow redirects"):
        next(ChatStream(Response(body, status=status)))


@pytest.mark.parametrize("status", [100, 300, 304, 305, 399])
def test_another_status_is_no_redirect(status: int) -> None:
    with pytest.raises(NotAStreamError) as caught:
        next(ChatStream(Response(b"", status=status, headers={"Location": "https://other.example/v1"})))
    assert caught.value.reason == "the server refused the request"


def test_a_redirect_that_says_more_is_an_error_of_the_server() -> None:
    check(only_error([b'{"message": "moved"}'], 308), Told({"message": "moved"}, "moved"), 308)


def test_an_asynchronous_stream_tells_the_same() -> None:
    async def main() -> None:
        for body, told in STREAMS.values():
            response = AsyncResponse(*pieces(body, 9), status=503, headers=HEADERS)
            stream = AsyncChatStream(response)
            with pytest.raises(APIError) as caught:
                await anext(stream)
            check(caught.value, told, 503)
            assert (stream.state, response.closed, response.generator_closed) == ("error", 1, True)

    anyio.run(main)
