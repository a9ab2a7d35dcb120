"""An HTTP server of its own process, which streams in step with its reader and fails on purpose.

    python -m tests.clients.server KEY_AND_CERTIFICATE

prints its ports: `http`, `https` (HTTP/1.1 alone), `h2` (both by choice of the client), and `aside`.
A request for `/<scenario>/<id>` (a longer path does as well, `?framing=` and `?encoding=` choose the body's) is
answered as the scenario says. The side channel answers `GET /confirm/<id>/<number>`: so many events have reached the
reader's loop, only now the next is sent, and a client that holds an event back is stuck with it; no clock is needed to
see that. `GET /gone/<id>` tells whether the server is done with that stream, by its reader's leaving as a rule, and
`GET /connections` how many connections are open.
"""

from __future__ import annotations

import asyncio
import json
import ssl
import sys
from collections import defaultdict
from contextlib import AsyncExitStack
from typing import Any, cast
from urllib.parse import parse_qs, urlsplit

from ssewire.cli.http import Encoding, Exchange, Framing, Listener
from tests.clients.plays import Session, Turn
from tests.clients.scenarios import SCENARIOS


class Server:
    """All streams, by their ids, and the listeners that they come over."""

    def __init__(self, certificate: str) -> None:
        self._sessions: defaultdict[str, Session] = defaultdict(Session)
        self.listeners = {
            "http": Listener(self.play),
            "https": Listener(self.play, tls=_context(certificate)),
            "h2": Listener(self.play, tls=_context(certificate), http2=True),
        }

    async def play(self, exchange: Exchange) -> None:
        """Answer a request for a stream."""
        target = urlsplit(exchange.request.target)
        _, scenario, name, *_ = target.path.split("/")
        query = {key: values[-1] for key, values in parse_qs(target.query).items()}
        row, session = SCENARIOS[scenario], self._sessions[name]
        framing = cast("Framing", query.get("framing", row.framing or "chunked"))
        encoding = cast("Encoding", query.get("encoding", row.encoding))
        try:
            await row.play(Turn(exchange, session, framing, encoding))
        finally:
            session.gone = True

    async def tell(self, exchange: Exchange) -> None:
        """Answer on the side channel."""
        _, what, *rest = exchange.request.target.split("/")
        answer: Any = None
        if what == "confirm":
            await self._sessions[rest[0]].confirm(int(rest[1]))
        elif what == "gone":
            answer = self._sessions[rest[0]].gone
        elif what == "connections":
            answer = sum(listener.connections for listener in self.listeners.values())
        await exchange.respond(200, json.dumps(answer).encode())


def _context(certificate: str) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate)
    return context


async def main(certificate: str) -> None:
    server = Server(certificate)
    listeners = {**server.listeners, "aside": Listener(server.tell)}
    async with AsyncExitStack() as stack:
        for listener in listeners.values():
            await stack.enter_async_context(listener)
        # The ports, for whoever started this process.
        print(json.dumps({name: listener.port for name, listener in listeners.items()}), flush=True)  # noqa: T201
        await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
