"""The slow twin of the decoders: a whole event stream at once, in the order of the standard's sentences.

HTML standard, 9.2.5 "Parsing an event stream" and 9.2.6 "Interpreting an event stream", which
`rust/core/tests/common/twin.rs` quotes. Below it stands a reader of chat streams that are well formed, with nothing but
`json`.
"""

from __future__ import annotations

import json
import re
from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

END_OF_INPUT: Final = b"\n\n\n"
"""Behind a body, these bytes end its unfinished line and block, also where the first completes a CR LF."""

_BYTE_ORDER_MARK: Final = b"\xef\xbb\xbf"


class Event(NamedTuple):
    """One event: its name, data, the last event id in force, and the retry of its block."""

    event: str
    data: bytes
    id: str
    retry: int | None


class Ignored(NamedTuple):
    """A line without effect on any event, and whether it stands in one."""

    line: bytes
    comment: bool
    in_event: bool


@dataclass
class Decoded:
    """All that came out of an input, and what is in force at its end."""

    events: list[Event] = field(default_factory=list)
    steps: list[Event | Ignored] = field(default_factory=list)
    """The events with the ignored lines between them."""
    in_force: list[tuple[str, int | None]] = field(default_factory=list)
    """The last event id and the retry of the stream at each step."""
    last_event_id: str = ""
    retry: int | None = None


def decode(body: bytes) -> Decoded:
    """Decode an event stream; an unfinished block at its end is dropped."""
    out = Decoded()
    data: list[bytes] = []
    name, pending_id, block_retry = b"", None, None
    # The last piece has no line end: "Once the end of the file is reached, any pending data must be discarded."
    *lines, _ = re.split(rb"\r\n|\n|\r", body.removeprefix(_BYTE_ORDER_MARK))
    for line in lines:
        if not line:
            if pending_id is not None:
                out.last_event_id = _text(pending_id)
            if data:
                event = Event(_text(name) or "message", b"\n".join(data), out.last_event_id, block_retry)
                out.events.append(event)
                out.steps.append(event)
                out.in_force.append((out.last_event_id, out.retry))
            data, name, pending_id, block_retry = [], b"", None, None
            continue
        key, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if key == b"data":
            data.append(value)
        elif key == b"event":
            name = value
        elif key == b"id":
            if b"\0" not in value:
                pending_id = value
        elif key == b"retry":
            if re.fullmatch(rb"[0-9]+", value):
                # Ours: a number past 64 bits stays at the largest.
                out.retry = block_retry = min(int(value), 2**64 - 1)
        else:
            out.steps.append(Ignored(line, line.startswith(b":"), bool(data)))
            out.in_force.append((out.last_event_id, out.retry))
    return out


def _text(value: bytes) -> str:
    return value.decode("utf-8", "replace")


@dataclass
class Chat:
    """What a well-formed chat stream said."""

    payloads: list[bytes] = field(default_factory=list)
    done: bool = False
    text: dict[int, str] = field(default_factory=lambda: defaultdict(str))
    """The text of each choice that has some, by its index."""
    finish_reasons: dict[int, str] = field(default_factory=dict)
    usage: dict[str, Any] | None = None
    """The last one sent that is not empty."""


def payloads(body: bytes) -> tuple[list[bytes], bool]:
    """The data of the unnamed events up to the sentinel, empty ones left out, and whether the sentinel came."""
    found: list[bytes] = []
    # What the end of the body cuts short is delivered: servers forget the last blank line.
    for event in decode(body + END_OF_INPUT).events:
        if event.data.strip() == b"[DONE]" and event.event == "message":
            return found, True
        if event.data.strip() and event.event == "message":
            found.append(event.data)
    return found, False


def read_chat(body: bytes) -> Chat:
    """Read a whole chat stream; all its payloads must be chunks."""
    chat = Chat()
    chat.payloads, chat.done = payloads(body)
    for payload in chat.payloads:
        chunk = json.loads(payload)
        chat.usage = chunk.get("usage") or chat.usage
        for choice in chunk.get("choices") or ():
            index = choice.get("index") or 0
            if content := (choice.get("delta") or {}).get("content"):
                chat.text[index] += content
            if reason := choice.get("finish_reason"):
                chat.finish_reasons[index] = reason
    return chat
