"""The chunks of a stream merge to the whole answer, by the rules."""

from __future__ import annotations

import base64
from typing import Any, Final

import msgspec
import pytest

from ssewire import (
    ChatAccumulator,
    ChatCompletion,
    ChatCompletionChunk,
    ChatCompletionMessage,
    CompletionChoice,
    CompletionUsage,
)


def merged(*chunks: dict[str, Any]) -> ChatCompletion:
    accumulator = ChatAccumulator()
    for chunk in chunks:
        accumulator.add(msgspec.convert(chunk, ChatCompletionChunk))
    return accumulator.completion()


def message(*deltas: dict[str, Any]) -> ChatCompletionMessage:
    """The message that these deltas of one choice add up to."""
    return merged(*({"choices": [{"delta": delta}]} for delta in deltas)).choices[0].message


def choice(*choices: dict[str, Any]) -> CompletionChoice:
    """The one choice that these parts of it add up to."""
    return merged(*({"choices": [part]} for part in choices)).choices[0]


def test_before_any_chunk() -> None:
    empty = ChatAccumulator().completion()
    assert empty == ChatCompletion(id=None, object="chat.completion", created=None, model=None, choices=[])
    assert (empty.text, empty.reasoning) == ("", "")


def test_an_answer() -> None:
    answer = merged(
        {"id": "i", "object": "chat.completion.chunk", "created": 5, "model": "m", "system_fingerprint": "fp"},
        {"id": "i", "choices": [{"index": 0, "delta": {"role": "assistant", "content": ""}}]},
        {"id": "i", "choices": [{"index": 0, "delta": {"content": "Hel"}}]},
        {"id": "i", "choices": [{"index": 0, "delta": {"content": "lo"}}], "service_tier": "flex"},
        {"id": "i", "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
        {"id": "i", "choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3}},
    )
    assert answer == ChatCompletion(
        id="i",
        object="chat.completion",
        created=5,
        model="m",
        choices=[CompletionChoice(0, ChatCompletionMessage("assistant", "Hello"), "stop")],
        usage=CompletionUsage(1, 2, 3),
        system_fingerprint="fp",
        service_tier="flex",
    )
    assert answer.text == "Hello"


def test_a_message_can_be_sent_back() -> None:
    """Members that were not sent are left out, but those that a message must have."""
    assert msgspec.to_builtins(message({"content": "a"})) == {"role": "assistant", "content": "a"}
    call = {"index": 0, "id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    assert msgspec.to_builtins(message({"tool_calls": [call]})) == {
        "role": "assistant",
        "content": None,
        "tool_calls": [{"id": "c1", "type": "function", "function": {"name": "f", "arguments": "{}"}}],
    }
    assert msgspec.to_builtins(merged({"choices": [{}]})) == {
        "id": None,
        "object": "chat.completion",
        "created": None,
        "model": None,
        "choices": [{"index": 0, "message": {"role": "assistant", "content": None}, "finish_reason": None}],
    }


@pytest.mark.parametrize("name", ["id", "model", "system_fingerprint", "service_tier"])
def test_the_first_that_says_something_stays(name: str) -> None:
    assert getattr(merged({}, {name: ""}, {name: None}, {name: "a"}, {name: "b"}, {name: ""}), name) == "a"
    assert getattr(merged({name: ""}), name) is None


@pytest.mark.parametrize(
    ("sent", "right"), [([None, 5, 6], 5), ([1.5, 6], 1.5), ([0, 5], 5), ([0], None), ([None], None)]
)
def test_created_is_the_first_that_is_not_zero(sent: list[Any], right: Any) -> None:
    assert merged(*({"created": created} for created in sent)).created == right


def test_the_object_is_always_the_same() -> None:
    assert merged({"object": "text_completion"}).object == "chat.completion"


def test_choices_are_told_by_their_index_and_in_its_order() -> None:
    parts = [(7, "a"), (0, "b"), (7, "c"), (-1, "d"), (0, "e")]
    answer = merged(*({"choices": [{"index": index, "delta": {"content": text}}]} for index, text in parts))
    assert [(choice.index, choice.message.content) for choice in answer.choices] == [(-1, "d"), (0, "be"), (7, "ac")]
    assert answer.text == "dbeac"


def test_choices_in_one_chunk() -> None:
    chunk = {
        "choices": [{"index": index, "delta": {"content": text}} for index, text in [(1, "a"), (0, "b"), (1, "c")]]
    }
    assert [choice.message.content for choice in merged(chunk, chunk).choices] == ["bb", "acac"]


CONTENTS: Final[list[tuple[list[Any], str | None]]] = [
    ([], None),
    ([None, ""], None),
    (["", "a", None, "", "b"], "ab"),
    (["a", "a", "aa"], "aaaa"),
    (["\ufffd", "\ufffd"], "\ufffd\ufffd"),
    (["a", [{"type": "text", "text": "b"}, {"type": "image_url", "text": "x"}, "c"], "d"], "abcd"),
    ([[{"type": "output_text", "text": "a"}], [{"text": "b"}]], "ab"),
    ([[{"type": "thinking", "thinking": "t"}]], None),
    ([[]], None),
    ([[5, None, {"type": ["text"], "text": "x"}, {"type": "text", "text": 5}]], None),
]


@pytest.mark.parametrize(("contents", "right"), CONTENTS, ids=[repr(contents) for contents, _ in CONTENTS])
def test_content_joins(contents: list[Any], right: str | None) -> None:
    assert message({}, *({"content": content} for content in contents)).content == right


def details(*texts: str) -> list[dict[str, Any]]:
    return [{"type": "reasoning.text", "text": text, "index": 0} for text in texts]


REASONING: Final[list[tuple[list[dict[str, Any]], str | None]]] = [
    ([{"reasoning": "a"}, {"reasoning_content": "b"}, {"reasoning": ""}, {"reasoning": None}], "ab"),
    # The same text in several members counts once.
    ([{"reasoning": "a", "reasoning_content": "a"}, {"reasoning": "b", "reasoning_details": details("b")}], "ab"),
    ([{"reasoning_details": details("a", "b")}, {"reasoning_details": details("c")}], "abc"),
    ([{"content": [{"type": "thinking", "thinking": "a"}, {"type": "text", "text": "x"}]}, {"reasoning": "b"}], "ab"),
    ([{"reasoning_details": [{"type": "reasoning.encrypted", "data": "x"}]}], None),
    ([{"content": "a"}], None),
]


@pytest.mark.parametrize(("deltas", "right"), REASONING, ids=[repr(deltas) for deltas, _ in REASONING])
def test_reasoning_joins_from_wherever_it_stands(deltas: list[dict[str, Any]], right: str | None) -> None:
    found = message(*deltas)
    assert found.reasoning == found.reasoning_content == right
    assert merged(*({"choices": [{"delta": delta}]} for delta in deltas)).reasoning == (right or "")


def test_role_is_the_first_and_refusal_joins() -> None:
    found = message({"role": ""}, {"role": None}, {"role": "tool", "refusal": "I "}, {"role": "x", "refusal": "can't"})
    assert (found.role, found.refusal) == ("tool", "I can't")
    assert message({"refusal": ""}).refusal is None


REASONS: Final[list[tuple[list[str | None], str | None]]] = [
    ([None], None),
    (["", None], None),
    (["stop"], "stop"),
    (["stop", None, ""], "stop"),
    (["tool_calls", "stop"], "tool_calls"),
    (["stop", "tool_calls"], "tool_calls"),
    (["length", "content_filter"], "content_filter"),
    (["length", "stop", "eos"], "eos"),
]


@pytest.mark.parametrize(("reasons", "right"), REASONS)
def test_finish_reason(reasons: list[str | None], right: str | None) -> None:
    assert choice({}, *({"finish_reason": reason} for reason in reasons)).finish_reason == right


USAGES: Final[list[tuple[list[Any], CompletionUsage | None]]] = [
    ([None], None),
    ([{}], None),
    ([{"prompt_tokens": None, "prompt_tokens_details": {"x": 1}}], None),
    ([{"prompt_tokens": 0}], CompletionUsage(0)),
    ([{"total_tokens": 1}, {"total_tokens": 2}], CompletionUsage(total_tokens=2)),
    ([{"prompt_tokens": 1}, {"total_tokens": 2}], CompletionUsage(total_tokens=2)),
    ([{"total_tokens": 2}, {}, None, {"total_tokens": None}], CompletionUsage(total_tokens=2)),
    (
        [{"total_tokens": 2.5, "prompt_tokens_details": {"x": [1]}, "completion_tokens_details": {"y": 2}}],
        CompletionUsage(total_tokens=2.5, prompt_tokens_details={"x": [1]}, completion_tokens_details={"y": 2}),
    ),
]


@pytest.mark.parametrize(("usages", "right"), USAGES)
def test_usage_is_the_last_with_a_count(usages: list[Any], right: CompletionUsage | None) -> None:
    assert merged(*({"usage": usage} for usage in usages)).usage == right


LOGPROBS: Final[list[tuple[list[Any], Any]]] = [
    ([None, {}], None),
    ([{"content": [1]}, None, {"content": [2, 3]}], {"content": [1, 2, 3]}),
    ([{"content": [1], "refusal": None}, {"content": None, "refusal": [2]}], {"content": [1], "refusal": [2]}),
    ([{"content": []}, {"content": []}], {"content": []}),
    ([{"content": [None]}, {"content": [{"a": [1]}]}], {"content": [None, {"a": [1]}]}),
    ([{"model": "a", "x": 1}, {"model": "", "x": None}, {"model": "b"}], {"model": "b", "x": 1}),
    ([{"x": [1]}, {"x": 2}], {"x": 2}),
    ([{"x": 2}, {"x": [1]}], {"x": [1]}),
    ([{"x": False}, {"x": 0}], {"x": 0}),
]


@pytest.mark.parametrize(("sent", "right"), LOGPROBS)
def test_logprobs_are_appended(sent: list[Any], right: Any) -> None:
    assert choice(*({"logprobs": logprobs} for logprobs in sent)).logprobs == right


def detail(type: Any = "reasoning.text", index: Any = 0, **members: Any) -> dict[str, Any]:
    return {"type": type, "index": index, **members}


DETAILS: Final[dict[str, tuple[list[list[Any]], Any]]] = {
    "none": ([[]], None),
    "one": ([[detail(text="a")], [detail(text="b")], [detail(text=None)]], [detail(text="ab")]),
    "in one chunk": ([[detail(text="a"), detail(text="b")]], [detail(text="ab")]),
    "texts of all kinds": (
        [[detail(text="a", summary="b", data="c")], [detail(text="A", summary="B", data="C")]],
        [detail(text="aA", summary="bB", data="cC")],
    ),
    "other members": (
        [[detail(format="x", signature=None)], [detail(format="y", signature="s", n=0)], [detail(format="")]],
        [detail(format="y", signature="s", n=0)],
    ),
    "by index": (
        [[detail(index=1, text="b")], [detail(text="a")], [detail(index=1, text="c")]],
        [detail(index=1, text="bc"), detail(text="a")],
    ),
    "by type": (
        [[detail(text="a")], [detail("reasoning.encrypted", data="x")], [detail(text="b")]],
        [detail(text="ab"), detail("reasoning.encrypted", data="x")],
    ),
    "without index": (
        [[{"type": "t", "text": "a"}], [{"type": "t", "index": None, "text": "b"}], [{"type": "t", "index": 0}]],
        [{"type": "t", "text": "ab"}, {"type": "t", "index": 0}],
    ),
    "without type": ([[{"text": "a"}], [{"text": "b", "type": ""}]], [{"text": "ab"}]),
    "two ids": (
        [[detail(id="1", text="a")], [detail(id="2", text="b")], [detail(id="1", text="c")], [detail(text="d")]],
        [detail(id="1", text="ac"), detail(id="2", text="bd")],
    ),
    "an id that comes late": (
        [[detail(text="a")], [detail(id="1", text="b")], [detail(id="", text="c")], [detail(id="2", text="d")]],
        [detail(id="1", text="abc"), detail(id="2", text="d")],
    ),
    "no objects": ([["a", None, 5], ["a", "", [1]]], ["a", 5, "a", [1]]),
    "that say nothing": ([[{}, {"type": None, "text": ""}]], None),
    "text of another kind": (
        [[detail(text="a")], [detail(text=["b"])], [detail(text="c")], [detail(text="d")]],
        [detail(text="cd")],
    ),
    "type and index of any kind": (
        [[detail(["x"], {"y": 1}, text="a")], [detail(["x"], {"y": 1}, text="b")]],
        [detail(["x"], {"y": 1}, text="ab")],
    ),
}


@pytest.mark.parametrize(("sent", "right"), DETAILS.values(), ids=DETAILS)
def test_reasoning_details(sent: list[list[Any]], right: Any) -> None:
    assert message(*({"reasoning_details": entries} for entries in sent)).reasoning_details == right


@pytest.mark.parametrize("name", ["annotations", "images"])
def test_annotations_and_images_are_appended(name: str) -> None:
    found = message({name: [{"a": 1}]}, {name: []}, {name: None}, {name: [{"a": 1}, "x"]})
    assert getattr(found, name) == [{"a": 1}, {"a": 1}, "x"]
    assert getattr(message({name: []}), name) is None


def b64(data: bytes) -> str:
    return base64.b64encode(data).decode()


AUDIO: Final[dict[str, tuple[list[Any], Any]]] = {
    "none": ([None, {}, {"id": None, "data": ""}], None),
    "id": ([{"id": ""}, {"id": "a"}, {"id": "b"}], {"id": "a"}),
    "transcript": ([{"transcript": "a"}, {"transcript": ""}, {"transcript": "a"}], {"transcript": "aa"}),
    "others": ([{"expires_at": 1, "x": "a"}, {"expires_at": 2, "x": None}], {"expires_at": 2, "x": "a"}),
    "whole pieces": ([{"data": b64(b"abc")}, {"data": b64(b"def")}], {"data": b64(b"abcdef")}),
    "the last is padded": ([{"data": b64(b"abc")}, {"data": b64(b"d")}], {"data": b64(b"abcd")}),
    "all are padded": ([{"data": b64(b"a")}, {"data": b64(b"bc")}, {"data": b64(b"d")}], {"data": b64(b"abcd")}),
    "some are padded": (
        [{"data": b64(b"abc")}, {"data": b64(b"de")}, {"data": b64(b"fgh")}],
        {"data": b64(b"abcdefgh")},
    ),
    "one, cut anywhere": ([{"data": "Y"}, {"data": "WJjZA="}, {"data": "="}], {"data": b64(b"abcd")}),
    "padding that is too long": ([{"data": "QQ=="}, {"data": "QUJD="}], {"data": "QQ==QUJD="}),
    "no base64": ([{"data": "a="}, {"data": "é"}], {"data": "a=é"}),
    "padding first": ([{"data": "=="}, {"data": b64(b"a")}, {"data": "YWJj"}], {"data": "==YQ==YWJj"}),
}


@pytest.mark.parametrize(("sent", "right"), AUDIO.values(), ids=AUDIO)
def test_audio(sent: list[Any], right: Any) -> None:
    assert message(*({"audio": audio} for audio in sent)).audio == right
