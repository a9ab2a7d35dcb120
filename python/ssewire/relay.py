"""`iter_bytes`: the bytes of a body as they came, in the same reads, while the stream follows what is in them.

What is in a read is looked at after the read was handed out: before the next one is asked for, or when somebody asks
how the stream stands. So nothing in it can delay, change or stop its bytes, and they go on to the end of the body, past
the sentinel and past all errors; the last error stands in `stream.error`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from threading import Lock, RLock, get_ident
from time import sleep
from typing import Any, Final

from . import _core
from .accumulate import ChatAccumulator
from .completion import ChatCompletion
from .errors import SSEWireError
from .follow import ChatFollower
from .loops import turn
from .pull import REFUSAL_SIZE, AsyncPull

# So many errors are passed over at a stretch.
_ERRORS: Final = 128
# For so many seconds, whoever asks leaves the lock to a reader that waits for it: enough for a thread to wake up.
_POLITE: Final = 0.001


class Following:
    """Follows what is in the reads that were handed out."""

    def __init__(self, decoder: _core.ChunkDecoder[Any], follower: ChatFollower) -> None:
        decoder.relay()
        follower.relaying = True
        self._decoder = decoder
        self._follower = follower
        # Whoever asks how the stream stands, from whichever thread, may be the one who looks. It is taken by `with`
        # where that can be: between a call of `acquire` and a `try` Ctrl-C may come, and it would be held for ever.
        self._lock = RLock()
        # The reader waits for the lock. Locks are not fair: of several threads that ask without a pause, one has it
        # nearly always, and the bytes wait.
        self._reader_waits = False
        self._looker: int | None = None
        self._ok = follower.ok
        # Of a refused request, the start of the body.
        self._body = bytearray()

    def take(self, read: Any) -> bytes:
        """Take a read to be looked at later, and give its bytes."""
        data = read if isinstance(read, bytes) else memoryview(read).tobytes()
        if not self._ok or self._decoder.over:
            self._follower.unseen += bool(data)
        if not self._ok:
            self._follower.refused_bytes += len(data)
            self._body += data[: REFUSAL_SIZE - len(self._body)]
        elif not self._decoder.closed:
            self._reader_waits = True
            with self._lock:
                self._reader_waits = False
                self._decoder.feed(data)
        return data

    def close(self) -> None:
        """The stream was left."""
        self._decoder.close()

    def catch_up(self, *, wait: bool = True) -> None:
        """Look at all that was handed out, unless another thread does that and is not to be waited for."""
        if wait:
            self._let_the_reader_go_first()
            with self._lock:
                self._look_at_all()
            return
        # Whoever fails or leaves waits no more.
        self._reader_waits = False
        # As `threading.Condition` asks it.
        nested = self._lock._is_owned()  # type: ignore[attr-defined]  # noqa: SLF001
        try:
            if nested or self._lock.acquire(blocking=False):
                self._look_at_all()
        finally:
            # Nothing is called before: what `acquire` has returned is lost where Ctrl-C comes right behind it.
            try:
                if not nested:
                    self._lock.release()
            except RuntimeError:
                pass  # it was not to be had

    def _look_at_all(self) -> None:
        while self._look():
            pass

    def is_looking_here(self) -> bool:
        """Whether this is asked from inside a look, by a function of the user's own."""
        return self._looker == get_ident()

    def look(self) -> bool:
        """Look at a bounded part of it; gives whether there is more. Whatever is raised by it, the bytes go on."""
        self._reader_waits = True
        with self._lock:
            self._reader_waits = False
            return self._look()

    def _look(self) -> bool:
        # A function of the user's own, called for an event, may ask how the stream stands.
        if self._looker is not None or self._follower.over or self._decoder.closed:
            return False
        try:
            self._looker = get_ident()
            return self._follow()
        finally:
            self._looker = None

    def _follow(self) -> bool:
        for _ in range(_ERRORS):
            try:
                return self._decoder.follow()
            except Exception as error:  # also what a function of the user's own raised
                if not self._follower.has_left:
                    self._follower.error = error.with_traceback(None)
                if self._decoder.closed:
                    return False
        return True

    def completion(self, accumulator: ChatAccumulator) -> ChatCompletion:
        """What was merged of all that was handed out, while nobody looks and merges more."""
        self._let_the_reader_go_first()
        with self._lock:
            self._look_at_all()
            return accumulator.completion()

    def _let_the_reader_go_first(self) -> None:
        # Once: it may be this thread that the reader waits for, where a signal's handler asks.
        if self._reader_waits and not self.is_looking_here():
            sleep(_POLITE)

    def leave(self) -> None:
        """The stream is about to be closed, which waits for nobody."""
        self.catch_up(wait=False)
        if not self._ok and not self._follower.over:
            self._refuse()

    def end(self) -> None:
        """The body has ended."""
        if not self._ok and not self._follower.over:
            self._refuse()
            return
        self._reader_waits = True
        with self._lock:
            self._reader_waits = False
            self._look_at_all()
            if not self._decoder.closed:
                self._decoder.finish()
            self._look_at_all()
        self._follower.end("incomplete")

    def _refuse(self) -> None:
        self._follower.error = self._follower.refusal(bytes(self._body))


class Relay(Iterator[bytes]):
    """The bytes of a synchronous stream."""

    def __init__(self, following: Following, reads: Iterator[Any], follower: ChatFollower) -> None:
        self._following = following
        self._reads = reads
        self._follower = follower
        self._reading = Lock()

    def __next__(self) -> bytes:
        """Give the next read."""
        follower = self._follower
        if follower.has_left:
            raise follower.left()
        if self._following.is_looking_here() or self._reading.locked():
            raise SSEWireError("this stream is being read already: a stream belongs to one thread at a time")
        # Of two that come at the same moment, one waits for the other.
        with self._reading:
            try:
                while self._following.look():
                    pass
                if not follower.over:
                    return self._following.take(next(self._reads))
            except StopIteration:
                self._following.end()
            except BaseException as error:
                try:
                    instead = self._fail(error)
                except BaseException as interruption:
                    # A signal that was waiting comes out where Python code runs next: it is what the stream ends by.
                    self._fail(interruption)
                    raise
                if instead is not None:
                    raise instead from error
                raise
        if follower.has_left:
            raise follower.left()
        raise StopIteration

    def _fail(self, error: BaseException) -> SSEWireError | None:
        self._following.catch_up(wait=False)
        instead = self._follower.failed(error)
        if not isinstance(error, Exception):
            self._following.close()
        return instead


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
        try:
            while self._following.look():
                await turn()
            if not self._follower.ok:
                # Nothing counts the reads of such a body.
                await turn()
            if not self._follower.over:
                return self._following.take(await anext(self._pull.reads))
        except StopAsyncIteration:
            self._following.end()
        except BaseException:
            # A gateway's client may leave at any time: what it was given last has the usage.
            self._following.catch_up(wait=False)
            raise
        if self._follower.has_left:
            raise self._follower.left()
        await self._pull.release()
        raise StopAsyncIteration
