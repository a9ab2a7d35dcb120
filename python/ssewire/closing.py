"""Streams close when their block is left."""

from __future__ import annotations

from abc import ABC, abstractmethod
from types import TracebackType
from typing import Self


class Closing(ABC):
    """A context manager that closes itself."""

    @abstractmethod
    def close(self) -> None:
        """Close the response and end the stream; from any thread, without waiting for one that is reading."""

    def __enter__(self) -> Self:
        """Close the stream when the block is left."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the stream."""
        self.close()


class AsyncClosing(ABC):
    """An asynchronous context manager that closes itself."""

    @abstractmethod
    async def aclose(self) -> None:
        """Close the response and end the stream; from any task, without waiting for one that is reading."""

    async def __aenter__(self) -> Self:
        """Close the stream when the block is left."""
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close the stream."""
        await self.aclose()
