"""What a reader must make of a stream: known from what was said and how it ended, never read from the bytes.

The rules for usage, finish reasons and the state of a stream without the sentinel are written here once more, over
what was said, as the sentences of the documentation have them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate
from typing import Any, TypeAlias

from .answer import Counts

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
