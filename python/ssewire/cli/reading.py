"""Reading one stream of the demo as a user does, with httpx and ChatStream, and holding it against its script."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import httpx

from ssewire import ChatStream, SSEWireError
from ssewire.models import ChatCompletionChunk

from .scripts import KEY, Script

if TYPE_CHECKING:
    from collections.abc import Callable

    from ssewire.documented import DocumentedChunk

__all__ = ["Reading", "differences", "read"]


@dataclass
class Reading:
    """What came of a stream."""

    text: str = ""
    reasoning: str = ""
    chunks: int = 0
    state: str = ""
    finish_reasons: dict[int, str] = field(default_factory=dict[int, str])
    usage: dict[str, int] | None = None
    status: int = 0
    #: Class and message of the error that ended it.
    error: str = ""
    message: str = ""
    first_text: float | None = None
    seconds: float = 0.0


def read(client: httpx.Client, address: str, script: Script, show: Callable[[str, str], None]) -> Reading:
    """Read the stream from a server at `address`; `show` gets text and reasoning of each chunk as it arrives."""
    provider = script.provider.at(address + script.base_path)
    reading = Reading()
    request = provider.request(KEY, model="demo", messages=[{"role": "user", "content": "Speak as you do."}])
    chunk_type: type[ChatCompletionChunk | DocumentedChunk] = (
        provider.chunk_type if script.strict else ChatCompletionChunk
    )
    stream: ChatStream[ChatCompletionChunk | DocumentedChunk] | None = None
    start = time.perf_counter()
    try:
        with client.stream(**request) as response:
            reading.status = response.status_code
            stream = ChatStream(response, type=chunk_type)
            for chunk in stream:
                _take(reading, chunk, start, show)
    except (SSEWireError, httpx.HTTPError) as error:
        reading.error, reading.message = type(error).__name__, str(error)
    reading.seconds = time.perf_counter() - start
    if stream is not None:
        reading.state, reading.finish_reasons = stream.state, dict(stream.finish_reasons)
        if stream.usage is not None:
            names = ("prompt_tokens", "total_tokens", "completion_tokens")
            reading.usage = {name: getattr(stream.usage, name) for name in names}
    return reading


def _take(
    reading: Reading, chunk: ChatCompletionChunk | DocumentedChunk, start: float, show: Callable[[str, str], None]
) -> None:
    # The documented types have no reasoning, as the documents have none.
    text, reasoning = chunk.text, getattr(chunk, "reasoning", "")
    reading.chunks += 1
    reading.text += text
    reading.reasoning += reasoning
    if reading.first_text is None and (text or reasoning):
        reading.first_text = time.perf_counter() - start
    show(text, reasoning)


def differences(script: Script, reading: Reading) -> list[str]:
    """What differs from the script, in words; nothing when all came as it was sent."""
    names = ("status", "chunks", "text", "reasoning", "finish_reasons", "usage", "state", "error")
    return [
        f"{name} is {getattr(reading, name)!r}, the server sent {getattr(script, name)!r}"
        for name in names
        if (getattr(reading, name) or None) != (getattr(script, name) or None)
    ]
