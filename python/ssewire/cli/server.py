"""The demo's server: a real ASGI server on loopback that speaks as the providers do.

It is a process of its own. It binds a free port, says on standard output which one when it is ready, and serves until
its standard input ends: that happens when its parent closes it, and also when the parent dies in any way.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
import threading
from typing import TYPE_CHECKING

import uvicorn
from starlette.applications import Starlette
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Route

from .scripts import FAULTS, KEY, STREAMS, Script, altered

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterable

    from starlette.requests import Request
    from starlette.responses import Response

__all__ = ["main"]

#: Between two pieces: as long as a fast model takes for a token.
_PAUSE = 0.006


class _ConnectionDroppedError(Exception):
    """Raised inside a response, which makes the server close the connection as it stands."""


async def _pieces(script: Script, pieces: Iterable[bytes]) -> AsyncIterator[bytes]:
    for piece in pieces:
        yield piece
        await asyncio.sleep(_PAUSE)
    if script.dropped:
        raise _ConnectionDroppedError


def _endpoint(script: Script, *, alter: bool) -> Callable[[Request], Awaitable[Response]]:
    async def chat_completions(request: Request) -> Response:
        if request.headers.get("authorization") != f"Bearer {KEY}":
            return JSONResponse({"detail": "Invalid token."}, status_code=401)
        if (await request.json()).get("stream") is not True:
            return JSONResponse({"detail": "This server only streams."}, status_code=400)
        return StreamingResponse(
            _pieces(script, altered(script) if alter else script.pieces),
            status_code=script.status,
            media_type=script.media_type,
            headers={"Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no"},
        )

    return chat_completions


class _Server(uvicorn.Server):
    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if sockets and self.started:
            print(sockets[0].getsockname()[1], flush=True)


def main(alter: str) -> None:
    """Serve until standard input ends; `alter` names a stream in which one event is to be wrong."""
    routes = [
        Route(script.base_path + script.provider.path, _endpoint(script, alter=script.slug == alter), methods=["POST"])
        for script in (*STREAMS, *FAULTS)
    ]
    config = uvicorn.Config(
        Starlette(routes=routes), loop="asyncio", http="h11", lifespan="off", log_level="critical", access_log=False
    )
    server = _Server(config)

    def stop_with_parent() -> None:
        # os.read, not sys.stdin: a thread that waits inside sys.stdin would hold its lock when Python shuts down.
        while os.read(0, 1024):
            pass
        server.force_exit = server.should_exit = True

    threading.Thread(target=stop_with_parent, daemon=True).start()
    # The protocol is named because only then asyncio switches Nagle's algorithm off, which holds small events back.
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP) as listener:
        listener.bind(("127.0.0.1", 0))
        server.run(sockets=[listener])


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
