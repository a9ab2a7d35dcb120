"""Real streams break the documents: where, in small chunks of the same shape, and that the default type reads them.

The chunks are ours, their members those that services were seen to send. Chutes' are after the public source of its
engine and after single chunks that users showed, since no stream of it is recorded anywhere.
"""

from __future__ import annotations

from typing import Any

import pytest

from ssewire import CENTML, CHUTES, NSCALE, ChatStream, DecodeError, IncompleteStreamError, Provider
from tests.strict.checking import DONE, encoded
from tests.strict.schemas import DOCUMENTED

ROLE = "Expected `str`, got `null` - at `$.choices[0].delta.role`"
COUNTS = {"prompt_tokens": 4, "completion_tokens": 2, "total_tokens": 6}
VALIDATORS = {documented.provider: documented.validator for documented in DOCUMENTED}


def chunk(*choices: dict[str, Any], created: int = 1_750_464_000, **members: Any) -> dict[str, Any]:
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": created, "model": "m"}
    return {**head, "choices": list(choices), **members}


def choice(delta: dict[str, Any], finish_reason: str | None = None, **members: Any) -> dict[str, Any]:
    return {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason, **members}


def body_of(chunks: list[dict[str, Any]]) -> bytes:
    return b"".join(b"data: " + encoded(value) + b"\n\n" for value in chunks)


def reasons(provider: Provider[Any], chunks: list[dict[str, Any]], end: bytes = DONE) -> dict[int, str]:
    """The reasons by the number of the event that the provider's type refuses, which are those the schema refuses."""
    stream = ChatStream(body_of(chunks) + end, type=provider.chunk_type)
    refused: dict[int, str] = {}
    accepted = 0
    while True:
        try:
            for item in stream:
                assert type(item) is provider.chunk_type
                accepted += 1
        except DecodeError as error:
            refused[error.event_number] = error.reason
        except IncompleteStreamError:
            assert not end
        else:
            break
    assert accepted + len(refused) == len(chunks)
    validator = VALIDATORS[provider]
    assert list(refused) == [number for number, value in enumerate(chunks, 1) if not validator.is_valid(value)]
    return refused


def read(chunks: list[dict[str, Any]], end: bytes = DONE) -> ChatStream[Any]:
    """The stream, read to its end with the default type: a chunk for each event."""
    stream = ChatStream(body_of(chunks) + end)
    assert len(list(stream)) == len(chunks)
    return stream


def text_of(chunks: list[dict[str, Any]], end: bytes = DONE) -> str:
    return "".join(ChatStream(body_of(chunks) + end).iter_text())


NSCALE_CHUNKS = [
    chunk(choice({"role": "assistant", "content": ""}), usage=None),
    chunk(choice({"role": None, "content": "Blue"}), usage=None),
    chunk(choice({"role": None, "content": " sky"}), usage=None),
    chunk(choice({"role": None, "content": ""}, "stop"), usage=None),
    chunk(usage=COUNTS),
]


def test_nscale_sends_a_null_role() -> None:
    assert reasons(NSCALE, NSCALE_CHUNKS, end=b"") == {2: ROLE, 3: ROLE, 4: ROLE}
    assert reasons(NSCALE, NSCALE_CHUNKS) == {2: ROLE, 3: ROLE, 4: ROLE}
    assert text_of(NSCALE_CHUNKS, end=b"") == "Blue sky"


def test_nscale_sends_no_sentinel() -> None:
    stream = read(NSCALE_CHUNKS, end=b"")
    assert (stream.state, stream.finish_reasons) == ("finished", {0: "stop"})
    assert stream.usage is not None
    assert stream.usage.total_tokens == 6
    # Not a question of the chunk type: no chunk is wrong here, and still the end is not what the document says.
    valid = body_of([NSCALE_CHUNKS[0], chunk(choice({"content": "Blue"}, "stop"))])
    assert len(list(ChatStream(valid, type=NSCALE.chunk_type))) == 2
    with pytest.raises(IncompleteStreamError, match=r"without \[DONE\]"):
        list(ChatStream(valid, type=NSCALE.chunk_type, require_done=True))


def test_a_finish_reason_that_was_refused_finishes_nothing() -> None:
    """Read strictly, Nscale's streams are incomplete: the type refuses the chunk that would finish them."""
    stream = ChatStream(body_of(NSCALE_CHUNKS), type=NSCALE.chunk_type)
    ends = []
    for _ in range(4):
        with pytest.raises((DecodeError, IncompleteStreamError)) as caught:
            list(stream)
        ends.append(type(caught.value))
    assert ends == [DecodeError] * 3 + [IncompleteStreamError]
    assert (stream.state, stream.finish_reasons) == ("incomplete", {})


def test_what_is_valid_alone() -> None:
    stream = ChatStream(body_of(NSCALE_CHUNKS) + DONE, type=NSCALE.chunk_type, on_decode_error="skip")
    assert [chunk.text for chunk in stream] == ["", ""]
    assert (stream.state, stream.stats.decode_errors, stream.stats.repaired) == ("done", 3, 0)


CENTML_CHUNKS = [
    chunk(choice({"role": "assistant", "content": ""})),
    chunk(choice({"content": "Blue"})),
    chunk(choice({"content": " sky"}, "length", stop_reason=None)),
]


def test_centml_sends_more_than_it_says() -> None:
    assert reasons(CENTML, CENTML_CHUNKS) == {}
    assert text_of(CENTML_CHUNKS) == "Blue sky"
    assert read(CENTML_CHUNKS).finish_reasons == {0: "length"}


def sglang(
    delta: dict[str, Any], finish_reason: str | None = None, *, at: int = 0, stop: int | None = None
) -> dict[str, Any]:
    """Every member written out, null where there is nothing; `created` is the time of the chunk."""
    nulls = dict.fromkeys(("role", "content", "reasoning_content", "tool_calls"))
    only = choice({**nulls, **delta}, finish_reason, matched_stop=stop)
    return chunk(only, created=1_750_464_000 + at, usage=None, chutes_verification="0f" * 16)


CHUTES_CHUNKS = [
    sglang({"role": "assistant", "content": ""}),
    sglang({"content": "Blue"}, at=1),
    sglang({}, "stop", at=2, stop=2),
    chunk(created=1_750_464_002, usage={**COUNTS, "prompt_tokens_details": {"cached_tokens": 1}}),
]


def test_chutes_writes_null_members_out() -> None:
    calls = "Expected `array`, got `null` - at `$.choices[0].delta.tool_calls`"
    # Of two faults in a chunk the one that stands first is named.
    assert reasons(CHUTES, CHUTES_CHUNKS) == {1: calls, 2: ROLE, 3: ROLE}
    assert text_of(CHUTES_CHUNKS) == "Blue"
    stream = read(CHUTES_CHUNKS)
    assert stream.finish_reasons == {0: "stop"}
    assert stream.usage is not None
    assert stream.usage.prompt_tokens_details == {"cached_tokens": 1}


def test_chutes_cuts_tool_calls_into_pieces_with_null_members() -> None:
    def piece(index: int, function: dict[str, Any], **members: Any) -> dict[str, Any]:
        call = {"index": index, **members, "type": "function", "function": function}
        return chunk(choice({"tool_calls": [call]}))

    chunks = [
        piece(0, {"name": "sky", "arguments": ""}, id="call_1"),
        piece(0, {"name": None, "arguments": "{}"}),
        piece(0, {"name": None, "arguments": ""}, id=None),
        chunk(choice({}, "tool_calls")),
    ]
    call = "$.choices[0].delta.tool_calls[0]"
    assert reasons(CHUTES, chunks) == {
        2: f"Expected `str`, got `null` - at `{call}.function.name`",
        3: f"Expected `str`, got `null` - at `{call}.id`",
    }
    assert reasons(NSCALE, chunks) == {}
    assert read(chunks).finish_reasons == {0: "tool_calls"}


@pytest.mark.parametrize("finish_reason", ["content_filter", "function_call", "abort"])
def test_chutes_engine_knows_more_finish_reasons(finish_reason: str) -> None:
    chunks = [chunk(choice({"role": "assistant", "content": "Blue"})), chunk(choice({}, finish_reason))]
    why = f"Invalid enum value '{finish_reason}' - at `$.choices[0].finish_reason`"
    assert reasons(CHUTES, chunks) == {2: why}
    assert read(chunks).finish_reasons == {0: finish_reason}


def test_a_moving_created_is_not_seen() -> None:
    """That all chunks have the same id and time stands in the documents' prose, and concerns no single chunk."""
    head = {"role": "assistant", "content": "Blue"}
    chunks = [chunk(choice(head)), {**chunk(choice({}, "stop"), created=1_750_464_009), "id": "chatcmpl-2"}]
    assert reasons(CHUTES, chunks) == {}


def test_chutes_other_engine_is_valid() -> None:
    """A chunk of vLLM's: reasoning under two names, members without a value left out or not described."""
    reasoning = {"content": None, "reasoning": "Hm", "reasoning_content": "Hm"}
    chunks = [
        chunk(choice({"role": "assistant", "content": ""}, token_ids=None, hidden_states=None), usage=COUNTS),
        chunk(choice(reasoning, token_ids=None, hidden_states=None), usage=COUNTS),
        chunk(choice({"content": "Blue"}, "stop", token_ids=None, hidden_states=None), usage=COUNTS),
    ]
    assert reasons(CHUTES, chunks) == {}
    assert [chunk.reasoning for chunk in ChatStream(body_of(chunks) + DONE)] == ["", "Hm", ""]
