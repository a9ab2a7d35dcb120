"""What users hand over by mistake: a TypeError at once that says what was tried, or what to use instead."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable
from typing import Any

import aiohttp
import httpx
import openai
import pytest
import requests
import urllib3
import wreq
import wreq.blocking
from pyreqwest.client import SyncClientBuilder

from ssewire import AsyncChatStream, AsyncEventStream, ChatStream, EventStream
from tests.clients.served import Server

SYNC = ["iter_bytes()", "read_chunk()", "iter_content()", "read1()", "read()", "iteration"]
ASYNC = [
    "aiter_bytes()",
    "read_chunk()",
    "aiter_content()",
    "content.iter_any()",
    "readuntil()",
    "asynchronous iteration",
]


def tried(kind: type[Any]) -> list[str]:
    return ASYNC if kind in {AsyncChatStream, AsyncEventStream} else SYNC


@pytest.mark.parametrize("kind", [ChatStream, EventStream, AsyncChatStream, AsyncEventStream])
@pytest.mark.parametrize(
    "make",
    [
        lambda: requests.Session(),
        lambda: urllib3.PoolManager(),
        lambda: requests.Request("GET", "http://localhost/"),
        lambda: httpx.Request("GET", "http://localhost/"),
        lambda: SyncClientBuilder().build(),
        lambda: wreq.blocking.Client(),
        lambda: wreq.Client(),
        lambda: openai.OpenAI(api_key="none"),
        lambda: httpx.Client(),
        lambda: httpx.AsyncClient(),
    ],
)
def test_an_unknown_object_is_refused_with_what_was_tried(kind: type[Any], make: Callable[[], Any]) -> None:
    with pytest.raises(TypeError, match="cannot be read") as caught:
        kind(make())
    message = str(caught.value)
    assert all(re.search(rf"\b{re.escape(way)}", message) for way in tried(kind)), message


def test_a_request_that_was_not_awaited_is_refused() -> None:
    async def main() -> None:
        async with httpx.AsyncClient() as client, aiohttp.ClientSession() as session:
            response = client.get("http://localhost/")
            with pytest.raises(TypeError, match="coroutine"):
                AsyncChatStream(response)
            response.close()
            asking = session.get("http://localhost/")
            try:
                with pytest.raises(TypeError, match=r"cannot be read|await"):
                    AsyncChatStream(asking)
            finally:
                asking.close()
            with pytest.raises(TypeError, match="cannot be read"):
                AsyncChatStream(session)

    asyncio.run(main())


def test_a_block_that_was_not_entered_is_refused(server: Server) -> None:
    with httpx.Client() as client:
        block = client.stream("GET", server.stream("whole").address)
        with pytest.raises(TypeError, match="cannot be read"):
            ChatStream(block)
