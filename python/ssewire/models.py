"""The chunk of a chat-completion stream as msgspec Structs, named as in the OpenAI SDK.

Lenient: every member may be absent, those that servers send as null may be null, unknown members are ignored, and
texts that the documents close (`finish_reason`, `role`, `object`) are open here, since servers send others. Members are
few on purpose: each costs time on every chunk. `gc=False` spares the collector all of them, and none of these can hold
a cycle of its own.

Members are of plain types, without a `Meta` that limits them and without code that runs when they are made: so a text
is as good as any other, and what is known of one chunk holds for the next (`rust/python/src/plan.rs`).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeAlias

from msgspec import Struct, field

Number: TypeAlias = int | float
"""A count or a time; some servers send fractions."""


class CompletionUsage(Struct, gc=False, omit_defaults=True):
    """What the request cost, in tokens."""

    prompt_tokens: Number | None = None
    completion_tokens: Number | None = None
    total_tokens: Number | None = None
    prompt_tokens_details: dict[str, Any] | None = None
    completion_tokens_details: dict[str, Any] | None = None


class ChoiceDeltaToolCallFunction(Struct, gc=False, omit_defaults=True):
    """A piece of a function call; pieces of `arguments` join to JSON text."""

    name: str | None = None
    arguments: str | dict[str, Any] | None = None


class ChoiceDeltaToolCall(Struct, gc=False, omit_defaults=True):
    """A piece of a tool call; `index` says which call it belongs to."""

    index: int | None = None
    id: str | None = None
    function: ChoiceDeltaToolCallFunction | None = None
    type: str | None = None


class ChoiceDelta(Struct, gc=False, omit_defaults=True):
    """What a chunk adds to a choice's message."""

    role: str | None = None
    content: str | list[Any] | None = None
    """Text; some servers send a list of typed parts."""
    reasoning_content: str | None = None
    reasoning: str | None = None
    tool_calls: list[ChoiceDeltaToolCall] | None = None
    refusal: str | None = None
    reasoning_details: list[Any] | None = None
    function_call: ChoiceDeltaToolCallFunction | None = None
    annotations: list[Any] | None = None
    audio: dict[str, Any] | None = None
    images: list[Any] | None = None


class ChunkChoice(Struct, gc=False, omit_defaults=True):
    """One choice's part of a chunk."""

    index: int = 0
    delta: ChoiceDelta = field(default_factory=ChoiceDelta)
    finish_reason: str | None = None
    logprobs: dict[str, Any] | None = None


class ChatCompletionChunk(Struct, gc=False, omit_defaults=True):
    """One event of a chat-completion stream."""

    id: str | None = None
    object: str | None = None
    created: Number | None = None
    model: str | None = None
    choices: list[ChunkChoice] = []
    usage: CompletionUsage | None = None
    system_fingerprint: str | None = None
    service_tier: str | None = None

    @property
    def text(self) -> str:
        """The text of all choices; "" when there is none. Of typed parts, those of the type `text`."""
        choices = self.choices
        if len(choices) == 1 and isinstance(content := choices[0].delta.content, str):
            return content
        return "".join(content_text(choice.delta.content) for choice in choices)

    @property
    def reasoning(self) -> str:
        """The reasoning text of all choices; "" when there is none.

        It stands in `reasoning_content`, in `reasoning`, in `reasoning_details` or in typed parts of the content.
        Servers that send several of these send the same text in each, so the first that has any counts.
        """
        return "".join(_reasoning(choice.delta) for choice in self.choices)


def content_text(content: str | list[Any] | None) -> str:
    """The text in a delta's content; of typed parts, those of the type `text` or `output_text`."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    return "".join(_strings(content, {"text", "output_text"}, "text"))


def _reasoning(delta: ChoiceDelta) -> str:
    if text := delta.reasoning_content or delta.reasoning:
        return text
    if delta.reasoning_details:
        details = _strings(delta.reasoning_details, {"reasoning.text", "reasoning.summary"}, "text", "summary")
        if text := "".join(details):
            return text
    if isinstance(delta.content, list):
        return "".join(
            _strings(delta.content, {"thinking", "reasoning", "reasoning_text"}, "thinking", "text", "summary")
        )
    return ""


def _strings(parts: Iterable[object], types: set[str], *keys: str) -> Iterable[str]:
    """The texts under the first of `keys` in each part of one of the types; nested parts count one level deep."""
    for part in parts:
        if isinstance(part, str) and "text" in types:
            yield part
        # Anything may stand there, also what has no hash. A part that does not say what it is holds text.
        if not isinstance(part, dict) or not isinstance(kind := part.get("type") or "text", str) or kind not in types:
            continue
        value = next((part[key] for key in keys if part.get(key)), None)
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            yield from (item["text"] for item in value if isinstance(item, dict) and isinstance(item.get("text"), str))
