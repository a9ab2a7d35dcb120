"""What an asynchronous stream asks of its event loop: a turn for other tasks, and an end to waiting.

Neither asyncio nor trio is imported: the one that drives a coroutine is there already (anyio runs on either). Where
neither drives it, nobody waits for a turn, and nothing can end the waiting.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

T = TypeVar("T")


class Expired(Exception):  # noqa: N818 - no error, but the answer to a question
    """The time is over."""


async def turn() -> None:
    """Let the other tasks run."""
    if (trio := _trio()) is not None:
        await trio.lowlevel.checkpoint()
    elif (asyncio := _asyncio()) is not None:
        await asyncio.sleep(0)


async def within(seconds: float, step: Callable[[], Awaitable[T]]) -> T:
    """Await a step for so long.

    Raises:
        Expired: It took longer, and was cancelled.
    """
    if (trio := _trio()) is not None:
        with trio.move_on_after(seconds):
            return await step()
        raise Expired
    if (asyncio := _asyncio()) is None:
        return await step()
    loop, limit = asyncio.get_running_loop(), asyncio.timeout(None)

    def expire() -> None:
        # A round later: what came while other tasks kept the loop busy is taken first.
        timers.append(loop.call_soon(limit.reschedule, 0))

    timers = [loop.call_later(seconds, expire)]
    try:
        async with limit:
            try:
                return await step()
            finally:
                for timer in timers:
                    timer.cancel()
    except TimeoutError:
        # The step may have raised one of its own.
        if limit.expired():
            raise Expired from None
        raise


def _trio() -> Any:
    trio: Any = sys.modules.get("trio")
    try:
        return trio and trio.lowlevel.current_task() and trio
    except (RuntimeError, AttributeError):  # it runs elsewhere, or is being imported right now
        return None


def _asyncio() -> Any:
    asyncio: Any = sys.modules.get("asyncio")
    try:
        return asyncio and asyncio.current_task() and asyncio
    except (RuntimeError, AttributeError):
        return None
