"""What tests of all kinds share: one event loop, and hypothesis without a clock."""

from __future__ import annotations

import asyncio
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
