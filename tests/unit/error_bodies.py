"""Bodies that servers send instead of a stream, with what must be told of each; and reading one as a response."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import zlib
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pytest

from ssewire import APIError, ChatStream, IncompleteStreamError, NotAStreamError
from tests.reading import every_cut, pieces
from tests.unit.cases import HELLO, STOP
from tests.unit.making import DONE, Response, chunk

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
