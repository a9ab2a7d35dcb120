"""Memory stays bounded, and Ctrl-C is heard, however large the read, the event or the stream.

Each program runs in a process of its own, so that its peak is its own: in MiB, as Linux counts it.
"""

from __future__ import annotations

import subprocess
import sys
from textwrap import dedent

import pytest

linux = pytest.mark.skipif(sys.platform != "linux", reason="the peak of a process is read from /proc")

COMMON = """
import collections, itertools, os, signal, threading, time
from ssewire import ChatStream, ChunkDecoder, EventStream, EventTooLargeError, SSEDecoder

MIB = 1 << 20
EVENT = b'data: {"choices":[{"index":0,"delta":{"content":"' + b"x" * 100 + b'"}}]}\\n\\n'

def memory(kind):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith(kind)) / 1024

def peak():
    return memory("VmHWM")

def resident():
    return memory("VmRSS")
"""


def run(program: str) -> str:
    """What a program prints."""
    command = [sys.executable, "-c", COMMON + dedent(program)]
    return subprocess.run(command, capture_output=True, text=True, check=True, timeout=60).stdout.strip()


@linux
@pytest.mark.parametrize(
    "results", ["SSEDecoder().feed(read)", "EventStream([read])", "ChatStream([read, b'data: [DONE]'])"]
)
def test_one_huge_read_does_not_become_a_huge_list_of_results(results: str) -> None:
    grown = run(f"""
        read = EVENT * (64 * MIB // len(EVENT))
        before = resident()
        for item in {results}:
            pass
        print(peak() - before)
    """)
    assert float(grown) < 8


@linux
@pytest.mark.parametrize("decoder", ["SSEDecoder()", "ChunkDecoder()"])
def test_an_event_beyond_the_limit_is_an_error_and_the_buffers_stay_under_three_times_the_limit(decoder: str) -> None:
    grown = run(f"""
        decoder = {decoder}
        before = resident()
        read = b"x" * 4096
        list(decoder.feed(b"data: "))
        errors = 0
        for _ in range(64 * MIB // len(read)):
            try:
                list(decoder.feed(read))
            except EventTooLargeError as error:
                assert error.limit == 32 * MIB and error.offset == 0
                errors += 1
        assert errors == 1
        print(peak() - before)
    """)
    assert float(grown) < 3 * 32


@linux
def test_the_word_error_in_a_large_event_does_not_make_a_tree_of_it() -> None:
    grown = run("""
        event = b'data: {"word": "error", "x": [' + b"[1]," * (4 * MIB) + b"1]}\\n\\n"
        list(ChatStream([b'data: {"word": "error"}\\n\\n', b"data: [DONE]\\n\\n"]))
        before = resident()
        assert len(list(ChatStream([event, b"data: [DONE]\\n\\n"]))) == 1
        print(peak() - before)
    """)
    # The payload itself, and its copy: the tree alone would take 250.
    assert float(grown) < 3 * 16


LARGE_ENDS = {
    "without a usage": b'{"choices": [{"finish_reason": "stop"}], "x": [%b]}',
    "without choices": b'{"choices": [], "x": [%b]}',
    "in the choice": b'{"choices": [{"finish_reason": "stop", "logprobs": null, "x": [%b]}]}',
    "with a word": b'{"choices": [{"finish_reason": "stop"}], "message": "message", "x": [%b]}',
    "with Groq's member": b'{"choices": [{"finish_reason": "stop"}], "x_groq": {"id": "r"}, "x": [%b]}',
}


@linux
@pytest.mark.parametrize("payload", LARGE_ENDS.values(), ids=LARGE_ENDS)
@pytest.mark.parametrize("before", ["b''", "EVENT"], ids=["first", "second"])
def test_a_large_event_at_the_end_of_an_answer_does_not_make_a_tree_of_it(payload: bytes, before: str) -> None:
    """Usage is looked for there in other places than its own."""
    grown = run(f"""
        event = b"data: " + {payload!r} % (b"[1]," * (7 * MIB) + b"1") + b"\\n\\n"
        list(ChatStream([b'data: {{"choices": [{{"finish_reason": "stop"}}]}}\\n\\n', b"data: [DONE]\\n\\n"]))
        stream = ChatStream([{before} + event, b"data: [DONE]\\n\\n"])
        before = resident()
        assert len(list(stream)) == 1 + bool({before})
        assert stream.usage is None and stream.state == "done"
        print(peak() - before)
    """)
    # The payload itself, and copies of it: the tree alone would take 500.
    assert float(grown) < 3 * 29


@linux
@pytest.mark.parametrize("stream", ["EventStream(reads())", "ChatStream(reads()).iter_payloads()"])
def test_a_stream_of_a_gigabyte_needs_no_more_memory_than_its_beginning(stream: str) -> None:
    grown = run(f"""
        read = (b"data: {{" + b" " * 2000 + b"}}\\n\\n") * 32
        size = 0

        def reads():
            global size
            while size < 1024 * MIB:
                size += len(read)
                yield read
            yield b"data: [DONE]\\n\\n"

        before = None
        for item in {stream}:
            if before is None and size > 16 * MIB:
                before = resident()
        print(peak() - before)
    """)
    assert float(grown) < 2


@linux
def test_many_short_streams_leave_nothing_behind() -> None:
    grown = run("""
        body = EVENT * 3 + b"data: [DONE]\\n\\n"

        def read(times):
            for _ in range(times):
                list(ChatStream([body]))
                list(ChatStream([body], type=dict).iter_text())
                list(EventStream(iter([body])))
                list(ChunkDecoder().feed(body).finish())

        read(1000)
        before = resident()
        read(10_000)
        print(peak() - before)
    """)
    assert float(grown) < 2


# Each `next(items)` is one call into the compiled part that would go on for seconds, or for ever.
ENDLESS = {
    "a line without an end": """
        read = bytes(1024 * MIB)
        items = SSEDecoder().feed(b":")
        for _ in range(100):
            items.feed(read)
    """,
    "lines without an event": """
        read = b"\\n" * (64 * MIB)
        items = ChunkDecoder()
        for _ in range(100):
            items.feed(read)
    """,
    "events without a chunk": """
        read = b"data:\\n\\n" * (8 * MIB)
        items = ChatStream(read for _ in range(1000))
    """,
    "small reads of comments": 'items = ChatStream(itertools.repeat(b":\\n\\n"))',
    "small reads of empty events": 'items = ChatStream(itertools.repeat(b"data:\\n\\n"))',
    "reads of some comments": 'items = ChatStream(itertools.repeat(b": ping\\n\\n" * 80))',
    "empty reads": 'items = ChatStream(itertools.repeat(b""))',
    "usual reads of comments": 'items = ChatStream(itertools.repeat(b": ping\\n\\n" * 8192))',
    "empty reads of a stream of events": 'items = EventStream(itertools.repeat(b""))',
    "a refusal without an end": """
        class Refused:
            status = 500

            def __iter__(self):
                return itertools.repeat(b"")

        items = ChatStream(Refused())
    """,
    "texts that no Python code takes": """
        stream = ChatStream(itertools.repeat(b'data: {"choices":[{"delta":{"content":"a"}}]}\\n\\n'))
        items = map(collections.deque, [stream.iter_text()], [0])
    """,
    "events that no Python code takes": """
        items = map(collections.deque, [EventStream(itertools.repeat(b"data: a\\n\\n" * 8192))], [0])
    """,
    "large reads of events that no Python code takes": """
        items = map(collections.deque, [EventStream(itertools.repeat(b"event: a\\ndata: a\\n\\n" * 57_000))], [0])
    """,
    "a file without an end": 'items = iter(EventStream(open("/dev/zero", "rb")))',
}


@pytest.mark.skipif(sys.platform == "win32", reason="signals and /dev/zero of POSIX")
@pytest.mark.parametrize("setup", ENDLESS.values(), ids=ENDLESS)
def test_others_run_and_ctrl_c_is_heard_inside_a_huge_read_and_between_reads_without_an_end(setup: str) -> None:
    # Another thread has its turns, some milliseconds apart, and sends the signal.
    waited = run(
        dedent(setup)
        + dedent("""
        def interrupt():
            for _ in range(30):
                time.sleep(0.001)
            os.kill(os.getpid(), signal.SIGINT)

        # Whoever was started in the background has it ignored.
        signal.signal(signal.SIGINT, signal.default_int_handler)
        threading.Thread(target=interrupt).start()
        begun = time.process_time()
        try:
            next(items, None)
        except KeyboardInterrupt:
            print(time.process_time() - begun)
        else:
            print("inf")
        """)
    )
    # Thirty turns take some half a second at the most. It is of the processor's time, since the machine may be busy.
    assert float(waited) < 2
