"""What connections of both versions share: writing, the peer's leaving, and the tasks that answer."""

from __future__ import annotations

import asyncio
import os
import socket
import struct
import sys
import traceback
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeAlias, cast

from .exchange import LARGEST_BODY, Exchange, PeerLeftError

__all__ = ["Answer", "Connection", "Service"]

Answer: TypeAlias = Callable[[Exchange], Awaitable[None]]


#: asyncio's TLS takes a write of any size and says only at the next one that it had to pile it up. Records are smaller.
_TLS_SLICE = 64 * 1024


class Service:
    """What the connections of one listener share."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.connections: set[Connection] = set()
        #: Those that answer: they may outlive the connection that they answer on.
        self.tasks: set[asyncio.Task[None]] = set()
        self.over = False

    async def stop(self) -> None:
        """End the connections, and all that runs for them, for good."""
        self.over = True
        tasks, connections = list(self.tasks), list(self.connections)
        for task in tasks:
            task.cancel()
        for connection in connections:
            connection.transport.abort()
        await asyncio.gather(*tasks, return_exceptions=True)
        for connection in connections:
            await connection.closed.wait()


class Connection(asyncio.Protocol):
    """One connection; asyncio has switched Nagle's algorithm off, so each write goes out at once."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._transport: asyncio.Transport | None = None
        self._writable = asyncio.Event()
        self._writable.set()
        self.closed = asyncio.Event()
        self._slice = sys.maxsize
        #: Set when the peer has closed its side, or the connection is lost.
        self.peer_left = asyncio.Event()

    @property
    def transport(self) -> asyncio.Transport:
        """The transport, from `connection_made` on."""
        assert self._transport is not None  # noqa: S101
        return self._transport

    @property
    def peer(self) -> int:
        """Port of the client's end."""
        return cast("int", self.transport.get_extra_info("peername")[1])

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Count the connection; asyncio calls it at the beginning."""
        self._transport = cast("asyncio.Transport", transport)
        # A write is over when the system has taken all of it. (0 would have a TLS transport paused for ever.)
        self._transport.set_write_buffer_limits(high=1, low=0)
        if transport.get_extra_info("ssl_object") is not None:
            self._slice = _TLS_SLICE
        self._service.connections.add(self)

    def eof_received(self) -> None:
        """Take the end of what the peer sends for its leaving, and end the connection."""
        self._note_leaving()
        # At once: asyncio closes it when all is sent, and a peer that left with its window full takes it minutes later.
        self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - asyncio's signature
        """Count the connection no more; asyncio calls it at the end, whoever made it."""
        self._note_leaving()
        self._service.connections.discard(self)
        self.closed.set()

    def pause_writing(self) -> None:
        """Let writers wait; asyncio calls it when the system does not take more."""
        self._writable.clear()

    def resume_writing(self) -> None:
        """Let writers go on; asyncio calls it when the system has taken all."""
        self._writable.set()

    async def write(self, data: bytes) -> None:
        """Hand bytes over to the system, all of them.

        Raises:
            PeerLeftError: Nobody is there to get them.
        """
        rest = memoryview(data)
        while rest:
            self._check_peer()
            self.transport.write(rest[: self._slice])
            rest = rest[self._slice :]
            # One turn of the loop whatever the system takes: the peer's leaving would not be noticed otherwise.
            await asyncio.sleep(0)
            await self._writable.wait()
        self._check_peer()

    def start(self, work: Coroutine[Any, Any, None]) -> None:
        """Let something run beside the connection, until it is over or the server ends."""
        task = asyncio.get_running_loop().create_task(work)
        self._service.tasks.add(task)
        task.add_done_callback(self._service.tasks.discard)

    async def run(self, exchange: Exchange) -> None:
        """Have one request answered; a failure is printed, and is the business of this answer alone."""
        try:
            if len(exchange.request.body) > LARGEST_BODY:
                # What is beyond was read and let go of: most clients look for an answer only when their body is sent.
                await exchange.respond(413, b"")
            else:
                await self._service.answer(exchange)
        except PeerLeftError:
            pass
        except Exception:  # the answer may raise anything
            traceback.print_exc()

    def reset(self) -> None:
        """End the connection with RST."""
        below = self.transport.get_extra_info("socket")
        # Linger, for no time at all: two numbers, of which Windows makes shorter ones.
        linger = struct.pack("hh" if os.name == "nt" else "ii", 1, 0)
        below.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.transport.abort()

    def _note_leaving(self) -> None:
        self.peer_left.set()
        self._writable.set()

    def _check_peer(self) -> None:
        if self.peer_left.is_set():
            raise PeerLeftError("the peer has left")
