"""What comes without a client: streams of the event loops, a socket's file, a server's request, iterators of bytes."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from functools import partial
from typing import Any

import anyio
import httpx
import trio
import uvicorn
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from tests.clients.client import ASYNCIO, BOTH, Client
from tests.clients.served import HOST, Stream

END_OF_HEAD = b"\r\n\r\n"


def request_of(stream: Stream) -> bytes:
    """The bytes of a request, for those who speak HTTP by hand."""
    body = json.dumps(stream.body).encode()
    target = stream.path + stream.query
    return b"POST %b HTTP/1.1\r\nHost: %b\r\nContent-Length: %d\r\n\r\n%b" % (
        target.encode(),
        HOST.encode(),
        len(body),
        body,
    )


@contextmanager
def with_socket(stream: Stream) -> Iterator[Any]:
    with socket.create_connection((HOST, stream.port), timeout=stream.timeout) as connection:
        connection.sendall(request_of(stream))
        with connection.makefile("rb") as file:
            while file.readline().strip():
                pass
            yield file


@asynccontextmanager
async def with_stream_reader(stream: Stream) -> AsyncIterator[Any]:
    tls = stream.context if stream.tls else None
    reader, writer = await asyncio.open_connection(HOST, stream.port, ssl=tls)
    try:
        writer.write(request_of(stream))
        await reader.readuntil(END_OF_HEAD)
        yield reader
    finally:
        writer.close()


@asynccontextmanager
async def with_trio(stream: Stream) -> AsyncIterator[Any]:
    async with await trio.open_tcp_stream(HOST, stream.port) as connection:
        await connection.send_all(request_of(stream))
        head = b""
        while not head.endswith(END_OF_HEAD):
            head += await connection.receive_some(1)
        yield connection


@asynccontextmanager
async def with_anyio(stream: Stream) -> AsyncIterator[Any]:
    async with await anyio.connect_tcp(HOST, stream.port) as connection:
        await connection.send(request_of(stream))
        head = b""
        while not head.endswith(END_OF_HEAD):
            head += await connection.receive(1)
        yield connection


@asynccontextmanager
async def with_starlette(stream: Stream) -> AsyncIterator[Any]:
    """A server of one's own is asked, by somebody who relays the stream in the request's body."""
    came: asyncio.Future[Request] = asyncio.get_running_loop().create_future()
    over = asyncio.Event()

    async def app(scope: Any, receive: Any, send: Any) -> None:
        came.set_result(Request(scope, receive))
        await over.wait()
        with suppress(ClientDisconnect):
            await Response()(scope, receive, send)

    async def relay(url: str) -> None:
        async with (
            httpx.AsyncClient(timeout=stream.timeout) as client,
            client.stream("POST", stream.address, json=stream.body) as upstream,
        ):
            # When the body breaks off, so does the request; and whoever is answered early has no use for the rest.
            with suppress(httpx.TransportError):
                await client.post(url, content=upstream.aiter_bytes())

    server = uvicorn.Server(uvicorn.Config(app, lifespan="off", log_level="error"))
    with socket.create_server((HOST, 0)) as listening:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(server.serve(sockets=[listening]))
            relaying = tasks.create_task(relay(f"http://{HOST}:{listening.getsockname()[1]}"))
            try:
                yield await came
            finally:
                over.set()
                relaying.cancel()
                server.should_exit = True


async def _until_empty(read: Callable[[], Awaitable[bytes]]) -> AsyncIterator[bytes]:
    while data := await read():
        yield data


def unframed(**row: Any) -> Client:
    """A row for what knows nothing of HTTP; the connection is its user's."""
    return Client(**{"encodings": (), "framed": False, "follows": False, "lets_go": False, "broken": (), **row})


ENDLESS = {"stall": "It has no time limit of its own: give the stream an `idle_timeout`."}

CLIENTS = [
    unframed(
        name="binary file",
        open=with_socket,
        bare=lambda file: iter(file.read1, b""),
        use="`ChatStream(file)`, also `socket.makefile('rb')` and a process's `stdout`",
        example=r"""
            import ssewire, subprocess, sys

            program = r"print('data: {}\n\ndata: [DONE]\n')"
            with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE) as process:
                stream = ssewire.ChatStream(process.stdout)
                print(len(list(stream)), stream.state)
        """,
        limits=("Its user opened it, and closes it.",),
        reset="builtins.ConnectionResetError",
        timeout="builtins.TimeoutError",
        tls=False,
        wakes=False,
    ),
    unframed(
        name="asyncio.StreamReader",
        open=with_stream_reader,
        bare=lambda reader: _until_empty(partial(reader.read, 65_536)),
        backends=ASYNCIO,
        use="`AsyncChatStream(reader)`, also a process's `stdout`",
        limits=("Close its writer: it cannot be closed itself. A body framed by HTTP needs a client.",),
        cannot=ENDLESS,
        reset="builtins.ConnectionResetError",
        timeout=(),
        wakes=False,
    ),
    unframed(
        name="trio stream",
        open=with_trio,
        bare=lambda stream: stream,
        backends=("trio",),
        use="`AsyncChatStream(stream)`",
        limits=("It is closed with the stream, as an iterator is. A body framed by HTTP needs a client.",),
        cannot=ENDLESS,
        reset="trio.BrokenResourceError",
        timeout=(),
        tls=False,
        lets_go=True,
    ),
    unframed(
        name="anyio stream",
        open=with_anyio,
        bare=lambda stream: stream,
        backends=BOTH,
        use="`AsyncChatStream(stream)`",
        limits=("It is closed with the stream, as an iterator is. A body framed by HTTP needs a client.",),
        cannot=ENDLESS,
        reset="anyio.BrokenResourceError",
        timeout=(),
        tls=False,
        lets_go=True,
    ),
    unframed(
        name="Starlette request",
        open=with_starlette,
        bare=lambda request: request.stream(),
        backends=ASYNCIO,
        use="`AsyncChatStream(request)`",
        example=r"""
            import ssewire
            from starlette.applications import Starlette
            from starlette.requests import Request
            from starlette.responses import PlainTextResponse
            from starlette.routing import Route
            from starlette.testclient import TestClient


            async def text(request: Request) -> PlainTextResponse:
                completion = await ssewire.AsyncChatStream(request).collect()
                return PlainTextResponse(completion.text)


            app = Starlette(routes=[Route("/text", text, methods=["POST"])])
            body = b'data: {"choices": [{"delta": {"content": "Hello"}, "finish_reason": "stop"}]}\n\ndata: [DONE]\n\n'
            print(TestClient(app).post("/text", content=body).text)
        """,
        cannot=ENDLESS,
        reset="starlette.requests.ClientDisconnect",
        timeout=(),
        wakes=False,
        tls=False,
    ),
]
