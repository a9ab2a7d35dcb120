"""Whole answers: every recording of the project's own corpus, and recorded streams of real services, merged.

What the corpus' own say together was known before a byte was written (`Expected.merged`); how chunks merge, member by
member, is told by the slow twin (`tests/merging_oracle.py`), with which every prefix of a stream is compared.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import msgspec
import pytest

from ssewire import (
    CENTML,
    CHUTES,
    NSCALE,
    AsyncChatStream,
    ChatAccumulator,
    ChatCompletion,
    ChatCompletionChunk,
    ChatStream,
    IncompleteStreamError,
    Provider,
    SSEWireError,
    ToolCall,
    ToolCallFunction,
)
from tests import merging_oracle
from tests.conftest import Run
from tests.dialects import Expected, Merged, MergedCall, MergedChoice, Recording, generate
from tests.dialects.answer import Counts
from tests.reading import awaited, pieces, with_errors, with_errors_async
from tests.recorded import recorded

RECORDINGS = list(generate(20260203))

each_recording = pytest.mark.parametrize("recording", [pytest.param(r, id=r.name) for r in RECORDINGS])

BUILT_IN: Final[dict[str, Any]] = {}
DICT: Final[dict[str, Any]] = {"type": dict}

# Recorded streams with no more chunks are compared behind each of them, since the twin starts over each time.
EVERY_PREFIX = 200


def chunks_of(reads: bytes | Sequence[bytes], **options: Any) -> list[Any]:
    """The chunks of a body, whatever errors stand between them."""
    return [item for item in with_errors(ChatStream(reads, **options)) if not isinstance(item, Exception)]


def each_chunk(stream: ChatStream[Any]) -> Iterator[Any]:
    """The same one by one."""
    while True:
        with suppress(SSEWireError):
            if (chunk := next(stream, None)) is None:
                return
            yield chunk


def accumulated(chunks: Iterable[Any]) -> ChatCompletion:
    accumulator = ChatAccumulator()
    for chunk in chunks:
        accumulator.add(chunk)
    return accumulator.completion()


def tree(completion: ChatCompletion) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.to_builtins(completion)
    return found


def merged_call(call: ToolCall) -> MergedCall:
    assert call.type == "function"
    return MergedCall(call.id, call.function.name, call.function.arguments)


def merged_function(function: ToolCallFunction | None) -> MergedCall | None:
    return None if function is None else MergedCall(None, function.name, function.arguments)


def counts(usage: Any) -> Counts | None:
    return None if usage is None else Counts(usage.prompt_tokens, usage.completion_tokens, usage.total_tokens)


def merged(completion: ChatCompletion) -> Merged:
    """A completion in the corpus' terms."""
    choices: dict[int, MergedChoice] = {}
    for choice in completion.choices:
        message = choice.message
        assert message.role == "assistant"
        choices[choice.index] = MergedChoice(
            content=message.content,
            reasoning=message.reasoning,
            refusal=message.refusal,
            calls=tuple(map(merged_call, message.tool_calls)),
            function=merged_function(message.function_call),
            finish_reason=choice.finish_reason,
        )
    return Merged(choices, counts(completion.usage))


def said_first(right: Expected, member: str) -> Any:
    """A time of 0 says nothing, as "" and null do."""
    return next((chunk[member] for chunk in right.chunks if chunk.get(member)), None)


def check(right: Expected, completion: ChatCompletion, usage: Counts | None) -> None:
    found = merged(completion)
    assert found.choices == right.merged.choices
    # The order as well: a dict does not compare it.
    assert list(found.choices) == list(right.merged.choices)
    assert found.usage == usage
    assert completion.object == "chat.completion"
    for member in ("id", "created", "model", "system_fingerprint", "service_tier"):
        assert getattr(completion, member) == said_first(right, member)
    assert completion.text == "".join(choice.content or "" for choice in right.merged.choices.values())
    assert completion.reasoning == "".join(choice.reasoning or "" for choice in right.merged.choices.values())


@each_recording
def test_the_answer(recording: Recording) -> None:
    right = recording.expected
    # A copy that stands elsewhere is not in the built-in chunk, but in the stream's usage.
    on_top = [said.usage for said in right.said if said.usage not in (None, Counts(None, None, None))]
    check(right, accumulated(chunks_of(recording.body)), on_top[-1] if on_top else None)


@each_recording
def test_the_answer_of_dicts(recording: Recording) -> None:
    """Chunks as they were sent have all copies of the usage."""
    right = recording.expected
    check(right, accumulated(chunks_of(recording.body, **DICT)), right.merged.usage)


def check_prefixes(chunks: list[ChatCompletionChunk]) -> None:
    """Behind each chunk what the twin says; and no earlier completion, and no chunk, was changed by a later one."""
    accumulator = ChatAccumulator()
    trees = [msgspec.to_builtins(chunk) for chunk in chunks]
    completions: list[ChatCompletion] = []
    for number, chunk in enumerate(chunks, 1):
        accumulator.add(chunk)
        completions.append(accumulator.completion())
        assert tree(completions[-1]) == merging_oracle.merged(trees[:number])
    assert [msgspec.to_builtins(chunk) for chunk in chunks] == trees
    for number, completion in enumerate(completions, 1):
        assert tree(completion) == merging_oracle.merged(trees[:number])


@each_recording
def test_every_chunk(recording: Recording) -> None:
    check_prefixes(chunks_of(recording.body))


PROVIDERS: Final[dict[str, Provider[Any]]] = {
    "nscale": NSCALE,
    "centml": CENTML,
    "chutes sglang": CHUTES,
    "chutes vllm": CHUTES,
}

DOCUMENTED = [
    (recording, PROVIDERS[dialect])
    for recording in RECORDINGS
    if (dialect := recording.name.partition(":")[0]) in PROVIDERS
]


@pytest.mark.parametrize(("recording", "provider"), [pytest.param(*pair, id=pair[0].name) for pair in DOCUMENTED])
def test_chunks_of_the_documented_type(recording: Recording, provider: Provider[Any]) -> None:
    """As the same payloads merge that were read leniently, in all that the document knows of."""
    stream = ChatStream(recording.body, type=provider.chunk_type)
    pairs = [item for item in with_errors(stream.iter_with_payload()) if isinstance(item, tuple)]
    found = accumulated(chunk for _, chunk in pairs)
    lenient = [msgspec.json.decode(payload, type=ChatCompletionChunk) for payload, _ in pairs]
    for chunk in lenient:
        for choice in chunk.choices:
            choice.delta.reasoning = choice.delta.reasoning_content = None
    assert merged(found) == merged(accumulated(lenient))
    assert (found.id, found.created, found.model) == (
        (lenient[0].id, lenient[0].created or None, lenient[0].model) if lenient else (None, None, None)
    )


def test_documented_types_read_some_answers_whole() -> None:
    """So that the test above does not compare nothing with nothing."""
    whole = [
        recording
        for recording, provider in DOCUMENTED
        if len(chunks_of(recording.body, type=provider.chunk_type)) == len(recording.expected.chunks) > 2
    ]
    assert len(whole) > 30


# Streams that merge by themselves


def check_stream(right: Expected, stream: ChatStream[Any] | AsyncChatStream[Any], found: list[Any]) -> None:
    completion = stream.completion()
    check(right, completion, right.merged.usage)
    # What a reader catches has the answer so far.
    assert all(error.completion == completion for error in found if isinstance(error, IncompleteStreamError))


@each_recording
def test_a_stream_that_accumulates(recording: Recording, run: Run) -> None:
    right = recording.expected
    for options in (BUILT_IN, DICT):
        stream = ChatStream(pieces(recording.body, 7), accumulate=True, **options)
        check_stream(right, stream, with_errors(stream))
        async_stream = AsyncChatStream(awaited([recording.body]), accumulate=True, **options)
        check_stream(right, async_stream, run(with_errors_async(async_stream)))


@each_recording
def test_the_answer_behind_each_chunk(recording: Recording) -> None:
    """As an accumulator has it; of the usage the stream knows more, since it sees the payloads."""
    stream = ChatStream(recording.body, accumulate=True)
    accumulator = ChatAccumulator()
    usages: list[Counts | None] = []
    for chunk in each_chunk(stream):
        accumulator.add(chunk)
        completion = stream.completion()
        usages.append(counts(completion.usage))
        assert {**tree(completion), "usage": None} == {**tree(accumulator.completion()), "usage": None}
    assert usages == recording.expected.usages


# Real services


@pytest.mark.parametrize("path", recorded(only_chats=True))
def test_recorded(path: Path) -> None:
    chunks = chunks_of(path.read_bytes())
    if len(chunks) <= EVERY_PREFIX:
        check_prefixes(chunks)
    else:
        right = merging_oracle.merged(map(msgspec.to_builtins, chunks))
        assert tree(accumulated(chunks)) == right


@pytest.mark.parametrize("path", recorded(only_chats=True))
def test_recorded_text(path: Path) -> None:
    """Nothing that chunks say is lost: by choice, since choices may alternate."""
    chunks = chunks_of(path.read_bytes())
    for choice in accumulated(chunks).choices:
        alone = [
            ChatCompletionChunk(choices=[one]) for chunk in chunks for one in chunk.choices if one.index == choice.index
        ]
        assert (choice.message.content or "") == "".join(chunk.text for chunk in alone)
        assert (choice.message.reasoning or "") == "".join(chunk.reasoning for chunk in alone)
