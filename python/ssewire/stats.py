"""What a stream has counted and timed so far."""

from __future__ import annotations

from msgspec import Struct


class StreamStats(Struct, frozen=True, kw_only=True, gc=False):
    """Counts and times of one stream, as they were when it was asked for them.

    Times are in seconds, and each counts from the read that brought it: what came in one read came at once, and what is
    in memory (`bytes`, a list) comes at no time. Text is the answer's; reasoning is none. `iter_payloads` decodes
    nothing, so that no text is seen there.
    """

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
    time_to_first_byte: float | None
    """From the making of the stream, which has a response already, to the first byte of the body."""
    time_to_first_text: float | None
    """From the making of the stream to the first text."""
    text_gaps: int
    """How often text came after earlier text: one less than reads with text."""
    mean_text_gap: float | None
    """Mean time between two reads with text."""
    longest_text_gap: float | None
    """The longest of these."""
