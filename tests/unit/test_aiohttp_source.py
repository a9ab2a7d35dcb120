"""A response of aiohttp, known by what it can do; here an honest double of it, so that nothing is imported."""

from __future__ import annotations

import types

import pytest

from ssewire import AsyncChatStream, ChatStream
from tests.reading import pieces
from tests.unit.making import DONE, AsyncReads, chunk

BODY = chunk("Hel") + chunk("lo") + DONE


class AioHTTPResponse:
    """As aiohttp's: a stream in `content`, iteration over lines, a `close` that needs no await."""

    status = 200
    headers = types.MappingProxyType({"a": "b"})

    def __init__(self, body: bytes) -> None:
        self.content = AioHTTPContent(body)
        self.closed = 0

    def close(self) -> None:
        self.closed += 1


class AioHTTPContent:
    def __init__(self, body: bytes) -> None:
        self._body = body

    def iter_any(self) -> AsyncReads:
        return AsyncReads(*pieces(self._body, 30))

    def __aiter__(self) -> AsyncReads:
        raise AssertionError


@pytest.mark.anyio
async def test_aiohttp() -> None:
    response = AioHTTPResponse(BODY)
    assert [item.text async for item in AsyncChatStream(response)] == ["Hel", "lo"]
    assert response.closed == 1
    assert [item.text async for item in AsyncChatStream(AioHTTPResponse(BODY).content)] == ["Hel", "lo"]
    abandoned = AioHTTPResponse(BODY)
    async with AsyncChatStream(abandoned) as stream:
        await anext(stream)
    assert abandoned.closed == 1


def test_aiohttp_in_a_synchronous_stream_is_refused() -> None:
    with pytest.raises(TypeError, match="is asynchronous: use AsyncChatStream"):
        ChatStream(AioHTTPContent(BODY))
    with pytest.raises(TypeError, match="is asynchronous: use AsyncChatStream"):
        ChatStream(AioHTTPResponse(BODY))
