"""Variants of reported faults in how events are framed: line ends, the sentinel, names, comments, lost blank lines."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import pytest

from tests.cases.outcome import Api, Case, Incomplete, Undecodable, check_cuts
from tests.conftest import Run
from tests.unit.making import DONE

BOM: Final = b"\xef\xbb\xbf"
CHUNK_A: Final = b'{"choices":[{"index":0,"delta":{"content":"a"}}]}'
CHUNK_B: Final = CHUNK_A.replace(b'"a"', b'"b"')
ERROR: Final = b'{"error":{"message":"boom"}}'
BOOM: Final = Api("boom", {"error": {"message": "boom"}})
A: Final = b"data: " + CHUNK_A + b"\n\n"
B: Final = b"data: " + CHUNK_B + b"\n\n"
STOP: Final = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n'
STOPPED: Final[dict[str, Any]] = {"choices": [{"delta": {}, "finish_reason": "stop"}]}
ODD_TEXT: Final = b'data: {"choices":[{"index":0,"delta":{"content":"x%by"}}]}\n\n'


class Variant(NamedTuple):
    """A body, and what must come of it."""

    body: bytes
    right: Case


AB: Final = Case(["a", "b"], "done")
AB_REPAIRED: Final = AB._replace(repaired=2)

LINES: Final = {
    "no space": Variant((A + B + DONE).replace(b"data: ", b"data:"), AB),
    "space for some": Variant(A + B.replace(b"data: ", b"data:") + DONE, AB),
    "a second space is JSON's": Variant((A + B).replace(b"data: ", b"data:  ") + DONE, AB),
    "a tab behind the colon is JSON's": Variant((A + B).replace(b"data: ", b"data:\t") + DONE, AB),
    "CR LF": Variant((A + B + DONE).replace(b"\n", b"\r\n"), AB),
    "CR LF without the space": Variant((A + B + DONE).replace(b"\n", b"\r\n").replace(b": {", b":{"), AB),
    "CR": Variant((A + B + DONE).replace(b"\n", b"\r"), AB),
    "CR LF and LF mixed": Variant(A + B.replace(b"\n", b"\r\n") + DONE.replace(b"\n\n", b"\r\r\n"), AB),
    "blank lines beyond one": Variant((A + B + DONE).replace(b"\n\n", b"\n\n\n\n"), AB),
    "blank lines first": Variant(b"\n\r\n\n" + A + B + DONE, AB),
    "line separators of Unicode": Variant(
        b"".join(ODD_TEXT % sign for sign in (b"\xe2\x80\xa8", b"\xe2\x80\xa9", b"\xc2\x85")) + DONE,
        Case(["x\u2028y", "x\u2029y", "x\x85y"], "done"),
    ),
    "BOM and CR LF": Variant(BOM + (A + B + DONE).replace(b"\n", b"\r\n"), AB),
    "BOM and a comment": Variant(BOM + b": hi\n\n" + A + B + DONE, AB._replace(comments=1)),
    "BOM, and another that is text of a field name": Variant(BOM + BOM + A + B + DONE, Case(["b"], "done")),
    "BOM before the JSON": Variant((A + B).replace(b": {", b": " + BOM + b"{") + DONE, AB_REPAIRED),
    "JSON over lines with CR LF": Variant(
        b'data: {"choices":\r\ndata: [{"index":0,\r\ndata:"delta":{"content":"a"}}]}\r\n\r\n' + B + DONE, AB
    ),
    "empty data lines around the JSON": Variant(b"data\ndata:\n" + A[:-1] + b"data: \n\n" + B + DONE, AB),
    "id and retry": Variant(b"retry: 9\nid: 1\n" + A + b"id: 2\n" + B + DONE, AB),
    "empty events": Variant(b"data\n\n" + A + b"data:\n\ndata: \t \n\n" + B + b"data: \ndata: \n\n" + DONE, AB),
    "a prefix twice, at the end": Variant(A + b"data: " + B + DONE, Case(["a", Undecodable(B.strip())], "done")),
    "a prefix twice, before the sentinel": Variant(
        A + STOP + b"data: " + DONE,
        Case(["a", STOPPED, Undecodable(b"data: [DONE]")], "finished", {0: "stop"}),
    ),
}

COMMENTS: Final = {
    "before the data line": Variant(b": hi\n" + A + b":\n" + B + DONE, AB._replace(comments=2)),
    "behind the data line": Variant(A[:-1] + b": hi\n\n" + B + DONE, AB._replace(comments=1)),
    "with CR LF": Variant((b": hi\n\n" + A + B + b":x\n\n" + DONE).replace(b"\n", b"\r\n"), AB._replace(comments=2)),
    "that look like events": Variant(b":" + A + b": " + A + A + B + DONE, AB._replace(comments=2)),
    "that are no UTF-8": Variant(b": \xff\n" + A + B + DONE, AB._replace(comments=1)),
    "at the end": Variant(A + STOP + b": bye\n", Case(["a", STOPPED], "finished", {0: "stop"}, comments=1)),
    "cut by the end": Variant(A + STOP + b": by", Case(["a", STOPPED], "finished", {0: "stop"}, comments=1)),
    "alone": Variant(b": ping\n\n: ping\n\n", Case([Incomplete()], "incomplete", comments=2)),
    "alone, with CR LF": Variant(b": ping\r\n\r\n", Case([Incomplete()], "incomplete", comments=1)),
    "alone, behind a BOM": Variant(BOM + b":\n", Case([Incomplete()], "incomplete", comments=1)),
    "and the sentinel": Variant(b": ping\n\n" + DONE, Case([], "done", comments=1)),
}

SENTINELS: Final = {
    "between tabs": Variant(A + b"data: \t[DONE]\t \n\n", Case(["a"], "done")),
    "without space": Variant(A + b"data:[DONE]\n\n", Case(["a"], "done")),
    "with CR LF": Variant(A + b"data: [DONE]\r\n\r\n", Case(["a"], "done")),
    "with one line end": Variant(A + b"data: [DONE]\n", Case(["a"], "done")),
    "with one CR LF": Variant(A + b"data: [DONE]\r\n", Case(["a"], "done")),
    "without a line end": Variant(A + b"data: [DONE]", Case(["a"], "done")),
    "padded, without a line end": Variant(A + b"data:  [DONE] ", Case(["a"], "done")),
    "behind an empty line of data": Variant(A + b"data:\ndata: [DONE]\n\n", Case(["a"], "done")),
    "before an empty line of data": Variant(A + b"data: [DONE]\ndata:\n\n", Case(["a"], "done")),
    "behind a chunk in one event": Variant(A[:-1] + DONE, Case(["a"], "done", repaired=1)),
    "named": Variant(A + b"event: done\n" + DONE + B, Case(["a"], "done")),
    "named message": Variant(A + b"event: message\n" + DONE + B, Case(["a"], "done")),
    "named error": Variant(A + b"event: error\n" + DONE + B, Case(["a", Api("[DONE]", "[DONE]"), "b"], "error")),
    "twice": Variant(A + DONE + DONE, Case(["a"], "done")),
    "alone": Variant(DONE, Case([], "done")),
    "with an id": Variant(A + b"id: 9\n" + DONE, Case(["a"], "done")),
    "nothing behind it counts": Variant(A + DONE + b": c\n\ndata: {\n\nerror: e\n\n<html>", Case(["a"], "done")),
}

NO_SENTINELS: Final = [
    b"DONE",
    b"[done]",
    b"[DONE].",
    b"[ DONE ]",
    b"[DONE",
    b"[[DONE]]",
    b"\xc2\xa0[DONE]",
    b'"[DONE]"',
]

NAMED: Final = {
    "message": Variant((A + B).replace(b"data", b"event: message\ndata") + DONE, AB),
    "message, behind the data": Variant((A + B).replace(b"}\n\n", b"}\nevent: message\n\n") + DONE, AB),
    "no name": Variant((A + B).replace(b"data", b"event\ndata") + DONE, AB),
    "a chunk under another name": Variant((A + B).replace(b"data", b"event: completion.chunk\ndata") + DONE, AB),
    "ping with an object": Variant(b'event: ping\ndata: {"type":"ping"}\n\n' + A + B + DONE, AB._replace(skipped=1)),
    "ping with a text": Variant(A + b"event: ping\r\ndata: 12:00\r\n\r\n" + B + DONE, AB._replace(skipped=1)),
    "ping with null": Variant(A + b"event: ping\ndata: null\n\n" + B + DONE, AB._replace(skipped=1)),
    "ping without data": Variant(A + b"event: ping\n\n" + B + DONE, AB),
    "a name that is not error": Variant(
        A + b"event: Errors\ndata: x\n\nevent: error.log\ndata: {}\n\n" + B + DONE, AB._replace(skipped=2)
    ),
    "only others": Variant(b"event: ping\ndata: {}\n\n", Case([Incomplete()], "incomplete", skipped=1)),
    "an error under another name": Variant(
        A + b"event: failure\ndata: " + ERROR + b"\n\n" + DONE, Case(["a", BOOM], "error")
    ),
    "choices that are null under another name": Variant(
        A + b'event: x\ndata: {"choices":null}\n\n' + DONE, Case(["a", {}], "done", repaired=1)
    ),
}

LOST_BLANK_LINES: Final = {
    "with CR LF": Variant((A[:-1] + B[:-1] + DONE).replace(b"\n", b"\r\n"), AB_REPAIRED),
    "without space": Variant((A[:-1] + B[:-1] + DONE).replace(b"data: ", b"data:"), AB_REPAIRED),
    "comments between": Variant(A[:-1] + b": ping\n" + B[:-1] + DONE, AB_REPAIRED._replace(comments=1)),
    "no sentinel": Variant(A[:-1] + STOP[:-1], Case(["a", STOPPED], "finished", {0: "stop"}, repaired=2)),
    "empty lines between": Variant(A[:-1] + b"data:\n" + B[:-1] + DONE, AB_REPAIRED),
    "nothing behind the sentinel": Variant(A[:-1] + DONE[:-1] + B, Case(["a"], "done", repaired=1)),
    "a broken one first": Variant(b'data: {"id\n' + B + DONE, Case([Undecodable(b'{"id'), "b"], "done", repaired=1)),
    "a broken one between": Variant(
        A[:-1] + b"data: oops\n" + B + DONE, Case(["a", Undecodable(b"oops"), "b"], "done", repaired=2)
    ),
    "a broken one last": Variant(
        A[:-1] + b'data: {"c\n\n' + DONE, Case(["a", Undecodable(b'{"c')], "done", repaired=1)
    ),
    "an error last": Variant(A[:-1] + b"data: " + ERROR + b"\n\n" + DONE, Case(["a", BOOM], "error", repaired=1)),
    "an error between": Variant(
        A[:-1] + b"data: " + ERROR + b"\n" + B + DONE, Case(["a", BOOM, "b"], "error", repaired=2)
    ),
    "objects without choices": Variant(
        b'data: {"id":"x"}\ndata: {"id":"y"}\n\n' + DONE, Case([{"id": "x"}, {"id": "y"}], "done", repaired=2)
    ),
    "all begin as objects, all broken": Variant(
        b'data: {"id\ndata: {"choi\n\n' + DONE, Case([Undecodable(b'{"id'), Undecodable(b'{"choi')], "done")
    ),
    "null among them": Variant(A[:-1] + b"data: null\n" + B + DONE, AB_REPAIRED),
    "no line is an event": Variant(b"data: oops\ndata: again\n\n" + DONE, Case([Undecodable(b"oops\nagain")], "done")),
    "one object, broken": Variant(
        b'data: {\ndata:  "choices": oops\ndata: }\n\n' + DONE, Case([Undecodable(b'{\n "choices": oops\n}')], "done")
    ),
}

RUN_TOGETHER: Final = {
    "two": Variant(A[:-2] + CHUNK_B + b"\n\n" + DONE, AB_REPAIRED),
    "with a space": Variant(A[:-2] + b" " + CHUNK_B + b" \n\n" + DONE, AB_REPAIRED),
    "with CR LF": Variant((A[:-2] + CHUNK_B + b"\n\n" + DONE).replace(b"\n", b"\r\n"), AB_REPAIRED),
    "the sentinel last": Variant(A[:-2] + CHUNK_B + b"[DONE]\n\n", AB_REPAIRED),
    "the sentinel between": Variant(A[:-2] + b" [DONE] " + CHUNK_B + b"\n\n", Case(["a"], "done", repaired=1)),
    "an error last": Variant(A[:-2] + ERROR + b"\n\n" + DONE, Case(["a", BOOM], "error", repaired=1)),
    "the last one broken": Variant(
        A[:-2] + CHUNK_B[:-1] + b"\n\n" + DONE, Case([Undecodable(CHUNK_A + CHUNK_B[:-1])], "done")
    ),
    "the first one broken": Variant(
        b"data: " + CHUNK_A[:-1] + CHUNK_B + b"\n\n" + DONE, Case([Undecodable(CHUNK_A[:-1] + CHUNK_B)], "done")
    ),
    "a field name between": Variant(
        A[:-2] + b"data: " + CHUNK_B + b"\n\n" + DONE, Case([Undecodable(CHUNK_A + b"data: " + CHUNK_B)], "done")
    ),
    "text behind": Variant(
        A[:-2] + b" ok\n\n" + B + DONE, Case([Undecodable(CHUNK_A + b" ok"), "b"], "done", repaired=0)
    ),
    "the sentinel in the first of several lines": Variant(A[:-2] + b"[DONE]\n" + B, Case(["a"], "done", repaired=1)),
    "in one of several lines": Variant(
        A[:-2] + CHUNK_B + b"\n" + A[:-1] + DONE, Case(["a", "b", "a"], "done", repaired=3)
    ),
}

VARIANTS: Final = {
    f"{kind}: {name}": variant
    for kind, variants in {
        "lines": LINES,
        "comments": COMMENTS,
        "sentinel": SENTINELS,
        "name": NAMED,
        "lost blank lines": LOST_BLANK_LINES,
        "run together": RUN_TOGETHER,
    }.items()
    for name, variant in variants.items()
}


@pytest.mark.parametrize("name", VARIANTS)
def test_variant(name: str, run: Run) -> None:
    body, right = VARIANTS[name]
    check_cuts(right, body, run)


@pytest.mark.parametrize("text", NO_SENTINELS, ids=repr)
def test_what_is_like_the_sentinel_is_an_event_that_is_no_chunk(text: bytes, run: Run) -> None:
    check_cuts(Case(["a", Undecodable(text), "b"], "done"), A + b"data: " + text + b"\n\n" + B + DONE, run)
