"""Reads on behind the sentinel to the end of the body, so that the client can use the connection for the next request.

The end comes at once from most servers, and some never send it, so this is bounded in bytes and in time. The answer is
whole by then: whatever goes wrong here costs the connection, which is closed, and nothing else.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from threading import Timer
from time import monotonic
from typing import Any, Final

from .loops import within
from .source import Source

# A new connection takes a few round trips, and more with TLS: waiting longer than this gains nothing.
_SECONDS: Final = 0.5

# Nothing belongs behind the sentinel but the end of the body; what more there is, is cheaper not to read.
_BYTES: Final = 65_536


def drain(source: Source[Iterator[Any]]) -> None:
    """Read the rest of a body, where the reading can be ended: below a response with a connection of its own.

    (Over HTTP/2 the connection is used again either way.)
    """
    if not source.can_interrupt:
        return
    deadline = monotonic() + _SECONDS
    timer = Timer(_SECONDS, source.interrupt)
    timer.daemon = True
    timer.start()
    left = _BYTES
    try:
        with suppress(Exception):  # see the module's first lines
            for read in source.reads:
                left -= len(read) or 1
                if left < 0 or monotonic() > deadline:
                    break
    finally:
        timer.cancel()


async def drained(source: Source[AsyncIterator[Any]]) -> None:
    """Read the rest of a body asynchronously."""

    async def rest() -> None:
        left = _BYTES
        async for read in source.reads:
            # A source that never waits is interrupted by no clock: empty reads must have an end, too.
            left -= len(read) or 1
            if left < 0:
                break

    with suppress(Exception):  # Expired too; see the module's first lines
        await within(_SECONDS, rest)
