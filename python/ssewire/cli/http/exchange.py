"""One request and its answer, whatever the version of HTTP."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

from .encoding import Encoder, Encoding, encoder

__all__ = ["LARGEST_BODY", "Encoding", "Exchange", "Framing", "PeerLeftError", "Request", "joined"]

#: How the end of a body is told: by the last chunk, by the end of the connection, by its length told beforehand.
#: HTTP/2 has a way of its own, so there it only tells whether a length is sent.
Framing = Literal["chunked", "close", "length"]

#: The largest body of a request, in bytes: a long conversation with images in it.
LARGEST_BODY = 16 * 2**20

_NO_HEADERS: Mapping[str, str] = MappingProxyType({})


def joined(fields: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Header fields by name; those that came several times are joined by a comma."""
    whole: dict[str, str] = {}
    for name, value in fields:
        whole[name] = f"{whole[name]}, {value}" if name in whole else value
    return whole


class PeerLeftError(ConnectionError):
    """The peer has closed the connection, or reset the stream; there is nobody to send to."""


class Request(NamedTuple):
    """A request, read whole."""

    method: str
    #: Path and query, as sent.
    target: str
    #: Names in lower case; those that came several times are joined by a comma.
    headers: Mapping[str, str]
    body: bytes
    #: "1.0", "1.1" or "2".
    version: str
    #: Port of the client's end of the connection.
    peer: int


class Exchange(ABC):
    """One request and its answer, which is sent step by step.

    All that sends raises PeerLeftError once the peer has left; whoever answers may let it pass, it is nobody's failure.
    An answer that returns before its body is whole ends the connection (HTTP/2: resets the stream).
    """

    def __init__(self, request: Request) -> None:
        self.request = request
        #: The body is whole, so that the connection can be used again.
        self.ended = False
        #: An answer to HEAD, or of a status that has no body, is its head alone, whatever is sent.
        self.bodiless = request.method == "HEAD"
        self._encoder: Encoder = encoder("identity")

    async def start(
        self,
        status: int,
        headers: Mapping[str, str] = _NO_HEADERS,
        *,
        framing: Framing = "chunked",
        encoding: Encoding = "identity",
        length: int | None = None,
    ) -> None:
        """Send the head.

        Args:
            status: The status code.
            headers: What the head says beside framing and encoding.
            framing: How the end of the body is told.
            encoding: How each piece is compressed.
            length: Bytes in the body as they are sent, for ``framing="length"``; any number, true or not.

        Raises:
            EncodingMissingError: The package that compresses so is not installed.
            ValueError: ``framing="length"`` without a length.
        """
        if framing == "length" and length is None:
            raise ValueError('framing="length" needs the length')
        self._encoder = encoder(encoding)
        self.bodiless = self.bodiless or status in (204, 304)
        fields = dict(headers) if encoding == "identity" else {**headers, "content-encoding": encoding}
        await self._send_head(status, fields, framing, length)

    async def send(self, data: bytes) -> None:
        """Send a piece of the body in one write: one chunk, or one DATA frame where it fits; compressed and flushed."""
        data = b"" if self.bodiless else await self._encoder.sent(data)
        if data:
            await self._send_data(data)

    async def end(self) -> None:
        """End the body in order."""
        if not self.bodiless:
            if rest := self._encoder.finish():
                await self._send_data(rest)
            await self._send_end()
        self.ended = True

    async def respond(self, status: int, body: bytes, headers: Mapping[str, str] = _NO_HEADERS) -> None:
        """Send a whole answer, with its length."""
        await self.start(status, headers, framing="length", length=len(body))
        await self.send(body)
        await self.end()

    @abstractmethod
    async def send_raw(self, data: bytes) -> None:
        """Send bytes as they are, past all framing of the body: for faults in the framing itself (HTTP/1.1 only)."""

    @abstractmethod
    async def drop(self, *, reset: bool = False) -> None:
        """End the connection as it stands, with what was sent before delivered.

        Args:
            reset: With RST instead of FIN; on HTTP/2 the stream alone is reset, and the connection lives on.
        """

    @abstractmethod
    async def left(self) -> None:
        """Wait until the peer has closed the connection, one direction included, or (HTTP/2) reset the stream."""

    @abstractmethod
    async def _send_head(
        self, status: int, fields: Mapping[str, str], framing: Framing, length: int | None
    ) -> None: ...

    @abstractmethod
    async def _send_data(self, data: bytes) -> None: ...

    @abstractmethod
    async def _send_end(self) -> None: ...
