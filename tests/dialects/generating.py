"""Recordings: an answer in a dialect on a wire, up to one of the ends that a stream can come to.

`record` makes one, of any length; `generate` a bounded product of all dialects, answers, ends and wires, the same for
the same seed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import count
from random import Random
from typing import Any, Final, Literal, TypeAlias

from .answer import KINDS, Answer, answer
from .dialect import Dialect
from .engines import ENGINES, SERVICES
from .expected import Chunk, Expected, Problem, Recording, Said
from .faults import BESIDE, SHAPES, Shape
from .hosts import HOSTS
from .makers import MAKERS
from .relays import RELAYS
from .wire import WIRES, Wire, Writer

DIALECTS: Final = (*MAKERS, *HOSTS, *RELAYS, *ENGINES, *SERVICES)

End: TypeAlias = Literal["done", "behind", "no sentinel", "cut", "stray", "torn", "torn sentinel"]
"""The sentinel; bytes behind it; no sentinel; a body that ends between two events, with a line of no meaning, or inside
a payload."""

ENDS: Final[tuple[End, ...]] = ("done", "behind", "no sentinel", "cut", "stray", "torn", "torn sentinel")

_STRAY: Final = "upstream error: read ECONNRESET"

Items: TypeAlias = list[Said | Problem]


class _Body:
    """A body in the making, and what is right to read from it so far."""

    def __init__(self, wire: Wire) -> None:
        self.writer = Writer(wire)
        self.items: Items = []
        self.chunks: list[Chunk] = []
        self.facts: dict[str, Any] = {}
        if wire.last != "blank line":
            self.facts["last_event_id"] = None

    def say(self, spoken: list[tuple[Said, Chunk]]) -> None:
        for said, chunk in spoken:
            self.writer.chunk(chunk)
            self.items.append(said)
            self.chunks.append(chunk)

    def end(self, *, sentinel: bool) -> None:
        """The end of a body that is not cut inside an event."""
        if sentinel:
            self.writer.done()
        self.facts["done"] = sentinel
        self.writer.finish()

    def note(self) -> None:
        """Settle what a reader counts: it reads no further than this."""
        writer = self.writer
        writer.flush()
        self.facts = {
            "payloads": tuple(writer.payloads),
            "events": writer.events,
            "comments": writer.comments,
            "skipped_events": writer.skipped_events,
            "last_event_id": writer.last_event_id,
            "retry": writer.retry,
        } | self.facts

    def recording(self, name: str) -> Recording:
        self.note()
        expected = Expected(tuple(self.items), tuple(self.chunks), **self.facts)
        return Recording(name, self.writer.body(), expected)


def record(dialect: Dialect, answer: Answer, wire: Wire, end: End, random: Random, name: str = "") -> Recording:
    """Make one recording of an answer without an error."""
    whole = list(dialect.speak(answer, random))
    kept = random.randint(1, max(1, len(whole) - 1)) if end in ("cut", "stray", "torn") else len(whole)
    spoken, rest = whole[:kept], whole[kept:]
    body = _Body(wire)
    body.say(spoken)
    writer = body.writer
    match end:
        case "done":
            body.end(sentinel=True)
        case "behind":
            writer.done()
            body.facts["done"] = True
            body.note()
            writer.line(": bye")
            writer.line("")
            writer.chunk(spoken[-1][1])
            writer.line(writer.wire.json({"error": {"message": "nobody reads this"}}))
        case "stray":
            body.facts["stray"] = _STRAY.encode()
            writer.line(_STRAY)
        case "torn":
            body.facts["torn"] = writer.torn(wire.json((rest or spoken)[0][1]), random.random())
        case "torn sentinel":
            body.facts["torn"] = writer.torn(wire.sentinel.strip(), random.random())
        case _:
            body.end(sentinel=False)
    return body.recording(name)


def record_error(
    dialect: Dialect, answer: Answer, wire: Wire, shape: Shape, kept: int, random: Random, name: str = ""
) -> Recording:
    """Make one recording of an answer that is cut short by an error behind so many chunks."""
    spoken = list(dialect.speak(answer, random))
    kept = min(kept, len(spoken) - 1)
    said, rest = spoken[:kept], spoken[kept:]
    body = _Body(wire)
    body.say(said)
    writer = body.writer
    body.items.append(shape.write(writer, answer.fault))
    if not said and shape.bare:
        # The body is that error, and nothing more is read.
        body.facts["last_event_id"] = ""
        body.note()
        if not shape.last:
            writer.done()
    elif shape.last:
        body.facts["last_event_id"] = None
    else:
        # What may follow: nothing, the last chunk of all, the sentinel, or both.
        body.say(rest[len(rest) - random.randint(0, 1) :])
        body.end(sentinel=dialect.sentinel and random.random() < 0.6)
    return body.recording(name)


def record_beside(dialect: Dialect, answer: Answer, wire: Wire, random: Random, name: str = "") -> Recording:
    """Make one recording in which the chunk that ends the answer has an error beside its choices."""
    ended = tuple(replace(reply, finish_reason="error") for reply in answer.replies)
    fault = answer.fault
    error = {"code": fault.code, "message": fault.message}
    body = _Body(wire)
    for said, chunk in dialect.speak(replace(answer, replies=ended), random):
        if any(part.finish_reason for part in said.parts):
            first, *others = chunk
            chunk = {first: chunk[first], "error": error, **{key: chunk[key] for key in others}}
            body.say([(said, chunk)])
            body.items.append(Problem(fault.message, None, fault.code, None, chunk))
        else:
            body.say([(said, chunk)])
    body.end(sentinel=dialect.sentinel)
    return body.recording(name)


def _fits(wire: Wire, end: str) -> bool:
    """Whether it is settled what is right: of events without blank lines the last one must be whole."""
    return wire.lines != "shared" or end in ("done", "no sentinel")


def generate(seed: int = 0) -> Iterator[Recording]:
    """Give every dialect with each kind of answer it has, each end, and its errors: on its own wire and on others."""
    wires, ends, shapes = count(seed), count(seed), count(seed)
    for dialect in DIALECTS:
        random = Random(f"{seed} {dialect.name}")
        own_end: End = "done" if dialect.sentinel else "no sentinel"

        def on(end: str, own: Wire = dialect.wire) -> Iterator[Wire]:
            """Its own wire, and the next of the others that fits."""
            yield own
            yield next(wire for wire in (WIRES[place % len(WIRES)] for place in wires) if _fits(wire, end))

        for kind in sorted(dialect.kinds, key=KINDS.index):
            some_ends: list[End] = [own_end, *(ENDS[next(ends) % len(ENDS)] for _ in range(2))]
            for end in dict.fromkeys(some_ends):
                for wire in on(end):
                    name = f"{dialect.name}: {kind}, {end}, {wire.name}"
                    yield record(dialect, answer(kind, random), wire, end, random, name)
        broken = sorted(dialect.kinds - {"empty"})
        own_shapes = [shape for shape in SHAPES if shape.name in dialect.faults]
        next_shapes = [SHAPES[next(shapes) % len(SHAPES)] for _ in range(2)]
        for shape in dict.fromkeys((*own_shapes, *next_shapes)):
            for wire in on("error"):
                some = random.randint(1, 6)
                for kept in (0, some) if shape.name != "bare behind an event" else (some,):
                    kind = random.choice(broken)
                    name = f"{dialect.name}: {kind}, {shape.name} behind {kept}, {wire.name}"
                    yield record_error(dialect, answer(kind, random), wire, shape, kept, random, name)
        if BESIDE in dialect.faults or next(shapes) % 4 == 0:
            for wire in on("error"):
                name = f"{dialect.name}: {BESIDE}, {wire.name}"
                yield record_beside(dialect, answer("text", random), wire, random, name)
