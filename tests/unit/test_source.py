"""What may be handed over, how it is read and closed, and what is refused with which sentence. No network here."""

from __future__ import annotations

import asyncio
import gzip
import http.client
import io
import os
import tempfile
import types
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import anyio
import httpx
import httpx2
import pytest
import requests
import urllib3

from ssewire import AsyncChatStream, AsyncEventStream, ChatStream, EventStream, NotAStreamError
from tests.reading import pieces
from tests.unit.making import DONE, AsyncReads, AsyncResponse, Reads, Response, chunk

BODY = chunk("Hel") + chunk("lo") + DONE


def text(source: Any) -> str:
    """What a stream makes of the source, up to the sentinel."""
    stream = ChatStream(source)
    found = "".join(stream.iter_text())
    assert stream.state == "done"
    return found


async def text_async(source: Any) -> str:
    stream = AsyncChatStream(source)
    found = "".join([piece async for piece in stream.iter_text()])
    assert stream.state == "done"
    return found


# Bytes and iterables


@pytest.mark.parametrize("kind", [bytes, bytearray, memoryview, lambda body: [body], lambda body: (body, b"")])
def test_bytes_and_containers_of_bytes(kind: Callable[[bytes], Any]) -> None:
    assert text(kind(BODY)) == "Hello"


def test_a_container_may_be_read_again_by_another_stream() -> None:
    reads = pieces(BODY, 4)
    assert [text(reads), text(reads)] == ["Hello", "Hello"]


def test_a_generator_is_closed_at_the_sentinel() -> None:
    closed = []

    def reads() -> Iterator[bytes]:
        try:
            yield BODY
            yield BODY
        finally:
            closed.append(True)

    generator = reads()
    assert text(generator) == "Hello"
    assert closed == [True]
    assert list(generator) == []


def test_an_iterable_whose_iterator_has_a_close_is_closed_by_it() -> None:
    reads = Reads(BODY)

    class Iterable:
        def __iter__(self) -> Reads:
            return reads

    assert text(Iterable()) == "Hello"
    assert reads.closed == 1


@pytest.mark.anyio
async def test_asynchronous_iterables() -> None:
    reads = AsyncReads(*pieces(BODY, 4))

    class Iterable:
        def __aiter__(self) -> AsyncReads:
            return reads

    assert await text_async(Iterable()) == "Hello"
    assert reads.closed == 1
    for data in (BODY, bytearray(BODY), memoryview(BODY)):
        assert await text_async(data) == "Hello"


@pytest.mark.anyio
async def test_an_asynchronous_generator_is_closed_at_the_sentinel() -> None:
    closed = []

    async def reads() -> AsyncIterator[bytes]:
        try:
            yield BODY
            yield BODY
        finally:
            closed.append(True)

    assert await text_async(reads()) == "Hello"
    assert closed == [True]


@pytest.mark.anyio
async def test_a_receiving_end_of_anyio_is_a_source() -> None:
    send, receive = anyio.create_memory_object_stream[bytes](9)
    async with send, receive:
        for read in pieces(BODY, 40):
            await send.send(read)
        assert await text_async(receive) == "Hello"


def test_the_reader_of_asyncio_is_read_as_bytes_come_not_by_lines() -> None:
    long = chunk("x" * 200_000)

    async def main() -> None:
        reader = asyncio.StreamReader()
        reader.feed_data(long + DONE)
        stream = AsyncChatStream(reader)
        assert len((await anext(stream)).text) == 200_000
        assert [item async for item in stream] == []
        ended = asyncio.StreamReader()
        ended.feed_eof()
        with pytest.raises(NotAStreamError):
            await anext(AsyncChatStream(ended))

    asyncio.run(main())


# Files


@pytest.fixture
def recorded(tmp_path: Path) -> Path:
    path = tmp_path / "recorded.sse"
    path.write_bytes(BODY)
    return path


def test_a_file_stays_open(recorded: Path) -> None:
    for opened in (recorded.open("rb"), recorded.open("rb", buffering=0), io.BytesIO(BODY)):
        with opened as file:
            assert text(file) == "Hello"
            assert not file.closed
            with ChatStream(file) as stream:
                file.seek(0)
                next(stream)
            assert not file.closed


def test_files_that_are_no_files_of_io_stay_open_too(tmp_path: Path) -> None:
    with tempfile.NamedTemporaryFile() as file:
        file.write(BODY)
        file.seek(0)
        assert text(file) == "Hello"
        assert not file.closed
    packed = tmp_path / "packed.gz"
    packed.write_bytes(gzip.compress(BODY))
    with gzip.open(packed) as unpacked:
        assert text(unpacked) == "Hello"
        assert not unpacked.closed


def test_a_pipe_gives_what_is_there_without_waiting_for_a_full_block() -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as pipe, os.fdopen(writing, "wb", buffering=0) as out:
        stream = ChatStream(pipe)
        for content in "abc":
            out.write(chunk(content))
            assert next(stream).text == content
        out.write(DONE)
        assert list(stream) == []


@pytest.mark.parametrize("stream", [ChatStream, EventStream, AsyncChatStream, AsyncEventStream])
def test_text_is_refused(stream: Callable[[Any], Any], recorded: Path) -> None:
    with recorded.open() as file, pytest.raises(TypeError, match="open it with mode 'rb'"):
        stream(file)
    with pytest.raises(TypeError, match="text file"):
        stream(io.StringIO("data: a\n\n"))
    with pytest.raises(TypeError, match="got str"):
        stream("data: a\n\n")


# Responses


def test_a_response_is_closed_and_its_status_and_headers_are_known() -> None:
    response = Response(BODY, BODY, headers={"X-Request-Id": "1"})
    assert text(response) == "Hello"
    assert response.closed == 1
    refused = Response(b"no", status=500, headers={"X-Request-Id": "1"})
    with pytest.raises(NotAStreamError) as caught:
        next(ChatStream(refused))
    assert (caught.value.status, caught.value.headers) == (500, {"x-request-id": "1"})


def test_iter_bytes_goes_before_all_else() -> None:
    class Both(Response):
        def __iter__(self) -> Iterator[bytes]:
            raise AssertionError

        def read1(self, size: int) -> bytes:
            raise AssertionError(size)

    assert text(Both(BODY)) == "Hello"


def test_read1_goes_before_iteration() -> None:
    class Readable(io.BytesIO):
        headers = types.MappingProxyType({"a": "b"})
        status = 200

        def __iter__(self) -> Any:
            raise AssertionError

    response = Readable(BODY)
    assert text(response) == "Hello"
    # It has headers, so it is a response and no file.
    assert response.closed


class Socket:
    """What http.client reads a response from."""

    def __init__(self, sent: bytes) -> None:
        self._sent = sent

    def makefile(self, mode: str) -> io.BufferedReader:
        assert mode == "rb"
        return io.BufferedReader(io.BytesIO(self._sent))


def http_response(body: bytes, *headers: str) -> http.client.HTTPResponse:
    head = "\r\n".join(("HTTP/1.1 200 OK", *headers, "", "")).encode()
    response = http.client.HTTPResponse(Socket(head + body))  # type: ignore[arg-type]
    response.begin()
    return response


def test_http_client() -> None:
    body = b"".join(b"%x\r\n%b\r\n" % (len(read), read) for read in pieces(BODY, 9)) + b"0\r\n\r\n"
    for response in (http_response(BODY), http_response(body, "transfer-encoding: chunked")):
        assert text(response) == "Hello"
        assert response.isclosed()


@pytest.mark.parametrize("packed", [False, True])
def test_urllib3_and_requests_decompress(packed: bool) -> None:
    body = gzip.compress(BODY) if packed else BODY
    headers = {"content-encoding": "gzip"} if packed else {}
    raw = urllib3.HTTPResponse(io.BytesIO(body), headers, 200, preload_content=False)
    assert text(raw) == "Hello"
    assert raw.closed
    response = requests.Response()
    response.status_code = 200
    response.raw = urllib3.HTTPResponse(io.BytesIO(body), headers, 200, preload_content=False)
    assert text(response) == "Hello"
    assert response.raw.closed


@pytest.mark.parametrize("package", [httpx, httpx2], ids=["httpx", "httpx2"])
def test_a_body_that_httpx_has_read_already_is_read_from_memory(package: Any) -> None:
    response = package.Response(200, content=BODY)
    assert response.content == BODY
    assert text(response) == "Hello"

    async def main() -> None:
        assert await text_async(package.Response(200, content=BODY)) == "Hello"

    anyio.run(main)


# Refused


def only_sync() -> list[Any]:
    def generator() -> Iterator[bytes]:
        yield BODY

    return [
        generator(),
        [BODY],
        Reads(BODY),
        Response(BODY),
        io.BytesIO(BODY),
        http_response(BODY),
        {},
        requests.Response(),
    ]


@pytest.mark.parametrize("stream", [AsyncChatStream, AsyncEventStream])
@pytest.mark.parametrize("source", only_sync(), ids=lambda source: type(source).__name__)
def test_what_would_block_the_event_loop_is_refused(stream: Callable[[Any], Any], source: Any) -> None:
    with pytest.raises(TypeError, match=f"{type(source).__name__} is synchronous: use ChatStream or EventStream"):
        stream(source)


def only_async() -> list[Any]:
    async def generator() -> AsyncIterator[bytes]:
        yield BODY

    class OpenAIResponse:
        async def iter_bytes(self) -> AsyncIterator[bytes]:
            yield BODY

    return [generator(), AsyncReads(BODY), AsyncResponse(BODY), OpenAIResponse()]


@pytest.mark.parametrize("stream", [ChatStream, EventStream])
@pytest.mark.parametrize("source", only_async(), ids=lambda source: type(source).__name__)
def test_what_only_a_coroutine_can_read_is_refused(stream: Callable[[Any], Any], source: Any) -> None:
    with pytest.raises(
        TypeError, match=f"{type(source).__name__} is asynchronous: use AsyncChatStream or AsyncEventStream"
    ):
        stream(source)


@pytest.mark.parametrize("package", [httpx, httpx2], ids=["httpx", "httpx2"])
def test_a_response_of_the_other_kind_of_client_is_refused(package: Any) -> None:
    """Both kinds are of one class in httpx; the stream below tells them apart."""

    def answer(request: Any) -> Any:
        return package.Response(200, stream=Both(), request=request)

    class Both(package.SyncByteStream, package.AsyncByteStream):  # type: ignore[misc]
        def __iter__(self) -> Iterator[bytes]:
            yield BODY

        async def __aiter__(self) -> AsyncIterator[bytes]:
            yield BODY

    transport = package.MockTransport(answer)
    with package.Client(transport=transport) as client, client.stream("GET", "http://x/") as response:
        with pytest.raises(TypeError, match="Response is synchronous: use ChatStream"):
            AsyncChatStream(response)
        assert text(response) == "Hello"

    async def main() -> None:
        async with package.AsyncClient(transport=transport) as client, client.stream("GET", "http://x/") as response:
            with pytest.raises(TypeError, match="Response is asynchronous: use AsyncChatStream"):
                ChatStream(response)
            assert await text_async(response) == "Hello"

    anyio.run(main)


@pytest.mark.parametrize("stream", [ChatStream, EventStream, AsyncChatStream, AsyncEventStream])
@pytest.mark.parametrize("source", [None, 7, object(), print])
def test_what_cannot_be_read_is_refused(stream: Callable[[Any], Any], source: Any) -> None:
    with pytest.raises(TypeError, match=f"{type(source).__name__} cannot be read: tried .*yields bytes"):
        stream(source)


@pytest.mark.parametrize("stream", [ChatStream, EventStream, AsyncChatStream, AsyncEventStream])
@pytest.mark.parametrize("source", [bytes, dict, io.BytesIO, httpx.Response, Reads])
def test_a_class_is_refused(stream: Callable[[Any], Any], source: Any) -> None:
    with pytest.raises(TypeError, match=f"got the class {source.__name__}: hand over an object"):
        stream(source)


def test_what_yields_no_bytes_is_refused_at_the_first_read() -> None:
    for source in ({"data": 1}, ["data: a\n\n"], iter("text")):
        with pytest.raises(TypeError, match="iter_bytes"):
            next(ChatStream(source))
    with pytest.raises(TypeError, match="expected bytes or another buffer, got int"):
        next(ChatStream([7]))


# Objects that look like others


class Cassette(io.BytesIO):
    """What stands below a response of requests that was recorded: a file with a method of urllib3's name."""

    def stream(self, _size: int, *, decode_content: bool) -> Iterator[bytes]:
        raise AssertionError(decode_content)


def test_a_double_of_urllib3_below_requests_is_read_as_a_file() -> None:
    response = requests.Response()
    response.status_code = 200
    response.raw = Cassette(BODY)
    assert text(response) == "Hello"


def test_a_response_of_requests_that_was_made_by_hand_has_its_body_in_memory() -> None:
    response = requests.Response()
    response.status_code = 200
    response._content = BODY
    assert text(response) == "Hello"


class Synchronous(io.IOBase):
    """A file as those of fsspec: with methods of asyncio's names that are not awaited, and lines by iteration."""

    def __init__(self) -> None:
        self._file = io.BytesIO(BODY)

    def read(self, size: int = -1) -> bytes:
        return self._file.read(size)

    def readuntil(self, _end: bytes) -> bytes:
        raise AssertionError


def test_a_file_with_a_method_of_the_name_of_asyncio_s_is_a_file() -> None:
    file = Synchronous()
    assert text(file) == "Hello"
    assert not file.closed
    with pytest.raises(TypeError, match="Synchronous is synchronous"):
        AsyncChatStream(file)


@pytest.mark.parametrize("status", [0, True, 7, "200 OK"])
def test_what_else_is_called_status_is_none(status: object) -> None:
    class Iterable:
        def __init__(self) -> None:
            self.status = status

        def __iter__(self) -> Iterator[bytes]:
            return iter([BODY])

    assert text(Iterable()) == "Hello"


def test_what_an_sdk_gives_for_a_raw_response_is_read_below() -> None:
    response = types.SimpleNamespace(http_response=httpx.Response(200, content=BODY))
    assert text(response) == "Hello"


@pytest.mark.anyio
async def test_what_is_to_be_awaited_first_is_told_so() -> None:
    async def ask() -> AsyncResponse:
        return AsyncResponse(BODY)

    coroutine = ask()
    with pytest.raises(TypeError, match="got coroutine, which is to be awaited first"):
        AsyncChatStream(coroutine)
    assert await text_async(await coroutine) == "Hello"
