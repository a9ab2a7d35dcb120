"""One choice of an answer while its chunks come in."""

from __future__ import annotations

from collections.abc import Callable
from io import StringIO
from typing import Any

from .completion import ChatCompletionMessage, CompletionChoice
from .merged_members import Audio, Logprobs, ReasoningDetails
from .models import ChoiceDelta, _reasoning, content_text
from .tool_calls import FunctionPieces, ToolCallPieces, said_of
from .trees import copied


class MergedChoice:
    """What the chunks have said of one choice so far. Most choices never have most of it."""

    __slots__ = (
        "_annotations",
        "_audio",
        "_content",
        "_details",
        "_function",
        "_images",
        "_logprobs",
        "_reasoning",
        "_refusal",
        "_role",
        "_tool_calls",
        "finish_reason",
        "index",
        "write",
    )

    def __init__(self, index: int) -> None:
        self.index = index
        self.finish_reason: str | None = None
        self._content = StringIO()
        self.write: Callable[[str], object] = self._content.write
        """Joins a piece of the text."""
        self._reasoning: StringIO | None = None
        self._refusal: StringIO | None = None
        self._role: str | None = None
        self._tool_calls: ToolCallPieces | None = None
        self._function: FunctionPieces | None = None
        self._logprobs: Logprobs | None = None
        self._details: ReasoningDetails | None = None
        self._audio: Audio | None = None
        self._annotations: list[Any] = []
        self._images: list[Any] = []

    def add_rare(self, content: Any, delta: ChoiceDelta) -> None:
        """Join what a delta has beside text that is a plain string; `content` is what it has in its place."""
        if content and isinstance(content, (str, list)):
            self.write(content_text(content))
        if delta.reasoning_details is None or isinstance(delta.reasoning_details, list):
            self._add_reasoning(_reasoning(delta))
        if self._role is None and isinstance(delta.role, str) and delta.role:
            self._role = delta.role
        if delta.tool_calls and isinstance(delta.tool_calls, list):
            self._tool_calls = self._tool_calls or ToolCallPieces()
            self._tool_calls.add(delta.tool_calls)
        if delta.function_call and (said := said_of(delta.function_call)) != ("", ""):
            self._function = self._function or FunctionPieces()
            self._function.add(*said)
        if delta.refusal and isinstance(delta.refusal, str):
            self._refusal = self._refusal or StringIO()
            self._refusal.write(delta.refusal)
        if delta.reasoning_details and isinstance(delta.reasoning_details, list):
            self._details = self._details or ReasoningDetails()
            self._details.add(delta.reasoning_details)
        if delta.annotations and isinstance(delta.annotations, list):
            self._annotations += copied(delta.annotations)
        if delta.images and isinstance(delta.images, list):
            self._images += copied(delta.images)
        if delta.audio and isinstance(delta.audio, dict):
            self._audio = self._audio or Audio()
            self._audio.add(delta.audio)

    def _add_reasoning(self, reasoning: Any) -> None:
        if isinstance(reasoning, str) and reasoning:
            self._reasoning = self._reasoning or StringIO()
            self._reasoning.write(reasoning)

    def add_reason(self, reason: Any) -> None:
        """Take a finish reason. `stop` says the least: one that comes late does not replace `tool_calls`."""
        if isinstance(reason, str) and reason and (self.finish_reason is None or reason != "stop"):
            self.finish_reason = reason

    def add_logprobs(self, logprobs: Any) -> None:
        """Append log probabilities."""
        if isinstance(logprobs, dict):
            self._logprobs = self._logprobs or Logprobs()
            self._logprobs.add(logprobs)

    def result(self) -> CompletionChoice:
        """The choice so far; nothing in it is shared."""
        message = ChatCompletionMessage(
            role=self._role or "assistant",
            content=self._content.getvalue() or None,
            refusal=_text(self._refusal),
            reasoning=_text(self._reasoning),
            reasoning_details=(self._details.result() or None) if self._details else None,
            tool_calls=self._tool_calls.result() if self._tool_calls else [],
            function_call=self._function.result() if self._function else None,
            annotations=copied(self._annotations) or None,
            audio=self._audio.result() if self._audio else None,
            images=copied(self._images) or None,
        )
        logprobs = self._logprobs.result() if self._logprobs else None
        return CompletionChoice(self.index, message, self.finish_reason, logprobs)


def _text(text: StringIO | None) -> str | None:
    return (text.getvalue() or None) if text else None
