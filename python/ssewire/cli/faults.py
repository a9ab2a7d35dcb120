"""What can be wrong with a stream or its delivery: a table of faults, each of which changes an answer's playback."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Literal, NamedTuple

import msgspec

from .replay import COMMENT, Ending, Playback, Step, behind, by_events, is_event, is_sentinel, pieces

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["FAULTS", "Chosen", "Fault", "FaultError", "choose", "listed", "spoiled"]


class FaultError(ValueError):
    """There is no such fault, or it cannot be so; the message says what there is."""


class Argument(NamedTuple):
    """What stands behind the colon."""

    label: str
    least: float
    most: float
    whole: bool = True
    #: Single values that it can have too.
    besides: tuple[int, ...] = ()

    @property
    def tells(self) -> str:
        """What it can be, in words."""
        kind = "a whole number" if self.whole else "a number"
        return ", or ".join([f"{kind} from {self.least:,.0f} to {self.most:,.0f}", *map(str, self.besides)])


class Fault(NamedTuple):
    """One row of the table."""

    name: str
    argument: Argument | None
    tells: str
    apply: Callable[[Playback, float], Playback]
    #: What it is about: of faults that end or replace the stream only one can be, and so of those that cut the writes.
    kind: Literal["events", "end", "delivery", "writes"]

    @property
    def form(self) -> str:
        """How it is asked for, such as ``reset:N``."""
        return f"{self.name}:{self.argument.label}" if self.argument else self.name


class Chosen(NamedTuple):
    """A fault with its argument."""

    fault: Fault
    value: float
    text: str


def choose(texts: Iterable[str]) -> tuple[Chosen, ...]:
    """The faults of these names, in the order in which they work.

    Raises:
        FaultError: A name or an argument is wrong, or two of them cannot both be.
    """
    chosen = sorted((_chosen(text) for text in texts), key=lambda one: FAULTS.index(one.fault))
    for kind, said in (("end", "how the stream ends"), ("writes", "what goes into one write")):
        alike = [one.text for one in chosen if one.fault.kind == kind]
        if len(alike) > 1:
            raise FaultError(f"{' and '.join(alike)} both say {said}")
    return tuple(chosen)


def spoiled(playback: Playback, chosen: Iterable[Chosen]) -> Playback:
    """The playback with these faults."""
    for fault, value, _ in chosen:
        playback = fault.apply(playback, value)
    return playback


def _chosen(text: str) -> Chosen:
    name, colon, given = text.partition(":")
    fault = next((row for row in FAULTS if row.name == name), None)
    if fault is None:
        raise FaultError(f"no fault {name!r}; there are {', '.join(row.form for row in FAULTS)}")
    if fault.argument is None:
        if colon:
            raise FaultError(f"{name} takes no argument")
        return Chosen(fault, 0, text)
    argument = fault.argument
    try:
        value = int(given) if argument.whole else float(given)
    except ValueError:
        value = -1
    if not argument.least <= value <= argument.most and value not in argument.besides:
        raise FaultError(f"{fault.form} takes {argument.tells} for {argument.label}, not {given!r}")
    return Chosen(fault, value, text)


# How each works


def _ending(ending: Ending, *, inside: bool = False, adding: tuple[Step, ...] = ()) -> Callable[..., Playback]:
    """The first events alone, perhaps with half of the next, or with something else behind them."""

    def apply(playback: Playback, count: float) -> Playback:
        steps, rest = behind(by_events(playback.steps), int(count))
        coming, _ = behind(rest, 1)
        if inside and coming:
            pause, event = coming[-1]
            steps += (*coming[:-1], Step(pause, event[: len(event) // 2]))
        return replace(playback, steps=steps + adding, ending=ending)

    return apply


def _instead(content_type: str, body: bytes) -> Callable[..., Playback]:
    def apply(_: Playback, status: float) -> Playback:
        return Playback((Step(0.0, body),), status=int(status) or 200, headers={"content-type": content_type})

    return apply


def _without_sentinel(playback: Playback, _: float) -> Playback:
    steps = by_events(playback.steps)
    return replace(playback, steps=tuple(step for step in steps if not is_sentinel(step.data)))


def _with_comments(playback: Playback, _: float) -> Playback:
    steps: list[Step] = []
    for step in by_events(playback.steps):
        halves = [Step(step.pause / 2, COMMENT), Step(step.pause / 2, step.data)]
        steps += halves if is_event(step.data) else [step]
    return replace(playback, steps=tuple(steps))


def _with_big_event(playback: Playback, size: float) -> Playback:
    first, rest = behind(by_events(playback.steps), 1)
    opening, closing = b'data: {"choices":[{"index":0,"delta":{"content":"', b'"}}]}\n\n'
    filling = b"x" * max(0, int(size) - len(opening) - len(closing))
    return replace(playback, steps=(*first, Step(0.0, opening + filling + closing), *rest))


def _slow_start(playback: Playback, seconds: float) -> Playback:
    first, *rest = playback.steps or (Step(0.0, b""),)
    return replace(playback, steps=(Step(first.pause + seconds, first.data), *rest))


def _with_crlf(playback: Playback, _: float) -> Playback:
    # A CR at the end of one step and its LF at the beginning of the next are one line end.
    steps = by_events(playback.steps)
    return replace(
        playback, steps=tuple(Step(step.pause, re.sub(rb"\r\n|\r|\n", b"\r\n", step.data)) for step in steps)
    )


def _cut(playback: Playback, size: float) -> Playback:
    step = int(size)
    return replace(playback, cut=lambda data: (data[start : start + step] for start in range(0, len(data), step)))


def _cut_utf8(playback: Playback, _: float) -> Playback:
    return replace(playback, cut=_behind_each_lead_byte)


def _behind_each_lead_byte(data: bytes) -> Iterable[bytes]:
    return pieces(data, re.compile(rb"[\xc0-\xff]"))


def _cut_crlf(playback: Playback, _: float) -> Playback:
    return replace(_with_crlf(playback, 0), cut=_behind_each_cr)


def _behind_each_cr(data: bytes) -> Iterable[bytes]:
    return pieces(data, re.compile(rb"\r(?=\n)"))


def _one_write(playback: Playback, _: float) -> Playback:
    start = playback.steps[0].pause if playback.steps else 0.0
    return replace(playback, steps=(Step(start, b"".join(step.data for step in playback.steps)),))


_ERROR = {"message": "The server was asked to fail.", "type": "server_error", "param": None, "code": "asked_to_fail"}
_ERROR_BODY = msgspec.json.encode({"error": _ERROR})
_ERROR_EVENT = Step(0.0, b"data: " + _ERROR_BODY + b"\n\n")
_HTML = b"<!DOCTYPE html>\n<html><head><title>Bad Gateway</title></head><body><h1>Bad Gateway</h1></body></html>\n"
_GARBAGE = bytes(range(256)) * 64

_N = Argument("N", 0, 10**9)
_SIZE = Argument("N", 1, 10**9)
#: Those of errors, and two of success under which gateways send errors too. Others have no body, or lead elsewhere.
_CODE = Argument("CODE", 400, 599, besides=(200, 201))
_REDIRECT = Argument("CODE", 301, 303, besides=(307, 308))
#: Each write is copied on its way, and nobody else is answered meanwhile.
_BYTES = Argument("BYTES", 1, 10**8)
_SECONDS = Argument("SECONDS", 0, 10**6, whole=False)

#: In the order in which they work on a playback.
FAULTS = (
    Fault("big", _BYTES, "one more event, of so many bytes, behind event 1", _with_big_event, "events"),
    Fault("no-done", None, "no sentinel at the end", _without_sentinel, "events"),
    Fault("keep-alives", None, "a comment before each event", _with_comments, "events"),
    Fault("stall", _N, "silence behind event N, the connection stays open", _ending("silence"), "end"),
    Fault("reset", _N, "the connection is reset inside the event behind N", _ending("reset", inside=True), "end"),
    Fault("close", _N, "the connection closes inside the event behind N", _ending("close", inside=True), "end"),
    Fault("end", _N, "the body ends neatly behind event N", _ending("whole"), "end"),
    Fault("error", _N, "an error event behind event N, and the end", _ending("whole", adding=(_ERROR_EVENT,)), "end"),
    Fault("silent-end", None, "silence behind the sentinel", lambda p, _: replace(p, ending="silence"), "end"),
    Fault(
        "keep-alives-only",
        None,
        "comments and nothing else",
        lambda p, _: replace(p, steps=(), ending="comments"),
        "end",
    ),
    Fault("empty", None, "a body of no bytes", lambda p, _: replace(p, steps=()), "end"),
    Fault("garbage", None, "bytes that are no stream", _instead("text/event-stream", _GARBAGE), "end"),
    Fault("status", _CODE, "a JSON error with this status", _instead("application/json", _ERROR_BODY), "end"),
    Fault("html", _CODE, "a page of HTML with this status", _instead("text/html", _HTML), "end"),
    Fault("redirect", _REDIRECT, "a redirect to the same without it", _instead("text/plain", b""), "delivery"),
    Fault("slow-start", _SECONDS, "so long a wait between the head and the first byte", _slow_start, "delivery"),
    Fault("crlf", None, "CR LF as line ends", _with_crlf, "events"),
    Fault("cut", _SIZE, "writes of N bytes", _cut, "writes"),
    Fault("cut-utf8", None, "each character of several bytes in two writes", _cut_utf8, "writes"),
    Fault("cut-crlf", None, "CR LF as line ends, each in two writes", _cut_crlf, "writes"),
    Fault("one-write", None, "everything in one write", _one_write, "writes"),
)


def listed() -> list[str]:
    """The table for people, a line a fault."""
    width = max(len(fault.form) for fault in FAULTS) + 2
    return [f"{fault.form:<{width}}{fault.tells}" for fault in FAULTS]
