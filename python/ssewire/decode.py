"""The sans-I/O decoders: bytes are pushed in with `feed`, what is complete so far comes out by iteration."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator
from typing import Any, Final, Literal, TypeVar, overload

from . import _core
from ._core import IgnoredLine, ServerSentEvent
from .chunk_types import ChunkType, chunk_type, text_of
from .follow import ChatFollower, OnDecodeError
from .models import ChatCompletionChunk
from .state import State
from .stats import StreamStats

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
    goes on behind it. After the sentinel (`done`) whatever is fed is ignored. `require_done`, `on_decode_error` and
    `accelerate` are those of `ChatStream`.
    """

    _follower: ChatFollower
    _known: ChunkType

    @overload
    def __new__(
        cls: builtins.type[ChunkDecoder[ChatCompletionChunk]],
        *,
        require_done: bool = False,
        on_decode_error: OnDecodeError = "raise",
        max_event_size: int = DEFAULT_MAX_EVENT_SIZE,
        accelerate: bool = True,
    ) -> ChunkDecoder[ChatCompletionChunk]: ...
    @overload
    def __new__(
        cls,
        type: builtins.type[T],
        *,
        require_done: bool = False,
        on_decode_error: OnDecodeError = "raise",
        max_event_size: int = DEFAULT_MAX_EVENT_SIZE,
        accelerate: bool = True,
    ) -> ChunkDecoder[T]: ...
    def __new__(
        cls,
        type: Any = ChatCompletionChunk,
        *,
        require_done: bool = False,
        on_decode_error: OnDecodeError = "raise",
        max_event_size: int = DEFAULT_MAX_EVENT_SIZE,
        accelerate: bool = True,
    ) -> Any:
        """Make a decoder at the start of a stream; chunks are decoded to `type`."""
        known = chunk_type(type)
        follower, arguments = chat_decoder(known, require_done=require_done, on_decode_error=on_decode_error)
        self = super().__new__(cls, *arguments, facts=known.facts, max_event_size=max_event_size, accelerate=accelerate)
        self._follower = follower
        self._known = known
        return self

    @property
    def state(self) -> State:
        """How the stream stands; see `ChatStream.state`."""
        return self._follower.state

    def texts(self) -> Iterator[str]:
        """Iterate over the text of each chunk that has some instead.

        Raises:
            TypeError: Chunks of this type have no choices.
        """
        if self._known.facts is None:
            return super().texts()
        self._known.need_choices("texts()")
        return filter(None, map(text_of, self))

    @property
    def stats(self) -> StreamStats:
        """What was counted and timed so far; times are those at which bytes were fed."""
        return stats_of(self, self._follower)

    def reset(self) -> None:
        """Go back to the start, for another stream."""
        super().reset()
        self._follower.reset()


def chat_decoder(
    known: ChunkType, *, require_done: bool, on_decode_error: OnDecodeError
) -> tuple[ChatFollower, tuple[Callable[[bytes], Any], Callable[..., Any]]]:
    """The follower of a chat stream, and the arguments with which it goes into a compiled decoder."""
    follower = ChatFollower(
        known.reading,
        require_done=require_done,
        knows_choices=known.has_choices,
        on_decode_error=on_decode_error,
    )
    return follower, (known.decode, follower.unusual)


def stats_of(decoder: _core.ChunkDecoder[Any], follower: ChatFollower) -> StreamStats:
    """What a stream has counted and timed."""
    first_byte, first_text, gaps, mean_gap, longest_gap = decoder.times
    return StreamStats(
        bytes=decoder.bytes + follower.refused_bytes,
        events=decoder.events,
        chunks=decoder.chunks,
        comments=decoder.comments,
        skipped_events=follower.skipped_events,
        repaired=follower.repaired,
        decode_errors=follower.decode_errors,
        time_to_first_byte=first_byte,
        time_to_first_text=first_text,
        text_gaps=gaps,
        mean_text_gap=mean_gap,
        longest_text_gap=longest_gap,
    )
