"""Which peers meet in which suite, and what their numbers are compared with; `benches.targets` has what is promised."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import ssewire
from benches.corpus import Body
from benches.peers import chat, ours, sse
from benches.peers.base import Peer, pulled, pulled_async, pulled_data, pulled_text
from benches.targets import FLOOR


@dataclass(frozen=True)
class Suite:
    """Peers that give the same items."""

    name: str
    expected: Callable[[Body], list[object]]
    peers: tuple[Peer, ...]
    references: tuple[str, ...]


# About 57 µs a chunk: the whole body would take a second a round.
_SDK_EVENTS = 2000

PAYLOADS = Suite(
    "payloads",
    lambda body: list(body.payloads),
    (
        # Without decoding it cannot know that a stream without the sentinel was whole.
        pulled("ssewire", ours.payloads, bytes, ends_with=ssewire.IncompleteStreamError),
        ours.pushed_payloads("ssewire, feed"),
        pulled("ssewire, httpx response", ours.payloads_over_httpx, bytes, ends_with=ssewire.IncompleteStreamError),
        pulled("bytes.find loop", sse.find_payloads, bytes),
        pulled("httpx-sse", sse.httpx_sse_events, lambda event: event.data.encode()),
        pulled("httpx-sse, httpx response", sse.httpx_sse_over_httpx, lambda event: event.data.encode()),
        pulled("httpx2", sse.httpx2_events, lambda event: event.data.encode()),
        pulled("OpenAI decoder", sse.openai_events, lambda event: event.data.encode()),
        pulled("sseclient-py", sse.sseclient_events, lambda event: event.data.encode()),
        pulled("launchdarkly", sse.launchdarkly_events, lambda event: event.data.encode()),
    ),
    ("httpx-sse", "OpenAI decoder"),
)

EVENTS = Suite(
    "events",
    lambda body: [payload.decode() for payload in body.payloads],
    (
        pulled_data("ssewire", ours.events),
        ours.pushed_events("ssewire, feed"),
        pulled_data("ssewire, httpx response", ours.events_over_httpx),
        pulled_data("httpx-sse", sse.httpx_sse_events),
        pulled_data("httpx-sse, httpx response", sse.httpx_sse_over_httpx),
        pulled_data("httpx2", sse.httpx2_events),
        pulled_data("OpenAI decoder", sse.openai_events),
        pulled_data("sseclient-py", sse.sseclient_events),
        pulled_data("launchdarkly", sse.launchdarkly_events),
    ),
    ("httpx-sse", "OpenAI decoder"),
)

TYPED = Suite(
    "typed",
    lambda body: chat.expected_facts(body.payloads),
    (
        chat.floor(FLOOR),
        pulled("ssewire", ours.chunks, chat.chunk_facts),
        ours.pushed_chunks("ssewire, feed"),
        pulled("ssewire, httpx response", ours.chunks_over_httpx, chat.chunk_facts),
        pulled_async("ssewire, async", ours.chunks_async, chat.chunk_facts),
        pulled("bytes.find loop + msgspec", chat.find_msgspec, chat.chunk_facts),
        pulled("httpx-sse + msgspec", chat.httpx_sse_msgspec, chat.chunk_facts),
        pulled("OpenAI SDK", chat.sdk_chunks, chat.chunk_facts, events=_SDK_EVENTS),
    ),
    (FLOOR, "OpenAI SDK"),
)

_asked_for_text = chat.text_floor("floor, and its text", text_only=False)

TEXT = Suite(
    "text",
    lambda body: chat.expected_text(body.payloads),
    (
        # The loop that is the floor of chunks, which asks no chunk for its text: so both suites have one measure.
        replace(chat.floor(FLOOR), collect=_asked_for_text.collect),
        _asked_for_text,
        chat.text_floor("floor, type of the text alone", text_only=True),
        pulled_text("ssewire", ours.texts),
        ours.chunk_texts("ssewire, chunk.text"),
        pulled_text("bytes.find loop + json", chat.find_json_texts),
        pulled_text("httpx-sse + json", chat.httpx_sse_json_texts),
        pulled_text("OpenAI SDK", chat.sdk_texts, events=_SDK_EVENTS),
    ),
    (FLOOR, "OpenAI SDK"),
)

SUITES = {suite.name: suite for suite in (PAYLOADS, EVENTS, TYPED, TEXT)}
