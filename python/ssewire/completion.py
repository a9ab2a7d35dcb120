"""The whole answer that the chunks of a stream add up to, named as in the OpenAI SDK.

What such an answer must have is always written, also where nothing was sent, so that `msgspec.to_builtins(message)` is
a message for the next request; any other member is written only where it was sent.
"""

from __future__ import annotations

import builtins
from typing import Any, TypeVar, overload

from msgspec import Struct

from .models import CompletionUsage, Number
from .tool_arguments import parsed

T = TypeVar("T")


class ToolCallFunction(Struct, gc=False):
    """The function that is to be called; `arguments` is JSON as text, "" where none came."""

    name: str
    arguments: str


class ToolCall(Struct, gc=False):
    """A call that the model asks for. The type is "function" where none was sent."""

    id: str | None
    type: str
    function: ToolCallFunction

    @overload
    def parse_arguments(self) -> dict[str, Any]: ...
    @overload
    def parse_arguments(self, type: builtins.type[T]) -> T: ...
    def parse_arguments(self, type: Any = dict[str, Any]) -> Any:
        """The arguments, decoded to a type that msgspec knows: `dict`, a Struct, a dataclass, a TypedDict.

        No arguments at all are `{}`. JSON with the faults that models and servers make is mended: NaN and Infinity, raw
        control characters in strings, half a surrogate pair.

        Raises:
            ToolArgumentsError: They are no JSON, perhaps because the answer was cut (`cut` tells), or not of the type.
        """
        return parsed(self.function.name, self.function.arguments, type)


class ChatCompletionMessage(Struct, gc=False, omit_defaults=True):
    """The message of a choice. The role is "assistant" where none was sent; the content is None where no text came."""

    role: str
    content: str | None
    refusal: str | None = None
    reasoning: str | None = None
    """Joined, whatever member of the chunks it came in."""
    reasoning_details: list[Any] | None = None
    tool_calls: list[ToolCall] = []
    function_call: ToolCallFunction | None = None
    annotations: list[Any] | None = None
    audio: dict[str, Any] | None = None
    images: list[Any] | None = None

    @property
    def reasoning_content(self) -> str | None:
        """The reasoning, by the name that DeepSeek and vLLM have for it."""
        return self.reasoning


class CompletionChoice(Struct, gc=False, omit_defaults=True):
    """One of the answers; `finish_reason` is None as long as it is not whole."""

    index: int
    message: ChatCompletionMessage
    finish_reason: str | None
    logprobs: dict[str, Any] | None = None


class ChatCompletion(Struct, gc=False, omit_defaults=True):
    """What a chat-completion stream adds up to; choices are in the order of their index."""

    id: str | None
    object: str
    created: Number | None
    model: str | None
    choices: list[CompletionChoice]
    usage: CompletionUsage | None = None
    system_fingerprint: str | None = None
    service_tier: str | None = None

    @property
    def text(self) -> str:
        """The text of all choices, one behind the other; "" when there is none."""
        return "".join([choice.message.content or "" for choice in self.choices])

    @property
    def reasoning(self) -> str:
        """The reasoning text of all choices, one behind the other; "" when there is none."""
        return "".join([choice.message.reasoning or "" for choice in self.choices])
