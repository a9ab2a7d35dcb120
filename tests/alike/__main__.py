"""`python -m tests.alike`: mutated streams by the million, read with templates and without.

Prints how many events were compared, how many of them were recognised, and every difference: then it ends with 1.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from random import Random
from time import monotonic

from tests.alike.comparing import WAYS, DifferenceError, Reads, compare
from tests.alike.mutator import Stream, streams
from tests.reading import pieces

_REPORT = 10.0

# More than one would read.
_SHOWN = 5


def cut(stream: Stream, random: Random) -> Reads:
    """The reads that a stream comes in; byte by byte seldom, since that takes long."""
    how = random.random()
    if how < 0.4:
        return stream.events
    if how < 0.99:
        return pieces(stream.body, random.choice((1460, 4096, 4096, 16384, 1 << 30)))
    return pieces(stream.body, 1)


class Tally:
    """What was compared so far."""

    def __init__(self) -> None:
        self.events: Counter[str] = Counter()
        self.chunks: Counter[str] = Counter()
        self.recognised: Counter[str] = Counter()
        self.ways: Counter[str] = Counter()
        self.differences: list[str] = []

    def compare(self, stream: Stream, number: int, random: Random) -> None:
        """Compare a stream; each way has its turn."""
        way = WAYS[number % len(WAYS)]
        self.events[stream.dialect] += len(stream.events)
        self.ways[way.name] += len(stream.events)
        try:
            read = compare(way, cut(stream, random))
        except DifferenceError as difference:
            self.differences.append(f"stream {number} ({stream.dialect}): {difference}")
            return
        if way.name != "payloads":  # it neither decodes nor recognises
            self.chunks[stream.dialect] += read.chunks
            self.recognised[stream.dialect] += read.recognised

    def share(self, dialect: str | None = None) -> float:
        """The recognised chunks among those that were read, of one dialect or of all."""
        if dialect is None:
            return self.recognised.total() / max(1, self.chunks.total())
        return self.recognised[dialect] / max(1, self.chunks[dialect])

    def rows(self) -> list[dict[str, object]]:
        return [
            {"dialect": name, "events": count, "recognised": round(self.share(name), 3)}
            for name, count in sorted(self.events.items())
        ]


def compared(events: int, seed: int, *, aloud: bool = False) -> Tally:
    """Compare so many events."""
    tally, random = Tally(), Random(seed)
    spoken = monotonic()
    for number, stream in enumerate(streams(seed)):
        tally.compare(stream, number, random)
        total = tally.events.total()
        if aloud and monotonic() - spoken > _REPORT:
            spoken = monotonic()
            sys.stderr.write(f"{total:,} events, {len(tally.differences)} differences\n")
        if total >= events:
            break
    return tally


def main() -> int:
    """Compare, print, and save when asked to."""
    parser = argparse.ArgumentParser(prog="python -m tests.alike", description=__doc__)
    parser.add_argument("--events", type=int, default=1_000_000, help="so many at the least (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="other streams for another (default: %(default)s)")
    parser.add_argument("--save", metavar="NAME", help="write benches/results/NAME.json")
    arguments = parser.parse_args()
    tally = compared(arguments.events, arguments.seed, aloud=True)
    rows = tally.rows()
    total = tally.events.total()
    found = {"seed": arguments.seed, "events": total, "recognised": round(tally.share(), 3)}
    lines = [f"{row['dialect']:<20} {row['events']:>12,} events, {row['recognised']:>6.1%} recognised" for row in rows]
    lines.append(f"{'all':<20} {total:>12,} events, {tally.share():>6.1%} recognised")
    lines += [f"{len(tally.differences)} differences", *tally.differences[:_SHOWN]]
    sys.stdout.write("\n".join(lines) + "\n")
    if arguments.save:
        from benches.report import save

        save(arguments.save, compared=[{**found, "differences": len(tally.differences)}], dialects=rows)
    return int(bool(tally.differences))


if __name__ == "__main__":
    sys.exit(main())
