"""Responses of a real server that are no stream: the error says so, and the response is closed before it is raised."""

from __future__ import annotations

from typing import Any, NamedTuple

import anyio
import httpx
import pytest

from ssewire import APIError, AsyncChatStream, ChatStream, NotAStreamError, SSEWireError
from tests.clients.bodies import API_ERROR, DETAIL, HTML, PACKED
from tests.clients.served import Server


class Told(NamedTuple):
    """What the error must tell."""

    error: type[APIError | NotAStreamError]
    status: int
    body: Any
    sentence: str


SCENARIOS: dict[str, Told] = {
    "failed": Told(APIError, 500, DETAIL, "out of memory"),
    "refused": Told(APIError, 429, API_ERROR, "slow down"),
    "error-in-success": Told(APIError, 200, API_ERROR, "slow down"),
    "bare-error": Told(APIError, 200, API_ERROR, "slow down"),
    "html": Told(NotAStreamError, 200, HTML, "HTML"),
    "bad-gateway": Told(NotAStreamError, 502, HTML, "refused"),
    "packed": Told(NotAStreamError, 200, PACKED, "gzip"),
}


def check(error: SSEWireError, told: Told) -> None:
    assert isinstance(error, told.error)
    assert (error.status, error.body) == (told.status, told.body)
    assert error.headers["x-request-id"] == "r-1"
    assert told.sentence in str(error)


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_response_is_closed_before_the_error_is_raised(server: Server, scenario: str) -> None:
    told = SCENARIOS[scenario]
    served = server.stream(scenario)
    with httpx.stream("GET", served.url) as response:
        stream = ChatStream(response)
        with pytest.raises(told.error) as caught:
            next(stream)
        assert response.is_closed
        check(caught.value, told)
        assert (stream.state, list(stream)) == ("error", [])
        if scenario == "bare-error":
            # The server has sent no end of the body, and sees that nobody waits for one.
            served.wait_until_gone()


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_an_asynchronous_response_is_closed_before_the_error_is_raised(server: Server, scenario: str) -> None:
    told = SCENARIOS[scenario]
    served = server.stream(scenario)

    async def main() -> None:
        async with httpx.AsyncClient() as client, client.stream("GET", served.url) as response:
            stream = AsyncChatStream(response)
            with pytest.raises(told.error) as caught:
                await anext(stream)
            assert response.is_closed
            check(caught.value, told)
            assert stream.state == "error"

    anyio.run(main)
    if scenario == "bare-error":
        served.wait_until_gone()
