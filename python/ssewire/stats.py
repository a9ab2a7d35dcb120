"""What a stream has counted so far."""

from __future__ import annotations

from msgspec import Struct


class StreamStats(Struct, frozen=True, kw_only=True, gc=False):
    """Counts of one stream, as they were when it was asked for them."""

    bytes: int
    """Bytes read, as the source handed them out."""
    events: int
    """Events with data, whatever came of them: chunks, errors, the sentinel."""
    chunks: int
    """Chunks handed out."""
    comments: int
    """Comment lines, which servers send to keep a connection alive."""
    skipped_events: int
    """Events with a name that is neither an error's nor a chunk's."""
    repaired: int
    """Chunks that only the second, lenient decoder could read, or that shared an event with others."""
    decode_errors: int
    """Events, or parts of one, that are no chunk; raised or not."""
