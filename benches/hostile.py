"""`python -m benches.hostile`: what learning from a stream costs where there is nothing to learn.

Each stream of `benches/hostile_streams.py` is read with `accelerate=False` and without, in turn; the ratio is the
median of those of the rounds. Both ways give the same, errors and the end included, before anything is timed.
"""

import argparse
import gc
from collections import deque
from collections.abc import Callable, Iterable
from itertools import takewhile
from random import Random
from statistics import median

import ssewire
from benches.corpus import cut
from benches.hostile_streams import STREAMS
from benches.measure import clock
from benches.report import announced, print_rows, save

_SEED = 20_240_301
_BYTES = 1_500_000
_MOST = 6000
_TARGET = 1.1

_WAYS: dict[str, Callable[[ssewire.ChatStream[ssewire.ChatCompletionChunk]], Iterable[object]]] = {
    "typed": iter,
    "text": ssewire.ChatStream.iter_text,
}


def main() -> None:
    """Measure, print, and save when asked to."""
    parser = argparse.ArgumentParser(prog="python -m benches.hostile", description=__doc__)
    parser.add_argument("--stream", choices=STREAMS, action="append", help="only this stream (may be repeated)")
    parser.add_argument("--rounds", type=int, default=15, help="timed rounds of each stream (default: %(default)s)")
    parser.add_argument("--save", metavar="NAME", help="write benches/results/NAME.json")
    arguments = parser.parse_args()

    console = announced()
    rows: list[dict[str, object]] = []
    for name in arguments.stream or STREAMS:
        events = blocks(name)
        for size, reads in (("event", events), ("4k", cut(b"".join(events), 4096))):
            for way in _WAYS:
                check(name, reads, way)
                with console.status(f"{name}, reads: {size}"):
                    times = measured(reads, way, len(events), arguments.rounds)
                rows.append({"stream": name, "events": len(events), "reads": size, "way": way, **times})
    print_rows(console, f"nanoseconds an event, and times accelerate=False (target: {_TARGET})", rows)
    if arguments.save:
        save(arguments.save, results=rows)


def blocks(name: str) -> list[bytes]:
    """Give the events of a stream, the sentinel the last."""
    total = 0

    def fits(payload: str) -> bool:
        nonlocal total
        total += len(payload)
        return total < _BYTES

    payloads = STREAMS[name](Random(_SEED))  # noqa: S311 (a corpus, not a secret)
    chosen = [payload for payload, _ in zip(takewhile(fits, payloads), range(_MOST), strict=False)]
    return [f"data: {payload}\n\n".encode() for payload in [*chosen, "[DONE]"]]


def _stream(reads: list[bytes], *, accelerate: bool) -> ssewire.ChatStream[ssewire.ChatCompletionChunk]:
    return ssewire.ChatStream(iter(reads), accelerate=accelerate)


def check(name: str, reads: list[bytes], way: str) -> None:
    """Refuse to time ways that give different things."""
    plain, faster = (_stream(reads, accelerate=accelerate) for accelerate in (False, True))
    same = list(_WAYS[way](plain)) == list(_WAYS[way](faster))
    ends = [(one.state, one.usage, one.finish_reasons, one.stats.chunks) for one in (plain, faster)]
    assert same, f"{name}, {way}: what is given differs"
    assert ends[0] == ends[1], f"{name}, {way}: the ends differ"
    assert plain.state == "done", f"{name}, {way}: {plain.state}"


def measured(reads: list[bytes], way: str, events: int, rounds: int) -> dict[str, object]:
    """Time both ways in turn."""
    times: dict[bool, list[float]] = {False: [], True: []}
    for number in range(rounds + 1):
        # Whoever comes second finds the caches warm.
        for accelerate in (False, True) if number % 2 else (True, False):
            gc.collect()
            start = clock()
            deque(_WAYS[way](_stream(reads, accelerate=accelerate)), maxlen=0)
            if number:  # nobody's first round counts
                times[accelerate].append((clock() - start) / events)
    ratio = median(faster / plain for plain, faster in zip(times[False], times[True], strict=True))
    return {
        "accelerate=False": round(median(times[False])),
        "default": round(median(times[True])),
        "times": round(ratio, 3),
        "met": "yes" if ratio <= _TARGET else "no",
    }


if __name__ == "__main__":
    main()
