"""What stands elsewhere than in its own place: usage, and the answer of a whole completion.

Groq has usage in a member of its own, Moonshot inside the choice. Gateways that only look like a stream send a whole
completion as one event, with a message in place of a delta.

Members of the chunk's type for these would cost time on every chunk of every stream. They are looked for in the payload
instead, of chunks at the end of an answer.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec

from .lenient import chunk_of, tree_or_none, usage_of
from .models import ChatCompletionChunk, ChoiceDelta, CompletionUsage

# A payload that the quick look refuses is looked into with the slow decoder up to this size: many times that of a chunk
# at the end of an answer, and small enough to be built as a tree of objects.
_SMALL: Final = 65_536


class _Holder(msgspec.Struct, gc=False):
    usage: Any = None


class _Copies(msgspec.Struct, gc=False):
    x_groq: _Holder | None = None
    choices: list[_Holder | None] = []


class _Sent(msgspec.Struct, gc=False):
    message: dict[str, Any] | None = None


class _Messages(msgspec.Struct, gc=False):
    choices: list[_Sent | None] = []


_decode_messages: Final = msgspec.json.Decoder(_Messages).decode
_decode: Final = msgspec.json.Decoder(_Copies).decode


def copied_usage(payload: bytes) -> CompletionUsage | None:
    """The usage that a payload has elsewhere, Groq's first; None where it has none with counts.

    The payload has an object of that name in it.
    """
    try:
        copies = _decode(payload)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        tree = tree_or_none(payload) if len(payload) <= _SMALL else None
        copies = _Copies(*_holders(tree)) if isinstance(tree, dict) else _Copies()
    usages = (usage_of(holder.usage) for holder in (copies.x_groq, *copies.choices) if holder)
    return next(filter(None, usages), None)


def take_message(payload: bytes, chunk: ChatCompletionChunk) -> None:
    """Give each choice without a delta the message that the payload, which has the word in it, has in its place."""
    try:
        choices = _decode_messages(payload).choices
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return  # nothing was ever met that has both faults
    for choice, sent in zip(chunk.choices, choices, strict=False):
        if sent and sent.message and choice.delta == ChoiceDelta():
            choice.delta = chunk_of({"choices": [{"delta": sent.message}]}).choices[0].delta


def _holders(tree: dict[str, Any]) -> tuple[_Holder | None, list[_Holder | None]]:
    choices = choices if isinstance(choices := tree.get("choices"), list) else []
    return _holder(tree.get("x_groq")), [_holder(choice) for choice in choices]


def _holder(value: object) -> _Holder | None:
    return _Holder(value.get("usage")) if isinstance(value, dict) else None
