"""Several threads at one stream, whatever comes over the connection, and what it costs to know the answer so far.

Kinds 144 (accumulator-quadratic), 147 (panic-is-no-exception), 148 (borrowed-by-two-threads) and 149
(buffer-changed-under-us). What only a sanitizer or a fuzzer can see is in `rust/fuzz` and the tests of the core.
"""

from __future__ import annotations

import sys
import threading
import time
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from random import Random
from typing import Any

import httpx
import pytest

from ssewire import ChatStream, EventStream, SSEDecoder, SSEWireError
from tests.clients import adapters
from tests.clients.bodies import WHOLE, choice, event_of, payload_of
from tests.clients.served import TIMEOUT, Server
from tests.lifecycle.leaving import NEVER

SEEDS = 60


def in_threads(*calls: Callable[[], None]) -> None:
    """Run them at once, each in a thread, to their ends."""
    threads = [threading.Thread(target=call) for call in calls]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(NEVER)
    assert not any(thread.is_alive() for thread in threads)


def test_borrowed_by_two_threads_loses_and_doubles_nothing(server: Server) -> None:
    texts: list[str] = []
    refusals: list[SSEWireError] = []
    served = server.stream("together", group="alone", streams="1", seed="148", events="3000")
    with httpx.Client(timeout=TIMEOUT) as client, client.stream("GET", served.address) as response:
        stream = ChatStream(response)

        def pull() -> None:
            while True:
                try:
                    texts.append(next(stream).text)
                except StopIteration:
                    return
                except SSEWireError as error:
                    refusals.append(error)

        in_threads(pull, pull)
        assert stream.state == "done"
    assert len(texts) == len(set(texts)) == 3000
    assert all("one thread or task at a time" in str(refusal) for refusal in refusals)


def test_borrowed_by_two_threads_and_closed_by_a_third(server: Server) -> None:
    failures: list[BaseException] = []
    with httpx.Client(timeout=TIMEOUT) as client:
        for seed in range(20):
            served = server.stream("steady", events="100000", gap="0.0005", seed=str(seed))
            with client.stream("GET", served.address) as response:
                stream = ChatStream(response)
                closing = threading.Event()

                def pull(stream: ChatStream[Any] = stream, closing: threading.Event = closing) -> None:
                    while stream.state == "open":
                        try:
                            next(stream)
                            closing.set()
                        except SSEWireError as error:
                            if "closed" not in str(error) and "one thread or task at a time" not in str(error):
                                failures.append(error)
                        except BaseException as error:
                            failures.append(error)

                def close(stream: ChatStream[Any] = stream, closing: threading.Event = closing) -> None:
                    closing.wait(NEVER)
                    stream.close()

                in_threads(pull, pull, close)
                assert stream.state == "closed"
    assert failures == []


@pytest.mark.parametrize("give", [bytearray, lambda data: memoryview(bytearray(data))], ids=["bytearray", "memoryview"])
def test_buffer_changed_under_us(give: Callable[[bytes], Any]) -> None:
    """1 MiB and more is framed without the interpreter, so of a buffer that can change it is a copy."""
    event = event_of(b"x" * 1000)
    body = event * 4000
    buffer = give(body)
    going = threading.Event()
    fed = threading.Event()

    def overwrite() -> None:
        going.wait(NEVER)
        while not fed.is_set():
            for at in range(0, len(body), 4096):
                buffer[at : at + 1] = b"\n"

    decoder = SSEDecoder()
    thread = threading.Thread(target=overwrite)
    decoder.feed(buffer)
    # From here on it is somebody else's: it may be written to, and grow where it can.
    thread.start()
    going.set()
    if isinstance(buffer, bytearray):
        buffer.extend(b"data: more\n\n")
    events = list(decoder)
    fed.set()
    thread.join(NEVER)
    assert len(events) == 4000
    assert {event.data for event in events} == {"x" * 1000}


def noise(random: Random) -> bytes:
    """A body that is right in the beginning, and then anything."""
    body = bytearray(WHOLE)
    for _ in range(random.randint(1, 60)):
        at = random.randrange(len(body))
        body[at : at + random.randint(0, 3)] = random.choice(
            [
                random.randbytes(4),
                b"\n\n",
                b"data:",
                b'"error":',
                b"\xff",
                b"[[[[[[[[",
                b'{"choices":' * 9,
                b"\r",
                b"\x00",
            ]
        )
    return bytes(body)


def test_panic_is_no_exception_and_there_is_none(server: Server) -> None:
    """Whatever comes, a worker that catches `Exception` goes on to the next request."""
    ended: list[str] = []

    def work() -> None:
        with httpx.Client(timeout=TIMEOUT) as client:
            for seed in range(SEEDS):
                body = noise(Random(seed))
                for kind in (ChatStream, EventStream):
                    with client.stream("POST", server.stream("echo").address, content=body) as response:
                        stream: Any = kind(response, accumulate=True) if kind is ChatStream else kind(response)
                        with stream, suppress(SSEWireError):
                            list(stream)
                        ended.append(stream.state)

    in_threads(work, work)
    # A worker that an exception of another kind had ended would have told less.
    assert len(ended) == 4 * SEEDS
    assert "open" not in ended


def test_accumulator_quadratic_it_is_not() -> None:
    """Asking for the answer after each of many pieces keeps no copy of any, and an earlier answer does not change."""
    piece = event_of(payload_of(choices=[choice("12345")]))
    stream = ChatStream([piece * 10_000, b"data: [DONE]\n\n"], accumulate=True)
    next(stream)
    first = stream.completion()
    tracemalloc.start()
    for count, _ in enumerate(stream, 2):
        if count % 100 == 0:
            assert len(stream.completion().text) == 5 * count
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert first.text == "12345"
    # The text itself in pieces, one joined result at a time, and the body.
    assert most < 60 * len("12345") * 10_000


@pytest.mark.parametrize("name", ["httpx", "requests", "wreq"])
def test_closing_from_two_threads_never_raises_whatever_the_reader_does(name: str, server: Server) -> None:
    """The reader that is woken may close the same response at the same moment."""
    (client,) = (client for client in adapters.SYNC if client.name == name)
    told: list[str] = []

    def read(stream: ChatStream[Any]) -> None:
        try:
            for _ in stream:
                pass
        except SSEWireError as error:
            told.append(str(error))

    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        for seed in range(100):
            served = server.stream("steady", events="100000", gap="0.0005", seed=str(seed))
            with client.open(served) as response, ThreadPoolExecutor(3) as threads:
                stream = ChatStream(response)
                reading = threads.submit(read, stream)
                time.sleep(seed * 5e-5)
                closing = [threads.submit(stream.close) for _ in range(2)]
                for future in (*closing, reading):
                    future.result(NEVER)
                assert stream.state == "closed"
    finally:
        sys.setswitchinterval(before)
    assert len(told) == 100
    assert all("closed" in words for words in told)
