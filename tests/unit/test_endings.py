"""How a chat stream ends: its states, the sentinel that may be required, and what comes behind the end of an answer."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

import msgspec
import pytest

from ssewire import APIError, ChatStream, ChunkDecoder, IncompleteStreamError, SSEWireError
from tests.reading import every_cut, pieces, with_errors
from tests.unit.cases import ERROR, HELLO, STOP, USAGE
from tests.unit.making import DONE, Reads, choice, chunk, sse
from tests.unit.outcomes import ends, incomplete, texts

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


def test_a_choice_in_one_chunk_alone_needs_no_finish_reason_beside_one_that_has_it() -> None:
    """Early TGI counts the tokens of one answer in the index."""
    ends(
        sse({"choices": [choice("a", index=0)]}) + chunk("b", index=1) + chunk("c", "stop", 2),
        ["a", "b", "c"],
        "finished",
    )
    incomplete(chunk("a", index=0) + chunk("b", index=1), ["a", "b"], b"")


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
