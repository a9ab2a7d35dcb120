"""What a reader must make of a stream: known from what was said and how it ended, never read from the bytes.

The rules for usage, finish reasons and the state of a stream without the sentinel are written here once more, over
what was said, as the sentences of the documentation have them.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import Any, TypeAlias

from .answer import Call, Counts

Chunk: TypeAlias = dict[str, Any]
Arguments: TypeAlias = str | dict[str, Any] | None


@dataclass(frozen=True)
class Piece:
    """A piece of a tool call as the reader sees it, and as it was sent."""

    index: int | None
    id: str | None
    name: str | None
    arguments: Arguments
    sent: Chunk = field(default_factory=dict, compare=False, repr=False)
    call: Call | None = field(default=None, compare=False, repr=False)
    """The whole call. Servers without index and id leave it to the reader to find out; here it is known."""


@dataclass(frozen=True)
class Part:
    """What one choice of one chunk says."""

    index: int = 0
    role: str | None = None
    text: str = ""
    reasoning: str = ""
    refusal: str | None = None
    calls: tuple[Piece, ...] = ()
    function: tuple[str | None, Arguments] | None = None
    """Name and arguments of the call that is no tool call."""
    finish_reason: str | None = None


@dataclass(frozen=True)
class Said:
    """What one chunk says."""

    parts: tuple[Part, ...] = ()
    usage: Counts | None = None
    elsewhere: Counts | None = field(default=None, compare=False)
    """A copy of the usage that does not stand at the top of the chunk: seen in the usage of the stream alone."""

    @property
    def text(self) -> str:
        return "".join(part.text for part in self.parts)

    @property
    def reasoning(self) -> str:
        return "".join(part.reasoning for part in self.parts)


@dataclass(frozen=True)
class Problem:
    """An error of the server, as the reader sees it."""

    message: str
    type: str | None
    code: str | int | None
    param: str | None
    body: Any


@dataclass(frozen=True)
class MergedCall:
    """A call with all that was said of it."""

    id: str | None
    name: str
    arguments: str


@dataclass(frozen=True)
class MergedChoice:
    """What one choice has said in all its chunks; None where it said nothing of the kind."""

    content: str | None = None
    reasoning: str | None = None
    refusal: str | None = None
    calls: tuple[MergedCall, ...] = ()
    function: MergedCall | None = None
    finish_reason: str | None = None


@dataclass(frozen=True)
class Merged:
    """The whole answer, as far as it came."""

    choices: dict[int, MergedChoice]
    usage: Counts | None


@dataclass(frozen=True)
class Expected:
    """All that is known of a stream."""

    items: tuple[Said | Problem, ...]
    """Chunks and errors in their order."""
    chunks: tuple[Chunk, ...]
    """The chunks as they were before they were written as JSON."""
    done: bool = False
    """Whether the sentinel is read."""
    torn: bytes | None = None
    """The payload that the end of the body cut."""
    stray: bytes | None = None
    """A line of no meaning behind the last event."""
    payloads: tuple[bytes, ...] = ()
    """The payload of each chunk, whether or not it has an event of its own."""
    events: int = 0
    """Events with data, the sentinel and the one that the end of the body cuts among them."""
    comments: int = 0
    skipped_events: int = 0
    last_event_id: str | None = None
    """None where the last event is unfinished."""
    retry: int | None = None

    @cached_property
    def said(self) -> tuple[Said, ...]:
        return tuple(item for item in self.items if isinstance(item, Said))

    @cached_property
    def text(self) -> dict[int, str]:
        """The text of each choice that has some, by its index."""
        found: dict[int, str] = {}
        for part in self._parts:
            if part.text:
                found[part.index] = found.get(part.index, "") + part.text
        return found

    @cached_property
    def finish_reasons(self) -> dict[int, str]:
        return {part.index: part.finish_reason for part in self._parts if part.finish_reason}

    @cached_property
    def usages(self) -> list[Counts | None]:
        """Behind each chunk the last one that has a count at the top of a chunk; without any, the last copy."""
        top = list(accumulate((_counted(said.usage) for said in self.said), _last))
        copies = list(accumulate((said.elsewhere for said in self.said), _last))
        return list(map(_last, copies, top))

    @property
    def usage(self) -> Counts | None:
        return self.usages[-1] if self.usages else None

    @cached_property
    def merged(self) -> Merged:
        """What the chunks say together, whatever stands between them."""
        parts: dict[int, list[Part]] = {}
        for part in self._parts:
            parts.setdefault(part.index, []).append(part)
        return Merged({index: _merged(parts[index]) for index in sorted(parts)}, self.usage)

    @cached_property
    def state(self) -> str:
        if len(self.said) < len(self.items):
            return "error"
        if self.done:
            return "done"
        if self.torn is not None:
            return "incomplete"
        seen = Counter(index for said in self.said for index in {part.index for part in said.parts})
        open_choices = {index for index, chunks in seen.items() if chunks > 1} - self.finish_reasons.keys()
        return "finished" if self.finish_reasons and not open_choices else "incomplete"

    @property
    def _parts(self) -> list[Part]:
        return [part for said in self.said for part in said.parts]


def _merged(parts: list[Part]) -> MergedChoice:
    pieces = [piece for part in parts for piece in part.calls]
    # In the order in which they began, which is the answer's.
    calls = dict.fromkeys(piece.call for piece in pieces)
    functions = [part.function for part in parts if part.function]
    return MergedChoice(
        content=_joined(part.text for part in parts),
        reasoning=_joined(part.reasoning for part in parts),
        refusal=_joined(part.refusal for part in parts),
        calls=tuple(_merged_call([piece for piece in pieces if piece.call is call]) for call in calls),
        function=_merged_function(functions) if functions else None,
        finish_reason=next((part.finish_reason for part in reversed(parts) if part.finish_reason), None),
    )


def _merged_call(pieces: list[Piece]) -> MergedCall:
    call = pieces[0].call
    assert call is not None
    # No dialect cuts a name or an id, and some never send an id.
    call_id = call.id if any(piece.id for piece in pieces) else None
    name = call.name if any(piece.name for piece in pieces) else ""
    return MergedCall(call_id, name, _text(piece.arguments for piece in pieces))


def _merged_function(pieces: list[tuple[str | None, Arguments]]) -> MergedCall:
    name = next((name for name, _ in pieces if name), "")
    return MergedCall(None, name, _text(arguments for _, arguments in pieces))


def _joined(texts: Iterable[str | None]) -> str | None:
    return "".join(filter(None, texts)) or None


def _text(arguments: Iterable[Arguments]) -> str:
    """Arguments as text; an object stands for the JSON that it is."""
    written = (
        json.dumps(one, ensure_ascii=False, separators=(",", ":")) if isinstance(one, dict) else one
        for one in arguments
    )
    return _joined(written) or ""


def _counted(usage: Counts | None) -> Counts | None:
    return None if usage == Counts(None, None, None) else usage


def _last(before: Counts | None, behind: Counts | None) -> Counts | None:
    return behind or before


@dataclass(frozen=True)
class Recording:
    """A body, and what is right to read from it."""

    name: str
    body: bytes
    expected: Expected
