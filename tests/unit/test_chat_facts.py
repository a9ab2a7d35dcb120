"""What a ChatStream follows, usage and finish reasons, for every type of chunk; what those types may hold; headers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypedDict

import msgspec
import pytest

from ssewire import APIError, AsyncChatStream, ChatCompletionChunk, ChatStream, DecodeError, NotAStreamError
from tests.conftest import Run
from tests.unit.cases import HELLO, STOP
from tests.unit.making import DONE, AsyncResponse, Reads, Response, choice, chunk, sse

USAGE = {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11}


class DeltaStruct(msgspec.Struct):
    content: str | None = None


class ChoiceStruct(msgspec.Struct):
    index: int = 0
    delta: DeltaStruct = msgspec.field(default_factory=DeltaStruct)
    finish_reason: str | None = None


class ChunkStruct(msgspec.Struct):
    choices: list[ChoiceStruct] = []
    usage: dict[str, int] | None = None


class ChunkDict(TypedDict, total=False):
    choices: list[Any]
    usage: dict[str, int] | None


@dataclass
class ChunkDataclass:
    choices: list[ChoiceStruct] | None = None
    usage: dict[str, int] | None = None


TYPES = [ChatCompletionChunk, dict[str, Any], ChunkStruct, ChunkDict, ChunkDataclass, Any]


@pytest.fixture(params=TYPES, ids=["built-in", "dict", "Struct", "TypedDict", "dataclass", "Any"])
def chunk_type(request: pytest.FixtureRequest) -> Any:
    return request.param


def test_chunks_are_of_the_type_asked_for(chunk_type: Any) -> None:
    stream = ChatStream([chunk("Hi"), DONE], type=chunk_type)
    (item,) = stream
    assert isinstance(item, dict if chunk_type in (Any, ChunkDict, dict[str, Any]) else chunk_type)
    assert list(ChatStream([chunk("Hi"), DONE], type=chunk_type).iter_text()) == ["Hi"]


def test_the_last_usage_counts_and_none_wipes_it(chunk_type: Any) -> None:
    first, last = {"total_tokens": 1}, USAGE
    stream = ChatStream(
        [
            chunk("a", usage=None) + chunk("b", usage=first) + chunk("c", usage=None) + chunk("d"),
            sse({"choices": [], "usage": last}) + sse({"choices": [], "usage": {}}) + chunk("e", usage=None),
            DONE,
        ],
        type=chunk_type,
    )
    assert stream.usage is None
    seen = [msgspec.to_builtins(stream.usage) for _ in stream]
    assert seen == [None, first, first, first, last, last, last]


def test_finish_reasons_are_kept_by_choice(chunk_type: Any) -> None:
    stream = ChatStream(
        [
            chunk("a") + chunk("b", index=1) + chunk("c", index=2),
            sse({"choices": [choice("", "length", 1), choice("", "tool_calls", 0)]}),
            sse({"choices": [choice("", "stop", 0), choice("", None, 1), choice("", "", 1), choice("", "stop", 2)]}),
            sse({"choices": [choice("", "content_filter", 1)]}),
        ],
        type=chunk_type,
    )
    assert stream.finish_reasons == {}
    assert len(list(stream)) == 6
    # A later `stop` does not replace `tool_calls`; null and "" wipe nothing; another reason does replace.
    assert stream.finish_reasons == {0: "tool_calls", 1: "content_filter", 2: "stop"}
    assert stream.state == "finished"


def test_what_the_properties_give_is_the_readers_own() -> None:
    stream = ChatStream([STOP, DONE])
    list(stream)
    stream.finish_reasons[0] = "changed"
    assert stream.finish_reasons == {0: "stop"}


def test_the_headers_of_the_response_are_there_all_the_time() -> None:
    sent = {"X-Request-ID": "r-1", "Content-Type": "text/event-stream", "x-ratelimit-remaining-tokens": "7"}
    seen = {name.lower(): value for name, value in sent.items()}
    stream = ChatStream(Response(HELLO, STOP, DONE, headers=sent))
    assert stream.response_headers == seen
    assert [stream.response_headers for _ in stream] == [seen, seen]
    assert (stream.state, stream.response_headers) == ("done", seen)
    stream = ChatStream(Response(HELLO, DONE, headers=sent))
    stream.close()
    assert stream.response_headers == seen
    stream = ChatStream(Response(b"{}", status=429, headers=sent))
    with pytest.raises(APIError) as caught:
        next(stream)
    assert stream.response_headers == caught.value.headers == seen


def test_the_headers_of_an_asynchronous_response(run: Run) -> None:
    async def read() -> None:
        stream = AsyncChatStream(AsyncResponse(HELLO, DONE, headers={"Retry-After": "7"}))
        assert stream.response_headers == {"retry-after": "7"}
        assert [stream.response_headers async for _ in stream] == [{"retry-after": "7"}]
        await stream.aclose()
        assert stream.response_headers == {"retry-after": "7"}

    run(read())


def test_what_is_no_response_has_no_headers() -> None:
    for source in (
        HELLO + DONE,
        [HELLO, DONE],
        iter([HELLO, DONE]),
        (read for read in [HELLO, DONE]),
        Reads(HELLO, DONE),
    ):
        stream = ChatStream(source)
        assert stream.response_headers == {}
        assert [item.text for item in stream] == ["Hello"]
        assert stream.response_headers == {}


@pytest.mark.parametrize(
    "payload",
    [
        {"choices": 5},
        {"choices": "text"},
        {"choices": {"0": {}}},
        {"choices": [None, 1, "x", [], {"index": [1], "delta": 3, "finish_reason": {"a": 1}}, {"index": None}]},
        {"choices": [{"index": "zero", "finish_reason": 7, "delta": {"content": [1]}}], "usage": []},
        {"choices": [{"index": 2**70, "delta": None}], "usage": "none"},
    ],
)
def test_an_untyped_chunk_may_hold_anything_where_choices_should_be(payload: Any) -> None:
    stream = ChatStream([sse(payload), HELLO + DONE], type=dict[str, Any])
    assert list(stream) == [payload, msgspec.json.decode(HELLO[6:])]
    assert list(ChatStream([sse(payload), HELLO + DONE], type=dict[str, Any]).iter_text()) == ["Hello"]


ODD: list[Any] = [None, True, 0, 7, -1.5, 2**70, "", "text", [], [1], [[]], {}, {"a": []}]


@pytest.mark.parametrize("odd", ODD, ids=repr)
def test_an_untyped_chunk_may_hold_anything_anywhere(odd: Any) -> None:
    choices = [
        odd,
        {"index": odd, "delta": odd, "finish_reason": odd},
        {"index": 3, "delta": {"content": odd}, "finish_reason": odd},
    ]
    payloads = [
        odd,
        {"choices": odd, "usage": odd},
        {"choices": choices, "usage": odd},
        {"text": odd, "choices": [odd]},
    ]
    body = b"".join(map(sse, payloads)) + chunk("Hello", "stop", usage=USAGE)
    stream = ChatStream([body], type=Any)
    assert [item for item in stream if isinstance(item, dict)][-4:-1] == payloads[1:]
    assert msgspec.to_builtins(stream.usage) == USAGE
    # What is no text is no reason.
    reasons = {index: odd for index in {odd if type(odd) is int else 0, 3} if isinstance(odd, str) and odd}
    assert stream.finish_reasons == reasons | {0: reasons.get(0, "stop")}
    assert stream.state == ("finished" if isinstance(odd, str) and odd else stream.state)
    assert list(ChatStream([body, DONE], type=Any).iter_text())[-1] == "Hello"


@pytest.mark.parametrize("usage", [7, 1.5, True, "none", [1]])
def test_what_is_no_object_wipes_no_usage(usage: Any) -> None:
    stream = ChatStream([chunk("a", usage=USAGE) + chunk("b", usage=usage) + DONE], type=dict[str, Any])
    assert [item["usage"] for item in stream] == [USAGE, usage]
    assert msgspec.to_builtins(stream.usage) == USAGE


@pytest.mark.parametrize("odd", ODD, ids=repr)
def test_an_error_may_hold_anything(odd: Any) -> None:
    names = ("message", "type", "code", "param")
    errors: list[Any] = [
        {"error": odd},
        *({"error": {name: odd}} for name in names),
        {"error": dict.fromkeys(names, odd)},
    ]
    # Named, the event is one whatever its data; unnamed, where there is something to it.
    bodies = [b"event: error\n" + sse(error) for error in [odd, *errors]] + [sse(error) for error in errors[not odd :]]
    for body in bodies:
        with pytest.raises(APIError) as caught:
            next(ChatStream([body + HELLO + DONE]))
        error = caught.value
        assert isinstance(error.message, str)
        assert error.message in str(error)
        assert all(value is None or isinstance(value, str) for value in (error.type, error.param))
        assert error.code is None or type(error.code) in {str, int}


@pytest.mark.parametrize("odd", ODD, ids=repr)
@pytest.mark.parametrize("status", [200, 400])
def test_a_body_that_is_no_stream_may_hold_anything(odd: Any, status: int) -> None:
    for body in (odd, {"error": odd}, {"detail": odd}, {"choices": odd}, {"error": {"message": odd}, "detail": odd}):
        with pytest.raises((APIError, NotAStreamError)):
            next(ChatStream(Response(msgspec.json.encode(body), status=status)))


@pytest.mark.parametrize("key", [b"x", b"error"])
def test_a_payload_that_is_nested_too_deep_is_a_decode_error(key: bytes) -> None:
    deep = b'{"%b":%b%b}' % (key, b"[" * 100_000, b"]" * 100_000)
    stream = ChatStream([sse(deep) + HELLO + DONE])
    with pytest.raises(DecodeError):
        next(stream)
    assert [chunk.text for chunk in stream] == ["Hello"]


def test_a_type_that_refuses_in_its_own_way_is_a_decode_error() -> None:
    @dataclass
    class Picky:
        id: str

        def __post_init__(self) -> None:
            raise RuntimeError(self.id)

    stream = ChatStream([sse({"id": "no"}) + sse({"id": "error", "x": "error"}) + DONE], type=Picky)
    for _ in range(2):
        with pytest.raises(DecodeError):
            next(stream)
    assert next(stream, None) is None


@pytest.mark.parametrize(("step", "kept"), [(1, 3000), (1 << 16, 1024), (1 << 40, 1024), (1 << 70, 1024)])
def test_few_finish_reasons_are_kept_of_choices_that_are_numbered_oddly(step: int, kept: int) -> None:
    """Numbers of one's own choice can make a dict as slow as a list."""
    stream = ChatStream(chunk("a", "stop", step * number) for number in range(1, 3001))
    assert len(list(stream)) == 3000
    assert len(stream.finish_reasons) == kept


def test_choices_that_are_numbered_oddly_are_merged() -> None:
    stream = ChatStream([*(chunk("a", "stop", 3 << 40 * number) for number in range(100)), DONE], accumulate=True)
    assert len(list(stream)) == 100
    assert [choice.index for choice in stream.completion().choices] == [3 << 40 * number for number in range(100)]
