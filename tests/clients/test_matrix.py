"""Every client through every scenario: the chunks, the state, the error, and no connection left behind."""

from __future__ import annotations

import re

import msgspec
import pytest

from ssewire import APIError, ChatCompletionChunk, NotAStreamError, SSEWireError
from tests.clients.adapters import CLIENTS
from tests.clients.bodies import PAYLOADS, USAGE
from tests.clients.client import Client
from tests.clients.reading import LEFT_TO_THE_COLLECTOR, Outcome, Setup, read, setups
from tests.clients.scenarios import SCENARIOS, Scenario
from tests.clients.served import TIMEOUT, Server, Transport

pytestmark = LEFT_TO_THE_COLLECTOR

CHUNKS = [msgspec.json.decode(payload, type=ChatCompletionChunk) for payload in PAYLOADS]
MATRIX = [name for name, scenario in SCENARIOS.items() if scenario.in_matrix]

# Over TLS and HTTP/2 once more what they change: when bytes come, and how a connection ends.
SECURE = ["chunked", "gzip", "reset"]


def applies(setup: Setup, name: str, transport: Transport) -> bool:
    client, scenario = setup.client, SCENARIOS[name]
    framed = client.framed or scenario.framing in {None, "close"}
    carried = {"http": True, "https": client.tls, "h2": client.http2}[transport]
    return framed and carried and name not in client.cannot and scenario.encoding in {"identity", *client.encodings}


OVER: dict[Transport, list[str]] = {"http": MATRIX, "https": SECURE, "h2": SECURE}
CELLS = [
    pytest.param(setup, name, transport, id=f"{setup}-{name}-{transport}")
    for setup in setups(CLIENTS)
    for transport, names in OVER.items()
    for name in names
    if applies(setup, name, transport)
]


@pytest.mark.parametrize(("setup", "name", "transport"), CELLS)
def test_every_client_in_every_scenario(setup: Setup, name: str, transport: Transport, server: Server) -> None:
    scenario = SCENARIOS[name]
    how = {} if setup.client.framed else {"framing": "close"}
    served = server.stream(name, transport=transport, timeout=scenario.timeout or TIMEOUT, **how)
    # Nothing of the outcome is kept here: urllib3 closes its idle connections with the last response that names them.
    check(setup.client, scenario, read(setup, served, scenario))
    assert server.connections() == 0


def check(client: Client, scenario: Scenario, outcome: Outcome) -> None:
    if outcome.stream is None:
        assert client.judges
        assert scenario.status >= 300
        # The SDKs say so in a member, others in the text.
        assert str(scenario.status) in f"{getattr(outcome.error, 'status_code', outcome.error)}"
    elif scenario.status == 307 and not client.follows:
        assert isinstance(outcome.error, NotAStreamError)
        assert outcome.error.status == 307
    else:
        check_stream(client, scenario, outcome)


def check_stream(client: Client, scenario: Scenario, outcome: Outcome) -> None:
    assert outcome.stream is not None
    assert len(outcome.chunks) == scenario.chunks
    if scenario.chunks <= len(CHUNKS) and not scenario.options:
        assert outcome.chunks == CHUNKS[: scenario.chunks]
    if isinstance(scenario.error, str):
        # The client's own, which passes through, with a note of what had come.
        assert outcome.error is not None
        assert client.raises(outcome.error, scenario.error), repr(outcome.error)
        if not isinstance(outcome.error, SSEWireError):
            (note,) = outcome.error.__notes__
            assert re.match(rf"ssewire: {scenario.chunks} chunks?\b", note)
    elif scenario.error:
        assert isinstance(outcome.error, scenario.error), repr(outcome.error)
        assert scenario.about in str(outcome.error)
    else:
        assert outcome.error is None, repr(outcome.error)
    assert outcome.stream.state == scenario.state
    assert outcome.left in {None, 0}
    if scenario.state == "done" and scenario.chunks == len(CHUNKS):
        assert msgspec.to_builtins(outcome.stream.usage) == USAGE
        assert outcome.stream.finish_reasons == {0: "stop"}
    if isinstance(outcome.error, APIError | NotAStreamError) and client.framed:
        assert outcome.error.status == scenario.status
        assert outcome.error.headers["x-request-id"] == "r-1"
