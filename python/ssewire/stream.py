"""`ChatStream`: an iterator of chunks over the body of any synchronous HTTP client.

The compiled decoder asks the source for its reads itself.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from threading import Lock
from typing import Any, Final, TypeVar, Unpack, overload

from .chat import BATCH, Chat, StreamOptions
from .closing import Closing
from .completion import ChatCompletion
from .idle import watched
from .models import ChatCompletionChunk
from .opening import open_sync
from .pull import pull_from
from .relay import Following, Relay

T = TypeVar("T")

# Of two threads that call `iter_bytes` at once, both get the same iterator.
_BEGINNING: Final = Lock()


class ChatStream(Chat[T], Closing):
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
    def __init__(self: ChatStream[ChatCompletionChunk], source: Any, **options: Unpack[StreamOptions]) -> None: ...
    @overload
    def __init__(self, source: Any, *, type: builtins.type[T], **options: Unpack[StreamOptions]) -> None: ...
    def __init__(self, source: Any, *, type: Any = ChatCompletionChunk, **options: Unpack[StreamOptions]) -> None:
        super().__init__(type, **options)
        opened = self._open(open_sync(source))
        self._reads = watched(opened.reads, self._patience)
        self._relay: Relay | None = None
        pull_from(self._decoder, opened, self._reads, self._follower.refusal)

    def __iter__(self) -> Iterator[T]:
        """Give the chunks; a further iterator goes on where the last one stopped."""
        return self._decoder

    def __next__(self) -> T:
        """Give the next chunk."""
        return next(self._decoder)

    def iter_text(self, choice: int | None = None) -> Iterator[str]:
        """Give the text of each chunk that has some; of one choice alone where its index is given."""
        return self._texts(choice)

    def iter_payloads(self) -> Iterator[bytes]:
        """Give the payload of each event that is a chunk, as it was sent, without decoding it.

        Errors and the sentinel are seen all the same. Usage and finish reasons are not followed, but for the last few
        payloads of a body that ends without the sentinel, which tell whether the answer is whole. Documents run
        together on one line come as one payload. With `accumulate=True` each payload is decoded all the same.
        """
        return self._decoder.payloads()

    def iter_with_payload(self) -> Iterator[tuple[bytes, T]]:
        """Give each chunk with the payload that it was decoded from, as it was sent."""
        return self._decoder.pairs()

    def iter_batches(self, most: int = BATCH) -> Iterator[list[T]]:
        """Give lists of chunks: those that a read completes, at least one and not more than `most` in a list.

        An error is raised behind the list of the chunks before it.
        """
        return self._batches(most)

    def iter_bytes(self) -> Iterator[bytes]:
        """Give the body exactly as it came, in the same reads, each at once: for gateways that hand it on.

        The stream follows along: `usage`, `state`, `stats`, `finish_reasons` and, with `accumulate=True`,
        `completion()` tell what was in the bytes given so far. Nothing in a read delays, changes or stops it: it is
        looked at when the next one is asked for, or when somebody asks how the stream stands. The bytes go on past the
        sentinel to the end of the body, a refused request's body included. What would be raised elsewhere shows in
        `state`, and the last such error in `error`. Exceptions of the client, and StreamIdleError, are raised.

        A stream that was read otherwise before goes on with its next read. Once this is called, it hands out bytes
        only.

        Raises:
            SSEWireError: Another thread is reading the stream, or it is closed.
        """
        with _BEGINNING:
            if self._relay is None:
                self._following = Following(self._decoder, self._follower)
                self._relay = Relay(self._following, self._reads, self._follower)
        return self._relay

    def collect(self) -> ChatCompletion:
        """Read to the end and give the whole answer, merged.

        Raises what iterating raises; what came before an error is in `completion()` then, and calling `collect` again
        goes on behind a DecodeError or an APIError.

        Raises:
            SSEWireError: Chunks were handed out before, and the stream does not accumulate.
        """
        self._begin_collecting()
        for _ in self.iter_batches():
            pass
        return self.completion()

    def close(self) -> None:
        """Close the response and end the stream; from any thread, without waiting for one that is reading."""
        self._leave()
        self._follower.close(self._decoder.close)
