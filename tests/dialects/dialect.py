"""What a dialect is, and what writing chunks has in common in all of them.

A dialect is a function: it divides an answer with `plan`, and writes each part as the provider does, member by member
in the provider's order. It gives pairs of what a chunk says and the chunk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any, Final, TypeAlias

from .answer import Answer, Counts
from .expected import Chunk, Part, Said
from .wire import Wire

Spoken: TypeAlias = Iterator[tuple[Said, Chunk]]
Speak: TypeAlias = Callable[[Answer, Random], Spoken]

CREATED: Final = 1_770_000_000
OBJECT: Final = "chat.completion.chunk"


@dataclass(frozen=True)
class Dialect:
    """A group of providers that write alike."""

    name: str
    speak: Speak
    kinds: frozenset[str]
    """The kinds of answer that it has words for."""
    wire: Wire
    """How its events are written as a rule."""
    sentinel: bool
    """Whether it sends one."""
    faults: tuple[str, ...]
    """The shapes of its errors, where they are known."""


def dialect(
    name: str,
    *kinds: str,
    wire: Wire | None = None,
    sentinel: bool = True,
    faults: tuple[str, ...] = ("event",),
) -> Callable[[Speak], Dialect]:
    """Make a function a dialect; every one has text that ends in two ways, and the answer that says nothing."""

    def make(speak: Speak) -> Dialect:
        spoken = frozenset({"text", "length", "empty", *kinds})
        return Dialect(name, speak, spoken, wire or Wire("own"), sentinel, faults)

    return make


def digits(random: Random, count: int = 32) -> str:
    """So many hexadecimal digits."""
    return f"{random.getrandbits(4 * count):0{count}x}"


def uuid(random: Random) -> str:
    text = digits(random)
    return "-".join((text[:8], text[8:12], text[12:16], text[16:20], text[20:]))


def counts(usage: Counts | None, **more: Any) -> Chunk | None:
    """Usage as an object; null where there is none."""
    if usage is None:
        return None
    return {
        "prompt_tokens": usage.prompt,
        "completion_tokens": usage.completion,
        "total_tokens": usage.total,
        **more,
    }


def calls(part: Part) -> Chunk:
    """The member `tool_calls`, where this part has some."""
    return {"tool_calls": [piece.sent for piece in part.calls]} if part.calls else {}


def role(part: Part) -> Chunk:
    """The member `role`, where this part has one."""
    return {"role": part.role} if part.role else {}


def finish(part: Part) -> Chunk:
    """The member `finish_reason`, which many leave out until there is one."""
    return {"finish_reason": part.finish_reason} if part.finish_reason else {}


def silent(part: Part) -> bool:
    """Whether a part only ends its choice."""
    return part.finish_reason is not None and not (part.text or part.reasoning or part.calls)


def sorted_keys(value: Any) -> Any:
    """The same with all keys in alphabetical order, as some servers send it."""
    if isinstance(value, dict):
        return {key: sorted_keys(value[key]) for key in sorted(value)}
    return [sorted_keys(item) for item in value] if isinstance(value, list) else value
