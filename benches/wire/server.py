"""A server on loopback in a process of its own: it sends streams as fast as it goes, paced, or stamped with the time.

A request chooses by its path, `/<pace>/<events>/<microseconds>/v1/chat/completions`, so that clients that only know a
base address can choose, too. Each event is a chunk of HTTP of its own, as servers write that flush per token. Every
answer ends its connection: whether a client would use it again must not show in what a parser costs.
"""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import repeat
from time import monotonic_ns, sleep
from typing import Literal

from benches import corpus

# As fast as it goes; one write an event, with a pause behind it; the same, with the time of the write as the text.
Pace = Literal["fast", "paced", "stamped"]


@contextmanager
def running() -> Generator[str]:
    """Start the server, give its address, and stop it; it ends with its standard input, whatever becomes of us."""
    run = [sys.executable, "-m", "benches.wire.server"]
    # Two streams of bytes, so that a server that cannot start says why on the terminal.
    with subprocess.Popen(run, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:  # noqa: S603
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            yield f"http://127.0.0.1:{int(process.stdout.readline())}"
        finally:
            process.stdin.close()


def base(address: str, pace: Pace, events: int, pause: float = 0.0) -> str:
    """Give the base address of a stream; `pause` is in seconds."""
    return f"{address}/{pace}/{events}/{round(pause * 1e6)}/v1"


def _chunked(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


@lru_cache
def _pieces(events: int) -> list[bytes]:
    """The generated body as chunks of HTTP, one an event."""
    return [_chunked(read) for read in corpus.generated(events).cut("event").reads]


@lru_cache
def _whole(events: int) -> bytes:
    return b"".join(_pieces(events))


def _stamped(events: int) -> Iterator[bytes]:
    """Chunks whose text is the time at which they are asked for, in nanoseconds of the machine's monotonic clock."""
    chunk: dict[str, object] = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "model": "harbour"}
    begin, end = json.dumps(chunk | {"choices": [{"index": 0, "delta": {"content": "@"}}]}).encode().split(b"@")
    for _ in repeat(None, events):
        yield _chunked(b"data: %b%d%b\n\n" % (begin, monotonic_ns(), end))
    finished = json.dumps(chunk | {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]}).encode()
    yield _chunked(b"data: %b\n\ndata: [DONE]\n\n" % finished)


class _Answer(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["content-length"]))
        _, pace, events, microseconds, *_ = self.path.split("/")
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Transfer-Encoding", "chunked")
        self.send_header("Connection", "close")
        self.end_headers()
        # Who has read the sentinel may be gone before the end of the body.
        with suppress(ConnectionError):
            if pace == "fast":
                self.wfile.write(_whole(int(events)))
            else:
                pieces = _stamped(int(events)) if pace == "stamped" else _pieces(int(events))
                for piece in pieces:
                    self.wfile.write(piece)
                    sleep(int(microseconds) / 1e6)
            self.wfile.write(b"0\r\n\r\n")

    def log_message(self, format: str, *args: object) -> None:
        pass


def main() -> None:
    """Serve until standard input ends, and say on standard output at which port."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(server.server_port, flush=True)
    while os.read(0, 1024):
        pass


if __name__ == "__main__":
    main()
