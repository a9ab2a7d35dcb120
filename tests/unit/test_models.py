"""The chunk's models: text and reasoning of every shape, never twice; lenient members; plain values."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import msgspec
import pytest

from ssewire import (
    ChatCompletionChunk,
    ChoiceDelta,
    ChoiceDeltaToolCall,
    ChoiceDeltaToolCallFunction,
    ChunkChoice,
    ChunkDecoder,
    CompletionUsage,
)
from tests.unit.making import sse

MODELS = [
    ChatCompletionChunk,
    ChunkChoice,
    ChoiceDelta,
    ChoiceDeltaToolCall,
    ChoiceDeltaToolCallFunction,
    CompletionUsage,
]


def decode(chunk: object) -> ChatCompletionChunk:
    return next(ChunkDecoder().feed(sse(chunk)))


def of_delta(delta: object) -> ChatCompletionChunk:
    return decode({"choices": [{"delta": delta}]})


@pytest.mark.parametrize(
    ("delta", "text"),
    [
        ({}, ""),
        ({"content": None}, ""),
        ({"content": ""}, ""),
        ({"content": "Hi \n ö 🎉"}, "Hi \n ö 🎉"),
        ({"content": []}, ""),
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "ab"),
        ({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "no"}]}]}, ""),
        ({"content": [{"type": "text"}, {"type": "text", "text": None}, {"type": "image"}, {"text": "x"}]}, "x"),
        ({"content": [{"type": None, "text": "a"}, {"type": "image", "text": "no"}, {"type": 5, "text": "no"}]}, "a"),
        ({"content": ["a", 1, None, ["no"], "b"]}, "ab"),
        ({"reasoning_content": "no", "reasoning": "no", "refusal": "no"}, ""),
    ],
)
def test_text_of_every_shape(delta: object, text: str) -> None:
    assert of_delta(delta).text == text


ODD: list[Any] = [None, True, 0, 7, -1.5, "", "text", [], ["text"], [[]], {}, {"text": 1}]


@pytest.mark.parametrize("odd", ODD, ids=repr)
@pytest.mark.parametrize("name", ["type", "text", "thinking", "summary"])
@pytest.mark.parametrize("kind", ["text", "thinking", "reasoning", "reasoning.text", "reasoning.summary"])
def test_parts_may_hold_anything(kind: str, name: str, odd: Any) -> None:
    part = {"type": kind, name: odd}
    parts = [odd, part, {"type": kind, "text": [odd, part]}, {"type": "text", "text": "a"}]
    chunk = of_delta({"content": parts, "reasoning_details": parts})
    assert chunk.text.endswith("a")
    assert isinstance(chunk.reasoning, str)


@pytest.mark.parametrize(
    ("delta", "reasoning"),
    [
        ({}, ""),
        ({"content": "no"}, ""),
        ({"reasoning_content": "a"}, "a"),
        ({"reasoning": "a"}, "a"),
        ({"reasoning_content": None, "reasoning": "a"}, "a"),
        ({"reasoning_content": "", "reasoning": "a"}, "a"),
        (
            {"reasoning_details": [{"type": "reasoning.text", "text": "a"}, {"type": "reasoning.text", "text": "b"}]},
            "ab",
        ),
        ({"reasoning_details": [{"type": "reasoning.summary", "summary": "a"}]}, "a"),
        ({"reasoning_details": [{"type": "reasoning.encrypted", "data": "no"}]}, ""),
        ({"reasoning_details": [None, 1, {"type": "reasoning.text"}, {"type": "reasoning.text", "text": None}]}, ""),
        ({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "a"}]}]}, "a"),
        ({"content": [{"type": "thinking", "thinking": "a"}, {"type": "text", "text": "no"}]}, "a"),
        ({"content": [{"type": "reasoning", "text": "a"}]}, "a"),
        # Never twice: servers that send several of these send the same in each.
        ({"reasoning_content": "a", "reasoning": "a"}, "a"),
        ({"reasoning": "a", "reasoning_details": [{"type": "reasoning.text", "text": "a"}]}, "a"),
        ({"reasoning_content": "a", "content": [{"type": "thinking", "thinking": "a"}]}, "a"),
        (
            {
                "reasoning_details": [{"type": "reasoning.text", "text": "a"}],
                "content": [{"type": "thinking", "thinking": "a"}],
            },
            "a",
        ),
        ({"reasoning_details": [{"type": "reasoning.text", "text": "a", "summary": "a"}]}, "a"),
    ],
)
def test_reasoning_of_every_shape_and_never_twice(delta: object, reasoning: str) -> None:
    assert of_delta(delta).reasoning == reasoning


def test_text_and_reasoning_are_of_all_choices() -> None:
    chunk = decode(
        {
            "choices": [
                {"index": 1, "delta": {"content": "a", "reasoning": "x"}},
                {"index": 0, "delta": {"content": [{"type": "text", "text": "b"}], "reasoning_content": "y"}},
                {"index": 2},
            ]
        }
    )
    assert (chunk.text, chunk.reasoning) == ("ab", "xy")
    assert (ChatCompletionChunk().text, ChatCompletionChunk().reasoning) == ("", "")


def test_every_member_may_be_absent() -> None:
    assert decode({}) == ChatCompletionChunk()
    assert decode({"choices": [{}]}).choices == [ChunkChoice()]
    assert decode({"choices": [{}]}).choices[0].delta == ChoiceDelta()
    delta = of_delta({"tool_calls": [{}, {"function": {}}]}).choices[0].delta
    assert delta.tool_calls == [ChoiceDeltaToolCall(), ChoiceDeltaToolCall(function=ChoiceDeltaToolCallFunction())]
    assert decode({"usage": {}}).usage == CompletionUsage()


def test_optional_members_may_be_null() -> None:
    names = ("id", "object", "created", "model", "usage", "system_fingerprint", "service_tier")
    assert decode(dict.fromkeys(names)) == ChatCompletionChunk()
    assert decode({"choices": [dict.fromkeys(("finish_reason", "logprobs"))]}).choices == [ChunkChoice()]
    assert of_delta(dict.fromkeys(ChoiceDelta.__struct_fields__)).choices[0].delta == ChoiceDelta()
    call = dict.fromkeys(ChoiceDeltaToolCall.__struct_fields__)
    assert of_delta({"tool_calls": [call]}).choices[0].delta.tool_calls == [ChoiceDeltaToolCall()]
    assert decode({"usage": dict.fromkeys(CompletionUsage.__struct_fields__)}).usage == CompletionUsage()


def test_unknown_members_are_ignored() -> None:
    more: dict[str, Any] = {"x": 1, "y": {"z": [None]}, "text": "no", "error": None}
    function = {"name": "f", **more}
    delta = {"content": "a", "tool_calls": [{"index": 0, "function": function, **more}], **more}
    chunk = decode({"choices": [{"delta": delta, **more}], "usage": {"total_tokens": 1, **more}, **more})
    assert chunk == ChatCompletionChunk(
        choices=[
            ChunkChoice(
                delta=ChoiceDelta(
                    content="a",
                    tool_calls=[ChoiceDeltaToolCall(index=0, function=ChoiceDeltaToolCallFunction(name="f"))],
                )
            )
        ],
        usage=CompletionUsage(total_tokens=1),
    )


def test_texts_that_documents_close_are_open_and_numbers_may_be_fractions() -> None:
    chunk = decode(
        {
            "object": "text_completion",
            "created": 1_750_464_000.25,
            "service_tier": "new",
            "choices": [{"finish_reason": "eos", "delta": {"role": "model"}}],
            "usage": {"prompt_tokens": 1.5, "total_tokens": 2**63, "prompt_tokens_details": {"cached_tokens": None}},
        }
    )
    assert (chunk.object, chunk.created, chunk.service_tier) == ("text_completion", 1_750_464_000.25, "new")
    assert (chunk.choices[0].finish_reason, chunk.choices[0].delta.role) == ("eos", "model")
    assert chunk.usage == CompletionUsage(
        prompt_tokens=1.5, total_tokens=2**63, prompt_tokens_details={"cached_tokens": None}
    )


def test_arguments_may_be_an_object() -> None:
    for arguments in ('{"a', {"a": 1}, None):
        delta = of_delta({"tool_calls": [{"function": {"arguments": arguments}}]}).choices[0].delta
        assert delta.tool_calls is not None
        assert delta.tool_calls[0].function == ChoiceDeltaToolCallFunction(arguments=arguments)


def full() -> dict[str, Any]:
    return {
        "id": "c-1",
        "object": "chat.completion.chunk",
        "created": 1_750_464_000,
        "model": "m",
        "choices": [
            {
                "index": 1,
                "delta": {
                    "role": "assistant",
                    "content": "a",
                    "tool_calls": [
                        {"index": 0, "id": "t", "type": "function", "function": {"name": "f", "arguments": "{"}}
                    ],
                },
                "finish_reason": "stop",
                "logprobs": {"content": []},
            }
        ],
        "usage": {"prompt_tokens": 1, "completion_tokens": 2, "total_tokens": 3},
        "system_fingerprint": "fp",
        "service_tier": "default",
    }


def test_a_chunk_goes_round_through_msgspec_pickle_and_copy() -> None:
    chunk = decode(full())
    assert msgspec.to_builtins(chunk) == full()
    assert msgspec.json.decode(msgspec.json.encode(chunk)) == full()
    assert msgspec.json.decode(msgspec.json.encode(chunk), type=ChatCompletionChunk) == chunk
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(chunk), type=ChatCompletionChunk) == chunk
    assert pickle.loads(pickle.dumps(chunk)) == copy.deepcopy(chunk) == copy.copy(chunk) == chunk


def test_chunks_share_no_mutable_member() -> None:
    first, second = decode({}), decode({})
    first.choices.append(ChunkChoice())
    assert second.choices == ChatCompletionChunk().choices == []
    one, other = decode({"choices": [{}]}), decode({"choices": [{}]})
    one.choices[0].delta.content = "a"
    assert other.text == ChatCompletionChunk().text == ""


@pytest.mark.parametrize("model", MODELS)
def test_a_model_is_a_plain_struct_that_the_collector_need_not_see(model: type[msgspec.Struct]) -> None:
    assert model.__struct_config__.gc is False
    value = model()
    assert not hasattr(value, "__dict__")
    with pytest.raises(AttributeError):
        setattr(value, "other", 1)  # noqa: B010 - a name that the type has not
    assert msgspec.to_builtins(model()) in ({}, {"choices": []}, {"delta": {}})
