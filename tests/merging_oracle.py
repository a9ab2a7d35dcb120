"""The slow twin of the accumulator: the completion that chunks merge to, told rule by rule on plain JSON trees.

`merged` takes chunks as `msgspec.to_builtins` gives those of the built-in type, and gives the completion in the same
way: members at their default are left out. Each member is told by a walk over all chunks; nothing is kept between two
calls, and nothing is done to be fast. Everywhere null and "" say nothing.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable
from typing import Any, TypeAlias

Tree: TypeAlias = dict[str, Any]

_COUNTS = ("prompt_tokens", "completion_tokens", "total_tokens")


def merged(chunks: Iterable[Tree]) -> Tree:
    """The completion that these chunks are, in their order."""
    chunks = list(chunks)
    choices = [choice for chunk in chunks for choice in chunk.get("choices") or []]
    indexes = sorted({choice.get("index", 0) for choice in choices})
    usages = [usage for usage in _all(chunks, "usage") if any(usage.get(count) is not None for count in _COUNTS)]
    return {
        "id": _first(chunks, "id"),
        "object": "chat.completion",
        "created": next((chunk["created"] for chunk in chunks if chunk.get("created")), None),
        "model": _first(chunks, "model"),
        "choices": [_choice(index, [one for one in choices if one.get("index", 0) == index]) for index in indexes],
    } | _said(
        usage=usages[-1] if usages else None,
        system_fingerprint=_first(chunks, "system_fingerprint"),
        service_tier=_first(chunks, "service_tier"),
    )


def _says(value: Any) -> bool:
    return value is not None and value != ""


def _all(trees: list[Tree], member: str) -> list[Any]:
    """What a member says, each time that it says something."""
    return [tree[member] for tree in trees if _says(tree.get(member))]


def _first(trees: list[Tree], member: str) -> Any:
    return next(iter(_all(trees, member)), None)


def _joined(trees: list[Tree], member: str) -> str:
    return "".join(_all(trees, member))


def _entries(trees: list[Tree], member: str) -> list[Any]:
    return [entry for entries in _all(trees, member) for entry in entries]


def _said(**members: Any) -> Tree:
    """Those that hold something."""
    return {name: value for name, value in members.items() if value}


def _choice(index: int, choices: list[Tree]) -> Tree:
    finish_reason = None
    for reason in _all(choices, "finish_reason"):
        # `stop` says the least: it replaces none.
        if finish_reason is None or reason != "stop":
            finish_reason = reason
    deltas = _all(choices, "delta")
    message = {
        "role": _first(deltas, "role") or "assistant",
        "content": "".join(_text(delta) for delta in deltas) or None,
    } | _said(
        refusal=_joined(deltas, "refusal"),
        reasoning="".join(_reasoning(delta) for delta in deltas),
        reasoning_details=_details(_entries(deltas, "reasoning_details")),
        tool_calls=_tool_calls(deltas),
        function_call=_function_call(_all(deltas, "function_call")),
        annotations=_entries(deltas, "annotations"),
        audio=_audio(_all(deltas, "audio")),
        images=_entries(deltas, "images"),
    )
    logprobs = _logprobs(_all(choices, "logprobs"))
    return {"index": index, "message": message, "finish_reason": finish_reason} | _said(logprobs=logprobs)


def _text(delta: Tree) -> str:
    content = delta.get("content") or ""
    return content if isinstance(content, str) else _text_of_parts(content, ["text", "output_text"], ["text"])


def _reasoning(delta: Tree) -> str:
    """Servers that send it in several places send the same, so the first place that has some counts."""
    details, content = delta.get("reasoning_details") or [], delta.get("content")
    parts = content if isinstance(content, list) else []
    return (
        delta.get("reasoning_content")
        or delta.get("reasoning")
        or _text_of_parts(details, ["reasoning.text", "reasoning.summary"], ["text", "summary"])
        or _text_of_parts(parts, ["thinking", "reasoning", "reasoning_text"], ["thinking", "text", "summary"])
    )


def _text_of_parts(parts: list[Any], types: list[str], members: list[str]) -> str:
    """The text under the first of the members that holds something, in parts of these types; bare text is a `text`."""
    text = ""
    for part in parts:
        if isinstance(part, str) and "text" in types:
            text += part
        if isinstance(part, dict) and (part.get("type") or "text") in types:
            held = next((part[member] for member in members if part.get(member)), "")
            inner = held if isinstance(held, list) else []
            text += held if isinstance(held, str) else ""
            text += "".join(one["text"] for one in inner if isinstance(one, dict) and isinstance(one.get("text"), str))
    return text


def _tool_calls(deltas: list[Tree]) -> list[Tree]:
    calls: list[Tree] = []
    known: list[Tree] = []  # those with an id, in the order in which they got it
    last: Tree | None = None
    for delta in deltas:
        for place, piece in enumerate(delta.get("tool_calls") or []):
            last = _call_of(piece, calls, known, last, beside_another=place > 0)
            if last is None:
                index = piece.get("index")
                last = {"index": index, "sorted as": len(calls) if index is None else index, "pieces": []}
                calls.append(last)
            last["pieces"].append(piece)
            if _id(last) and all(call is not last for call in known):
                known.append(last)
    calls.sort(key=lambda call: call["sorted as"])
    return [
        {
            "id": _id(call),
            "type": _first(call["pieces"], "type") or "function",
            "function": _function(_functions(call)),
        }
        for call in calls
    ]


def _call_of(
    piece: Tree, calls: list[Tree], known: list[Tree], last: Tree | None, *, beside_another: bool
) -> Tree | None:
    """The call that a piece belongs to; None where it starts one."""
    index, sent_id, name = piece.get("index"), piece.get("id"), (piece.get("function") or {}).get("name")
    same_id = [call for call in known if _id(call) == sent_id and index in (None, call["index"])]
    if same_id:
        return same_id[0]
    if index is not None:
        # The newest under this index. An id is never replaced, and only one that comes with a name starts a call.
        newest = next((call for call in reversed(calls) if call["index"] == index), None)
        if newest is None:
            # The index may come late.
            begun = next((call for call in known if _id(call) == sent_id), None) if sent_id else last
            if begun is None or begun["index"] is not None or (name and not sent_id):
                return None
            begun["index"] = begun["sorted as"] = index
            return begun
        before = _function(_functions(newest))
        is_whole = _id(newest) or (before["name"] and before["arguments"] and before["name"] != name)
        return None if sent_id and name and is_whole else newest
    if sent_id:
        # Name and id may come in different pieces.
        is_only_a_name = last and not _id(last) and not name and not _function(_functions(last))["arguments"]
        return last if is_only_a_name else None
    if last and name:
        before = _function(_functions(last))
        # A name behind arguments is another call's; so is one beside another call, where a server sends calls whole.
        if before["arguments"] or (beside_another and before["name"]):
            return None
    return last


def _id(call: Tree) -> Any:
    return _first(call["pieces"], "id")


def _functions(call: Tree) -> list[Tree]:
    return _all(call["pieces"], "function")


def _function(pieces: list[Tree]) -> Tree:
    name = arguments = ""
    for piece in _all(pieces, "name"):
        # The whole name once more is a repeat.
        name += piece if piece != name else ""
    for piece in _all(pieces, "arguments"):
        written = json.dumps(piece, ensure_ascii=False, separators=(",", ":"))
        # An empty object says nothing beside text.
        arguments += piece if isinstance(piece, str) else written if piece else ""
    is_empty_object = any(piece.get("arguments") == {} for piece in pieces)
    return {"name": name, "arguments": arguments or ("{}" if is_empty_object else "")}


def _function_call(pieces: list[Tree]) -> Tree | None:
    function = _function(pieces)
    return function if any(function.values()) else None


def _details(details: list[Any]) -> list[Any]:
    found: list[Any] = []
    for detail in details:
        if not isinstance(detail, dict):
            found += [detail] if _says(detail) else []
            continue
        said = {member: value for member, value in detail.items() if _says(value)}
        if not said:
            continue
        entry = _entry_of(said, found)
        if entry is None:
            entry = {}
            found.append(entry)
        for member, value in said.items():
            before = entry.get(member)
            joins = member in ("text", "summary", "data") and isinstance(value, str) and isinstance(before, str)
            entry[member] = before + value if joins else value
    return found


def _entry_of(detail: Tree, found: list[Any]) -> Tree | None:
    """The entry that a detail belongs to: the newest of its type and index, unless both have ids and these differ."""
    for entry in reversed(found):
        if not isinstance(entry, dict) or any(entry.get(key) != detail.get(key) for key in ("type", "index")):
            continue
        if "id" not in entry or "id" not in detail or entry["id"] == detail["id"]:
            return entry
    return None


def _audio(pieces: list[Tree]) -> Tree:
    audio: Tree = {}
    for piece in pieces:
        audio |= {member: value for member, value in piece.items() if _says(value)}
    if "id" in audio:
        audio["id"] = _first(pieces, "id")
    if "transcript" in audio:
        audio["transcript"] = _joined(pieces, "transcript")
    if "data" in audio:
        audio["data"] = _joined_base64(_all(pieces, "data"))
    return audio


def _joined_base64(pieces: list[str]) -> str:
    """Bytes in base64, which ends where padding stands: what was padded in between is encoded anew."""
    text = "".join(pieces)
    wholes = re.findall("[^=]*=+|[^=]+", text)
    if len(wholes) == 1 or any(len(whole) % 4 for whole in wholes):
        return text
    try:
        return base64.b64encode(b"".join(base64.b64decode(whole, validate=True) for whole in wholes)).decode()
    except ValueError:
        return text


def _logprobs(all_logprobs: list[Tree]) -> Tree:
    logprobs: Tree = {}
    for sent in all_logprobs:
        for member, value in sent.items():
            if isinstance(value, list) and isinstance(logprobs.get(member), list):
                logprobs[member] = logprobs[member] + value
            elif _says(value):
                logprobs[member] = value
    return logprobs
