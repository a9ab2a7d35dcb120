"""The scenarios: what the server does, and what becomes of it in a stream, whatever the client."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from ssewire import APIError, EventTooLargeError, IncompleteStreamError, NotAStreamError
from ssewire.cli.http import Encoding, Framing
from tests.clients import plays
from tests.clients.bodies import (
    API_ERROR,
    BIG_TEXT,
    COMPLETION,
    DETAIL,
    DONE,
    EVENTS,
    GARBAGE,
    HTML,
    KEEP_ALIVE,
    PACKED,
    PAYLOADS,
    SMALL_EVENTS,
    WHOLE,
    choice,
    event_of,
    json_of,
    payload_of,
)
from tests.clients.client import Failure
from tests.clients.plays import MOMENT, Play, at_once, behind_the_sentinel, in_step, respond


@dataclass(frozen=True, kw_only=True, repr=False)
class Scenario:
    """One thing that can happen to a stream."""

    play: Play
    framing: Framing | None = None
    """How the body ends; None: as it comes, so that clients without HTTP can read it too."""
    encoding: Encoding = "identity"
    status: int = 200
    chunks: int = len(PAYLOADS)
    """How many chunks the reader gets."""
    state: str = "done"
    error: Failure | type[Exception] | None = None
    """What is raised behind the chunks: an error of this library, or the client's own for this failure."""
    about: str = ""
    """What the error's text says."""
    options: Mapping[str, Any] = field(default_factory=dict)
    """What the stream is told."""
    timeout: float | None = None
    """Seconds that the client shall wait for bytes."""
    silent: bool = False
    """Whether the server then waits for its reader to leave; otherwise a client may use the connection again."""
    in_matrix: bool = True
    """Whether every client must go through it; the others are for tests of their own."""

    @property
    def breaks_off(self) -> bool:
        """Whether the body does not end in order, so that nothing can be left of its connection behind the stream."""
        return self.silent or self.framing == "close" or self.error in {"broken", "reset", EventTooLargeError}


def cut(body: bytes, *marks: bytes) -> list[bytes]:
    """The body in pieces, with a cut one byte into each of these marks."""
    for mark in marks:
        body = body.replace(mark, mark[:1] + b"\0" + mark[1:])
    return body.split(b"\0")


def _refused(body: bytes, kind: str, error: type[Exception], about: str, status: int = 200) -> Scenario:
    """What is no stream; the error says so."""
    play = respond(status, body, kind)
    return Scenario(play=play, framing="length", status=status, chunks=0, state="error", error=error, about=about)


STREAM, JSON = "text/event-stream", "application/json"

BIG = event_of(payload_of(choices=[choice("x" * BIG_TEXT)]))
SMALL = event_of(payload_of(choices=[choice("x")])) * SMALL_EVENTS

SCENARIOS: Mapping[str, Scenario] = MappingProxyType(
    {
        # Bodies of all kinds. The server is silent behind the sentinel, until the reader leaves.
        "chunked": Scenario(play=in_step(*EVENTS, behind=DONE), framing="chunked", silent=True),
        "close": Scenario(play=in_step(*EVENTS, behind=DONE), framing="close", silent=True),
        "length": Scenario(play=in_step(*EVENTS, behind=DONE), framing="length"),
        "gzip": Scenario(play=in_step(*EVENTS, behind=DONE), framing="chunked", encoding="gzip", silent=True),
        "br": Scenario(play=in_step(*EVENTS, behind=DONE), framing="chunked", encoding="br", silent=True),
        "zstd": Scenario(play=in_step(*EVENTS, behind=DONE), framing="chunked", encoding="zstd", silent=True),
        "keep-alive": Scenario(play=in_step(*(event + KEEP_ALIVE for event in EVENTS), behind=DONE), silent=True),
        # Odd cuts and sizes.
        "cut-characters": Scenario(play=at_once(*cut(WHOLE, "ö".encode(), "🎉".encode()), moment=MOMENT)),
        "cut-line-ends": Scenario(play=at_once(*cut(WHOLE.replace(b"\n", b"\r\n"), b"\r\n"), moment=MOMENT)),
        "byte-by-byte": Scenario(play=at_once(*(bytes([byte]) for byte in WHOLE))),
        "one-write": Scenario(play=at_once(SMALL + DONE), chunks=SMALL_EVENTS),
        "big": Scenario(play=at_once(BIG, DONE), chunks=1, options={"max_event_size": 2 * BIG_TEXT}),
        "too-big": Scenario(play=at_once(BIG, DONE), chunks=0, state="error", error=EventTooLargeError),
        # Endings that are none.
        "finished": Scenario(play=in_step(*EVENTS, then=plays.end), state="finished"),
        "ended-early": Scenario(
            play=in_step(*EVENTS[:2], then=plays.end), chunks=2, state="incomplete", error=IncompleteStreamError
        ),
        "closed-early": Scenario(
            play=in_step(*EVENTS[:2], behind=EVENTS[2][:9], then=plays.drop),
            framing="close",
            chunks=2,
            state="incomplete",
            error=IncompleteStreamError,
        ),
        "broken": Scenario(
            play=in_step(*EVENTS[:2], behind=EVENTS[2][:9], then=plays.drop),
            framing="chunked",
            chunks=2,
            state="incomplete",
            error="broken",
        ),
        "short": Scenario(
            play=in_step(*EVENTS[:2], then=plays.drop, length=len(WHOLE)),
            framing="length",
            chunks=2,
            state="incomplete",
            error="short",
        ),
        "reset": Scenario(
            play=in_step(*EVENTS[:2], behind=EVENTS[2][:9], then=plays.reset),
            chunks=2,
            state="incomplete",
            error="reset",
        ),
        "stall": Scenario(
            play=in_step(EVENTS[0]), chunks=1, state="incomplete", error="timeout", timeout=0.3, silent=True
        ),
        "keep-alives-only": Scenario(
            play=at_once(*[KEEP_ALIVE] * 4, moment=MOMENT),
            chunks=0,
            state="incomplete",
            error=IncompleteStreamError,
        ),
        # No streams.
        "garbage": _refused(GARBAGE, STREAM, NotAStreamError, "no event"),
        "empty": _refused(b"", STREAM, NotAStreamError, "empty"),
        "packed": _refused(PACKED, STREAM, NotAStreamError, "gzip"),
        "html": _refused(HTML, "text/html", NotAStreamError, "HTML"),
        "completion": _refused(json_of(COMPLETION), JSON, NotAStreamError, "whole completion"),
        "error-in-success": _refused(json_of(API_ERROR), JSON, APIError, "slow down"),
        "refused": _refused(json_of(API_ERROR), JSON, APIError, "slow down", 429),
        "failed": _refused(json_of(DETAIL), JSON, APIError, "out of memory", 500),
        "not-found": _refused(HTML, "text/html", NotAStreamError, "refused", 404),
        "bad-gateway": _refused(HTML, "text/html", NotAStreamError, "refused", 502),
        "redirected": Scenario(play=plays.redirect, framing="length", status=307),
        "error-inside": Scenario(
            play=in_step(*EVENTS[:2], behind=event_of(json_of(API_ERROR)) + DONE),
            chunks=2,
            state="error",
            error=APIError,
            about="slow down",
        ),
        "bare-error": Scenario(
            play=in_step(behind=json_of(API_ERROR) + b"\n"),
            chunks=0,
            state="error",
            error=APIError,
            silent=True,
        ),
        # For tests of their own.
        "timed": Scenario(play=plays.timed, in_matrix=False),
        "silent": Scenario(play=in_step(EVENTS[0]), chunks=1, in_matrix=False),
        "at-once": Scenario(play=at_once(WHOLE), in_matrix=False),
        "late-end": Scenario(play=behind_the_sentinel(plays.end), in_matrix=False),
        "silent-behind": Scenario(play=behind_the_sentinel(plays.silence), in_matrix=False),
        "garbage-behind": Scenario(play=behind_the_sentinel(plays.garbage), in_matrix=False),
        "keep-alive-behind": Scenario(play=behind_the_sentinel(plays.keep_alives), in_matrix=False),
        "reset-behind": Scenario(play=behind_the_sentinel(plays.reset), in_matrix=False),
        "broken-behind": Scenario(play=behind_the_sentinel(plays.drop), in_matrix=False),
    }
)
