"""From what a user hands over to its reads: the first row of the tables of `clients` that it fits, or iteration."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator, Callable, Iterator
from types import AsyncGeneratorType, GeneratorType
from typing import Any, Final, NamedTuple, cast

from .clients import ASYNC, SYNC, Way
from .responses import has
from .source import Once, Source


class _Kind(NamedTuple):
    """One of the two kinds of source."""

    name: str
    streams: str
    ways: tuple[Way, ...]
    iteration: str
    iterate: Callable[[Any], Any]
    last: str
    """What is tried when no way fits, in words."""

    def way(self, source: Any) -> Way | None:
        return next((way for way in self.ways if way.fits(source)), None)


_SYNC: Final = _Kind("synchronous", "ChatStream or EventStream", SYNC, "__iter__", iter, "iteration")
_ASYNC: Final = _Kind(
    "asynchronous", "AsyncChatStream or AsyncEventStream", ASYNC, "__aiter__", aiter, "asynchronous iteration"
)


def open_sync(source: Any) -> Source[Iterator[Any]]:
    """Find out how to read `source` synchronously.

    Raises:
        TypeError: It cannot be read so.
        SSEWireError: It has been read before, and its client has not kept the body.
    """
    if isinstance(source, (bytes, bytearray, memoryview)):
        return Source(cast(object, source), iter((source,)))
    if isinstance(source, (list, tuple, GeneratorType)):
        # Known at once: asking for all that a response may have takes longer than many a stream.
        return Source(source, iter(source), bare=True)
    return _open(source, _SYNC, _ASYNC)


def open_async(source: Any) -> Source[AsyncIterator[Any]]:
    """Find out how to read `source` asynchronously; raises the same as `open_sync`."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        return Source(cast(object, source), Once(source))
    if isinstance(source, AsyncGeneratorType):
        return Source(source, source, bare=True)
    return _open(source, _ASYNC, _SYNC)


def _open(source: Any, kind: _Kind, other: _Kind) -> Source[Any]:
    _refuse(source)
    if way := kind.way(source):
        return way.open(source)
    is_other = other.way(source) is not None
    if not is_other and has(source, kind.iteration):
        return Source(source, kind.iterate(source))
    if is_other or has(source, other.iteration):
        raise TypeError(f"{_name(source)} is {other.name}: use {other.streams} with it")
    tried = ", ".join(way.told_by for way in kind.ways)
    raise TypeError(
        f"{_name(source)} cannot be read: tried {tried} and {kind.last}; hand over anything that yields bytes"
    )


def _name(source: object) -> str:
    return type(source).__name__


def _refuse(source: object) -> None:
    """Refuse what looks like a source and is none."""
    if isinstance(source, type):
        raise TypeError(f"expected a source of bytes, got the class {source.__name__}: hand over an object")
    if isinstance(source, str):
        raise TypeError("expected a source of bytes, got str: hand over the body undecoded, as bytes")
    if hasattr(source, "__await__"):
        raise TypeError(f"expected a source of bytes, got {_name(source)}, which is to be awaited first")
    if isinstance(source, io.TextIOBase):
        raise TypeError("expected a source of bytes, got a text file: open it with mode 'rb'")
