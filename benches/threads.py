"""`python -m benches.threads`: what one, two and four threads decode together, with the interpreter kept and released.

Each thread reads streams of its own over and over. By the size of an event, the size of a read, and what is made of an
event: a server-sent event with its text, a payload as bytes, or a chunk, which msgspec builds with the interpreter.
Throughput is of all threads together, as times that of one thread which keeps the interpreter.

Two more tables say what can be hoped for. Comments are framed, and nothing is made of them: so fast goes the only part
that needs no interpreter. And hashing needs none either, for so long as one likes: so much of it at a time is worth
handing the interpreter over. `benches.gil` looks at more sizes, and at a thread beside that never waits.
"""

import argparse
import hashlib
import os
import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from statistics import median
from time import perf_counter

from benches.corpus import cut
from benches.gil import MODES, speed
from benches.report import announced, print_rows, save
from ssewire import _core
from ssewire.chunk_types import chunk_type
from ssewire.decode import chat_decoder
from ssewire.models import ChatCompletionChunk

_KIB = 1024
_THREADS = (1, 2, 4)
_EVENTS = {"240 B": 240, "16 KiB": 16 * _KIB, "1 MiB": 1024 * _KIB}
# A stream fits the processor's caches, as bytes do that were just received.
_BODY = 4096 * _KIB
_READS: dict[str, int] = {"4 KiB": 4 * _KIB, "64 KiB": 64 * _KIB, "whole": _BODY}
_SECONDS = 0.06
# Below 2,048 bytes hashlib keeps the interpreter.
_HASHED = (2 * _KIB, 4 * _KIB, 16 * _KIB, 64 * _KIB, 1024 * _KIB)

Feed = Callable[[bytes], object]


_FRAMING = "framing alone"


def _block(form: str, size: int) -> bytes:
    begin, end = b'data: {"choices":[{"index":0,"delta":{"content":"', b'"}}]}\n\n'
    if form == _FRAMING:
        begin, end = b":", b"\n\n"
    return begin + b"x" * (size - len(begin) - len(end)) + end


def _events(detach_min: int) -> Feed:
    decoder: _core.SSEDecoder[_core.ServerSentEvent] = _core.SSEDecoder(max_event_size=2 * _BODY, detach_min=detach_min)

    def feed(read: bytes) -> None:
        for _ in decoder.feed(read):
            pass

    return feed


def _chat_decoder(detach_min: int) -> _core.ChunkDecoder[ChatCompletionChunk]:
    known = chunk_type(ChatCompletionChunk)
    _, arguments = chat_decoder(known, require_done=False, on_decode_error="raise")
    return _core.ChunkDecoder(*arguments, facts=known.facts, max_event_size=2 * _BODY, detach_min=detach_min)


def _payloads(detach_min: int) -> Feed:
    decoder = _chat_decoder(detach_min)
    view = decoder.payloads()

    def feed(read: bytes) -> None:
        decoder.feed(read)
        for _ in view:
            pass

    return feed


def _chunks(detach_min: int) -> Feed:
    decoder = _chat_decoder(detach_min)

    def feed(read: bytes) -> None:
        for _ in decoder.feed(read):
            pass

    return feed


_FORMS: dict[str, Callable[[int], Feed]] = {
    _FRAMING: _events,
    "events": _events,
    "payloads": _payloads,
    "chunks": _chunks,
}


def main() -> None:
    """Measure, print, and save when asked to."""
    parser = argparse.ArgumentParser(prog="python -m benches.threads", description=__doc__)
    parser.add_argument("--form", choices=_FORMS, action="append", help="only this (may be repeated)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds of each cell (default: %(default)s)")
    parser.add_argument("--save", metavar="NAME", help="write benches/results/NAME.json")
    arguments = parser.parse_args()

    console = announced()
    cores, free_threaded = usable_cores(), not getattr(sys, "_is_gil_enabled", lambda: True)()
    kind = "free-threaded" if free_threaded else "not free-threaded"
    console.print(f"{cores} cores to use, interpreter {kind}")
    handed = list(handing_over(arguments.rounds))
    print_rows(console, "two threads that hash so much at a time, as times one", handed)
    rows: list[dict[str, object]] = []
    for form in arguments.form or _FORMS:
        with console.status(form):
            found = list(measured(form, arguments.rounds))
        print_rows(console, f"{form}: MB/s of one thread that keeps the interpreter, and times that", found)
        rows += found
    if arguments.save:
        facts_ = {"cores": cores, "free-threaded": free_threaded}
        save(arguments.save, machine=[facts_], hashing=handed, results=rows)


def usable_cores() -> int:
    """Say how many cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def handing_over(rounds: int) -> Iterator[dict[str, object]]:
    """Give what a second thread adds where nearly all work needs no interpreter, by the length of its pieces."""

    def hash_some(size: int) -> int:
        block, end, done = bytes(size), perf_counter() + _SECONDS, 0
        while perf_counter() < end:
            hashlib.sha256(block)
            done += 1
        return done

    for size in _HASHED:
        one, two = [], []
        for _ in range(rounds):
            one.append(speed([partial(hash_some, size)]))
            two.append(speed([partial(hash_some, size)] * 2))
        times = median(both / alone for both, alone in zip(two, one, strict=True))
        yield {"bytes": size, "us": round(1e6 / median(one), 1), "2 threads": round(times, 2)}


def measured(form: str, rounds: int) -> Iterator[dict[str, object]]:
    """Give the throughput of all numbers of threads, interleaved, by event and read."""
    for (event, size), (read, length) in product(_EVENTS.items(), _READS.items()):
        block = _block(form, size)
        # Each thread has bytes of its own, as streams do.
        streams = [cut(block * (_BODY // len(block)), length) for _ in range(max(_THREADS))]
        cells = [(threads, mode) for threads in _THREADS for mode in MODES]
        speeds: dict[tuple[int, str], list[float]] = {cell: [] for cell in cells}
        for _ in range(rounds):
            for threads, mode in cells:
                work = [partial(_decode, form, reads, MODES[mode]) for reads in streams[:threads]]
                speeds[threads, mode].append(speed(work))
        alone = speeds[1, "kept"]
        row: dict[str, object] = {"form": form, "event": event, "read": read, "MB/s": round(median(alone) / 1e6)}
        for threads, mode in cells[1:]:
            times = [ours / one for ours, one in zip(speeds[threads, mode], alone, strict=True)]
            row[f"{threads} {mode}"] = round(median(times), 2)
        yield row


def _decode(form: str, reads: list[bytes], detach_min: int) -> int:
    """Decode the same stream over and over until the time is up; gives the bytes decoded."""
    feed, done = _FORMS[form](detach_min), 0
    end = perf_counter() + _SECONDS
    while True:
        for read in reads:
            feed(read)
            done += len(read)
            if perf_counter() > end:
                return done


if __name__ == "__main__":
    main()
