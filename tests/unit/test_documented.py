"""The documented chunk types accept what the providers' documents allow, and nothing that they forbid."""

from __future__ import annotations

import copy
from typing import Any

import msgspec
import pytest
from msgspec import UNSET

from ssewire.documented import CentMLChunk, ChutesChunk, DocumentedChunk, NscaleChunk

ALL = (NscaleChunk, CentMLChunk, ChutesChunk)
USAGE = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
ABSENT = object()


def example() -> dict[str, Any]:
    """A chunk with every member that all three documents name."""
    delta = {"role": "assistant", "content": "Hi", "tool_calls": [{"index": 0}]}
    return {
        "id": "chatcmpl-1",
        "choices": [{"index": 0, "delta": delta, "finish_reason": "stop"}],
        "created": 1_750_464_000,
        "model": "m",
        "object": "chat.completion.chunk",
    }


def changed(path: str, value: object) -> bytes:
    """The example with one member replaced, added or (ABSENT) removed."""
    chunk = example()
    *parents, last = path.split(".")
    at: Any = chunk
    for key in parents:
        at = at[int(key) if key.isdigit() else key]
    if value is ABSENT:
        del at[last]
    else:
        at[last] = copy.deepcopy(value)
    return msgspec.json.encode(chunk)


DELTA = "choices.0.delta"


@pytest.mark.parametrize("chunk_type", ALL)
@pytest.mark.parametrize(
    ("path", "value"),
    [
        (DELTA, {}),
        (f"{DELTA}.role", ABSENT),
        (f"{DELTA}.role", "tool"),
        (f"{DELTA}.content", None),
        (f"{DELTA}.content", ABSENT),
        (f"{DELTA}.tool_calls", ABSENT),
        (f"{DELTA}.tool_calls", []),
        ("choices.0.finish_reason", None),
        ("choices.0.finish_reason", "length"),
        ("choices.0.finish_reason", "tool_calls"),
        ("choices", []),
        ("usage", None),
        ("usage", USAGE),
        ("created", 10**30),
        ("nobody_named_this", {"a": [1]}),
        (f"{DELTA}.reasoning_content", None),
        ("choices.0.stop_reason", None),
    ],
)
def test_what_every_document_allows(chunk_type: type[DocumentedChunk], path: str, value: object) -> None:
    msgspec.json.decode(changed(path, value), type=chunk_type)


@pytest.mark.parametrize("chunk_type", ALL)
@pytest.mark.parametrize(
    ("path", "value"),
    [
        *[(member, ABSENT) for member in ("id", "choices", "created", "model", "object")],
        *[(member, None) for member in ("id", "choices", "created", "model", "object")],
        ("choices.0.index", ABSENT),
        ("choices.0.index", None),
        ("choices.0.delta", ABSENT),
        ("choices.0.delta", None),
        ("id", 1),
        ("created", 1.5),
        ("created", "1750464000"),
        ("object", "chat.completion"),
        ("object", ""),
        (f"{DELTA}.role", None),
        (f"{DELTA}.role", "developer"),
        (f"{DELTA}.content", ["part"]),
        (f"{DELTA}.tool_calls", None),
        (f"{DELTA}.tool_calls", ["no object"]),
        ("choices.0.finish_reason", "content_filter"),
        ("choices.0.finish_reason", ""),
    ],
)
def test_what_every_document_forbids(chunk_type: type[DocumentedChunk], path: str, value: object) -> None:
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(changed(path, value), type=chunk_type)


#: path, value, and the types whose documents allow it.
DIFFERENCES: list[tuple[str, object, set[type[DocumentedChunk]]]] = [
    ("choices.0.finish_reason", ABSENT, {NscaleChunk, CentMLChunk}),
    ("choices.0.logprobs", 5, {NscaleChunk, CentMLChunk}),
    ("choices.0.logprobs", {"content": []}, {NscaleChunk, CentMLChunk, ChutesChunk}),
    (f"{DELTA}.tool_calls", [{}], {NscaleChunk, CentMLChunk}),
    (f"{DELTA}.tool_calls", [{"index": 0, "id": None}], {NscaleChunk, CentMLChunk}),
    (f"{DELTA}.tool_calls", [{"index": 0, "type": "retrieval"}], {NscaleChunk, CentMLChunk}),
    (f"{DELTA}.tool_calls", [{"index": 0, "function": {"arguments": None}}], {NscaleChunk, CentMLChunk}),
    ("usage", {}, {NscaleChunk, CentMLChunk}),
    ("usage", {"prompt_tokens": None}, {CentMLChunk}),
    ("usage", USAGE | {"total_tokens": 1.5}, {CentMLChunk}),
    ("usage", "free", {CentMLChunk}),
]


@pytest.mark.parametrize(("path", "value", "allowed"), DIFFERENCES)
def test_where_the_documents_differ(path: str, value: object, allowed: set[type[DocumentedChunk]]) -> None:
    accepted = set()
    for chunk_type in ALL:
        try:
            msgspec.json.decode(changed(path, value), type=chunk_type)
        except msgspec.ValidationError:
            continue
        accepted.add(chunk_type)
    assert accepted == allowed


def test_an_error_says_where() -> None:
    with pytest.raises(msgspec.ValidationError, match=r"`null` - at `\$\.choices\[0\]\.delta\.role`"):
        msgspec.json.decode(changed(f"{DELTA}.role", None), type=NscaleChunk)


def test_absent_and_null_are_told_apart() -> None:
    absent = msgspec.json.decode(changed("choices.0.finish_reason", ABSENT), type=NscaleChunk)
    null = msgspec.json.decode(changed("choices.0.finish_reason", None), type=NscaleChunk)
    assert absent.choices[0].finish_reason is UNSET
    assert null.choices[0].finish_reason is None
    assert absent.usage is UNSET


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


def test_a_tool_call_of_chutes_is_typed_to_its_end() -> None:
    calls = [{"index": 1, "id": "call_1", "type": "function", "function": {"name": "f", "arguments": "{}"}}]
    chunk = msgspec.json.decode(changed(f"{DELTA}.tool_calls", calls), type=ChutesChunk)
    (call,) = chunk.choices[0].delta.tool_calls or []
    assert call.function is not UNSET
    assert (call.index, call.id, call.type) == (1, "call_1", "function")
    assert (call.function.name, call.function.arguments) == ("f", "{}")
