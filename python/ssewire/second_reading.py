"""Reads the data of an event once more that the first decoder refused: what is in it, in the order in which it stands.

JSON with faults goes through the second decoder (`lenient.py`). Data that is no JSON as a whole may be several lines
(some servers forget the blank line between two events) or several documents on one line. Findings are given one by one:
an event of some megabytes may hold millions of them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec

from .lenient import DONE, documents, tree_of, tree_or_none
from .server_error import error_in, glance

_LINE: Final = re.compile(rb"[^\n]+")


class Chunk(NamedTuple):
    """A chunk and the bytes it was decoded from; `repaired` unless it is what the first decoder made of an event."""

    payload: bytes
    chunk: Any
    repaired: bool


class ServerError(NamedTuple):
    """An error that the server sent, decoded."""

    said: Any


class Undecodable(NamedTuple):
    """Data that is none of these, and why; `last` where it reaches to the end of the event's data."""

    payload: bytes
    reason: str
    last: bool


class Done(NamedTuple):
    """The sentinel; nothing is found behind it."""


Finding: TypeAlias = Chunk | ServerError | Undecodable | Done


class SecondReading:
    """How the payloads of one type of chunk are read when the first decoder has refused them.

    `decode` is that decoder. `chunk_of` makes a chunk of a tree of objects, or raises; without it nothing is read
    twice. With `own_type` a payload that is JSON, and only not of this type, is left refused.
    """

    def __init__(
        self, decode: Callable[[bytes], Any], chunk_of: Callable[[Any], Any] | None, *, own_type: bool = False
    ) -> None:
        self._decode = decode
        self._chunk_of = chunk_of
        self._own_type = own_type

    def refused(self, payload: bytes, refusal: Exception) -> Iterator[Finding]:
        """What is in the data of an event that was refused."""
        if payload.strip() == b"null":
            return iter(())
        if self._chunk_of is None:
            return iter((Undecodable(payload, _reason(refusal), last=True),))
        return _until_done(self._again(payload, refusal, last=True, lines=True))

    def several(self, payload: bytes) -> Iterator[Finding] | None:
        """What is in the lines of an event's data; None where they belong together."""
        if self._chunk_of is None or tree_or_none(payload) is not None or not _are_events(payload):
            return None
        return _until_done(self._lines(payload))

    def with_error(self, payload: bytes) -> list[Finding] | None:
        """A payload that is an error, or a chunk that has one beside its choices; None where it has none."""
        if (seen := glance(payload)) and not seen.is_error:
            return None
        if not error_in(tree := tree_or_none(payload)):
            return None
        return [*self._chunk_beside(payload, tree), ServerError(tree)]

    def _chunk_beside(self, payload: bytes, tree: Any) -> Iterator[Chunk]:
        """The chunk beside an error. An error need not be a chunk, so that none is no fault."""
        if not isinstance(tree, dict) or not isinstance(tree.get("choices"), list):
            return
        try:
            yield Chunk(payload, self._decode(payload), repaired=False)
        except Exception:
            if self._chunk_of is not None and not self._own_type:
                found = next(self._of_tree(payload, tree, ValueError(), last=True))
                if isinstance(found, Chunk):
                    yield found

    def _again(self, payload: bytes, refusal: Exception, *, last: bool, lines: bool) -> Iterator[Finding]:
        try:
            tree = tree_of(payload)
        except (ValueError, RecursionError):
            if lines and _are_events(payload):
                yield from self._lines(payload)
            elif _are_documents(payload):
                yield from self._documents(payload)
            else:
                yield Undecodable(payload, _reason(refusal), last)
            return
        if error_in(tree):
            yield from self._chunk_beside(payload, tree)
            yield ServerError(tree)
        elif tree is not None:
            yield from self._of_tree(payload, tree, refusal, last=last)

    def _of_tree(self, payload: bytes, tree: Any, refusal: Exception, *, last: bool) -> Iterator[Finding]:
        if self._chunk_of is None or (self._own_type and _is_of_another_type(refusal)):
            yield Undecodable(payload, _reason(refusal), last)
            return
        try:
            yield Chunk(payload, self._chunk_of(tree), repaired=True)
        except Exception as error:  # a type of the user's own may raise anything
            yield Undecodable(payload, _reason(error), last)

    def _lines(self, payload: bytes) -> Iterator[Finding]:
        for match in _LINE.finditer(payload):
            if (line := match[0]).strip() == DONE:
                yield Done()
            elif line.strip():
                yield from self._one(line, last=not payload[match.end() :].strip())

    def _documents(self, payload: bytes) -> Iterator[Finding]:
        for document in documents(payload):
            if document == DONE:
                yield Done()
            else:
                yield from self._one(document, last=False)

    def _one(self, payload: bytes, *, last: bool) -> Iterator[Finding]:
        """Read a part of an event's data as if it were an event of its own."""
        if found := self.with_error(payload):
            yield from found
            return
        try:
            yield Chunk(payload, self._decode(payload), repaired=True)
        except Exception as error:  # see above
            yield from self._again(payload, error, last=last, lines=False)


def _until_done(findings: Iterator[Finding]) -> Iterator[Finding]:
    for found in findings:
        yield found
        if isinstance(found, Done):
            return


def _reason(refusal: Exception) -> str:
    """What the decoder said. It names no path where the payload itself is not of the type, which is the path `$`."""
    at_root = isinstance(refusal, msgspec.ValidationError) and " - at `" not in str(refusal)
    return f"{refusal} - at `$`" if at_root else str(refusal)


def _is_of_another_type(refusal: Exception) -> bool:
    # A number that msgspec cannot hold is told of in the same way, but it is no fault of the type.
    return isinstance(refusal, msgspec.ValidationError) and "out of range" not in str(refusal)


def _are_events(payload: bytes) -> bool:
    """Whether lines count as events: one is an event in itself, or all begin as one. Those of one object do not."""
    if b"\n" not in payload:
        return False
    return any(map(_is_event, _lines(payload))) or all(line.startswith(b"{") for line in _lines(payload))


def _lines(payload: bytes) -> Iterator[bytes]:
    return filter(None, (match[0].strip() for match in _LINE.finditer(payload)))


def _is_event(line: bytes) -> bool:
    if line == DONE:
        return True
    if not line.startswith((b"{", b"[")):
        return False
    tree = tree_or_none(line)
    return error_in(tree) is not None or (isinstance(tree, dict) and "choices" in tree)


def _are_documents(payload: bytes) -> bool:
    """Whether the data is some JSON documents and nothing else. With a broken one among them, none can be trusted."""
    try:
        return sum(1 for _ in documents(payload)) > 0
    except (ValueError, RecursionError):
        return False
