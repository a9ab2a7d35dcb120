"""`AsyncChatStream`: an asynchronous iterator of chunks over the body of any asynchronous HTTP client.

Each read is awaited and fed to the decoder.
"""

from __future__ import annotations

import builtins
from collections.abc import AsyncIterator
from typing import Any, TypeVar, Unpack, overload

from .chat import BATCH, Chat, StreamOptions
from .closing import AsyncClosing
from .completion import ChatCompletion
from .idle import watched_async
from .models import ChatCompletionChunk
from .opening import open_async
from .pull import AsyncPull
from .relay import AsyncRelay, Following

T = TypeVar("T")


class AsyncChatStream(Chat[T], AsyncClosing):
    """Iterate asynchronously over the chunks of a chat-completion stream.

        async with client.stream(**ssewire.NSCALE.request(model=..., messages=[...])) as response:
            async for chunk in ssewire.AsyncChatStream(response):
                print(chunk.text, end="")

    The same as `ChatStream`, for responses of asynchronous clients, asynchronous iterables of bytes-like objects and
    `bytes`, on asyncio, trio or whatever the client runs on. A read that is cancelled leaves the stream `closed`.

    However much is there already, other tasks have a turn after some hundred events, or as many KiB (asyncio, trio).
    """

    @overload
    def __init__(self: AsyncChatStream[ChatCompletionChunk], source: Any, **options: Unpack[StreamOptions]) -> None: ...
    @overload
    def __init__(self, source: Any, *, type: builtins.type[T], **options: Unpack[StreamOptions]) -> None: ...
    def __init__(self, source: Any, *, type: Any = ChatCompletionChunk, **options: Unpack[StreamOptions]) -> None:
        super().__init__(type, **options)
        opened = self._open(open_async(source))
        reads = watched_async(opened.reads, self._patience)
        self._relay: AsyncRelay | None = None
        self._pull = AsyncPull(self._decoder, opened, reads, self._follower, self._follower.refusal)
        self._ready = self._pull.ready(self._decoder)

    def __aiter__(self) -> AsyncIterator[T]:
        """Give the chunks; a further iterator goes on where the last one stopped."""
        return self

    async def __anext__(self) -> T:
        """Give the next chunk."""
        for item in self._ready:
            return item
        return await self._ready

    def iter_text(self, choice: int | None = None) -> AsyncIterator[str]:
        """Give the text of each chunk that has some; of one choice alone where its index is given."""
        return self._pull.over(self._texts(choice))

    def iter_payloads(self) -> AsyncIterator[bytes]:
        """Give the payload of each event that is a chunk; see `ChatStream.iter_payloads`."""
        return self._pull.over(self._decoder.payloads())

    def iter_with_payload(self) -> AsyncIterator[tuple[bytes, T]]:
        """Give each chunk with the payload that it was decoded from, as it was sent."""
        return self._pull.over(self._decoder.pairs())

    def iter_batches(self, most: int = BATCH) -> AsyncIterator[list[T]]:
        """Give lists of chunks, one step of the loop for each; see `ChatStream.iter_batches`.

        Asynchronously a list ends where other tasks have their turn, too: behind 256 chunks, or as many KiB.
        """
        return self._pull.over(self._batches(most))

    def iter_bytes(self) -> AsyncIterator[bytes]:
        """Give the body exactly as it came, in the same reads, each at once; see `ChatStream.iter_bytes`."""
        if self._relay is None:
            self._pull.begin()
            self._following = Following(self._decoder, self._follower)
            self._relay = AsyncRelay(self._following, self._pull, self._follower)
        return self._relay

    async def collect(self) -> ChatCompletion:
        """Read to the end and give the whole answer, merged; see `ChatStream.collect`."""
        self._begin_collecting()
        async for _ in self.iter_batches():
            pass
        return self.completion()

    async def aclose(self) -> None:
        """Close the response and end the stream; from any task."""
        self._leave()
        await self._pull.aclose()
