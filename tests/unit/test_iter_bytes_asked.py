"""`iter_bytes` while other threads ask how the stream stands: each may be the one who looks at what was given."""

from __future__ import annotations

import threading
from collections import Counter
from typing import Any, Final

import msgspec
import pytest

from ssewire import ChatStream, SSEWireError
from tests.unit.cases import STOP, USAGE
from tests.unit.making import DONE, Response, chunk, sse
from tests.unit.relaying import Relayer, switching_often
from tests.unit.test_lifecycle import TIMEOUT

A, B = chunk("a"), chunk("b")


def ask(stream: ChatStream[Any]) -> tuple[Any, ...]:
    """All that may be asked of a stream."""
    return (
        stream.state,
        stream.stats.chunks,
        len(stream.completion().text),
        stream.usage,
        stream.finish_reasons,
        stream.last_event_id,
        stream.error,
    )


class Asker(threading.Thread):
    """Asks all the time how a stream stands, until it is told to stop."""

    def __init__(self, stream: ChatStream[Any], stop: threading.Event) -> None:
        super().__init__()
        self._stream = stream
        self._stop_asking = stop
        self.states: set[str] = set()
        # Of the chunks and of the text; what shrank in between stands in `shrunk`.
        self.counts = (0, 0)
        self.shrunk: list[tuple[int, int]] = []
        self.raised: Exception | None = None

    def run(self) -> None:
        try:
            while not self._stop_asking.is_set():
                state, chunks, length, *_ = ask(self._stream)
                self.states.add(state)
                if chunks < self.counts[0] or length < self.counts[1]:
                    self.shrunk.append((chunks, length))
                self.counts = (chunks, length)
        except Exception as error:
            self.raised = error


def test_others_may_ask_all_the_time() -> None:
    """Whoever asks may be the one who looks at what was given: nothing is missed, and nothing counted twice."""
    texts = [str(number) for number in range(2000)]
    body = [b"id: %d\n" % number + chunk(text) for number, text in enumerate(texts)]
    reads = [*body, sse(b"oops"), USAGE, STOP + DONE, b"behind"]
    response = Response(*reads)
    stream = ChatStream(response, accumulate=True)
    stop = threading.Event()
    askers = [Asker(stream, stop) for _ in range(3)]
    with switching_often():
        for asker in askers:
            asker.start()
        given = list(stream.iter_bytes())
        stop.set()
        for asker in askers:
            asker.join(TIMEOUT)
    assert given == reads
    for asker in askers:
        assert (asker.is_alive(), asker.raised) == (False, None)
        assert asker.states <= {"open", "done"}
        assert asker.shrunk == []
    assert stream.completion().text == "".join(texts)
    assert stream.usage is not None
    assert (stream.state, stream.last_event_id, stream.stats.decode_errors) == ("done", "1999", 1)
    assert (stream.stats.chunks, stream.stats.bytes) == (2002, len(b"".join(reads)))
    assert (response.closed, response.generator_closed) == (1, True)


class Gate:
    """A type of chunks; making the second one waits until it may go on."""

    def __init__(self) -> None:
        self.reached = threading.Event()
        self.go_on = threading.Event()
        gate = self

        class Own(msgspec.Struct):
            choices: list[Any]

            def __post_init__(self) -> None:
                if not gate.reached.is_set():
                    gate.reached.set()
                    assert gate.go_on.wait(TIMEOUT)

        self.type = Own


def asking(stream: ChatStream[Any], gate: Gate) -> threading.Thread:
    """A thread that asks for the state, and is in the middle of looking at what was given."""
    thread = threading.Thread(target=lambda: stream.state)
    thread.start()
    assert gate.reached.wait(TIMEOUT)
    return thread


ENDS: Final[dict[str, tuple[list[Any], str]]] = {
    "a sentinel": ([DONE], "done"),
    "more behind a sentinel": ([DONE, b"behind", b""], "done"),
    "a finish reason": ([STOP], "finished"),
    "neither": ([], "incomplete"),
    "a broken event": ([STOP, B[:9]], "incomplete"),
    "an error of the server": ([sse({"error": {"message": "busy"}})], "error"),
    "an error of the client": ([STOP + DONE, OSError("reset")], "done"),
    "an error of the client before the end": ([OSError("reset")], "incomplete"),
}

ends = pytest.mark.parametrize(("ending", "state"), ENDS.values(), ids=ENDS)


@ends
def test_no_read_is_asked_for_while_another_thread_looks(ending: list[Any], state: str) -> None:
    """It looks at what was handed out before: so nothing is missed, and the bytes come in the same order."""
    gate = Gate()
    response = Response(A, *ending)
    stream = ChatStream(response, type=gate.type, accumulate=True)
    assert next(stream.iter_bytes()) == A
    thread = asking(stream, gate)
    relayer = Relayer(stream)
    relayer.start()
    relayer.join(0.01)
    assert (response.reads.asked, response.closed) == (1, 0)
    gate.go_on.set()
    thread.join(TIMEOUT)
    relayer.join(TIMEOUT)
    assert relayer.found == [read for read in ending if isinstance(read, bytes)]
    assert relayer.raised is next((read for read in ending if isinstance(read, OSError)), None)
    assert (stream.state, stream.completion().text, stream.stats.bytes) == (
        state,
        "a",
        len(A + b"".join(relayer.found)),
    )
    assert (response.closed, response.generator_closed) == (1, True)


def that_asks_itself(response: Response) -> ChatStream[Any]:
    """A stream that is asked from inside, while it is looked at what is in its bytes."""
    stream: ChatStream[Any] = ChatStream(response, accumulate=True, on_decode_error=lambda _: ask(stream))
    return stream


@ends
@pytest.mark.parametrize("status", [200, 503])
def test_others_may_ask_while_it_ends(ending: list[Any], state: str, status: int) -> None:
    """Whoever comes last, all of them come to an end, and to the same one."""
    own_end = any(isinstance(read, OSError) for read in ending)
    if status == 503:
        state = "incomplete" if own_end else "error"
    with switching_often():
        for _ in range(30):
            response = Response(A, sse(b"oops"), B, *ending, status=status)
            stream = that_asks_itself(response)
            stop = threading.Event()
            askers = [Asker(stream, stop) for _ in range(2)]
            relayer = Relayer(stream)
            for thread in (*askers, relayer):
                thread.start()
            relayer.join(TIMEOUT)
            stop.set()
            for asker in askers:
                asker.join(TIMEOUT)
                assert (asker.is_alive(), asker.raised) == (False, None)
            assert relayer.found == [A, sse(b"oops"), B, *(read for read in ending if isinstance(read, bytes))]
            assert isinstance(relayer.raised, OSError) == own_end
            assert (stream.state, response.closed, response.generator_closed) == (state, 1, True)
            assert stream.completion().text == ("ab" if status == 200 else "")
            assert stream.stats.decode_errors == (status == 200)


def test_a_stream_may_be_closed_while_another_thread_looks() -> None:
    gate = Gate()
    response = Response(A, B)
    stream = ChatStream(response, type=gate.type)
    relay = stream.iter_bytes()
    assert next(relay) == A
    thread = asking(stream, gate)
    stream.close()
    assert (response.closed, response.generator_closed) == (1, True)
    gate.go_on.set()
    thread.join(TIMEOUT)
    with pytest.raises(SSEWireError, match="closed"):
        next(relay)
    assert stream.state == "closed"


def test_a_completion_is_never_torn() -> None:
    """Each read says the same of its text and of its reasoning, and a completion has both or neither."""
    reads = [
        sse({"choices": [{"delta": {"content": f"{n},", "reasoning": f"{n},", "reasoning_details": [{"index": n}]}}]})
        for n in range(2000)
    ]
    stream = ChatStream(Response(*reads, DONE), accumulate=True)
    relay = stream.iter_bytes()
    next(relay)
    asked: Counter[bool] = Counter()
    over = threading.Event()

    def ask() -> None:
        while not over.is_set():
            message = stream.completion().choices[0].message
            asked[message.content == message.reasoning] += 1

    asker = threading.Thread(target=ask)
    with switching_often():
        asker.start()
        rest = list(relay)
        over.set()
        asker.join(TIMEOUT)
    assert (len(rest), stream.state, asker.is_alive()) == (2000, "done", False)
    assert set(asked) == {True}
    assert stream.completion().choices[0].message.reasoning_details == [{"index": n} for n in range(2000)]


def test_who_asks_lets_a_reader_that_waits_go_first(monkeypatch: pytest.MonkeyPatch) -> None:
    looking, look_on, given = threading.Event(), threading.Event(), threading.Event()

    def on_decode_error(_: object) -> None:
        looking.set()
        assert look_on.wait(TIMEOUT)

    stream = ChatStream(Response(sse(b"oops"), A, DONE), on_decode_error=on_decode_error, accumulate=True)
    relay = stream.iter_bytes()
    next(relay)
    first = threading.Thread(target=lambda: stream.usage)

    def read() -> None:
        assert next(relay) == A
        given.set()

    def pause(_: float) -> None:
        look_on.set()
        assert given.wait(TIMEOUT)

    monkeypatch.setattr("ssewire.relay.sleep", pause)
    reader = threading.Thread(target=read)
    first.start()
    assert looking.wait(TIMEOUT)
    # While the question of that thread is answered, the reader waits.
    reader.start()
    while not stream._following._reader_waits:  # type: ignore[union-attr]
        assert reader.is_alive()
    ask(stream)
    assert look_on.is_set()
    assert given.is_set()
    first.join(TIMEOUT)
    reader.join(TIMEOUT)
    stream.close()
