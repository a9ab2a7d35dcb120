"""Errors as servers send them inside a stream, with what must be told of each; and what looks like one and is none."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

from tests.unit.cases import HELLO
from tests.unit.making import choice, sse


class Sent(NamedTuple):
    """An error as a server sends it, and what must be told of it."""

    lines: bytes
    body: Any
    message: str | None
    """None where there is no sentence: then any text will do, but not none."""
    type: str | None = None
    code: str | int | None = None
    param: str | None = None


def event(
    body: Any,
    message: str | None,
    type: str | None = None,
    code: str | int | None = None,
    param: str | None = None,
    *,
    name: str = "",
) -> Sent:
    """An event whose data is this body as JSON."""
    lines = (f"event: {name}\n" if name else "").encode() + sse(body)
    return Sent(lines, body, message, type, code, param)


def line(text: str, body: Any, message: str | None, type: str | None = None, code: str | int | None = None) -> Sent:
    """Lines that are no data, and a blank one."""
    return Sent(text.encode() + b"\n\n", body, message, type, code)


INNER = {"code": "ResponsibleAIPolicyViolation", "content_filter_result": {"hate": {"filtered": True}}}
FILTERED = {"message": "filtered", "type": None, "param": "prompt", "code": "content_filter", "status": 400}
FLAT = {"object": "error", "message": "too long", "type": "BadRequestError", "param": None, "code": 400}
OVERLOADED = {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}, "request_id": "r"}
QUOTA = {"message": "no credit", "type": "insufficient_quota", "param": None, "code": "insufficient_quota"}
FAILED = {"message": "bad call", "type": "t", "code": "tool_use_failed", "failed_generation": "<f>", "status_code": 400}

# One JSON value in the data of an event without a name
EVENTS: dict[str, Sent] = {
    # As services send them
    "OpenAI": event(
        {"error": {"message": "m", "type": "server_error", "param": None, "code": None}}, "m", "server_error"
    ),
    "OpenAI, no credit": event({"error": QUOTA}, "no credit", "insufficient_quota", "insufficient_quota"),
    "Azure": event({"error": {"code": "429", "message": "slow down"}}, "slow down", code="429"),
    "Azure, filtered": event(
        {"error": {**FILTERED, "innererror": INNER}}, "filtered", code="content_filter", param="prompt"
    ),
    "OpenRouter": event(
        {"error": {"code": 502, "message": "m", "metadata": {"raw": "{}", "provider_name": "p"}}, "user_id": "u"},
        "m",
        code=502,
    ),
    "Groq": event({"error": FAILED}, "bad call", "t", "tool_use_failed"),
    "Mistral": event(
        {**FLAT, "type": "capacity_exceeded", "code": "3505", "raw_status_code": 429},
        "too long",
        "capacity_exceeded",
        "3505",
    ),
    "Anthropic": event(OVERLOADED, "Overloaded", "overloaded_error"),
    "Google": event({"error": {"code": 503, "message": "m", "status": "UNAVAILABLE"}}, "m", code=503),
    "Google, in an array": event([{"error": {"code": 429, "message": "m", "status": "X"}}], "m", code=429),
    "TGI": event({"error": "out of memory", "error_type": "generation"}, "out of memory", "generation"),
    "Together": event({"id": "1", "error": {"message": "m", "type": "t", "param": None, "code": None}}, "m", "t"),
    "vLLM": event({"error": {**FLAT, "code": 404}}, "too long", "BadRequestError", 404),
    "vLLM before 0.10": event(FLAT, "too long", "BadRequestError", 400),
    "llama.cpp": event({"error": {"code": 500, "message": "m", "type": "server_error"}}, "m", "server_error", 500),
    "LiteLLM": event(
        {"error": {"message": "m", "type": "throttling_error", "param": "None", "code": "429"}},
        "m",
        "throttling_error",
        "429",
        "None",
    ),
    "Bedrock": event(
        {"error": {"code": "validation_error", "message": "m", "param": "messages", "type": "t"}},
        "m",
        "t",
        "validation_error",
        "messages",
    ),
    "Nscale": event(
        {"error": {"code": "422", "error_type": "UNSUPPORTED", "message": "m", "param": "tools, tool_choice"}},
        "m",
        "UNSUPPORTED",
        "422",
        "tools, tool_choice",
    ),
    "CentML": event({"error": "Rate limit exceeded"}, "Rate limit exceeded"),
    "Responses": event({"type": "error", "code": "c", "message": "m", "param": "p"}, "m", "error", "c", "p"),
    # Where the members stand
    "members beside a text": event({"error": "text", "error_type": "x", "code": 5, "param": "p"}, "text", "x", 5, "p"),
    "members beside an object": event(
        {"error": {"message": "m"}, "type": "t", "code": "c", "param": "p"}, "m", "t", "c", "p"
    ),
    "true": event({"error": True, "message": "m", "status_code": 502}, "m", code=502),
    "a number": event({"error": 7, "message": "m"}, "m"),
    "a list": event({"error": ["a", "b"]}, None),
    "an object without a sentence": event({"error": {"x": [1]}}, None),
    "true alone": event({"error": True}, None),
    "a sentence that is none": event({"error": {"message": {"a": 1}, "type": 7, "param": 8, "code": [9]}}, None),
    "msg": event({"error": {"msg": "m"}}, "m"),
    "detail": event({"error": {"detail": "m"}}, "m"),
    "error_code": event({"error": {"message": "m", "error_code": 17}}, "m", code=17),
    "status_code": event({"error": {"message": "m", "status_code": 400}}, "m", code=400),
    "code before the others": event(
        {"error": {"message": "m", "status_code": 1, "error_code": 2, "code": 3}}, "m", code=3
    ),
    "code 0": event({"error": {"message": "m", "code": 0}}, "m", code=0),
    "several params": event({"error": {"message": "m", "param": ["tools", "n"]}}, "m", param="tools, n"),
    "choices that are none": event({"error": "m", "choices": None}, "m"),
    "the first error of an array": event([1, {"id": "x"}, {"error": "m"}, {"error": "n"}], "m"),
    "a flat error in an array": event([FLAT], "too long", "BadRequestError", 400),
    # How the JSON is written
    "white space": Sent(b'data: \t {  "error" :\t{ "message" : "m" } } \n\n', {"error": {"message": "m"}}, "m"),
    "without the space": Sent(b'data:{"error":"m"}\n\n', {"error": "m"}, "m"),
    "CR LF": Sent(b'data: {"error":"m"}\r\n\r\n', {"error": "m"}, "m"),
    "over several data lines": Sent(b'data: {\ndata:   "error": "m"\ndata: }\n\n', {"error": "m"}, "m"),
    "escapes": Sent(b'data: {"error": "caf\\u00e9\\n\\""}\n\n', {"error": 'café\n"'}, 'café\n"'),
    "no UTF-8": Sent(b'data: {"error": "caf\xe9"}\n\n', {"error": "caf\ufffd"}, "caf\ufffd"),
    "a lone surrogate": Sent(b'data: {"error": "\\ud83d!"}\n\n', {"error": "\ufffd!"}, "\ufffd!"),
    "a raw tab": Sent(b'data: {"error": "a\tb"}\n\n', {"error": "a\tb"}, "a\tb"),
    "a byte-order mark": Sent(b'data: \xef\xbb\xbf{"error": "m"}\n\n', {"error": "m"}, "m"),
    "long": event({"error": {"message": "m" * 9000, "type": "t"}}, "m" * 9000, "t"),
}

# Events of the name `error`
NAMED: dict[str, Sent] = {
    "Groq, named": event({"error": FAILED}, "bad call", "t", "tool_use_failed", name="error"),
    "Anthropic, named": event(OVERLOADED, "Overloaded", "overloaded_error", name="error"),
    "named, no error member": event({"code": 400, "details": "bad"}, None, code=400, name="error"),
    "named, top level": event({"message": "m", "type": "t", "code": "c"}, "m", "t", "c", name="error"),
    "named, null as error": event({"error": None, "message": "m"}, "m", name="error"),
    "named, text": Sent(b"event: error\ndata: out of memory\n\n", "out of memory", "out of memory"),
    "named, text of two lines": Sent(
        b"event: error\ndata: out of\ndata: memory\n\n", "out of\nmemory", "out of\nmemory"
    ),
    "named, JSON text": Sent(b'event: error\ndata: "out of memory"\n\n', "out of memory", "out of memory"),
    "named, a number": Sent(b"event: error\ndata: 7\n\n", 7, None),
    "named, broken JSON": Sent(b'event: error\ndata: {"error": {"mess\n\n', '{"error": {"mess', None),
    "named, the sentinel": Sent(b"event: error\ndata: [DONE]\n\n", "[DONE]", "[DONE]"),
    "named, empty": Sent(b"event: error\ndata:\n\n", "", None),
    "named behind the data": Sent(b"data: overloaded\nevent:error\n\n", "overloaded", "overloaded"),
    "named twice": Sent(b"event: ping\nevent: error\ndata: overloaded\n\n", "overloaded", "overloaded"),
}

# Lines of a field `error`
FIELDS: dict[str, Sent] = {
    "llama.cpp, older": line(
        'error: {"code": 500, "message": "m", "type": "t"}', {"code": 500, "message": "m", "type": "t"}, "m", "t", 500
    ),
    "field, without the space": line('error:{"message":"m"}', {"message": "m"}, "m"),
    "field, capital": line('Error: {"message": "m"}', {"message": "m"}, "m"),
    "field, all capitals": line("ERROR: out of memory", "out of memory", "out of memory"),
    "field, text with a colon": line("error: CUDA: out of memory", "CUDA: out of memory", "CUDA: out of memory"),
    "field, JSON text": line('error: "quoted"', "quoted", "quoted"),
    "field, a whole error": line(
        'error: {"error": {"message": "m", "code": 3}}', {"error": {"message": "m", "code": 3}}, "m", code=3
    ),
    "field, CR LF": line("error: m\r", "m", "m"),
}

PRETTY = json.dumps({"error": {"message": "m", "code": 429, "details": []}}, indent=2)

# Lines of JSON that are no field at all
BARE: dict[str, Sent] = {
    "bare, text": line('{"error":"no capacity"}', {"error": "no capacity"}, "no capacity"),
    "bare, object": line(
        '{"error": {"message": "m", "type": "t"}}', {"error": {"message": "m", "type": "t"}}, "m", "t"
    ),
    "bare, flat": line(json.dumps(FLAT), FLAT, "too long", "BadRequestError", 400),
    "bare, a colon in its text": line('{"error":"data: [DONE]: x"}', {"error": "data: [DONE]: x"}, "data: [DONE]: x"),
    "bare, array": line('[{"error": {"message": "m"}}]', [{"error": {"message": "m"}}], "m"),
    "bare, CR LF": line('{"error":"m"}\r', {"error": "m"}, "m"),
    "bare, the next line stuck to it": line('{"error":"m"}data: [DONE]', {"error": "m"}, "m"),
    "bare, pretty": line(PRETTY, json.loads(PRETTY), "m", code=429),
    "bare, pretty, CR LF": line(PRETTY.replace("\n", "\r\n") + "\r", json.loads(PRETTY), "m", code=429),
    "bare, pretty array": line(json.dumps([json.loads(PRETTY)], indent=1), [json.loads(PRETTY)], "m", code=429),
    "bare, lines without indentation": line('{\n"error": {\n"message": "m"\n}\n}', {"error": {"message": "m"}}, "m"),
    "bare, pretty array as Google has it": line(f"[{PRETTY}\n]", [json.loads(PRETTY)], "m", code=429),
}

LINES = FIELDS | BARE
SENT = EVENTS | NAMED | LINES

# What is no error


def call(arguments: str) -> dict[str, Any]:
    """A choice with a tool call."""
    return {"index": 0, "delta": {"tool_calls": [{"index": 0, "function": {"name": "f", "arguments": arguments}}]}}


NO_ERRORS: dict[str, Any] = {
    "null": {"error": None},
    "empty text": {"error": ""},
    "empty object": {"error": {}},
    "empty list": {"error": []},
    "false": {"error": False},
    "zero": {"error": 0},
    "inside a choice": {"choices": [{**choice("x"), "error": {"message": "no"}}]},
    "inside a delta": {"choices": [{"index": 0, "delta": {"content": "x", "error": "no"}}]},
    "type error inside a choice": {"choices": [{**choice("x"), "type": "error", "object": "error"}]},
    "type error inside a delta": {"choices": [{"index": 0, "delta": {"content": "x", "type": "error"}}]},
    "inside usage": {"usage": {"total_tokens": 1, "error": "no"}},
    "inside metadata": {"metadata": {"error": {"message": "no"}, "list": [{"error": "no"}, {"type": "error"}]}},
    "in tool arguments": {"choices": [call('{"error": {"message": "no"}, "type": "error"}')]},
    "in a text": {"choices": [choice('{"error": "no"}\n{"object": "error"}\nerror: no\nevent: error')]},
    "a text of that word alone": {"choices": [choice("error")]},
    "key errors": {"errors": [{"message": "no"}]},
    "key error_type": {"error_type": "no"},
    "key Error": {"Error": "no"},
    "a key with error as value": {"status": "error", "model": "error"},
    "object of another name": {"object": "errors"},
    "type of another name": {"type": "error_free"},
    "message and code": {"message": "no", "code": 400},
    "detail": {"detail": "no"},
    "a finish reason": {"choices": [choice("x", "error")]},
}

NO_ERROR_LINES: dict[str, bytes] = {
    "field without a value": b"error:\n",
    "field without a colon": b"error\n",
    "field with white space": b"error:   \n",
    "field, null": b"error: null\n",
    "field, empty object": b"error: {}\n",
    "field of another name": b'errors: no\nerror_code: 5\nx-error: no\n"error": no\n',
    "comment": b': {"error": "no"}\n:error: no\n',
    "other fields": b'id: {"error": "no"}\nretry: {"error": "no"}\nx: {"error": "no"}\n',
    "object without an error": b'{"a": 1}\n{"error": null}\n{"error": {}}\n',
    "a bare chunk": HELLO.removeprefix(b"data: "),
    "array without an error": b'["error"]\n[{"a": 1}]\n[]\n',
    "no JSON": b'{"error": "no\n{error: no}\n[DONE]\n{\n[\n',
    "a piece of pretty JSON": b'  "error": "no"\n}\n',
    "pretty JSON without an error": b'{\n  "a": {\n    "error": "no"\n  }\n}\n',
    "a name without data": b"\nevent: error\n\n",
}
