"""`EventStream` and `AsyncEventStream`: plain Server-Sent Events over the body of any HTTP client."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any, Generic, Literal, TypedDict, Unpack, overload
from weakref import proxy

from . import _core
from ._core import IgnoredLine, ServerSentEvent
from .closing import AsyncClosing, Closing
from .decode import DEFAULT_MAX_EVENT_SIZE, EventT
from .idle import patience, watched, watched_async
from .opening import open_async, open_sync
from .pull import AsyncPull, pull_from
from .state import State, StreamState


class EventFollower(StreamState):
    """The state of one stream of events."""

    def unusual(self, kind: str, error: BaseException | None) -> BaseException | None:
        """Called by the compiled decoder when a stream that it pulls is over; gives an exception to raise instead."""
        if kind == "failed" and error is not None:
            return self.failed(error)
        if kind == "end":
            return self.ended("finished")
        self.end("error")
        return None


class EventOptions(TypedDict, total=False):
    """What a stream of events may be told beside its source."""

    max_event_size: int
    """Most bytes of data in one event; an event beyond it is an EventTooLargeError."""
    idle_timeout: float | None
    """Most seconds to wait for an event; then StreamIdleError. Comments are no events."""
    first_event_timeout: float | None
    """The same for the first event, which may take longer; without it `idle_timeout` counts there too."""


class _Events(Generic[EventT]):
    """What both kinds of event stream have in common."""

    # What is wrong with the arguments is found before the source is touched.
    def __init__(
        self,
        *,
        ignored_lines: bool = False,
        max_event_size: int = DEFAULT_MAX_EVENT_SIZE,
        idle_timeout: float | None = None,
        first_event_timeout: float | None = None,
    ) -> None:
        self._follower = EventFollower()
        self._decoder: _core.SSEDecoder[EventT] = _core.SSEDecoder(
            max_event_size=max_event_size, ignored_lines=ignored_lines, unusual=self._follower.unusual
        )
        decoder = proxy(self._decoder)
        self._follower.had_come = lambda: (decoder.events, "event")
        self._patience = patience(first_event_timeout, idle_timeout, lambda: (decoder.events, None))

    @property
    def state(self) -> State:
        """How the stream stands.

        `open`; `finished` (the body has ended); `incomplete` (reading it failed); `error`; `closed` (by the reader).
        """
        return self._follower.state

    @property
    def last_event_id(self) -> str:
        """The last event id that the stream has sent; "" when it has sent none."""
        return self._decoder.last_event_id

    @property
    def retry(self) -> int | None:
        """The reconnection time that the stream has sent last, in milliseconds."""
        return self._decoder.retry


class EventStream(_Events[EventT], Closing):
    """Iterate over the events of a stream, after the HTML standard, section 9.2.

        for event in EventStream(response):
            print(event.event, event.data)

    `source` is whatever `ChatStream` takes. An event that the end of the body cuts is dropped, as the standard says.
    With `ignored_lines=True` comments and lines of unknown fields come too, as `IgnoredLine`. Raises APIError
    or NotAStreamError where the status is no success, EventTooLargeError; errors of the HTTP client pass through.
    """

    @overload
    def __init__(
        self: EventStream[ServerSentEvent],
        source: Any,
        *,
        ignored_lines: Literal[False] = False,
        **options: Unpack[EventOptions],
    ) -> None: ...
    @overload
    def __init__(
        self: EventStream[ServerSentEvent | IgnoredLine],
        source: Any,
        *,
        ignored_lines: bool,
        **options: Unpack[EventOptions],
    ) -> None: ...
    def __init__(self, source: Any, *, ignored_lines: bool = False, **options: Unpack[EventOptions]) -> None:
        super().__init__(ignored_lines=ignored_lines, **options)
        opened = self._follower.source = open_sync(source)
        reads = watched(opened.reads, self._patience)
        pull_from(self._decoder, opened, reads, self._follower.refusal)

    def __iter__(self) -> Iterator[EventT]:
        """Give the events; a further iterator goes on where the last one stopped."""
        return self._decoder

    def __next__(self) -> EventT:
        """Give the next event."""
        return next(self._decoder)

    def close(self) -> None:
        """Close the response and end the stream; from any thread, without waiting for one that is reading."""
        self._follower.close(self._decoder.close)


class AsyncEventStream(_Events[EventT], AsyncClosing):
    """Iterate asynchronously over the events of a stream; the same as `EventStream`, for asynchronous sources."""

    @overload
    def __init__(
        self: AsyncEventStream[ServerSentEvent],
        source: Any,
        *,
        ignored_lines: Literal[False] = False,
        **options: Unpack[EventOptions],
    ) -> None: ...
    @overload
    def __init__(
        self: AsyncEventStream[ServerSentEvent | IgnoredLine],
        source: Any,
        *,
        ignored_lines: bool,
        **options: Unpack[EventOptions],
    ) -> None: ...
    def __init__(self, source: Any, *, ignored_lines: bool = False, **options: Unpack[EventOptions]) -> None:
        super().__init__(ignored_lines=ignored_lines, **options)
        opened = self._follower.source = open_async(source)
        reads = watched_async(opened.reads, self._patience)
        self._pull = AsyncPull(self._decoder, opened, reads, self._follower, self._follower.refusal)
        self._ready = self._pull.ready(self._decoder)

    def __aiter__(self) -> AsyncIterator[EventT]:
        """Give the events; a further iterator goes on where the last one stopped."""
        return self

    async def __anext__(self) -> EventT:
        """Give the next event."""
        for item in self._ready:
            return item
        return await self._ready

    async def aclose(self) -> None:
        """Close the response and end the stream; from any task."""
        await self._pull.aclose()
