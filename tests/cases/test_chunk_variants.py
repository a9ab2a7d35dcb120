"""Variants of chunks whose members are not what they should be, and of JSON that is not quite JSON."""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

import pytest

from ssewire import DecodeError
from tests.cases.outcome import Case, Undecodable, check_cuts, every_reader
from tests.cases.test_framing_variants import CHUNK_A, A, B
from tests.conftest import Run
from tests.unit.making import DONE, sse


class Shape(NamedTuple):
    """A payload, and the chunk that it is: its text, or its members without those at their defaults."""

    payload: bytes
    chunk: str | dict[str, Any]
    repaired: bool = False


def with_delta(members: str) -> bytes:
    return b'{"choices":[{"index":0,"delta":{%b}}]}' % members.encode()


def beside(members: str) -> bytes:
    """A chunk with the text "a", and other members on top."""
    return b"{%b,%b" % (members.encode(), CHUNK_A[1:])


def in_choice(members: str) -> bytes:
    """The same, with other members in the choice."""
    return b'{"choices":[{%b,"delta":{"content":"a"}}]}' % members.encode()


def with_call(members: str) -> bytes:
    return with_delta('"tool_calls":[{%s}]' % members)  # noqa: UP031 - full of braces


def delta(**members: Any) -> dict[str, Any]:
    return {"choices": [{"delta": members}]}


def text(**members: Any) -> dict[str, Any]:
    """The chunk with the text "a" and other members."""
    return {"choices": [{"delta": {"content": "a"}}], **members}


def choice(**members: Any) -> dict[str, Any]:
    """The same, with other members in the choice."""
    return {"choices": [{"delta": {"content": "a"}, **members}]}


def call(**members: Any) -> dict[str, Any]:
    return delta(tool_calls=[members])


# The servers that write these are many, so the first decoder takes them.
COMMON: Final = [
    Shape(b"{}", {}),
    Shape(b'{"choices":[]}', {}),
    Shape(b'{"choices":[{}]}', delta()),
    Shape(b'{"choices":[{"delta":{"content":"a"}}]}', "a"),
    Shape(b'{"choices":[{"index":0,"finish_reason":"stop"}]}', {"choices": [{"delta": {}, "finish_reason": "stop"}]}),
    Shape(with_delta('"content":null'), delta()),
    Shape(with_delta('"content":""'), ""),
    Shape(with_delta('"role":null,"content":"a","tool_calls":null,"refusal":null,"reasoning_content":null'), "a"),
    Shape(with_delta('"role":"robot","content":"a"'), delta(role="robot", content="a")),
    Shape(with_delta('"content":"a","unheard":{"of":[1]}'), "a"),
    Shape(with_delta('"tool_calls":[]'), delta(tool_calls=[])),
    Shape(with_delta('"content":[]'), delta(content=[])),
    Shape(
        with_delta('"content":[{"type":"text","text":"a"},{"type":"image","url":"u"}]'),
        delta(content=[{"type": "text", "text": "a"}, {"type": "image", "url": "u"}]),
    ),
    Shape(in_choice('"index":0,"logprobs":null,"finish_reason":null'), "a"),
    Shape(in_choice('"index":0,"finish_reason":""'), choice(finish_reason="")),
    Shape(in_choice('"index":3'), choice(index=3)),
    Shape(beside('"usage":null,"model":null,"id":null,"created":null,"object":null,"system_fingerprint":null'), "a"),
    Shape(beside('"object":"","id":"","model":""'), text(object="", id="", model="")),
    Shape(beside('"created":1.5'), text(created=1.5)),
    Shape(beside('"created":123456789012345678901234567890'), text(created=123456789012345678901234567890)),
    Shape(beside('"seed":123456789012345678901234567890'), "a"),
    Shape(beside('"usage":{"total_tokens":5.5}'), text(usage={"total_tokens": 5.5})),
    Shape(beside('"usage":{"total_tokens":18446744073709551616}'), text(usage={"total_tokens": 2**64})),
    Shape(with_call('"index":0,"id":null,"type":null,"function":null'), call(index=0)),
    Shape(with_call('"function":{"name":null,"arguments":null}'), call(function={})),
    Shape(with_call('"function":{"arguments":{"x":[1]}}'), call(function={"arguments": {"x": [1]}})),
    Shape(with_call('"index":null,"id":"","function":{"name":""}'), call(id="", function={"name": ""})),
    Shape(with_call(""), call()),
    Shape(with_delta('"content":"\\ud83d\\ude00 \\uD83D\\uDE00 \\u00e9"'), "😀 😀 é"),
    Shape(with_delta('"content":"\\\\ud83d"'), "\\ud83d"),
    Shape(with_delta('"content":"NaN, Infinity"'), "NaN, Infinity"),
    Shape(with_delta('"content":"\x7f"'), "\x7f"),
    Shape(with_delta('"content":"\\u0000\\t"'), "\0\t"),
]

# Members of another kind.
ODD_MEMBERS: Final = [
    Shape(b'{"choices":null}', {}),
    Shape(in_choice('"index":null'), "a"),
    Shape(b'{"choices":[{"index":0,"delta":null}]}', delta()),
    Shape(
        b'{"choices":[{"index":null,"delta":null,"finish_reason":"stop"}]}',
        {"choices": [{"delta": {}, "finish_reason": "stop"}]},
    ),
    Shape(in_choice('"index":"1"'), choice(index=1)),
    Shape(in_choice('"index":1.0'), choice(index=1)),
    Shape(beside('"id":5'), text(id="5")),
    Shape(beside('"created":"12"'), text(created=12)),
    Shape(beside('"created":"1.5"'), text(created=1.5)),
    Shape(
        beside('"usage":{"total_tokens":"12","prompt_tokens":3}'), text(usage={"total_tokens": 12, "prompt_tokens": 3})
    ),
    Shape(with_call('"index":"1","id":7'), call(index=1, id="7")),
    Shape(with_call('"index":0,"id":7,"function":{"name":8}'), call(index=0, id="7", function={"name": "8"})),
    # So PHP writes an empty object.
    Shape(b'{"choices":[{"index":0,"delta":[]}]}', delta()),
    Shape(
        b'{"choices":[{"index":0,"delta":[],"finish_reason":"stop"}]}',
        {"choices": [{"delta": {}, "finish_reason": "stop"}]},
    ),
    # What cannot be what it must, and is not the answer itself, is left out.
    Shape(beside('"id":{"a":1}'), "a"),
    Shape(beside('"model":[1],"object":{},"created":[]'), "a"),
    Shape(beside('"usage":"none"'), "a"),
    Shape(beside('"usage":5'), "a"),
    Shape(beside('"usage":{"total_tokens":{"a":1},"prompt_tokens":2}'), text(usage={"prompt_tokens": 2})),
    Shape(in_choice('"index":0,"logprobs":"none"'), "a"),
    Shape(in_choice('"index":0,"finish_reason":{"why":"stop"}'), "a"),
    Shape(with_delta('"content":"a","role":{"x":1}'), "a"),
]

CHOICE_A: Final = CHUNK_A[len(b'{"choices":[') : -len(b"]}")]
CHOICE_B: Final = b'{"index":1,"delta":{"content":"b"}}'
TWO: Final[dict[str, Any]] = {"choices": [{"delta": {"content": "a"}}, {"index": 1, "delta": {"content": "b"}}]}


def with_calls(calls: str) -> bytes:
    return with_delta(f'"tool_calls":{calls}')


# As PHP writes lists whose keys are not 0, 1, 2 and so on, and what is empty or false; as lists of one are written by
# converters from XML; and numbers where texts should be, or the reverse.
LOOSE: Final = [
    Shape(b'{"choices":{"0":%b}}' % CHOICE_A, "a"),
    Shape(b'{"choices":{"0":%b,"1":%b}}' % (CHOICE_A, CHOICE_B), TWO),
    Shape(b'{"choices":{"3":%b,"7":%b}}' % (CHOICE_A, CHOICE_B), TWO),
    Shape(b'{"choices":{"0":null,"1":%b}}' % CHOICE_A, "a"),
    Shape(b'{"choices":%b}' % CHOICE_A, "a"),
    Shape(b'{"choices":{"delta":{"content":"a"}}}', "a"),
    Shape(b'{"choices":{"finish_reason":"stop"}}', {"choices": [{"delta": {}, "finish_reason": "stop"}]}),
    Shape(b'{"choices":{}}', {}),
    Shape(b'{"choices":false}', {}),
    Shape(b'{"choices":""}', {}),
    Shape(b'{"choices":[null,%b,[]]}' % CHOICE_A, "a"),
    Shape(b'{"choices":[{"index":0,"delta":false}]}', delta()),
    Shape(b'{"choices":[{"index":0,"delta":""}]}', delta()),
    Shape(with_calls('{"0":{"index":0,"id":"c"}}'), call(index=0, id="c")),
    Shape(
        with_calls('{"1":{"index":1,"id":"c"},"2":{"index":2,"id":"d"}}'),
        delta(tool_calls=[{"index": 1, "id": "c"}, {"index": 2, "id": "d"}]),
    ),
    Shape(with_calls('{"index":0,"id":"c","function":{"name":"f"}}'), call(index=0, id="c", function={"name": "f"})),
    Shape(with_calls('{"function":{"arguments":"{"}}'), call(function={"arguments": "{"})),
    Shape(with_calls("{}"), delta()),
    Shape(with_calls("false"), delta()),
    Shape(with_calls('[{"index":0,"function":[]}]'), call(index=0)),
    Shape(with_call('"function":{"arguments":[]}'), call(function={"arguments": "[]"})),
    Shape(with_call('"function":{"arguments":5}'), call(function={"arguments": "5"})),
    Shape(with_call('"index":"7"'), call(index=7)),
    Shape(with_call('"index":7.0'), call(index=7)),
    # Which call it is a piece of is then told by its id alone.
    *(Shape(with_call(f'"index":{odd},"id":"c"'), call(id="c")) for odd in ('"1_0"', "0.5", '"x"', "[]", "true")),
    Shape(with_delta('"content":false'), delta()),
    Shape(with_delta('"content":5'), "5"),
    Shape(with_delta('"content":0'), "0"),
    Shape(with_delta('"content":-1.5'), "-1.5"),
    Shape(with_delta('"content":12345678901234567890123'), "12345678901234567890123"),
    Shape(with_delta('"content":{"type":"text","text":"a"}'), delta(content=[{"type": "text", "text": "a"}])),
    Shape(with_delta('"content":{"text":"a"}'), delta(content=[{"text": "a"}])),
    Shape(with_delta('"content":"a","role":false,"refusal":false,"reasoning":false,"function_call":[]'), "a"),
    Shape(in_choice('"index":0,"finish_reason":0'), "a"),
    Shape(in_choice('"index":0,"finish_reason":false'), "a"),
    Shape(in_choice('"index":0,"finish_reason":[]'), "a"),
    Shape(in_choice('"index":0,"finish_reason":7'), choice(finish_reason="7")),
    Shape(in_choice('"index":0,"logprobs":[]'), "a"),
    Shape(in_choice('"index":"7"'), choice(index=7)),
    Shape(in_choice('"index":7.0'), choice(index=7)),
    Shape(in_choice('"index":-1.0'), choice(index=-1)),
    Shape(beside('"usage":[]'), "a"),
    Shape(beside('"usage":{"total_tokens":"1_0","prompt_tokens":"7"}'), text(usage={"prompt_tokens": 7})),
    Shape(beside('"created":"1_0"'), "a"),
    Shape(beside('"created":false,"id":false,"model":false'), "a"),
]

# JSON with faults.
ODD_JSON: Final = [
    Shape(
        in_choice('"logprobs":{"content":[{"logprob":-Infinity}]}'),
        choice(logprobs={"content": [{"logprob": -math.inf}]}),
    ),
    Shape(
        in_choice('"logprobs":{"content":[{"logprob":Infinity}]}'),
        choice(logprobs={"content": [{"logprob": math.inf}]}),
    ),
    Shape(beside('"x":NaN'), "a"),
    Shape(beside('"created":1e400'), text(created=math.inf)),
    Shape(in_choice('"logprobs":{"x":-1e400}'), choice(logprobs={"x": -math.inf})),
    Shape(with_delta('"content":"x\\ud83d"'), "x\ufffd"),
    Shape(with_delta('"content":"\\udE00y"'), "\ufffdy"),
    Shape(with_delta('"content":"\\ude00\\ud83d"'), "\ufffd\ufffd"),
    Shape(with_delta('"content":"\\ud83d\\ud83d\\ude00\\ude00"'), "\ufffd😀\ufffd"),
    Shape(with_delta('"content":"\\ud83dx\\ude00"'), "\ufffdx\ufffd"),
    Shape(with_delta('"content":"\\ud83d\\n\\ude00"'), "\ufffd\n\ufffd"),
    Shape(with_delta('"content":"\\\\ud83d \\ud83d"'), "\\ud83d \ufffd"),
    Shape(with_delta('"content":"\\\\\\ud83d"'), "\\\ufffd"),
    Shape(with_delta('"content":"\\ud83d\\\\ude00"'), "\ufffd\\ude00"),
    Shape(with_delta('"content":"\\\\\\\\ud83d \\ud83d\\ude00 \\uDBFF"'), "\\\\ud83d 😀 \ufffd"),
    Shape(in_choice('"logprobs":{"\\ud83d":1}'), choice(logprobs={"\ufffd": 1})),
    Shape(beside('"\\ude00":1'), "a"),
    Shape(beside('"x":"\\ud83d"'), "a"),
    Shape(beside('"id":"\\ud83d"'), text(id="\ufffd")),
    Shape(with_call('"function":{"arguments":"\\ud83d"}'), call(function={"arguments": "\ufffd"})),
    Shape(CHUNK_A.replace(b'"a"', b'"x\xff"'), "x\ufffd"),
    Shape(CHUNK_A.replace(b'"a"', b'"caf\xe9"'), "caf\ufffd"),
    Shape(CHUNK_A.replace(b'"a"', b'"\xf0\x9f\x98"'), "\ufffd"),
    Shape(CHUNK_A.replace(b'"a"', b'"\xc0\xaf"'), "\ufffd\ufffd"),
    Shape(CHUNK_A.replace(b'"a"', b'"\xed\xa0\xbd"'), "\ufffd\ufffd\ufffd"),
    Shape(CHUNK_A.replace(b'"a"', b'"\xe2\x82\xac\x80"'), "€\ufffd"),
    Shape(CHUNK_A.replace(b'"a"', b'"a\tb"'), "a\tb"),
    Shape(CHUNK_A.replace(b'"a"', b'"\x00\x01\x1f"'), "\0\x01\x1f"),
    Shape(CHUNK_A.replace(b'"a"', b'"\x1b[1m"'), "\x1b[1m"),
    Shape(b"\xef\xbb\xbf" + CHUNK_A, "a"),
    Shape(CHUNK_A.replace(b'"a"', b'"\xff \\ud83d\t"').replace(b":0", b":null"), "\ufffd \ufffd\t"),
]

SHAPES: Final = [
    *COMMON,
    *(shape._replace(repaired=True) for shape in [*ODD_MEMBERS, *LOOSE, *ODD_JSON]),
]

REFUSED: Final = [
    (b'{"choices":5}', "$.choices"),
    (b'{"choices":"text"}', "$.choices"),
    (b'{"choices":[5]}', "$.choices[0]"),
    (b'{"choices":["a"]}', "$.choices[0]"),
    (b'{"choices":[{"index":"zero"}]}', "$.choices[0].index"),
    (b'{"choices":[{"index":0},{"index":0,"delta":5}]}', "$.choices[1].delta"),
    (b'{"choices":[{"index":0,"delta":"a"}]}', "$.choices[0].delta"),
    (b'{"choices":[{"index":0,"delta":["a"]}]}', "$.choices[0].delta"),
    (b'{"choices":true}', "$.choices"),
    (b'{"choices":{"other":1}}', "$.choices"),
    (b'{"choices":{"other":%b}}' % CHOICE_A, "$.choices"),
    (b'{"choices":{"0":%b,"other":1}}' % CHOICE_A, "$.choices"),
    (b'{"choices":{"-1":%b}}' % CHOICE_A, "$.choices"),
    (b'{"choices":{"0":5}}', "$.choices[0]"),
    (b'{"choices":{"0":%b,"1":"a"}}' % CHOICE_A, "$.choices[1]"),
    (b'{"choices":{"index":"x"}}', "$.choices[0].index"),
    *((in_choice(f'"index":{odd}'), "$.choices[0].index") for odd in ('"1_0"', "0.5", '"0.5"', "true", "[]", "1e400")),
    (with_delta('"content":true'), "$.choices[0].delta.content"),
    (with_calls('{"other":1}'), "$.choices[0].delta.tool_calls"),
    (with_calls('{"name":"f"}'), "$.choices[0].delta.tool_calls"),
    (with_calls('{"0":{"id":"c"},"1":5}'), "$.choices[0].delta.tool_calls[1]"),
    (with_calls("true"), "$.choices[0].delta.tool_calls"),
    (with_delta('"tool_calls":5'), "$.choices[0].delta.tool_calls"),
    (with_delta('"tool_calls":"f"'), "$.choices[0].delta.tool_calls"),
    (with_delta('"tool_calls":["f"]'), "$.choices[0].delta.tool_calls[0]"),
    (with_delta('"tool_calls":[{"function":"f"}]'), "$.choices[0].delta.tool_calls[0].function"),
]

NO_CHUNKS: Final = [
    b"oops",
    b"12",
    b"-1.5",
    b"true",
    b"NaN",
    b'"text"',
    b"[]",
    b"[1]",
    b"[" + CHUNK_A + b"]",
    b"{",
    b"{}}",
    CHUNK_A[:-1],
    CHUNK_A + b",",
    CHUNK_A.replace(b'"', b"'"),
    CHUNK_A.replace(b"0", b"00"),
    CHUNK_A.replace(b'"a"', b"undefined"),
    CHUNK_A.replace(b'"a"', b'"\\x41"'),
    CHUNK_A.replace(b'"a"', b'"\\ud83"'),
    beside('"created":' + "1" * 5000),
    b'{"x":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    b"\0",
    b"\xff\xfe",
]


@pytest.mark.parametrize("shape", SHAPES, ids=[repr(shape.payload)[2:-1] for shape in SHAPES])
def test_shape(shape: Shape, run: Run) -> None:
    usage = shape.chunk.get("usage") if isinstance(shape.chunk, dict) else None
    reasons = {
        choice.get("index", 0): choice["finish_reason"]
        for choice in (shape.chunk.get("choices", []) if isinstance(shape.chunk, dict) else [])
        if choice.get("finish_reason")
    }
    right = Case([shape.chunk, "b"], "done", reasons, usage, repaired=int(shape.repaired))
    check_cuts(right, sse(shape.payload) + B + DONE, run)


@pytest.mark.parametrize(("payload", "path"), REFUSED, ids=[repr(payload)[2:-1] for payload, _ in REFUSED])
def test_what_holds_the_answer_is_never_left_out(payload: bytes, path: str, run: Run) -> None:
    check_cuts(Case(["a", Undecodable(payload), "b"], "done"), A + sse(payload) + B + DONE, run)
    for items, _ in every_reader([A + sse(payload) + DONE], run):
        assert isinstance(items[1], DecodeError)
        assert f"`{path}`" in items[1].reason
        assert (items[1].event_number, items[1].offset) == (2, len(A))


@pytest.mark.parametrize("payload", NO_CHUNKS, ids=[repr(payload)[2:50] for payload in NO_CHUNKS])
def test_what_is_no_chunk_concerns_its_event_alone(payload: bytes, run: Run) -> None:
    check_cuts(Case(["a", Undecodable(payload), "b"], "done"), A + sse(payload) + B + DONE, run)


@pytest.mark.parametrize("null", [b"null", b" null ", b"null\t"])
def test_null_is_no_chunk_and_no_fault(null: bytes, run: Run) -> None:
    check_cuts(Case(["a", "b"], "done"), A + sse(null) + B + DONE, run)


def test_nan_is_a_number_that_is_none(run: Run) -> None:
    payload = in_choice('"logprobs":{"content":[{"token":"a","logprob":NaN,"top":[NaN]}]}')
    for items, reader in every_reader([sse(payload) + DONE], run):
        (chunk,) = items
        (entry,) = chunk.choices[0].logprobs["content"]
        assert math.isnan(entry["logprob"])
        assert math.isnan(entry["top"][0])
        assert (chunk.text, reader.stats.repaired, reader.state) == ("a", 1, "done")
