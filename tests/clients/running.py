"""Running an event loop so that nobody stays behind in it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar, TypeVarTuple

import anyio

from tests.clients.served import SOON

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

# Seconds between two questions whether it is.
MOMENT: Final = 0.002


def run(backend: str, main: Callable[[*Ts], Awaitable[T]], *args: *Ts) -> T:
    """Run it on an event loop; no task is left behind, and the loop's exception handler is never called."""

    async def alone() -> T:
        troubles = _troubles(backend)
        before = {task.id for task in anyio.get_running_tasks()}
        result = await main(*args)
        # Generators inside some clients are closed by the loop, in a task of its own, when the collector finds them.
        end = time.monotonic() + SOON
        while (left := _others(before)) and time.monotonic() < end:  # noqa: ASYNC110 - nobody tells when they are done
            await anyio.sleep(MOMENT)
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
