"""HTTP/2 by h2: many exchanges on one connection, each a stream that is reset on its own."""

from __future__ import annotations

import asyncio
import contextlib
from http import HTTPStatus
from typing import TYPE_CHECKING, cast

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.events import (
    ConnectionTerminated,
    DataReceived,
    Event,
    RequestReceived,
    StreamEnded,
    StreamReset,
)
from h2.exceptions import ProtocolError

from .connection import Connection
from .exchange import LARGEST_BODY, Exchange, Framing, PeerLeftError, Request, joined

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from .connection import Service

__all__ = ["Http2Connection"]


class _Incoming:
    """A request whose body has not come yet, or not all of it."""

    def __init__(self, headers: Sequence[tuple[str, str]]) -> None:
        self.fields = joined(headers)
        self.body = bytearray()

    def whole(self, peer: int) -> Request:
        headers = {name: value for name, value in self.fields.items() if not name.startswith(":")}
        if host := self.fields.get(":authority"):
            headers.setdefault("host", host)
        return Request(self.fields[":method"], self.fields[":path"], headers, bytes(self.body), "2", peer)


class Http2Connection(Connection):
    """The streams of one connection."""

    def __init__(self, service: Service) -> None:
        super().__init__(service)
        self.h2 = H2Connection(H2Configuration(client_side=False, header_encoding="utf-8"))
        #: Set when something came: a window may have opened, or a stream have ended.
        self.moved = asyncio.Event()
        self._incoming: dict[int, _Incoming] = {}
        self._exchanges: dict[int, Http2Exchange] = {}

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send the settings of this side."""
        super().connection_made(transport)
        self.h2.initiate_connection()
        self._send_pending()

    def data_received(self, data: bytes) -> None:
        """Take frames."""
        try:
            for event in self.h2.receive_data(data):
                self._take(event)
        except ProtocolError:
            self._send_pending()
            self._end()
        else:
            self._send_pending()
        self.moved.set()

    async def flush(self) -> None:
        """Write out what h2 has made."""
        await self.write(self.h2.data_to_send())

    def _send_pending(self) -> None:
        if data := self.h2.data_to_send():
            self.transport.write(data)

    def _take(self, event: Event) -> None:
        if isinstance(event, RequestReceived):
            self._incoming[event.stream_id] = _Incoming(cast("Sequence[tuple[str, str]]", event.headers))
        elif isinstance(event, DataReceived):
            self._take_body(event)
        elif isinstance(event, StreamEnded) and event.stream_id in self._incoming:
            request = self._incoming.pop(event.stream_id).whole(self.peer)
            exchange = self._exchanges[event.stream_id] = Http2Exchange(self, request, event.stream_id)
            self.start(self._finish(exchange, event.stream_id))
        elif isinstance(event, StreamReset):
            self._incoming.pop(event.stream_id, None)
            if exchange_ := self._exchanges.get(event.stream_id):
                exchange_.peer_left.set()
        elif isinstance(event, ConnectionTerminated):
            # By the standard, streams that run could go on.
            self._end()

    def _take_body(self, event: DataReceived) -> None:
        self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        incoming = self._incoming.get(event.stream_id)
        if incoming is not None and len(incoming.body) <= LARGEST_BODY:
            incoming.body += event.data

    async def _finish(self, exchange: Http2Exchange, stream_id: int) -> None:
        await self.run(exchange)
        if not exchange.over:
            with contextlib.suppress(PeerLeftError):
                await exchange.drop(reset=True)
        del self._exchanges[stream_id]

    def _end(self) -> None:
        # From here on h2 sends nothing any more, so that for those who answer the peer has left.
        self._note_leaving()
        self.transport.close()

    def _note_leaving(self) -> None:
        super()._note_leaving()
        for exchange in self._exchanges.values():
            exchange.peer_left.set()
        self.moved.set()


class Http2Exchange(Exchange):
    """One request and its answer on a stream of HTTP/2."""

    def __init__(self, connection: Http2Connection, request: Request, stream_id: int) -> None:
        super().__init__(request)
        self._connection = connection
        self._h2 = connection.h2
        self._stream_id = stream_id
        self._dropped = False
        self.peer_left = asyncio.Event()

    @property
    def over(self) -> bool:
        """Nothing can be sent any more."""
        return self.ended or self._dropped or self.peer_left.is_set()

    async def send_raw(self, data: bytes) -> None:
        raise NotImplementedError("HTTP/2 has no bytes outside of frames")

    async def drop(self, *, reset: bool = False) -> None:
        self._dropped = True
        if reset:
            self._check_peer()
            self._h2.reset_stream(self._stream_id, ErrorCodes.INTERNAL_ERROR)
            await self._connection.flush()
        else:
            self._connection.transport.close()

    async def left(self) -> None:
        await self.peer_left.wait()

    async def _send_head(self, status: int, fields: Mapping[str, str], framing: Framing, length: int | None) -> None:
        self._check_peer()
        told = {"content-length": str(length)} if framing == "length" and status != HTTPStatus.NO_CONTENT else {}
        headers = [(":status", str(status)), *((name.lower(), value) for name, value in {**fields, **told}.items())]
        self._h2.send_headers(self._stream_id, headers, end_stream=self.bodiless)
        await self._connection.flush()

    async def _send_data(self, data: bytes) -> None:
        rest = memoryview(data)
        while rest:
            self._check_peer()
            room = min(self._h2.local_flow_control_window(self._stream_id), self._h2.max_outbound_frame_size)
            if room <= 0:
                self._connection.moved.clear()
                await self._connection.moved.wait()
                continue
            self._h2.send_data(self._stream_id, bytes(rest[:room]))
            rest = rest[room:]
            await self._connection.flush()

    async def _send_end(self) -> None:
        self._check_peer()
        self._h2.end_stream(self._stream_id)
        await self._connection.flush()

    def _check_peer(self) -> None:
        if self.peer_left.is_set():
            raise PeerLeftError("the peer has left")
