"""With every client and every kind of body: an event reaches the loop when the bare client has its bytes.

The server sends an event every 50 ms and says in it when. For each client, all kinds of body are read side by side, and
each of them twice: by the stream, and by the client's own means. What is compared is how long the events were on their
way. Machines are noisy, so the best of three tries counts.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import product
from statistics import median
from typing import Any, TypeAlias

import anyio
import pytest

from ssewire import AsyncChatStream, ChatStream
from tests.clients.adapters import CLIENTS
from tests.clients.client import Client
from tests.clients.plays import GAP, SILENCE, TIMED
from tests.clients.reading import LEFT_TO_THE_COLLECTOR, Setup, setups
from tests.clients.served import Server, Stream

pytestmark = LEFT_TO_THE_COLLECTOR

# So much later than with the bare client an event may reach the loop, in seconds: the median, and any.
SLACK = 0.025
TRIES = 3

SENT = re.compile(rb'"sent": "([\d.]+)"')


@dataclass
class Times:
    """Seconds from the sending of each event to its handing out, and to the end of the loop from that of the last."""

    delays: list[float] = field(default_factory=list)
    behind: float = 0.0


Reading: TypeAlias = Callable[[Any, Times], Any]


def kinds(client: Client) -> list[dict[str, str]]:
    """The kinds of body that it can read."""
    framings = ["chunked", "close", "length"] if client.framed else ["close"]
    plain = [{"framing": framing} for framing in framings]
    return [*plain, *({"framing": "chunked", "encoding": encoding} for encoding in client.encodings)]


def take(data: bytes, times: Times) -> None:
    """Note the events in what has just come."""
    now = time.monotonic()
    times.delays += [now - float(sent) for sent in SENT.findall(data)]


def read(response: Any, times: Times) -> None:
    for payload, _ in ChatStream(response).iter_with_payload():
        take(payload, times)
        last = json.loads(payload)["sent"]
    times.behind = time.monotonic() - float(last)


async def aread(response: Any, times: Times) -> None:
    async for payload, _ in AsyncChatStream(response).iter_with_payload():
        take(payload, times)
        last = json.loads(payload)["sent"]
    times.behind = time.monotonic() - float(last)


class Lines:
    """Puts reads together to lines, and notes the events in them."""

    def __init__(self, times: Times) -> None:
        self._times = times
        self._rest = b""

    def all_came(self, data: bytes) -> bool:
        *lines, self._rest = (self._rest + bytes(data)).split(b"\n")
        take(b"\n".join(lines), self._times)
        return len(self._times.delays) == TIMED


def read_bare(client: Client) -> Reading:
    def bare(response: Any, times: Times) -> None:
        lines = Lines(times)
        for data in client.bare(response):
            if lines.all_came(data):
                break

    return bare


def aread_bare(client: Client) -> Reading:
    async def bare(response: Any, times: Times) -> None:
        lines = Lines(times)
        async for data in client.bare(response):
            if lines.all_came(data):
                break

    return bare


def measure(client: Client, jobs: list[tuple[Stream, Reading]]) -> list[Times]:
    """Read all of them side by side, each in a thread."""

    def run(served: Stream, reading: Reading) -> Times:
        times = Times()
        with client.open(served) as response:
            reading(response, times)
        return times

    with ThreadPoolExecutor(len(jobs)) as threads:
        return list(threads.map(run, *zip(*jobs, strict=True)))


async def ameasure(client: Client, jobs: list[tuple[Stream, Reading]]) -> list[Times]:
    """Read all of them side by side, each in a task."""

    async def run(served: Stream, reading: Reading, times: Times) -> None:
        async with client.open(served) as response:
            await reading(response, times)

    found = [Times() for _ in jobs]
    async with anyio.create_task_group() as tasks:
        for (served, reading), times in zip(jobs, found, strict=True):
            tasks.start_soon(run, served, reading, times)
    return found


@pytest.mark.parametrize("setup", setups(CLIENTS), ids=str)
def test_an_event_reaches_the_loop_when_the_bare_client_has_its_bytes(setup: Setup, server: Server) -> None:
    client = setup.client
    ways = [aread, aread_bare(client)] if setup.backend else [read, read_bare(client)]
    for tries_left in reversed(range(TRIES)):
        jobs = [(server.stream("timed", **kind), way) for kind, way in product(kinds(client), ways)]
        times = anyio.run(ameasure, client, jobs, backend=setup.backend) if setup.backend else measure(client, jobs)
        assert [len(found.delays) for found in times] == [TIMED] * len(jobs)
        pairs = zip(times[::2], times[1::2], strict=True)
        late = {str(kind): lateness(*pair) for kind, pair in zip(kinds(client), pairs, strict=True)}
        if not any(late.values()):
            break
        assert tries_left, late


def lateness(own: Times, bare: Times) -> str:
    """What was late, in words; nothing if nothing was."""
    told = []
    if (beyond := median(own.delays) - median(bare.delays)) > SLACK:
        told.append(f"the median event comes {beyond:.3f} s later")
    if (beyond := max(own.delays) - max(bare.delays)) > GAP:
        told.append(f"an event comes {beyond:.3f} s later")
    if own.behind > SILENCE / 2:
        told.append(f"the loop ends {own.behind:.3f} s behind the last event")
    return ", ".join(told)
