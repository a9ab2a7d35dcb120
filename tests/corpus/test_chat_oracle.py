"""The oracle for chat streams is not trusted blindly: small bodies, and by hand what is right."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import pytest

from tests import chat_oracle
from tests.cases import test_error_variants, test_facts_variants, test_framing_variants
from tests.cases.outcome import Api, Case, Incomplete, NoStream, Undecodable
from tests.cases.test_reported_faults import FAULTS, RIGHT
from tests.unit.making import DONE, chunk, sse

A: Final = chunk("a")
STOP: Final = chunk(None, "stop")


def told(item: Any) -> Any:
    """A chunk as its text, an error as its tuple."""
    match item:
        case chat_oracle.Chunk():
            return "".join(item.text.values())
        case chat_oracle.ServerError():
            return Api(item.message, item.body, item.type, item.code)
        case chat_oracle.Undecodable():
            return Undecodable(item.payload)
        case chat_oracle.Incomplete():
            return Incomplete(item.tail)
        case chat_oracle.NoStream():
            return NoStream("", item.body)
    raise AssertionError(item)


class Body(NamedTuple):
    """A body, and what the oracle must say of it."""

    body: bytes
    items: list[Any]
    state: str
    finish_reasons: dict[int, str] = {}  # noqa: RUF012 - never changed
    usage: dict[str, Any] | None = None


BODIES: Final = {
    "the sentinel": Body(A + STOP + DONE + A, ["a", ""], "done", {0: "stop"}),
    "no sentinel": Body(A + STOP, ["a", ""], "finished", {0: "stop"}),
    "no finish reason": Body(A + A, ["a", "a", Incomplete()], "incomplete"),
    "one of two unfinished": Body(
        A + chunk("b", index=1) + chunk("c", index=1) + STOP,
        ["a", "b", "c", "", Incomplete()],
        "incomplete",
        {0: "stop"},
    ),
    "a choice seen once": Body(A + chunk("b", index=1) + STOP, ["a", "b", ""], "finished", {0: "stop"}),
    "nothing wipes a finish reason": Body(
        chunk("a", "tool_calls") + chunk("b", "stop") + chunk("c", "") + chunk("d") + chunk("e", "x", index=1) + DONE,
        ["a", "b", "c", "d", "e"],
        "done",
        {0: "tool_calls", 1: "x"},
    ),
    "another reason replaces": Body(chunk("a", "stop") + chunk("b", "length"), ["a", "b"], "finished", {0: "length"}),
    "usage": Body(
        chunk("a", usage={"total_tokens": 1}) + chunk("b", usage=None) + sse({"usage": {}, "choices": []}) + DONE,
        ["a", "b", ""],
        "done",
        usage={"total_tokens": 1},
    ),
    "the last usage": Body(
        chunk("a", usage={"total_tokens": 1}) + sse({"usage": {"total_tokens": 0, "prompt_tokens": None}}) + DONE,
        ["a", ""],
        "done",
        usage={"total_tokens": 0, "prompt_tokens": None},
    ),
    "an error, and what is behind it": Body(
        A + sse({"error": {"message": "m", "type": "t", "code": 5}}) + A + DONE,
        ["a", Api("m", {"error": {"message": "m", "type": "t", "code": 5}}, "t", 5), "a"],
        "error",
    ),
    "an error beside choices": Body(
        sse({"choices": [], "error": "m"}), ["", Api("m", {"choices": [], "error": "m"})], "error"
    ),
    "an error line": Body(A + b'error: {"message":"m"}\n\n', ["a", Api("m", {"message": "m"})], "error"),
    "an error line in an event": Body(A[:-1] + b"ERROR: m\n\n" + DONE, ["a", Api("m", "m")], "error"),
    "bare JSON": Body(A + b'{"error":"m"}', ["a", Api("m", {"error": "m"})], "error"),
    "bare JSON over lines": Body(A + b'[{\n"error":"m"\n}\n]\n' + A, ["a", Api("m", [{"error": "m"}]), "a"], "error"),
    "bare JSON first": Body(b'{"error":"m"}\n' + A, [Api("m", {"error": "m"})], "error"),
    "an event named error": Body(b"event: error\ndata: m\n\n" + A, [Api("m", "m"), "a"], "error"),
    "no error": Body(sse({"error": None, "choices": []}) + b"error: null\n\n" + DONE, [""], "done"),
    "an unknown line": Body(A + b"reset\nby peer", ["a", Incomplete(b"reset\nby peer")], "incomplete"),
    "a cut payload": Body(A + STOP + b'data: {"a', ["a", "", Incomplete(b'{"a')], "incomplete", {0: "stop"}),
    "a broken payload": Body(A + b'data: {"a\n\n' + STOP, ["a", Undecodable(b'{"a'), ""], "finished", {0: "stop"}),
    "null and empty data": Body(b"data\n\ndata: null\n\n" + DONE, [], "done"),
    "lines as events": Body(A[:-1] + b"data: x\n" + DONE, ["a", Undecodable(b"x")], "done"),
    "documents as events": Body(A[:-2] + A[6:-2] + b"[DONE]\n\n", ["a", "a"], "done"),
    "a broken document": Body(A[:-2] + b"{\n\n" + DONE, [Undecodable(A[6:-2] + b"{")], "done"),
    "no stream": Body(b"<html>", [NoStream("", b"<html>")], "error"),
    "nothing": Body(b"", [NoStream("", b"")], "error"),
    "keep-alives": Body(b": hi\n\n", [Incomplete()], "incomplete"),
    "a refusal": Body(b'{"detail":"m"}', [Api("m", {"detail": "m"})], "error"),
}


@pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)
def test_body(body: Body) -> None:
    chat = chat_oracle.read(body.body)
    assert [told(item) for item in chat.items] == body.items
    assert (chat.state, chat.finish_reasons, chat.usage) == (body.state, body.finish_reasons, body.usage)


def test_a_chunk_in_full() -> None:
    tree = {
        "choices": [
            {"index": 1, "delta": {"content": [{"type": "text", "text": "b"}, {"type": "thinking", "thinking": "t"}]}},
            {"delta": {"content": "a", "reasoning": "r", "reasoning_content": "r", "tool_calls": [{"id": "c"}]}},
            {"index": 1, "delta": {"content": "c", "tool_calls": [{"index": 2, "function": {"arguments": {"x": 1}}}]}},
            {"index": 2, "delta": {"reasoning_details": [{"type": "reasoning.text", "text": "d"}]}},
        ]
    }
    (item,) = chat_oracle.read(sse(tree) + DONE).items
    assert isinstance(item, chat_oracle.Chunk)
    assert (item.tree, item.payload) == (tree, sse(tree)[6:-2])
    assert item.text == {0: "a", 1: "bc"}
    assert item.reasoning == "trd"
    assert item.tool_calls == [
        chat_oracle.ToolCall(0, None, "c", None, None),
        chat_oracle.ToolCall(1, 2, None, None, {"x": 1}),
    ]


def test_faults_of_json_and_of_members() -> None:
    payloads = [
        b'{"choices":null}',
        b'{"choices":[{"index":null,"delta":null}]}',
        b'{"choices":[{"delta":{"content":"x\\ud83d\\ud83d\\ude00\xff\t"}}],"n":NaN}',
        b'\xef\xbb\xbf{"choices":[[],{"delta":[]}]}',
        b'{"choices":5}',
        b'{"choices":[{"delta":{"content":{"a":1}}}]}',
        b'{"choices":[{"delta":{"tool_calls":"f"}}]}',
    ]
    items = chat_oracle.read(b"".join(map(sse, payloads)) + DONE).items
    assert list(map(told, items)) == ["", "", "x\ufffd😀\ufffd\t", "", *map(Undecodable, payloads[4:])]


def test_usage_elsewhere() -> None:
    first = {"choices": [{"delta": {}, "usage": {"total_tokens": 1}}]}
    last = {"choices": [], "x_groq": {"usage": {"total_tokens": 3}}}
    chat = chat_oracle.read(sse(first) + STOP + DONE)
    assert (chat.usage, chat.usage_elsewhere) == (None, None)
    chat = chat_oracle.read(sse(first | {"choices": [{**first["choices"][0], "finish_reason": "stop"}]}) + DONE)
    assert (chat.usage, chat.usage_elsewhere) == (None, {"total_tokens": 1})
    assert chat_oracle.read(sse(last) + DONE).usage_elsewhere == {"total_tokens": 3}


def test_counts() -> None:
    body = b": c\n\nevent: ping\ndata: {}\n\n" + A[:-1] + A[:-1] + b": d\n\ndata: oops\n\n" + DONE + b": behind\n\n"
    chat = chat_oracle.read(body)
    assert (chat.events, chat.comments, chat.skipped_events, chat.shared) == (4, 2, 1, 2)
    assert (chat.count(chat_oracle.Chunk), chat.count(chat_oracle.Undecodable)) == (2, 1)


COUNTS: Final = ("prompt_tokens", "completion_tokens", "total_tokens")
TABLES: Final[dict[str, tuple[bytes, Case]]] = {
    **{f"{number}": (FAULTS[number].body, right) for number, right in RIGHT.items()},
    **test_framing_variants.VARIANTS,
    **test_facts_variants.VARIANTS,
    **test_error_variants.MIXED,
}


@pytest.mark.parametrize("name", TABLES)
def test_the_tables_of_cases(name: str) -> None:
    """What is right was written there for the package, so the oracle must say the same."""
    body, right = TABLES[name]
    chat = chat_oracle.read(body)
    for item, expected in zip(map(told, chat.items), right.items, strict=True):
        if isinstance(expected, Api):
            assert item == expected._replace(param=None)
        elif isinstance(expected, NoStream):
            assert item == NoStream("", expected.body)
        else:
            # A chunk that has more than a text stands there by its members.
            assert item == expected or (isinstance(expected, dict) and isinstance(item, str))
    usage = chat.usage or chat.usage_elsewhere
    assert (usage is None) == (right.usage is None)
    if usage is not None and right.usage is not None:
        assert [usage.get(count) for count in COUNTS] == [right.usage.get(count) for count in COUNTS]
    facts = (chat.state, chat.finish_reasons, chat.skipped_events, chat.comments)
    assert facts == (right.state, right.finish_reasons, right.skipped, right.comments)
