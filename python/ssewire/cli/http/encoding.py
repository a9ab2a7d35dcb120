"""Compression of a body piece by piece: after each piece its reader can have all of it."""

from __future__ import annotations

import asyncio
import importlib
import sys
import zlib
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["Encoder", "Encoding", "EncodingMissingError", "body_length", "encoder"]

Encoding = Literal["identity", "gzip", "br", "zstd"]

#: Bytes in a piece, and small pieces together, that take some milliseconds to compress.
_LARGE = 2**18
_MANY = 500


class EncodingMissingError(Exception):
    """The package that compresses so is not installed; the message names it."""


class Encoder(NamedTuple):
    """One body's way through compression."""

    #: A piece compressed and flushed.
    piece: Callable[[bytes], bytes]
    #: What ends the body.
    finish: Callable[[], bytes]

    async def sent(self, data: bytes) -> bytes:
        """A piece compressed and flushed; a large one takes a while, in which the loop goes on."""
        return self.piece(data) if len(data) < _LARGE else await asyncio.to_thread(self.piece, data)


def encoder(encoding: Encoding) -> Encoder:
    """Begin a body in this encoding.

    Raises:
        EncodingMissingError: Its package is not installed.
    """
    return {"identity": _identity, "gzip": _gzip, "br": _brotli, "zstd": _zstd}[encoding]()


async def body_length(pieces: Iterable[bytes], encoding: Encoding) -> int:
    """The bytes of a body as it will be sent; the loop goes on while they are counted.

    Raises:
        EncodingMissingError: The package that compresses so is not installed.
    """
    body = encoder(encoding)
    length = 0
    for number, piece in enumerate(pieces, 1):
        length += len(await body.sent(piece))
        if number % _MANY == 0:
            await asyncio.sleep(0)
    return length + len(body.finish())


def _identity() -> Encoder:
    return Encoder(lambda data: data, lambda: b"")


def _gzip() -> Encoder:
    body = zlib.compressobj(wbits=31)
    return Encoder(lambda data: body.compress(data) + body.flush(zlib.Z_SYNC_FLUSH), body.flush)


def _brotli() -> Encoder:
    try:
        body = importlib.import_module("brotli").Compressor()
    except ModuleNotFoundError:
        raise EncodingMissingError("br needs the package brotli: pip install brotli") from None
    return Encoder(lambda data: body.process(data) + body.flush(), body.finish)


def _zstd() -> Encoder:
    try:
        zstd = importlib.import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")
    except ModuleNotFoundError:
        raise EncodingMissingError("zstd needs the package backports.zstd: pip install backports.zstd") from None
    body = zstd.ZstdCompressor()
    return Encoder(lambda data: body.compress(data, body.FLUSH_BLOCK), body.flush)
