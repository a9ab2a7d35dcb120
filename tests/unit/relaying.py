"""Streams whose bytes are relayed: step by step and in the same words for both kinds, or by a thread."""

from __future__ import annotations

import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any

import msgspec

from ssewire import AsyncChatStream, ChatCompletion, ChatStream
from tests.conftest import Run
from tests.unit.making import AsyncResponse, Response


class Relaying:
    """A stream over a response with these reads; without `run` a synchronous one."""

    def __init__(
        self, run: Run | None, *reads: Any, status: int = 200, headers: dict[str, str] | None = None, **options: Any
    ) -> None:
        self._run = run
        self.response: Response | AsyncResponse
        self.stream: ChatStream[Any] | AsyncChatStream[Any]
        if run is None:
            self.response = Response(*reads, status=status, headers=headers)
            self.stream = ChatStream(self.response, **options)
        else:
            self.response = AsyncResponse(*reads, status=status, headers=headers)
            self.stream = AsyncChatStream(self.response, **options)

    @property
    def relay(self) -> Any:
        """The iterator over the bytes. Asking for it begins them: from then on the stream hands out nothing else."""
        return self.stream.iter_bytes()

    def _next(self, items: Iterator[Any] | AsyncIterator[Any]) -> Any:
        if isinstance(items, AsyncIterator):
            assert self._run is not None

            async def step() -> Any:
                return await anext(items, None)

            return self._run(step())
        return next(items, None)

    def next(self, items: Any = None) -> Any:
        """The next read, or the next of another iterator over the stream; None at the end."""
        return self._next(items or self.relay)

    def rest(self) -> list[bytes]:
        """All reads to the end."""
        return list(iter(self.next, None))

    def chunk(self, items: Any = None) -> Any:
        """The next chunk, or what else an iterator over the stream gives; None at the end."""
        return self._next(items or self.stream)

    def collect(self) -> ChatCompletion:
        """The whole answer."""
        if isinstance(self.stream, ChatStream):
            return self.stream.collect()
        assert self._run is not None
        completion: ChatCompletion = self._run(self.stream.collect())
        return completion

    def close(self) -> None:
        """Leave the stream."""
        if isinstance(self.stream, ChatStream):
            self.stream.close()
        else:
            assert self._run is not None
            self._run(self.stream.aclose())

    @property
    def released(self) -> tuple[int, bool]:
        """How often the response was closed, and whether its generator is."""
        return self.response.closed, self.response.generator_closed


HELD = (0, False)
RELEASED = (1, True)


def counts(stream: Any) -> dict[str, Any]:
    """The counts of a stream, without its times."""
    members: dict[str, Any] = msgspec.to_builtins(stream.stats)
    return {name: members[name] for name in list(members)[:7]}


class Relayer(threading.Thread):
    """Relays a stream to its end."""

    def __init__(self, stream: ChatStream[Any]) -> None:
        super().__init__()
        self._stream = stream
        self.found: list[bytes] = []
        self.raised: Exception | None = None

    def run(self) -> None:
        try:
            self.found += self._stream.iter_bytes()
        except Exception as error:
            self.raised = error


@contextmanager
def switching_often() -> Iterator[None]:
    """Let threads take turns after almost every step."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(interval)
