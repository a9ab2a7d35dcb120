"""What to make of everything that is not the common event of a chat stream, and how the stream has ended.

`ChatFollower.unusual` is the one Python method that the compiled decoder calls: for a named event, a payload that may
be an error, one that msgspec refuses, a line that is no field, the sentinel, the end of the body. The table of its
kinds stands in `rust/python/src/chat.rs`. Common events never come here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from inspect import iscoroutinefunction
from typing import Any, Literal, NamedTuple, TypeAlias

from .accumulate import ChatAccumulator
from .completion import ChatCompletion
from .errors import APIError, DecodeError, IncompleteStreamError, SSEWireError, StreamIdleError
from .lenient import tree_or_none
from .not_a_stream import no_event
from .parts import holds_events, is_chunk_or_error
from .second_reading import Chunk, Done, Finding, SecondReading, ServerError, Undecodable
from .server_error import api_error
from .state import State, StreamState
from .unknown_lines import UnknownLines

OnDecodeError: TypeAlias = Literal["raise", "skip"] | Callable[[DecodeError], object]
"""What to do about an event that is no chunk: raise the error in its place, leave the event out, or call a function
with the error and leave the event out; what the function raises is raised in its place."""

Item: TypeAlias = tuple[bytes, Any] | BaseException | None
"""A payload with its chunk, an exception to be raised, or None for the sentinel."""

Outcome: TypeAlias = tuple[Iterable[Item], bool] | None


def check(on_decode_error: OnDecodeError) -> None:
    """Refuse what is no way to deal with an event that is no chunk."""
    if on_decode_error in ("raise", "skip"):
        return
    if not callable(on_decode_error):
        raise ValueError(f'on_decode_error is "raise", "skip" or a function, not {on_decode_error!r}')  # noqa: TRY004
    if any(map(iscoroutinefunction, (on_decode_error, getattr(on_decode_error, "__call__", None)))):  # noqa: B004
        raise TypeError("on_decode_error is called from inside the decoder, so it cannot be a coroutine function")


class Event(NamedTuple):
    """Which event it is: its number from 1, its offset in bytes, and whether the end of the body cut it."""

    number: int
    offset: int
    cut: bool


class ChatFollower(StreamState):
    """The state of one chat stream, and the judge of its unusual events."""

    accumulator: ChatAccumulator | None = None
    # Found while the bytes were relayed, and not raised.
    error: Exception | None = None
    # So many reads were handed on that nobody looks into: that they came is all that can be asked of them.
    unseen = 0
    # The error with which the stream ends, when that is raised, and its state then.
    _ending: tuple[BaseException | None, State] = None, "open"
    # Made when there is one: most streams have none.
    _lines: UnknownLines | None = None
    # The name under which chunks come, if they come under one.
    _chunk_name = ""
    skipped_events = 0
    repaired = 0
    decode_errors = 0

    def __init__(
        self,
        reading: SecondReading,
        *,
        require_done: bool = False,
        knows_choices: bool = True,
        on_decode_error: OnDecodeError = "raise",
    ) -> None:
        self._reading = reading
        check(on_decode_error)
        self._require_done = require_done
        self._knows_choices = knows_choices
        self._on_decode_error = on_decode_error

    def unusual(self, kind: str, payload: bytes | None, detail: Any, number: int, offset: int) -> Outcome:
        """Judge what was found; see the module's first lines. None: there is nothing unusual about it."""
        data = payload or b""
        match kind:
            case "named":
                name, cut = detail
                return self._named(data, name, Event(number, offset, cut))
            case "suspect":
                return self._found(self._reading.suspect(data), Event(number, offset, detail))
            case "parts":
                return self._found(self._reading.several(data), Event(number, offset, detail))
            case "refused":
                error, cut = detail
                return self._found(self._reading.refused(data, error), Event(number, offset, cut))
            case "line":
                return self._line(data, number, in_event=detail)
            case "done":
                return self._done(number, nothing=detail)
            case "end":
                return self._ended(payload, number, finished=detail)
            case "too_large":
                self._ending = detail, "error"
                # A stream lets go of its source; a decoder that is fed goes on behind the event.
                return [detail], self.source is not None
            case "failed":
                instead = self.failed(detail)
                return ([instead], True) if instead else None
            case "raised":
                self.has_raised |= not self.relaying
                # Not before it is raised: what stands in front of it comes from a stream that is well.
                error, state = self._ending
                if detail is error:
                    self.judge(state)
                elif isinstance(detail, APIError) and self.state != "closed":
                    self.state = "error"
                return None
            case "mend":
                return self._reading.chunks(data, detail), False
            case _:
                return None

    def _named(self, payload: bytes, name: str, event: Event) -> Outcome:
        if name == "error":
            return self._found(self._reading.named_error(payload), event)
        is_chunk = is_chunk_or_error(payload)
        if not is_chunk and tree_or_none(payload) is None:
            # It may hold several; and under a name that chunks have, what cannot be read is one that is broken or cut.
            is_chunk = name == self._chunk_name or holds_events(payload)
        if is_chunk:
            self._chunk_name = name
            return None
        self.skipped_events += 1
        return [], False

    def _found(self, findings: Iterable[Finding] | None, event: Event) -> Outcome:
        return None if findings is None else (self._items(findings, event), False)

    def _items(self, findings: Iterable[Finding], event: Event) -> Iterator[Item]:
        for found in findings:
            match found:
                case Chunk(payload, chunk, repaired):
                    self.repaired += repaired
                    yield payload, chunk
                case ServerError(said):
                    yield self._api_error(said)
                case Done():
                    yield None
                case Undecodable(payload, reason, cut):
                    if cut and event.cut:
                        yield self._incomplete("the body ended inside an event", payload.rstrip(b"\n"))
                    elif instead := self._undecodable(
                        DecodeError(reason, payload=payload, event_number=event.number, offset=event.offset)
                    ):
                        yield instead

    def _undecodable(self, error: DecodeError) -> BaseException | None:
        """What is raised in the place of an event that is no chunk, after the choice of the stream's user."""
        self.decode_errors += 1
        if self._on_decode_error == "raise":
            return error
        if callable(self._on_decode_error):
            try:
                self._on_decode_error(error)
            except (StopIteration, StopAsyncIteration) as raised:
                # Passed on as it is it would look like the end of the stream.
                instead = RuntimeError(f"on_decode_error raised {type(raised).__name__}")
                instead.__cause__ = raised
                return instead
            except Exception as raised:  # to be raised in the place of the event, with the rest of it to come
                return raised
        return None

    def _line(self, line: bytes, number: int, *, in_event: bool) -> Outcome:
        if self._lines is None:
            self._lines = UnknownLines()
        # A line inside an event is behind that event, since that is handed out first.
        said = self._lines.error(line, number + in_event)
        if said is None:
            return None
        error = self._api_error(said)
        # Bare JSON before any event: the body is no stream, but this error.
        is_body = number == 0 and not in_event and line.lstrip().startswith((b"{", b"[", b"}", b"]"))
        if is_body:
            self.judge("error")
        return [error], is_body

    def _ended(self, head: bytes | None, number: int, *, finished: bool) -> Outcome:
        if self.state != "open":
            return self._over(self.state)
        if head is not None:
            unknown_lines = bool(self._kept(number))
            error = no_event(head, self.status, self.headers, unknown_lines=unknown_lines)
            if isinstance(error, IncompleteStreamError):
                return [self._incomplete(error.reason)], True
            self.judge("error")
            return [error], True
        if finished and not self._require_done:
            return self._over("finished")
        reason = "the body ended without [DONE]"
        if not finished and not self._knows_choices:
            reason += "; what has finished is not known, since the chunk type has no choices"
        elif not finished:
            reason += " and without a finish_reason"
        if self.skipped_events:
            reason += f"; {self.skipped_events} events with other names were skipped"
        return [self._incomplete(reason, self._kept(number))], True

    def failed(self, error: BaseException) -> SSEWireError | None:
        """Reading the source raised; see `StreamState.failed`."""
        if isinstance(error, StreamIdleError):
            error.completion = self._completion()
        return super().failed(error)

    def _incomplete(self, reason: str, tail: bytes = b"") -> IncompleteStreamError:
        error = IncompleteStreamError(reason, tail=tail, completion=self._completion())
        self._ending = error, "incomplete"
        return error

    def _completion(self) -> ChatCompletion | None:
        return None if self.accumulator is None else self.accumulator.completion()

    def _done(self, number: int, *, nothing: bool) -> Outcome:
        if nothing and number == 1 and self.state == "open" and (body := self._kept(0)):
            # A gateway puts the sentinel behind whatever it relayed: a whole completion, a page of HTML.
            self.judge("error")
            return [no_event(body, self.status, self.headers)], True
        return self._over("done")

    def _kept(self, behind: int) -> bytes:
        return b"" if self._lines is None else self._lines.kept(behind)

    def _over(self, state: State) -> Outcome:
        instead = self.ended(state)
        return ([instead], True) if instead else None

    def _api_error(self, said: Any) -> APIError:
        return api_error(said, status=self.status, headers=self.headers)

    def reset(self) -> None:
        """Back to the start, for another stream."""
        self.state = "open"
        self.over = False
        self._ending = None, "open"
        self._lines = None
        self._chunk_name = ""
        self.skipped_events = self.repaired = self.decode_errors = 0
