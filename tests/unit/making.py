"""What the unit tests of streams are made from: events as servers send them, and sources that count what is done."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from typing import Any, TypeVar

import msgspec

T = TypeVar("T")

DONE = b"data: [DONE]\n\n"


def sse(payload: object) -> bytes:
    """An event whose data is this object as JSON, or these bytes as they are."""
    data = payload if isinstance(payload, bytes) else msgspec.json.encode(payload)
    return b"data: " + data + b"\n\n"


def lines(*payloads: bytes) -> bytes:
    """An event with a data line for each payload, as servers write several that forget the blank lines."""
    return b"".join(b"data: " + payload + b"\n" for payload in payloads) + b"\n"


def choice(content: str | None = None, finish_reason: str | None = None, index: int = 0) -> dict[str, Any]:
    """A choice of a chunk."""
    return {"index": index, "delta": {"content": content}, "finish_reason": finish_reason}


def chunk(content: str | None = None, finish_reason: str | None = None, index: int = 0, **members: Any) -> bytes:
    """An event that is a chunk with one choice."""
    return sse({"choices": [choice(content, finish_reason, index)], **members})


class Reads(Iterator[Any]):
    """An iterator over reads that counts how often it was asked and closed; an exception among them is raised."""

    def __init__(self, *reads: Any) -> None:
        self._reads = iter(reads)
        self.asked = 0
        self.closed = 0

    def __next__(self) -> Any:
        self.asked += 1
        read = next(self._reads)
        if isinstance(read, BaseException):
            raise read
        return read

    def close(self) -> None:
        self.closed += 1


class AsyncReads(AsyncIterator[Any]):
    """The same for asynchronous streams; a coroutine function among the reads is awaited for one."""

    def __init__(self, *reads: Any) -> None:
        self._reads = iter(reads)
        self.asked = 0
        self.closed = 0

    async def __anext__(self) -> Any:
        self.asked += 1
        for read in self._reads:
            if isinstance(read, BaseException):
                raise read
            return await read() if callable(read) else read
        raise StopAsyncIteration

    async def aclose(self) -> None:
        self.closed += 1


class Response:
    """What a synchronous HTTP client hands out; its reads are a generator, as in most."""

    def __init__(self, *reads: Any, status: int = 200, headers: dict[str, str] | None = None) -> None:
        self.status_code = status
        self.headers = headers or {}
        self.reads = Reads(*reads)
        self.closed = 0
        self.generator_closed = False

    def iter_bytes(self) -> Iterator[Any]:
        try:
            yield from self.reads
        finally:
            self.generator_closed = True

    def close(self) -> None:
        self.closed += 1


class AsyncResponse:
    """What an asynchronous HTTP client hands out."""

    def __init__(self, *reads: Any, status: int = 200, headers: dict[str, str] | None = None) -> None:
        self.status_code = status
        self.headers = headers or {}
        self.reads = AsyncReads(*reads)
        self.closed = 0
        self.generator_closed = False

    async def aiter_bytes(self) -> AsyncIterator[Any]:
        try:
            async for read in self.reads:
                yield read
        finally:
            self.generator_closed = True

    async def aclose(self) -> None:
        self.closed += 1
