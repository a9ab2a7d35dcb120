"""An accumulator takes chunks of any type that has choices, and leaves out what cannot be read of what they hold."""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypedDict

import msgspec
import pytest

from ssewire import (
    CHUTES,
    NSCALE,
    ChatAccumulator,
    ChatCompletion,
    ChatCompletionChunk,
    ChoiceDelta,
    ChunkChoice,
    CompletionUsage,
)


class ChunkDict(TypedDict, total=False):
    id: str
    choices: list[Any]


@dataclass
class DeltaData:
    content: str | None = None


@dataclass
class ChoiceData:
    delta: DeltaData
    index: int = 0


@dataclass
class ChunkData:
    choices: list[ChoiceData] = field(default_factory=list)
    id: str = "i"


class ChoiceStruct(msgspec.Struct, rename={"delta_": "delta"}):
    delta_: dict[str, Any]


class ChunkStruct(msgspec.Struct):
    choices: list[ChoiceStruct]
    id: str = "i"


class Frozen(msgspec.Struct, frozen=True):
    choices: tuple[dict[str, Any], ...]
    id: str = "i"


class Subclass(ChatCompletionChunk):
    more: int = 0


HELLO: Final = {"id": "i", "choices": [{"index": 0, "delta": {"content": "Hello"}}]}


@pytest.mark.parametrize(
    "chunk",
    [
        HELLO,
        ChunkDict(id="i", choices=HELLO["choices"]),  # type: ignore[typeddict-item]
        ChunkData([ChoiceData(DeltaData("Hello"))]),
        ChunkStruct([ChoiceStruct({"content": "Hello"})]),
        Frozen(({"index": 0, "delta": {"content": ({"type": "text", "text": "Hello"},)}},)),
        Subclass(id="i", choices=[ChunkChoice(delta=ChoiceDelta(content="Hello"))]),
        msgspec.convert({**HELLO, "created": 1, "model": "m", "object": "chat.completion.chunk"}, NSCALE.chunk_type),
        msgspec.convert(
            {
                **HELLO,
                "created": 1,
                "model": "m",
                "object": "chat.completion.chunk",
                "choices": [{"index": 0, "delta": {"content": "Hello"}, "finish_reason": None}],
            },
            CHUTES.chunk_type,
        ),
    ],
    ids=lambda chunk: type(chunk).__name__,
)
def test_chunks_of_any_type(chunk: Any) -> None:
    accumulator = ChatAccumulator()
    accumulator.add(chunk)
    accumulator.add(copy.deepcopy(chunk))
    answer = accumulator.completion()
    assert (answer.id, answer.text, len(answer.choices)) == ("i", "HelloHello", 1)


class NoChoices(msgspec.Struct):
    id: str = "i"


class Pair(NamedTuple):
    choices: list[Any]


@pytest.mark.parametrize(
    "thing", [None, 5, "text", b"{}", [HELLO], NoChoices(), ..., ChatCompletionChunk, Pair([])], ids=repr
)
def test_what_is_no_chunk_is_refused(thing: Any) -> None:
    with pytest.raises(TypeError, match=f"a chunk is a dict, .* and '{type(thing).__name__}' is none"):
        ChatAccumulator().add(thing)


def test_a_message_in_place_of_a_delta() -> None:
    accumulator = ChatAccumulator()
    call = {"id": "c1", "function": {"name": "f", "arguments": "{}"}}
    whole = {"role": "assistant", "content": "a", "tool_calls": [call, {**call, "id": "c2"}]}
    accumulator.add({"choices": [{"message": whole, "delta": {}, "finish_reason": "tool_calls"}]})
    found = accumulator.completion().choices[0]
    assert (found.message.content, found.finish_reason) == ("a", "tool_calls")
    assert [call.id for call in found.message.tool_calls] == ["c1", "c2"]
    accumulator.add({"choices": [{"message": {"content": "x"}, "delta": {"content": "b"}}]})
    assert accumulator.completion().text == "ab"


COPIES: Final[list[tuple[list[Any], int | None]]] = [
    ([{"x_groq": {"usage": {"total_tokens": 1}}}], 1),
    ([{"choices": [{"usage": {"total_tokens": 1}}]}, {"choices": [{"usage": {"total_tokens": 2}}]}], 2),
    ([{"x_groq": {"usage": {"total_tokens": 1}}, "choices": [{"usage": {"total_tokens": 2}}]}], 1),
    ([{"x_groq": {"usage": {"total_tokens": 1}}, "usage": {"total_tokens": 2}}], 2),
    ([{"usage": {"total_tokens": 2}}, {"x_groq": {"usage": {"total_tokens": 1}}}], 2),
    ([{"x_groq": {"usage": {"total_tokens": 1}}}, {"usage": {"total_tokens": 2}}], 2),
    ([{"x_groq": {"usage": {"total_tokens": 1}}, "usage": {"total_tokens": None}}], 1),
    ([{"x_groq": None, "choices": [{"usage": 5}, {"usage": {}}, None]}], None),
]


@pytest.mark.parametrize(("chunks", "right"), COPIES)
def test_copies_of_the_usage_count_where_there_is_no_other(chunks: list[Any], right: int | None) -> None:
    accumulator = ChatAccumulator()
    for chunk in chunks:
        accumulator.add(chunk)
    usage = accumulator.completion().usage
    assert (usage and usage.total_tokens) == right


# A dict may hold anything: what cannot be read is left out, the rest of the chunk counts.
ODD: Final[list[tuple[dict[Any, Any], str]]] = [
    ({}, ""),
    ({"choices": None}, ""),
    ({"choices": 5}, ""),
    ({"choices": "abc"}, ""),
    ({"choices": [5, None, "x", [], {"delta": {"content": "a"}}]}, "a"),
    ({"choices": [{"delta": 5}, {"delta": None}, {"delta": []}, {"delta": {"content": "a"}}]}, "a"),
    ({"choices": [{"delta": {"content": "a"}, "index": "x"}]}, "a"),
    ({"choices": [{"delta": {"content": "a"}, "index": [0]}]}, "a"),
    ({"choices": [{"delta": {"content": "a"}, "index": "1"}]}, "a"),
    ({"choices": [{"delta": {"content": "a", "tool_calls": 5}}]}, "a"),
    ({"choices": [{"delta": {"content": "a", "tool_calls": [{"function": 5}]}}]}, "a"),
    ({"choices": [{"delta": {"content": "a", "role": {}, "reasoning": 5.5, "audio": "x"}}]}, "a"),
    ({"choices": [{"delta": {"content": "a"}, "finish_reason": [], "logprobs": 5}]}, "a"),
    ({"choices": [{"delta": {"content": True}}, {"delta": {"content": "a"}}]}, "a"),
    ({"choices": [{"delta": {"content": "a"}}], "id": [], "created": {}, "usage": "x", "model": ...}, "a"),
    ({"choices": [{"delta": {"content": "a"}}], 5: 6, None: msgspec.UNSET}, "a"),
    ({"choices": ({"delta": {"content": "a"}},)}, "a"),
]


@pytest.mark.parametrize(("chunk", "right"), ODD, ids=[repr(chunk) for chunk, _ in ODD])
def test_what_cannot_be_read_is_left_out(chunk: dict[Any, Any], right: str) -> None:
    before = copy.copy(chunk)
    accumulator = ChatAccumulator()
    accumulator.add(chunk)
    assert accumulator.completion().text == right
    assert chunk == before


def test_a_tool_call_that_can_be_read_counts_beside_one_that_cannot() -> None:
    accumulator = ChatAccumulator()
    calls = [{"index": 0, "function": 5}, None, {"index": 1, "id": "c1", "function": {"name": "f"}}]
    accumulator.add({"choices": [{"delta": {"tool_calls": calls}}]})
    assert [call.id for call in accumulator.completion().choices[0].message.tool_calls] == ["c1"]


def odd(**members: Any) -> ChatCompletionChunk:
    """A chunk of the built-in type, made by hand and not checked by anybody."""
    return ChatCompletionChunk(**members)


def odd_delta(**members: Any) -> ChatCompletionChunk:
    return odd(choices=[ChunkChoice(delta=ChoiceDelta(**members))])


ODD_CHUNKS: Final[dict[str, tuple[ChatCompletionChunk, str]]] = {
    "no choices": (odd(choices=None), ""),
    "a tuple": (odd(choices=(ChunkChoice(delta=ChoiceDelta(content="a")),)), "a"),
    "choices of another type": (odd(choices=[{"delta": {"content": "a"}}, ChoiceData(DeltaData("b")), 5, None]), "ab"),
    "a delta of another type": (odd(choices=[ChunkChoice(delta={"content": "a"})]), "a"),  # type: ignore[arg-type]
    "a wrong index": (odd(choices=[ChunkChoice(index=None, delta=ChoiceDelta(content="a"))]), "a"),  # type: ignore[arg-type]
    "an index without a hash": (odd(choices=[ChunkChoice(index=[], delta=ChoiceDelta(content="a"))]), "a"),  # type: ignore[arg-type]
    "a text of another type": (odd_delta(content=type("Text", (str,), {})("a")), "a"),
    "wrong members": (
        odd_delta(
            content=5,
            role=5,
            reasoning=5,
            reasoning_content=[5],
            refusal={},
            tool_calls=[5, {"index": 0}],
            function_call=5,
            reasoning_details=5,
            annotations="x",
            audio=[1],
            images={"a": 1},
        ),
        "",
    ),
    "wrong facts": (odd(id=5, model=[], created="x", usage=5, service_tier={"a": 1}, choices=[]), ""),
    "wrong counts": (odd(usage=CompletionUsage(prompt_tokens="x", completion_tokens=1)), ""),  # type: ignore[arg-type]
    "wrong ends": (odd(choices=[ChunkChoice(finish_reason=5, logprobs=[5])]), ""),  # type: ignore[arg-type]
}


@pytest.mark.parametrize(("chunk", "right"), ODD_CHUNKS.values(), ids=ODD_CHUNKS)
def test_chunks_made_by_hand_may_hold_anything(chunk: ChatCompletionChunk, right: str) -> None:
    accumulator = ChatAccumulator()
    accumulator.add(chunk)
    accumulator.add(msgspec.convert(HELLO, ChatCompletionChunk))
    answer = accumulator.completion()
    assert answer.text == right + "Hello"
    # What was left out has left nothing: the answer is of its own types all through.
    assert msgspec.convert(msgspec.to_builtins(answer), ChatCompletion) == answer


@pytest.mark.parametrize(
    "chunk",
    [
        ChunkData([{"delta": {"content": "a", "x": msgspec.UNSET}}]),  # type: ignore[list-item]
        ChunkStruct([ChoiceStruct({"content": "a", "x": msgspec.UNSET})]),
        ChunkStruct([ChoiceStruct({"content": ("a",), "x": msgspec.Raw(b"1"), "role": object()})]),
    ],
)
def test_own_types_may_hold_what_msgspec_refuses(chunk: Any) -> None:
    accumulator = ChatAccumulator()
    accumulator.add(chunk)
    answer = accumulator.completion()
    assert (answer.id, answer.text, answer.choices[0].message.role) == ("i", "a", "assistant")
