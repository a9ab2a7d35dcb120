"""What streams that wait cost in memory: thousands at once, each of which has read some events of its own.

One of the tables of `python -m benches.memory`. Each stream is held as a gateway holds it between two reads, neither
closed nor at its end. The events of no two streams are the same bytes, and nobody keeps a read but the stream.
"""

import asyncio
import gc
import json
import os
import sys
import tracemalloc
from collections.abc import AsyncIterator, Callable, Iterator
from functools import cache
from typing import Any, NamedTuple

import ssewire
from benches import corpus
from benches.resident import in_child, resident

_STREAMS = 10_000
_EVENTS = 20


@cache
def _pattern() -> tuple[list[bytes], bytes]:
    """Reads of an event each, and the id of the completion in them."""
    body = corpus.generated(2 * _EVENTS)
    completion: str = json.loads(body.payloads[0])["id"]
    return body.cut("event").reads[:_EVENTS], completion.encode()


def _source(number: int) -> Iterator[bytes]:
    reads, completion = _pattern()
    own = b"chatcmpl-%032x" % number
    for read in reads:
        yield read.replace(completion, own)


async def _async_source(number: int) -> AsyncIterator[bytes]:
    for read in _source(number):
        yield read


class _Form(NamedTuple):
    """How a stream is opened and read, and how many items its first events give."""

    open: Callable[[int], tuple[object, Any]]
    items: int = _EVENTS


def _opened(stream: Any, view: Callable[[Any], Any]) -> tuple[object, Any]:
    return stream, view(stream)


# The first chunk has no text, only the role.
_FORMS: dict[str, _Form] = {
    "its source alone": _Form(lambda n: (None, _source(n))),
    "ChatStream": _Form(lambda n: _opened(ssewire.ChatStream(_source(n)), iter)),
    "ChatStream.iter_text": _Form(
        lambda n: _opened(ssewire.ChatStream(_source(n)), lambda stream: stream.iter_text()), _EVENTS - 1
    ),
    "ChatStream, accelerate=False": _Form(lambda n: _opened(ssewire.ChatStream(_source(n), accelerate=False), iter)),
    "EventStream": _Form(lambda n: _opened(ssewire.EventStream(_source(n)), iter)),
    "its asynchronous source alone": _Form(lambda n: (None, _async_source(n))),
    "AsyncChatStream": _Form(lambda n: _opened(ssewire.AsyncChatStream(_async_source(n)), aiter)),
    "AsyncChatStream.iter_text": _Form(
        lambda n: _opened(ssewire.AsyncChatStream(_async_source(n)), lambda stream: stream.iter_text()), _EVENTS - 1
    ),
    "AsyncEventStream": _Form(lambda n: _opened(ssewire.AsyncEventStream(_async_source(n)), aiter)),
}


def idle_streams(_rounds: int) -> Iterator[dict[str, object]]:
    """Many streams at once that wait: what the process grew by, and what Python's own allocator knows of."""
    for form in _FORMS:
        row: dict[str, object] = {"form": form, "streams": _STREAMS}
        for name, traced in (("resident", 0), ("tracemalloc", 1)):
            grown = float(str(in_child("benches.idle", form, _STREAMS, traced)["grown"]))
            row[f"{name} bytes a stream"] = round(grown / _STREAMS)
        yield row


async def _grown(form: str, streams: int, *, traced: bool) -> int:
    """Read the beginning of so many streams and hold them; gives what that takes."""
    await _begun(form, 50)  # what is allocated once, whatever comes
    gc.collect()
    if traced:
        tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0] if traced else resident()
    held = [await _begun_one(form, number) for number in range(streams)]
    gc.collect()
    after = tracemalloc.get_traced_memory()[0] if traced else resident()
    assert len(held) == streams
    return after - before


async def _begun(form: str, streams: int) -> None:
    for number in range(streams):
        await _begun_one(form, number)


async def _begun_one(form: str, number: int) -> tuple[object, Any]:
    open_, items = _FORMS[form]
    stream, view = open_(number)
    for _ in range(items):
        if hasattr(view, "__anext__"):
            await anext(view)
        else:
            next(view)
    return stream, view


def main() -> None:
    """Measure one form in this process, for `idle_streams`."""
    form, streams, traced = sys.argv[2:]
    print(json.dumps({"grown": asyncio.run(_grown(form, int(streams), traced=bool(int(traced))))}), flush=True)
    # The streams would warn that they were dropped, and nobody wants to see them closed.
    os._exit(0)


if __name__ == "__main__":
    main()
