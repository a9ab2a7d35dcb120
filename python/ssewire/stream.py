"""`ChatStream` and `AsyncChatStream`: an iterator of chunks over the body of any HTTP client.

The synchronous stream lets the compiled decoder ask the source for its reads; the asynchronous one awaits each read and
feeds it to the same decoder.
"""

from __future__ import annotations

import builtins
from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any, Generic, TypeVar, overload

from . import _core
from .chunk_types import chunk_type, text_of
from .closing import AsyncClosing, Closing
from .decode import DEFAULT_MAX_EVENT_SIZE, chat_decoder, stats_of
from .follow import OnDecodeError
from .models import ChatCompletionChunk, CompletionUsage
from .pull import AsyncPull, pull_from
from .source import open_async, open_sync
from .state import State
from .stats import StreamStats

T = TypeVar("T")


class _Chat(Generic[T]):
    """What both kinds of chat stream have in common."""

    # What is wrong with the arguments is found before the source is touched.
    def __init__(self, type: Any, *, require_done: bool, on_decode_error: OnDecodeError, max_event_size: int) -> None:
        self._known = known = chunk_type(type)
        self._follower, arguments = chat_decoder(known, require_done=require_done, on_decode_error=on_decode_error)
        self._decoder: _core.ChunkDecoder[T] = _core.ChunkDecoder(
            *arguments, facts=known.facts, max_event_size=max_event_size
        )

    @property
    def state(self) -> State:
        """How the stream stands.

        `open`; `done` (the sentinel came); `finished` (the body ended without it, and every choice seen in more than
        one chunk has a finish reason, at least one in all); `incomplete` (it ended with neither, or reading it failed);
        `error` (the server sent an error, or something that is no stream, or an event beyond the limit); `closed` (by
        the reader).
        """
        return self._follower.state

    @property
    def usage(self) -> CompletionUsage | None:
        """The usage that the server sent last, in tokens; None when it sent none so far."""
        return self._decoder.usage

    @property
    def finish_reasons(self) -> dict[int, str]:
        """The finish reason of each choice that has one so far, by the choice's index."""
        return self._decoder.finish_reasons

    @property
    def last_event_id(self) -> str:
        """The last event id that the stream has sent; "" when it has sent none."""
        return self._decoder.last_event_id

    @property
    def response_headers(self) -> Mapping[str, str]:
        """The headers of the response, names in lower case; empty where the source has none."""
        return self._follower.headers

    @property
    def stats(self) -> StreamStats:
        """What the stream has counted so far; a snapshot."""
        return stats_of(self._decoder, self._follower)


class ChatStream(_Chat[T], Closing):
    """Iterate over the chunks of a chat-completion stream.

        with httpx.stream(**ssewire.NSCALE.request(model=..., messages=[...])) as response:
            for chunk in ssewire.ChatStream(response):
                print(chunk.text, end="")

    `source` is a response of any synchronous HTTP client, a binary file, `bytes`, or an iterable of bytes-like objects.

    The loop ends at the sentinel without another read, and the response is released then. APIError is raised where the
    server sent an error, DecodeError where an event is no chunk, IncompleteStreamError where the body ends too early,
    NotAStreamError where it is no event stream, EventTooLargeError where an event is beyond `max_event_size` bytes;
    what came before is delivered first, and iterating again goes on behind it where there is more. Errors of the HTTP
    client pass through.

    `type` is what a chunk is decoded to: a Struct, a dataclass, a TypedDict or `dict`, for example
    `type=NSCALE.chunk_type`, the strict type of that provider's document. With `require_done` a missing sentinel is an
    IncompleteStreamError although every choice has finished. With `on_decode_error="skip"` events that are no chunk are
    left out, as they are when it is a function, which is called with each DecodeError, between the chunk before it and
    the one behind; what it raises is raised. `stats` counts them either way.

    A stream belongs to one thread at a time; `close` alone may be called from any. `break` leaves the stream open, and
    another loop goes on where the last one stopped.
    """

    @overload
    def __init__(
        self: ChatStream[ChatCompletionChunk],
        source: Any,
        *,
        require_done: bool = False,
        on_decode_error: OnDecodeError = "raise",
        max_event_size: int = DEFAULT_MAX_EVENT_SIZE,
    ) -> None: ...
    @overload
    def __init__(
        self,
        source: Any,
        *,
        type: builtins.type[T],
        require_done: bool = False,
        on_decode_error: OnDecodeError = "raise",
        max_event_size: int = DEFAULT_MAX_EVENT_SIZE,
    ) -> None: ...
    def __init__(
        self,
        source: Any,
        *,
        type: Any = ChatCompletionChunk,
        require_done: bool = False,
        on_decode_error: OnDecodeError = "raise",
        max_event_size: int = DEFAULT_MAX_EVENT_SIZE,
    ) -> None:
        super().__init__(
            type, require_done=require_done, on_decode_error=on_decode_error, max_event_size=max_event_size
        )
        opened = self._follower.source = open_sync(source)
        pull_from(self._decoder, opened, self._follower.refusal)

    def __iter__(self) -> Iterator[T]:
        """Give the chunks; a further iterator goes on where the last one stopped."""
        return self._decoder

    def __next__(self) -> T:
        """Give the next chunk."""
        return next(self._decoder)

    def iter_text(self) -> Iterator[str]:
        """Give the text of each chunk that has some."""
        if self._known.facts is None:
            return self._decoder.texts()
        self._known.need_choices("iter_text()")
        # No generator: that would be over after the first error.
        return filter(None, map(text_of, self._decoder))

    def iter_payloads(self) -> Iterator[bytes]:
        """Give the payload of each event that is a chunk, as it was sent, without decoding it.

        Errors and the sentinel are seen all the same. Usage and finish reasons are not followed, but for the last few
        payloads of a body that ends without the sentinel, which tell whether the answer is whole. Documents run
        together on one line come as one payload.
        """
        return self._decoder.payloads()

    def iter_with_payload(self) -> Iterator[tuple[bytes, T]]:
        """Give each chunk with the payload that it was decoded from, as it was sent."""
        return self._decoder.pairs()

    def close(self) -> None:
        """Close the response and end the stream; from any thread, without waiting for one that is reading."""
        if self._follower.close():
            self._decoder.close()


class AsyncChatStream(_Chat[T], AsyncClosing):
    """Iterate asynchronously over the chunks of a chat-completion stream.

        async with client.stream(**ssewire.NSCALE.request(model=..., messages=[...])) as response:
            async for chunk in ssewire.AsyncChatStream(response):
                print(chunk.text, end="")

    The same as `ChatStream`, for responses of asynchronous clients, asynchronous iterables of bytes-like objects and
    `bytes`, on asyncio, trio or whatever the client runs on. A read that is cancelled leaves the stream `closed`.
    """

    @overload
    def __init__(
        self: AsyncChatStream[ChatCompletionChunk],
        source: Any,
        *,
        require_done: bool = False,
        on_decode_error: OnDecodeError = "raise",
        max_event_size: int = DEFAULT_MAX_EVENT_SIZE,
    ) -> None: ...
    @overload
    def __init__(
        self,
        source: Any,
        *,
        type: builtins.type[T],
        require_done: bool = False,
        on_decode_error: OnDecodeError = "raise",
        max_event_size: int = DEFAULT_MAX_EVENT_SIZE,
    ) -> None: ...
    def __init__(
        self,
        source: Any,
        *,
        type: Any = ChatCompletionChunk,
        require_done: bool = False,
        on_decode_error: OnDecodeError = "raise",
        max_event_size: int = DEFAULT_MAX_EVENT_SIZE,
    ) -> None:
        super().__init__(
            type, require_done=require_done, on_decode_error=on_decode_error, max_event_size=max_event_size
        )
        opened = self._follower.source = open_async(source)
        self._pull = AsyncPull(self._decoder, opened, self._follower, self._follower.refusal)

    def __aiter__(self) -> AsyncIterator[T]:
        """Give the chunks; a further iterator goes on where the last one stopped."""
        return self

    async def __anext__(self) -> T:
        """Give the next chunk."""
        return await self._pull.next(self._decoder)

    def iter_text(self) -> AsyncIterator[str]:
        """Give the text of each chunk that has some."""
        if self._known.facts is None:
            return self._pull.over(self._decoder.texts())
        self._known.need_choices("iter_text()")
        return self._pull.over(filter(None, map(text_of, self._decoder)))

    def iter_payloads(self) -> AsyncIterator[bytes]:
        """Give the payload of each event that is a chunk; see `ChatStream.iter_payloads`."""
        return self._pull.over(self._decoder.payloads())

    def iter_with_payload(self) -> AsyncIterator[tuple[bytes, T]]:
        """Give each chunk with the payload that it was decoded from, as it was sent."""
        return self._pull.over(self._decoder.pairs())

    async def aclose(self) -> None:
        """Close the response and end the stream; from any task."""
        await self._pull.aclose()
