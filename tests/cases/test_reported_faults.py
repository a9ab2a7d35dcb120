"""Faults that were reported of other readers (`reported-faults.jsonl` says where): what is right, case by case.

The inputs are our own making. Tool calls and roles that come in pieces are checked chunk by chunk here, as they are
sent; what they are as a whole is in `test_merged_faults.py`.
"""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, NamedTuple

import msgspec
import pytest

from ssewire import AsyncChatStream, ChatStream
from tests.cases.outcome import (
    Api,
    Case,
    Incomplete,
    NoStream,
    Undecodable,
    check,
    check_cuts,
    plain,
    with_stream,
)
from tests.conftest import Run
from tests.reading import cut, with_errors
from tests.unit.making import AsyncReads, Reads, Response


class Fault(NamedTuple):
    """A reported fault's input."""

    kind: str
    body: bytes
    reads: list[bytes]


def faults() -> Iterator[tuple[int, Fault]]:
    with Path(__file__).with_name("reported-faults.jsonl").open(encoding="utf-8") as lines:
        for fault in map(json.loads, lines):
            body = base64.b64decode(fault["input_b64"])
            yield fault["n"], Fault(fault["kind"], body, cut(body, fault.get("reads", ())))


FAULTS: Final = dict(faults())

STOP: Final[dict[str, Any]] = {"choices": [{"delta": {}, "finish_reason": "stop"}]}


def delta(**members: Any) -> dict[str, Any]:
    """A chunk with this delta and nothing else."""
    return {"choices": [{"delta": members}]}


def tool_calls(*calls: dict[str, Any]) -> dict[str, Any]:
    return delta(tool_calls=list(calls))


def call(arguments: Any = None, *, name: str | None = None, **members: Any) -> dict[str, Any]:
    """A piece of a tool call; None is what was not sent."""
    function = {"name": name, "arguments": arguments}
    return {**members, "function": {key: value for key, value in function.items() if value is not None}}


RIGHT: Final[dict[int, Case]] = {
    # Framing
    1: Case(["a\u2028b\u2029c\x85d", Incomplete()], "incomplete"),
    7: Case(["a"], "done"),
    8: Case(["a"], "done"),
    9: Case(["say data: [DONE] now"], "done"),
    10: Case(["a", STOP], "finished", {0: "stop"}),
    11: Case(["a"], "done", comments=2),
    14: Case(["a"], "done"),
    15: Case(["a"], "done"),
    16: Case(["a", Incomplete()], "incomplete"),
    17: Case(["a", Incomplete()], "incomplete"),
    18: Case(["a", "b"], "done", repaired=2),
    20: Case(
        [
            Undecodable(b'data: {"choices":[{"index":0,"delta":{"content":"a"}}]}'),
            Undecodable(b": OPENROUTER PROCESSING"),
            "b",
            Incomplete(),
        ],
        "incomplete",
    ),
    22: Case(["a"], "done", skipped=1),
    23: Case(["x" * 131_072, Incomplete()], "incomplete"),
    26: Case([NoStream("gzip", FAULTS[26].body)], "error"),
    27: Case(["a"], "done"),
    # Errors
    28: Case(
        [
            "a",
            Api(
                "boom",
                {
                    "error": {
                        "message": "boom",
                        "type": "invalid_request_error",
                        "code": "tool_use_failed",
                        "status_code": 400,
                    }
                },
                type="invalid_request_error",
                code="tool_use_failed",
            ),
        ],
        "error",
    ),
    29: Case(["a", Api("network failure", {"error": "network failure"})], "error"),
    30: Case(
        [Api("slow down", {"error": {"message": "slow down", "code": 429, "metadata": {"p": "x"}}}, code=429)], "error"
    ),
    31: Case([Api("bad", {"code": 400, "details": "bad"}, code=400)], "error"),
    32: Case(
        [
            Api(
                "boom",
                {"object": "error", "message": "boom", "type": "BadRequestError", "code": 400},
                type="BadRequestError",
                code=400,
            )
        ],
        "error",
    ),
    33: Case(["a", Api("boom", {"error": {"message": "boom"}})], "error"),
    35: Case([Api("prompt too long", {"code": 400, "message": "prompt too long"}, code=400)], "error"),
    36: Case([Api("prompt too long", {"error": {"code": 400, "message": "prompt too long"}}, code=400)], "error"),
    37: Case([Api("no access", {"detail": "no access"})], "error"),
    38: Case([NoStream("completion", FAULTS[38].body)], "error"),
    40: Case([NoStream("newline", FAULTS[40].body)], "error"),
    41: Case([Undecodable(b"12"), "a", Incomplete()], "incomplete"),
    # The end
    42: Case(["par", Incomplete()], "incomplete"),
    43: Case(["a", STOP], "finished", {0: "stop"}),
    44: Case(["a", Incomplete(b'{"choices":[{"index":0,"delta":{"content":"\xe6\x97')], "incomplete"),
    45: Case(["a", Incomplete(b"upstream error: read ECONNRESET")], "incomplete"),
    46: Case(
        [
            Undecodable(b'{"choices":[{"index":0,"delta":{"con'),
            Api("read error", {"error": {"message": "read error"}}),
        ],
        "error",
    ),
    47: Case(
        ["a", STOP, {"usage": {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}}],
        "done",
        {0: "stop"},
        {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5},
    ),
    48: Case([{"choices": [{"delta": {"content": "b"}, "finish_reason": "stop"}]}, "c"], "done", {0: "stop"}),
    49: Case(["a"], "done"),
    50: Case(["a"], "done"),
    52: Case(["a", "b"], "done"),
    53: Case(["a", Incomplete()], "incomplete", comments=2),
    # Shapes of chunks
    55: Case(
        [{"usage": {"total_tokens": 5}}, {"usage": {"total_tokens": 5}}, Incomplete()],
        "incomplete",
        usage={"total_tokens": 5},
        repaired=1,
    ),
    56: Case([STOP, delta()], "finished", {0: "stop"}, repaired=1),
    57: Case(
        [delta(content=[{"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]}]), "a", Incomplete()],
        "incomplete",
    ),
    59: Case(
        [{"object": "chat.completion.chunk", **delta(content="a")}, {"id": "c", **delta(content="b")}, Incomplete()],
        "incomplete",
    ),
    62: Case(
        [
            delta(role="", content="a"),
            delta(role="assistant", content="b"),
            delta(role="assistant", content="c"),
            Incomplete(),
        ],
        "incomplete",
    ),
    63: Case(
        [{"usage": {}}, {"usage": {"completion_tokens": 2}}, Incomplete()], "incomplete", usage={"completion_tokens": 2}
    ),
    64: Case(
        [
            {**delta(content="a"), "usage": {"completion_tokens": 1, "total_tokens": 4}},
            {**delta(content="b"), "usage": {"completion_tokens": 2, "total_tokens": 5}},
        ],
        "done",
        usage={"completion_tokens": 2, "total_tokens": 5},
    ),
    65: Case(
        [{"choices": [{"delta": {}, "finish_reason": "stop"}]}],
        "finished",
        {0: "stop"},
        {"total_tokens": 5},
    ),
    67: Case([delta(reasoning="r", reasoning_content="r"), delta(reasoning_content="s"), Incomplete()], "incomplete"),
    68: Case(["<think>hm</think>a", Incomplete()], "incomplete"),
    70: Case(["x\ufffd", "\ufffdy", Incomplete()], "incomplete", repaired=2),
    71: Case(["a\ufffd\ufffd", "b", Incomplete()], "incomplete", repaired=1),
    # Tool calls, in the pieces that were sent
    75: Case(
        [
            tool_calls(call("{}", name="f", id="c1", type="function")),
            tool_calls(call("{}", name="g", id="c2", type="function")),
            Incomplete(),
        ],
        "incomplete",
    ),
    77: Case(
        [
            tool_calls(call(name="f", index=0, id="c1"), call('{"p"', index=0)),
            tool_calls(call(":1}", index=0)),
            Incomplete(),
        ],
        "incomplete",
    ),
    79: Case(
        [
            tool_calls(call("{", name="f", index=0, id="c1")),
            tool_calls(call("}", name="f", index=0, id="c1")),
            Incomplete(),
        ],
        "incomplete",
    ),
    80: Case(
        [
            tool_calls(call("", name="f", index=0, id="c1")),
            tool_calls(call("{", name="", index=0, id="")),
            tool_calls(call("}", index=0)),
            tool_calls({"index": 0}),
            Incomplete(),
        ],
        "incomplete",
    ),
    83: Case([tool_calls(call({"x": 1}, name="f", index=0, id="c1")), Incomplete()], "incomplete"),
    84: Case(
        [
            tool_calls(call("", name="get_", index=0, id="c1")),
            tool_calls(call("{}", name="weather", index=0)),
            Incomplete(),
        ],
        "incomplete",
    ),
}


def test_every_fault_is_there() -> None:
    assert list(FAULTS) == list(RIGHT)
    assert len(RIGHT) == 57


@pytest.mark.parametrize("number", RIGHT, ids=[f"{number} {fault.kind}" for number, fault in FAULTS.items()])
def test_outcome(number: int, run: Run) -> None:
    _, body, reads = FAULTS[number]
    check(RIGHT[number], reads, run)
    check_cuts(RIGHT[number], body, run)


# What some of the reports are about beside that


def test_8_a_bare_done_is_not_the_sentinel() -> None:
    items, stream = with_stream([FAULTS[8].body.replace(b"[DONE]", b"DONE")])
    assert list(map(plain, items)) == ["a", Undecodable(b" DONE "), Incomplete()]
    assert stream.state == "incomplete"


def test_10_the_sentinel_needs_no_blank_line_either() -> None:
    items, stream = with_stream([FAULTS[10].body + b"\n\ndata: [DONE]"])
    assert list(map(plain, items)) == ["a", STOP]
    assert stream.state == "done"


@pytest.mark.parametrize("content_type", [None, "application/json", "TEXT/Event-Stream; charset=UTF-8", "text/plain"])
def test_27_no_content_type_is_asked_for(content_type: str | None) -> None:
    headers = {} if content_type is None else {"Content-Type": content_type}
    assert list(map(plain, ChatStream(Response(FAULTS[27].body, headers=headers)))) == ["a"]


def test_44_an_error_of_the_client_passes_through_behind_what_came() -> None:
    reset = OSError("reset")
    stream = ChatStream(Reads(*FAULTS[44].reads, reset))
    assert plain(next(stream)) == "a"
    with pytest.raises(OSError, match="reset") as caught:
        next(stream)
    assert caught.value is reset
    assert stream.state == "incomplete"


@pytest.mark.parametrize("number", [49, 50])
def test_behind_the_sentinel_nothing_is_asked_for_and_the_source_is_closed_once(number: int, run: Run) -> None:
    source = Reads(FAULTS[number].body, AssertionError("read on"))
    assert list(map(plain, ChatStream(source))) == ["a"]
    assert (source.asked, source.closed) == (1, 1)

    async def read() -> tuple[int, int]:
        source = AsyncReads(FAULTS[number].body, AssertionError("read on"))
        assert [plain(chunk) async for chunk in AsyncChatStream(source)] == ["a"]
        return source.asked, source.closed

    assert run(read()) == (1, 1)


def test_52_a_stream_is_an_iterator_and_a_context_manager_with_a_close() -> None:
    source = Reads(FAULTS[52].body)
    with ChatStream(source) as stream:
        assert plain(next(stream)) == "a"
    assert (stream.state, source.closed) == ("closed", 1)
    source = Reads(FAULTS[52].body)
    stream = ChatStream(source)
    assert plain(next(stream)) == "a"
    stream.close()
    assert (stream.state, source.closed) == ("closed", 1)


def test_52_an_asynchronous_stream_may_be_closed_from_another_task(run: Run) -> None:
    async def read() -> tuple[str, int]:
        source = AsyncReads(FAULTS[52].body)
        async with AsyncChatStream(source) as stream:
            assert plain(await anext(stream)) == "a"
            await asyncio.create_task(stream.aclose())
        return stream.state, source.closed

    assert run(read()) == ("closed", 1)


def test_53_bytes_comments_and_events_are_counted_apart() -> None:
    first, keep_alive = FAULTS[53].body[:57], FAULTS[53].body[57:]
    stream = ChatStream([first, keep_alive])
    next(stream)
    assert (stream.stats.bytes, stream.stats.events, stream.stats.comments) == (57, 1, 0)
    with_errors(stream)
    assert (stream.stats.bytes, stream.stats.events, stream.stats.comments) == (83, 1, 2)


def test_57_text_and_reasoning_of_typed_parts() -> None:
    chunks = with_stream([FAULTS[57].body]).items[:2]
    assert [chunk.text for chunk in chunks] == ["", "a"]
    assert [chunk.reasoning for chunk in chunks] == ["hm", ""]
    assert with_errors(ChatStream([FAULTS[57].body]).iter_text())[0] == "a"


def test_65_usage_is_found_in_both_places() -> None:
    """The built-in chunk leaves out what costs time on every stream; `usage` looks there, and a dict has all."""
    stream = ChatStream([FAULTS[65].body])
    ((payload, chunk),) = stream.iter_with_payload()
    assert stream.usage is not None
    assert stream.usage.total_tokens == 5
    for whole in (json.loads(payload), *ChatStream([FAULTS[65].body], type=dict)):
        assert whole["choices"][0]["usage"] == {"total_tokens": 5}
        assert whole["x_groq"] == {"id": "r", "usage": {"total_tokens": 5, "queue_time": 0.1}}
    assert msgspec.to_builtins(chunk) == {"choices": [{"delta": {}, "finish_reason": "stop"}]}


def test_67_reasoning_that_is_sent_twice_is_read_once() -> None:
    chunks = with_stream([FAULTS[67].body]).items[:2]
    assert [chunk.reasoning for chunk in chunks] == ["r", "s"]


def test_75_an_absent_index_is_told_apart_from_zero() -> None:
    chunks = with_stream([FAULTS[75].body]).items[:2]
    assert [chunk.choices[0].delta.tool_calls[0].index for chunk in chunks] == [None, None]
