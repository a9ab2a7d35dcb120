"""Streams of chunks that are recognised, one event a read, for the tests of what chunks share with one another."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec

from ssewire import ChatStream
from tests.unit.making import DONE, sse

# So many events: templates are learned from the first few.
EVENTS: Final = 60


def _text(number: int) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"content": f"word {number}"}, "finish_reason": None}]}


def _counted(number: int) -> dict[str, Any]:
    details = {"cached": number, "by": ["a", {"b": f"{number}"}]}
    usage = {"total_tokens": number, "prompt_tokens": 3, "prompt_tokens_details": details}
    return {**_text(number), "usage": usage, "id": "c", "created": 5.5}


def _calling(number: int) -> dict[str, Any]:
    calls = [{"index": place, "function": {"arguments": f"{number}.{place}"}} for place in range(2)]
    return {
        "choices": [
            {"index": 0, "delta": {"content": "a", "tool_calls": calls}, "logprobs": {"content": [{"token": "t"}]}}
        ]
    }


def _in_parts(number: int) -> dict[str, Any]:
    parts = [{"type": "text", "text": f"word {number}", "more": {}}, "and", [number, []]]
    return {"choices": [{"delta": {"content": parts, "images": [], "audio": {"id": "a"}}}]}


def _several(number: int) -> dict[str, Any]:
    return {"choices": [{"index": place, "delta": {"content": f"{number}.{place}"}} for place in range(3)]}


KINDS: Final[dict[str, Callable[[int], dict[str, Any]]]] = {
    "text": _text,
    "counted": _counted,
    "calling": _calling,
    "in parts": _in_parts,
    "several": _several,
}


def reads_of(kind: str, events: int = EVENTS) -> list[bytes]:
    """A stream of chunks of one kind."""
    return [*(sse(KINDS[kind](number)) for number in range(events)), DONE]


def alike(kind: str, *, accelerate: bool = True, events: int = EVENTS, **options: Any) -> ChatStream[Any]:
    """The same, opened."""
    return ChatStream(iter(reads_of(kind, events)), accelerate=accelerate, **options)


def are_recognised(stream: ChatStream[Any], *, events: int = EVENTS) -> bool:
    """Whether all chunks but those from which is learned were recognised."""
    return stream._decoder.recognised >= events - 6


def written(value: Any) -> str:
    """What an object is, down to its members; one that was deleted is told."""
    if isinstance(value, msgspec.Struct):
        members = (f"{name}={written(getattr(value, name, '(deleted)'))}" for name in value.__struct_fields__)
        return f"{type(value).__name__}({', '.join(members)})"
    if isinstance(value, (list, tuple)):
        return f"{type(value).__name__}({', '.join(map(written, value))})"
    if isinstance(value, dict):
        return f"dict({', '.join(f'{key!r}: {written(item)}' for key, item in value.items())})"
    return repr(value)


def mutable_parts(value: Any) -> Iterator[Any]:
    """A chunk, and all in it that can be changed; what is inside comes first."""
    if isinstance(value, msgspec.Struct):
        for name in value.__struct_fields__:
            yield from mutable_parts(getattr(value, name))
        yield value
    elif isinstance(value, (list, dict)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from mutable_parts(item)
        yield value
