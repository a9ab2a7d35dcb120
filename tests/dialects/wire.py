"""How chunks become bytes: JSON habits, line ends, fields, comments, blank lines, and what ends the body.

`Wire` is a table of habits, `Writer` follows it and counts what it writes. The wires that recordings show are there,
and those that the standard allows and some server was reported to use.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final, Literal

# All six styles seen in recordings.
COMMENTS: Final = (
    ": OPENROUTER PROCESSING",
    ": keep-alive",
    ": FEATHERLESS PROCESSING",
    ": ping - 2026-02-03 04:05:06.789012+00:00",
    ": keepalive",
    ":408: still waiting",
)


@dataclass(frozen=True)
class Wire:
    """The habits of a server that writes events."""

    name: str
    end: str = "\n"
    data: str = "data: "
    spaced: bool = False
    """Whether a space follows each colon and comma in JSON."""
    ascii: bool = False
    """Whether JSON escapes what is not ASCII."""
    go: bool = False
    """Whether JSON escapes <, > and &, as Go's encoder does."""
    comments: tuple[str, ...] = ()
    in_block: bool = False
    """Whether comments stand directly before the data line, without a blank line."""
    blank_lines: int = 1
    event: str | None = None
    """The name that each event carries."""
    numbered: bool = False
    """Whether each event has an id, and the first a reconnection time."""
    bom: bool = False
    sentinel: str = "[DONE]"
    empty_data: bool = False
    """Whether events without any text stand between the others."""
    foreign: bool = False
    """Whether events of another purpose, under a name of their own, stand between the others."""
    last: Literal["blank line", "line", "nothing"] = "blank line"
    """What ends the body."""
    lines: Literal["one", "many", "shared", "joined"] = "one"
    """JSON on one data line or over many; or events that share what should be their own: no blank line between the
    data lines of all, or two documents on one data line."""

    def json(self, value: Any, *, indent: int | None = None) -> str:
        separators = None if self.spaced or indent else (",", ":")
        text = json.dumps(value, separators=separators, ensure_ascii=self.ascii, indent=indent)
        if self.go:
            text = text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")
        return text


WIRES: Final = (
    Wire("plain"),
    Wire("python", spaced=True, ascii=True, end="\r\n", comments=COMMENTS[3:4]),
    Wire("cr", end="\r", comments=COMMENTS, blank_lines=2),
    Wire("narrow", data="data:", go=True, last="line"),
    Wire("chatty", comments=COMMENTS, blank_lines=3, empty_data=True, foreign=True),
    Wire("in block", comments=COMMENTS, in_block=True, last="nothing"),
    Wire("numbered", numbered=True, bom=True, event="message"),
    Wire("named", event="completion.chunk", numbered=True, end="\r\n", last="nothing"),
    Wire("padded", sentinel=" [DONE]  ", bom=True, go=True, ascii=True, last="line", end="\r\n"),
    Wire("many lines", lines="many", comments=COMMENTS, in_block=True, end="\r\n"),
    Wire("shared", lines="shared"),
    Wire("joined", lines="joined", comments=COMMENTS),
)


class Writer:
    """Writes the events of one body."""

    def __init__(self, wire: Wire) -> None:
        self.wire = wire
        self.events = 0
        self.comments = 0
        self.skipped_events = 0
        self.payloads: list[bytes] = []
        self.last_event_id = ""
        self.retry: int | None = None
        # Whether data lines stand behind the last blank line: more of them belong to the same event.
        self._open = False
        self._written: list[str] = ["\ufeff"] if wire.bom else []
        self._blocks = 0
        self._waiting: list[str] = []

    def line(self, text: str, end: str | None = None) -> None:
        self.flush()
        self._open = self._open and text != ""
        self._written.append(text + (self.wire.end if end is None else end))

    def chunk(self, value: Any) -> None:
        wire = self.wire
        text = wire.json(value, indent=1 if wire.lines == "many" else None)
        self.payloads.append(text.encode())
        if wire.lines == "joined":
            self._waiting.append(text)
            if len(self._waiting) == 2:
                self.flush()
            return
        self._block(wire.event, text)

    def error(self, value: Any) -> None:
        """An event of its own, which is no chunk."""
        self.event(self.wire.event, self.wire.json(value, indent=1 if self.wire.lines == "many" else None))

    def event(self, name: str | None, text: str) -> None:
        self.flush()
        self._block(name, text)

    def done(self) -> None:
        if self._waiting:
            self._waiting.append(self.wire.sentinel)
            self.flush()
        else:
            self._block(self.wire.event, self.wire.sentinel)

    def flush(self) -> None:
        """Write what waits for another document on the same line."""
        if self._waiting:
            text, self._waiting = "".join(self._waiting), []
            self._block(self.wire.event, text)

    def torn(self, text: str, share: float) -> bytes:
        """The start of an event, cut inside its payload; gives the part of the payload that is there."""
        self.flush()
        payload = text.encode()
        kept = payload[: max(1, int(len(payload) * share))]
        self._data()
        # A cut character stays cut: the body is bytes.
        self._written.append(self.wire.data + kept.decode("utf-8", "surrogateescape"))
        return kept

    def reopen(self) -> None:
        """Take back the blank lines behind the last event, as if it had not ended."""
        blank = self.wire.end
        while self._written[-1] == blank:
            self._written.pop()

    def body(self) -> bytes:
        self.flush()
        return "".join(self._written).encode("utf-8", "surrogateescape")

    def finish(self) -> None:
        """End the body as this wire does, behind a whole event."""
        self.flush()
        if self.wire.last != "blank line":
            self.reopen()
        elif self.wire.lines == "shared":
            self.line("")
        if self.wire.last == "nothing":
            self._written[-1] = self._written[-1].removesuffix(self.wire.end)

    def _block(self, event: str | None, text: str) -> None:
        wire = self.wire
        if not self._blocks and wire.numbered:
            self.retry = 2500
            self.line("retry: 2500")
        self._between()
        if wire.numbered:
            self.last_event_id = f"e{self._blocks}"
            self.line(f"id: {self.last_event_id}")
        if event:
            self.line(f"event: {event}")
        self._data()
        for line in text.split("\n"):
            self.line(wire.data + line)
        if wire.lines != "shared":
            for _ in range(wire.blank_lines):
                self.line("")
        self._blocks += 1

    def _data(self) -> None:
        """Count the event that the next data line belongs to."""
        self.events += not self._open
        self._open = True

    def _between(self) -> None:
        """What stands before an event and says nothing."""
        wire = self.wire
        if wire.comments and self._blocks % 3 == 0:
            for comment in wire.comments:
                self.line(comment)
                self.comments += 1
                if not wire.in_block:
                    self.line("")
        if wire.empty_data and self._blocks % 4 == 1:
            self._data()
            self.line("data:")
            self.line("")
        if wire.foreign and self._blocks % 4 == 2:
            self._data()
            self.line("event: ping")
            self.line(wire.data + wire.json({"type": "ping", "text": "[DONE]"}))
            self.line("")
            self.skipped_events += 1
