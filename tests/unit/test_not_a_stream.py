"""Bodies without an event although the status is a success; and that the response of every such error is closed."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable, Iterable
from typing import Any

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
from tests.reading import pieces, with_errors, with_errors_async
from tests.unit.cases import ERROR, HELLO, STOP
from tests.unit.error_bodies import (
    COMPLETION,
    ERRORS,
    HEADERS,
    HTML,
    KEPT,
    LINES,
    PACKED,
    SEEN_HEADERS,
    WRITTEN,
    Told,
    check,
    cuts,
    only_error,
)
from tests.unit.making import DONE, AsyncResponse, Response, sse


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
