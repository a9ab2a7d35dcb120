"""The streams of the demo: what its server writes, piece by piece, and what a reader must have got at the end.

Server and reader are two processes that share this module. What must have been read is never taken from the chunks: the
text is the words joined, the usage is counted from them, the rest is said here by hand.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec

from ssewire.provider import CENTML, CHUTES, NSCALE, Provider

from .dialects import Chunk, centml_real, chutes_sglang, chutes_vllm, counts, documented, nscale_real

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

__all__ = ["FAULTS", "KEY", "STREAMS", "Script", "altered"]

#: The server on this machine asks for a key, as the real ones do.
KEY = "demo-key-that-opens-nothing"

_DONE = b"data: [DONE]\n\n"


@dataclass(frozen=True)
class Script:
    """One stream, and what must come of it."""

    provider: Provider[Any]
    form: str
    #: What the server writes: whole events, halves of them, comments.
    pieces: tuple[bytes, ...]
    text: str
    chunks: int
    state: str
    finish_reasons: dict[int, str]
    usage: Chunk | None = None
    reasoning: str = ""
    status: int = 200
    #: Read with the documented chunk type: each chunk is checked against the provider's document.
    strict: bool = False
    #: The class of the error that must end it.
    error: str = ""
    media_type: str = "text/event-stream"
    #: The server drops the connection after the last piece.
    dropped: bool = False

    @property
    def slug(self) -> str:
        """Its name in the address, such as ``nscale/documented``."""
        return f"{self.provider.name}/{self.form}".lower().replace(" ", "-")

    @property
    def base_path(self) -> str:
        """Path of its base address on the demo's server, which ends as the provider's own does."""
        return f"/{self.slug}{urlsplit(self.provider.base_url).path}"


def altered(script: Script) -> Iterator[bytes]:
    """The pieces of a script with one word changed: what a faulty server or network would send."""
    mark = b'"content":"'
    sayings = [index for index, piece in enumerate(script.pieces) if mark in piece]
    changed = sayings[len(sayings) // 2]
    for index, piece in enumerate(script.pieces):
        yield piece.replace(mark, mark + b"~", 1) if index == changed else piece


def _words(text: str) -> list[str]:
    """Words, each with the white space before it: as good as tokens here."""
    return re.findall(r"\s*\S+", text)


def _event(value: Chunk) -> bytes:
    return b"data: " + msgspec.json.encode(value) + b"\n\n"


def _half(value: Chunk) -> bytes:
    event = _event(value)
    return event[: len(event) // 2]


def _events(chunks: Iterable[Chunk], keep_alive: bytes = b":\n\n") -> tuple[bytes, ...]:
    """The events for these chunks; comments between them, and some cut in two wherever the cut falls."""
    pieces: list[bytes] = []
    for number, chunk in enumerate(chunks, 1):
        event = _event(chunk)
        if number % 7 == 0:
            pieces.append(keep_alive)
        if number % 5 == 0:
            pieces += [event[: len(event) // 2], event[len(event) // 2 :]]
        else:
            pieces.append(event)
    return tuple(pieces)


def _streams() -> Iterator[Script]:
    nscale = _words(
        "Every event of this stream is built from Nscale's AsyncAPI document: the role first, then a word at a time, "
        "the finish reason with the usage, and the sentinel. The status is 201, as documented."
    )
    chunks = list(documented(nscale, model="meta-llama/Llama-4-Scout-17B-16E-Instruct", usage=True))
    yield _stream(NSCALE, "documented", nscale, chunks, "done", status=201, usage=counts(len(nscale)))

    nscale = _words(
        "The service itself writes role, logprobs and usage as null, sends the usage in a last chunk without choices, "
        "and no sentinel: the stream is finished because its body ends and nothing is open. Naïve readers wait: ☕."
    )
    yield _stream(NSCALE, "real", nscale, list(nscale_real(nscale)), "finished", usage=counts(len(nscale)))

    centml = _words(
        "CentML's document names no usage at all; every other member is where OpenAI has it. "
        "[bold]Markup[/bold] in a text is text."
    )
    chunks = list(documented(centml, model="meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8"))
    yield _stream(CENTML, "documented", centml, chunks, "done")

    centml = _words(
        "The one recorded stream of CentML brought logprobs with each choice and a stop_reason with the last word, "
        "where the length was"
    )
    yield _stream(CENTML, "real", centml, list(centml_real(centml)), "done", reason="length")

    chutes = _words(
        "Chutes documents logprobs, a finish reason on every chunk even when it is null, "
        "and usage that is null until the end."
    )
    chunks = list(documented(chutes, model="deepseek-ai/DeepSeek-V3-0324", usage=True, logprobs=None))
    yield _stream(CHUTES, "documented", chutes, chunks, "done", usage=counts(len(chutes)))

    chutes = _words(
        "Behind Chutes' gateway SGLang writes tool_calls as null and a new creation time as it goes; "
        "usage is on every chunk, beside a digest of the text: 数えてはいけません, never a sum."
    )
    yield _stream(CHUTES, "real SGLang", chutes, list(chutes_sglang(chutes)), "done", usage=counts(len(chutes)))

    thoughts = _words("The same thought comes under two names; a reader that knows both must not think it twice.")
    chutes = _words("vLLM puts its reasoning before the answer, as reasoning and as reasoning_content.")
    chunks = list(chutes_vllm(chutes, thoughts=thoughts))
    usage = counts(len(thoughts) + len(chutes))
    yield _stream(CHUTES, "real vLLM", chutes, chunks, "done", usage=usage, reasoning="".join(thoughts))


def _stream(
    provider: Provider[Any],
    form: str,
    words: Sequence[str],
    chunks: Sequence[Chunk],
    state: str,
    *,
    reason: str = "stop",
    usage: Chunk | None = None,
    reasoning: str = "",
    status: int = 200,
) -> Script:
    keep_alive = {"Nscale": b": keep-alive\n\n", "CentML": b": ping - 12:00:07\n\n", "Chutes": b":\n\n"}[provider.name]
    pieces = _events(chunks, keep_alive) + (() if state == "finished" else (_DONE,))
    return Script(
        provider,
        form,
        pieces,
        text="".join(words),
        chunks=len(chunks),
        state=state,
        finish_reasons={0: reason},
        usage=usage,
        reasoning=reasoning,
        status=status,
        strict=form == "documented",
    )


def _faults() -> Iterator[Script]:
    words = _words("The connection is lost in the middle of an event, and the client says so itself.")
    chunks = list(centml_real(words))
    pieces = (*_events(chunks[:10]), _half(chunks[10]))
    text = "".join(words[:9])
    yield Script(
        CENTML, "connection lost", pieces, text, 10, "incomplete", {}, error="RemoteProtocolError", dropped=True
    )

    words = _words("A gateway ends the body neatly although the answer is not finished; only the state can tell.")
    chunks = list(nscale_real(words))
    pieces = (*_events(chunks[:12]), _half(chunks[12]))
    text = "".join(words[:11])
    yield Script(NSCALE, "body ends early", pieces, text, 12, "incomplete", {}, error="IncompleteStreamError")

    words = _words("An error comes as an event in the place of a chunk, and a sentinel behind it heals nothing.")
    chunks = list(documented(words, model="meta-llama/Llama-3.3-70B-Instruct"))[:-1]
    failure = {"error": {"message": "the model was unloaded", "type": "server_error", "param": None, "code": "503"}}
    pieces = (*_events(chunks), _event(failure), _DONE)
    yield Script(CENTML, "error event", pieces, "".join(words), len(chunks), "error", {}, error="APIError")

    body = msgspec.json.encode({"detail": "No instance of this model is up yet, try again later."})
    yield Script(
        CHUTES, "cold model", (body,), "", 0, "error", {}, status=503, media_type="application/json", error="APIError"
    )


STREAMS = tuple(_streams())
FAULTS = tuple(_faults())
