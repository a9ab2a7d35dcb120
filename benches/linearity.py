"""`python -m benches.linearity`: at each size of read, twice the event takes twice the time.

The same number of bytes each time, in events of 64 KiB to 8 MiB, each size twice the one before: what a stream of them
takes must stay the same. Told are the steepest and the flattest doubling, which are two where that is so. Collecting
the reads of an event and handing out a copy is measured beside it: where bytes outgrow the processor's caches, or the
blocks that the allocator keeps, everybody pays. `python -m benches.memory --table doubling` has larger events.
"""

import argparse
import gc
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from statistics import median

import ssewire
from benches.corpus import cut
from benches.measure import clock
from benches.report import announced, print_rows, save

_KIB = 1024
_BYTES = 8192 * _KIB
_SIZES = tuple(64 * _KIB << power for power in range(8))
_READS: dict[str, int] = {"256 B": 256, "1460 B": 1460, "4 KiB": 4 * _KIB, "64 KiB": 64 * _KIB, "whole": _BYTES}
_TOLD = (_SIZES[0], _SIZES[4], _SIZES[-1])
_TOLERANCE = 0.15
_BASELINE = "bytearray and bytes"


def _joined(reads: Iterable[bytes]) -> Iterator[bytes]:
    """What collecting the reads of an event and handing out a copy costs at the least."""
    buffer = bytearray()
    for read in reads:
        buffer += read
        if read.endswith(b"\n\n"):
            yield bytes(buffer)
            buffer.clear()


_FORMS: dict[str, Callable[[list[bytes]], Iterable[object]]] = {
    _BASELINE: _joined,
    "ChatStream": lambda reads: ssewire.ChatStream(iter(reads)),
    "ChatStream.iter_payloads": lambda reads: ssewire.ChatStream(iter(reads)).iter_payloads(),
    "EventStream": lambda reads: ssewire.EventStream(iter(reads)),
}
# It is an event like any other to them.
_KNOW_NO_SENTINEL = (_BASELINE, "EventStream")


def _block(body: str, size: int) -> bytes:
    if body == "many lines":
        return b"data: 123456789\n" * (size // 16 - 1) + b"data: 12345678\n\n"
    begin, end = b'data: {"choices":[{"index":0,"delta":{"content":"', b'"},"finish_reason":"stop"}]}\n\n'
    return begin + b"x" * (size - len(begin) - len(end)) + end


def main() -> None:
    """Measure, print, and save when asked to."""
    parser = argparse.ArgumentParser(prog="python -m benches.linearity", description=__doc__)
    parser.add_argument("--rounds", type=int, default=7, help="timed rounds of each size (default: %(default)s)")
    parser.add_argument("--save", metavar="NAME", help="write benches/results/NAME.json")
    arguments = parser.parse_args()

    console = announced()
    rows: list[dict[str, object]] = []
    for form in _FORMS:
        for body in ("one line", "many lines"):
            if body == "many lines" and form not in _KNOW_NO_SENTINEL:
                continue  # in a chat stream lines that are no JSON together are events of their own
            for read in _READS:
                with console.status(f"{form}, {body}, reads: {read}"):
                    rows.append(measured(form, body, read, arguments.rounds))
    print_rows(console, "nanoseconds a KiB in events of so many KiB; times a doubling", rows)
    if arguments.save:
        save(arguments.save, results=rows)


def measured(form: str, body: str, read: str, rounds: int) -> dict[str, object]:
    """Time streams of events of all sizes in turn."""
    streams: dict[int, list[bytes]] = {}
    for size in _SIZES:
        block = _block(body, size)
        # Each event begins with a read, as it does on a connection, and has bytes of its own: small ones repeated would
        # be in the processor's caches, and large ones not.
        reads = [one for _ in range(_BYTES // size) for one in cut(bytes(bytearray(block)), _READS[read])]
        streams[size] = [*reads, b"data: [DONE]\n\n"]
        events = _BYTES // size + (form in _KNOW_NO_SENTINEL)
        assert sum(1 for _ in _FORMS[form](streams[size])) == events, f"{form}, {body}, reads: {read}"
    times: dict[int, list[float]] = {size: [] for size in _SIZES}
    for _ in range(rounds):
        for size, reads in streams.items():
            gc.collect()
            start = clock()
            deque(_FORMS[form](reads), maxlen=0)
            times[size].append((clock() - start) / (_BYTES // _KIB))
    medians = {size: median(taken) for size, taken in times.items()}
    doublings = [2 * after / before for before, after in pairwise(medians.values())]
    row: dict[str, object] = {"form": form, "body": body, "reads": read}
    row |= {f"{size // _KIB:,}": round(medians[size], 1) for size in _TOLD}
    met = all(abs(doubling / 2 - 1) <= _TOLERANCE for doubling in doublings)
    return {
        **row,
        "steepest": round(max(doublings), 2),
        "flattest": round(min(doublings), 2),
        "within 15 %": "yes" if met else "no",
    }


if __name__ == "__main__":
    main()
