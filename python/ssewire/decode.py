"""The sans-I/O decoders: bytes are pushed in with `feed`, what is complete so far comes out by iteration."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any, Final, Literal, TypeVar, overload

import msgspec

from . import _core
from ._core import IgnoredLine, ServerSentEvent
from .follow import ChatFollower
from .models import ChatCompletionChunk
from .source import Source
from .state import State

T = TypeVar("T")
EventT = TypeVar("EventT", bound=ServerSentEvent | IgnoredLine)

DEFAULT_MAX_EVENT_SIZE: Final = 32 * 1024 * 1024
"""32 MiB of data in one event. The largest met in recorded streams is an image of 1.9 MB."""


class SSEDecoder(_core.SSEDecoder[EventT]):
    """Server-Sent Events out of bytes, after the HTML standard, section 9.2.

        decoder = SSEDecoder()
        for read in reads:
            for event in decoder.feed(read):
                print(event.event, event.data)

    `feed(data)` returns the decoder itself, an iterator over the events that are complete so far. `finish()` does the
    same for the end of the input: its unfinished event is dropped, as the standard says, or delivered with
    `finish(deliver=True)`. An EventTooLargeError is raised in the place of its event; iterating again goes on behind
    it.

    With `ignored_lines=True` comments and lines of unknown fields come out too, as `IgnoredLine`.
    """

    @overload
    def __new__(
        cls: builtins.type[SSEDecoder[ServerSentEvent]],
        *,
        max_event_size: int = DEFAULT_MAX_EVENT_SIZE,
        ignored_lines: Literal[False] = False,
    ) -> SSEDecoder[ServerSentEvent]: ...
    @overload
    def __new__(
        cls: builtins.type[SSEDecoder[ServerSentEvent | IgnoredLine]],
        *,
        max_event_size: int = DEFAULT_MAX_EVENT_SIZE,
        ignored_lines: bool,
    ) -> SSEDecoder[ServerSentEvent | IgnoredLine]: ...
    def __new__(cls, *, max_event_size: int = DEFAULT_MAX_EVENT_SIZE, ignored_lines: bool = False) -> Any:
        """Make a decoder at the start of a stream."""
        return super().__new__(cls, max_event_size=max_event_size, ignored_lines=ignored_lines)


class ChunkDecoder(_core.ChunkDecoder[T]):
    """Chunks out of the bytes of a chat-completion stream.

        decoder = ChunkDecoder()
        for read in reads:
            for chunk in decoder.feed(read):
                print(chunk.text, end="")
        for chunk in decoder.finish():
            print(chunk.text, end="")

    `feed(data)` returns the decoder itself, an iterator over the chunks that are complete so far; `finish()` does the
    same for the end of the input, where the last event may lack its blank line. An error (APIError, DecodeError,
    EventTooLargeError, at the end IncompleteStreamError or NotAStreamError) is raised in its place; iterating again
    goes on behind it. After the sentinel (`done`) whatever is fed is ignored.
    """

    _follower: ChatFollower

    @overload
    def __new__(
        cls: builtins.type[ChunkDecoder[ChatCompletionChunk]],
        *,
        require_done: bool = False,
        max_event_size: int = DEFAULT_MAX_EVENT_SIZE,
    ) -> ChunkDecoder[ChatCompletionChunk]: ...
    @overload
    def __new__(
        cls,
        type: builtins.type[T],
        *,
        require_done: bool = False,
        max_event_size: int = DEFAULT_MAX_EVENT_SIZE,
    ) -> ChunkDecoder[T]: ...
    def __new__(
        cls,
        type: Any = ChatCompletionChunk,
        *,
        require_done: bool = False,
        max_event_size: int = DEFAULT_MAX_EVENT_SIZE,
    ) -> Any:
        """Make a decoder at the start of a stream; chunks are decoded to `type`."""
        follower, arguments = chat_decoder(type, require_done=require_done)
        self = super().__new__(cls, *arguments, facts=facts_of(type), max_event_size=max_event_size)
        self._follower = follower
        return self

    @property
    def state(self) -> State:
        """How the stream stands; see `ChatStream.state`."""
        return self._follower.state

    def reset(self) -> None:
        """Go back to the start, for another stream."""
        super().reset()
        self._follower.reset()


# Making a decoder takes longer than decoding a chunk, and one serves any number of streams.
_BUILT_IN: Final = msgspec.json.Decoder(ChatCompletionChunk).decode


def chat_decoder(
    type: Any, *, require_done: bool, source: Source[Any] | None = None
) -> tuple[ChatFollower, tuple[Callable[[bytes], Any], Callable[..., Any]]]:
    """The follower of a chat stream, and the arguments with which it goes into a compiled decoder."""
    decode = _BUILT_IN if type is ChatCompletionChunk else msgspec.json.Decoder(type).decode
    follower = ChatFollower(decode, require_done=require_done, source=source)
    return follower, (decode, follower.unusual)


def facts_of(type: Any) -> Callable[[Any], tuple[Any, list[tuple[Any, Any]]]] | None:
    """How usage and finish reasons are read from a chunk; None for the built-in type, which is read in Rust."""
    return None if type is ChatCompletionChunk else _facts


def _facts(chunk: Any) -> tuple[Any, list[tuple[Any, Any]]]:
    usage = member(chunk, "usage") or None  # an empty object is none
    # In a `dict` they may be anything: what is no object is no usage, and what is no text no reason.
    if isinstance(usage, (str, int, float, list)):
        usage = None
    return usage, [(_index(choice), _reason(choice)) for choice in _choices(chunk)]


def _index(choice: Any) -> int:
    index = member(choice, "index")
    return index if isinstance(index, int) else 0


def _reason(choice: Any) -> Any:
    reason = member(choice, "finish_reason")
    return None if isinstance(reason, (int, float, list, dict)) else reason


def _choices(chunk: Any) -> list[Any]:
    """The choices of a chunk of any type; in a `dict` they may be anything."""
    choices = member(chunk, "choices")
    return choices if isinstance(choices, list) else []


def member(value: Any, name: str) -> Any:
    """A member of a Struct, a dataclass or a dict; None where it is absent, also where msgspec says so."""
    found = value.get(name) if isinstance(value, dict) else getattr(value, name, None)
    return None if found is msgspec.UNSET else found


def text_of(chunk: Any) -> str:
    """The text of a chunk of any type that has choices of the usual shape."""
    if isinstance(text := getattr(chunk, "text", None), str):
        return text
    contents = (member(member(choice, "delta"), "content") for choice in _choices(chunk))
    return "".join(content for content in contents if isinstance(content, str))
