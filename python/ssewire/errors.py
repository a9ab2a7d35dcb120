"""Every exception that ssewire itself raises. Errors of the HTTP client pass through untouched.

All of them are `SSEWireError`, and all of them pickle, with every attribute.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from .completion import ChatCompletion

# Headers whose value is told in a message, by the word that is put before it.
_TOLD_HEADERS: Final = {
    "request": ("x-request-id", "request-id", "x-chutes-invocationid"),
    "retry after": ("retry-after",),
}

# So much of a payload or body is quoted in a message; the attribute has all of it.
_QUOTED = 120


def _quote(data: bytes) -> str:
    text = data[:_QUOTED].decode("utf-8", "replace")
    return repr(text) + ("…" if len(data) > _QUOTED else "")


def _quote_end(data: bytes) -> str:
    text = data[-_QUOTED:].decode("utf-8", "replace")
    return ("…" if len(data) > _QUOTED else "") + repr(text)


def _about(status: int | None, headers: Mapping[str, str] | None, **said: str | int | None) -> list[str]:
    """What belongs into a message beside its sentence; of the headers what support asks for, and when to try again."""
    named = ((word, name) for word, names in _TOLD_HEADERS.items() for name in names)
    told = ((word, headers[name][:_QUOTED]) for word, name in named if headers and name in headers)
    return [f"{word} {value}" for word, value in (("status", status), *said.items(), *told) if value]


class SSEWireError(Exception):
    """Parent of all errors of this package; itself raised for wrong use, such as reading a closed stream."""

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle by class, message and attributes, whatever the signature of `__init__` is."""
        return _rebuild, (type(self), self.args, self.__dict__)


def _rebuild(cls: type[SSEWireError], args: tuple[object, ...], attributes: dict[str, object]) -> SSEWireError:
    error = cls.__new__(cls, *args)
    error.args = args
    error.__dict__.update(attributes)
    return error


class _ResponseError(SSEWireError):
    """An error that may concern the response as a whole."""

    status: int | None
    """Status code of the response; None where the source has none."""
    headers: Mapping[str, str]
    """Headers of the response, names in lower case; empty where the source has none."""


class NotAStreamError(_ResponseError):
    """The body is no event stream: HTML, one JSON document, compressed bytes, nothing; or the status is no success."""

    def __init__(
        self, reason: str, *, status: int | None = None, headers: Mapping[str, str] | None = None, body: bytes = b""
    ) -> None:
        where = f" ({', '.join(about)})" if (about := _about(status, headers)) else ""
        quoted = f"; it begins with {_quote(body)}" if body else ""
        super().__init__(f"{reason}{where}{quoted}")
        self.reason = reason
        self.status = status
        self.headers = dict(headers or {})
        self.body = body
        """The first bytes of the body."""


class APIError(_ResponseError):
    """An error that the server sent: inside the stream, or as the body of a response that is no success."""

    def __init__(
        self,
        message: str,
        *,
        type: str | None = None,
        code: str | int | None = None,
        param: str | None = None,
        body: Any = None,
        status: int | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        # That the stream began well says nothing about what became of it.
        began_well = status is not None and 200 <= status < 300
        about = _about(None if began_well else status, headers, type=type, code=code)
        super().__init__(f"{message} ({', '.join(about)})" if about else message)
        self.message = message
        """The server's sentence."""
        self.type = type
        self.code = code
        """As sent: a number or a text."""
        self.param = param
        self.body = body
        """The whole object that was sent, decoded; what was no JSON is here as text."""
        self.status = status
        self.headers = dict(headers or {})


class DecodeError(SSEWireError):
    """One event whose payload is no chunk. It concerns this event alone: iterating again goes on behind it."""

    def __init__(self, reason: str, *, payload: bytes, event_number: int, offset: int) -> None:
        super().__init__(
            f"event {event_number} at byte {offset} cannot be decoded: {reason}; payload {_quote(payload)}"
        )
        self.reason = reason
        """What the decoder said, with the path inside the payload where it has one."""
        self.payload = payload
        self.event_number = event_number
        """Counted from 1 at the start of the stream."""
        self.offset = offset
        """Where the event's first data line begins, in bytes from the start of the stream."""


class IncompleteStreamError(SSEWireError):
    """The body ended, but the answer did not.

    The sentinel is missing, and a choice has no finish reason, or none ever came, or the sentinel is required; or the
    end of the body cut an event.
    """

    def __init__(self, reason: str, *, tail: bytes = b"", completion: ChatCompletion | None = None) -> None:
        super().__init__(f"{reason}; the last bytes are {_quote_end(tail)}" if tail else reason)
        self.reason = reason
        self.tail = tail
        """The payload that the end of the body cut; or the lines behind the last event that are no field, such as what
        a proxy appends; empty where there is neither."""
        self.completion = completion
        """What was merged so far, where the stream accumulates."""


class EventTooLargeError(SSEWireError):
    """An event outgrew `max_event_size`. What came before it was delivered."""

    def __init__(self, limit: int, offset: int) -> None:
        super().__init__(
            f"an event is larger than max_event_size={limit} bytes (in the line at byte {offset} of the stream); "
            "raise max_event_size if such events are meant to come"
        )
        self.limit = limit
        self.offset = offset


class StreamIdleError(SSEWireError):
    """No event came for longer than the limit that the caller set; keep-alive comments are no events."""

    def __init__(self, limit: float, *, waited: float, events: int, comments: int | None, option: str) -> None:
        came = f"events before it: {events}" + (f", keep-alive comments: {comments}" if comments else "")
        super().__init__(f"waited {waited:.3g} s for an event, more than {option}={limit:g} allows ({came})")
        self.limit = limit
        """In seconds; that of `option`."""
        self.waited = waited
        """Time spent waiting for reads since the last event, in seconds."""
        self.events = events
        """So many events came before."""
        self.comments = comments
        """So many keep-alive comments came before; None where they are not counted (`EventStream`)."""
        self.option = option
        """`idle_timeout` or `first_event_timeout`."""
        self.completion: ChatCompletion | None = None
        """What was merged so far, where the stream accumulates."""


class ToolArgumentsError(SSEWireError):
    """The arguments of a tool call are no JSON, or JSON of another type than asked for."""

    def __init__(self, reason: str, *, name: str, arguments: str, cut: bool) -> None:
        text = arguments.encode("utf-8", "replace")
        quoted = f"end with {_quote_end(text)}" if cut else f"begin with {_quote(text)}"
        super().__init__(f"the arguments of function {name[:_QUOTED]!r} cannot be decoded: {reason}; they {quoted}")
        self.reason = reason
        """What is wrong with them, and where."""
        self.name = name
        """The function's name."""
        self.arguments = arguments
        """The text as it was joined."""
        self.cut = cut
        """Whether they are the beginning of JSON, as when the answer ended early; False where they can become none."""
