"""What is said: replies in pieces of text, reasoning and tool calls, what they cost, and the error that may come.

Nothing here knows how a server writes it. The words are our own, drawn by a seeded generator, with pieces among them
that look like framing, like JSON or like an error, or that other readers take for the end of a line.
"""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass
from random import Random

_SENTENCE = (
    "The lantern keeper counts slow boats before dawn and writes every name into a blue ledger beside the tide table "
    "while gulls argue over bread on the harbour wall"
)
WORDS = _SENTENCE.split()

# Each of them has broken some reader: other line ends, framing inside text, quotes, characters of four bytes.
SPECIAL = (
    "",
    "\n",
    "\n\n",
    "\r\n",
    "\t",
    ' "quoted"',
    " back\\slash\\n",
    " Fähre über Ærø",
    " 灯台の光",
    " 🛶🌊",
    " 👩‍🚀",
    "\u2028",
    "\u2029next",
    "\x85",
    "\x0b\x0c",
    "\x00\x1f\x7f",
    "\ufeff",
    "data: [DONE]\n\n",
    "[DONE]",
    ' {"error": {"message": "no"}}',
    ' "error": null',
    "<think>&amp;</think>",
    " ".join(WORDS * 40),
)


@dataclass(frozen=True)
class Call:
    """A tool call; the fragments join to its arguments, which are JSON."""

    id: str
    name: str
    fragments: tuple[str, ...]

    @property
    def arguments(self) -> str:
        return "".join(self.fragments)


@dataclass(frozen=True)
class Reply:
    """What one choice says, piece by piece, in this order."""

    thoughts: tuple[str, ...] = ()
    words: tuple[str, ...] = ()
    refusal: tuple[str, ...] = ()
    calls: tuple[Call, ...] = ()
    function: Call | None = None
    """The call as it was sent before there were tools, without id."""
    finish_reason: str = "stop"


@dataclass(frozen=True)
class Counts:
    """Usage in tokens; None where the server does not know yet."""

    prompt: int | None
    completion: int | None
    total: int | None


@dataclass(frozen=True)
class Fault:
    """What goes wrong in the server, in its own terms."""

    message: str
    type: str
    code: str | int
    param: str


@dataclass(frozen=True)
class Answer:
    """All that a stream has to say."""

    replies: tuple[Reply, ...]
    usage: Counts
    fault: Fault


def _pieces(random: Random, most: int) -> tuple[str, ...]:
    count = random.randint(2, most)
    return tuple(random.choice(SPECIAL) if random.random() < 0.3 else " " + random.choice(WORDS) for _ in range(count))


def _call(random: Random, *, large: int) -> Call:
    arguments = json.dumps({random.choice(WORDS): random.choice(SPECIAL[:-1]), "count": random.randint(0, large)})
    places = sorted(random.sample(range(1, len(arguments)), 3))
    edges = itertools.pairwise((0, *places, len(arguments)))
    fragments = tuple(arguments[start:end] for start, end in edges)
    return Call(f"call_{random.getrandbits(64):016x}", f"{random.choice(WORDS).lower()}_of_day", fragments)


def _reply(kind: str, random: Random, most: int) -> Reply:
    match kind:
        case "text":
            return Reply(words=_pieces(random, most))
        case "length":
            return Reply(words=_pieces(random, most), finish_reason="length")
        case "empty":
            return Reply()
        case "thinking":
            return Reply(thoughts=_pieces(random, most), words=_pieces(random, most))
        case "tools" | "mixed":
            # Three calls at most; a whole number beyond 64 bits is JSON all the same.
            calls = tuple(_call(random, large=2**70) for _ in range(random.randint(1, 3)))
            spoken = _pieces(random, most) if kind == "mixed" else ()
            return Reply(thoughts=spoken[:2], words=spoken[2:], calls=calls, finish_reason="tool_calls")
        case "refusal":
            return Reply(refusal=_pieces(random, most))
        case "function":
            return Reply(function=_call(random, large=9), finish_reason="function_call")
        case _:
            raise ValueError(kind)


def answer(kind: str, random: Random, *, most: int = 7) -> Answer:
    """Draw an answer of a kind (`KINDS`), with so many pieces of text at the most in each reply."""
    if kind == "several":
        replies = tuple(_reply(random.choice(("text", "length")), random, most) for _ in range(random.randint(2, 3)))
    else:
        replies = (_reply(kind, random, most),)
    prompt, completion = random.randint(1, 900), random.randint(1, 900)
    fault = Fault(
        message=f"the {random.choice(WORDS)} is closed: “{random.choice(WORDS)}”",
        type=random.choice(("server_error", "overloaded_error", "invalid_request_error")),
        code=random.choice((400, 429, 503, "rate_limit_exceeded", "503")),
        param=random.choice(("messages", "tools[0].function")),
    )
    return Answer(replies, Counts(prompt, completion, prompt + completion), fault)


KINDS = ("text", "length", "empty", "thinking", "tools", "mixed", "refusal", "several", "function")
"""Kinds of answer. `mixed` thinks, speaks and calls; `several` has more than one choice."""
