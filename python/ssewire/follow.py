"""What to make of everything that is not the common event of a chat stream, and how the stream has ended.

`ChatFollower.unusual` is the one Python method that the compiled decoder calls: for a named event, a payload that may
be an error, one that msgspec refuses, a line that is no field, the sentinel, the end of the body. The table of its
kinds stands in `rust/python/src/chat.rs`. Common events never come here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias, TypeVar

import msgspec

from .errors import APIError, DecodeError, IncompleteStreamError, NotAStreamError, SSEWireError
from .source import Source
from .state import State, StreamState

T = TypeVar("T")

# An error without a sentence of its own is told by so many of its first bytes; `body` has all of it.
_QUOTED = 500

Item: TypeAlias = tuple[bytes, Any] | BaseException
Outcome: TypeAlias = tuple[list[Item], bool] | None


class ChatFollower(StreamState):
    """The state of one chat stream, and the judge of its unusual events."""

    def __init__(
        self,
        decode: Callable[[bytes], Any],
        *,
        require_done: bool = False,
        source: Source[Any] | None = None,
    ) -> None:
        super().__init__(source)
        self._decode = decode
        self._require_done = require_done

    @property
    def _headers(self) -> Mapping[str, str]:
        return self.source.headers if self.source else {}

    @property
    def _status(self) -> int | None:
        return self.source.status if self.source else None

    def unusual(self, kind: str, payload: bytes | None, detail: Any, number: int, offset: int) -> Outcome:
        """Judge what was found; see the module's first lines."""
        match kind:
            case "named":
                return self._named(payload or b"", detail)
            case "suspect":
                return self._suspect(payload or b"", detail, number, offset)
            case "refused":
                error, cut = detail
                return self._refused(payload or b"", error, cut, number, offset)
            case "done":
                return self._over("done")
            case "end":
                return self._ended(payload, finished=detail)
            case "too_large":
                self.end("error")
                # A stream lets go of its source; a decoder that is fed goes on behind the event.
                return [detail], self.source is not None
            case "failed":
                instead = self.failed(detail)
                return ([instead], True) if instead else None
            case _:
                pass
        return None

    def _named(self, payload: bytes, name: str) -> Outcome:
        if name == "error":
            return [self._api_error(payload)], False
        return None

    def _suspect(self, payload: bytes, cut: bool, number: int, offset: int) -> Outcome:
        """A payload in which "error" occurs: as its error, or just as some text."""
        if _has_error(payload):
            return [self._api_error(payload)], False
        try:
            return [(payload, self._decode(payload))], False
        except Exception as error:  # as in the compiled decoder: a type of the user's own may raise anything
            return self._refused(payload, error, cut, number, offset)

    def _refused(self, payload: bytes, error: Exception, cut: bool, number: int, offset: int) -> Outcome:
        if cut:
            self.end("incomplete")
            return [IncompleteStreamError("the body ended inside an event", tail=payload)], True
        if payload.strip() == b"null":
            return None
        return [DecodeError(str(error), payload=payload, event_number=number, offset=offset)], False

    def _ended(self, head: bytes | None, *, finished: bool) -> Outcome:
        if self.state != "open":
            return self._over(self.state)
        if head is not None:
            return [self.no_stream(head)], True
        if not finished:
            self.end("incomplete")
            return [IncompleteStreamError("the body ended without [DONE] and without a finish_reason")], True
        if self._require_done:
            self.end("incomplete")
            return [IncompleteStreamError("the body ended without [DONE]")], True
        return self._over("finished")

    def _over(self, state: State) -> Outcome:
        instead = self.ended(state)
        return ([instead], True) if instead else None

    def no_stream(self, body: bytes) -> SSEWireError:
        """The error for a body without any event, or with a status that is no success; `body` is its start."""
        self.end("error")
        whole = _json_or_none(body)
        if isinstance(whole, dict) and (whole.get("error") or whole.get("detail")):
            return self._api_error(body, whole)
        text = body.lstrip().lower()
        if self._status is not None and not 200 <= self._status < 300:
            reason = "the server refused the request"
        elif not text:
            reason = "the body is empty"
        elif text.startswith((b"<!doctype", b"<html")):
            reason = "the body is HTML, not an event stream"
        elif isinstance(whole, dict) and "choices" in whole:
            reason = "the body is one whole completion, not an event stream (was stream=true sent?)"
        elif text.startswith((b"{", b"[")):
            reason = "the body is JSON, not an event stream"
        else:
            reason = "the body holds no event"
        return NotAStreamError(reason, status=self._status, headers=self._headers, body=body)

    def _api_error(self, payload: bytes, whole: object = None) -> APIError:
        if self.state == "open":
            self.state = "error"
        body = whole if whole is not None else _json_or_none(payload)
        if body is None:
            body = payload.decode("utf-8", "replace")
        error: object = (body.get("error") or body.get("detail") or body) if isinstance(body, dict) else body
        fields = error if isinstance(error, dict) else {}
        message = fields.get("message") if fields else error
        return APIError(
            message if isinstance(message, str) and message else payload[:_QUOTED].decode("utf-8", "replace"),
            type=_text(fields.get("type")),
            code=code if isinstance(code := fields.get("code"), (str, int)) and not isinstance(code, bool) else None,
            param=_text(fields.get("param")),
            body=body,
            status=self._status,
            headers=self._headers,
        )

    def reset(self) -> None:
        """Back to the start, for another stream."""
        self.state = "open"
        self.over = False


class _Error(msgspec.Struct, gc=False):
    """What may be an error. All else in it is skipped: as a tree of objects it would take several times its bytes."""

    error: Any = None


_decode_error = msgspec.json.Decoder(_Error).decode


def _has_error(payload: bytes) -> bool:
    return bool((found := _or_none(_decode_error, payload)) and found.error and _json_or_none(payload))


def _json_or_none(payload: bytes) -> Any:
    return _or_none(msgspec.json.decode, payload)


def _or_none(decode: Callable[[bytes], T], payload: bytes) -> T | None:
    try:
        return decode(payload)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None
