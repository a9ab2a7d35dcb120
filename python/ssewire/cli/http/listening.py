"""Listening for connections, and ending all of them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, cast

from .connection import Answer, Service
from .http1 import Http1Connection
from .http2 import Http2Connection

if TYPE_CHECKING:
    import ssl
    from types import TracebackType
    from typing import Self

__all__ = ["Answer", "Listener"]

#: Seconds to wait for a peer's part in ending TLS; the connection counts as open so long.
_TLS_SHUTDOWN = 0.5


class Listener:
    """A server, from the moment its block is entered until it is left; then every connection ends.

    Args:
        answer: Answers a request; called for several at once.
        host: The address to listen at.
        port: The port; 0 is any free one, see `port`.
        tls: Makes it HTTPS; the context is told here which versions to offer, so each listener needs its own.
        http2: Offer HTTP/2 beside HTTP/1.1, which only goes with TLS.
    """

    def __init__(
        self,
        answer: Answer,
        host: str = "127.0.0.1",
        port: int = 0,
        *,
        tls: ssl.SSLContext | None = None,
        http2: bool = False,
    ) -> None:
        self._service = Service(answer)
        self._host = host
        self._tls = tls
        if tls is not None:
            tls.set_alpn_protocols(["h2", "http/1.1"] if http2 else ["http/1.1"])
        self._server: asyncio.Server | None = None
        self.port = port

    @property
    def connections(self) -> int:
        """How many connections are open now."""
        return len(self._service.connections)

    async def __aenter__(self) -> Self:
        """Begin to listen.

        Raises:
            OSError: The address or port cannot be had.
        """
        self._server = await asyncio.get_running_loop().create_server(
            lambda: _Opening(self._service),
            self._host,
            self.port,
            # For a thousand clients that come at once: a connection that finds no place waits for a whole second.
            backlog=1024,
            ssl=self._tls,
            ssl_shutdown_timeout=None if self._tls is None else _TLS_SHUTDOWN,
        )
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None  # noqa: S101
        self._server.close()
        await self._service.stop()


class _Opening(asyncio.Protocol):
    """A connection for the moment before it is known which version of HTTP it speaks."""

    def __init__(self, service: Service) -> None:
        self._service = service

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        if self._service.over:
            # Its TLS was not agreed on before the server ended.
            cast("asyncio.Transport", transport).abort()
            return
        secure = transport.get_extra_info("ssl_object")
        http2 = secure is not None and secure.selected_alpn_protocol() == "h2"
        kind = Http2Connection if http2 else Http1Connection
        connection = kind(self._service)
        cast("asyncio.Transport", transport).set_protocol(connection)
        connection.connection_made(transport)
