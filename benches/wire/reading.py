"""A client and the ways to read with it, and the loops of a user: nothing kept, items kept, items with their times."""

from collections.abc import AsyncGenerator, Callable, Generator, Iterable
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    AsyncExitStack,
    asynccontextmanager,
    contextmanager,
)
from time import monotonic_ns
from typing import Any, Literal, NamedTuple

import ssewire

# What an item is: a read, a chunk of any class, a piece of text, or an object of JSON.
Kind = Literal["bytes", "chunks", "text", "json"]

BARE = "bytes alone"
TYPED = "ssewire, typed"
TEXT = "ssewire, text"
SDK = "the SDK's own loop"


class Reading(NamedTuple):
    """One way to read a stream: `open(session, base address)` is a context manager of something to iterate over."""

    name: str
    kind: Kind
    open: Callable[[Any, str], Any]


class Client(NamedTuple):
    """A client: how its session is opened, and the ways to read with it, the bytes alone first."""

    name: str
    asynchronous: bool
    session: Callable[[], Any]
    readings: tuple[Reading, ...]


@asynccontextmanager
async def entered(client: Client) -> AsyncGenerator[Any]:
    """Open a session of a client, and close it."""
    async with AsyncExitStack() as stack:
        if client.asynchronous:
            yield await stack.enter_async_context(client.session())
        else:
            yield stack.enter_context(client.session())


async def drained(client: Client, reading: Reading, session: Any, url: str) -> None:
    """Read a stream and keep nothing."""
    if client.asynchronous:
        async with reading.open(session, url) as items:
            async for _ in items:
                pass
    else:
        with reading.open(session, url) as items:
            for _ in items:
                pass


async def stamped(client: Client, reading: Reading, session: Any, url: str) -> list[tuple[int, Any]]:
    """Read a stream; gives each item behind the time at which it came, as `time.monotonic_ns` tells it."""
    if client.asynchronous:
        async with reading.open(session, url) as items:
            return [(monotonic_ns(), item) async for item in items]
    with reading.open(session, url) as items:
        return [(monotonic_ns(), item) for item in items]


async def collected(client: Client, reading: Reading, session: Any, url: str) -> list[Any]:
    """Read a stream and keep its items."""
    return [item for _, item in await stamped(client, reading, session, url)]


Opening = Callable[[Any, str], AbstractContextManager[Any]]
AsyncOpening = Callable[[Any, str], AbstractAsyncContextManager[Any]]


def over(opening: Opening, read: Callable[[Any], Iterable[Any]]) -> Opening:
    """Open a response and what reads it."""

    @contextmanager
    def opened(session: Any, url: str) -> Generator[Iterable[Any]]:
        with opening(session, url) as response:
            yield read(response)

    return opened


def over_async(opening: AsyncOpening, read: Callable[[Any], Any]) -> AsyncOpening:
    """The same asynchronously."""

    @asynccontextmanager
    async def opened(session: Any, url: str) -> AsyncGenerator[Any]:
        async with opening(session, url) as response:
            yield read(response)

    return opened


def sync_client(
    name: str, session: Callable[[], Any], opening: Opening, reads: Callable[[Any], Iterable[bytes]], *more: Reading
) -> Client:
    """Make a client whose responses are opened by `opening`, and their bytes read by `reads`."""
    readings = (
        Reading(BARE, "bytes", over(opening, reads)),
        Reading(TYPED, "chunks", over(opening, ssewire.ChatStream)),
        Reading(TEXT, "text", over(opening, lambda response: ssewire.ChatStream(response).iter_text())),
    )
    return Client(name, False, session, (*readings, *more))


def async_client(
    name: str, session: Callable[[], Any], opening: AsyncOpening, reads: Callable[[Any], Any], *more: Reading
) -> Client:
    """The same for an asynchronous client."""
    readings = (
        Reading(BARE, "bytes", over_async(opening, reads)),
        Reading(TYPED, "chunks", over_async(opening, ssewire.AsyncChatStream)),
        Reading(TEXT, "text", over_async(opening, lambda response: ssewire.AsyncChatStream(response).iter_text())),
    )
    return Client(name, True, session, (*readings, *more))
