"""Who leaves, what is still open then, and running an event loop so that nobody stays behind in it."""

from __future__ import annotations

import asyncio
import resource
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, TypeVar, TypeVarTuple

import anyio
import pytest

from tests.clients import adapters
from tests.clients.reading import setups
from tests.clients.served import Server

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

SYNC: Final = setups(adapters.SYNC)
ASYNC: Final = setups(adapters.ASYNC)

# What is built on some of these, and knows HTTP.
_BUILT_ON: Final = [client for client in adapters.CLIENTS if client.framed and client not in adapters.HTTP]
SYNC_SDKS: Final = setups([client for client in _BUILT_ON if not client.backends])
ASYNC_SDKS: Final = setups([client for client in _BUILT_ON if client.backends])

# What was let go of is closed within so many seconds, as the server sees it.
SOON: Final = 1.0

# Seconds between two questions whether it is.
_MOMENT: Final = 0.002

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
    end = time.monotonic() + SOON
    while (left := open_connections(server)) and time.monotonic() < end:
        time.sleep(_MOMENT)
    return left


async def aconnections_left(server: Server) -> int:
    """The same, with turns for the event loop, which has its part in closing them."""
    end = time.monotonic() + SOON
    while (left := open_connections(server)) and time.monotonic() < end:  # noqa: ASYNC110 - another process knows
        await anyio.sleep(_MOMENT)
    return left


def run(backend: str, main: Callable[[*Ts], Awaitable[T]], *args: *Ts) -> T:
    """Run it on an event loop; no task is left behind, and the loop's exception handler is never called."""

    async def alone() -> T:
        troubles = _troubles(backend)
        before = {task.id for task in anyio.get_running_tasks()}
        result = await main(*args)
        # Generators inside some clients are closed by the loop, in a task of its own, when the collector finds them.
        end = time.monotonic() + SOON
        while (left := _others(before)) and time.monotonic() < end:  # noqa: ASYNC110 - nobody tells when they are done
            await anyio.sleep(_MOMENT)
        assert not left, left
        assert not troubles, troubles
        return result

    return anyio.run(alone, backend=backend)


def _others(before: set[int]) -> list[anyio.TaskInfo]:
    return [task for task in anyio.get_running_tasks() if task.id not in before]


def _troubles(backend: str) -> list[Any]:
    troubles: list[Any] = []
    if backend == "asyncio":
        asyncio.get_running_loop().set_exception_handler(lambda _, context: troubles.append(context))
    return troubles
