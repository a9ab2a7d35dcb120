"""An HTTP server of its own process, which streams in step with its reader.

    python -m tests.clients.server

prints its port. `GET /<scenario>/<id>` (a POST and a longer path do as well) streams; an event is sent only when the
reader has confirmed the one before with `GET /confirm/<id>/<number>`, so a client that holds an event back is stuck
with it and no clock is needed to see that. `GET /gone/<id>` answers when the connection of that stream has ended. The
header `x-peer` of a stream names the client's end of its connection.
"""

from __future__ import annotations

import asyncio
import gzip
import json
import socket
import struct
import zlib
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TypeAlias

# An event that its reader does not confirm is given up after so many seconds: only a failing test waits for it.
PATIENCE = 15.0

# So much later than the sentinel comes what stands behind it: a client has read the sentinel alone by then.
PAUSE = 0.05

TEXTS = ["Hel", "lo, ", "wörld", " 🎉", "\n"]
USAGE = {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14}

API_ERROR = {"error": {"message": "slow down", "type": "rate_limit", "code": 429, "param": None}}
HTML = b"<!DOCTYPE html><html><title>502 Bad Gateway</title></html>"
COMPLETION = {"object": "chat.completion", "choices": [{"index": 0, "message": {"content": "Hello"}}]}
GARBAGE = bytes(range(256)) * 64
DETAIL = {"detail": {"message": "out of memory", "code": "oom"}}


def _payload(**members: object) -> bytes:
    return json.dumps({"id": "c-1", "object": "chat.completion.chunk", "model": "m", **members}).encode()


def _choice(content: str, finish_reason: str | None = None) -> dict[str, object]:
    return {"index": 0, "delta": {"content": content}, "finish_reason": finish_reason}


PAYLOADS = [
    *(_payload(choices=[_choice(text)]) for text in TEXTS),
    _payload(choices=[_choice("", "stop")]),
    _payload(choices=[], usage=USAGE),
]
EVENTS = [b"data: " + payload + b"\n\n" for payload in PAYLOADS]
DONE = b"data: [DONE]\n\n"
PACKED = gzip.compress(b"".join(EVENTS) + DONE, mtime=0)


class Session:
    """One stream: how far its reader is, and whether its connection has ended."""

    def __init__(self) -> None:
        self.confirmed = 0
        self.progress = asyncio.Condition()
        self.gone = asyncio.Event()

    async def confirm(self, number: int) -> None:
        async with self.progress:
            self.confirmed = number
            self.progress.notify_all()

    async def wait_for(self, number: int) -> None:
        async with self.progress:
            await asyncio.wait_for(self.progress.wait_for(lambda: self.confirmed >= number), PATIENCE)


async def in_step(session: Session, events: list[bytes]) -> AsyncIterator[bytes]:
    """Each event when the one before has reached the reader's loop; the first at once."""
    for number, event in enumerate(events):
        await session.wait_for(number)
        yield event


class Out:
    """One response's way out: chunked, as it is, or compressed and flushed for each piece."""

    def __init__(self, writer: asyncio.StreamWriter, style: str) -> None:
        self._writer = writer
        self._style = style
        self._gzip = zlib.compressobj(wbits=31)

    async def head(self) -> None:
        peer = self._writer.get_extra_info("peername")[1]
        headers = {"content-type": "text/event-stream; charset=utf-8", "x-request-id": "r-1", "x-peer": str(peer)}
        if self._style == "close":
            headers["connection"] = "close"
        else:
            headers["transfer-encoding"] = "chunked"
        if self._style == "gzip":
            headers["content-encoding"] = "gzip"
        await self._write(_head("200 OK", headers))
        if self._style == "gzip":
            # The ten bytes of the header alone: a read of them gives no byte of the body, and yet it is not its end.
            await self._chunk(self._gzip.compress(b"") + self._gzip.flush(zlib.Z_SYNC_FLUSH))

    async def send(self, data: bytes) -> None:
        if self._style == "close":
            await self._write(data)
        elif self._style == "gzip":
            await self._chunk(self._gzip.compress(data) + self._gzip.flush(zlib.Z_SYNC_FLUSH))
        else:
            await self._chunk(data)

    async def end(self) -> None:
        if self._style == "gzip":
            await self._chunk(self._gzip.flush())
        if self._style != "close":
            await self._write(b"0\r\n\r\n")

    def reset(self) -> None:
        """Let the end of the connection be a reset."""
        below = self._writer.get_extra_info("socket")
        below.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    async def _chunk(self, data: bytes) -> None:
        if data:
            await self._write(b"%x\r\n%b\r\n" % (len(data), data))

    async def _write(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()


def _head(status: str, headers: dict[str, str]) -> bytes:
    lines = [f"HTTP/1.1 {status}", *(f"{name}: {value}" for name, value in headers.items())]
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def _whole(status: str, body: bytes, kind: str = "application/json") -> bytes:
    return _head(status, {"content-type": kind, "content-length": str(len(body)), "x-request-id": "r-1"}) + body


class Silent(Exception):  # noqa: N818 - no error
    """The response has been sent as far as it will be; the connection stays open until the reader leaves."""


class Broken(Exception):  # noqa: N818 - no error
    """The connection ends now, in the middle of the body."""


async def _stalling(session: Session, out: Out) -> None:
    async for event in in_step(session, EVENTS):
        await out.send(event)
    await session.wait_for(len(EVENTS))
    await out.send(DONE)
    raise Silent


async def _finished(session: Session, out: Out) -> None:
    async for event in in_step(session, EVENTS):
        await out.send(event)
    await out.end()


async def _at_once(session: Session, out: Out) -> None:
    await out.send(b"".join(EVENTS) + DONE)
    await out.end()
    await session.wait_for(0)


async def _whole_answer(out: Out) -> None:
    await out.send(b"".join(EVENTS) + DONE)
    await asyncio.sleep(PAUSE)


async def _late_end(_session: Session, out: Out) -> None:
    await _whole_answer(out)
    await out.end()


async def _silent_behind(_session: Session, out: Out) -> None:
    await _whole_answer(out)
    raise Silent


async def _garbage_behind(_session: Session, out: Out) -> None:
    await _whole_answer(out)
    while True:
        await out.send(GARBAGE)


async def _keep_alive_behind(_session: Session, out: Out) -> None:
    await _whole_answer(out)
    while True:
        await out.send(b": keep-alive\n\n")
        await asyncio.sleep(PAUSE)


async def _reset_behind(_session: Session, out: Out) -> None:
    await _whole_answer(out)
    out.reset()
    raise Broken


async def _broken_behind(_session: Session, out: Out) -> None:
    await _whole_answer(out)
    raise Broken


async def _broken(session: Session, out: Out) -> None:
    async for event in in_step(session, EVENTS[:2]):
        await out.send(event)
    await session.wait_for(2)
    raise Broken


async def _one_then_silent(session: Session, out: Out) -> None:
    async for event in in_step(session, EVENTS[:1]):
        await out.send(event)
    raise Silent


async def _keep_alive(session: Session, out: Out) -> None:
    await out.send(b": keep-alive\n\n")
    async for event in in_step(session, EVENTS):
        await out.send(event[:9])
        await out.send(event[9:] + b": keep-alive\n\n")
    await out.send(DONE)
    raise Silent


async def _error_inside(session: Session, out: Out) -> None:
    async for event in in_step(session, EVENTS[:2]):
        await out.send(event)
    await out.send(b"data: " + json.dumps(API_ERROR).encode() + b"\n\n" + DONE)
    raise Silent


async def _bare_error(session: Session, out: Out) -> None:
    await out.send(json.dumps(API_ERROR).encode() + b"\n")
    await session.wait_for(0)
    raise Silent


Play: TypeAlias = Callable[[Session, Out], Awaitable[None]]

STREAMS: dict[str, tuple[str, Play]] = {
    "chunked": ("chunked", _stalling),
    "close": ("close", _stalling),
    "gzip": ("gzip", _stalling),
    "finished": ("chunked", _finished),
    "finished-close": ("close", _finished),
    "at-once": ("chunked", _at_once),
    "late-end": ("chunked", _late_end),
    "late-end-gzip": ("gzip", _late_end),
    "late-end-close": ("close", _late_end),
    "silent-behind": ("chunked", _silent_behind),
    "garbage-behind": ("chunked", _garbage_behind),
    "keep-alive-behind": ("chunked", _keep_alive_behind),
    "reset-behind": ("chunked", _reset_behind),
    "broken-behind": ("chunked", _broken_behind),
    "broken": ("chunked", _broken),
    "broken-close": ("close", _broken),
    "silent": ("chunked", _one_then_silent),
    "keep-alive": ("chunked", _keep_alive),
    "error-inside": ("chunked", _error_inside),
    "bare-error": ("chunked", _bare_error),
}

BODIES: dict[str, bytes] = {
    "refused": _whole("429 Too Many Requests", json.dumps(API_ERROR).encode()),
    "failed": _whole("500 Internal Server Error", json.dumps(DETAIL).encode()),
    "error-in-success": _whole("200 OK", json.dumps(API_ERROR, indent=2).encode()),
    "packed": _whole("200 OK", PACKED, "text/event-stream"),
    "bad-gateway": _whole("502 Bad Gateway", HTML, "text/html"),
    "html": _whole("200 OK", HTML, "text/html"),
    "completion": _whole("200 OK", json.dumps(COMPLETION).encode()),
    "garbage": _whole("200 OK", GARBAGE, "text/event-stream"),
    "empty": _whole("200 OK", b"", "text/event-stream"),
}


class Server:
    """All streams, by their ids."""

    def __init__(self) -> None:
        self._sessions: defaultdict[str, Session] = defaultdict(Session)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await self._answer(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, TimeoutError):
            pass
        finally:
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        length = next((line.split(":")[1] for line in head.split("\r\n") if line.startswith("content-length")), "0")
        await reader.readexactly(int(length))
        _, scenario, name, *rest = head.split(" ")[1].split("/")
        session = self._sessions[name]
        if scenario == "confirm":
            await session.confirm(int(rest[0]))
            writer.write(_whole("200 OK", b"{}"))
        elif scenario == "gone":
            await asyncio.wait_for(session.gone.wait(), PATIENCE)
            writer.write(_whole("200 OK", b"{}"))
        elif scenario in BODIES:
            writer.write(BODIES[scenario])
        else:
            return await self._play(session, scenario, reader, writer)
        await writer.drain()
        return True

    async def _play(
        self, session: Session, scenario: str, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> bool:
        style, play = STREAMS[scenario]
        out = Out(writer, style)
        try:
            await out.head()
            await play(session, out)
        except Broken:
            return False
        except Silent:
            # The end of the connection is all that can come.
            await reader.read()
            return False
        finally:
            session.gone.set()
        return style != "close"


async def main() -> None:
    server = await asyncio.start_server(Server().serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)  # noqa: T201 - the port, for whoever started this process
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
