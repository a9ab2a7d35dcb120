"""`ChatAccumulator`: the chunks of a stream, merged to the whole answer.

"" and null say nothing anywhere. What a message has once (role, id, model) is the first that was said; text, arguments
and reasoning join; of the usage the last counts. Text is never compared with text: no guessing of repeats.
"""

from __future__ import annotations

from typing import Any

from .completion import ChatCompletion
from .merged_choice import MergedChoice
from .models import ChatCompletionChunk, ChoiceDelta, ChunkChoice, CompletionUsage, Number
from .readable import readable, readable_choices
from .trees import copied, key_of


class ChatAccumulator:
    """Merges chunks, in the order in which they came, to a `ChatCompletion`.

        accumulator = ssewire.ChatAccumulator()
        for chunk in stream:
            accumulator.add(chunk)
        message = accumulator.completion().choices[0].message

    Adding a chunk costs what the chunk holds, whatever came before, and a completion costs what it holds; so one may be
    had after each chunk, if it must. Nothing in it is shared with a chunk, with another completion, or with what is
    still to come.
    """

    def __init__(self) -> None:
        self._id: str | None = None
        self._created: Number | None = None
        self._model: str | None = None
        self._fingerprint: str | None = None
        self._tier: str | None = None
        self._usage: CompletionUsage | None = None
        # A usage in its own place came, so that copies elsewhere no longer count.
        self._has_usage = False
        self._elsewhere: CompletionUsage | None = None
        self._choices: dict[int | str, MergedChoice] = {}

    def add(self, chunk: Any, usage: CompletionUsage | None = None) -> None:
        """Merge a chunk: of the built-in type, or of any other that has choices of the usual shape.

        `usage` is what was found elsewhere than in its place in a chunk of the built-in type, which has no members for
        that; it counts as long as there is no other.

        What was decoded raises nothing, whatever stands in it: what can be read is merged.

        Raises:
            TypeError: It is no chunk.
        """
        if type(chunk) is not ChatCompletionChunk:
            chunk, copy = readable(chunk)
            if copy is not None and not self._has_usage:
                self._usage = _copied(copy)
        elif usage is not None and usage is not self._elsewhere and not self._has_usage:
            # It comes with every chunk from then on, and is copied once.
            self._elsewhere = usage
            self._usage = _copied(usage)
        # The common chunk has nothing but the text that is new: all else is asked for in as few steps as there can be.
        if (
            (self._id is None and chunk.id)
            or (self._model is None and chunk.model)
            or (self._created is None and chunk.created)
            or (self._fingerprint is None and chunk.system_fingerprint)
            or (self._tier is None and chunk.service_tier)
        ):
            self._take_head(chunk)
        if chunk.usage is not None:
            self._take_usage(chunk.usage)
        choices = chunk.choices
        if type(choices) is not list and not isinstance(choices, tuple):
            return  # made by hand
        for choice in choices:
            if type(choice) is ChunkChoice and type(delta := choice.delta) is ChoiceDelta:
                self._add_choice(choice, delta)
            else:
                for made in readable_choices(choice):
                    self._add_choice(made, made.delta)

    def _add_choice(self, choice: ChunkChoice, delta: ChoiceDelta) -> None:
        try:
            merged = self._choices[choice.index]
        except (KeyError, TypeError):
            merged = self._begin(choice.index)
        content = delta.content
        if type(content) is str:
            merged.write(content)
            content = None
        if (
            content
            or delta.role
            or delta.reasoning_content
            or delta.reasoning
            or delta.tool_calls
            or delta.refusal
            or delta.reasoning_details
            or delta.function_call
            or delta.annotations
            or delta.audio
            or delta.images
        ):
            merged.add_rare(content, delta)
        if choice.finish_reason:
            merged.add_reason(choice.finish_reason)
        if choice.logprobs:
            merged.add_logprobs(choice.logprobs)

    def _begin(self, index: Any) -> MergedChoice:
        index = index if isinstance(index, int) else 0
        key = key_of(index)
        if (merged := self._choices.get(key)) is None:
            merged = self._choices[key] = MergedChoice(index)
        return merged

    def _take_head(self, chunk: ChatCompletionChunk) -> None:
        self._id = self._id or _text(chunk.id)
        self._model = self._model or _text(chunk.model)
        self._fingerprint = self._fingerprint or _text(chunk.system_fingerprint)
        self._tier = self._tier or _text(chunk.service_tier)
        if self._created is None:
            # Azure begins with a chunk about the prompt, which was created at 0.
            self._created = _number(chunk.created) or None

    def _take_usage(self, usage: Any) -> None:
        if not isinstance(usage, CompletionUsage):
            return  # made by hand
        if usage.prompt_tokens is not None or usage.completion_tokens is not None or usage.total_tokens is not None:
            self._usage = _copied(usage)
            self._has_usage = True

    def completion(self) -> ChatCompletion:
        """The answer as far as it came, at any moment."""
        merged = sorted(self._choices.values(), key=lambda choice: choice.index)
        return ChatCompletion(
            id=self._id,
            object="chat.completion",
            created=self._created,
            model=self._model,
            choices=[choice.result() for choice in merged],
            usage=_copied(self._usage) if self._usage else None,
            system_fingerprint=self._fingerprint,
            service_tier=self._tier,
        )


def _text(value: Any) -> str | None:
    return value if value and isinstance(value, str) else None


def _number(value: Any) -> Number | None:
    return value if isinstance(value, (int, float)) else None


def _copied(usage: CompletionUsage) -> CompletionUsage:
    """A usage that is shared with nobody: whoever has one may change it."""
    return CompletionUsage(
        _number(usage.prompt_tokens),
        _number(usage.completion_tokens),
        _number(usage.total_tokens),
        _object(usage.prompt_tokens_details),
        _object(usage.completion_tokens_details),
    )


def _object(value: Any) -> dict[str, Any] | None:
    return copied(value) if isinstance(value, dict) else None
