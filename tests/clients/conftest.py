"""The server process that the tests of real clients talk to."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.clients.served import Server, running


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """Start the server, and end it when all tests are done."""
    with running() as server:
        yield server
