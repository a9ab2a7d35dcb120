"""What the server of the client tests sends."""

from __future__ import annotations

import gzip
import json

TEXTS = ["Hel", "lo, ", "wörld", " 🎉", "\n"]
USAGE = {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14}

API_ERROR = {"error": {"message": "slow down", "type": "rate_limit", "code": 429, "param": None}}
DETAIL = {"detail": {"message": "out of memory", "code": "oom"}}
HTML = b"<!DOCTYPE html><html><title>502 Bad Gateway</title></html>"
COMPLETION = {"object": "chat.completion", "choices": [{"index": 0, "message": {"content": "Hello"}}]}
GARBAGE = bytes(range(256)) * 64

KEEP_ALIVE = b": keep-alive\n\n"
DONE = b"data: [DONE]\n\n"


def json_of(value: object) -> bytes:
    """JSON whose text is not escaped, so that there are characters to cut."""
    return json.dumps(value, ensure_ascii=False).encode()


def payload_of(**members: object) -> bytes:
    return json_of({"id": "c-1", "object": "chat.completion.chunk", "model": "m", **members})


def choice(content: str, finish_reason: str | None = None) -> dict[str, object]:
    return {"index": 0, "delta": {"content": content}, "finish_reason": finish_reason}


def event_of(payload: bytes) -> bytes:
    return b"data: " + payload + b"\n\n"


PAYLOADS = [
    *(payload_of(choices=[choice(text)]) for text in TEXTS),
    payload_of(choices=[choice("", "stop")]),
    payload_of(choices=[], usage=USAGE),
]
EVENTS = [event_of(payload) for payload in PAYLOADS]
WHOLE = b"".join(EVENTS) + DONE
PACKED = gzip.compress(WHOLE, mtime=0)

SMALL_EVENTS = 1_000
BIG_TEXT = 100_000_000
