"""Tool calls come in pieces: which call each piece belongs to, and what its pieces join to."""

from __future__ import annotations

from typing import Any, Final

import msgspec
import pytest

from ssewire import ChatAccumulator, ChatCompletionChunk, ToolCall, ToolCallFunction

NONE: Final[Any] = object()


def call(
    index: Any = NONE, id: Any = NONE, name: Any = NONE, arguments: Any = NONE, type: Any = NONE
) -> dict[str, Any]:
    """A piece of a tool call that has just the members named."""
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not NONE}
    members = (("index", index), ("id", id), ("type", type), ("function", function or NONE))
    return {key: value for key, value in members if value is not NONE}


def merged(*lists: list[dict[str, Any]]) -> list[ToolCall]:
    """The calls that chunks with these pieces add up to."""
    accumulator = ChatAccumulator()
    for pieces in lists:
        accumulator.add(msgspec.convert({"choices": [{"delta": {"tool_calls": pieces}}]}, ChatCompletionChunk))
    return accumulator.completion().choices[0].message.tool_calls


Right = list[tuple[str | None, str, str]]

# Each case: the pieces, a list for each chunk, and id, name and arguments of the calls.
CASES: Final[dict[str, tuple[list[list[dict[str, Any]]], Right]]] = {
    # By index.
    "pieces of one call": (
        [[call(0, "c1", "f", "")], [call(0, arguments='{"x"')], [call(0, arguments=":1}")]],
        [("c1", "f", '{"x":1}')],
    ),
    "two calls, interleaved": (
        [
            [call(0, "c1", "f", "{")],
            [call(1, "c2", "g", "[")],
            [call(0, arguments="}")],
            [call(1, arguments="]")],
        ],
        [("c1", "f", "{}"), ("c2", "g", "[]")],
    ),
    "two calls in one chunk": (
        [[call(0, "c1", "f", "{"), call(1, "c2", "g", "[")], [call(1, arguments="]"), call(0, arguments="}")]],
        [("c1", "f", "{}"), ("c2", "g", "[]")],
    ),
    "the order is that of the index": (
        [[call(1, "c2", "g", "2")], [call(0, "c1", "f", "1")]],
        [("c1", "f", "1"), ("c2", "g", "2")],
    ),
    "a start at 1 makes no empty call": ([[call(1, "c1", "f", "{}")]], [("c1", "f", "{}")]),
    "gaps make no empty calls": (
        [[call(7, "c2", "g", "2")], [call(3, "c1", "f", "1")]],
        [("c1", "f", "1"), ("c2", "g", "2")],
    ),
    "an index below zero": (
        [[call(0, "c2", "g", "2")], [call(-1, "c1", "f", "1")], [call(-1, arguments="1")]],
        [("c1", "f", "11"), ("c2", "g", "2")],
    ),
    "two pieces of one call in one chunk": (
        [[call(0, "c1", "f"), call(0, arguments='{"p"')], [call(0, arguments=":1}")]],
        [("c1", "f", '{"p":1}')],
    ),
    # An id on an index in use.
    "an id that is repeated": (
        [[call(0, "c1", "f", "{")], [call(0, "c1", "f", "}")]],
        [("c1", "f", "{}")],
    ),
    "a new id with a name begins a call": (
        [[call(0, "c1", "f", "1")], [call(0, "c2", "g", "2")]],
        [("c1", "f", "1"), ("c2", "g", "2")],
    ),
    "a new id with the same name begins a call": (
        [[call(0, "c1", "f", "1")], [call(0, "c2", "f", "2")]],
        [("c1", "f", "1"), ("c2", "f", "2")],
    ),
    "what follows belongs to the newest call there": (
        [[call(0, "c1", "f", "1")], [call(0, "c2", "g")], [call(0, arguments="2")], [call(0, arguments="2")]],
        [("c1", "f", "1"), ("c2", "g", "22")],
    ),
    "a known id goes back to its call": (
        [[call(0, "c1", "f", "1")], [call(0, "c2", "g", "2")], [call(0, "c1", arguments="1")]],
        [("c1", "f", "11"), ("c2", "g", "2")],
    ),
    "a known id with its name goes back to its call": (
        [[call(0, "c1", "f", "1")], [call(0, "c2", "g", "2")], [call(0, "c1", "f", "1")]],
        [("c1", "f", "11"), ("c2", "g", "2")],
    ),
    "going back does not make a call the newest": (
        [[call(0, "c1", "f")], [call(0, "c2", "g")], [call(0, "c1", arguments="1")], [call(0, arguments="2")]],
        [("c1", "f", "1"), ("c2", "g", "2")],
    ),
    "new ids without a name change nothing": (
        [[call(0, "c1", "f", "1")], [call(0, "c2", arguments="2")], [call(0, "c3", arguments="3")]],
        [("c1", "f", "123")],
    ),
    "a new id with a blank name changes nothing": (
        [[call(0, "c1", "f", "1")], [call(0, "c2", "", "2")]],
        [("c1", "f", "12")],
    ),
    "one id at two indexes is two calls": (
        [[call(0, "c1", "f", "1")], [call(1, "c1", "g", "2")], [call(0, "c1", arguments="1")]],
        [("c1", "f", "11"), ("c1", "g", "2")],
    ),
    "many calls at one index": (
        [[call(0, f"c{number}", "f", str(number)) for number in range(4)]],
        [("c0", "f", "0"), ("c1", "f", "1"), ("c2", "f", "2"), ("c3", "f", "3")],
    ),
    # Id and name that come late.
    "an id behind the name": ([[call(0, name="f")], [call(0, "c1", arguments="1")]], [("c1", "f", "1")]),
    "an id with a name, behind a name": ([[call(0, name="get_")], [call(0, "c1", "x", "1")]], [("c1", "get_x", "1")]),
    "a name behind the id": ([[call(0, "c1")], [call(0, name="f")], [call(0, arguments="1")]], [("c1", "f", "1")]),
    "arguments before id and name": (
        [[call(0, arguments="1")], [call(0, name="f")], [call(0, "c1")]],
        [("c1", "f", "1")],
    ),
    "no id ever": ([[call(0, name="f")], [call(0, arguments="{}")]], [(None, "f", "{}")]),
    "a blank id is none": (
        [[call(0, "c1", "f")], [call(0, "", "", "{")], [call(0, None, None, "}")], [{"index": 0, "function": None}]],
        [("c1", "f", "{}")],
    ),
    "a blank id first": ([[call(0, "", "f")], [call(0, "c1", arguments="1")]], [("c1", "f", "1")]),
    # No index, but an id.
    "without an index an id begins a call": (
        [[call(id="c1", name="f", arguments="1")], [call(None, "c2", "g", "2")]],
        [("c1", "f", "1"), ("c2", "g", "2")],
    ),
    "without an index a known id is that call": (
        [[call(id="c1", name="f")], [call(id="c2", name="g")], [call(id="c1", arguments="1")]],
        [("c1", "f", "1"), ("c2", "g", "")],
    ),
    "without an index a new id begins a call without a name too": (
        [[call(id="c1", name="f")], [call(id="c2", arguments="2")]],
        [("c1", "f", ""), ("c2", "", "2")],
    ),
    "a whole call without an id, and another with one at the same index": (
        [[call(0, None, "f", "{}")], [call(0, "c2", "g", "{}")]],
        [(None, "f", "{}"), ("c2", "g", "{}")],
    ),
    "an index that comes late": (
        [[call(id="c1", name="f", arguments="{")], [call(0, arguments="}")], [call(0, arguments=" ")]],
        [("c1", "f", "{} ")],
    ),
    "an index that comes late with the id": (
        [
            [call(id="c1", name="f")],
            [call(id="c2", name="g")],
            [call(7, "c1", arguments="1")],
            [call(7, arguments="2")],
        ],
        [("c2", "g", ""), ("c1", "f", "12")],
    ),
    "text that is an empty object inside the arguments": (
        [[call(0, "c1", "f", '{"a":')], [call(0, arguments="{}")], [call(0, arguments="}")]],
        [("c1", "f", '{"a":{}}')],
    ),
    "a name, an id without an index, and both again at the index": (
        [[call(0, None, "f")], [call(id="c1")], [call(0, "c1", "f", "1")]],
        [("c1", "f", "1")],
    ),
    "an empty object before the arguments": ([[call(0, "c1", "f", {})], [call(0, arguments="1")]], [("c1", "f", "1")]),
    "without an index, a name and then its id": (
        [[call(name="f")], [call(id="c1", arguments="1")], [call(id="c2", name="g")]],
        [("c1", "f", "1"), ("c2", "g", "")],
    ),
    "without an index, an id behind a name with arguments": (
        [[call(name="f", arguments="1")], [call(id="c2", arguments="2")]],
        [(None, "f", "1"), ("c2", "", "2")],
    ),
    "without an index an id that was seen with one": (
        [[call(0, "c1", "f")], [call(1, "c2", "g")], [call(id="c1", arguments="1")]],
        [("c1", "f", "1"), ("c2", "g", "")],
    ),
    "without an index, two ids in one chunk": (
        [[call(id="c1", name="f", arguments="1"), call(id="c2", name="f", arguments="2")]],
        [("c1", "f", "1"), ("c2", "f", "2")],
    ),
    "without an index, an id known from two places is the first": (
        [[call(0, "c1", "f")], [call(1, "c1", "g")], [call(id="c1", arguments="1")]],
        [("c1", "f", "1"), ("c1", "g", "")],
    ),
    "without an index, an id known from two places is that which had it first": (
        [[call(0, name="f")], [call(1, "c1", "g")], [call(0, "c1")], [call(id="c1", arguments="1")]],
        [("c1", "f", ""), ("c1", "g", "1")],
    ),
    # Neither.
    "neither: the last call": (
        [[call(id="c1", name="f")], [call(arguments="{")], [call(arguments="}")]],
        [("c1", "f", "{}")],
    ),
    "neither: the last call, whatever it was told by": (
        [[call(0, "c1", "f")], [call(1, "c2", "g")], [call(0, arguments="1")], [call(arguments="1")]],
        [("c1", "f", "11"), ("c2", "g", "")],
    ),
    "neither, and no call yet": ([[call(name="f")], [call(arguments="{}")]], [(None, "f", "{}")]),
    "neither: a name in pieces": (
        [[call(name="get_")], [call(name="x")], [call(arguments="1")]],
        [(None, "get_x", "1")],
    ),
    "neither: a name behind arguments begins a call": (
        [[call(name="f", arguments="1")], [call(name="g", arguments="2")]],
        [(None, "f", "1"), (None, "g", "2")],
    ),
    "neither: the same name behind arguments begins a call": (
        [[call(name="f", arguments="1")], [call(name="f", arguments="2")]],
        [(None, "f", "1"), (None, "f", "2")],
    ),
    "neither: whole calls in one chunk": (
        [[call(name="f", arguments="1"), call(name="g", arguments="2"), call(name="f", arguments="3")]],
        [(None, "f", "1"), (None, "g", "2"), (None, "f", "3")],
    ),
    "neither: whole calls without arguments in one chunk": (
        [[call(name="f"), call(name="g"), call(name="g")]],
        [(None, "f", ""), (None, "g", ""), (None, "g", "")],
    ),
    "neither: a name and its arguments as two entries of one chunk": (
        [[call(name="f"), call(arguments="1")]],
        [(None, "f", "1")],
    ),
    "neither: arguments and their name as two entries of one chunk": (
        [[call(id="c1"), call(name="f")]],
        [("c1", "f", "")],
    ),
    "neither: a second entry behind one with an id": (
        [[call(0, "c1", "f"), call(name="g")]],
        [("c1", "f", ""), (None, "g", "")],
    ),
    "neither: the first entry of the next chunk still joins": (
        [[call(name="f"), call(name="get_")], [call(name="x")]],
        [(None, "f", ""), (None, "get_x", "")],
    ),
    # Order, where some calls have no index.
    "a call without an index stands behind those before it": (
        [[call(0, "c1", "f")], [call(id="c2", name="g")], [call(2, "c3", "h")]],
        [("c1", "f", ""), ("c2", "g", ""), ("c3", "h", "")],
    ),
    "a call without an index may stand before one with": (
        [[call(5, "c1", "f")], [call(id="c2", name="g")]],
        [("c2", "g", ""), ("c1", "f", "")],
    ),
    "equal places stay in the order in which they began": (
        [[call(1, "c1", "f")], [call(id="c2", name="g")], [call(1, "c3", "h")]],
        [("c1", "f", ""), ("c2", "g", ""), ("c3", "h", "")],
    ),
    # Names.
    "a name in pieces": ([[call(0, "c1", "get_")], [call(0, name="weather")]], [("c1", "get_weather", "")]),
    "a name that is repeated whole": (
        [[call(0, "c1", "f", "{")], [call(0, name="f", arguments="}")], [call(0, name="f")]],
        [("c1", "f", "{}")],
    ),
    "a name in pieces, then whole": (
        [[call(0, "c1", "get_")], [call(0, name="x")], [call(0, name="get_x")], [call(0, name="get_x")]],
        [("c1", "get_x", "")],
    ),
    "a piece like the one before it, but not like the whole": (
        [[call(0, "c1", "to")], [call(0, name="_")], [call(0, name="_")]],
        [("c1", "to__", "")],
    ),
    "a piece as long as the name so far": ([[call(0, "c1", "get")], [call(0, name="set")]], [("c1", "getset", "")]),
    "blank names": ([[call(0, "c1", "")], [call(0, name="f")], [call(0, name=None)]], [("c1", "f", "")]),
    "no name ever": ([[call(0, "c1", arguments="1")]], [("c1", "", "1")]),
    # Arguments.
    "no arguments at all": ([[call(0, "c1", "f")]], [("c1", "f", "")]),
    "blank arguments": ([[call(0, "c1", "f", "")], [call(0, arguments=None)]], [("c1", "f", "")]),
    "arguments as an object": (
        [[call(0, "c1", "f", {"x": 1, "é": [None, "a"]})]],
        [("c1", "f", '{"x":1,"é":[null,"a"]}')],
    ),
    "arguments as an empty object": ([[call(0, "c1", "f", {})]], [("c1", "f", "{}")]),
    "blanks in arguments are arguments": (
        [[call(0, "c1", "f", " ")], [call(0, arguments="{}\n")]],
        [("c1", "f", " {}\n")],
    ),
    "equal pieces of arguments are no repeats": (
        [[call(0, "c1", "f", "1")], [call(0, arguments="1")], [call(0, arguments="11")]],
        [("c1", "f", "1111")],
    ),
}


@pytest.mark.parametrize(("pieces", "right"), CASES.values(), ids=CASES)
def test_pieces_of_tool_calls(pieces: list[list[dict[str, Any]]], right: Right) -> None:
    assert merged(*pieces) == [
        ToolCall(call_id, "function", ToolCallFunction(name, arguments)) for call_id, name, arguments in right
    ]


@pytest.mark.parametrize(
    ("types", "right"),
    [
        ([NONE], "function"),
        ([None, ""], "function"),
        (["custom"], "custom"),
        (["", "custom", "function", None], "custom"),
    ],
)
def test_the_first_type_that_says_something_stays(types: list[Any], right: str) -> None:
    assert [call.type for call in merged(*[[call(0, "c1", "f", type=sent)] for sent in types])] == [right]


def test_each_choice_has_calls_of_its_own() -> None:
    accumulator = ChatAccumulator()
    for index, piece in [(1, call(0, "c1", "g")), (0, call(0, "c1", "f")), (1, call(arguments="1"))]:
        chunk = {"choices": [{"index": index, "delta": {"tool_calls": [piece]}}]}
        accumulator.add(msgspec.convert(chunk, ChatCompletionChunk))
    first, second = (choice.message.tool_calls for choice in accumulator.completion().choices)
    assert first == [ToolCall("c1", "function", ToolCallFunction("f", ""))]
    assert second == [ToolCall("c1", "function", ToolCallFunction("g", "1"))]


@pytest.mark.parametrize(
    ("pieces", "right"),
    [
        ([{"name": "f", "arguments": ""}, {"arguments": "{"}, {"arguments": "}"}], ToolCallFunction("f", "{}")),
        (
            [{"name": "get_"}, {"name": "x"}, {"name": "get_x", "arguments": {"a": 1}}],
            ToolCallFunction("get_x", '{"a":1}'),
        ),
        ([{"name": "f", "arguments": "1"}, {"name": "f", "arguments": "2"}], ToolCallFunction("f", "12")),
        ([{"arguments": "1"}], ToolCallFunction("", "1")),
        ([{}, {"name": "", "arguments": None}, None], None),
    ],
)
def test_a_function_call_of_the_old_kind(pieces: list[Any], right: ToolCallFunction | None) -> None:
    accumulator = ChatAccumulator()
    for piece in pieces:
        accumulator.add(msgspec.convert({"choices": [{"delta": {"function_call": piece}}]}, ChatCompletionChunk))
    assert accumulator.completion().choices[0].message.function_call == right
