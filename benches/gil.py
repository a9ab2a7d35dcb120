"""`python -m benches.gil`: what releasing the interpreter while framing costs and pays, by event and read size.

The figures behind `DETACH_MIN` in `rust/python/src/reads.rs`. Each cell is the throughput of all decoding threads
together, in MB/s, with the interpreter kept and with it released in every read: one thread alone; two at once, over
streams of their own; and one beside a thread that runs Python without ever waiting. That one hands the interpreter
over every 5 ms only, so whoever lets go of it waits that long to get it back.

A second table says what small reads pay for it that large ones release the interpreter: nothing is forced there.
"""

import argparse
import hashlib
import threading
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product
from statistics import median
from time import perf_counter

from rich.table import Table

import ssewire
from benches.corpus import cut
from benches.report import announced, print_rows, save
from ssewire import _core

_KIB = 1024
_READS = (240, 4 * _KIB, 16 * _KIB, 64 * _KIB, 256 * _KIB, 1024 * _KIB, 4096 * _KIB)
# A stream fits the processor's caches, as bytes do that were just received.
_BODY = 4096 * _KIB
_SECONDS = 0.06


def _event(size: int) -> bytes:
    return b"data: " + b"x" * (size - 8) + b"\n\n"


_EVENTS = {
    "240 B": _event(240),
    "4 KiB": _event(4 * _KIB),
    "16 KiB": _event(16 * _KIB),
    "64 KiB": _event(64 * _KIB),
    "1 MiB": _event(1024 * _KIB),
    # Hardly anything to hand out for much to frame.
    "64 KiB, short lines": b"data: 123456789\n" * (4 * _KIB) + b"\n",
}
# The decoder's private keyword: from so many bytes on it releases the interpreter.
MODES = {"kept": 2**62, "released": 1}
_SMALL = (240, 4 * _KIB, 64 * _KIB)


def main() -> None:
    """Measure, print, and save when asked to."""
    parser = argparse.ArgumentParser(prog="python -m benches.gil", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="rounds of each cell (default: %(default)s)")
    parser.add_argument("--save", metavar="NAME", help="write benches/results/NAME.json")
    arguments = parser.parse_args()

    console = announced()
    console.print(f"two threads that hash without the interpreter run {parallel():.2f} times as fast as one here")
    table = Table(title="MB/s: interpreter kept, released", title_justify="left")
    table.add_column("event", no_wrap=True)
    for column in ("read", *(f"{way} {mode}" for way in _WAYS for mode in MODES)):
        table.add_column(column, justify="right")
    rows: list[dict[str, object]] = []
    for event, block in _EVENTS.items():
        for read in _READS:
            with console.status(f"events of {event}, reads of {read:,} bytes"):
                cells = measure(block, read, arguments.rounds)
            table.add_row(event, f"{read:,}", *(f"{speed:,.0f}" for speed in cells.values()))
            rows.append({"event": event, "read": read, **{name: round(speed) for name, speed in cells.items()}})
    console.print(table)
    with console.status("small reads"):
        small = list(small_reads(arguments.rounds))
    print_rows(console, "small reads alone: MB/s, and how many percent more time than with the interpreter kept", small)
    if arguments.save:
        save(arguments.save, parallel=[round(parallel(), 2)], megabytes_a_second=rows, small=small)


def small_reads(rounds: int) -> Iterator[dict[str, object]]:
    """Give the throughput of small reads with the interpreter always kept, and as it is when nobody says anything."""
    for event, read in product(("240 B", "16 KiB"), _SMALL):
        block = _EVENTS[event]
        reads = [cut(block * (_BODY // len(block)), read)]
        kept: list[float] = []
        usual: list[float] = []
        for at in range(4 * rounds):
            # Each is the first in turn.
            for mode, speeds in ((MODES["kept"], kept), (None, usual))[:: 1 if at % 2 else -1]:
                speeds.append(_alone(reads, mode) / 1e6)
        costs = median(alone / one for alone, one in zip(kept, usual, strict=True)) - 1
        row: dict[str, object] = {"event": event, "read": read, "kept": round(median(kept))}
        yield {**row, "as it is": round(median(usual)), "costs %": round(100 * costs, 1)}


def measure(block: bytes, read: int, rounds: int) -> dict[str, float]:
    """Give the median throughput of each way and mode, interleaved."""
    # Each thread has bytes of its own, as streams do.
    streams = [cut(block * (_BODY // len(block)), read) for _ in range(2)]
    speeds: dict[str, list[float]] = {f"{way} {mode}": [] for way in _WAYS for mode in MODES}
    for _ in range(rounds):
        for way, run in _WAYS.items():
            for mode, detach_min in MODES.items():
                speeds[f"{way} {mode}"].append(run(streams, detach_min) / 1e6)
    return {name: median(values) for name, values in speeds.items()}


def _decode(reads: list[bytes], detach_min: int | None) -> int:
    """Decode the same stream over and over until the time is up; gives the bytes decoded."""
    decoder: _core.SSEDecoder[ssewire.ServerSentEvent] = _core.SSEDecoder(
        max_event_size=2 * _BODY, detach_min=detach_min
    )
    done = 0
    end = perf_counter() + _SECONDS
    while True:
        for read in reads:
            for _ in decoder.feed(read):
                pass
            done += len(read)
            if perf_counter() > end:
                return done


def speed(work: Sequence[Callable[[], int]]) -> float:
    """Run each in a thread of its own; gives bytes a second of all together."""
    done: list[int] = []
    threads = [threading.Thread(target=lambda one=one: done.append(one())) for one in work]
    start = perf_counter()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return sum(done) / (perf_counter() - start)


def _alone(streams: list[list[bytes]], detach_min: int | None) -> float:
    return speed([partial(_decode, streams[0], detach_min)])


def _two(streams: list[list[bytes]], detach_min: int) -> float:
    return speed([partial(_decode, reads, detach_min) for reads in streams])


def _beside(streams: list[list[bytes]], detach_min: int) -> float:
    stop = threading.Event()

    def python() -> None:
        while not stop.is_set():
            sum(range(1000))

    thread = threading.Thread(target=python)
    thread.start()
    try:
        return _alone(streams, detach_min)
    finally:
        stop.set()
        thread.join()


_WAYS: dict[str, Callable[[list[list[bytes]], int], float]] = {"alone": _alone, "two": _two, "beside": _beside}


def parallel() -> float:
    """Say how much the machine has to give to a second thread right now: without that no figure means anything."""

    def hash_some() -> int:
        block, end, done = bytes(_BODY), perf_counter() + 5 * _SECONDS, 0
        while perf_counter() < end:
            hashlib.sha256(block)
            done += len(block)
        return done

    return speed([hash_some, hash_some]) / speed([hash_some])


if __name__ == "__main__":
    main()
