"""What came instead of a stream: a refused request, or a body without a single event."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from . import _core
from .errors import IncompleteStreamError, NotAStreamError, SSEWireError
from .lenient import first_document, tree_or_none
from .parts import parts_of
from .server_error import api_error, error_in
from .unknown_lines import UnknownLines

# The numbers with which compressed data begins (RFC 1952, 8878, 1950; of the others, their formats' descriptions). A
# client that asked for compression in its own headers, and does not decompress, gets such a body.
_MAGIC: Final = (
    (b"\x1f\x8b", "gzip"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"\x78\x01", "zlib (deflate)"),
    (b"\x78\x5e", "zlib (deflate)"),
    (b"\x78\x9c", "zlib (deflate)"),
    (b"\x78\xda", "zlib (deflate)"),
    (b"BZh", "bzip2"),
    (b"\xfd7zXZ\x00", "xz"),
    (b"\x04\x22\x4d\x18", "lz4"),
)

_HTML: Final = re.compile(rb"<[!a-z]", re.IGNORECASE)
# A comment, or a line of one of the standard's four fields.
_STREAM_LINE: Final = re.compile(rb"(?:data|event|id|retry)?:|(?:data|event|id|retry)(?=[\r\n]|$)")

_BOM: Final = b"\xef\xbb\xbf"

_REDIRECTS: Final = {301, 302, 303, 307, 308}

# So many of the first bytes of a body go with the error.
_FIRST: Final = 65_536


def refused(body: bytes, status: int, headers: Mapping[str, str]) -> SSEWireError:
    """The error for a status that is no success; `body` is the start of what the server said with it."""
    tree = tree_or_none(body)
    said = tree if isinstance(tree, dict) or error_in(tree) else _sent_as_stream(body)
    if said is not None:
        return api_error(said, status=status, headers=headers)
    reason = "the server refused the request"
    if status in _REDIRECTS:
        reason = f"the server sends on to {headers.get('location', 'another address')}: let the client follow redirects"
    elif compression := _compression(body):
        reason += f", and says why in {compression} data: let the client decompress it"
    return NotAStreamError(reason, status=status, headers=headers, body=body[:_FIRST])


def _sent_as_stream(body: bytes) -> Any:
    """Some servers refuse in the form of a stream: what its error says. Here any object that is no chunk is one."""
    decoder: _core.SSEDecoder[_core.ServerSentEvent | _core.IgnoredLine]
    decoder = _core.SSEDecoder(max_event_size=len(body) + 1, ignored_lines=True)
    lines = UnknownLines()
    for item in (*decoder.feed(body), *decoder.finish(deliver=True)):
        if isinstance(item, _core.IgnoredLine):
            said = None if item.comment else lines.error(item.payload, 0)
        else:
            said = _said_in(item)
        if said is not None:
            return said
    return None


def _said_in(event: _core.ServerSentEvent) -> Any:
    tree = tree_or_none(event.payload)
    if tree is None:
        trees = (tree_or_none(part.payload) for part in parts_of(event.payload) or ())
        tree = next(filter(error_in, trees), None)
    if event.event == "error":
        return event.data if tree is None else tree
    return tree if error_in(tree) or (isinstance(tree, dict) and "choices" not in tree) else None


def no_event(
    body: bytes, status: int | None, headers: Mapping[str, str], *, unknown_lines: bool = True
) -> SSEWireError:
    """The error for a body that has no event; `body` is its start. Without unknown lines it may have been a stream."""
    if not unknown_lines and _STREAM_LINE.match(body.removeprefix(_BOM).lstrip(b"\r\n")):
        return IncompleteStreamError("the body ended before its first event")
    tree = tree_or_none(body)
    if (isinstance(tree, dict) and tree.get("detail")) or error_in(tree):
        return api_error(tree, status=status, headers=headers)
    return NotAStreamError(_reason(body, tree), status=status, headers=headers, body=body[:_FIRST])


def _reason(body: bytes, tree: Any) -> str:
    if compression := _compression(body):
        return (
            f"the body is {compression} data, not an event stream: "
            "let the client decompress it, or ask for no compression"
        )
    text = body.removeprefix(_BOM).strip()
    if not text:
        return "the body is empty"
    if _HTML.match(text):
        return "the body is HTML, not an event stream"
    if text.startswith(b"<?xml"):
        return "the body is XML, not an event stream"
    return _json_reason(text, tree) or "the body holds no event"


def _compression(body: bytes) -> str | None:
    return next((name for magic, name in _MAGIC if body.startswith(magic)), None)


def _json_reason(text: bytes, tree: Any) -> str | None:
    if tree is None and text.startswith((b"{", b"[")):
        if (first := first_document(text)) is None:
            # The start of a long one.
            tree = {"choices": None} if b'"choices"' in text else {}
        elif text[len(first) :].lstrip().startswith((b"{", b"[")):
            return "the body is newline-delimited JSON, not an event stream"
        else:
            tree = tree_or_none(first)
    if isinstance(tree, dict) and "choices" in tree:
        return "the body is one whole completion, not an event stream (was stream=true sent?)"
    return None if tree is None else "the body is JSON, not an event stream"
