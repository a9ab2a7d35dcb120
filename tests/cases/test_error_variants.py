"""Variants of the ways in which servers say in mid-stream that they failed, and of what only looks like it."""

from __future__ import annotations

import json
from typing import Any, Final

import pytest

from ssewire import APIError, AsyncChatStream, ChatStream, ChunkDecoder
from tests.cases.outcome import Api, Case, Incomplete, check_cuts
from tests.cases.test_framing_variants import BOOM, ERROR, A, B, Variant
from tests.conftest import Run
from tests.unit.making import DONE, AsyncReads, Reads


def said(payload: str, message: str, **members: Any) -> tuple[str, Api]:
    """A payload, and the error that it is."""
    return payload, Api(message, json.loads(payload), **members)


# As the data of an event without a name.
PAYLOADS: Final = [
    said('{"error":{"message":"m","type":"t","code":"c","param":"p"}}', "m", type="t", code="c", param="p"),
    said('{"error":{"message":"m","type":null,"code":null,"param":null}}', "m"),
    said('{"error":{"message":"m","code":429}}', "m", code=429),
    said('{"error":{"message":"m","code":"429"}}', "m", code="429"),
    said('{"error":{"message":"m","error_code":7}}', "m", code=7),
    said('{"error":{"message":"m","status_code":400}}', "m", code=400),
    said('{"error":{"message":"m","status_code":400,"code":"c"}}', "m", code="c"),
    said('{"error":{"message":"m","error_type":"T","param":["a","b"]}}', "m", type="T", param="a, b"),
    said('{"error":{"message":"caf\\u00e9 \\ud83d\\ude00"}}', "café 😀"),
    said('{"error":{"msg":"m"}}', "m"),
    said('{"error":{"detail":"m"}}', "m"),
    said('{"error":{"code":5}}', '{"error":{"code":5}}', code=5),
    said('{"error":"m"}', "m"),
    said('{"error":"m","error_type":"T","code":5}', "m", type="T", code=5),
    said('{"error":"m","status_code":503,"type":"T"}', "m", type="T", code=503),
    said('{"id":"x","created":1,"error":"m"}', "m"),
    said('{"error":true}', '{"error":true}'),
    said('{"error":true,"message":"m","code":5}', "m", code=5),
    said('{"error":500}', '{"error":500}'),
    said('{"error":500,"message":"m"}', "m"),
    said('{"error":["m"]}', "m"),
    said('{"error":{"error":{"message":"m","type":"t"}}}', "m", type="t"),
    said('{"error":{"error":"m"}}', "m"),
    said('{"error":{"code":429,"error":{"message":"m"}}}', "m", code=429),
    said('{"error":{"message":"outer","code":1,"error":{"message":"m","code":2}}}', "m", code=2),
    said('{"object":"error","message":"m","type":"T","code":400}', "m", type="T", code=400),
    said('{"object":"error","message":"m","param":null,"code":"c"}', "m", code="c"),
    said('{"type":"error","message":"m","code":400}', "m", type="error", code=400),
    said('{"type":"error","error":{"type":"overloaded_error","message":"m"}}', "m", type="overloaded_error"),
    said('[{"error":{"message":"m","code":400}}]', "m", code=400),
    said('[{"error":"m"},{"error":"n"}]', "m"),
    said('[{"id":"x"},3,null,{"object":"error","message":"m"}]', "m"),
    said('{"error":{"message":"m"},"choices":null}', "m"),
    said('{"error":{"message":"m"},"choices":5}', "m"),
    # A chunk that the type refuses is none.
    said('{"error":{"message":"m"},"choices":[{"index":0,"delta":5}]}', "m"),
    said('{"error":{"message":"m"},"usage":{"total_tokens":3}}', "m"),
]

# As the data of an event that is named `error`: anything is one.
NAMED: Final = [
    said('{"error":{"message":"m","code":5}}', "m", code=5),
    said('{"message":"m","type":"T","code":"c"}', "m", type="T", code="c"),
    said('{"detail":"m"}', "m"),
    said('{"msg":"m"}', "m"),
    said('"m"', "m"),
    said('["m"]', "m"),
    said("{}", "{}"),
    said("[]", "[]"),
    ("null", Api("null", "null")),
    said("7", "7"),
    said('{"choices":[]}', '{"choices":[]}'),
    said('{"error":null}', '{"error":null}'),
    ("out of memory", Api("out of memory", "out of memory")),
    ('{"message":"m', Api('{"message":"m', '{"message":"m')),
    ("[DONE]", Api("[DONE]", "[DONE]")),
    ("", Api("the server sent an error and nothing about it", "")),
]

# Lines that are no field of an event.
LINES: Final = [
    *((f"error: {payload}", error) for payload, error in NAMED[:5]),
    ("error:m", Api("m", "m")),
    ("Error: m: n", Api("m: n", "m: n")),
    ('ERROR:{"code":5,"message":"m"}', Api("m", {"code": 5, "message": "m"}, code=5)),
    *(pair for pair in PAYLOADS if pair[0].startswith(("[", '{"error":{', '{"object"')) and "null," not in pair[0]),
    (
        '{\n  "error": {\n    "message": "m",\n    "code": 5\n  }\n}',
        Api("m", {"error": {"message": "m", "code": 5}}, code=5),
    ),
    ('[{\n  "error": {\n    "message": "m"\n  }\n}\n]', Api("m", [{"error": {"message": "m"}}])),
    ('{\n"error": "m"\n}', Api("m", {"error": "m"})),
]

NO_ERRORS: Final = [b"null", b'""', b"{}", b"[]", b"false", b"0"]

# Nothing comes of them, and reading goes on.
NO_ERROR_LINES: Final = [
    b"error",
    b"error:",
    b"error: ",
    b"error: null",
    b"error: {}",
    b"errors: m",
    b"data-error: m",
    b'{"error":null}',
    b'{"status":"ok"}',
    b'{"error":{"mess',
    b"[1, 2]",
    b"{\n\"error\": {}\n}",
    b"upstream error: read ECONNRESET",
]  # fmt: skip


@pytest.mark.parametrize(("payload", "error"), PAYLOADS, ids=[payload for payload, _ in PAYLOADS])
def test_payload(payload: str, error: Api, run: Run) -> None:
    event = b"data: %b\n\n" % payload.encode()
    check_cuts(Case(["a", error, "b"], "error"), A + event + B + DONE, run)
    check_cuts(Case([error], "error"), event.replace(b"\n", b"\r\n"), run)
    check_cuts(Case([error], "error"), event[:-2], run)


@pytest.mark.parametrize("named", [b"event: error\ndata:%b\n\n", b"data: %b\r\nevent:error\r\n\r\n"])
@pytest.mark.parametrize(("payload", "error"), NAMED, ids=[payload for payload, _ in NAMED])
def test_event_that_is_named_error(named: bytes, payload: str, error: Api, run: Run) -> None:
    event = named % payload.encode()
    check_cuts(Case(["a", error, "b"], "error"), A + event + B + DONE, run)
    check_cuts(Case([error], "error"), event, run)


@pytest.mark.parametrize(("text", "error"), LINES, ids=[text for text, _ in LINES])
def test_line_that_is_no_field(text: str, error: Api, run: Run) -> None:
    line = text.encode()
    check_cuts(Case(["a", error, "b"], "error"), A + line + b"\n" + B + DONE, run)
    check_cuts(Case(["a", error, "b"], "error"), A + line + b"\n\n" + B + DONE, run)
    check_cuts(Case(["a", error], "error", comments=1), (A + b": c\n\n" + line + b"\n").replace(b"\n", b"\r\n"), run)
    # Without a line end, as gateways leave it.
    check_cuts(Case(["a", error], "error"), A + line, run)
    # On the heels of an event whose blank line has not come: that event first.
    check_cuts(Case(["a", error], "error"), A[:-1] + line, run)
    check_cuts(Case(["a", error, "b"], "error"), A[:-1] + line + b"\n\n" + B + DONE, run)


@pytest.mark.parametrize("line", NO_ERROR_LINES, ids=repr)
def test_line_that_is_no_error(line: bytes, run: Run) -> None:
    check_cuts(Case(["a", "b"], "done"), A + line + b"\n\n" + B + DONE, run)
    check_cuts(Case(["a", "b"], "done"), A[:-1] + line + b"\n\n" + B + DONE, run)


@pytest.mark.parametrize("falsy", NO_ERRORS, ids=repr)
def test_member_that_is_no_error(falsy: bytes, run: Run) -> None:
    chunk = b'data: {"error":%b,"choices":[{"index":0,"delta":{"content":"a"}}]}\n\n' % falsy
    check_cuts(Case(["a", "b"], "done"), chunk + B + DONE, run)
    check_cuts(Case([{}, "b"], "done"), b'data: {"error":%b}\n\n' % falsy + B + DONE, run)


MIXED: Final = {
    "an error beside choices comes behind the chunk": Variant(
        A + b'data: {"error":{"message":"m","code":5},"choices":[{"index":0,"delta":{"content":"x"}}]}\n\n' + B + DONE,
        Case(
            [
                "a",
                "x",
                Api(
                    "m",
                    {"error": {"message": "m", "code": 5}, "choices": [{"index": 0, "delta": {"content": "x"}}]},
                    code=5,
                ),
                "b",
            ],
            "error",
        ),
    ),
    "an error beside choices that need the second decoder": Variant(
        b'data: {"choices":[{"index":null,"delta":{"content":"x"}}],"error":"m"}\n\n',
        Case(
            ["x", Api("m", {"choices": [{"index": None, "delta": {"content": "x"}}], "error": "m"})],
            "error",
            repaired=1,
        ),
    ),
    "an error beside no choices": Variant(
        b'data: {"choices":[],"error":"m"}\n\n', Case([{}, Api("m", {"choices": [], "error": "m"})], "error")
    ),
    "an error beside a finish reason": Variant(
        b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"error"}],"error":"m"}\n\n' + DONE,
        Case(
            [
                {"choices": [{"delta": {}, "finish_reason": "error"}]},
                Api("m", {"choices": [{"index": 0, "delta": {}, "finish_reason": "error"}], "error": "m"}),
            ],
            "error",
            {0: "error"},
        ),
    ),
    "words in the text": Variant(
        b'data: {"choices":[{"index":0,"delta":{"content":"{\\"error\\": \\"no\\"}"}}],"type":"x"}\n\n' + DONE,
        Case(['{"error": "no"}'], "done"),
    ),
    "a member inside the delta": Variant(
        b'data: {"choices":[{"index":0,"delta":{"content":"a","error":{"message":"m"}},"error":"m"}]}\n\n' + DONE,
        Case(["a"], "done"),
    ),
    "two of them": Variant(
        A + b"data: " + ERROR + b"\n\nerror: n\n\n" + B, Case(["a", BOOM, Api("n", "n"), "b"], "error")
    ),
    "the end behind it is no fault of its own": Variant(
        A + b"data: " + ERROR + b"\n\n" + B, Case(["a", BOOM, "b"], "error")
    ),
    "usage and the sentinel behind it": Variant(
        A + b"data: " + ERROR + b'\n\ndata: {"choices":[],"usage":{"total_tokens":3}}\n\n' + DONE,
        Case(["a", BOOM, {"usage": {"total_tokens": 3}}], "error", usage={"total_tokens": 3}),
    ),
    "NaN in it": Variant(
        b'data: {"error":{"message":"m","code":5,"retry":Infinity}}\n\n' + DONE,
        Case([Api("m", {"error": {"message": "m", "code": 5, "retry": float("inf")}}, code=5)], "error"),
    ),
    "half a surrogate pair in it": Variant(
        b'data: {"error":{"message":"m\\ud83d"}}\n\n' + DONE,
        Case([Api("m\ufffd", {"error": {"message": "m\ufffd"}})], "error"),
    ),
    "no UTF-8 in it": Variant(
        b'data: {"error":{"message":"m\xff"}}\n\n' + DONE,
        Case([Api("m\ufffd", {"error": {"message": "m\ufffd"}})], "error"),
    ),
    "a raw tab in it": Variant(
        b'data: {"error":{"message":"m\tn"}}\n\n' + DONE, Case([Api("m\tn", {"error": {"message": "m\tn"}})], "error")
    ),
    "a BOM before it": Variant(b"data: \xef\xbb\xbf" + ERROR + b"\n\n" + DONE, Case([BOOM], "error")),
    "over several data lines": Variant(
        b'data: {"error":\ndata: {"message":\ndata: "boom"}}\n\n' + DONE, Case([BOOM], "error")
    ),
    "in the last of several lines": Variant(
        A[:-1] + b"data: " + ERROR + b"\n\n", Case(["a", BOOM], "error", repaired=1)
    ),
    "no line end at all between an event and it": Variant(A[:-2] + ERROR, Case(["a", BOOM], "error", repaired=1)),
    "an error line before any event": Variant(b"error: m\n\n" + B + DONE, Case([Api("m", "m"), "b"], "error")),
    "an error line in the sentinel's event": Variant(
        A + b"data: [DONE]\nerror: m\n\n" + B, Case(["a", Api("m", "m")], "error")
    ),
    "an error line alone": Variant(b"error: m", Case([Api("m", "m")], "error")),
    "a line that is no error, and the end": Variant(
        A + b"errors: m", Case(["a", Incomplete(b"errors: m")], "incomplete")
    ),
    "two unknown lines, and the end": Variant(
        A + b"upstream\r\n\r\nreset\r\n", Case(["a", Incomplete(b"upstream\nreset")], "incomplete")
    ),
    "only lines behind the last event are told of": Variant(
        A + b"upstream\n\n" + B + b"reset\n", Case(["a", "b", Incomplete(b"reset")], "incomplete")
    ),
}


@pytest.mark.parametrize("name", MIXED)
def test_mixed(name: str, run: Run) -> None:
    check_cuts(MIXED[name].right, MIXED[name].body, run)


BARE: Final = [ERROR + b"\n\n", b": hi\n\n" + ERROR + b"\n", b'{\n  "error": {\n    "message": "boom"\n  }\n}\n']


@pytest.mark.parametrize("bare", BARE, ids=repr)
def test_bare_json_before_any_event_is_the_body(bare: bytes, run: Run) -> None:
    right = Case([BOOM], "error", comments=bare.count(b": hi"))
    check_cuts(right, bare, run)
    check_cuts(right, bare + A + DONE, run)

    source = Reads(bare, AssertionError("read on"))
    with pytest.raises(APIError, match="boom"):
        next(ChatStream(source))
    assert (source.asked, source.closed) == (1, 1)

    async def read() -> tuple[int, int]:
        source = AsyncReads(bare, AssertionError("read on"))
        with pytest.raises(APIError, match="boom"):
            await anext(AsyncChatStream(source))
        return source.asked, source.closed

    assert run(read()) == (1, 1)

    decoder = ChunkDecoder()
    with pytest.raises(APIError, match="boom"):
        next(decoder.feed(bare))
    assert list(decoder.feed(A)) == []
    assert list(decoder.finish()) == []
    assert decoder.state == "error"
