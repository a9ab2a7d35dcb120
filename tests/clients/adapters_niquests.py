"""niquests, both kinds. It takes the place of urllib3 in its environment, so it is tested in one of its own.

Only what opens it imports it, for the documents are made from these rows in the main environment.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

from tests.clients.client import ASYNCIO, Client
from tests.clients.served import Stream


def options(stream: Stream) -> dict[str, Any]:
    return {"json": stream.body, "stream": True, "timeout": stream.timeout, "verify": stream.authority}


@contextmanager
def with_niquests(stream: Stream) -> Iterator[Any]:
    import niquests  # type: ignore[import-not-found, unused-ignore]

    with niquests.Session() as session, session.post(stream.address, **options(stream)) as response:
        yield response


@asynccontextmanager
async def with_async_niquests(stream: Stream) -> AsyncIterator[Any]:
    import niquests  # type: ignore[import-not-found, unused-ignore]

    async with niquests.AsyncSession() as session:
        response = await session.post(stream.address, **options(stream))
        try:
            yield response
        finally:
            await response.close()


async def reads_of(response: Any) -> AsyncIterator[bytes]:
    # `iter_content` holds back the last piece of what is compressed.
    while data := await response.raw.read1(65_536, decode_content=True):
        yield data


LIMITS = (
    "It replaces urllib3 in its environment, for requests and boto3 too, with urllib3-future; that needs to be 2.21 or "
    "later to hand out small compressed events at once.",
    "Over HTTP/2, where responses share a connection, closing a stream from another thread or task waits until the "
    "server sends something.",
)

BOTH_KINDS: dict[str, Any] = {
    "name": "niquests",
    "broken": "niquests.exceptions.ChunkedEncodingError",
    "reset": "niquests.exceptions.ChunkedEncodingError",
    "timeout": "niquests.exceptions.ConnectionError",
    "http2": True,
}

CLIENTS = [
    Client(
        open=with_niquests,
        bare=lambda response: response.iter_content(-1),
        use="`ChatStream(session.post(..., stream=True))`",
        example="""
            import niquests, ssewire

            request = ssewire.Provider("https://host/v1").request(model="m", messages=[])
            with niquests.request(**request, stream=True, timeout=60) as response:
                for text in ssewire.ChatStream(response).iter_text():
                    print(text, end="")
        """,
        limits=LIMITS,
        **BOTH_KINDS,
    ),
    Client(
        open=with_async_niquests,
        bare=reads_of,
        backends=ASYNCIO,
        use="`AsyncChatStream(await session.post(..., stream=True))`",
        example="""
            import asyncio, niquests, ssewire


            async def main() -> None:
                request = ssewire.Provider("https://host/v1").request(model="m", messages=[])
                async with niquests.AsyncSession() as session:
                    response = await session.request(**request, stream=True, timeout=60)
                    async for text in ssewire.AsyncChatStream(response).iter_text():
                        print(text, end="")


            asyncio.run(main())
        """,
        limits=(
            *LIMITS,
            "Without `stream=True` the body is in memory, and the response a synchronous one.",
            "With `multiplexed=True` a response knows nothing before `await session.gather()`.",
        ),
        **BOTH_KINDS,
    ),
]
