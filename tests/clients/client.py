"""What the tests and the documents know of a client: one row of the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pkgutil import resolve_name
from typing import Any, Literal, TypeAlias

from tests.clients.served import Stream

Raised: TypeAlias = str | tuple[str, ...]
Failure: TypeAlias = Literal["broken", "short", "reset", "timeout"]
Encoding: TypeAlias = Literal["gzip", "br", "zstd"]

TRIO_LIMITS = (
    "On trio, leaving before the end of the body makes trio warn of generators inside the client that it leaves to the "
    "collector."
)

ASYNCIO = ("asyncio",)
BOTH = ("asyncio", "trio")

ALL_ENCODINGS: tuple[Encoding, ...] = ("gzip", "br", "zstd")


@dataclass(frozen=True, kw_only=True, repr=False)
class Client:
    """A client, synchronous or asynchronous, as its users use it."""

    name: str
    """What the documents call it; a synchronous and an asynchronous row may share a name."""
    open: Callable[[Stream], Any]
    """Asks for a stream as users do: a context manager of what they hand over, asynchronous where `backends` are."""
    bare: Callable[[Any], Any]
    """The reads of that, at once, by the client's own means: what the stream's delay is compared with."""
    backends: tuple[str, ...] = ()
    """The event loops that it runs on; none: it is synchronous."""

    use: str
    """What a user writes, for a table."""
    example: str = ""
    """A whole program, which asks a server at `https://host/v1` and prints the text; the tests of the pages run it."""
    limits: tuple[str, ...] = ()
    """What the user of this client has to know: sentences for the documents, beside what the other members say."""
    cannot: Mapping[str, str] = field(default_factory=dict)
    """Scenarios that do not apply, and why: sentences for the documents."""

    broken: Raised
    """What it raises where a chunked body ends in mid-chunk: the names of classes, with those of their modules."""
    short: Raised = ()
    """What it raises where a body ends before the length that was told, if that is something else."""
    reset: Raised
    """What it raises where the connection is reset."""
    timeout: Raised
    """What it raises where no bytes come for as long as it was told to wait."""

    encodings: tuple[Encoding, ...] = ALL_ENCODINGS
    """What it decompresses."""
    framed: bool = True
    """Whether it knows HTTP: a status, and bodies that end before the connection does."""
    tls: bool = True
    """Whether `open` speaks TLS."""
    http2: bool = False
    """Whether it speaks HTTP/2."""
    follows: bool = True
    """Whether it follows the redirection of a POST, unasked."""
    judges: bool = False
    """Whether it raises for a bad status by itself, so that no stream comes of it."""
    lets_go: bool = True
    """Whether the connection ends with the stream; otherwise it is the user's to close."""
    wakes: bool = True
    """Whether a read that waits ends when the stream is closed from another thread or task."""
    resets: bool = True
    """Whether over HTTP/2, where the connection stays, the server is told that the stream has ended."""

    def raises(self, error: BaseException | None, failure: Failure) -> bool:
        """Whether this is what it raises for such a failure."""
        names: Raised = getattr(self, failure) or self.broken
        return isinstance(error, tuple(map(resolve_name, [names] if isinstance(names, str) else names)))

    def lets_go_of(self, stream: Stream) -> bool:
        """Whether the server sees at once that nobody reads any more."""
        return self.resets if stream.http2 else self.lets_go

    def __str__(self) -> str:
        return self.name
