"""From what a user hands over to its reads: the first row of the tables of `clients` that it fits, or iteration."""

from __future__ import annotations

import io
from collections.abc import AsyncIterator, Iterator
from types import AsyncGeneratorType, GeneratorType
from typing import Any, NoReturn, cast

from .clients import ASYNC, SYNC, Way
from .responses import has
from .source import Once, Source


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
    _refuse(source)
    if way := _way(SYNC, source):
        return way.open(source)
    if not _way(ASYNC, source) and has(source, "__iter__"):
        return Source(source, iter(source))
    if _way(ASYNC, source) or has(source, "__aiter__"):
        raise TypeError(f"{_name(source)} is asynchronous: use AsyncChatStream or AsyncEventStream with it")
    return _unknown(source, SYNC, "iteration")


def open_async(source: Any) -> Source[AsyncIterator[Any]]:
    """Find out how to read `source` asynchronously; raises the same as `open_sync`."""
    if isinstance(source, (bytes, bytearray, memoryview)):
        return Source(cast(object, source), Once(source))
    if isinstance(source, AsyncGeneratorType):
        return Source(source, source, bare=True)
    _refuse(source)
    if way := _way(ASYNC, source):
        return way.open(source)
    if not _way(SYNC, source) and has(source, "__aiter__"):
        return Source(source, aiter(source))
    if _way(SYNC, source) or has(source, "__iter__"):
        raise TypeError(f"{_name(source)} is synchronous: use ChatStream or EventStream with it")
    return _unknown(source, ASYNC, "asynchronous iteration")


def _way(ways: tuple[Way, ...], source: Any) -> Way | None:
    return next((way for way in ways if way.fits(source)), None)


def _name(source: object) -> str:
    return type(source).__name__


def _unknown(source: object, ways: tuple[Way, ...], last: str) -> NoReturn:
    tried = ", ".join(way.told_by for way in ways)
    raise TypeError(f"{_name(source)} cannot be read: tried {tried} and {last}; hand over anything that yields bytes")


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
