"""`python -m benches.memory`: what large events, long streams and many cost in memory; how time grows.

Rust's memory does not show in tracemalloc, so each case runs in a process of its own, which says by how much its
resident set has grown at the most. Bodies are made read by read from one small block: none is ever held whole.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from statistics import median
from time import perf_counter

import ssewire
from benches import corpus
from benches.idle import idle_streams
from benches.report import announced, print_rows, save
from benches.resident import in_child, peak, resident

_MIB = 1024 * 1024
_LIMIT = 32 * _MIB
_READ = 4096
# Bytes of an ordinary chunk with its framing, about.
_CHUNK = 240

_MERGED = "ChatStream, accumulate=True"

Form = Callable[[Iterable[bytes], int], Iterable[object]]
Rows = Iterator[dict[str, object]]

_FORMS: dict[str, Form] = {
    "ChatStream": lambda reads, limit: ssewire.ChatStream(reads, max_event_size=limit),
    "ChatStream.iter_payloads": lambda reads, limit: ssewire.ChatStream(reads, max_event_size=limit).iter_payloads(),
    "EventStream": lambda reads, limit: ssewire.EventStream(reads, max_event_size=limit),
    "SSEDecoder.feed": lambda reads, limit: _pushed(reads, limit),
}
# For streams of many chunks: all of them keep nothing but the last.
_WAYS: dict[str, Form] = {
    "ChatStream": _FORMS["ChatStream"],
    "ChatStream.iter_batches": lambda reads, limit: ssewire.ChatStream(reads, max_event_size=limit).iter_batches(),
    "ChatStream.iter_bytes": lambda reads, limit: ssewire.ChatStream(reads, max_event_size=limit).iter_bytes(),
    _MERGED: lambda reads, limit: ssewire.ChatStream(reads, max_event_size=limit, accumulate=True),
}
_BASELINE = "bytearray and bytes"
_TIMED: dict[str, Form] = {
    # What collecting the reads and handing out a copy costs at the least.
    _BASELINE: lambda reads, _: [bytes(_joined(reads))],
    **{form: _FORMS[form] for form in ("ChatStream.iter_payloads", "EventStream")},
}


def _joined(reads: Iterable[bytes]) -> bytearray:
    buffer = bytearray()
    for read in reads:
        buffer += read
    return buffer


def _pushed(reads: Iterable[bytes], limit: int) -> Iterator[object]:
    decoder = ssewire.SSEDecoder(max_event_size=limit)
    for read in reads:
        yield from decoder.feed(read)


def one_event(size: int, read: int) -> Iterator[bytes]:
    """Give an event with a JSON string of `size` bytes as its data, and the sentinel, in reads of `read` bytes."""
    yield b'data: {"choices":[{"delta":{"content":"'
    block = b"x" * read
    for _ in range(size // read):
        yield block
    yield b'"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'


def many_lines(size: int, read: int) -> Iterator[bytes]:
    """Give the same amount as an event of many short data lines."""
    block = b"data: 123456789\n" * (read // 16)
    for _ in range(size // len(block)):
        yield block
    yield b"\ndata: [DONE]\n\n"


def endless(size: int, read: int) -> Iterator[bytes]:
    """Give `size` bytes of ordinary chunks and the sentinel, in reads of about `read` bytes."""
    body = corpus.generated(2000).cut("event").reads[1:-3]
    block = b"".join(body[: max(1, read // len(body[0]))])
    for _ in range(size // len(block)):
        yield block
    yield b'data: {"choices":[{"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n'


_BODIES: dict[str, Callable[[int, int], Iterator[bytes]]] = {
    "one line": one_event,
    "many lines": many_lines,
    "chunks": endless,
}


def main() -> None:
    """Measure, print, and save when asked to."""
    if sys.argv[1:2] == ["child"]:
        form, body, *numbers = sys.argv[2:]
        size, read, limit = map(int, numbers)
        print(json.dumps(child(form, body, size, read, limit)))
        return
    parser = argparse.ArgumentParser(prog="python -m benches.memory", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="rounds of each timing (default: %(default)s)")
    parser.add_argument("--table", choices=_TABLES, action="append", help="only this table (may be repeated)")
    parser.add_argument("--save", metavar="NAME", help="write benches/results/NAME.json")
    arguments = parser.parse_args()

    console = announced()
    found: dict[str, list[dict[str, object]]] = {}
    for name in arguments.table or _TABLES:
        title, rows = _TABLES[name]
        found[name] = list(rows(arguments.rounds))
        print_rows(console, title, found[name])
    if arguments.save:
        save(arguments.save, **found)


def at_the_limit(_rounds: int) -> Rows:
    """An event of twice the limit, which is refused, and one just below it, which is delivered."""
    for size in (2 * _LIMIT, _LIMIT - _MIB):
        for body in ("one line", "many lines"):
            for form in _FORMS:
                if body == "many lines" and form == "ChatStream" and size < _LIMIT:
                    continue  # numbers, line by line: no chunk, so what it costs depends on what the user does
                found = in_child("benches.memory", form, body, size, _READ, _LIMIT)
                grown = float(str(found["grown"]))
                row = {"event MiB": size // _MIB, "body": body, "form": form, "outcome": found["outcome"]}
                yield {**row, "grown MiB": round(grown / _MIB, 1), "x limit": round(grown / _LIMIT, 2)}


def long_streams(_rounds: int) -> Rows:
    """Streams of growing length: the growth of the process must not follow."""
    for form in _FORMS:
        for read in (_READ, 16 * _READ):
            row: dict[str, object] = {"form": form, "read": read}
            for size in (64, 1024):
                found = in_child("benches.memory", form, "chunks", size * _MIB, read, _LIMIT)
                row[f"{size} MiB: grown MiB"] = round(float(str(found["grown"])) / _MIB, 2)
            yield row


def one_read(_rounds: int) -> Rows:
    """All of a stream in one read: neither the framer nor a list of results may grow with it."""
    for form in _FORMS | _WAYS:
        if form == _MERGED:
            continue  # the text of a million chunks
        row: dict[str, object] = {"form": form}
        for size in (16, 256):
            found = in_child("benches.memory", form, "chunks", size * _MIB, 0, _LIMIT)
            row[f"{size} MiB: grown MiB"] = round(float(str(found["grown"])) / _MIB, 2)
        yield row


def many_chunks(_rounds: int) -> Rows:
    """Ten million chunks against a hundred thousand; of a merged answer a million, which is the text itself."""
    for form in _WAYS:
        row: dict[str, object] = {"form": form}
        for chunks in (100_000, 1_000_000, 10_000_000):
            if form == _MERGED and chunks > 1_000_000:
                continue
            found = in_child("benches.memory", form, "chunks", chunks * _CHUNK, _READ, _LIMIT)
            row[f"{chunks:,} chunks: grown MiB"] = round(float(str(found["grown"])) / _MIB, 2)
        yield row


def doubling(rounds: int) -> Rows:
    """Time events of 64 to 256 MiB at each read size, interleaved.

    Not below: glibc serves blocks of less than 32 MiB from memory that it has kept, and gives back all larger ones, so
    an event just above that line takes many times as long as one below it, whoever parses it.
    """
    sizes = [64 * _MIB, 128 * _MIB, 256 * _MIB]
    for form in _TIMED:
        for body in ("one line",) if form == _BASELINE else ("one line", "many lines"):
            for read in (256, 1460, _READ, 16 * _READ, _MIB):
                times: dict[int, list[float]] = {size: [] for size in sizes}
                for _ in range(rounds):
                    for size in sizes:
                        reads = list(_BODIES[body](size, read))
                        start = perf_counter()
                        _count(_TIMED[form], reads, 2 * sizes[-1])
                        times[size].append(perf_counter() - start)
                medians = [median(times[size]) for size in sizes]
                row: dict[str, object] = {"form": form, "body": body, "read": read}
                row |= {f"{s // _MIB} MiB": round(m * 1e3, 1) for s, m in zip(sizes, medians, strict=True)}
                row["x per doubling"] = [round(b / a, 2) for a, b in pairwise(medians)]
                yield row


_TABLES: dict[str, tuple[str, Callable[[int], Rows]]] = {
    "limit": (
        "one event and the limit of 32 MiB: what the process grew by (all buffers: under three times the limit)",
        at_the_limit,
    ),
    "streams": ("streams of ordinary chunks: what the process grew by", long_streams),
    "read": ("a stream of ordinary chunks in one read: what the process grew by beyond that", one_read),
    "idle": ("streams that wait, each having read 20 events of its own", idle_streams),
    "chunks": ("streams of many chunks: what the process grew by", many_chunks),
    "doubling": ("milliseconds for one event, the limit raised (twice the event: twice the time)", doubling),
}


def child(form: str, body: str, size: int, read: int, limit: int) -> dict[str, object]:
    """Read one body in this process, whole if `read` is 0, and say how it ended and what the process grew by."""
    run = (_FORMS | _WAYS)[form]
    _count(run, endless(16 * _READ, _READ), limit)  # what is allocated once, whatever comes
    reads: Iterable[bytes] = _BODIES[body](size, read or _READ)
    if not read:
        reads = [b"".join(reads)]
    before = resident()
    try:
        outcome = f"{_count(run, reads, limit):,} items"
    except ssewire.EventTooLargeError as error:
        outcome = f"{type(error).__name__}, limit {error.limit:,}"
    return {"outcome": outcome, "grown": peak() - before}


def _count(form: Form, reads: Iterable[bytes], limit: int) -> int:
    return sum(1 for _ in form(reads, limit))


if __name__ == "__main__":
    main()
