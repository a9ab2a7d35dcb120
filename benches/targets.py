"""What the project promises of its speed, and whether figures keep it.

Nothing of the peers is imported here: whoever only reads figures needs none of them installed.
"""

from collections.abc import Mapping
from dataclasses import dataclass

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
