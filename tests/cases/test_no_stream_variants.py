"""Variants of bodies that are no event stream: what the error names, and what the server may have said in them."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import zlib
from typing import Any, Final

import pytest

from ssewire import AsyncChatStream, ChatStream, NotAStreamError, SSEWireError
from tests.cases.outcome import Api, Case, Incomplete, NoStream, check_cuts, plain
from tests.cases.test_framing_variants import BOM, BOOM, CHUNK_A, CHUNK_B, ERROR, A, B
from tests.conftest import Run
from tests.reading import pieces
from tests.unit.making import DONE, AsyncResponse, Response

STREAM: Final = A + B + DONE
COMPLETION: Final[dict[str, Any]] = {
    "object": "chat.completion",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "hi"}, "finish_reason": "stop"}],
}

# What the reason names, and the bodies.
BODIES: Final = {
    "empty": [b"", b"\n", b"\n\n", b"\r\n\r\n", b" \n"],
    "html": [
        b"<!DOCTYPE html>\n<html>\n\n<body>502 Bad Gateway</body></html>\n",
        b"<!doctype HTML><title>x</title>",
        b"<html><head><title>504</title></head></html>",
        b"\r\n  <HTML>\r\n<body>\r\n\r\n</body></HTML>",
        BOM + b"<!DOCTYPE html>",
        b'<html lang="en">',
    ],
    "gzip": [gzip.compress(STREAM, mtime=0), gzip.compress(b"", mtime=0), gzip.compress(STREAM * 9, mtime=0)[:40]],
    "zlib": [zlib.compress(STREAM), zlib.compress(STREAM, level=9), zlib.compress(STREAM, level=1)],
    "bzip2": [bz2.compress(STREAM)],
    "xz": [lzma.compress(STREAM)],
    # Frames with one stored block.
    "zstd": [b"\x28\xb5\x2f\xfd\x20\x05\x29\x00\x00hello"],
    "lz4": [b"\x04\x22\x4d\x18\x40\x40\xc0\x05\x00\x00\x80hello\0\0\0\0"],
    "completion": [
        json.dumps(COMPLETION).encode(),
        json.dumps(COMPLETION, indent=2).encode(),
        json.dumps(COMPLETION, separators=(",", ":")).encode() + b"\n",
        json.dumps(COMPLETION).encode() + b"data: [DONE]\n\n",
        json.dumps(COMPLETION).encode()[:-9],
    ],
    "newline": [
        CHUNK_A + b"\n" + CHUNK_B + b"\n",
        CHUNK_A + b"\n" + CHUNK_B,
        CHUNK_A + b"\r\n" + CHUNK_B + b"\r\n",
        CHUNK_A + b"\n\n" + CHUNK_B + b"\n\n",
        b'{"id":1}\n{"id":2}\n',
    ],
    "json": [b'{"id":"x"}', b'{\n  "message": "Unauthorized"\n}\n', b"[1, 2]", b"{}", b"[]", b'{"detail":null}'],
    "no event": [
        b"upstream error: read ECONNRESET\n",
        b"Internal Server Error",
        b"no healthy upstream",
        b"404 page not found\n",
        b"datum: 1\n\n",
        b"\0\0\0\0",
    ],
}

# What the server said in them.
SAID: Final = [
    (b'{"detail":"no"}', Api("no", {"detail": "no"})),
    (b'{"detail":{"message":"no","code":5}}', Api("no", {"detail": {"message": "no", "code": 5}}, code=5)),
    (b'{"detail":{"error":{"message":"no"}}}', Api("no", {"detail": {"error": {"message": "no"}}})),
    (b'{"detail":[{"msg":"no"},{"msg":"nor"}]}', Api("no; nor", {"detail": [{"msg": "no"}, {"msg": "nor"}]})),
    (b'{\n  "detail": "no"\n}\n', Api("no", {"detail": "no"})),
    (b'{"detail":"no"}\r\n', Api("no", {"detail": "no"})),
    (b'{"error":"no","code":5}', Api("no", {"error": "no", "code": 5}, code=5)),
    (ERROR, BOOM),
    (ERROR + b"\n", BOOM),
    (b"[" + ERROR + b"]", BOOM._replace(body=[BOOM.body])),
    (b'{\n    "error": {\n        "message": "boom"\n    }\n}', BOOM),
    (b'[{\n  "error": {\n    "message": "boom"\n  }\n}\n]\n', BOOM._replace(body=[BOOM.body])),
    (
        b'{"object":"error","message":"no","type":"T","code":400}',
        Api("no", {"object": "error", "message": "no", "type": "T", "code": 400}, type="T", code=400),
    ),
    (b'{"type":"error","message":"no"}', Api("no", {"type": "error", "message": "no"}, type="error")),
]

# A stream without a choice: nothing in it is foreign.
STREAMS: Final = [
    b"id: 1\n\n",
    b"retry: 500\n\n",
    b"event: ping\n\n",
    b"retry: 500\r\nid: 1\r\n\r\n",
    b"data\n\n",
    b"data:\n\n",
    b"data: null\n\n",
]


@pytest.mark.parametrize(
    ("named", "body"), [(named, body) for named, bodies in BODIES.items() for body in bodies], ids=repr
)
def test_body_that_is_no_stream(named: str, body: bytes, run: Run) -> None:
    check_cuts(Case([NoStream(named, body)], "error"), body, run)


@pytest.mark.parametrize(("body", "error"), SAID, ids=[repr(body) for body, _ in SAID])
def test_body_that_is_an_error(body: bytes, error: Api, run: Run) -> None:
    check_cuts(Case([error], "error"), body, run)


@pytest.mark.parametrize("body", STREAMS, ids=repr)
def test_stream_without_a_choice(body: bytes, run: Run) -> None:
    check_cuts(Case([Incomplete()], "incomplete"), body, run)


@pytest.mark.parametrize("status", [200, 201, 503])
@pytest.mark.parametrize(("body", "error"), SAID, ids=[repr(body) for body, _ in SAID])
def test_an_error_has_status_and_headers_and_closes_the_response(
    body: bytes, error: Api, status: int, run: Run
) -> None:
    headers = {"X-Request-Id": "r"}
    response = Response(*pieces(body, 5), status=status, headers=headers)
    with pytest.raises(SSEWireError) as caught:
        next(ChatStream(response))
    assert plain(caught.value) == error
    assert (caught.value.status, caught.value.headers) == (status, {"x-request-id": "r"})  # type: ignore[attr-defined]
    assert response.closed == 1

    async def read() -> None:
        response = AsyncResponse(*pieces(body, 5), status=status, headers=headers)
        with pytest.raises(SSEWireError) as caught:
            await anext(AsyncChatStream(response))
        assert plain(caught.value) == error
        assert (caught.value.status, caught.value.headers) == (status, {"x-request-id": "r"})  # type: ignore[attr-defined]
        assert response.closed == 1

    run(read())


REFUSALS: Final = [
    (A + b"data: " + ERROR + b"\n\n" + DONE, BOOM),
    (b"event: error\ndata: " + ERROR + b"\n\n", BOOM),
    (b"data: " + ERROR, BOOM),
    (b": hi\n\ndata: [" + ERROR + b"]\n\n", BOOM._replace(body=[BOOM.body])),
    (b'{"message":"no","code":"c"}', Api("no", {"message": "no", "code": "c"}, code="c")),
    (
        b'{"error_type":"T","msg":"no","code":"422"}',
        Api("no", {"error_type": "T", "msg": "no", "code": "422"}, "T", "422"),
    ),
]


@pytest.mark.parametrize(("body", "error"), REFUSALS, ids=[repr(body) for body, _ in REFUSALS])
def test_refused_with_an_error_in_another_form(body: bytes, error: Api) -> None:
    response = Response(*pieces(body, 5), status=422)
    with pytest.raises(SSEWireError) as caught:
        next(ChatStream(response))
    assert plain(caught.value) == error
    assert response.closed == 1


@pytest.mark.parametrize(
    "body", [b"", b"<html>", STREAM, b"[1]", b"no healthy upstream", gzip.compress(ERROR, mtime=0)], ids=repr
)
def test_refused_with_a_body_that_says_nothing(body: bytes) -> None:
    response = Response(*pieces(body, 5), status=503, headers={"Retry-After": "9"})
    with pytest.raises(NotAStreamError) as caught:
        next(ChatStream(response))
    error = caught.value
    assert (error.status, error.headers, error.body) == (503, {"retry-after": "9"}, body)
    assert response.closed == 1


@pytest.mark.parametrize("status", [200, 500])
def test_of_a_long_body_the_start_is_kept(status: int) -> None:
    body = b"<html>" + b"x" * 100_000
    response = Response(*pieces(body, 1000), status=status)
    with pytest.raises(NotAStreamError) as caught:
        next(ChatStream(response))
    assert 1000 <= len(caught.value.body) <= 65_536
    assert body.startswith(caught.value.body)
    assert response.closed == 1
