"""Bodies of chat streams, and what must come of them however they are read."""

from __future__ import annotations

from typing import NamedTuple

from ssewire import APIError, DecodeError, EventTooLargeError, IncompleteStreamError, NotAStreamError
from tests.unit.making import DONE, choice, chunk, sse

HELLO = chunk("Hello")
STOP = chunk(None, "stop")
USAGE = sse({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}})
ERROR = sse({"error": {"message": "overloaded", "type": "server_error", "code": 503}})

# The limit of an event's size in the cases that need one.
LIMIT = 400


class Case(NamedTuple):
    """A body, and what must come of it."""

    body: bytes
    outcome: list[str | type[Exception]]
    """The text of each chunk, and each error in its place."""
    state: str
    require_done: bool = False


CASES: dict[str, Case] = {
    # How a stream ends
    "sentinel": Case(HELLO + STOP + DONE, ["Hello", ""], "done"),
    "sentinel without a finish reason": Case(HELLO + DONE, ["Hello"], "done"),
    "sentinel alone": Case(DONE, [], "done"),
    "finish reason without a sentinel": Case(HELLO + STOP, ["Hello", ""], "finished"),
    "finish reason, then usage": Case(HELLO + STOP + sse({"choices": [], "usage": {}}), ["Hello", "", ""], "finished"),
    "finish reason, but the sentinel is required": Case(
        HELLO + STOP, ["Hello", "", IncompleteStreamError], "incomplete", require_done=True
    ),
    "sentinel, and it is required": Case(HELLO + STOP + DONE, ["Hello", ""], "done", require_done=True),
    "neither": Case(HELLO + HELLO, ["Hello", "Hello", IncompleteStreamError], "incomplete"),
    "no choice ever": Case(sse({}), ["", IncompleteStreamError], "incomplete"),
    "comments only": Case(b": hi\n\n: hi\n\n", [IncompleteStreamError], "incomplete"),
    "known fields only": Case(b"retry: 5\n\nid: 1\n\n", [IncompleteStreamError], "incomplete"),
    "an empty finish reason is none": Case(HELLO + chunk("", ""), ["Hello", "", IncompleteStreamError], "incomplete"),
    "one of two choices unfinished": Case(
        chunk("a") + chunk("b", index=1) + chunk("c", index=1) + STOP,
        ["a", "b", "c", "", IncompleteStreamError],
        "incomplete",
    ),
    "both choices finished": Case(
        chunk("a") + chunk("b", index=1) + chunk("c", "length", index=1) + STOP, ["a", "b", "c", ""], "finished"
    ),
    "a choice seen once needs no finish reason": Case(
        HELLO + chunk("b", index=7) + STOP, ["Hello", "b", ""], "finished"
    ),
    "a choice twice in one chunk is seen once": Case(
        HELLO + sse({"choices": [choice("b", index=7), choice("c", index=7)]}) + STOP, ["Hello", "bc", ""], "finished"
    ),
    # The sentinel's shapes
    "sentinel in white space": Case(HELLO + b"data: \t [DONE] \t\n\n", ["Hello"], "done"),
    "sentinel without the space": Case(HELLO + b"data:[DONE]\n\n", ["Hello"], "done"),
    "sentinel with CR LF": Case(HELLO + b"data: [DONE]\r\n\r\n", ["Hello"], "done"),
    "sentinel over two data lines": Case(HELLO + b"data:\ndata: [DONE]\n\n", ["Hello"], "done"),
    "sentinel without its blank line": Case(HELLO + b"data: [DONE]\n", ["Hello"], "done"),
    "sentinel without a line end": Case(HELLO + b"data: [DONE]", ["Hello"], "done"),
    "nothing behind the sentinel counts": Case(DONE + ERROR + HELLO + b"data: {", [], "done"),
    "sentinel inside a text": Case(
        chunk("[DONE]") + chunk("data: [DONE]\n\n") + STOP + DONE, ["[DONE]", "data: [DONE]\n\n", ""], "done"
    ),
    "sentinel as a JSON string is none": Case(sse(b'"[DONE]"') + DONE, [DecodeError], "done"),
    "sentinel with something behind it is none": Case(sse(b"[DONE] x") + DONE, [DecodeError], "done"),
    # What is no chunk and no error
    "empty data": Case(b"data:\n\n" + HELLO + b"data: \n\ndata\n\ndata: \t \n\n" + DONE, ["Hello"], "done"),
    "comments": Case(b": hi\n\n" + HELLO + b":\n:x\n" + STOP + DONE, ["Hello", ""], "done"),
    "other fields": Case(b"id: 1\nretry: 5\n" + HELLO + b"foo: bar\n\n" + DONE, ["Hello"], "done"),
    "events of another name": Case(b"event: ping\ndata: {}\n\n" + HELLO + DONE, ["Hello"], "done"),
    "null": Case(sse(b"null") + HELLO + DONE, ["Hello"], "done"),
    "byte-order mark": Case(b"\xef\xbb\xbf" + HELLO + DONE, ["Hello"], "done"),
    "CR alone": Case((HELLO + STOP + DONE).replace(b"\n", b"\r"), ["Hello", ""], "done"),
    "events of another name, with choices": Case(b"event: chunk\n" + HELLO + DONE, ["Hello"], "done"),
    # What the second decoder reads
    "null where a list should be": Case(sse({"choices": None}) + HELLO + DONE, ["", "Hello"], "done"),
    "null where an object should be": Case(
        sse({"choices": [{"index": None, "delta": None, "finish_reason": "stop"}]}), [""], "finished"
    ),
    "payload that is no UTF-8": Case(chunk("a?").replace(b"?", b"\xff") + HELLO + DONE, ["a\ufffd", "Hello"], "done"),
    "payload with a lone surrogate": Case(
        chunk("a?").replace(b"?", rb"\ud83d") + HELLO + DONE, ["a\ufffd", "Hello"], "done"
    ),
    "payload with NaN": Case(chunk("a", x=7).replace(b"7", b"NaN") + HELLO + DONE, ["a", "Hello"], "done"),
    # Several events in one
    "blank lines forgotten": Case(HELLO[:-1] + chunk("b")[:-1] + DONE + chunk("c"), ["Hello", "b"], "done"),
    "blank lines forgotten, one line broken": Case(
        HELLO[:-1] + b'data: {"choi\n' + chunk("b") + DONE, ["Hello", DecodeError, "b"], "done"
    ),
    "blank line forgotten before an error": Case(HELLO[:-1] + ERROR + DONE, ["Hello", APIError], "error"),
    "two documents on a line": Case(sse(b'{"id":"1"}{"id":"2"}') + HELLO + DONE, ["", "", "Hello"], "done"),
    "two documents on a line, one broken": Case(
        sse(b'{"id":"1"}{"id":') + HELLO + DONE, [DecodeError, "Hello"], "done"
    ),
    # The end of the body
    "last event without a line end": Case(HELLO + STOP[:-2], ["Hello", ""], "finished"),
    "last event without its blank line": Case(HELLO + STOP[:-1], ["Hello", ""], "finished"),
    "cut payload": Case(HELLO + STOP + HELLO[:-9], ["Hello", "", IncompleteStreamError], "incomplete"),
    "cut payload that speaks of an error": Case(
        HELLO + STOP + chunk("x", error=None)[:-5], ["Hello", "", IncompleteStreamError], "incomplete"
    ),
    "cut field name": Case(HELLO + STOP + b"dat", ["Hello", ""], "finished"),
    # Errors, and what comes behind them
    "payload that is no JSON": Case(HELLO + sse(b"oops") + STOP + DONE, ["Hello", DecodeError, ""], "done"),
    "payload of the wrong type": Case(HELLO + sse(b'{"choices":3}') + DONE, ["Hello", DecodeError], "done"),
    "payload that is no object": Case(sse(b"[1]") + sse(b"3") + STOP + DONE, [DecodeError, DecodeError, ""], "done"),
    "payload with NULs": Case(sse(b"\0\0") + HELLO + DONE, [DecodeError, "Hello"], "done"),
    "no JSON and the end": Case(HELLO + STOP + sse(b"oops"), ["Hello", "", DecodeError], "finished"),
    "error object": Case(HELLO + ERROR + HELLO + DONE, ["Hello", APIError, "Hello"], "error"),
    "error as text": Case(sse({"error": "overloaded"}) + DONE, [APIError], "error"),
    "error and the end of the body": Case(HELLO + ERROR, ["Hello", APIError], "error"),
    "null as error": Case(sse({"error": None, "choices": [choice("a", "stop")]}), ["a"], "finished"),
    "an error that a text speaks of": Case(chunk('{"error": "no"}') + STOP, ['{"error": "no"}', ""], "finished"),
    "event error": Case(b'event: error\ndata: {"message": "m"}\n\n' + DONE, [APIError], "error"),
    "event error with a text": Case(b"event: error\ndata: out of memory\n\n" + DONE, [APIError], "error"),
    "event error without data": Case(b"event: error\ndata:\n\n" + DONE, [APIError], "error"),
    "event error with the sentinel": Case(b"event: error\ndata: [DONE]\n\n" + DONE, [APIError], "error"),
    "error beside choices": Case(
        sse({"choices": [choice("a", "error")], "error": {"code": 502}}) + DONE, ["a", APIError], "error"
    ),
    "error in a field": Case(
        HELLO + b'error: {"message": "m"}\n\n' + HELLO + DONE, ["Hello", APIError, "Hello"], "error"
    ),
    "error in bare JSON": Case(HELLO + b'{"error": "m"}\n\n' + HELLO + DONE, ["Hello", APIError, "Hello"], "error"),
    "error in bare JSON on the heels of an open event": Case(
        HELLO[:-1] + b'{"error": "m"}', ["Hello", APIError], "error"
    ),
    # Bodies that are no streams
    "nothing": Case(b"", [NotAStreamError], "error"),
    "white space": Case(b"\n \n", [NotAStreamError], "error"),
    "HTML": Case(b"<!DOCTYPE html>\n<html>\n\n</html>", [NotAStreamError], "error"),
    "one completion": Case(b'{"object": "chat.completion", "choices": []}\n', [NotAStreamError], "error"),
    "one error": Case(b'{"error": {"message": "no such model"}}', [APIError], "error"),
    "garbage": Case(bytes(range(256)) * 3, [NotAStreamError], "error"),
    "NULs": Case(bytes(100), [NotAStreamError], "error"),
    "endless line within the limit": Case(b"x" * 390, [NotAStreamError], "error"),
    # The limit
    "too large": Case(HELLO + sse(b"x" * (LIMIT + 1)), ["Hello", EventTooLargeError], "error"),
    "as large as may be": Case(HELLO + sse(b'{"id":"' + b"x" * (LIMIT - 9) + b'"}') + DONE, ["Hello", ""], "done"),
}
