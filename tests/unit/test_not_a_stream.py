"""Responses that are no stream: a status that is no success, or a body without an event; and that they are closed."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import pickle
import zlib
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import anyio
import pytest

from ssewire import (
    APIError,
    AsyncChatStream,
    ChatCompletionChunk,
    ChatStream,
    ChunkDecoder,
    IncompleteStreamError,
    NotAStreamError,
)
from tests.reading import every_cut, pieces, with_errors, with_errors_async
from tests.unit.cases import ERROR, HELLO, STOP
from tests.unit.making import DONE, AsyncResponse, Response, chunk, sse

HEADERS = {"Content-Type": "text/plain", "Retry-After": "7"}
SEEN_HEADERS = {"content-type": "text/plain", "retry-after": "7"}

# So much of a body is kept.
KEPT = 65_536


class Told(NamedTuple):
    """What an APIError must tell of a body."""

    body: Any
    message: str
    type: str | None = None
    code: str | int | None = None
    param: str | None = None


def cuts(body: bytes) -> Iterator[list[bytes]]:
    """Every cut in two and byte by byte; of a long body some of them."""
    if len(body) < 1000:
        yield from map(list, every_cut(body))
    else:
        yield from ([body], pieces(body, 1 if len(body) < KEPT else 999), [body[:-1], body[-1:]], pieces(body, 4096))


def only_error(reads: list[bytes], status: int) -> BaseException:
    """The one thing that comes of a response, which is closed by then, and of which nothing comes afterwards."""
    response = Response(*reads, status=status, headers=HEADERS)
    stream = ChatStream(response)
    with pytest.raises((APIError, NotAStreamError, IncompleteStreamError)) as caught:
        next(stream)
    assert (response.closed, response.generator_closed) == (1, True)
    assert stream.state == ("incomplete" if caught.type is IncompleteStreamError else "error")
    assert list(stream) == []
    assert response.closed == 1
    return caught.value


def check(error: BaseException, told: Told, status: int) -> None:
    assert isinstance(error, APIError)
    assert (error.message, error.type, error.code, error.param) == (told.message, told.type, told.code, told.param)
    assert type(error.code) is type(told.code)
    assert (error.body, error.status, error.headers) == (told.body, status, SEEN_HEADERS)


MISSING = {"type": "missing", "loc": ["body", "model"], "msg": "Field required", "input": {}}
EXTRA = {"type": "extra_forbidden", "loc": ["body", "messages", 0, "name"], "msg": "Extra inputs are not permitted"}
REQUIRED = "body.model: Field required"
FORBIDDEN = "body.messages.0.name: Extra inputs are not permitted"
ENGINE = {"object": "error", "message": "too long", "type": "BadRequestError", "param": None, "code": 400}

# Bodies that are errors with any status
ERRORS: dict[str, Told] = {
    "OpenAI": Told(
        {"error": {"message": "no such model", "type": "invalid_request_error", "param": "model", "code": "not_found"}},
        "no such model",
        "invalid_request_error",
        "not_found",
        "model",
    ),
    "Azure": Told({"error": {"code": "429", "message": "slow down"}}, "slow down", code="429"),
    "OpenRouter": Told({"error": {"code": 402, "message": "no credit"}, "user_id": "u"}, "no credit", code=402),
    "Mistral": Told(ENGINE, "too long", "BadRequestError", 400),
    "Mistral, nested details": Told(
        {**ENGINE, "message": {"detail": [EXTRA, MISSING]}, "type": "t", "code": None}, f"{FORBIDDEN}; {REQUIRED}", "t"
    ),
    "Anthropic": Told(
        {"type": "error", "error": {"type": "not_found_error", "message": "m"}, "request_id": "r"},
        "m",
        "not_found_error",
    ),
    "Google, in an array": Told([{"error": {"code": 429, "message": "m", "status": "X"}}], "m", code=429),
    "TGI": Told({"error": "Model is overloaded", "error_type": "overloaded"}, "Model is overloaded", "overloaded"),
    "Hugging Face": Told({"error": ["unknown a", "unknown b"], "warnings": []}, "unknown a; unknown b"),
    "LiteLLM": Told(
        {"error": {"message": "m", "type": "None", "param": "None", "code": "400"}}, "m", "None", "400", "None"
    ),
    "CentML": Told({"error": "Rate limit exceeded"}, "Rate limit exceeded"),
    "Nscale": Told(
        {"error": {"code": "422", "error_type": "UNSUPPORTED", "message": "m", "param": ["tools", "tool_choice"]}},
        "m",
        "UNSUPPORTED",
        "422",
        "tools, tool_choice",
    ),
    "FastAPI": Told({"detail": "Not Found"}, "Not Found"),
    "FastAPI, a list": Told({"detail": [MISSING]}, REQUIRED),
    "FastAPI, a longer list": Told({"detail": [MISSING, EXTRA]}, f"{REQUIRED}; {FORBIDDEN}"),
    "Chutes, an object": Told(
        {"detail": {"message": "quota used up", "quota_reset_timestamp": "2025-09-11T10:13:01"}}, "quota used up"
    ),
    "Chutes, the engine's error": Told({"detail": ENGINE}, "too long", "BadRequestError", 400),
    "Chutes, nested": Told({"detail": {"error": {"message": "m", "type": "t", "code": 400}}}, "m", "t", 400),
    "detail beside the code": Told({"detail": "m", "code": "c", "type": "t"}, "m", "t", "c"),
    "not in ASCII": Told({"error": {"message": "zu groß 🎉"}}, "zu groß 🎉"),
}

# Objects that are errors because the status says so
REFUSALS: dict[str, Told] = {
    "Nscale, flat": Told(
        {"code": "422", "error_type": "UNSUPPORTED", "message": "m", "param": "tools"},
        "m",
        "UNSUPPORTED",
        "422",
        "tools",
    ),
    "Cohere": Told({"id": "1", "message": "invalid api token"}, "invalid api token"),
    "Mistral, no key": Told({"message": "Unauthorized", "request_id": "r"}, "Unauthorized"),
    "Mistral, newer": Told(
        {"object": "Error", "detail": [EXTRA], "message": [EXTRA], "type": "invalid_request_error", "code": 3001},
        FORBIDDEN,
        "invalid_request_error",
        3001,
    ),
    "Azure's gateway": Told({"statusCode": 429, "message": "slow down"}, "slow down", code=429),
    "Bedrock": Told({"message": "throttled", "__type": "ThrottlingException"}, "throttled"),
    "null as error": Told({"error": None, "message": "m", "code": 1}, "m", code=1),
    "problem details": Told(
        {"type": "about:blank", "title": "Not Found", "status": 404, "detail": "no model"},
        "no model",
        "about:blank",
        404,
    ),
    "no sentence": Told({"ok": False}, '{"ok":false}'),
    "errors": Told({"success": False, "errors": [1]}, '{"success":false,"errors":[1]}'),
}

WRITTEN: dict[str, Callable[[Any], bytes]] = {
    "one line": lambda body: json.dumps(body, ensure_ascii=False).encode(),
    "with a line end": lambda body: json.dumps(body).encode() + b"\r\n",
    "pretty": lambda body: json.dumps(body, indent=2).encode(),
    "pretty, CR LF": lambda body: json.dumps(body, indent=4).replace("\n", "\r\n").encode() + b"\r\n",
    "behind white space": lambda body: b"\n  " + json.dumps(body).encode(),
    "behind a byte-order mark": lambda body: b"\xef\xbb\xbf" + json.dumps(body).encode(),
}


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


@pytest.mark.parametrize("told", ERRORS.values(), ids=ERRORS)
@pytest.mark.parametrize("status", [200, 201])
@pytest.mark.parametrize("written", WRITTEN.values(), ids=WRITTEN)
def test_an_error_in_json_although_the_status_is_a_success(
    told: Told, status: int, written: Callable[[Any], bytes]
) -> None:
    body = written(told.body)
    for reads in cuts(body) if status == 200 else [[body], pieces(body, 1)]:
        check(only_error(reads, status), told, status)


@pytest.mark.parametrize("status", [200, 500])
@pytest.mark.parametrize("written", WRITTEN.values(), ids=WRITTEN)
def test_a_long_error_in_json(status: int, written: Callable[[Any], bytes]) -> None:
    for length in (3000, 4096, 5000, 60_000):
        told = Told({"error": {"message": "x" * length, "trace": ["é"], "code": 5}}, "x" * length, code=5)
        body = written(told.body)
        for reads in ([body], pieces(body, 999), [body[:4095], body[4095:]]):
            check(only_error(reads, status), told, status)


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


HTML = b"<!DOCTYPE html>\n<html>\r\n\r\n<title>502</title>\n\n</html>"
COMPLETION = {"id": "c", "object": "chat.completion", "choices": [{"index": 0, "message": {"content": "Hello"}}]}
STREAM = (HELLO + STOP + DONE) * 3
LINES = b"".join(event.removeprefix(b"data: ").rstrip() + b"\n" for event in (HELLO, chunk("b"), STOP))


# Frames of some events, with one compressed block (the standard library of Python 3.11 has neither).
ZSTD = "28b52ffd60de010d0100d0646174613a207b2261223a202262227d0a0a5b444f4e455d0a0a0100825535c3"
LZ4 = (
    "04224d186840de020000000000005322000000ff03646174613a207b2261223a202262227d0a0a1200ffffb3805b444f4e455d0a0a00000000"
)

PACKED: dict[str, bytes] = {
    "gzip": gzip.compress(STREAM, mtime=0),
    "zlib": zlib.compress(STREAM),
    "zlib, fast": zlib.compress(STREAM, 1),
    "zlib, best": zlib.compress(STREAM, 9),
    "bzip2": bz2.compress(STREAM),
    "xz": lzma.compress(STREAM),
    "zstd": bytes.fromhex(ZSTD),
    "lz4": bytes.fromhex(LZ4),
}


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


@pytest.mark.parametrize("status", [200, 500])
@pytest.mark.parametrize("body", [b"<html>" + b"x" * 100_000, b"x\n" * 50_000, b"{" + b" " * 100_000])
def test_of_a_long_body_the_start_is_kept(status: int, body: bytes) -> None:
    for reads in ([body], pieces(body, 1000), [body[:70_000], body[70_000:]]):
        error = only_error(reads, status)
        assert isinstance(error, NotAStreamError)
        assert error.body == body[:KEPT]
        assert len(str(error)) < 500


# With a success, and no event at all: what the reason must name

LONG = {**COMPLETION, "choices": [{"index": 0, "message": {"content": "é" * 40_000}, "finish_reason": "stop"}]}

NO_STREAMS: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "empty"),
    "white space": (b" \n\t\r\n\r\n ", "empty"),
    "byte-order mark": (b"\xef\xbb\xbf", "empty"),
    "byte-order mark and white space": (b"\xef\xbb\xbf\n \n", "empty"),
    "HTML": (HTML, "HTML"),
    "HTML in capitals": (b"<HTML><BODY>busy</BODY></HTML>", "HTML"),
    "HTML behind white space": (b"\r\n\r\n  <!doctype html><p>", "HTML"),
    "HTML behind a byte-order mark": (b"\xef\xbb\xbf<!DOCTYPE html>", "HTML"),
    "HTML without a head": (b"<h1>502 Bad Gateway</h1>", "HTML"),
    "HTML that begins with a comment": (b"<!-- error -->\n<html>", "HTML"),
    "one completion": (json.dumps(COMPLETION).encode(), "one whole completion"),
    "one completion, pretty": (json.dumps(COMPLETION, indent=2).encode(), "one whole completion"),
    "one completion, choices first": (b'{"choices":[{"message":{"content":"Hi"}}],"id":"c"}\n', "one whole completion"),
    "one completion, null as error": (json.dumps({**COMPLETION, "error": None}).encode(), "one whole completion"),
    "one completion, a word in it": (
        b'{"choices":[{"message":{"content":"\\"error\\": data: [DONE]"}}]}',
        "one whole completion",
    ),
    "one long completion": (json.dumps(LONG, ensure_ascii=False).encode(), "one whole completion"),
    "one long completion, pretty": (json.dumps(LONG, indent=1).encode(), "one whole completion"),
    "one completion, and the sentinel": (json.dumps(COMPLETION).encode() + b"data: [DONE]\n", "one whole completion"),
    "an object": (b'{"ok": true}', "JSON"),
    "an empty object": (b"{}", "JSON"),
    "null as error": (b'{"error": null, "status": "ok"}', "JSON"),
    "null as detail": (b'{"detail": null}\n', "JSON"),
    "an array": (b'[1, {"a": "b"}]', "JSON"),
    "an empty array": (b"[]", "JSON"),
    "an array of chunks": (b"[" + LINES.strip().replace(b"\n", b",\n") + b"]", "JSON"),
    "lines of chunks": (LINES, "newline-delimited JSON"),
    "lines of chunks, the last without an end": (LINES.rstrip(), "newline-delimited JSON"),
    "lines of chunks, CR LF": (LINES.replace(b"\n", b"\r\n"), "newline-delimited JSON"),
    "lines of chunks, blank lines between": (LINES.replace(b"\n", b"\n\n"), "newline-delimited JSON"),
    "many lines of chunks": (LINES * 400, "newline-delimited JSON"),
    "lines of Ollama": (b'{"message":{"content":"H"},"done":false}\n{"done":true}\n', "newline-delimited JSON"),
    **{f"packed by {name}": (body, name.split(",")[0]) for name, body in PACKED.items()},
    "a text": (b"no healthy upstream", "no event"),
    "a text with a colon": (b"upstream connect error: reset\n\nreason: overflow\n", "no event"),
    "other bytes": (b"\xff\xfe\x00\x01" * 9, "no event"),
}


@pytest.mark.parametrize(("body", "reason"), NO_STREAMS.values(), ids=NO_STREAMS)
def test_a_body_without_an_event_says_what_it_is(body: bytes, reason: str) -> None:
    reasons = set()
    for reads in cuts(body):
        error = only_error(reads, 200)
        assert isinstance(error, NotAStreamError)
        assert (error.status, error.headers, error.body) == (200, SEEN_HEADERS, body[:KEPT])
        reasons.add(error.reason)
    assert isinstance(again := pickle.loads(pickle.dumps(error)), NotAStreamError)
    assert (str(again), vars(again)) == (str(error), vars(error))
    (only,) = reasons
    assert reason in only
    if reason == "JSON":
        assert "newline" not in only


@pytest.mark.parametrize(("body", "reason"), NO_STREAMS.values(), ids=NO_STREAMS)
def test_a_decoder_says_the_same_of_a_body_without_an_event(body: bytes, reason: str) -> None:
    for reads in ([body], pieces(body, 1 if len(body) < 1000 else 999)):
        decoder = ChunkDecoder()
        found: list[Any] = []
        for read in reads:
            found += with_errors(decoder.feed(read))
        (error,) = found + with_errors(decoder.finish())
        assert isinstance(error, NotAStreamError)
        assert reason in error.reason
        assert (error.status, error.headers, error.body, decoder.state) == (None, {}, body[:KEPT], "error")


# What has the form of a stream, and not one choice, is a stream that is cut

KEEP_ALIVES: dict[str, bytes] = {
    "comments": b": OPENROUTER PROCESSING\n\n: OPENROUTER PROCESSING\n\n",
    "a comment that is not ended": b": ping",
    "an empty comment": b":\n",
    "comments behind a byte-order mark": b"\xef\xbb\xbf: hi\n\n",
    "known fields": b"retry: 3000\nid: 1\nevent: ping\n\n",
    "a field without a colon": b"event\n\nid\n",
    "empty data": b"data:\n\ndata: \n\n",
    "events of another name": b"event: ping\ndata: {}\n\nevent: ping\ndata: {}\n\n",
    "null": b"data: null\n\n",
    "a line end first": b"\n\n: hi\n\n",
}


@pytest.mark.parametrize("body", KEEP_ALIVES.values(), ids=KEEP_ALIVES)
def test_keep_alives_alone_are_a_stream_that_is_cut(body: bytes) -> None:
    for reads in cuts(body):
        assert isinstance(only_error(reads, 200), IncompleteStreamError)


# However the response is read, it is closed before the error is raised

WAYS: dict[str, Callable[[ChatStream[ChatCompletionChunk]], Iterable[Any]]] = {
    "chunks": lambda stream: stream,
    "texts": lambda stream: stream.iter_text(),
    "payloads": lambda stream: stream.iter_payloads(),
    "pairs": lambda stream: stream.iter_with_payload(),
}

ALL_KINDS: list[tuple[bytes, int, type[Exception]]] = [
    (b'{"error": {"message": "m"}}', 500, APIError),
    (ERROR, 500, APIError),
    (HTML, 500, NotAStreamError),
    (b"", 304, NotAStreamError),
    (HTML, 200, NotAStreamError),
    (b"", 200, NotAStreamError),
    (json.dumps(COMPLETION).encode(), 200, NotAStreamError),
    (PACKED["gzip"], 200, NotAStreamError),
    (b'{"error": {"message": "m"}}', 200, APIError),
    (b'{"error": {"message": "m"}}\n\n' + HELLO + DONE, 200, APIError),
    (b'{\n"error": {"message": "m"}\n}\n' + HELLO + DONE, 200, APIError),
    (b": ping\n\n", 200, IncompleteStreamError),
]


@pytest.mark.parametrize(("body", "status", "error"), ALL_KINDS)
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_the_response_is_closed_before_the_error_is_raised(
    body: bytes, status: int, error: type[Exception], way: Callable[[ChatStream[Any]], Iterable[Any]]
) -> None:
    for reads in ([body], pieces(body, 1)):
        response = Response(*reads, status=status, headers=HEADERS)
        items = iter(way(ChatStream(response)))
        with pytest.raises(error):
            next(items)
        assert (response.closed, response.generator_closed) == (1, True)
        assert list(items) == []


@pytest.mark.parametrize(("body", "status", "error"), ALL_KINDS)
def test_an_asynchronous_response_is_closed_before_the_error_is_raised(
    body: bytes, status: int, error: type[Exception]
) -> None:
    async def main() -> None:
        for reads in ([body], pieces(body, 1)):
            response = AsyncResponse(*reads, status=status, headers=HEADERS)
            stream = AsyncChatStream(response)
            with pytest.raises(error) as caught:
                await anext(stream)
            assert (response.closed, response.generator_closed) == (1, True)
            sync = only_error(reads, status)
            assert (str(caught.value), vars(caught.value)) == (str(sync), vars(sync))
            assert await with_errors_async(stream) == []

    anyio.run(main)


def test_a_bare_error_is_raised_without_waiting_for_the_end_of_the_body() -> None:
    response = Response(b'{"error": "no ', b'capacity"}\n', OSError("the server is silent"))
    with pytest.raises(APIError, match="no capacity"):
        next(ChatStream(response))
    assert (response.reads.asked, response.closed) == (2, 1)


def test_what_comes_behind_the_first_event_is_a_stream() -> None:
    """Then HTML, or a whole completion, is some lines that are no fields."""
    for tail in (HTML, json.dumps(COMPLETION).encode(), LINES):
        assert [item.text for item in ChatStream([HELLO + STOP + tail + b"\n"])] == ["Hello", ""]
        assert [item.text for item in ChatStream([HELLO + tail + b"\n\n" + DONE])] == ["Hello"]
        assert [item.text for item in ChatStream([tail + b"\n\n" + sse({}) + HELLO + DONE])] == ["", "Hello"]
