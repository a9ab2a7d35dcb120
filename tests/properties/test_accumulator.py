"""Whatever chunks come, their merged answer is, chunk by chunk, what a plain fold after the rules gives."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from ssewire import ChatAccumulator, ChatCompletionChunk, ChoiceDelta, ChunkChoice

# Few and short, so that repeats, blanks and what goes on meet each other.
texts = st.sampled_from([None, "", "a", "b", "ab", "é"])
ids = st.sampled_from([None, "", "1", "2", "3"])
few = st.integers(0, 2)
some_json = st.recursive(
    st.none() | st.booleans() | few | texts,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("xy"), inner, max_size=2),
    max_leaves=3,
)


def objects(**members: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Objects that have any of the members."""
    return st.fixed_dictionaries({}, optional=members)


functions = objects(name=texts, arguments=texts | st.dictionaries(st.sampled_from("xy"), some_json, max_size=2))
calls = objects(
    index=st.none() | few, id=ids, type=st.sampled_from([None, "", "function", "custom"]), function=functions
)
parts = objects(type=st.sampled_from(["text", "thinking", "image"]), text=texts, thinking=texts)
details = objects(
    type=st.sampled_from([None, "", "reasoning.text", "reasoning.encrypted"]),
    index=st.none() | few,
    id=ids,
    text=texts,
    data=texts,
    signature=some_json,
)
deltas = objects(
    role=texts,
    content=texts | st.lists(parts | texts, max_size=2),
    reasoning_content=texts,
    reasoning=texts,
    refusal=texts,
    tool_calls=st.none() | st.lists(calls, max_size=3),
    function_call=st.none() | functions,
    reasoning_details=st.none() | st.lists(details | some_json, max_size=2),
    annotations=st.none() | st.lists(some_json, max_size=2),
    images=st.none() | st.lists(some_json, max_size=2),
    audio=st.none()
    | objects(id=ids, transcript=texts, data=st.sampled_from([None, "", "YQ==", "YWI=", "YWJj", "="]), x=some_json),
)
choices = objects(
    index=few,
    delta=deltas,
    finish_reason=st.sampled_from([None, "", "stop", "length", "tool_calls"]),
    logprobs=st.none()
    | st.dictionaries(st.sampled_from("xy"), some_json | st.lists(some_json, max_size=2), max_size=2),
)
counts = st.none() | few
usages = objects(
    prompt_tokens=counts,
    completion_tokens=counts,
    total_tokens=counts,
    prompt_tokens_details=st.none() | objects(x=some_json),
)
chunks = objects(
    id=ids,
    created=st.none() | few,
    model=texts,
    choices=st.lists(choices, max_size=2),
    usage=st.none() | usages,
    system_fingerprint=texts,
    service_tier=texts,
).map(lambda tree: msgspec.convert(tree, ChatCompletionChunk))


def first(values: Iterable[Any]) -> Any:
    """The first value that says something."""
    return next((value for value in values if value not in (None, "")), None)


def without_none(**members: Any) -> dict[str, Any]:
    return {name: value for name, value in members.items() if value is not None}


def answer_of(chunks: list[ChatCompletionChunk]) -> dict[str, Any]:
    """The completion as plain objects."""
    parts = [choice for chunk in chunks for choice in chunk.choices]
    usages = [chunk.usage for chunk in chunks if chunk.usage]
    counted = [u for u in usages if {u.prompt_tokens, u.completion_tokens, u.total_tokens} != {None}]
    return {
        "id": first(chunk.id for chunk in chunks),
        "object": "chat.completion",
        "created": next((chunk.created for chunk in chunks if chunk.created), None),
        "model": first(chunk.model for chunk in chunks),
        "choices": [
            choice_of(index, [part for part in parts if part.index == index])
            for index in sorted({part.index for part in parts})
        ],
        **without_none(
            usage=msgspec.to_builtins(counted[-1]) if counted else None,
            system_fingerprint=first(chunk.system_fingerprint for chunk in chunks),
            service_tier=first(chunk.service_tier for chunk in chunks),
        ),
    }


def choice_of(index: int, parts: list[ChunkChoice]) -> dict[str, Any]:
    reason = None
    logprobs: dict[str, Any] = {}
    for part in parts:
        if part.finish_reason and (reason is None or part.finish_reason != "stop"):
            reason = part.finish_reason
        for name, value in (part.logprobs or {}).items():
            if isinstance(value, list) and isinstance(logprobs.get(name), list):
                logprobs[name] = logprobs[name] + value
            elif value not in (None, ""):
                logprobs[name] = value
    message = message_of([part.delta for part in parts])
    return {"index": index, "message": message, "finish_reason": reason, **without_none(logprobs=logprobs or None)}


def message_of(deltas: list[ChoiceDelta]) -> dict[str, Any]:
    alone = [ChatCompletionChunk(choices=[ChunkChoice(delta=delta)]) for delta in deltas]
    functions = [delta.function_call for delta in deltas if delta.function_call]
    function = no_function()
    for piece in functions:
        join_function(function, piece)
    lists = {
        name: [entry for delta in deltas for entry in getattr(delta, name) or []] or None
        for name in ("annotations", "images")
    }
    return {
        "role": first(delta.role for delta in deltas) or "assistant",
        "content": "".join(chunk.text for chunk in alone) or None,
        **without_none(
            refusal="".join(delta.refusal or "" for delta in deltas) or None,
            reasoning="".join(chunk.reasoning for chunk in alone) or None,
            reasoning_details=details_of([entry for delta in deltas for entry in delta.reasoning_details or []]),
            tool_calls=calls_of([delta.tool_calls or [] for delta in deltas]),
            function_call=plain(function) if any(function.values()) else None,
            audio=audio_of([delta.audio for delta in deltas if delta.audio]),
            **lists,
        ),
    }


def no_function() -> dict[str, Any]:
    return {"name": "", "arguments": "", "is_object": False}


def plain(function: dict[str, Any]) -> dict[str, Any]:
    """An empty object says nothing beside text, and stands for itself where there is none."""
    nothing = "{}" if function["is_object"] else ""
    return {"name": function["name"], "arguments": function["arguments"] or nothing}


def join_function(function: dict[str, Any], piece: Any) -> None:
    """Join a piece to name and arguments."""
    name, arguments = (piece.name or "", piece.arguments) if piece else ("", "")
    if name != function["name"]:
        function["name"] += name
    if arguments == {}:
        function["is_object"] = True
    elif isinstance(arguments, dict):
        function["arguments"] += json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))
    else:
        function["arguments"] += arguments or ""


def calls_of(lists: list[list[Any]]) -> list[dict[str, Any]] | None:
    """Each call has its index or None, its place in the order, and what it is."""
    calls: list[dict[str, Any]] = []
    named: list[dict[str, Any]] = []
    last: dict[str, Any] | None = None

    def begin(index: int | None) -> dict[str, Any]:
        place = len(calls) if index is None else index
        function = no_function()
        calls.append({"index": index, "place": place, "id": None, "type": None, "function": function})
        return calls[-1]

    def said(call: dict[str, Any] | None, member: str) -> Any:
        return call and plain(call["function"])[member]

    def at_index(piece: Any, name: str | None) -> dict[str, Any]:
        there = [call for call in calls if call["index"] == piece.index]
        known = [call for call in there if piece.id and call["id"] == piece.id]
        if known:
            return known[0]
        if there:
            before = plain(there[-1]["function"])
            is_whole = there[-1]["id"] or (before["name"] and before["arguments"] and before["name"] != name)
            return begin(piece.index) if piece.id and name and is_whole else there[-1]
        with_id = next((call for call in named if call["id"] == piece.id), None)
        begun = with_id if piece.id else None if name else last
        if begun is None or begun["index"] is not None:
            return begin(piece.index)
        begun["index"] = begun["place"] = piece.index
        return begun

    def with_id(piece: Any, name: str | None) -> dict[str, Any]:
        known = [call for call in named if call["id"] == piece.id]
        is_only_a_name = last and not last["id"] and not name and not said(last, "arguments")
        return known[0] if known else last if last and is_only_a_name else begin(None)

    for pieces in lists:
        for at, piece in enumerate(pieces):
            name = piece.function.name if piece.function else None
            if piece.index is not None:
                last = at_index(piece, name)
            elif piece.id:
                last = with_id(piece, name)
            elif not last or (name and (said(last, "arguments") or (at > 0 and said(last, "name")))):
                last = begin(None)
            if piece.id and not last["id"]:
                last["id"] = piece.id
                named.append(last)
            last["type"] = last["type"] or piece.type
            join_function(last["function"], piece.function)
    ordered = sorted(calls, key=lambda call: call["place"])
    return [
        {"id": call["id"], "type": call["type"] or "function", "function": plain(call["function"])} for call in ordered
    ] or None


def join_members(members: dict[str, Any], piece: dict[str, Any], joined: tuple[str, ...]) -> None:
    for name, value in piece.items():
        if name in joined and isinstance(value, str) and isinstance(members.get(name), str):
            members[name] += value
        elif value not in (None, ""):
            members[name] = value


def details_of(entries: list[Any]) -> list[Any] | None:
    merged: list[Any] = []
    for entry in entries:
        if not isinstance(entry, dict):
            merged += [] if entry in (None, "") else [entry]
            continue
        said = {name: value for name, value in entry.items() if value not in (None, "")}
        if not said:
            continue
        alike = [
            known
            for known in merged
            if isinstance(known, dict) and all(known.get(name) == said.get(name) for name in ("type", "index"))
        ]
        if "id" in said:
            alike = [known for known in alike if known.get("id", said["id"]) == said["id"]]
        if not alike:
            merged.append({})
            alike = [merged[-1]]
        join_members(alike[-1], said, ("text", "summary", "data"))
    return merged or None


def audio_of(pieces: list[dict[str, Any]]) -> dict[str, Any] | None:
    audio: dict[str, Any] = {}
    for piece in pieces:
        join_members(audio, {**piece, "id": audio.get("id") or piece.get("id")}, ("transcript", "data"))
    data = [piece["data"] for piece in pieces if piece.get("data")]
    if any(piece.endswith("=") for piece in data[:-1]) and "=" not in data:
        audio["data"] = base64.b64encode(b"".join(map(base64.b64decode, data))).decode()
    return audio or None


@given(st.lists(chunks, max_size=8))
def test_chunk_by_chunk_the_answer_is_the_fold_of_all_before(chunks: list[ChatCompletionChunk]) -> None:
    accumulator = ChatAccumulator()
    results = []
    for count, chunk in enumerate(chunks, start=1):
        accumulator.add(chunk)
        results.append(accumulator.completion())
        assert msgspec.to_builtins(results[-1]) == answer_of(chunks[:count])
    # No chunk has changed an earlier result.
    for count, result in enumerate(results, start=1):
        assert msgspec.to_builtins(result) == answer_of(chunks[:count])


@given(st.lists(chunks, max_size=8))
def test_the_answer_has_all_the_text_of_the_chunks(chunks: list[ChatCompletionChunk]) -> None:
    accumulator = ChatAccumulator()
    text: dict[int, str] = {}
    reasoning: dict[int, str] = {}
    for chunk in chunks:
        accumulator.add(chunk)
        for choice in chunk.choices:
            alone = ChatCompletionChunk(choices=[choice])
            text[choice.index] = text.get(choice.index, "") + alone.text
            reasoning[choice.index] = reasoning.get(choice.index, "") + alone.reasoning
    answer = accumulator.completion()
    assert {choice.index: choice.message.content or "" for choice in answer.choices} == text
    assert {choice.index: choice.message.reasoning or "" for choice in answer.choices} == reasoning
    assert answer.text == "".join(text[index] for index in sorted(text))
    assert answer.reasoning == "".join(reasoning[index] for index in sorted(reasoning))


@given(st.lists(chunks, max_size=4))
def test_a_chunk_as_a_dict_is_the_chunk(chunks: list[ChatCompletionChunk]) -> None:
    typed, plain = ChatAccumulator(), ChatAccumulator()
    for chunk in chunks:
        typed.add(chunk)
        plain.add(msgspec.to_builtins(chunk))
    assert plain.completion() == typed.completion()
