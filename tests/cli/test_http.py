"""The HTTP server that can misbehave, seen by clients that know nothing of it."""

from __future__ import annotations

import asyncio
import http.client
import importlib
import queue
import sys

import httpx
import pytest

from ssewire.cli.http import Encoding, Exchange, Framing, Listener, Request, body_length, encoder
from tests.cli.listening import Way, connected, conversation, eventually, serving
from tests.cli.program import PATIENCE

PIECES = (b"data: 1\n\n", "data: ü☕\n\n".encode(), b"data: " + b"x" * 5000 + b"\n\n")
#: Larger than all buffers between server and client, and than HTTP/2's windows.
LARGE = 20 * 2**20


@pytest.fixture(scope="module", params=["plain", "tls", "http2"])
def way(request: pytest.FixtureRequest) -> Way:
    return Way(request.param)


async def ok(exchange: Exchange) -> None:
    await exchange.respond(200, b"ok")


def request(line: str = "GET / HTTP/1.1", *fields: str) -> bytes:
    return "\r\n".join([line, "Host: x", *fields, "", ""]).encode()


CLOSE = "Connection: close"


# Requests


def test_a_request_is_read_whole(way: Way) -> None:
    seen: list[Request] = []

    async def answer(exchange: Exchange) -> None:
        seen.append(exchange.request)
        await exchange.respond(201, exchange.request.body[::-1], {"x-mine": "yes"})

    body = bytes(range(256)) * 4000
    with way.serving(answer) as listener, way.client(listener) as client:
        whole = client.post("/v1/chat?fault=x", content=body, headers=[("X-Two", "a"), ("X-Two", "b")])
        chunked = client.post("/", content=iter([body[:7], body[7:]]))
    assert (whole.status_code, whole.content, whole.headers["x-mine"]) == (201, body[::-1], "yes")
    assert whole.http_version == f"HTTP/{way.version}"
    assert chunked.content == body[::-1]
    first, second = seen
    assert (first.method, first.target, first.headers["x-two"]) == ("POST", "/v1/chat?fault=x", "a, b")
    assert (first.version, first.body) == (way.version, body)
    assert first.headers["host"].startswith("127.0.0.1:")
    # One connection for both.
    assert first.peer == second.peer


def test_a_request_that_is_too_large_is_refused(way: Way) -> None:
    with way.serving(ok) as listener, way.client(listener) as client:
        assert client.post("/", content=b"x" * (17 * 2**20)).status_code == 413
        assert client.post("/", content=b"x" * (15 * 2**20)).content == b"ok"


def test_what_is_no_request_is_refused() -> None:
    with serving(ok) as listener:
        assert conversation(listener, b"hello\r\n\r\n").startswith(b"HTTP/1.1 400 Bad Request\r\n")
        assert conversation(listener, request("GET / HTTP/1.1", CLOSE)).endswith(b"\r\n\r\nok")


def test_a_client_that_asks_before_it_sends_its_body() -> None:
    with serving(ok) as listener, connected(listener) as client:
        client.sendall(request("POST / HTTP/1.1", "Content-Length: 4", "Expect: 100-continue"))
        assert client.recv(100) == b"HTTP/1.1 100 Continue\r\n\r\n"
        client.sendall(b"body")
        assert client.recv(100).startswith(b"HTTP/1.1 200 OK\r\n")


def test_requests_that_come_together_are_answered_in_their_order() -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.respond(200, exchange.request.target.encode())

    with serving(answer) as listener:
        together = request("GET /1 HTTP/1.1") + request("GET /2 HTTP/1.1") + request("GET /3 HTTP/1.1", CLOSE)
        answers = conversation(listener, together).split(b"HTTP/1.1 200 OK\r\n")
    assert [answer.rpartition(b"\r\n")[2] for answer in answers] == [b"", b"/1", b"/2", b"/3"]


# Framing and encodings


@pytest.mark.parametrize(
    ("framing", "head", "body"),
    [
        ("chunked", b"transfer-encoding: chunked", b"3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n"),
        ("close", b"connection: close", b"abcde"),
        ("length", b"content-length: 5", b"abcde"),
    ],
)
def test_framing_on_the_wire(framing: Framing, head: bytes, body: bytes) -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.start(200, {"x-mine": "yes"}, framing=framing, length=5)
        for piece in (b"abc", b"", b"de"):
            await exchange.send(piece)
        await exchange.end()

    with serving(answer) as listener:
        answered = conversation(listener, request("GET / HTTP/1.1", CLOSE))
        assert answered == b"HTTP/1.1 200 OK\r\nx-mine: yes\r\n" + head + b"\r\n\r\n" + body
        # A head alone, with the same fields.
        assert conversation(listener, request("HEAD / HTTP/1.1", CLOSE)) == answered.removesuffix(body)


def test_a_client_of_http_1_0_gets_no_chunks() -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.start(200)
        await exchange.send(b"abc")
        await exchange.end()

    with serving(answer) as listener:
        assert conversation(listener, request("GET / HTTP/1.0")) == b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nabc"


def test_a_body_that_the_connection_ends_is_over_before_its_answer_is() -> None:
    had: queue.SimpleQueue[bool] = queue.SimpleQueue()

    async def answer(exchange: Exchange) -> None:
        await exchange.start(200, framing="close")
        await exchange.end()
        await asyncio.to_thread(had.get, timeout=PATIENCE)

    with serving(answer) as listener:
        assert conversation(listener, request()).endswith(b"\r\n\r\n")
        had.put(True)


def test_a_status_without_a_body_has_no_framing(way: Way) -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.respond(204, b"", {"x-mine": "yes"})

    with way.serving(answer) as listener, way.client(listener) as client:
        for _ in range(2):
            response = client.get("/")
            assert (response.status_code, dict(response.headers)) == (204, {"x-mine": "yes"})


@pytest.mark.parametrize("pieces", [[b"x"] * 50_000, [b"x" * 20_000_000]])
def test_a_length_is_counted_beside_others(pieces: list[bytes]) -> None:
    turns = 0

    async def other() -> None:
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    async def count() -> int:
        task = asyncio.create_task(other())
        length = await body_length(pieces, "gzip")
        task.cancel()
        return length

    body = encoder("gzip")
    assert asyncio.run(count()) == sum(len(body.piece(piece)) for piece in pieces) + len(body.finish())
    assert turns >= 50


def test_faults_in_the_framing_itself(way: Way) -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.start(200)
        await exchange.send(b"abc")
        await exchange.send_raw(b"no size\r\n")

    with way.serving(answer) as listener, way.client(listener) as client, client.stream("GET", "/") as response:
        pieces = response.iter_raw()
        assert next(pieces) == b"abc"
        with pytest.raises(httpx.RemoteProtocolError):
            next(pieces)


def test_a_length_that_is_not_told(way: Way) -> None:
    told: list[str] = []

    async def answer(exchange: Exchange) -> None:
        try:
            await exchange.start(200, framing="length")
        except ValueError as error:
            told.append(str(error))
            await ok(exchange)

    with way.serving(answer) as listener, way.client(listener) as client:
        assert client.get("/").content == b"ok"
    assert told == ['framing="length" needs the length']


@pytest.mark.parametrize("encoding", ["identity", "gzip", "br"])
@pytest.mark.parametrize("framing", ["chunked", "close"])
def test_each_piece_can_be_read_before_the_next_is_sent(way: Way, framing: Framing, encoding: Encoding) -> None:
    had: queue.SimpleQueue[bool] = queue.SimpleQueue()

    async def answer(exchange: Exchange) -> None:
        await exchange.start(200, framing=framing, encoding=encoding)
        for piece in PIECES:
            await exchange.send(piece)
            await asyncio.to_thread(had.get, timeout=PATIENCE)
        await exchange.end()

    with way.serving(answer) as listener, way.client(listener) as client, client.stream("GET", "/") as response:
        assert response.headers.get("content-encoding", "identity") == encoding
        pieces = response.iter_bytes()
        for piece in PIECES:
            so_far = b""
            while so_far != piece:
                so_far += next(pieces)
            had.put(True)
        assert b"".join(pieces) == b""


def test_zstd_piece_by_piece() -> None:
    zstd = importlib.import_module("compression.zstd" if sys.version_info >= (3, 14) else "backports.zstd")

    async def answer(exchange: Exchange) -> None:
        await exchange.start(200, encoding="zstd")
        for piece in PIECES:
            await exchange.send(piece)
        await exchange.end()

    with serving(answer) as listener:
        connection = http.client.HTTPConnection("127.0.0.1", listener.port, timeout=PATIENCE)
        connection.request("GET", "/")
        response = connection.getresponse()
        decompressor = zstd.ZstdDecompressor()
        assert decompressor.decompress(response.read()) == b"".join(PIECES)
        assert response.headers["content-encoding"] == "zstd"
        assert decompressor.eof
        connection.close()


# One connection, many answers; and how many there are


def test_a_connection_is_used_again_after_a_whole_answer(way: Way) -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.start(200, {"x-peer": str(exchange.request.peer)})
        await exchange.send(b"abc")
        await exchange.end()

    with way.serving(answer) as listener:
        with way.client(listener) as client:
            peers = {client.get("/").headers["x-peer"] for _ in range(3)}
            assert len(peers) == 1
            assert listener.connections == 1
        eventually(lambda: listener.connections == 0)


def test_an_answer_that_ends_too_early_or_fails_ends_its_connection_alone(
    way: Way, capsys: pytest.CaptureFixture[str]
) -> None:
    async def answer(exchange: Exchange) -> None:
        if exchange.request.target == "/whole":
            return await ok(exchange)
        await exchange.start(200)
        await exchange.send(b"abc")
        if exchange.request.target == "/fails":
            raise ZeroDivisionError
        return None

    with way.serving(answer) as listener, way.client(listener) as client:
        for path in ("/returns", "/fails"):
            with pytest.raises(httpx.RemoteProtocolError):
                client.get(path)
            assert client.get("/whole").content == b"ok"
    assert capsys.readouterr().err.count("Traceback") == 1


def test_what_is_large_arrives_and_is_not_piled_up(way: Way) -> None:
    sent: queue.SimpleQueue[int] = queue.SimpleQueue()

    async def answer(exchange: Exchange) -> None:
        await exchange.start(200, framing="length", length=2 * LARGE)
        for number in range(2):
            await exchange.send(b"x" * LARGE)
            sent.put(number)
        await exchange.end()

    with way.serving(answer) as listener, way.client(listener) as client, client.stream("GET", "/") as response:
        # Nobody reads, so the first piece cannot be through.
        with pytest.raises(queue.Empty):
            sent.get(timeout=0.1)
        assert sum(map(len, response.iter_raw())) == 2 * LARGE
        assert [sent.get(timeout=PATIENCE), sent.get(timeout=PATIENCE)] == [0, 1]


def test_many_at_once(way: Way) -> None:
    async def answer(exchange: Exchange) -> None:
        await exchange.start(200)
        for piece in PIECES * 20:
            await exchange.send(piece)
        await exchange.end()

    # In tasks: threads of httpx that share a connection of HTTP/2 may send their requests' numbers out of order.
    async def ask(listener: Listener) -> list[httpx.Response]:
        async with way.async_client(listener) as client:
            return await asyncio.gather(*(client.get("/") for _ in range(20)))

    with way.serving(answer) as listener:
        responses = asyncio.run(ask(listener))
    assert [response.content for response in responses] == [b"".join(PIECES * 20)] * 20
