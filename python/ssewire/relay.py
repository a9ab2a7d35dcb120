"""`iter_bytes`: the bytes of a body as they came, in the same reads, while the stream follows what is in them.

What is in a read is looked at after the read was handed out: before the next one is asked for, or when somebody asks
how the stream stands. So nothing in it can delay, change or stop its bytes, and they go on to the end of the body, past
the sentinel and past all errors; the last error stands in `stream.error`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import AsyncIterator, Iterator
from threading import Lock
from typing import Any

from . import _core
from .errors import SSEWireError
from .follow import ChatFollower
from .loops import turn
from .pull import REFUSAL_SIZE, AsyncPull


class Following:
    """Follows what is in the reads that were handed out."""

    def __init__(self, decoder: _core.ChunkDecoder[Any], follower: ChatFollower) -> None:
        self._decoder = decoder
        self._follower = follower
        # Whoever asks how the stream stands, from whichever thread, may be the one who looks; nobody waits for another.
        self._looking = Lock()
        # Reads that came while another thread looked.
        self._waiting: deque[bytes] = deque()
        self._ok = follower.ok
        # Of a refused request, the start of the body.
        self._body = bytearray()

    def take(self, read: Any) -> bytes:
        """Take a read to be looked at later, and give its bytes."""
        data = read if isinstance(read, bytes) else memoryview(read).tobytes()
        if not self._ok:
            self._body += data[: REFUSAL_SIZE - len(self._body)]
            return data
        try:
            if not self._waiting:
                self._decoder.feed(data)
                return data
        except SSEWireError:  # another thread looks
            pass
        self._waiting.append(data)
        return data

    def catch_up(self) -> None:
        """Look at all that was handed out."""
        while self.look():
            pass

    def look(self, *, at_end: bool = False) -> bool:
        """Look at a bounded part of it; gives whether there is more. Whatever this raises, the bytes go on."""
        if self._follower.over or not self._looking.acquire(False):
            return False
        self._follower.relaying = True
        try:
            while self._waiting:
                self._decoder.feed(self._waiting.popleft())
            if at_end:
                self._decoder.finish()
            return self._decoder.follow()
        except Exception as error:  # also what a function of the user's own raised
            return self._passed_over(error)
        finally:
            self._follower.relaying = False
            self._looking.release()

    def end(self) -> None:
        """The body has ended."""
        if self._follower.over:
            return
        if not self._ok:
            self._follower.error = self._follower.refusal(bytes(self._body))
            return
        self.catch_up()
        if self.look(at_end=True):
            self.catch_up()
        self._follower.end("incomplete")

    def _passed_over(self, error: Exception) -> bool:
        self._follower.error = error.with_traceback(None)
        # Of this class is what a decoder says that was closed: it has no more for us.
        is_closed = type(error) is SSEWireError
        if is_closed:
            self._waiting.clear()
        return not is_closed


class Relay(Iterator[bytes]):
    """The bytes of a synchronous stream."""

    def __init__(self, following: Following, reads: Iterator[Any], follower: ChatFollower) -> None:
        self._following = following
        self._reads = reads
        self._follower = follower
        self._reading = Lock()

    def __next__(self) -> bytes:
        """Give the next read."""
        if self._follower.has_left:
            raise self._follower.left()
        if not self._reading.acquire(False):
            raise SSEWireError("this stream is being read already: a stream belongs to one thread at a time")
        try:
            while self._following.look():
                pass
            if not self._follower.over:
                return self._following.take(next(self._reads))
        except StopIteration:
            self._following.end()
            if self._follower.has_left:
                raise self._follower.left() from None
        except BaseException as error:
            if (instead := self._follower.failed(error)) is not None:
                raise instead from error
            raise
        finally:
            self._reading.release()
        raise StopIteration


class AsyncRelay(AsyncIterator[bytes]):
    """The bytes of an asynchronous stream."""

    def __init__(self, following: Following, pull: AsyncPull, follower: ChatFollower) -> None:
        self._following = following
        self._pull = pull
        self._follower = follower

    async def __anext__(self) -> bytes:
        """Give the next read."""
        if self._follower.has_left:
            raise self._follower.left()
        return await self._pull.alone(self._next)

    async def _next(self) -> bytes:
        while self._following.look():
            await turn()
        if not self._follower.over:
            try:
                return self._following.take(await anext(self._pull.reads))
            except StopAsyncIteration:
                self._following.end()
                if self._follower.has_left:
                    raise self._follower.left() from None
        await self._pull.release()
        raise StopAsyncIteration
