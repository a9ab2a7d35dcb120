"""Chunks that are not quite ones, and what is read of them all the same."""

from __future__ import annotations

import gc
import warnings
from typing import Any

import msgspec
import pytest

from ssewire import NSCALE, APIError, AsyncChatStream, ChatStream, DecodeError
from tests.conftest import Run
from tests.reading import awaited, with_errors, with_errors_async
from tests.unit.cases import HELLO, STOP
from tests.unit.making import DONE, Response, choice, chunk, sse


@pytest.mark.parametrize(
    ("member", "left"),
    [
        ({"reasoning": []}, {}),
        ({"reasoning_content": {}}, {}),
        ({"refusal": []}, {}),
        ({"reasoning": {"text": "hm"}}, {"reasoning": "hm"}),
        ({"reasoning_content": [{"type": "text", "text": "hm"}]}, {"reasoning_content": "hm"}),
        ({"reasoning_content": False}, {}),
        ({"reasoning_details": "x"}, {}),
        ({"reasoning_details": {"type": "reasoning.text", "text": "hm"}}, None),
        ({"function_call": "none"}, {}),
        ({"role": ["assistant"]}, {}),
        ({"tool_calls": False}, {}),
    ],
)
def test_a_harmless_odd_member_does_not_cost_the_text_beside_it(member: dict[str, Any], left: Any) -> None:
    stream = ChatStream([sse({"choices": [{"index": "", "delta": {"content": "hi", **member}}]}) + DONE])
    (found,) = stream
    right = {"reasoning_details": [member["reasoning_details"]]} if left is None else left
    assert msgspec.to_builtins(found.choices[0].delta) == {"content": "hi", **right}
    assert (found.choices[0].index, stream.stats.repaired, stream.state) == (0, 1, "done")


@pytest.mark.parametrize(
    ("delta", "path"),
    [
        ({"content": True}, "$.choices[0].delta.content"),
        ({"content": "a", "tool_calls": "x"}, "$.choices[0].delta.tool_calls"),
        ({"content": "a", "tool_calls": [{"function": "f"}]}, "$.choices[0].delta.tool_calls[0].function"),
        ("text", "$.choices[0].delta"),
        ([1], "$.choices[0].delta"),
    ],
)
def test_what_holds_the_answer_is_refused_with_its_path_where_it_cannot_be_read(delta: Any, path: str) -> None:
    (error,) = with_errors(ChatStream([sse({"choices": [{"delta": delta}]}) + DONE]))
    assert isinstance(error, DecodeError)
    assert error.reason.endswith(f" - at `{path}`")


WHOLE = {"role": "assistant", "content": "all of it", "tool_calls": [{"id": "c", "function": {"name": "f"}}]}


@pytest.mark.parametrize("end", [b"", DONE])
def test_a_whole_completion_sent_as_one_event_gives_its_answer(end: bytes) -> None:
    body = (
        sse({"object": "chat.completion", "choices": [{"index": 0, "message": WHOLE, "finish_reason": "stop"}]}) + end
    )
    stream = ChatStream([body])
    (found,) = stream
    assert found.text == "all of it"
    assert msgspec.to_builtins(found.choices[0].delta) == WHOLE
    assert (stream.state, stream.finish_reasons) == ("done" if end else "finished", {0: "stop"})
    assert list(ChatStream([body]).iter_text()) == ["all of it"]
    assert list(ChatStream([body], type=dict).iter_text()) == ["all of it"]


def test_a_message_beside_a_delta_or_in_a_later_chunk_is_left_where_it_is() -> None:
    beside = {"index": 0, "delta": {"content": "a"}, "message": {"content": "no"}, "finish_reason": "stop"}
    later = {"index": 0, "message": {"content": "no"}, "finish_reason": "stop"}
    assert [item.text for item in ChatStream([sse({"choices": [beside]}) + DONE])] == ["a"]
    assert [item.text for item in ChatStream([HELLO + sse({"choices": [later]}) + DONE])] == ["Hello", ""]


@pytest.mark.parametrize("type", [None, dict, NSCALE.chunk_type])
def test_in_an_array_the_chunks_before_the_error_come_first(type: Any) -> None:
    payload = [{"choices": [choice("a")]}, {"x": 1}, {"error": "boom"}, {"choices": [choice("no")]}]
    stream = ChatStream([HELLO + sse(payload) + DONE], **({"type": type} if type else {}))
    items = [item for item in with_errors(stream) if not isinstance(item, DecodeError)]
    assert isinstance(items[-1], APIError)
    assert (items[-1].message, items[-1].body) == ("boom", payload)
    # The documented type refuses these chunks, which has nothing to do with the error.
    assert len(items) == (1 if type is NSCALE.chunk_type else 3)
    if type is dict:
        assert items[1] == {"choices": [choice("a")]}


@pytest.mark.parametrize("last", [{"delta": None, "finish_reason": "stop"}, {"index": None, "finish_reason": "stop"}])
def test_the_end_of_undecoded_payloads_is_judged_by_what_the_second_decoder_reads(last: Any, run: Run) -> None:
    body = HELLO + HELLO + sse({"choices": [last]})
    stream = ChatStream([body])
    assert len(list(stream.iter_payloads())) == 3
    assert (stream.state, stream.finish_reasons) == ("finished", {0: "stop"})
    awaiting = AsyncChatStream(awaited([body]))
    assert len(run(with_errors_async(awaiting.iter_payloads()))) == 3
    assert (awaiting.state, awaiting.finish_reasons) == ("finished", {0: "stop"})


def test_a_stream_that_has_raised_an_error_is_dropped_without_a_warning() -> None:
    for event in (sse({"error": "boom"}), sse(b"oops")):
        response = Response(HELLO + event, HELLO + STOP)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises((APIError, DecodeError)):
                list(ChatStream(response))
            gc.collect()
        assert (response.closed, response.generator_closed) == (1, True)


def test_a_broken_chunk_under_the_name_of_chunks_is_one() -> None:
    named = b"event: chunk\n" + chunk("a")
    broken = b'event: chunk\ndata: {"choices":[{"delta":{"content":"x\n\n'
    other = b'event: ping\ndata: {"choices":[{\n\n'
    stream = ChatStream([named + broken + other + DONE])
    first, error = with_errors(stream)
    assert not isinstance(first, Exception)
    assert first.text == "a"
    assert isinstance(error, DecodeError)
    assert (stream.stats.skipped_events, stream.stats.decode_errors) == (1, 1)
