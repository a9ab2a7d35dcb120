"""What comes out of the body of a chat stream, in plain terms: read by everything that reads one, and compared.

A chunk is told by its members as the built-in type has them, defaults left out; one that has a text and nothing else,
by that text. An error is told by one of the tuples below.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import msgspec

from ssewire import (
    APIError,
    AsyncChatStream,
    ChatCompletionChunk,
    ChatStream,
    ChunkDecoder,
    DecodeError,
    IncompleteStreamError,
    NotAStreamError,
)
from tests.conftest import Run
from tests.reading import awaited, every_cut, pieces, with_errors, with_errors_async

# A body below this size is cut in two at every byte.
_SMALL = 2048

# What the reason of a NotAStreamError must name, the most special first.
_NAMED = ("gzip", "zstd", "zlib", "bzip2", "xz", "lz4", "html", "empty", "completion", "newline", "json", "no event")


class Api(NamedTuple):
    """An APIError."""

    message: str
    body: Any
    type: str | None = None
    code: str | int | None = None
    param: str | None = None


class Undecodable(NamedTuple):
    """A DecodeError."""

    payload: bytes


class Incomplete(NamedTuple):
    """An IncompleteStreamError."""

    tail: bytes = b""


class NoStream(NamedTuple):
    """A NotAStreamError, and what its reason names."""

    named: str
    body: bytes


class Case(NamedTuple):
    """What must come out of a body: the items in their order, how it ended, and what was counted."""

    items: Sequence[Any]
    state: str
    finish_reasons: dict[int, str] = {}  # noqa: RUF012 - never changed
    usage: dict[str, Any] | None = None
    repaired: int = 0
    skipped: int = 0
    comments: int = 0


def plain(item: object) -> Any:
    """A chunk or an error in these terms."""
    match item:
        case APIError():
            return Api(item.message, item.body, item.type, item.code, item.param)
        case DecodeError():
            return Undecodable(item.payload)
        case IncompleteStreamError():
            return Incomplete(item.tail)
        case NotAStreamError():
            reason = item.reason.lower()
            return NoStream(next((name for name in _NAMED if name in reason), reason), item.body)
        case ChatCompletionChunk():
            members = msgspec.to_builtins(item)
            return item.text if members == {"choices": [{"delta": {"content": item.text}}]} else members
        case _:
            return item


class Outcome(NamedTuple):
    """All that one reader made of a body."""

    items: list[Any]
    reader: ChatStream[Any] | AsyncChatStream[Any] | ChunkDecoder[Any]


def with_stream(reads: Iterable[bytes], **options: Any) -> Outcome:
    """Let a ChatStream pull the reads."""
    stream = ChatStream(iter(reads), **options)
    return Outcome(with_errors(stream), stream)


def with_decoder(reads: Iterable[bytes], **options: Any) -> Outcome:
    """Push the reads into a ChunkDecoder."""
    decoder = ChunkDecoder(**options)
    items = [item for read in reads for item in with_errors(decoder.feed(read))]
    return Outcome(items + with_errors(decoder.finish()), decoder)


async def with_async_stream(reads: Iterable[bytes], **options: Any) -> Outcome:
    """Let an AsyncChatStream await the reads."""
    stream = AsyncChatStream(awaited(reads), **options)
    return Outcome(await with_errors_async(stream), stream)


def every_reader(reads: Sequence[bytes], run: Run, **options: Any) -> list[Outcome]:
    """What each kind of reader makes of the reads."""
    return [
        with_stream(reads, **options),
        with_decoder(reads, **options),
        run(with_async_stream(reads, **options)),
    ]


def check(right: Case, reads: Sequence[bytes], run: Run) -> None:
    """Every reader must give what is right, and nothing else."""
    chunks = sum(isinstance(item, (str, dict)) for item in right.items)
    decode_errors = sum(isinstance(item, Undecodable) for item in right.items)
    for items, reader in every_reader(reads, run):
        stats = reader.stats
        usage = None if reader.usage is None else msgspec.to_builtins(reader.usage)
        found = Case(
            [plain(item) for item in items],
            reader.state,
            reader.finish_reasons,
            usage,
            stats.repaired,
            stats.skipped_events,
            stats.comments,
        )
        assert found == right, (type(reader).__name__, reads)
        assert (stats.chunks, stats.decode_errors) == (chunks, decode_errors), (type(reader).__name__, reads)


def check_cuts(right: Case, body: bytes, run: Run) -> None:
    """The same, whole, byte by byte, and in every cut in two of a small body."""
    for reads in every_cut(body) if len(body) < _SMALL else ([body], pieces(body, 1)):
        check(right, reads, run)
