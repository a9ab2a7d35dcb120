"""The forms of this package: pulled from the reads, pushed by the caller, over a response of httpx, asynchronous."""

from collections.abc import AsyncIterator, Iterator

import ssewire
from benches.corpus import Input
from benches.peers.base import Peer, async_reads
from benches.peers.chat import chunk_facts
from benches.peers.sse import over_httpx


def payloads(stream: Input) -> Iterator[bytes]:
    """Payloads as bytes."""
    return ssewire.ChatStream(stream.reads).iter_payloads()


def payloads_over_httpx(stream: Input) -> Iterator[bytes]:
    """Payloads as bytes from a response of httpx."""
    return ssewire.ChatStream(over_httpx(stream)).iter_payloads()


def events(stream: Input) -> Iterator[ssewire.ServerSentEvent]:
    """Server-sent events."""
    return iter(ssewire.EventStream(stream.reads))


def events_over_httpx(stream: Input) -> Iterator[ssewire.ServerSentEvent]:
    """Server-sent events from a response of httpx."""
    return iter(ssewire.EventStream(over_httpx(stream)))


def chunks(stream: Input) -> Iterator[ssewire.ChatCompletionChunk]:
    """Typed chunks."""
    return iter(ssewire.ChatStream(stream.reads))


def chunks_over_httpx(stream: Input) -> Iterator[ssewire.ChatCompletionChunk]:
    """Typed chunks from a response of httpx."""
    return iter(ssewire.ChatStream(over_httpx(stream)))


def chunks_async(stream: Input) -> AsyncIterator[ssewire.ChatCompletionChunk]:
    """Typed chunks in an event loop."""
    return aiter(ssewire.AsyncChatStream(async_reads(stream)))


def texts(stream: Input) -> Iterator[str]:
    """Pieces of text."""
    return ssewire.ChatStream(stream.reads).iter_text()


def chunk_texts(name: str) -> Peer:
    """The text of each chunk, asked for."""

    def run(stream: Input) -> None:
        for chunk in ssewire.ChatStream(stream.reads):
            chunk.text  # noqa: B018

    return Peer(name, run, lambda stream: ["".join(chunk.text for chunk in ssewire.ChatStream(stream.reads))])


# The push forms are loops of their own: a generator around `feed` would cost a third of what it measures.


def pushed_payloads(name: str) -> Peer:
    """`SSEDecoder.feed`, each event asked for its bytes."""

    def run(stream: Input) -> None:
        decoder = ssewire.SSEDecoder()
        for read in stream.reads:
            for event in decoder.feed(read):
                event.payload  # noqa: B018

    def collect(stream: Input) -> list[object]:
        decoder = ssewire.SSEDecoder()
        return [event.payload for read in stream.reads for event in decoder.feed(read)]

    return Peer(name, run, collect)


def pushed_events(name: str) -> Peer:
    """`SSEDecoder.feed`, each event asked for its text."""

    def run(stream: Input) -> None:
        decoder = ssewire.SSEDecoder()
        for read in stream.reads:
            for event in decoder.feed(read):
                event.data  # noqa: B018

    def collect(stream: Input) -> list[object]:
        decoder = ssewire.SSEDecoder()
        return [event.data for read in stream.reads for event in decoder.feed(read)]

    return Peer(name, run, collect)


def pushed_chunks(name: str) -> Peer:
    """`ChunkDecoder.feed`."""

    def run(stream: Input) -> None:
        decoder = ssewire.ChunkDecoder()
        for read in stream.reads:
            for _ in decoder.feed(read):
                pass
        for _ in decoder.finish():
            pass

    def collect(stream: Input) -> list[object]:
        decoder = ssewire.ChunkDecoder()
        chunks = [chunk_facts(chunk) for read in stream.reads for chunk in decoder.feed(read)]
        return chunks + [chunk_facts(chunk) for chunk in decoder.finish()]

    return Peer(name, run, collect)
