"""Merging costs what the chunks hold, at any size and depth, and nobody who changes a result changes another."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec
import pytest

from ssewire import (
    ChatAccumulator,
    ChatCompletion,
    ChatCompletionChunk,
    ChatCompletionMessage,
    ChoiceDelta,
    ChoiceDeltaToolCall,
    ChoiceDeltaToolCallFunction,
    ChunkChoice,
    CompletionUsage,
)

MANY: Final = 100_000
FEWER: Final = 20_000


def chunk(delta: ChoiceDelta, **members: Any) -> ChatCompletionChunk:
    return ChatCompletionChunk(choices=[ChunkChoice(delta=delta, **members)])


def tool(index: int | None = 0, id: str | None = None, **function: Any) -> ChoiceDelta:
    return ChoiceDelta(tool_calls=[ChoiceDeltaToolCall(index, id, ChoiceDeltaToolCallFunction(**function))])


Delta = Callable[[str], ChoiceDelta]
Read = Callable[[ChatCompletionMessage], Any]

# How a piece of text is sent, and where it is found in the message.
TEXTS: Final[dict[str, tuple[Delta, Read]]] = {
    "content": (lambda text: ChoiceDelta(content=text), lambda found: found.content),
    "typed parts": (lambda text: ChoiceDelta(content=[{"type": "text", "text": text}]), lambda found: found.content),
    "reasoning": (lambda text: ChoiceDelta(reasoning_content=text), lambda found: found.reasoning),
    "refusal": (lambda text: ChoiceDelta(refusal=text), lambda found: found.refusal),
    "arguments": (lambda text: tool(arguments=text), lambda found: found.tool_calls[0].function.arguments),
    "name": (lambda text: tool(name=text), lambda found: found.tool_calls[0].function.name),
    "name by order": (lambda text: tool(None, name=text), lambda found: found.tool_calls[0].function.name),
    "function call": (
        lambda text: ChoiceDelta(function_call=ChoiceDeltaToolCallFunction("f", text)),
        lambda found: found.function_call.arguments if found.function_call else None,
    ),
    "details": (
        lambda text: ChoiceDelta(reasoning_details=[{"index": 0, "data": text}]),
        lambda found: (found.reasoning_details or [{}])[0]["data"],
    ),
    "audio": (lambda text: ChoiceDelta(audio={"transcript": text}), lambda found: (found.audio or {})["transcript"]),
}


@pytest.mark.parametrize(("delta", "read"), TEXTS.values(), ids=TEXTS)
def test_a_hundred_thousand_pieces(delta: Delta, read: Read) -> None:
    accumulator = ChatAccumulator()
    pieces = [f"é{number}," for number in range(MANY)]
    for piece in pieces:
        accumulator.add(chunk(delta(piece)))
    assert read(accumulator.completion().choices[0].message) == "".join(pieces)


@pytest.mark.parametrize(("delta", "read"), TEXTS.values(), ids=TEXTS)
def test_a_piece_costs_the_same_however_much_there_is(delta: Delta, read: Read) -> None:
    """What is there is not copied for a piece. The least of many is taken, since buffers must grow at times."""
    accumulator = ChatAccumulator()
    for number in range(1000):
        # A name that is repeated whole would not count.
        accumulator.add(chunk(delta(f"{number:04}" + "x" * 996)))
    pieces = [chunk(delta("y")) for _ in range(20)]
    tracemalloc.start()
    try:
        costs = []
        for piece in pieces:
            before = tracemalloc.get_traced_memory()[0]
            tracemalloc.reset_peak()
            accumulator.add(piece)
            costs.append(tracemalloc.get_traced_memory()[1] - before)
    finally:
        tracemalloc.stop()
    assert len(read(accumulator.completion().choices[0].message)) >= 1_000_000
    assert min(costs) < 10_000


def test_a_name_in_many_equal_pieces() -> None:
    """A piece is a repeat only where it is the whole name: here the second one and no other."""
    accumulator = ChatAccumulator()
    for _ in range(MANY):
        accumulator.add(chunk(tool(name="ab")))
        accumulator.add(chunk(tool(name="c")))
    name = accumulator.completion().choices[0].message.tool_calls[0].function.name
    assert name == "abc" * MANY


@pytest.mark.parametrize("index", [10**9, -1, -(2**63), 2**63, 10**4000])
def test_a_far_index_costs_what_a_near_one_does(index: int) -> None:
    accumulator = ChatAccumulator()
    tracemalloc.start()
    try:
        for _ in range(3):
            accumulator.add(
                ChatCompletionChunk(choices=[ChunkChoice(index, tool(index, "c1", name="f", arguments="1"))])
            )
        (choice,) = accumulator.completion().choices
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert choice.index == index
    assert [call.function.arguments for call in choice.message.tool_calls] == ["111"]
    assert peak < 1_000_000


class Compared(int):
    """An index that counts how often one is compared with another."""

    count = 0

    def __eq__(self, other: object) -> bool:
        Compared.count += 1
        return int(self) == other

    def __hash__(self) -> int:
        return hash(int(self))


def test_indexes_of_one_hash_are_not_compared_with_each_other() -> None:
    """All multiples of this have the hash 0, and a dict with them as keys would be as slow as a list."""
    indexes = [Compared(number * (2**61 - 1)) for number in range(10, 1010)]
    assert {hash(index) for index in indexes} == {0}
    accumulator = ChatAccumulator()
    Compared.count = 0
    for index in [*reversed(indexes), *indexes]:
        accumulator.add(ChatCompletionChunk(choices=[ChunkChoice(index), ChunkChoice(7, tool(index, arguments="1"))]))
    assert Compared.count < 1000
    first, *others = accumulator.completion().choices
    assert [call.function.arguments for call in first.message.tool_calls] == ["11"] * 1000
    assert [choice.index for choice in others] == indexes


def test_a_hundred_thousand_calls_in_a_hostile_order() -> None:
    accumulator = ChatAccumulator()
    for number in reversed(range(MANY)):
        accumulator.add(chunk(tool(number % 7, f"c{number}", name="f", arguments="1")))
    for number in range(MANY):
        accumulator.add(chunk(tool(None, f"c{number}", arguments="2")))
    calls = accumulator.completion().choices[0].message.tool_calls
    assert len(calls) == MANY
    assert {call.function.arguments for call in calls} == {"12"}
    assert [call.id for call in calls[:2]] == [f"c{MANY - 1 - (MANY - 1) % 7}", f"c{MANY - 8 - (MANY - 1) % 7}"]


def test_many_choices_and_details() -> None:
    """Early TGI counts tokens in the index of the choice."""
    accumulator = ChatAccumulator()
    for number in range(FEWER):
        delta = ChoiceDelta(reasoning_details=[{"index": number, "id": str(number), "text": "a"}], content="b")
        accumulator.add(ChatCompletionChunk(choices=[ChunkChoice(number, delta), ChunkChoice(0, delta)]))
    answer = accumulator.completion()
    assert len(answer.choices) == FEWER
    assert len(answer.choices[0].message.reasoning_details or []) == FEWER
    assert len(answer.text) == 2 * FEWER


def nested(levels: int) -> Any:
    tree: Any = "bottom"
    for level in range(levels):
        tree = {"a": tree} if level % 2 else [tree]
    return tree


def levels_of(tree: Any) -> int:
    levels = 0
    while tree != "bottom":
        tree = tree["a"] if isinstance(tree, dict) else tree[0]
        levels += 1
    return levels


DEEP: Final[dict[str, tuple[Callable[[Any], ChatCompletionChunk], Callable[[ChatCompletion], Any]]]] = {
    "logprobs": (
        lambda tree: chunk(ChoiceDelta(), logprobs={"content": tree}),
        lambda answer: (answer.choices[0].logprobs or {})["content"],
    ),
    "details": (
        lambda tree: chunk(ChoiceDelta(reasoning_details=[{"x": tree}])),
        lambda answer: (answer.choices[0].message.reasoning_details or [])[0]["x"],
    ),
    "annotations": (
        lambda tree: chunk(ChoiceDelta(annotations=[tree])),
        lambda answer: (answer.choices[0].message.annotations or [])[0],
    ),
    "images": (
        lambda tree: chunk(ChoiceDelta(images=[tree])),
        lambda answer: (answer.choices[0].message.images or [])[0],
    ),
    "audio": (
        lambda tree: chunk(ChoiceDelta(audio={"x": tree})),
        lambda answer: (answer.choices[0].message.audio or {})["x"],
    ),
    "usage": (
        lambda tree: ChatCompletionChunk(usage=CompletionUsage(1, prompt_tokens_details={"x": tree})),
        lambda answer: ((answer.usage and answer.usage.prompt_tokens_details) or {})["x"],
    ),
}


@pytest.mark.parametrize("levels", [*range(930, 1000, 7), 20_000])
@pytest.mark.parametrize(("make", "read"), DEEP.values(), ids=DEEP)
def test_members_as_deep_as_they_come(
    make: Callable[[Any], ChatCompletionChunk], read: Callable[[ChatCompletion], Any], levels: int
) -> None:
    accumulator = ChatAccumulator()
    accumulator.add(make(nested(levels)))
    assert levels_of(read(accumulator.completion())) == levels
    assert levels_of(read(accumulator.completion())) == levels


@pytest.mark.parametrize("levels", [*range(930, 1000, 7), 20_000])
def test_deep_arguments_are_written(levels: int) -> None:
    accumulator = ChatAccumulator()
    accumulator.add(chunk(tool(arguments={"a": nested(levels), "é": [True, None, 1.5, "\ud83d"]})))
    text = accumulator.completion().choices[0].message.tool_calls[0].function.arguments
    # An even number of levels ends outside with an object, an odd one with a list.
    assert text.count('{"a":') == levels // 2 + 1
    assert text.count("[") == (levels + 1) // 2 + 1
    assert text.endswith(',"\\u00e9":[true,null,1.5,"\\ud83d"]}')


@pytest.mark.parametrize("levels", [*range(930, 1000, 7), 20_000])
def test_deep_members_of_a_dict(levels: int) -> None:
    accumulator = ChatAccumulator()
    accumulator.add({"choices": [{"delta": {"content": "a"}, "logprobs": {"content": nested(levels)}}], "x": nested(9)})
    (choice,) = accumulator.completion().choices
    assert choice.message.content == "a"
    assert levels_of((choice.logprobs or {})["content"]) == levels


def test_a_tree_that_contains_itself_ends_there() -> None:
    tree: dict[str, Any] = {"a": 1}
    tree["self"] = [tree]
    accumulator = ChatAccumulator()
    accumulator.add(chunk(tool(arguments=tree), logprobs=tree))
    (choice,) = accumulator.completion().choices
    assert choice.logprobs == {"a": 1, "self": [None]}
    assert choice.message.tool_calls[0].function.arguments == '{"a":1,"self":[null]}'


@pytest.mark.parametrize(
    ("arguments", "right"),
    [
        ({"a": 10**30, "b": -0.5, "c": {}}, '{"a":1000000000000000000000000000000,"b":-0.5,"c":{}}'),
        ({"a": 10**5000, "b": {}, "c": []}, '{"a":null,"b":{},"c":[]}'),
        ({"a": object(), "b": [(1, 2), ChunkChoice]}, '{"a":null,"b":[[1,2],null]}'),
        ({"a": CompletionUsage(1), None: msgspec.UNSET, 5: "\ud83d"}, None),
    ],
)
def test_arguments_that_are_no_json_are_written_all_the_same(arguments: Any, right: str | None) -> None:
    accumulator = ChatAccumulator()
    accumulator.add(chunk(tool(arguments=arguments)))
    text = accumulator.completion().choices[0].message.tool_calls[0].function.arguments
    assert text == right if right else json.loads(text)["5"] == "\ud83d"


EVERYTHING: Final = {
    "id": "i",
    "created": 1,
    "model": "m",
    "usage": {
        "total_tokens": 1,
        "prompt_tokens_details": {"a": [{"b": 1}]},
        "completion_tokens_details": {"a": [{"b": 1}]},
    },
    "choices": [
        {
            "index": index,
            "finish_reason": "stop",
            "logprobs": {"content": [{"token": "a", "top": [{"b": [1]}]}], "x": {"y": [1]}},
            "delta": {
                "role": "assistant",
                "content": [{"type": "text", "text": "a"}],
                "refusal": "r",
                "reasoning": "t",
                "reasoning_details": [{"type": "t", "index": 0, "text": "t", "x": {"y": [1]}}, ["z"]],
                "tool_calls": [{"index": 0, "id": "c", "function": {"name": "f", "arguments": {"x": [1]}}}],
                "function_call": {"name": "f", "arguments": "1"},
                "annotations": [{"a": [1]}],
                "audio": {"id": "a", "data": "YQ==", "x": {"y": [1]}},
                "images": [{"a": [1]}],
            },
        }
        for index in range(2)
    ],
}


def mutable(value: Any) -> Iterator[Any]:
    """The dicts, lists and Structs in a value, itself included."""
    todo = [value]
    while todo:
        value = todo.pop()
        if isinstance(value, (dict, list, msgspec.Struct)):
            yield value
            inner = value if isinstance(value, (dict, list)) else msgspec.structs.asdict(value)
            todo += inner.values() if isinstance(inner, dict) else inner


def spoil(value: Any) -> None:
    """Change all of it that can be changed."""
    for item in list(mutable(value)):
        if isinstance(item, msgspec.Struct):
            for name in item.__struct_fields__:
                setattr(item, name, "spoilt")
        else:
            item.clear()


def everything() -> list[Any]:
    sent = msgspec.json.encode(EVERYTHING)
    # As a dict too, which takes another way.
    kinds: list[Any] = [ChatCompletionChunk, ChatCompletionChunk, dict, ChatCompletionChunk]
    return [msgspec.json.decode(sent, type=kind) for kind in kinds]


def test_results_share_nothing() -> None:
    accumulator = ChatAccumulator()
    chunks = everything()
    results = []
    for sent in chunks:
        accumulator.add(sent)
        results += [accumulator.completion(), accumulator.completion()]
    seen: set[int] = set()
    for value in [*chunks, *results]:
        ids = {id(item) for item in mutable(value)}
        assert seen.isdisjoint(ids)
        seen |= ids


def test_earlier_results_never_change() -> None:
    accumulator = ChatAccumulator()
    results = []
    for sent in everything():
        accumulator.add(sent)
        result = accumulator.completion()
        results.append((result, msgspec.json.encode(result)))
    assert len({encoded for _, encoded in results}) == len(results)
    assert [msgspec.json.encode(result) for result, _ in results] == [encoded for _, encoded in results]


def test_spoilt_chunks_and_results_spoil_nothing() -> None:
    plain, spoilt = ChatAccumulator(), ChatAccumulator()
    for one, other in zip(everything(), everything(), strict=True):
        plain.add(one)
        spoilt.add(other)
        spoil(other)
        right = plain.completion()
        result = spoilt.completion()
        assert result == right
        spoil(result)


def test_a_usage_from_elsewhere_is_not_shared_either() -> None:
    accumulator = ChatAccumulator()
    usage = CompletionUsage(1, prompt_tokens_details={"a": [1]})
    accumulator.add(ChatCompletionChunk(), usage)
    spoil(accumulator.completion())
    spoil(usage)
    assert accumulator.completion().usage == CompletionUsage(1, prompt_tokens_details={"a": [1]})


def test_a_usage_from_elsewhere_is_copied_once() -> None:
    """It comes with every chunk behind it; see `rust/python/src/chat.rs`."""
    usage = CompletionUsage(
        total_tokens=1, prompt_tokens_details={f"count {number}": number for number in range(10_000)}
    )
    accumulator = ChatAccumulator()
    accumulator.add(ChatCompletionChunk(), usage)
    tracemalloc.start()
    try:
        accumulator.add(ChatCompletionChunk(), usage)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert accumulator.completion().usage == usage
    # A copy takes more than twice that; what else the process does meanwhile is counted, too.
    assert peak < 100_000
