"""Kind 146, ctrl-c-in-rust: a real SIGINT while a stream waits for a read.

It comes out as KeyboardInterrupt, and nothing stays open. (`tests/unit/test_bounds.py` interrupts one huge read.)
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.clients.reading import Setup
from tests.clients.served import ROOT, Server
from tests.lifecycle.interrupted import SETUPS
from tests.lifecycle.leaving import NEVER, connections_left

# Synchronous clients whose blocking read looks at no signal before bytes come or their own limit is over.
DEAF = {"pyreqwest", "wreq"}

Child = subprocess.Popen[str]


@pytest.fixture(scope="module")
def child(server: Server) -> Iterator[Child]:
    """The process that is interrupted; whatever it says beside its answers is an error."""
    arguments = [json.dumps(server.ports), str(server.authority)]
    command = [sys.executable, "-W", "error", "-m", "tests.lifecycle.interrupted", *arguments]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, stderr=pipe, text=True) as process:
        yield process
        _, errors = process.communicate(timeout=NEVER)
        assert (process.returncode, errors) == (0, "")


def told(child: Child, line: str | None = None) -> Any:
    """What the process says next, once it has been told this."""
    assert child.stdin is not None
    assert child.stdout is not None
    if line is not None:
        child.stdin.write(line + "\n")
        child.stdin.flush()
    return json.loads(child.stdout.readline())


@pytest.mark.parametrize("setup", SETUPS, ids=str)
def test_ctrl_c_in_rust_and_in_a_read(setup: Setup, child: Child, server: Server) -> None:
    if setup.backend is None and setup.client.name in DEAF:
        pytest.skip("its blocking read looks at no signal before bytes come or its own limit is over")
    assert told(child, f"{SETUPS.index(setup)} interrupted-{SETUPS.index(setup)}") == {"reading": True}
    time.sleep(0.05)
    start = time.monotonic()
    child.send_signal(signal.SIGINT)
    # The runner of asyncio cancels the main task, and raises KeyboardInterrupt when that is done.
    caught = "CancelledError" if setup.backend == "asyncio" else "KeyboardInterrupt"
    assert told(child) == {"caught": caught, "state": "closed"}
    assert time.monotonic() - start < NEVER / 2
    if setup.client.lets_go:
        assert connections_left(server) == 0
    assert told(child, "") == {"out": "KeyboardInterrupt"}
