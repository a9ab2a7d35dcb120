"""The server of these tests, and what every one of them leaves behind: nothing."""

from __future__ import annotations

import gc
import json
import resource
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
import trustme

from tests.clients.served import ROOT, Server
from tests.lifecycle.leaving import SOON, connections_left


@pytest.fixture(scope="module", autouse=True)
def _quick_collections() -> Iterator[None]:
    """The collector passes over what was imported: it is asked for after each test."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


# A thousand streams and more, on both sides; the server has the limits of this process.
DESCRIPTORS = 4096


@pytest.fixture(scope="session")
def descriptors() -> int:
    """How many files and sockets this process, and one that it starts, may have open: raised where that is allowed."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < DESCRIPTORS and (hard == resource.RLIM_INFINITY or hard > soft):
        soft = DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, DESCRIPTORS)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    return soft


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory, descriptors: int) -> Iterator[Server]:
    """Start the server, and end it when all tests are done."""
    del descriptors  # raised before the server begins
    authority: Path = tmp_path_factory.mktemp("authority") / "authority.pem"
    trustme.CA().cert_pem.write_to_path(authority)
    command = [sys.executable, "-m", "tests.lifecycle.server"]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe, text=True) as process:
        assert process.stdout is not None
        with closing(Server(json.loads(process.stdout.readline()), authority)) as server:
            yield server
        # Its input ends, and so does it.
        process.communicate()


@pytest.fixture(autouse=True)
def nothing_left(server: Server) -> Iterator[None]:
    """No connection and no thread is left of a test; what the collector finds warns of itself."""
    # The side channel is there from now on.
    server.ask("/connections")
    before = set(threading.enumerate())
    yield
    gc.collect()
    assert connections_left(server) == 0
    assert not threads_left(before)


def threads_left(before: set[threading.Thread]) -> set[threading.Thread]:
    """The threads that are still there soon; those of a pool that was collected end by themselves."""
    end = time.monotonic() + SOON
    while (left := set(threading.enumerate()) - before) and time.monotonic() < end:
        # Those of trio's pool stay for ten seconds more; an SDK asks for one.
        if all(thread.name.startswith("Trio thread") for thread in left):
            return set()
        time.sleep(0.002)
    return left
