"""Long runs of events that are alike, so that templates are learned, with faults and surprises sprinkled in.

A stream takes a few payloads of one dialect, or of one group of shapes, lets some of their leaves change from event to
event, and now and then does to an event what nobody has thought of: a value of another kind or an odd one, another key,
a byte flipped, an event that is no event. The same seed gives the same streams.
"""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from random import Random
from typing import Final, NamedTuple, TypeAlias, TypeVar

from tests.alike.oddities import BETWEEN, ODD_KEYS, ODD_NUMBERS, ODD_TEXTS, ODD_VALUES, USUAL
from tests.alike.shapes import SHAPES
from tests.dialects import DIALECTS, WIRES, Wire, answer

# Strings with their quotes, numbers, words, signs, white space; of what is none of these each byte.
_TOKEN: Final = re.compile(
    rb'"(?:[^"\\\n\r]|\\.)*"|-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|[a-z]+|[ \t\r\n]+|.', re.DOTALL
)

Tokens: TypeAlias = list[bytes]

T = TypeVar("T")

# What stands before a value that a stream looks at, so that it is never a hole.
_FIXED: Final = re.compile(rb'"(?:error|object|index|finish_reason)"\s*:\s*$')


class Stream(NamedTuple):
    """One body, as its events were written."""

    dialect: str
    events: list[bytes]

    @property
    def body(self) -> bytes:
        return b"".join(self.events)


class _Payload:
    """A payload in tokens, and where its values and keys are."""

    def __init__(self, payload: bytes) -> None:
        self.tokens: Tokens = _TOKEN.findall(payload)
        self.values: list[int] = []
        self.keys: list[int] = []
        for place, token in enumerate(self.tokens):
            if token[:1] == b'"':
                behind = b"".join(self.tokens[place + 1 : place + 3]).lstrip()
                (self.keys if behind.startswith(b":") else self.values).append(place)
            elif token[:1] in b"-0123456789ntf":
                self.values.append(place)
        leaves = [place for place in self.values if self.tokens[place][:1] not in b"ntf"]
        self.fixed = [place for place in leaves if _FIXED.search(b"".join(self.tokens[max(0, place - 6) : place]))]
        self.changing = [place for place in leaves if place not in self.fixed]
        self.is_common = is_common(payload)


def is_common(payload: bytes) -> bool:
    """Whether it is one of many in a stream: a chunk with choices that go on."""
    try:
        chunk = json.loads(payload)
    except ValueError:
        return False
    choices = chunk.get("choices") if isinstance(chunk, dict) else None
    return isinstance(choices, list) and bool(choices) and not any(choice.get("finish_reason") for choice in choices)


class _Run:
    """A payload some of whose leaves change, and the parts between them."""

    def __init__(self, payload: _Payload, random: Random) -> None:
        self.payload = payload
        leaves = payload.changing + payload.fixed if random.random() < 0.03 else payload.changing
        count = min(len(leaves), random.choice((0, 1, 1, 1, 2, 2, 3, 5, 18)))
        self.holes = sorted(random.sample(leaves, count))
        self.draw: list[Callable[[], bytes]] = [self._drawing(payload.tokens[hole], random) for hole in self.holes]

    def _drawing(self, token: bytes, random: Random) -> Callable[[], bytes]:
        if token[:1] == b'"':
            # For long the same, then another, then always another.
            texts = [b'"' + text + b'"' for text in (USUAL if random.random() < 0.7 else USUAL[:2])]
            return lambda: texts[int(random.random() * len(texts))]
        if b"." in token or b"e" in token or b"E" in token:
            return lambda: b"%.9f" % random.random()
        count = itertools.count(random.choice((0, 5, 995, 999_990, 2**53 - 5, 2**63 - 40)))
        return lambda: b"%d" % next(count)

    def next(self) -> bytes:
        tokens = self.payload.tokens.copy()
        for hole, draw in zip(self.holes, self.draw, strict=True):
            tokens[hole] = draw()
        return b"".join(tokens)

    def odd(self, random: Random) -> bytes:
        """The same with something done to it."""
        tokens = self.payload.tokens.copy()
        for hole, draw in zip(self.holes, self.draw, strict=True):
            tokens[hole] = draw()
        change = _CHANGES[int(random.random() * len(_CHANGES))]
        return change(tokens, self, random)


def _pick(random: Random, choices: Sequence[T]) -> T:
    # `choice` takes three times as long.
    return choices[int(random.random() * len(choices))]


def _odd_value(tokens: Tokens, place: int, random: Random) -> bytes:
    kind = tokens[place][:1]
    if random.random() < 0.2:
        return _pick(random, ODD_VALUES)
    if kind == b'"':
        text: bytes = _pick(random, ODD_TEXTS)
        if random.random() < 0.3:
            text += _pick(random, ODD_TEXTS) if len(text) < 200 else b""
        return b'"' + text + b'"'
    return _pick(random, ODD_NUMBERS)


def _in_a_hole(tokens: Tokens, run: _Run, random: Random) -> bytes:
    if run.holes:
        hole = _pick(random, run.holes)
        tokens[hole] = _odd_value(tokens, hole, random)
    return b"".join(tokens)


def _in_a_value(tokens: Tokens, run: _Run, random: Random) -> bytes:
    if run.payload.values:
        place = _pick(random, run.payload.values)
        tokens[place] = _odd_value(tokens, place, random)
    return b"".join(tokens)


def _another_kind(tokens: Tokens, run: _Run, random: Random) -> bytes:
    if run.payload.values:
        place = _pick(random, run.payload.values)
        tokens[place] = _pick(random, ODD_VALUES)
    return b"".join(tokens)


def _values_swapped(tokens: Tokens, run: _Run, random: Random) -> bytes:
    values = run.payload.values + run.payload.keys[:2]
    if len(values) > 1:
        one, other = random.sample(values, 2)
        tokens[one], tokens[other] = tokens[other], tokens[one]
    return b"".join(tokens)


def _another_key(tokens: Tokens, run: _Run, random: Random) -> bytes:
    if run.payload.keys:
        place = _pick(random, run.payload.keys)
        tokens[place] = b'"' + _pick(random, ODD_KEYS) + b'"'
    return b"".join(tokens)


def _another_member(tokens: Tokens, run: _Run, random: Random) -> bytes:
    """A member more, in front of another: of its own name, or of any."""
    if run.payload.keys:
        place = _pick(random, run.payload.keys)
        key = tokens[place] if random.random() < 0.5 else b'"' + _pick(random, ODD_KEYS) + b'"'
        tokens.insert(place, key + b":" + _odd_value([_pick(random, (b'"', b"1"))], 0, random) + b",")
    return b"".join(tokens)


def _white_space(tokens: Tokens, _run: _Run, random: Random) -> bytes:
    for _ in range(random.randint(1, 3)):
        tokens.insert(int(random.random() * (len(tokens) + 1)), _pick(random, (b" ", b"\t", b"  ", b"\x0c", b"\xa0")))
    return b"".join(tokens)


def _another_byte(tokens: Tokens, _: _Run, random: Random) -> bytes:
    payload = bytearray(b"".join(tokens))
    place = int(random.random() * len(payload))
    match int(random.random() * 4):
        case 0:
            payload[place] = int(random.random() * 256)
        case 1:
            payload[place] ^= 1 << int(random.random() * 8)
        case 2:
            del payload[place]
        case _:
            payload.insert(place, _pick(random, b'"\\{}[],:0-e. \xff'))
    return bytes(payload)


def _truncated(tokens: Tokens, _: _Run, random: Random) -> bytes:
    payload = b"".join(tokens)
    return payload[: int(random.random() * len(payload))]


def _more_behind(tokens: Tokens, run: _Run, random: Random) -> bytes:
    return b"".join(tokens) + _pick(random, (run.next(), b"[DONE]", b" ", b"}", b"x", b"\xef\xbb\xbf", b"\x00", b","))


def _more_in_front(tokens: Tokens, _: _Run, random: Random) -> bytes:
    return _pick(random, (b" ", b"\t", b"\xef\xbb\xbf", b"x", b"[", b",", b'{"a":1}')) + b"".join(tokens)


_CHANGES: Final[tuple[Callable[[Tokens, _Run, Random], bytes], ...]] = (
    _in_a_hole,
    _in_a_hole,
    _in_a_hole,
    _in_a_hole,
    _in_a_value,
    _in_a_value,
    _another_kind,
    _values_swapped,
    _another_key,
    _another_member,
    _white_space,
    _another_byte,
    _another_byte,
    _truncated,
    _more_behind,
    _more_in_front,
)


def _odd_event(payload: bytes, random: Random) -> bytes:
    """A payload as an event that is written in another way than the rest."""
    match int(random.random() * 14):
        case 0:
            return b"data: " + payload + b"\r\n\r\n"
        case 1:
            return b"data: " + payload + b"\r\r"
        case 2:
            return b"data:" + payload + b"\n\n"
        case 3:
            return b"data:  " + payload + b"\n\n\n\n"
        case 4:
            return b"event: " + _pick(random, (b"message", b"", b"chunk", b"error")) + b"\ndata: " + payload + b"\n\n"
        case 5:
            return b"data: " + payload + b"\nretry: 5\n\n"
        case 6:
            # In the middle, as data lines and as one line that ends too early.
            place = int(random.random() * len(payload)) if random.random() < 0.5 else max(payload.find(b":"), 0)
            between = _pick(random, (b"\n", b"\ndata: ", b"\r\ndata:", b"\r"))
            return b"data: " + payload[:place] + between + payload[place:] + b"\n\n"
        case 7:
            return b"data: " + payload + b"\ndata: " + payload + b"\n\n"
        case 8:
            return b"data: " + payload + b"\nerror: x\n\n"
        case 9:
            return payload + b"\n\n"
        case 10:
            return b": c\ndata: " + payload + b"\n: d\n\n"
        case 11:
            return b"data : " + payload + b"\n\n"
        case 12 if random.random() < 0.05:
            # From here on no event is a plain one.
            return b"id: " + _pick(random, (b"7", b"", b"x\x00")) + b"\ndata: " + payload + b"\n\n"
        case _:
            return _pick(random, BETWEEN)


@cache
def payloads(seed: int = 0) -> dict[str, tuple[_Payload, ...]]:
    """The payloads to begin with, of each dialect and of each group of shapes."""
    found: dict[str, tuple[_Payload, ...]] = {}
    wires = itertools.cycle((WIRES[0], WIRES[0], Wire("spaced", spaced=True), Wire("go", go=True, ascii=True)))
    for dialect in DIALECTS:
        random = Random(f"{seed} {dialect.name}")
        written: dict[bytes, None] = {}
        for kind in sorted(dialect.kinds):
            wire = next(wires)
            for _, chunk in dialect.speak(answer(kind, random), random):
                written[wire.json(chunk).encode()] = None
        found[dialect.name] = tuple(map(_Payload, written))
    return found | {name: tuple(map(_Payload, group)) for name, group in SHAPES.items()}


def stream(random: Random, seed: int = 0) -> Stream:
    """One stream of some hundred events."""
    known = payloads(seed)
    name = _pick(random, list(known))
    common = [payload for payload in known[name] if payload.is_common]
    chosen = [
        _pick(random, common if common and random.random() < 0.9 else known[name])
        for _ in range(random.choice((1, 1, 2, 3, 12)))
    ]
    runs = [_Run(payload, random) for payload in chosen]
    odd, odd_event, switch = random.choice((0.0, 0.02, 0.08, 0.3)), random.choice((0.0, 0.004, 0.05)), 0.1
    events: list[bytes] = []
    run = runs[0]
    chance = random.random
    for _ in range(random.randint(40, 700)):
        if len(runs) > 1 and chance() < switch:
            run = _pick(random, runs)
        payload = run.odd(random) if chance() < odd else run.next()
        if b"\n" in payload and chance() < 0.8:
            payload = payload.replace(b"\n", b"\ndata: ")
        events.append(_odd_event(payload, random) if chance() < odd_event else b"data: " + payload + b"\n\n")
    events += _pick(random, ((b"data: [DONE]\n\n",), (b"data: [DONE]\n\n",), (), (b"data: {",)))
    return Stream(name, events)


def streams(seed: int = 0) -> Iterator[Stream]:
    """Streams without end."""
    random = Random(seed)
    while True:
        yield stream(random, seed)
