"""Parsers of Server-Sent Events that Python has today, each opened over the reads as its documentation says.

httpx-sse and httpx2 want a response. `TextResponse` gives them the least that they ask for, so that only their parsing
is timed; `over_httpx` is the same through a real `httpx.Response`, as it happens in a program.
"""

import codecs
from collections.abc import Iterable, Iterator
from typing import cast

import httpx
import httpx2
import httpx_sse
import sseclient
from ld_eventsource import SSEClient as LaunchDarklyClient  # type: ignore[import-untyped]
from ld_eventsource.config import (  # type: ignore[import-untyped]
    ConnectionClient,
    ConnectionResult,
    ConnectStrategy,
)
from openai._streaming import SSEDecoder as OpenAIDecoder

from benches.corpus import DONE, Input
from benches.peers.base import HasData

_HEADERS = {"content-type": "text/event-stream; charset=utf-8"}


class TextResponse:
    """The least that an `EventSource` asks of a response: headers, and text decoded read by read."""

    headers = _HEADERS
    request = httpx2.Request("GET", "http://bench.invalid/")

    def __init__(self, reads: list[bytes]) -> None:
        self._reads = reads

    def iter_text(self) -> Iterator[str]:
        """Decode each read; a character cut in two waits for its other half."""
        decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        for read in self._reads:
            if text := decode(read):
                yield text


class _Reads(httpx.SyncByteStream):
    def __init__(self, reads: list[bytes]) -> None:
        self._reads = reads

    def __iter__(self) -> Iterator[bytes]:
        return iter(self._reads)


def over_httpx(stream: Input) -> httpx.Response:
    """Open the reads as the body of a response of httpx, in memory."""
    return httpx.Response(200, headers=_HEADERS, stream=_Reads(stream.reads))


def httpx_sse_events(stream: Input) -> Iterable[HasData]:
    """httpx-sse, its parsing alone."""
    return httpx_sse.EventSource(cast("httpx.Response", TextResponse(stream.reads))).iter_sse()


def httpx_sse_over_httpx(stream: Input) -> Iterable[HasData]:
    """httpx-sse over a response of httpx."""
    return httpx_sse.EventSource(over_httpx(stream)).iter_sse()


def httpx2_events(stream: Input) -> Iterable[HasData]:
    """The parser behind httpx2's `client.sse`, its parsing alone."""
    return httpx2.EventSource(cast("httpx2.Response", TextResponse(stream.reads)))


def openai_events(stream: Input) -> Iterable[HasData]:
    """The decoder of the OpenAI SDK, which takes bytes."""
    return OpenAIDecoder().iter_bytes(iter(stream.reads))


def sseclient_events(stream: Input) -> Iterable[HasData]:
    """sseclient-py, which takes any iterable of bytes."""
    return cast("Iterable[HasData]", sseclient.SSEClient(iter(stream.reads)).events())


class _Memory(ConnectStrategy, ConnectionClient):  # type: ignore[misc]
    """How launchdarkly-eventsource is given another source than its own HTTP client."""

    def __init__(self, reads: list[bytes]) -> None:
        self._reads = reads

    def create_client(self, logger: object) -> "_Memory":  # noqa: ARG002
        return self

    def connect(self, last_event_id: str | None) -> ConnectionResult:  # noqa: ARG002
        return ConnectionResult(iter(self._reads), None)


def launchdarkly_events(stream: Input) -> Iterable[HasData]:
    """launchdarkly-eventsource over a connection in memory."""
    return cast("Iterable[HasData]", LaunchDarklyClient(_Memory(stream.reads)).events)


def find_payloads(stream: Input) -> Iterator[bytes]:
    """The loop that a careful user writes by hand: LF only, one data line an event, no other field."""
    pending = b""
    for read in stream.reads:
        buffer = pending + read if pending else read
        start = 0
        while (end := buffer.find(b"\n\n", start)) >= 0:
            if buffer.startswith(b"data: ", start):
                payload = buffer[start + 6 : end]
                if payload == DONE:
                    return
                yield payload
            start = end + 2
        pending = buffer[start:]
