"""What the chunk types offer beside their check: the text, absent and null told apart, and how the three differ."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec import UNSET

from ssewire.documented import CentMLChunk, ChutesChunk, DocumentedChunk, NscaleChunk
from tests.strict.walking import replaced

ALL = (NscaleChunk, CentMLChunk, ChutesChunk)
USAGE = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}


def example(**choice: Any) -> dict[str, Any]:
    """A chunk that all three documents allow, with one choice."""
    delta = {"role": "assistant", "content": "Hi", "tool_calls": [{"index": 0}]}
    return {
        "id": "chatcmpl-1",
        "choices": [{"index": 0, "delta": delta, "finish_reason": "stop", **choice}],
        "created": 1_750_464_000,
        "model": "m",
        "object": "chat.completion.chunk",
    }


def accepting(chunk: object) -> set[type[DocumentedChunk]]:
    """The types that accept a chunk."""
    found: set[type[DocumentedChunk]] = set()
    for chunk_type in ALL:
        try:
            msgspec.json.decode(msgspec.json.encode(chunk), type=chunk_type)
        except msgspec.ValidationError:
            continue
        found.add(chunk_type)
    return found


TOOL_CALLS = ("choices", 0, "delta", "tool_calls")


@pytest.mark.parametrize(
    ("path", "value", "allowed"),
    [
        (("choices", 0), {"index": 0, "delta": {}}, {NscaleChunk, CentMLChunk}),
        (("choices", 0, "logprobs"), None, set(ALL)),
        (("choices", 0, "logprobs"), {"content": []}, set(ALL)),
        (("choices", 0, "logprobs"), 5, {NscaleChunk, CentMLChunk}),
        (TOOL_CALLS, [], set(ALL)),
        (TOOL_CALLS, [{}], {NscaleChunk, CentMLChunk}),
        (TOOL_CALLS, [{"index": 0, "id": None}], {NscaleChunk, CentMLChunk}),
        (TOOL_CALLS, [{"index": 0, "type": "retrieval"}], {NscaleChunk, CentMLChunk}),
        (TOOL_CALLS, [{"index": 0, "function": {"arguments": None}}], {NscaleChunk, CentMLChunk}),
        (TOOL_CALLS, ["no object"], set()),
        (("usage",), None, set(ALL)),
        (("usage",), USAGE, set(ALL)),
        (("usage",), {}, {NscaleChunk, CentMLChunk}),
        (("usage",), {"prompt_tokens": None}, {CentMLChunk}),
        (("usage",), USAGE | {"total_tokens": 1.5}, {CentMLChunk}),
        (("usage",), "free", {CentMLChunk}),
    ],
)
def test_where_the_documents_differ(path: tuple[str | int, ...], value: object, allowed: set[type]) -> None:
    assert accepting(replaced(example(), path, value)) == allowed


def test_absent_and_null_are_told_apart() -> None:
    chunk = msgspec.convert(example(), NscaleChunk)
    assert chunk.usage is UNSET
    assert not chunk.usage
    assert msgspec.convert(example() | {"usage": None}, NscaleChunk).usage is None
    (choice,) = msgspec.convert(replaced(example(), ("choices", 0), {"index": 0, "delta": {}}), NscaleChunk).choices
    assert (choice.finish_reason, choice.delta.role, choice.delta.content, choice.delta.tool_calls) == (UNSET,) * 4
    assert msgspec.convert(example(finish_reason=None), NscaleChunk).choices[0].finish_reason is None


@pytest.mark.parametrize("chunk_type", ALL)
def test_the_text_of_a_chunk(chunk_type: type[DocumentedChunk]) -> None:
    chunk = example()
    chunk["choices"] += [
        {"index": 1, "delta": {"content": " there"}, "finish_reason": None},
        {"index": 2, "delta": {"content": None}, "finish_reason": None},
        {"index": 3, "delta": {}, "finish_reason": None},
    ]
    assert msgspec.convert(chunk, chunk_type).text == "Hi there"
    assert msgspec.convert(chunk | {"choices": []}, chunk_type).text == ""


def test_usage_of_centml_is_kept_as_it_came() -> None:
    """No document describes it, the provider's own examples ask for it."""
    assert msgspec.convert(example() | {"usage": USAGE}, CentMLChunk).usage == USAGE
    assert msgspec.convert(example(), CentMLChunk).usage is UNSET


def test_a_tool_call_of_chutes_is_typed_to_its_end() -> None:
    calls = [{"index": 1, "id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    chunk = msgspec.convert(replaced(example(), TOOL_CALLS, calls), ChutesChunk)
    (call,) = chunk.choices[0].delta.tool_calls or []
    assert call.function is not UNSET
    assert (call.index, call.id, call.type) == (1, "call_1", "function")
    assert (call.function.name, call.function.arguments) == ("f", "{}")


def test_tool_calls_of_the_others_are_objects_of_any_content() -> None:
    calls = [{}, {"index": None, "function": {"name": ["f"]}}]
    for chunk_type in (NscaleChunk, CentMLChunk):
        assert msgspec.convert(replaced(example(), TOOL_CALLS, calls), chunk_type).choices[0].delta.tool_calls == calls
