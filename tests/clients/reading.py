"""Reading one stream with one client, of whatever kind, and what became of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import anyio
import anyio.to_thread
import pytest

from ssewire import AsyncChatStream, ChatCompletionChunk, ChatStream
from tests.clients.bodies import EVENTS
from tests.clients.client import Client
from tests.clients.running import run
from tests.clients.scenarios import Scenario
from tests.clients.served import Stream

# On trio, httpx leaves the generators inside its own to the collector, whoever stops before the end of a body, and
# trio tells of each. Those of other origin stay errors.
LEFT_TO_THE_COLLECTOR = pytest.mark.filterwarnings(
    r"ignore:Async generator '(httpx2?|httpcore2?|openai|anthropic|groq)\.:ResourceWarning"
)


class Setup(NamedTuple):
    """A client, and the event loop that it runs on, if any."""

    client: Client
    backend: str | None

    def __str__(self) -> str:
        return f"{self.client.name}-{self.backend or 'sync'}"


def setups(clients: list[Client]) -> list[Setup]:
    """Every client on every event loop that it can."""
    return [Setup(client, backend) for client in clients for backend in client.backends or (None,)]


@dataclass
class Outcome:
    """What a reader saw of a stream."""

    chunks: list[ChatCompletionChunk] = field(default_factory=list)
    error: BaseException | None = None
    stream: ChatStream[Any] | AsyncChatStream[Any] | None = None
    """None where the client raised before there was a response."""
    left: int | None = None
    """How many connections the server still had when the stream was over and the client still open."""


def read(setup: Setup, served: Stream, scenario: Scenario) -> Outcome:
    """Read to the end, confirming each chunk, so that the server sends the next one only when it was handed out."""
    outcome = Outcome()
    try:
        if setup.backend is None:
            _read(setup.client, served, scenario, outcome)
        else:
            run(setup.backend, _aread, setup.client, served, scenario, outcome)
    except Exception as error:  # what a client raises before there is a stream
        assert outcome.stream is None, "leaving the client has raised"
        outcome.error = error.with_traceback(None)
    return outcome


def _read(client: Client, served: Stream, scenario: Scenario, outcome: Outcome) -> None:
    with client.open(served) as response, ChatStream(response, **scenario.options) as stream:
        outcome.stream = stream
        try:
            for chunk in stream:
                _take(chunk, outcome, served)
        except Exception as error:
            outcome.error = error.with_traceback(None)
        if scenario.breaks_off and client.lets_go_of(served):
            outcome.left = served.left()


async def _aread(client: Client, served: Stream, scenario: Scenario, outcome: Outcome) -> None:
    async with client.open(served) as response, AsyncChatStream(response, **scenario.options) as stream:
        outcome.stream = stream
        try:
            async for chunk in stream:
                _take(chunk, outcome, served)
        except Exception as error:
            outcome.error = error.with_traceback(None)
        if scenario.breaks_off and client.lets_go_of(served):
            outcome.left = await anyio.to_thread.run_sync(served.left)


def _take(chunk: ChatCompletionChunk, outcome: Outcome, served: Stream) -> None:
    outcome.chunks.append(chunk)
    # No scenario that waits for its reader has more events.
    if len(outcome.chunks) <= len(EVENTS):
        served.confirm(len(outcome.chunks))
