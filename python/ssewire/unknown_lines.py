"""Lines that are no field: the standard ignores them, and some servers put their errors there.

`error: {...}` (a field that the standard does not know), or a bare JSON object without `data:`, on one line or spread
over several. Other lines are kept, a few of them, to be quoted where the stream turns out to be cut.
"""

from __future__ import annotations

from typing import Any, Final

from .lenient import first_document, tree_or_none
from .server_error import error_in, glance

# So many bytes of lines in a row are kept; a longer document is no error message.
_KEPT: Final = 65_536

# Each shape of a bare error has this somewhere, as a key or as a value.
_WORD: Final = b'"error"'

# So often a document is tried that may end on this line, but does not: lines without indentation close inner brackets.
_TRIES: Final = 16


class UnknownLines:
    """The unknown lines since the last event."""

    def __init__(self) -> None:
        self._behind = -1
        self._lines = bytearray()
        self._document: bytearray | None = None
        self._tries = 0

    def error(self, line: bytes, behind: int) -> Any:
        """Take a line that came behind so many events; give the JSON value or text of the error that it ends."""
        if self._behind != behind:
            self._behind = behind
            self._lines.clear()
            self._document = None
        name, colon, value = line.partition(b":")
        if colon and name.strip().lower() == b"error":
            return _value_of(value)
        self._keep(line)
        return self._bare(line)

    def kept(self, behind: int) -> bytes:
        """The lines that have come since then, joined by line feeds."""
        return bytes(self._lines) if self._behind == behind else b""

    def _keep(self, line: bytes) -> None:
        if self._lines:
            self._lines += b"\n"
        self._lines += line[-_KEPT:]
        del self._lines[:-_KEPT]

    def _bare(self, line: bytes) -> Any:
        """A document may begin on a line that opens a bracket and end on one that is its closing bracket alone."""
        indented = self._document is None and line.lstrip().startswith((b"{", b"["))
        if indented or line.startswith((b"{", b"[")):
            if (tree := _error_on(line)) is not None:
                return tree
            self._document = bytearray(line)
            self._tries = 0
        elif self._document is not None:
            self._document += b"\n" + line
            if len(self._document) > _KEPT:
                self._document = None
            elif line.startswith((b"}", b"]")):
                return self._ended()
        return None

    def _ended(self) -> Any:
        """Whether the document ends here, and is an error."""
        document = bytes(self._document or b"")
        tree = tree_or_none(document) if _WORD in document else None
        self._tries += 1
        if tree is not None or self._tries == _TRIES:
            self._document = None
        return tree if error_in(tree) else None


def _error_on(line: bytes) -> Any:
    """The error on a line; something else may have got stuck to it, since gateways write theirs without a line end."""
    if _WORD not in line:
        return None
    if (seen := glance(line)) and not seen.is_error:
        return None
    tree = tree_or_none(line if seen else first_document(line[:_KEPT]) or b"")
    return tree if error_in(tree) else None


def _value_of(value: bytes) -> Any:
    """What an error line says; nothing where it is empty or null."""
    tree = tree_or_none(value)
    if tree is None and (text := value.strip()) != b"null":
        return text.decode("utf-8", "replace") or None
    return tree or None
