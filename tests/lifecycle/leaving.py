"""Who leaves, and what is still open then."""

from __future__ import annotations

import resource
import time
from contextlib import suppress
from pathlib import Path
from typing import Final

import anyio
import pytest

from tests.clients import adapters
from tests.clients.reading import setups
from tests.clients.running import MOMENT, run
from tests.clients.served import SOON, Server, eventually

__all__ = [
    "ASYNC",
    "ASYNC_SDKS",
    "NEVER",
    "SOON",
    "SYNC",
    "SYNC_SDKS",
    "aconnections_left",
    "connections_left",
    "descriptors",
    "memory",
    "on_linux",
    "open_connections",
    "run",
    "sockets",
    "trio_tells_of_httpx",
]

SYNC: Final = setups(adapters.SYNC)
ASYNC: Final = setups(adapters.ASYNC)

# What is built on some of these, and knows HTTP.
_BUILT_ON: Final = [client for client in adapters.CLIENTS if client.framed and client not in adapters.HTTP]
SYNC_SDKS: Final = setups([client for client in _BUILT_ON if not client.backends])
ASYNC_SDKS: Final = setups([client for client in _BUILT_ON if client.backends])

# A read that does not end in so many seconds never will.
NEVER: Final = 10.0


# On trio, httpx leaves the generators inside its own to the collector, whoever stops before the end of a body, and trio
# tells of each.
trio_tells_of_httpx = pytest.mark.filterwarnings(r"ignore:Async generator '(httpx2?|httpcore2?)\.:ResourceWarning")

on_linux = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="only Linux tells what a process holds")


def descriptors() -> int:
    """How many files and sockets this process has open (Linux)."""
    return len(list(Path("/proc/self/fd").iterdir()))


def memory() -> int:
    """How many bytes of memory this process has (Linux)."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize()


def sockets(server: Server) -> int:
    """How many sockets this process holds that are connected to the server; where the system tells (Linux)."""
    if not (table := Path("/proc/net/tcp")).exists():
        return 0
    ours: set[str] = set()
    for descriptor in Path("/proc/self/fd").iterdir():
        with suppress(OSError):  # the one that lists them is gone by now
            ours.add(str(descriptor.readlink()))
    rows = [line.split() for line in table.read_text().splitlines()[1:]]
    port = f":{server.ports['http']:04X}"
    return sum(row[2].endswith(port) and f"socket:[{row[9]}]" in ours for row in rows)


def open_connections(server: Server) -> int:
    """How many connections there still are, on either side."""
    return max(int(server.ask("/connections")), sockets(server))


def connections_left(server: Server) -> int:
    """How many connections are left soon."""
    eventually(lambda: open_connections(server) == 0)
    return open_connections(server)


async def aconnections_left(server: Server) -> int:
    """The same, with turns for the event loop, which has its part in closing them."""
    end = time.monotonic() + SOON
    while (left := open_connections(server)) and time.monotonic() < end:  # noqa: ASYNC110 - another process knows
        await anyio.sleep(MOMENT)
    return left
