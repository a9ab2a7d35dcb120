"""How a chat stream ends: its states, the event that the end of the body finds open, what is cut, and what follows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

import anyio
import msgspec
import pytest

from ssewire import (
    APIError,
    AsyncChatStream,
    ChatStream,
    ChunkDecoder,
    DecodeError,
    IncompleteStreamError,
    SSEWireError,
)
from tests.reading import every_cut, pieces, with_errors, with_errors_async
from tests.unit.cases import ERROR, HELLO, STOP
from tests.unit.making import DONE, Reads, Response, choice, chunk, sse

USAGE = sse({"choices": [], "usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}})

# The data of the last event, which finishes the answer.
PAYLOAD = STOP.removeprefix(b"data: ").rstrip()


def texts(items: Iterable[Any]) -> list[Any]:
    """The text of each chunk, and each error in its place."""
    return [item if isinstance(item, SSEWireError) else item.text for item in with_errors(items)]


def incomplete(body: bytes, found: list[str], tail: bytes, *, require_done: bool = False) -> None:
    """In every cut these texts come, and then the error that the stream is cut, with this tail."""
    for reads in every_cut(body):
        response = Response(*reads)
        stream = ChatStream(response, require_done=require_done)
        *chunks, error = texts(stream)
        assert (chunks, stream.state) == (found, "incomplete")
        assert isinstance(error, IncompleteStreamError)
        assert error.tail == tail
        assert (response.closed, response.generator_closed) == (1, True)


def ends(body: bytes, found: list[str], state: str) -> None:
    """In every cut these texts come, without an error, and then this state."""
    for reads in every_cut(body):
        stream = ChatStream(reads)
        assert texts(stream) == found
        assert stream.state == state


# States


STATES: dict[str, tuple[list[bytes], list[str]]] = {
    "sentinel": ([HELLO, STOP, DONE], ["open", "open", "done"]),
    "finish reason": ([HELLO, STOP, b""], ["open", "open", "finished"]),
    "neither": ([HELLO, HELLO, b""], ["open", "open", "incomplete"]),
    "error, then the sentinel": ([HELLO, ERROR, STOP, DONE], ["open", "error", "error", "error"]),
    "error, then the end": ([HELLO, ERROR, b""], ["open", "error", "error"]),
    "error, then a cut payload": ([ERROR, HELLO[:-9]], ["error", "error"]),
    "no JSON, then the sentinel": ([sse(b"oops"), DONE], ["open", "done"]),
    "no JSON, then the end": ([STOP, sse(b"oops"), b""], ["open", "open", "finished"]),
    "no stream": ([b"<html>"], ["error"]),
}


@pytest.mark.parametrize(("reads", "states"), STATES.values(), ids=STATES)
@pytest.mark.parametrize("kind", [None, dict, Any], ids=["built-in", "dict", "Any"])
def test_the_state_behind_each_item(reads: list[bytes], states: list[str], kind: Any) -> None:
    stream: ChatStream[Any] = ChatStream(Reads(*reads)) if kind is None else ChatStream(Reads(*reads), type=kind)
    assert stream.state == "open"
    seen = []
    for _ in states:
        with suppress(SSEWireError):
            next(stream, None)
        seen.append(stream.state)
    assert seen == states
    stream.close()
    assert stream.state == states[-1]


REQUIRED: dict[str, tuple[bytes, str]] = {
    "sentinel": (HELLO + DONE, "done"),
    "sentinel, not ended": (HELLO + STOP + b"data:[DONE]", "done"),
    "sentinel of a name": (HELLO + b"event: end\n" + DONE, "done"),
    "error": (HELLO + ERROR, "error"),
    "error, then a finish reason": (ERROR + STOP, "error"),
    "finish reason": (HELLO + STOP, "incomplete"),
    "finish reason and usage": (HELLO + STOP + USAGE, "incomplete"),
    "neither": (HELLO, "incomplete"),
    "half a sentinel": (STOP + b"data: [DON", "incomplete"),
    "a bare sentinel": (STOP + b"[DONE]\n\n", "incomplete"),
    "a sentinel in a comment": (STOP + b": [DONE]\n\n", "incomplete"),
    "a sentinel in quotes": (STOP + sse(b'"[DONE]"'), "incomplete"),
    "a sentinel in small letters": (STOP + sse(b"[done]"), "incomplete"),
}


@pytest.mark.parametrize(("body", "state"), REQUIRED.values(), ids=REQUIRED)
def test_the_sentinel_can_be_required(body: bytes, state: str) -> None:
    for reads in ([body], pieces(body, 1)):
        stream = ChatStream(reads, require_done=True)
        *_, last = with_errors(stream)
        assert stream.state == state
        assert isinstance(last, IncompleteStreamError) == (state == "incomplete")
        decoder = ChunkDecoder(require_done=True)
        with_errors(decoder.feed(body))
        with_errors(decoder.finish())
        assert decoder.state == state


@pytest.mark.parametrize("way", ["chunks", "texts", "payloads", "pairs"])
def test_every_way_to_iterate_comes_to_the_same_state(way: str) -> None:
    ways: dict[str, Callable[[ChatStream[Any]], Iterable[Any]]] = {
        "chunks": lambda stream: stream,
        "texts": lambda stream: stream.iter_text(),
        "payloads": lambda stream: stream.iter_payloads(),
        "pairs": lambda stream: stream.iter_with_payload(),
    }
    for body, state in [
        (HELLO + STOP + DONE, "done"),
        (HELLO + STOP + USAGE, "finished"),
        (HELLO + STOP + chunk("late"), "finished"),
        (HELLO + HELLO, "incomplete"),
        (HELLO + STOP[:-9], "incomplete"),
        (STOP + HELLO[:-9], "incomplete"),
        (HELLO + STOP + ERROR, "error"),
    ]:
        stream = ChatStream([body])
        *_, last = with_errors(ways[way](stream))
        assert stream.state == state
        assert isinstance(last, SSEWireError) == (state in {"incomplete", "error"})


# The event that the end of the body finds open (F7)


OPEN: dict[str, bytes] = {
    "no line end": STOP.rstrip(),
    "one line end": STOP.rstrip() + b"\n",
    "CR": STOP.rstrip() + b"\r",
    "CR LF": STOP.rstrip() + b"\r\n",
    "a comment behind it": STOP.rstrip() + b"\n: bye",
    "a field behind it": STOP.rstrip() + b"\nid: 7\n",
    "an unknown line behind it": STOP.rstrip() + b"\nupstream error\n",
    "an empty data line behind it": STOP.rstrip() + b"\ndata",
    "half a field behind it": STOP.rstrip() + b"\ndat",
    "several data lines": b"data: {\ndata: " + PAYLOAD[1:-1] + b"\ndata: }",
    "of the default name": b"event: message\n" + STOP.rstrip(),
    "of a name, with choices": b"event: chunk\n" + STOP.rstrip(),
}


@pytest.mark.parametrize("event", OPEN.values(), ids=OPEN)
def test_an_open_event_is_delivered(event: bytes) -> None:
    ends(HELLO + event, ["Hello", ""], "finished")


@pytest.mark.parametrize("end", [b"", b"\n", b"\r", b"\r\n", b"\n: bye", b"\nid: 3", b"\ndata", b"\ndata:\n"])
def test_an_open_sentinel_counts(end: bytes) -> None:
    ends(HELLO + b"data: [DONE]" + end, ["Hello"], "done")


def test_an_open_error_is_one() -> None:
    for reads in every_cut(HELLO + b'event: error\ndata: {"mess'):
        stream = ChatStream(reads)
        hello, error = texts(stream)
        assert (hello, stream.state) == ("Hello", "error")
        assert isinstance(error, APIError)
        assert error.body == '{"mess'


def test_an_open_event_of_another_name_is_skipped() -> None:
    for reads in every_cut(STOP + b"event: ping\ndata: {"):
        stream = ChatStream(reads)
        assert texts(stream) == [""]
        assert (stream.state, stream.stats.skipped_events) == ("finished", 1)


def test_a_line_before_the_end_that_ends_in_cr_is_whole() -> None:
    ends(HELLO + STOP.replace(b"\n", b"\r")[:-1], ["Hello", ""], "finished")


# What the end of the body cuts


def test_a_payload_that_is_cut_at_any_of_its_bytes() -> None:
    for size in range(1, len(PAYLOAD)):
        body = HELLO + b"data: " + PAYLOAD[:size]
        for reads in ([body], pieces(body, 1), [body[:-1], body[-1:]]):
            stream = ChatStream(reads)
            hello, error = texts(stream)
            assert (hello, stream.state) == ("Hello", "incomplete")
            assert isinstance(error, IncompleteStreamError)
            assert error.tail == PAYLOAD[:size]
    ends(HELLO + b"data: " + PAYLOAD, ["Hello", ""], "finished")


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"])
def test_a_payload_that_is_cut_behind_a_finished_answer_is_cut_all_the_same(end: bytes) -> None:
    """What is lost may be the usage: the answer is whole, but the stream is not."""
    cut = USAGE.removeprefix(b"data: ")[:-12]
    incomplete(HELLO + STOP + b"data: " + cut + end, ["Hello", ""], cut)


def test_the_field_name_that_is_cut_is_no_payload() -> None:
    for size, tail in [(1, b"d"), (2, b"da"), (3, b"dat"), (4, b""), (5, b""), (6, b"")]:
        incomplete(HELLO + b"data: "[:size], ["Hello"], tail)
        ends(HELLO + STOP + b"data: "[:size], ["Hello", ""], "finished")


def test_a_sentinel_that_is_cut_is_none() -> None:
    for size in range(1, len(b"[DONE]")):
        incomplete(HELLO + STOP + b"data: " + b"[DONE]"[:size], ["Hello", ""], b"[DONE]"[:size])


def test_a_cut_in_the_middle_of_a_character() -> None:
    payload = chunk("🎉").removeprefix(b"data: ")
    cut = payload[: payload.index(b"\xf0") + 2]
    incomplete(HELLO + b"data: " + cut, ["Hello"], cut)


@pytest.mark.parametrize(
    "payload", [b'{"error": {"message": "over', b'{"type": "error", "mess', b"[", b"nul", b"-", b"7"]
)
def test_a_cut_payload_is_no_error_of_the_server_and_no_undecodable_event(payload: bytes) -> None:
    incomplete(HELLO + STOP + b"data: " + payload, ["Hello", ""], payload)


def test_a_cut_payload_in_the_other_ways_to_iterate() -> None:
    body = HELLO + STOP[:-9]
    for items in (
        ChatStream([body]).iter_text(),
        ChatStream([body]).iter_payloads(),
        ChatStream([body]).iter_with_payload(),
        ChatStream([body], type=dict[str, Any]),
    ):
        _, error = with_errors(items)
        assert isinstance(error, IncompleteStreamError)
        assert error.tail == PAYLOAD[:-7]


# Unknown lines, quoted where the stream is cut


LINES: dict[str, tuple[bytes, bytes]] = {
    "one": (b"upstream error: read ECONNRESET\n", b"upstream error: read ECONNRESET"),
    "one that is not ended": (b"upstream error", b"upstream error"),
    "one with CR LF": (b"upstream error\r\n\r\n", b"upstream error"),
    "several": (b"a: b\nc\n", b"a: b\nc"),
    "several with blank lines between": (b"first\n\nsecond\n\n", b"first\nsecond"),
    "beside comments": (b": hi\nfailed\n: bye\n", b"failed"),
    "beside known fields": (b"id: 1\nfailed\nretry: 1\n", b"failed"),
    "a bare chunk": (b'{"choices":[]}\n', b'{"choices":[]}'),
    "a cut error": (b'{"error": {"mess', b'{"error": {"mess'),
    "a cut error, pretty": (b'{\n  "error": "m"\n', b'{\n  "error": "m"'),
    "no UTF-8": (b"caf\xe9\n", b"caf\xe9"),
    "comments alone": (b": hi\n\n: bye\n", b""),
    "known fields alone": (b"id: 1\nretry: 5\nevent: x\n", b""),
    "blank lines": (b"\n\n\n", b""),
}


@pytest.mark.parametrize(("lines", "tail"), LINES.values(), ids=LINES)
def test_unknown_lines_behind_the_last_event_are_quoted(lines: bytes, tail: bytes) -> None:
    incomplete(HELLO + lines, ["Hello"], tail)
    incomplete(STOP + lines, [""], tail, require_done=True)
    ends(STOP + lines, [""], "finished")


def test_unknown_lines_inside_the_last_event_are_quoted() -> None:
    incomplete(HELLO[:-1] + b"upstream error\n", ["Hello"], b"upstream error")


def test_unknown_lines_before_the_last_event_are_not_quoted() -> None:
    incomplete(b"before: all\n" + HELLO + b"between\n\n" + HELLO, ["Hello", "Hello"], b"")


def test_a_cut_payload_is_quoted_before_unknown_lines() -> None:
    incomplete(HELLO + b'between\n\ndata: {"choi', ["Hello"], b'{"choi')


def test_of_many_unknown_lines_the_tail_stays_small() -> None:
    stream = ChatStream([HELLO, *[b"x" * 99 + b"\n"] * 10_000, b"the last\n"])
    _, error = texts(stream)
    assert isinstance(error, IncompleteStreamError)
    assert error.tail.endswith(b"the last")
    assert len(error.tail) <= 65_536


# What comes behind a finish reason


def test_usage_behind_the_finish_reason() -> None:
    for end, state in ((DONE, "done"), (b"", "finished")):
        for reads in every_cut(HELLO + STOP + USAGE + end):
            stream = ChatStream(reads)
            assert texts(stream) == ["Hello", "", ""]
            assert msgspec.to_builtins(stream.usage) == {
                "prompt_tokens": 3,
                "completion_tokens": 2,
                "total_tokens": 5,
            }
            assert (stream.finish_reasons, stream.state) == ({0: "stop"}, state)


def test_content_at_and_behind_the_finish_reason() -> None:
    body = chunk("a") + chunk("b", "stop") + chunk("c") + chunk("d", "") + chunk("e", None)
    ends(body, ["a", "b", "c", "d", "e"], "finished")
    ends(body + DONE, ["a", "b", "c", "d", "e"], "done")
    stream = ChatStream([body])
    assert "".join(stream.iter_text()) == "abcde"
    assert stream.finish_reasons == {0: "stop"}


def test_an_error_behind_the_finish_reason() -> None:
    for end in (b"", DONE):
        stream = ChatStream([HELLO + STOP + USAGE + ERROR + end])
        *chunks, error = texts(stream)
        assert (chunks, stream.state) == (["Hello", "", ""], "error")
        assert isinstance(error, APIError)


def test_a_finish_reason_of_any_word() -> None:
    for reason in ("length", "tool_calls", "content_filter", "function_call", "eos_token", "error", "OTHER"):
        ends(chunk("a") + chunk("b", reason), ["a", "b"], "finished")


def test_a_choice_that_comes_again_behind_its_finish_reason_stays_finished() -> None:
    ends(STOP + chunk("a") + chunk("b", index=1) + chunk("c", "stop", index=1), ["", "a", "b", "c"], "finished")
    incomplete(STOP + chunk("a", index=1) + chunk("b", index=1), ["", "a", "b"], b"")


# What comes behind the sentinel


BEHIND: dict[str, bytes] = {
    "a comment": b": bye\n\n",
    "a chunk": chunk("late"),
    "an error": ERROR,
    "a named error": b"event: error\ndata: late\n\n",
    "a bare error": b'{"error": {"message": "late"}}\n',
    "an error field": b"error: late\n\n",
    "the sentinel again": DONE,
    "a cut payload": b'data: {"choi',
    "no JSON": b"data: oops\n\n",
    "HTML": b"<html></html>",
    "other bytes": b"\xff\x00\n\n",
}


@pytest.mark.parametrize("behind", BEHIND.values(), ids=BEHIND)
def test_nothing_behind_the_sentinel_counts(behind: bytes) -> None:
    ends(HELLO + DONE + behind, ["Hello"], "done")
    ends(HELLO + DONE.rstrip() + b"\n\n" + behind, ["Hello"], "done")
    source = Reads(HELLO, DONE[:8], DONE[8:] + behind, behind, OSError("reset"))
    stream = ChatStream(source)
    assert texts(stream) == ["Hello"]
    assert (stream.state, source.asked, source.closed) == ("done", 3, 1)


# Events with a name (C1, C3)


NAMES = ["end", "done", "message", "ping", "completion.chunk", "[DONE]", "err", "errors", "Error", "é"]


@pytest.mark.parametrize("name", NAMES)
def test_the_sentinel_counts_under_every_name_but_error(name: str) -> None:
    ends(HELLO + f"event: {name}\n".encode() + DONE + HELLO, ["Hello"], "done")
    ends(HELLO + b"data: [DONE]\n" + f"event: {name}".encode(), ["Hello"], "done")


@pytest.mark.parametrize("name", ["message", ""])
def test_the_name_of_events_without_a_name(name: str) -> None:
    head = f"event: {name}\n".encode()
    body = head + sse({"id": "no choices"}) + head + HELLO + head + sse(b"oops") + head + STOP
    for reads in every_cut(body):
        stream = ChatStream(reads)
        no_choices, hello, error, stop = texts(stream)
        assert (no_choices, hello, stop, stream.state) == ("", "Hello", "", "finished")
        assert isinstance(error, DecodeError)
        assert error.event_number == 3
        assert stream.stats.skipped_events == 0


@pytest.mark.parametrize("name", [name for name in NAMES if name != "message"])
def test_an_event_of_another_name_that_has_choices_is_a_chunk(name: str) -> None:
    body = b"".join(f"event: {name}\n".encode() + event for event in (HELLO, STOP, USAGE))
    ends(body, ["Hello", "", ""], "finished")
    stream = ChatStream([body])
    assert len(list(stream)) == 3
    assert (stream.stats.chunks, stream.stats.skipped_events) == (3, 0)
    assert (stream.usage and stream.usage.total_tokens, stream.finish_reasons) == (5, {0: "stop"})


SKIPPED: dict[str, bytes] = {
    "an object": b'data: {"tool": "search", "status": "run"}\n\n',
    "an object that has choices deeper": b'data: {"data": {"choices": [{"delta": {"content": "x"}}]}}\n\n',
    "a text that speaks of choices": b'data: {"text": "\\"choices\\": []"}\n\n',
    "an error that is null": b'data: {"error": null}\n\n',
    "a text": b"data: hello\n\n",
    "a time": b"data: 2025-01-01T00:00:00Z\n\n",
    "broken JSON": b'data: {"tool": \n\n',
    "several lines": b"data: a\ndata: b\n\n",
    "an array": b'data: [1, {"choices": []}]\n\n',
    "a number": b"data: 7\n\n",
    "null": b"data: null\n\n",
    "no UTF-8": b"data: \xff\n\n",
    "a sentinel with something behind it": b"data: [DONE] x\n\n",
}


@pytest.mark.parametrize("event", SKIPPED.values(), ids=SKIPPED)
@pytest.mark.parametrize("kind", [None, dict, Any], ids=["built-in", "dict", "Any"])
def test_an_event_of_another_name_is_skipped_and_counted(event: bytes, kind: Any) -> None:
    body = b"event: ping\n" + event + HELLO + b"event: tool.progress\n" + event + STOP
    for reads in every_cut(body):
        stream: ChatStream[Any] = ChatStream(reads) if kind is None else ChatStream(reads, type=kind)
        assert len(with_errors(stream)) == 2
        assert (stream.state, stream.stats.skipped_events, stream.stats.decode_errors) == ("finished", 2, 0)


def test_a_name_holds_for_its_own_event_alone() -> None:
    stream = ChatStream([b"event: ping\n\n" + HELLO + b"event: a\nevent\n" + HELLO + b"event: a\nevent: b\n" + DONE])
    assert texts(stream) == ["Hello", "Hello"]
    assert (stream.state, stream.stats.skipped_events) == ("done", 0)


def test_a_skipped_event_is_counted_for_decoders_and_asynchronous_streams_too() -> None:
    body = b"event: ping\ndata: {}\n\n" + HELLO + DONE
    decoder = ChunkDecoder()
    assert texts(decoder.feed(body)) == ["Hello"]
    assert decoder.stats.skipped_events == 1
    decoder.reset()
    assert decoder.stats.skipped_events == 0

    async def main() -> None:
        stream = AsyncChatStream(body)
        assert len(await with_errors_async(stream)) == 1
        assert (stream.state, stream.stats.skipped_events) == ("done", 1)

    anyio.run(main)


def test_a_choice_in_one_chunk_alone_needs_no_finish_reason_beside_one_that_has_it() -> None:
    """Early TGI counts the tokens of one answer in the index."""
    ends(
        sse({"choices": [choice("a", index=0)]}) + chunk("b", index=1) + chunk("c", "stop", 2),
        ["a", "b", "c"],
        "finished",
    )
    incomplete(chunk("a", index=0) + chunk("b", index=1), ["a", "b"], b"")
