"""What is read in the benchmarks: bodies of streams, what they say, and the reads they arrive in.

The generated body is our own text from a fixed seed. The recorded ones are other people's data: they are read where
`SSEWIRE_STREAMS` points and never copied. What a body says is found here without any parser under test: the generator
knows it, and `split_events` below is a page of the standard, written for clarity.
"""

import csv
import os
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import msgspec

STREAMS_VARIABLE = "SSEWIRE_STREAMS"
DONE = b"[DONE]"

# One read an event is what a server that flushes per token gives; 1,460 bytes fill a TCP segment; 4 KiB and 64 KiB are
# what a client finds in the socket when it lags behind.
READS: dict[str, int | None] = {"event": None, "1460": 1460, "4k": 4096, "64k": 65536}

# Streams shorter than this say more about opening a stream than about reading one.
MIN_RECORDED_EVENTS = 100

_SEED = 20_240_229
_EVENTS = 20_000
# Ordinary words, and what makes a parser work: quotes, newlines and tabs (escaped in JSON), letters past ASCII.
_WORDS = re.findall(
    r" \w+",
    " the lantern swings over a quiet harbour while gulls argue with rope about which tide may come next and who shall"
    " count every crate of salt before morning light reaches water under old piers of oak so nobody hurries",
)
_SPECIAL = ("\n", "\n\n", '"', '",\n', "\t", " café", " naïve", " Straße", " 灯台", " ⚓", " 🐟", "\\")
_SPECIAL_SHARE = 0.05


class Input(NamedTuple):
    """One stream as a reader gets it: the reads, and for the floor the payloads already split."""

    reads: list[bytes]
    payloads: list[bytes]


@dataclass(frozen=True)
class Body:
    """A whole response body and the payloads in it, the sentinel not among them."""

    name: str
    data: bytes
    payloads: list[bytes]

    def cut(self, reads: str) -> Input:
        """Cut the body into reads of the named size of `READS`."""
        size = READS[reads]
        return Input(list(_blocks(self.data)) if size is None else cut(self.data, size), self.payloads)


def cut(data: bytes, size: int) -> list[bytes]:
    """Cut bytes into pieces of `size`, the last one shorter."""
    return [data[start : start + size] for start in range(0, len(data), size)]


@lru_cache
def generated(events: int = _EVENTS) -> Body:
    """Make a chat stream of `events` chunks of about 240 bytes: role, text, finish reason, usage, sentinel."""
    random_ = random.Random(_SEED)  # noqa: S311 (a corpus, not a secret)
    completion = f"chatcmpl-{random_.getrandbits(128):032x}"

    def payload(choices: list[dict[str, object]], **more: object) -> bytes:
        return msgspec.json.encode(
            {
                "id": completion,
                "object": "chat.completion.chunk",
                "created": 1_764_500_000,
                "model": "harbour/lantern-8b-instruct",
                "choices": choices,
                **more,
            }
        )

    def choice(delta: dict[str, str], finish_reason: str | None = None) -> list[dict[str, object]]:
        return [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}]

    payloads = [payload(choice({"role": "assistant", "content": ""}))]
    for _ in range(events - 3):
        special = random_.random() < _SPECIAL_SHARE
        text = random_.choice(_SPECIAL if special else _WORDS)
        payloads.append(payload(choice({"content": text})))
    payloads.append(payload(choice({}, "stop")))
    usage = {"prompt_tokens": 21, "completion_tokens": events - 3, "total_tokens": events + 18}
    payloads.append(payload([], usage=usage))
    data = b"".join(b"data: " + event + b"\n\n" for event in [*payloads, DONE])
    return Body(f"generated-{events}", data, payloads)


def recorded() -> list[Body] | None:
    """Read the recorded chat streams of `MIN_RECORDED_EVENTS` and more; None when the variable is not set."""
    folder = os.environ.get(STREAMS_VARIABLE)
    if not folder:
        return None
    with (Path(folder) / "INDEX.tsv").open(encoding="utf-8", newline="") as index:
        rows = [row for row in csv.DictReader(index, delimiter="\t") if row["format"] == "chat.completion.chunk"]
    bodies: list[Body] = []
    for row in rows:
        if int(row["events"]) >= MIN_RECORDED_EVENTS:
            data = (Path(folder) / row["file"]).read_bytes()
            payloads = [event for event in split_events(data) if event != DONE]
            bodies.append(Body(row["file"], data, payloads))
    return bodies


def bodies(corpus: str, events: int = _EVENTS) -> list[Body]:
    """Give the bodies of a corpus by its name, `generated` or `recorded`."""
    if corpus == "generated":
        return [generated(events)]
    found = recorded()
    if found is None:
        raise SystemExit(f"{STREAMS_VARIABLE} is not set: point it at the folder of recorded streams (INDEX.tsv).")
    return found


def split_events(data: bytes) -> Iterator[bytes]:
    """Give the data of each event of a body, after the standard, one line at a time."""
    lines: list[bytes] = []
    for line in re.split(rb"\r\n|\n|\r", data.removeprefix(b"\xef\xbb\xbf")):
        field, _, value = line.partition(b":")
        if field == b"data":
            lines.append(value.removeprefix(b" "))
        elif not line and lines:
            yield b"\n".join(lines)
            lines = []


def _blocks(data: bytes) -> Iterator[bytes]:
    """Cut a body behind each blank line: what arrives when a server flushes once an event."""
    start = 0
    for match in re.finditer(rb"(?:\r\n|\n|\r)(?:\r\n|\n|\r)+", data):
        yield data[start : match.end()]
        start = match.end()
    if start < len(data):
        yield data[start:]
