"""HTTP/1.1: h11 reads the requests; answers are written here, for h11 would rightly refuse to write most faults."""

from __future__ import annotations

import asyncio
from http import HTTPStatus
from typing import TYPE_CHECKING

import h11

from .connection import Connection
from .exchange import LARGEST_BODY, Exchange, Framing, Request, joined

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .connection import Service

__all__ = ["Http1Connection"]


class Http1Connection(Connection):
    """Requests one after the other, as long as each answer ends in order."""

    def __init__(self, service: Service) -> None:
        super().__init__(service)
        self._parser = h11.Connection(h11.SERVER)
        self._arrived = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin to answer requests."""
        super().connection_made(transport)
        self.start(self._converse())

    def data_received(self, data: bytes) -> None:
        """Keep what came for `_next_request`."""
        self._parser.receive_data(data)
        self._arrived.set()

    def _note_leaving(self) -> None:
        super()._note_leaving()
        self._arrived.set()

    async def _converse(self) -> None:
        try:
            while request := await self._next_request():
                exchange = Http1Exchange(self, request)
                await self.run(exchange)
                if not exchange.reusable:
                    break
        except h11.RemoteProtocolError as error:
            self._refuse(error.error_status_hint)
        self.transport.close()

    async def _next_request(self) -> Request | None:
        """The next request, whole; None when the peer leaves instead."""
        # A parser for each request: h11 goes on to a second one only when it has written the first answer itself.
        parser, self._parser = self._parser, h11.Connection(h11.SERVER)
        if came := parser.trailing_data[0]:
            # Only when there is something: to h11 no bytes are the end of the connection.
            self._parser.receive_data(came)
        head: h11.Request | None = None
        body = bytearray()
        while True:
            event = self._parser.next_event()
            if event is h11.NEED_DATA:
                if self.peer_left.is_set():
                    return None
                if self._parser.they_are_waiting_for_100_continue:
                    self.transport.write(b"HTTP/1.1 100 Continue\r\n\r\n")
                self._arrived.clear()
                await self._arrived.wait()
            elif isinstance(event, h11.Request):
                head = event
            elif isinstance(event, h11.Data):
                if len(body) <= LARGEST_BODY:
                    body += event.data
            elif isinstance(event, h11.EndOfMessage) and head is not None:
                return Request(
                    head.method.decode(),
                    head.target.decode(),
                    joined((name.decode("latin-1"), value.decode("latin-1")) for name, value in head.headers),
                    bytes(body),
                    head.http_version.decode(),
                    self.peer,
                )

    def _refuse(self, status: int) -> None:
        if not self.peer_left.is_set():
            self.transport.write(_head(status, {"content-length": "0", "connection": "close"}))


class Http1Exchange(Exchange):
    """One request and its answer on a connection of HTTP/1.1."""

    def __init__(self, connection: Http1Connection, request: Request) -> None:
        super().__init__(request)
        self._connection = connection
        self._framing: Framing = "chunked"
        self._last = request.version == "1.0" or "close" in request.headers.get("connection", "").lower()

    @property
    def reusable(self) -> bool:
        """The connection can have another request behind this one."""
        return self.ended and not self._last

    async def send_raw(self, data: bytes) -> None:
        await self._connection.write(data)

    async def drop(self, *, reset: bool = False) -> None:
        if reset:
            self._connection.reset()
        else:
            self._connection.transport.close()

    async def left(self) -> None:
        await self._connection.peer_left.wait()

    async def _send_head(self, status: int, fields: Mapping[str, str], framing: Framing, length: int | None) -> None:
        # A client of HTTP/1.0 knows no chunks.
        self._framing = "close" if framing == "chunked" and self.request.version == "1.0" else framing
        told = {
            "chunked": {"transfer-encoding": "chunked"},
            "close": {"connection": "close"},
            "length": {"content-length": str(length)},
        }
        all_fields = {**fields, **({} if status == HTTPStatus.NO_CONTENT else told[self._framing])}
        self._last = self._last or "close" in all_fields.get("connection", "").lower()
        await self._connection.write(_head(status, all_fields))

    async def _send_data(self, data: bytes) -> None:
        await self._connection.write(b"%x\r\n%b\r\n" % (len(data), data) if self._framing == "chunked" else data)

    async def _send_end(self) -> None:
        if self._framing == "chunked":
            await self._connection.write(b"0\r\n\r\n")
        elif self._framing == "close":
            self._connection.transport.close()


def _head(status: int, fields: Mapping[str, str]) -> bytes:
    phrase = HTTPStatus(status).phrase if status in set(HTTPStatus) else ""
    lines = [f"HTTP/1.1 {status} {phrase}", *(f"{name}: {value}" for name, value in fields.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
