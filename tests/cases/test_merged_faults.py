"""Faults that were reported of other readers' merging: what the whole answer is, and variants of each kind of fault.

The inputs are those of `reported-faults.jsonl`, and deltas of our own with the same kind of fault. Each answer is
merged from chunks of the built-in type and from dicts, and the slow twin must say the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

import msgspec
import pytest

from ssewire import ChatAccumulator, ChatStream
from tests import merging_oracle
from tests.cases.test_reported_faults import FAULTS
from tests.reading import with_errors
from tests.unit.making import DONE, sse


def call(id: str | None, name: str, arguments: str) -> dict[str, Any]:
    """A whole call."""
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}}


def said(**members: Any) -> dict[str, Any]:
    """The completion of one choice that said this and came to no end."""
    message = {"role": "assistant", "content": None, **members}
    return {
        "id": None,
        "object": "chat.completion",
        "created": None,
        "model": None,
        "choices": [{"index": 0, "message": message, "finish_reason": None}],
    }


OPTIONS: Final[tuple[dict[str, Any], ...]] = ({}, {"type": dict})


def check(right: dict[str, Any], reads: Sequence[bytes]) -> None:
    for options in OPTIONS:
        accumulator = ChatAccumulator()
        chunks = [item for item in with_errors(ChatStream(reads, **options)) if not isinstance(item, Exception)]
        for chunk in chunks:
            accumulator.add(chunk)
        assert msgspec.to_builtins(accumulator.completion()) == right, options
        if not options:
            assert merging_oracle.merged(map(msgspec.to_builtins, chunks)) == right


RIGHT: Final = {
    62: said(content="abc"),
    70: said(content="x\ufffd\ufffdy"),
    75: said(tool_calls=[call("c1", "f", "{}"), call("c2", "g", "{}")]),
    77: said(tool_calls=[call("c1", "f", '{"p":1}')]),
    79: said(tool_calls=[call("c1", "f", "{}")]),
    80: said(tool_calls=[call("c1", "f", "{}")]),
    83: said(tool_calls=[call("c1", "f", '{"x":1}')]),
    84: said(tool_calls=[call("c1", "get_weather", "{}")]),
}


@pytest.mark.parametrize("number", RIGHT, ids=[f"{number} {FAULTS[number].kind}" for number in RIGHT])
def test_reported(number: int) -> None:
    check(RIGHT[number], FAULTS[number].reads)


# Variants


class Variant(NamedTuple):
    """Deltas in their order, as objects or as JSON, and the members of the message beside the usual ones."""

    deltas: list[dict[str, Any] | bytes]
    members: dict[str, Any]


def texts(*deltas: dict[str, Any] | bytes, **members: Any) -> Variant:
    return Variant(list(deltas), members)


def calls(*chunks: dict[str, Any] | list[dict[str, Any]], right: list[dict[str, Any]]) -> Variant:
    """Pieces of tool calls, one or several in a delta."""
    deltas = [{"tool_calls": chunk if isinstance(chunk, list) else [chunk]} for chunk in chunks]
    return Variant([*deltas], {"tool_calls": right})


NOT_SENT: Final = object()


def piece(arguments: Any = NOT_SENT, name: Any = NOT_SENT, **members: Any) -> dict[str, Any]:
    """A piece of a call."""
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not NOT_SENT}
    return {**members, "function": function} if function else members


ROLES: Final = {
    "null": texts({"role": None, "content": "a"}, {"role": None, "content": "b"}, content="ab"),
    "never": texts({"content": "a"}, {"content": "b"}, content="ab"),
    "at the end": texts({"content": "a"}, {"role": "assistant"}, content="a"),
    "on each": texts(*[{"role": "assistant", "content": letter} for letter in "abc"], content="abc"),
    "blank behind": texts({"role": "model", "content": "a"}, {"role": "", "content": "b"}, content="ab", role="model"),
    "two": texts({"role": "tool", "content": "a"}, {"role": "assistant", "content": "b"}, content="ab", role="tool"),
    "of no kind": texts({"role": {"name": "x"}, "content": "a"}, {"role": "x", "content": "b"}, content="ab", role="x"),
    "alone": texts({"role": "assistant"}, {"role": "assistant", "content": ""}),
}

# The halves of a pair are as far apart as in the report: one in each chunk.
HALVES: Final = {
    "reasoning": texts(
        rb'{"reasoning_content":"x\ud83d"}', rb'{"reasoning_content":"\ude00y"}', reasoning="x\ufffd\ufffdy"
    ),
    "refusal": texts(rb'{"refusal":"x\uD83D"}', rb'{"refusal":"\uDE00y"}', refusal="x\ufffd\ufffdy"),
    "typed parts": texts(
        rb'{"content":[{"type":"text","text":"x\ud83d"}]}', rb'{"content":"\ude00y"}', content="x\ufffd\ufffdy"
    ),
    "arguments": texts(
        rb'{"tool_calls":[{"index":0,"id":"c1","function":{"name":"f","arguments":"[\"\ud83d"}}]}',
        rb'{"tool_calls":[{"index":0,"function":{"arguments":"\ude00\"]"}}]}',
        tool_calls=[call("c1", "f", '["\ufffd\ufffd"]')],
    ),
    "escaped once more": texts(
        rb'{"tool_calls":[{"index":0,"id":"c1","function":{"name":"f","arguments":"[\"\\ud83d"}}]}',
        rb'{"tool_calls":[{"index":0,"function":{"arguments":"\\ude00\"]"}}]}',
        tool_calls=[call("c1", "f", r'["\ud83d\ude00"]')],
    ),
    "whole": texts(rb'{"content":"x\ud83d\ude00"}', rb'{"content":"y"}', content="x😀y"),
    "one half": texts(rb'{"content":"x\ud83d"}', rb'{"content":"y"}', content="x\ufffdy"),
    "the wrong way round": texts(rb'{"content":"\ude00"}', rb'{"content":"\ud83d"}', content="\ufffd\ufffd"),
}

NO_INDEX: Final = {
    "null": calls(
        piece("{}", "f", index=None, id="c1"),
        piece("{}", "g", index=None, id="c2"),
        right=[call("c1", "f", "{}"), call("c2", "g", "{}")],
    ),
    "blank": calls(
        piece("{}", "f", index="", id="c1"),
        piece("{}", "g", index="", id="c2"),
        right=[call("c1", "f", "{}"), call("c2", "g", "{}")],
    ),
    "calls whole in one chunk": calls(
        [piece("{}", "f", id="c1"), piece("[]", "g", id="c2")],
        right=[call("c1", "f", "{}"), call("c2", "g", "[]")],
    ),
    "calls whole in one chunk, no id": calls(
        [piece('{"x":1}', "f", id="", type="function"), piece('{"x":2}', "f", id="", type="function")],
        right=[call(None, "f", '{"x":1}'), call(None, "f", '{"x":2}')],
    ),
    "calls without arguments in one chunk, no id": calls(
        [piece("", "f"), piece(None, "g"), piece(name="f")],
        right=[call(None, "f", ""), call(None, "g", ""), call(None, "f", "")],
    ),
    "calls whole in their own chunks, no id": calls(
        piece("{}", "f"),
        piece("{}", "f"),
        right=[call(None, "f", "{}"), call(None, "f", "{}")],
    ),
    "id in each piece": calls(
        piece("", "f", id="c1"),
        piece("[1", id="c1"),
        piece("", "g", id="c2"),
        piece("[2]", id="c2"),
        piece("]", id="c1"),
        right=[call("c1", "f", "[1]"), call("c2", "g", "[2]")],
    ),
    "nothing but arguments in later pieces": calls(
        piece("", "f", id="c1"),
        piece("[", id=None),
        piece("]", id=""),
        piece("", "g", id="c2"),
        piece("{}"),
        right=[call("c1", "f", "[]"), call("c2", "g", "{}")],
    ),
    "neither id nor name before arguments": calls(piece("{"), piece("}"), right=[call(None, "", "{}")]),
    "id first, name behind": calls(piece(id="c1"), piece(name="f"), piece("{}"), right=[call("c1", "f", "{}")]),
    "in later pieces alone": calls(
        piece("", "f", index=0, id="c1"),
        piece("", "g", index=1, id="c2"),
        piece("[1]", id="c1"),
        piece("[2]", id="c2"),
        right=[call("c1", "f", "[1]"), call("c2", "g", "[2]")],
    ),
    "calls without arguments in their own chunks": calls(
        piece("", "f", id="c1"),
        piece("", "g", id="c2"),
        right=[call("c1", "f", ""), call("c2", "g", "")],
    ),
    "behind two with an index": calls(
        piece("[0]", "f", index=0, id="c1"),
        piece("[1]", "g", index=1, id="c2"),
        piece("[2]", "h", id="c3"),
        right=[call("c1", "f", "[0]"), call("c2", "g", "[1]"), call("c3", "h", "[2]")],
    ),
    "beside one with an index": calls(
        piece("{}", "f", id="c1"),
        piece("[]", "g", index=0, id="c2"),
        right=[call("c1", "f", "{}"), call("c2", "g", "[]")],
    ),
}

INDEXES: Final = {
    "starting at one": calls(piece("{", "f", index=1, id="c1"), piece("}", index=1), right=[call("c1", "f", "{}")]),
    "gaps, out of order": calls(
        piece("[7]", "g", index=7, id="c2"),
        piece("[3", "f", index=3, id="c1"),
        piece("]", index=3),
        right=[call("c1", "f", "[3]"), call("c2", "g", "[7]")],
    ),
    "woven": calls(
        [piece("", "f", index=0, id="c1"), piece("", "g", index=1, id="c2")],
        [piece("[1", index=1), piece("[0", index=0)],
        [piece("]", index=0), piece("]", index=1)],
        right=[call("c1", "f", "[0]"), call("c2", "g", "[1]")],
    ),
    "three pieces of one call in a chunk": calls(
        [piece(name="f", index=0, id="c1"), piece("[", index=0), piece("]", index=0)],
        right=[call("c1", "f", "[]")],
    ),
    "text, and whole numbers as fractions": calls(
        piece("[", "f", index="0", id="c1"), piece("]", index=0.0), right=[call("c1", "f", "[]")]
    ),
    "zero for every call": calls(
        piece("{", "f", index=0, id="c1"),
        piece("}", index=0),
        piece("[", "g", index=0, id="c2"),
        piece("]", index=0),
        right=[call("c1", "f", "{}"), call("c2", "g", "[]")],
    ),
    "zero for every call in one chunk": calls(
        [piece("{}", "f", index=0, id="c1"), piece("[]", "f", index=0, id="c2")],
        right=[call("c1", "f", "{}"), call("c2", "f", "[]")],
    ),
    "zero for every call, back to the first by its id": calls(
        piece("[", "f", index=0, id="c1"),
        piece("{", "g", index=0, id="c2"),
        piece("]", index=0, id="c1"),
        piece("}", index=0),
        right=[call("c1", "f", "[]"), call("c2", "g", "{}")],
    ),
}

IDS: Final = {
    "in each piece, with name and type": calls(
        *[piece(text, "f", index=0, id="c1", type="function") for text in ("", "[", "1", "]")],
        right=[call("c1", "f", "[1]")],
    ),
    "in each piece, of two calls": calls(
        piece("[", "f", index=0, id="c1"),
        piece("{", "f", index=1, id="c2"),
        piece("]", "f", index=0, id="c1"),
        piece("}", "f", index=1, id="c2"),
        right=[call("c1", "f", "[]"), call("c2", "f", "{}")],
    ),
    "another in each piece, without a name": calls(
        piece("[", "f", index=0, id="c1"),
        piece("1", index=0, id="c2"),
        piece("]", name="", index=0, id="c3"),
        right=[call("c1", "f", "[1]")],
    ),
    "behind the name": calls(piece("[", "f", index=0), piece("]", index=0, id="c1"), right=[call("c1", "f", "[]")]),
    "behind the name, with the name again": calls(
        piece("[", "f", index=0), piece("]", "f", index=0, id="c1"), right=[call("c1", "f", "[]")]
    ),
    "before the name": calls(piece(index=0, id="c1"), piece("[]", "f", index=0), right=[call("c1", "f", "[]")]),
    "a number": calls(piece("[", "f", index=0, id=7), piece("]", index=0, id=7), right=[call("7", "f", "[]")]),
    "never": calls(piece("[", "f", index=0), piece("]", index=0), right=[call(None, "f", "[]")]),
}

BLANKS: Final = {
    "all of them": calls(
        piece("", "f", index=0, id="c1", type="function"),
        piece("[", "", index=0, id="", type=""),
        piece("]", None, index=0, id=None, type=None),
        piece("", index=0),
        piece(None, index=0),
        {"index": 0, "function": {}},
        right=[call("c1", "f", "[]")],
    ),
    "first": calls(
        piece("", "", index=0, id="", type=""),
        piece(None, None, index=0, id=None, type=None),
        piece("[]", "f", index=0, id="c1", type="custom"),
        right=[{"id": "c1", "type": "custom", "function": {"name": "f", "arguments": "[]"}}],
    ),
    "no arguments at all": calls(piece(name="f", index=0, id="c1"), {"index": 0}, right=[call("c1", "f", "")]),
    "no calls": texts({"content": "a", "tool_calls": []}, {"content": "b", "tool_calls": None}, content="ab"),
}

ARGUMENTS: Final = {
    "empty object": calls(piece({}, "f", index=0, id="c1"), right=[call("c1", "f", "{}")]),
    "nested, with what is not ASCII": calls(
        piece({"where": {"town": "Ærø", "at": [1, 2.5, None, True]}}, "f", index=0, id="c1"),
        right=[call("c1", "f", '{"where":{"town":"Ærø","at":[1,2.5,null,true]}}')],
    ),
    "beyond 64 bits": calls(
        piece({"n": 0}, "f", index=0, id="c1"),
        piece(msgspec.Raw(b'{"n":36893488147419103232}'), "g", index=1, id="c2"),
        right=[call("c1", "f", '{"n":0}'), call("c2", "g", '{"n":36893488147419103232}')],
    ),
    "null, then an object": calls(
        piece(None, "f", index=0, id="c1"), piece({"x": 1}, index=0), right=[call("c1", "f", '{"x":1}')]
    ),
    "of two calls, no index": calls(
        [piece({"x": 1}, "f"), piece({"x": 2}, "f")],
        right=[call(None, "f", '{"x":1}'), call(None, "f", '{"x":2}')],
    ),
    "a list": calls(piece([1, "a"], "f", index=0, id="c1"), right=[call("c1", "f", '[1, "a"]')]),
    "of a function call": texts(
        {"function_call": {"name": "f", "arguments": {"x": 1}}}, function_call={"name": "f", "arguments": '{"x":1}'}
    ),
}


def names(*pieces: Any, right: str) -> Variant:
    """A name in pieces, which all have the id."""
    sent = [piece("", name, index=0, id="c1") for name in pieces]
    return calls(*sent, piece("{}", index=0), right=[call("c1", right, "{}")])


def function_names(*pieces: Any, right: str) -> Variant:
    """The same in the call as it was before there were tools."""
    sent = [{"function_call": {"name": name}} for name in pieces]
    return texts(*sent, {"function_call": {"arguments": "{}"}}, function_call={"name": right, "arguments": "{}"})


NAMES: Final = {
    name: make(*pieces, right=right)
    for kind, make in (("tool", names), ("function", function_names))
    for name, (pieces, right) in {
        f"{kind}: three pieces": (("get", "_weath", "er"), "get_weather"),
        f"{kind}: blank and null between": (("get_", "", None, "weather"), "get_weather"),
        f"{kind}: whole again": (("get_weather", "get_weather", "get_weather"), "get_weather"),
        f"{kind}: pieces, and whole again": (("get_", "weather", "get_weather"), "get_weather"),
        f"{kind}: a piece like an earlier one": (("do", "_it_", "do"), "do_it_do"),
        f"{kind}: so far again": (("get_", "get_", "weather"), "get_weather"),
    }.items()
}

VARIANTS: Final = {
    62: ROLES,
    70: HALVES,
    75: NO_INDEX,
    77: INDEXES,
    79: IDS,
    80: BLANKS,
    83: ARGUMENTS,
    84: NAMES,
}


@pytest.mark.parametrize(
    "variant",
    [
        pytest.param(variant, id=f"{FAULTS[number].kind}: {name}")
        for number, variants in VARIANTS.items()
        for name, variant in variants.items()
    ],
)
def test_variant(variant: Variant) -> None:
    deltas = [delta if isinstance(delta, bytes) else msgspec.json.encode(delta) for delta in variant.deltas]
    events = [sse(b'{"choices":[{"index":0,"delta":' + delta + b"}]}") for delta in deltas]
    check(said(**variant.members), [*events, DONE])
