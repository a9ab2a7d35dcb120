"""The examples of the three AsyncAPI documents, each under its own provider; the words and ids are ours."""

from __future__ import annotations

from typing import Any

import pytest

from ssewire import AsyncChatStream, ChatCompletionChunk, ChatStream, Provider
from tests.conftest import Run
from tests.reading import awaited
from tests.strict.checking import body_of, check_accepted, encoded
from tests.strict.schemas import DOCUMENTED, Documented, name_of

MODELS = {
    "Nscale": "meta-llama/Llama-4-Scout-17B-16E-Instruct",
    "CentML": "meta-llama/Llama-4-Maverick-17B-128E-Instruct-FP8",
    "Chutes": "deepseek-ai/DeepSeek-V3-0324",
}
EXAMPLES: dict[str, tuple[dict[str, Any], str | None]] = {
    "openingChunk": ({"role": "assistant", "content": ""}, None),
    "contentChunk": ({"content": "Blue"}, None),
    "finalChunk": ({}, "stop"),
}


def example(provider: Provider[Any], name: str) -> dict[str, Any]:
    """The payload of an example, its members in the document's order; Chutes' have logprobs."""
    delta, finish_reason = EXAMPLES[name]
    logprobs = {"logprobs": None} if provider.name == "Chutes" else {}
    return {
        "id": "chatcmpl-7f3a",
        "object": "chat.completion.chunk",
        "created": 1750464000,
        "model": MODELS[provider.name],
        "choices": [{"index": 0, "delta": delta, **logprobs, "finish_reason": finish_reason}],
    }


every_example = pytest.mark.parametrize("name", EXAMPLES)
every_document = pytest.mark.parametrize("documented", DOCUMENTED, ids=name_of)


@every_document
@every_example
def test_accepted(documented: Documented, name: str) -> None:
    check_accepted(documented, encoded(example(documented.provider, name)))


@every_document
@every_example
def test_accepted_by_an_asynchronous_stream(documented: Documented, name: str, run: Run) -> None:
    check_accepted(documented, encoded(example(documented.provider, name)), run)


@every_document
@pytest.mark.parametrize("strict", [True, False])
def test_as_one_stream(documented: Documented, strict: bool, run: Run) -> None:
    """As the channel describes it: a data line for each chunk, in order, and the sentinel, which is an example too."""
    provider = documented.provider
    chunk_type = provider.chunk_type if strict else ChatCompletionChunk
    body = body_of(encoded(example(provider, name)) for name in EXAMPLES)
    stream = ChatStream(body, type=chunk_type, require_done=True)
    chunks = list(stream)
    assert [type(chunk) for chunk in chunks] == [chunk_type] * 3
    assert [chunk.text for chunk in chunks] == ["", "Blue", ""]
    assert [chunk.choices[0].finish_reason for chunk in chunks] == [None, None, "stop"]
    assert (stream.state, stream.finish_reasons) == ("done", {0: "stop"})

    awaiting = AsyncChatStream(awaited([body]), type=chunk_type, require_done=True)
    assert run(_all(awaiting)) == chunks
    assert awaiting.state == "done"


async def _all(stream: AsyncChatStream[Any]) -> list[Any]:
    return [chunk async for chunk in stream]


@every_document
def test_the_sentinel_is_no_chunk(documented: Documented) -> None:
    stream = ChatStream(b"data: [DONE]\n\n", type=documented.provider.chunk_type, require_done=True)
    assert list(stream) == []
    assert stream.state == "done"
