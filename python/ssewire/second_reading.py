"""Reads the data of an event once more that the first decoder refused: what is in it, in the order in which it stands.

JSON with faults goes through the second decoder (`lenient.py`). Data that is no JSON as a whole may be several parts
(`parts.py`). Findings are given one by one, each when it is asked for.
"""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple, TypeAlias

import msgspec

from .lenient import DONE, tree_or_none
from .parts import Part, lines_of, parts_of
from .server_error import Glance, error_in, glance


class Chunk(NamedTuple):
    """A chunk and the bytes it was decoded from; `repaired` unless it is what the first decoder made of an event."""

    payload: bytes
    chunk: Any
    repaired: bool


class ServerError(NamedTuple):
    """An error that the server sent, decoded."""

    said: Any


class Undecodable(NamedTuple):
    """Data that is none of these, and why; `cut` where the end of the event's data may have cut it."""

    payload: bytes
    reason: str
    cut: bool


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
        """What is in the data of an event that the first decoder refused."""
        tree = tree_or_none(payload)
        if tree is None and (parts := self._several(payload)) is not None:
            return parts
        return self._mended(payload, tree, refusal, last=True)

    def chunks(self, payload: bytes, refusal: Exception) -> list[Any]:
        """The chunks among what is in the data of a refused event."""
        return [found.chunk for found in self.refused(payload, refusal) if isinstance(found, Chunk)]

    def several(self, payload: bytes) -> Iterator[Finding] | None:
        """What is in the parts of an event's data; None where it is one thing."""
        # A glance tells of an object that it is whole, without building it.
        is_whole = glance(payload) is not None or tree_or_none(payload) is not None
        return None if is_whole else self._several(payload)

    def _several(self, payload: bytes) -> Iterator[Finding] | None:
        """The same of data that is no JSON as a whole."""
        if self._chunk_of is None or not (parts := parts_of(payload)):
            return None
        return self._parts(parts)

    def suspect(self, payload: bytes) -> Iterable[Finding] | None:
        """A payload that may be an error, or a chunk with one beside its choices; None where it has none."""
        seen = glance(payload)
        if (tree := _error_of(payload, seen)) is not None:
            return self._with_error(payload, tree)
        if seen:
            return None
        if (parts := self.several(payload)) is not None:
            return parts
        try:
            self._decode(payload)
        except Exception:  # refused in any case
            return None
        return [unreadable] if (unreadable := _unreadable(payload)) else None

    def named_error(self, payload: bytes) -> Iterator[Finding]:
        """An event named `error` is one whatever it holds. A blank line forgotten before it may put chunks into it."""
        tree = tree_or_none(payload)
        if tree is not None:
            yield from self._with_error(payload, tree) if error_in(tree) else (ServerError(tree),)
            return
        rest = bytearray()
        for line in lines_of(payload):
            if (seen := glance(line)) and not seen.is_error and seen.choices is not msgspec.UNSET:
                yield from self._part(Part(line, last=False))
            else:
                rest += b"\n" + line
        tree = tree_or_none(bytes(rest))
        yield ServerError(rest.decode("utf-8", "replace").strip() if tree is None else tree)

    def _parts(self, parts: Iterator[Part]) -> Iterator[Finding]:
        for part in parts:
            if part.payload.strip() == DONE:
                yield Done()
                return
            yield from self._part(part)

    def _part(self, part: Part) -> Iterator[Finding]:
        """Read a part of an event's data as if it were an event of its own."""
        payload, last = part
        if payload.strip() == b"null":
            return
        if (tree := _error_of(payload, glance(payload))) is not None:
            yield from self._with_error(payload, tree, shared=True)
            return
        try:
            chunk = self._decode(payload)
        except Exception as error:  # a type of the user's own may raise anything
            yield from self._mended(payload, tree_or_none(payload), error, last=last)
            return
        yield _unreadable(payload) or Chunk(payload, chunk, repaired=True)

    def _mended(self, payload: bytes, tree: Any, refusal: Exception, *, last: bool) -> Iterator[Finding]:
        """What was refused, as the second decoder has read it. What is JSON in spite of all was not cut."""
        if tree is None:
            if payload.strip() != b"null":
                yield Undecodable(payload, _reason(refusal), cut=last)
        elif error_in(tree):
            yield from self._with_error(payload, tree, shared=True)
        else:
            # A number may go on; any other document shows its end.
            may_be_cut = last and isinstance(tree, (int, float))
            yield self._of_tree(payload, tree, refusal, cut=may_be_cut)

    def _with_error(self, payload: bytes, tree: Any, *, shared: bool = False) -> Iterator[Finding]:
        """An error, behind the chunk that it stands beside. It need not be a chunk, so that none is no fault."""
        before: Iterable[Chunk | Undecodable] = ()
        if isinstance(tree, list):
            # In an array the chunks before the error; as payloads they have to be written again.
            items = itertools.takewhile(lambda item: not error_in(item), tree)
            chunks = (item for item in items if _has_choices(item))
            before = (self._of_tree(json.dumps(item).encode(), item, ValueError()) for item in chunks)
        elif _has_choices(tree):
            try:
                before = (Chunk(payload, self._decode(payload), repaired=shared),)
            except Exception as error:  # see above
                before = (self._of_tree(payload, tree, error),)
        yield from (found for found in before if isinstance(found, Chunk))
        yield ServerError(tree)

    def _of_tree(self, payload: bytes, tree: Any, refusal: Exception, *, cut: bool = False) -> Chunk | Undecodable:
        if self._chunk_of is None or (self._own_type and _is_of_another_type(refusal)):
            return Undecodable(payload, _reason(refusal), cut)
        try:
            return Chunk(payload, self._chunk_of(tree), repaired=True)
        except Exception as error:  # see above
            return Undecodable(payload, _reason(error), cut)


def _has_choices(tree: Any) -> bool:
    return isinstance(tree, dict) and isinstance(tree.get("choices"), list)


def _error_of(payload: bytes, seen: Glance | None) -> Any:
    """A payload that is an error, or has one, decoded; None for any other. `seen` is what a glance at it has shown."""
    if seen and not seen.is_error:
        return None
    tree = tree_or_none(payload)
    if tree is None and seen:
        # No decoder reads all of it, but what was looked for is there.
        return seen.members
    return tree if error_in(tree) else None


def _unreadable(payload: bytes) -> Undecodable | None:
    """What may be an error, and is read by nobody but a chunk type that skips the member, is no chunk."""
    if b'"error"' not in payload or glance(payload) or tree_or_none(payload) is not None:
        return None
    return Undecodable(payload, "what it says of an error cannot be decoded", cut=False)


def _reason(refusal: Exception) -> str:
    """What the decoder said. It names no path where the payload itself is not of the type, which is the path `$`."""
    at_root = isinstance(refusal, msgspec.ValidationError) and " - at `" not in str(refusal)
    return f"{refusal} - at `$`" if at_root else str(refusal)


def _is_of_another_type(refusal: Exception) -> bool:
    # A number that msgspec cannot hold is told of in the same way, but it is no fault of the type.
    return isinstance(refusal, msgspec.ValidationError) and "out of range" not in str(refusal)
