"""The chunk schemas that Nscale, CentML and Chutes document, to the letter.

Each set of types follows the provider's AsyncAPI 2.6 document (``components.schemas.ChatCompletionChunk`` and what it
refers to). They are for checking, not for reading: pass one as the chunk type of a stream (``type=NSCALE.chunk_type``)
and an event that breaks the document is a DecodeError with reason and path. Nothing is mended for these types: what is
no JSON is refused too. The default type reads all that they send.

How the documents' words are rendered:

- ``required`` members have no default; the others may be absent and are then ``msgspec.UNSET``, so that absent and null
  are told apart (both are false).
- ``nullable: true`` means that null is allowed, beside an ``enum`` too; any other member refuses null.
- Members that a document does not name are allowed, whatever they hold. They are skipped: that they are JSON is
  checked, but not whether their text is UTF-8 and their numbers are in range.
- Said in prose only, and so not checked: that all chunks of a stream have the same ``id`` (and ``created``, Chutes),
  and that ``finish_reason`` is null until the end.

Stricter than JSON Schema in three points: an ``integer`` written as ``1.0`` or ``1e0`` is refused; of a member that is
there twice both must be right (the last counts); numbers end where Python's do (integers of 4,300 digits, other numbers
at 1.8e308).

**The real streams break these documents**; use the types to test a service, not to serve users:

- Nscale: ``role`` is null in each choice after the first chunk, which its document does not allow, and the ``[DONE]``
  that it promises does not come (no chunk type can see that; ``require_done=True`` does). As the chunk with the
  ``finish_reason`` is refused as well, its streams read with this type end in an IncompleteStreamError.
- Chutes, after the public source of its engine and single chunks seen (no stream of it is recorded): null members are
  written out, so ``tool_calls`` is null and ``role`` is after the first chunk, neither of which its document allows;
  ``id`` and ``name`` are null in later pieces of a tool call; its engine knows more finish reasons; ``created`` moves.
- CentML: the one stream seen was valid, with two members more than documented (``logprobs``, ``stop_reason``).
"""

from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType

__all__ = [
    "CentMLChunk",
    "ChutesChoice",
    "ChutesChunk",
    "ChutesDelta",
    "ChutesToolCall",
    "ChutesToolCallFunction",
    "ChutesUsage",
    "DocumentedChoice",
    "DocumentedChunk",
    "DocumentedDelta",
    "NscaleChunk",
    "NscaleUsage",
]

FinishReason = Literal["stop", "length", "tool_calls"]
Role = Literal["system", "user", "assistant", "tool"]


class DocumentedDelta(Struct, kw_only=True, gc=False):
    """A delta as Nscale and CentML describe it: the items of ``tool_calls`` are objects of any content."""

    role: Role | UnsetType = UNSET
    content: str | UnsetType | None = UNSET
    tool_calls: list[dict[str, Any]] | UnsetType = UNSET


class DocumentedChoice(Struct, kw_only=True, gc=False):
    """A choice as Nscale and CentML describe it: ``finish_reason`` may be absent."""

    index: int
    delta: DocumentedDelta
    finish_reason: FinishReason | UnsetType | None = UNSET


class DocumentedChunk(Struct, kw_only=True, gc=False):
    """What all three documents require of a chunk; the types below say of what kind the choices are."""

    id: str
    choices: list[Any]
    created: int
    model: str
    object: Literal["chat.completion.chunk"]

    @property
    def text(self) -> str:
        """The text of all choices; "" when there is none."""
        return "".join([choice.delta.content or "" for choice in self.choices])


class NscaleUsage(Struct, kw_only=True, gc=False):
    """Token counts after Nscale's document: each may be absent, none may be null."""

    prompt_tokens: int | UnsetType = UNSET
    completion_tokens: int | UnsetType = UNSET
    total_tokens: int | UnsetType = UNSET


class NscaleChunk(DocumentedChunk, kw_only=True, gc=False):
    """A chunk after Nscale's AsyncAPI document; its real streams break it (``role`` null after the first chunk)."""

    choices: list[DocumentedChoice]
    usage: NscaleUsage | UnsetType | None = UNSET


class CentMLChunk(DocumentedChunk, kw_only=True, gc=False):
    """A chunk after CentML's AsyncAPI document.

    The document has no ``usage``. As a member that is not described it may hold anything; it is kept, because the
    provider's own examples ask for it (``stream_options.include_usage``).
    """

    choices: list[DocumentedChoice]
    usage: Any = UNSET


class ChutesToolCallFunction(Struct, kw_only=True, gc=False):
    """Name and arguments of a tool call, or a piece of them, after Chutes' document."""

    name: str | UnsetType = UNSET
    arguments: str | UnsetType = UNSET


class ChutesToolCall(Struct, kw_only=True, gc=False):
    """A piece of a tool call after Chutes' document, the only one that describes its members."""

    index: int
    id: str | UnsetType = UNSET
    type: Literal["function"] | UnsetType = UNSET
    function: ChutesToolCallFunction | UnsetType = UNSET


class ChutesDelta(Struct, kw_only=True, gc=False):
    """A delta after Chutes' document: as the others', but with tool calls of a described kind."""

    role: Role | UnsetType = UNSET
    content: str | UnsetType | None = UNSET
    tool_calls: list[ChutesToolCall] | UnsetType = UNSET


class ChutesChoice(Struct, kw_only=True, gc=False):
    """A choice after Chutes' document: ``finish_reason`` must be there, null until the end; ``logprobs`` is known."""

    index: int
    delta: ChutesDelta
    finish_reason: FinishReason | None
    logprobs: dict[str, Any] | UnsetType | None = UNSET


class ChutesUsage(Struct, kw_only=True, gc=False):
    """Token counts after Chutes' document: all three are required."""

    prompt_tokens: int
    completion_tokens: int
    total_tokens: int


class ChutesChunk(DocumentedChunk, kw_only=True, gc=False):
    """A chunk after Chutes' AsyncAPI document; its real streams break it (``tool_calls`` and ``role`` null)."""

    choices: list[ChutesChoice]
    usage: ChutesUsage | UnsetType | None = UNSET
