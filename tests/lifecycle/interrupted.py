"""A process that is interrupted while it waits for a read: `test_interrupted.py` tells it what to read, and when.

    python -m tests.lifecycle.interrupted PORTS AUTHORITY

reads, line by line, the number of a client in `SETUPS` and the name of a stream, opens it, takes the first chunk, says
so and reads on. What ended that is printed, with the stream's state; the client stays open until the next line.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any, Final

import anyio

from ssewire import AsyncChatStream, ChatStream
from tests.clients.adapters import ASYNC, SYNC
from tests.clients.reading import Setup, setups
from tests.clients.served import Server, Stream

SETUPS: Final = setups([*SYNC, *ASYNC])


def tell(**what: Any) -> None:
    print(json.dumps(what), flush=True)  # noqa: T201 - the other process reads it


def read(setup: Setup, served: Stream) -> None:
    with setup.client.open(served) as response:
        stream = ChatStream(response)
        next(stream)
        tell(reading=True)
        try:
            next(stream)
        except BaseException as error:
            tell(caught=type(error).__name__, state=stream.state)
            sys.stdin.readline()
            raise


async def aread(setup: Setup, served: Stream) -> None:
    async with setup.client.open(served) as response:
        stream = AsyncChatStream(response)
        await anext(stream)
        tell(reading=True)
        try:
            await anext(stream)
        except BaseException as error:
            # Some turns for what was closed.
            await anyio.sleep(0.01)
            tell(caught=type(error).__name__, state=stream.state)
            sys.stdin.readline()
            raise


def main(ports: str, authority: str) -> None:
    # On trio, httpx leaves the generators inside its own to the collector.
    warnings.filterwarnings("ignore", "Async generator '(httpx2?|httpcore2?)", ResourceWarning)
    server = Server(json.loads(ports), Path(authority))
    for line in sys.stdin:
        number, name = line.split()
        setup = SETUPS[int(number)]
        served = Stream(server, "silent", name)
        came_out = None
        try:
            if setup.backend is None:
                read(setup, served)
            else:
                anyio.run(aread, setup, served, backend=setup.backend)
        except KeyboardInterrupt as error:
            came_out = type(error).__name__
        tell(out=came_out)


if __name__ == "__main__":
    main(*sys.argv[1:])
