"""A chunk of any type as one of the built-in type, with all of it that can be read.

A dict, a TypedDict, a dataclass or a Struct becomes a tree, and the second decoder fits that to the built-in type. A
member that it refuses is left out alone.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import msgspec

from .lenient import chunk_of, usage_of
from .models import ChatCompletionChunk, ChunkChoice, CompletionUsage
from .trees import copied


def has_choices(chunk: Any) -> bool:
    """Whether an object may be a chunk."""
    return isinstance(chunk, dict) or (hasattr(chunk, "choices") and not isinstance(chunk, type))


def readable(chunk: Any) -> tuple[ChatCompletionChunk, CompletionUsage | None]:
    """The chunk, and the usage that stands in it elsewhere than in its own place.

    Raises:
        TypeError: It is no chunk.
    """
    tree = copied(chunk) if has_choices(chunk) else None
    if not isinstance(tree, dict):
        raise TypeError(
            f"a chunk is a dict, or a Struct or dataclass with a member `choices`, and {type(chunk).__name__!r} is none"
        )
    choices = [choice for choice in _list(tree.get("choices")) if isinstance(choice, dict)]
    copies = (_usage_in(holder) for holder in (tree.get("x_groq"), *choices) if isinstance(holder, dict))
    copy = next(filter(None, copies), None)
    if all("message" not in choice for choice in choices):
        # As most chunks are, whatever their type.
        with suppress(Exception):
            return msgspec.convert(tree, ChatCompletionChunk), copy
    tree = _with_lists(tree)
    choices = [choice for choice in _list(tree.get("choices")) if isinstance(choice, dict)]
    for choice in choices:
        # A whole completion that a gateway sends as one event has a message.
        delta = choice.get("delta") or choice.get("message")
        choice["delta"] = _with_lists(delta) if isinstance(delta, dict) else delta
    return _chunk(tree), copy


def _usage_in(holder: dict[str, Any]) -> CompletionUsage | None:
    return usage_of(holder["usage"]) if holder.get("usage") else None


def readable_choices(choice: Any) -> list[ChunkChoice]:
    """A choice that was made by hand, of any type, as one of the built-in type; none where it is no choice."""
    return _chunk({"choices": [copied(choice)]}).choices


def _chunk(tree: dict[str, Any]) -> ChatCompletionChunk:
    try:
        return chunk_of(tree)
    except Exception:  # a member cannot be read: each is tried alone
        choices = [_choice(choice) for choice in _list(tree.get("choices")) if isinstance(choice, dict)]
        return chunk_of(_kept({**tree, "choices": choices}, dict))


def _choice(choice: dict[str, Any]) -> dict[str, Any]:
    delta = choice.get("delta")
    if isinstance(delta, dict):
        calls = [call for call in _list(delta.get("tool_calls")) if _is_read(_with_delta({"tool_calls": [call]}))]
        choice = {**choice, "delta": _kept({**delta, "tool_calls": calls}, _with_delta)}
    return _kept(choice, lambda members: {"choices": [members]})


def _with_delta(delta: dict[str, Any]) -> dict[str, Any]:
    return {"choices": [{"delta": delta}]}


def _kept(members: dict[str, Any], chunk_with: Callable[[dict[str, Any]], dict[str, Any]]) -> dict[str, Any]:
    """The members that can be read, each in a chunk that has no other."""
    return {name: value for name, value in members.items() if _is_read(chunk_with({name: value}))}


def _is_read(tree: dict[str, Any]) -> bool:
    try:
        chunk_of(tree)
    except Exception:  # of whatever kind, it cannot be read
        return False
    return True


def _with_lists(members: dict[str, Any]) -> dict[str, Any]:
    """The members, where the user's type may have tuples for lists."""
    return {name: list(value) if isinstance(value, tuple) else value for name, value in members.items()}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
