"""How long a stream waits for its next event.

What counts is the time spent waiting for reads since the last event, comments not counted as events: a server that
sends nothing but keep-alives is idle, and a reader that takes its time is not mistaken for one. (So a limit cannot be
left to the timeout of the HTTP client, which every keep-alive starts anew.)

A synchronous read cannot be interrupted, so there the time is looked at when a read returns; an asynchronous one is.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator
from functools import partial
from time import monotonic
from typing import Any

from .errors import StreamIdleError
from .loops import Expired, within


class Patience:
    """What is left of it, in seconds, before the first event and between two."""

    def __init__(
        self, first: float | None, between: float | None, counted: Callable[[], tuple[int, int | None]]
    ) -> None:
        """`counted` gives the events and the comments that came so far, where comments are counted."""
        for name, limit in (("first_event_timeout", first), ("idle_timeout", between)):
            if limit is not None and not _is_limit(limit):
                raise ValueError(f"{name} is a number of seconds above 0, not {limit!r:.40}")
        self._first = first
        self._between = between
        self._counted = counted
        self._events = 0
        self._waited = 0.0

    def left(self) -> float | None:
        """So many seconds the next event may take; None for any number.

        Raises:
            StreamIdleError: There are none left.
        """
        limit = self._limit()
        if limit is not None and self._waited >= limit:
            raise self.lost()
        return None if limit is None else limit - self._waited

    def waited(self, since: float) -> None:
        """A read has returned, which began at that time."""
        self._waited += monotonic() - since

    def _limit(self) -> float | None:
        if (events := self._counted()[0]) != self._events:
            self._events = events
            self._waited = 0.0
        return self._first if self._is_first else self._between

    @property
    def _is_first(self) -> bool:
        return not self._events and self._first is not None

    def lost(self) -> StreamIdleError:
        """The error for a wait that took too long."""
        return StreamIdleError(
            self._limit() or 0.0,
            waited=self._waited,
            events=self._events,
            comments=self._counted()[1],
            option="first_event_timeout" if self._is_first else "idle_timeout",
        )


def patience(
    first: float | None, between: float | None, counted: Callable[[], tuple[int, int | None]]
) -> Patience | None:
    """The patience that was asked for, if any was; see `Patience`."""
    return None if first is None and between is None else Patience(first, between, counted)


def watched(reads: Iterator[Any], patience: Patience | None) -> Iterator[Any]:
    """The reads, waited for with patience where any was asked for."""
    return Watched(reads, patience) if patience else reads


def watched_async(reads: AsyncIterator[Any], patience: Patience | None) -> AsyncIterator[Any]:
    """The same for reads that are awaited."""
    return AsyncWatched(reads, patience) if patience else reads


class Watched(Iterator[Any]):
    """Reads that are waited for with patience."""

    def __init__(self, reads: Iterator[Any], patience: Patience) -> None:
        self._reads = reads
        self._patience = patience

    def __next__(self) -> Any:
        self._patience.left()
        begun = monotonic()
        try:
            return next(self._reads)
        finally:
            self._patience.waited(begun)


class AsyncWatched(AsyncIterator[Any]):
    """The same for reads that are awaited."""

    def __init__(self, reads: AsyncIterator[Any], patience: Patience) -> None:
        self._reads = reads
        self._patience = patience

    async def __anext__(self) -> Any:
        left = self._patience.left()
        begun = monotonic()
        try:
            if left is None:
                return await anext(self._reads)
            return await within(left, partial(anext, self._reads))
        except Expired:
            pass
        finally:
            self._patience.waited(begun)
        raise self._patience.lost()


def _is_limit(limit: Any) -> bool:
    try:
        return float(limit) > 0
    except (TypeError, ValueError, OverflowError):
        return False
