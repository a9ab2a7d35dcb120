"""What tests of all kinds share: one event loop, hypothesis without a clock, and a bound for memory, and Ctrl-C."""

from __future__ import annotations

import asyncio
import gc
import signal
import sys
from collections.abc import Callable, Coroutine, Iterator
from typing import Any, TypeAlias

import pytest
from hypothesis import settings

Run: TypeAlias = Callable[[Coroutine[Any, Any, Any]], Any]

settings.register_profile("ssewire", deadline=None, print_blob=True)
settings.load_profile("ssewire")


@pytest.fixture(scope="session")
def run() -> Iterator[Run]:
    """Run a coroutine to its end, all of them on one event loop: making one for each example is slow."""
    with asyncio.Runner() as runner:
        yield runner.run


@pytest.fixture(scope="session", autouse=True)
def little_to_collect() -> None:
    """Let the collector leave alone what stands to the end: the tests alone are millions of objects.

    Many of them call it, and looking at all of those takes a second each time.
    """
    gc.collect()
    gc.freeze()


# Whoever was started in the background has Ctrl-C ignored, and so would have the programs that tests interrupt.
signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session", autouse=True)
def bounded_memory() -> Iterator[None]:
    """Let a test that grows without end fail by itself and be named, before the whole run is killed without a word.

    What reports the failures gets more than these 8 GiB: they may hold all of it.
    """
    if sys.platform != "linux":
        yield
        return
    import resource

    before = resource.getrlimit(resource.RLIMIT_DATA)
    limit = min([8 * 1024**3, *(limit for limit in before if limit != resource.RLIM_INFINITY)])
    resource.setrlimit(resource.RLIMIT_DATA, (limit, before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_DATA, before)
