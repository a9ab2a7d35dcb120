"""What the project promises of its speed, and whether figures keep it.

Nothing of the peers is imported here: whoever only reads figures needs none of them installed.
"""

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

OURS = "ssewire"
FLOOR = "floor"


@dataclass(frozen=True)
class Target:
    """A promise: at least `bound` times as fast as a reference; against the floor, at most `bound` times its time."""

    reference: str
    bound: float
    reads: tuple[str, ...]


# By suite. They are made for recorded streams, where caches are colder than on the generated body.
TARGETS: dict[str, tuple[Target, ...]] = {
    "payloads": (
        Target("httpx-sse", 30, ("4k",)),
        Target("OpenAI decoder", 50, ("4k",)),
        Target("httpx-sse", 14, ("event",)),
        Target("OpenAI decoder", 25, ("event",)),
    ),
    "events": (
        Target("httpx-sse", 14, ("4k",)),
        Target("httpx-sse", 10, ("event",)),
    ),
    "typed": (
        Target(FLOOR, 0.50, ("4k",)),
        Target(FLOOR, 0.75, ("event",)),
        Target("OpenAI SDK", 100, ("4k",)),
        Target("OpenAI SDK", 60, ("event",)),
    ),
    "text": (
        Target(FLOOR, 0.22, ("4k",)),
        Target(FLOOR, 0.30, ("event",)),
    ),
}


class Promise(NamedTuple):
    """Another promise, of the figures in one file."""

    what: str
    file: str
    how: Literal["at least", "at most", "below"]
    bound: float
    unit: str = ""

    def kept(self, measured: float) -> bool:
        """Say whether this keeps it."""
        return _KEPT[self.how](measured, self.bound)


_KEPT: dict[str, Callable[[float, float], bool]] = {
    "at least": operator.ge,
    "at most": operator.le,
    "below": operator.lt,
}

# By a name each; `benches/reporting/promised.py` knows where in its file the figure stands.
PROMISES = {
    **{
        f"core {scenario}": Promise(f"core, {scenario}: times as fast as the fastest crate", "core", "at least", bound)
        for scenario, bound in (("chat", 2.5), ("large", 1), ("small", 1), ("keep-alives", 1), ("fragments", 1))
    },
    "node": Promise("core, text included: times as fast as eventsource-parser", "core", "at least", 1),
    "async": Promise("asynchronous, beyond a bare loop and the work", "asyncio_streams", "at most", 150, "ns"),
    "threads": Promise("two threads, events of 16 KiB and more, reads of 64 KiB", "threads", "at least", 1.7),
    "releasing": Promise("small reads, for releasing the interpreter", "gil", "at most", 5, "%"),
    "hostile": Promise("nothing to learn, times `accelerate=False`", "hostile", "at most", 1.1),
    "differences": Promise("mutated events, differences from `accelerate=False`", "mutated", "at most", 0),
    "mutated": Promise("mutated events that were compared", "mutated", "at least", 10_000_000),
    "listed": Promise("recorded streams whose share of recognised events is listed", "hits", "at least", 1),
    # Within 15 % of twice the time.
    "steepest": Promise("twice the event, times the time, the steepest doubling", "linearity", "at most", 2.3),
    "flattest": Promise("the same, the flattest", "linearity", "at least", 1.7),
    "stream": Promise("growth over a stream of 1 GiB", "memory", "below", 8, "MiB"),
    "read": Promise("growth beyond 256 MiB in one read", "memory", "below", 32, "MiB"),
    "import": Promise("`import ssewire` beyond `import msgspec`", "imports", "at most", 25, "ms"),
}


@dataclass(frozen=True)
class Verdict:
    """A target at one read size, and what was measured."""

    suite: str
    reads: str
    against: str
    target: str
    measured: float
    met: bool


def ratio(reference: str, ours: float, theirs: float) -> float:
    """How many times as fast as the reference; of the floor, how many times its time."""
    return ours / theirs if reference == FLOOR else theirs / ours


def judge(suite: str, medians: Mapping[tuple[str, str], float]) -> list[Verdict]:
    """Hold the medians of one suite, by reads and peer, against its targets."""
    verdicts: list[Verdict] = []
    for target in TARGETS[suite]:
        for reads in target.reads:
            ours, theirs = medians.get((reads, OURS)), medians.get((reads, target.reference))
            if ours is None or theirs is None:
                continue
            measured = ratio(target.reference, ours, theirs)
            at_most = target.reference == FLOOR
            bound = f"{'at most' if at_most else 'at least'} {target.bound:g}"
            met = measured <= target.bound if at_most else measured >= target.bound
            verdicts.append(Verdict(suite, reads, target.reference, bound, round(measured, 2), met))
    return verdicts
