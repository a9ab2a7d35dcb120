"""The demo's server: real HTTP on loopback that speaks as the providers do.

It is a process of its own. It binds a free port, says on standard output which one when it is ready, and serves until
its standard input ends: that happens when its parent closes it, and also when the parent dies in any way.
"""

from __future__ import annotations

import asyncio
import os
import sys
import threading
from typing import TYPE_CHECKING

import msgspec

from .http import Exchange, Listener
from .scripts import FAULTS, KEY, STREAMS, Script, altered

if TYPE_CHECKING:
    from .http import Answer

__all__ = ["main"]

#: Between two pieces, in seconds: as long as a fast model takes for a token.
_PAUSE = 0.006


class _Asked(msgspec.Struct):
    """What the server looks at in the body of a request."""

    stream: bool = False


def _answers(alter: str) -> Answer:
    """What answers requests for the scripts; in the stream named `alter` one event is wrong."""
    scripts = {script.base_path + script.provider.path: script for script in (*STREAMS, *FAULTS)}

    async def answer(exchange: Exchange) -> None:
        request = exchange.request
        script = scripts.get(request.target)
        if script is None:
            await _refuse(exchange, 404, "There is no such path.")
        elif request.method != "POST":
            await _refuse(exchange, 405, "Only POST goes here.")
        elif request.headers.get("authorization") != f"Bearer {KEY}":
            await _refuse(exchange, 401, "Invalid token.")
        elif not msgspec.json.decode(request.body, type=_Asked).stream:
            await _refuse(exchange, 400, "This server only streams.")
        else:
            await _stream(exchange, script, alter=script.slug == alter)

    return answer


async def _refuse(exchange: Exchange, status: int, detail: str) -> None:
    body = msgspec.json.encode({"detail": detail})
    await exchange.respond(status, body, {"content-type": "application/json"})


async def _stream(exchange: Exchange, script: Script, *, alter: bool) -> None:
    await exchange.start(script.status, {"content-type": script.media_type, "cache-control": "no-cache, no-transform"})
    for piece in altered(script) if alter else script.pieces:
        await exchange.send(piece)
        await asyncio.sleep(_PAUSE)
    if script.dropped:
        await exchange.drop()
    else:
        await exchange.end()


async def _serve(alter: str) -> None:
    loop = asyncio.get_running_loop()
    over = asyncio.Event()

    def stop_with_parent() -> None:
        # os.read, not sys.stdin: a thread that waits inside sys.stdin would hold its lock when Python shuts down.
        while os.read(0, 1024):
            pass
        loop.call_soon_threadsafe(over.set)

    async with Listener(_answers(alter)) as listener:
        print(listener.port, flush=True)
        threading.Thread(target=stop_with_parent, daemon=True).start()
        await over.wait()


def main(alter: str) -> None:
    """Serve until standard input ends; `alter` names a stream in which one event is to be wrong."""
    asyncio.run(_serve(alter))


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
