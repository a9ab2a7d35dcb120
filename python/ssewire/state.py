"""How one stream stands, and the response it holds."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from contextlib import nullcontext, suppress
from typing import Any, Final, Literal, TypeAlias

from .drain import drain
from .errors import APIError, NotAStreamError, SSEWireError
from .not_a_stream import refused
from .source import Source

State: TypeAlias = Literal["open", "done", "finished", "incomplete", "error", "closed"]
"""`open`; `done` (the sentinel came); `finished` (the body ended without it, and every choice seen in more than one
chunk has a finish reason, at least one in all); `incomplete` (it ended with neither, or reading it failed); `error`
(the server sent an error, or something that is no stream, or an event beyond the limit); `closed` (by the reader, or by
a cancelled read)."""

_NOTE: Final = "ssewire: "


class StreamState:
    """The state of one stream, which outlives the stream object: an iterator over the stream holds it too.

    So the response of `for chunk in ChatStream(response)` is not closed before the loop is done, although nobody holds
    the stream itself.
    """

    # All of this is of the class until it changes, which takes most streams less time than setting it in each.
    state: State = "open"
    over = False
    # The bytes are handed on as they come, to the end of the body, whatever is in them.
    relaying = False
    # Behind the sentinel the rest of the body is to be read.
    drain = False
    # The reader has left before the end, or a read was cancelled.
    has_left = False
    # The rest of the body is being read right now.
    draining = False
    # An error was raised out of the stream, so that whoever drops it then has not left it early.
    has_raised = False
    # How many of what have come so far, for the note on a failure of the client.
    had_come: Callable[[], tuple[int, str]] | None = None
    # So many bytes came of the body of a refused request, which no decoder sees.
    refused_bytes = 0
    source: Source[Any] | None = None

    def end(self, state: State) -> None:
        """The stream is over: let go of the response at once. The first state that is not `open` stays."""
        if self.state == "open":
            self.state = state
        source = self.source
        drains = self.drains and source is not None and not source.is_async
        if drains:
            # Told before the stream is over: whoever closes it from elsewhere must not begin to drain, too.
            self.drain, self.draining = False, True
        self.over = True
        if source is None:
            return
        try:
            if drains:
                drain(source)
        finally:
            self.draining = False
            source.release()

    def judge(self, state: State) -> None:
        """What was read says that the stream is over, and how; but bytes that are handed on go on."""
        if not self.relaying:
            self.end(state)
        elif self.state == "open":
            self.state = state

    @property
    def drains(self) -> bool:
        """Whether the rest of the body is to be read before the response is let go of."""
        return self.drain and self.state == "done" and not self.has_left

    @property
    def ok(self) -> bool:
        """Whether the status is a success, or there is none."""
        return self.source is None or self.source.ok

    @property
    def status(self) -> int | None:
        """The status of the response, where there is one."""
        return self.source.status if self.source else None

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers of the response; empty where there is none."""
        return self.source.headers if self.source else {}

    def refusal(self, body: bytes) -> SSEWireError:
        """The error for a response whose status is no success; `body` is its start."""
        self.refused_bytes = max(self.refused_bytes, len(body))
        self.end("error")
        return refused(body, self.status or 0, self.headers)

    def close(self, stop: Callable[[], None]) -> None:
        """The reader leaves; before the end, `stop` stops its decoder. The state stays where one was reached."""
        early = not self.over
        self.has_left |= early
        if early:
            if self.state == "open":
                self.state = "closed"
            # Before a thread that reads is woken: what its read ends by must not be the end of the body for the next.
            stop()
        woken = (early or self.draining) and self.source is not None and self.source.interrupt()
        # A thread that was woken may be closing the same response at this moment, and no client expects that.
        with suppress(Exception) if woken else nullcontext():
            self.end("closed")

    def left(self) -> SSEWireError:
        """The error for reading on in a stream that was left."""
        return SSEWireError("the stream is closed: it was left before the end of its body")

    def ended(self, state: State) -> SSEWireError | None:
        """The body has ended. Where it did so because the stream was closed, that must not look like an end."""
        if self.has_left:
            return _closed_meanwhile()
        self.judge(state)
        return None

    def failed(self, error: BaseException) -> SSEWireError | None:
        """Reading the source raised. The exception passes through, unless one is given that says more."""
        if self.has_left and isinstance(error, Exception):
            return _closed_meanwhile()
        if isinstance(error, (APIError, NotAStreamError)):
            self.end("error")
        else:
            # What a client raises leaves the answer incomplete; a cancelled read must never look like an end.
            self.has_left |= not isinstance(error, Exception)
            self.end("closed" if self.has_left else "incomplete")
            if isinstance(error, Exception) and not isinstance(error, SSEWireError):
                self._note(error)
        return None

    def _note(self, error: Exception) -> None:
        if self.had_come is not None:
            count, kind = self.had_come()
            # A client may raise one object time after time: what it says of another stream is taken away.
            error.__notes__ = [note for note in getattr(error, "__notes__", []) if not note.startswith(_NOTE)]
            error.add_note(f"{_NOTE}{count or 'no'} {kind}{'s' * (count != 1)} had come before this")

    def __del__(self) -> None:
        """An abandoned response is closed where that needs no event loop, and told of."""
        source = getattr(self, "source", None)
        if source is None or not source.held:
            return
        # Closed first: where warnings are errors, nothing behind the warning is reached.
        source.abandon()
        # One that was closed while another thread read it could not close its generator then.
        if self.state != "closed" and not self.has_raised:
            warnings.warn(
                f"a stream over {source.name} was dropped before its end: use it in a with block, or close it",
                ResourceWarning,
                stacklevel=2,
                source=self,
            )


def _closed_meanwhile() -> SSEWireError:
    return SSEWireError("the stream was closed while it was being read")
