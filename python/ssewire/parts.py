"""How the data of one event divides into several, where it is no JSON as a whole.

Some servers forget the blank line between two events, so that several stand in one, a line each; some run the documents
of several together on one line. Parts are given one by one: an event of some megabytes may hold millions of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

import msgspec

from .lenient import DONE, documents, tree_or_none
from .server_error import error_in, glance

_LINE: Final = re.compile(rb"[^\n]+")


class Part(NamedTuple):
    """A part of an event's data, and whether the end of the data may have cut it."""

    payload: bytes
    last: bool


def parts_of(data: bytes) -> Iterator[Part] | None:
    """The parts of data that is no JSON as a whole; None where it has none, being one broken document or no JSON."""
    if b"\n" in data and (holds_events(data) or all(line.startswith(b"{") for line in lines_of(data))):
        return _parts_of_lines(data)
    return _parts_of_line(data, last=False) if _documents_on(data) > 1 else None


def holds_events(data: bytes) -> bool:
    """Whether one of the lines, or of the documents on them, is an event in itself: chunk, error or sentinel."""
    return any(_is_event(part.payload) for line in lines_of(data) for part in _parts_of_line(line, last=False))


def _parts_of_lines(data: bytes) -> Iterator[Part]:
    end = len(data.rstrip())
    for match in _LINE.finditer(data):
        if match[0].strip():
            yield from _parts_of_line(match[0], last=match.end() >= end)


def _parts_of_line(line: bytes, *, last: bool) -> Iterator[Part]:
    """The documents on a line; the line itself where there is one, or a broken one: then none can be trusted."""
    if _documents_on(line) > 1:
        for document in documents(line):
            yield Part(document, last=False)
    else:
        yield Part(line, last)


def _documents_on(line: bytes) -> int:
    try:
        return sum(1 for _ in documents(line))
    except (ValueError, RecursionError):
        return 0


def lines_of(data: bytes) -> Iterator[bytes]:
    """The lines that have something on them, without white space around it."""
    return filter(None, (match[0].strip() for match in _LINE.finditer(data)))


def _is_event(part: bytes) -> bool:
    return part == DONE or (part.startswith((b"{", b"[")) and is_chunk_or_error(part))


def is_chunk_or_error(payload: bytes) -> bool:
    """Whether JSON says by its members that it is a chunk or an error."""
    if seen := glance(payload):
        return seen.is_error or seen.choices is not msgspec.UNSET
    tree = tree_or_none(payload)
    return error_in(tree) is not None or (isinstance(tree, dict) and "choices" in tree)
