"""What a stream must know of the type that its chunks are decoded to, be it the built-in one or the user's own."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, Final, NamedTuple, TypeAlias

import msgspec
from msgspec import inspect

from .documented import DocumentedChunk
from .lenient import chunk_of
from .models import ChatCompletionChunk, content_text
from .second_reading import SecondReading

Facts: TypeAlias = tuple[Any, Any, list[tuple[Any, Any]], bool]
"""Usage, a copy of it that stands elsewhere, index and finish reason of each choice, and whether there is text, where
that is asked for."""

_COUNTS: Final = ("prompt_tokens", "completion_tokens", "total_tokens")

# More types than a program has; each keeps a decoder.
_TYPES: Final = 128


class ChunkType(NamedTuple):
    """How chunks of one type are made and read. Making a decoder takes longer than decoding a chunk."""

    decode: Callable[[bytes], Any]
    reading: SecondReading
    facts: Callable[[Any, bool], Facts] | None
    """None for the built-in type, which is read in Rust."""
    has_choices: bool
    name: str

    def need_choices(self, method: str) -> None:
        """Refuse a way of reading that needs choices, at once.

        Raises:
            TypeError: Chunks of this type have none.
        """
        if not self.has_choices:
            raise TypeError(f"{method} needs chunks with choices, and {self.name} has no member of that name")


def chunk_type(type: Any) -> ChunkType:
    """What is known of a type.

    Raises:
        TypeError: msgspec cannot decode to it.
    """
    try:
        return _known(type)
    except TypeError:  # it has no hash, or cannot be decoded to, which is told in msgspec's words
        return _known.__wrapped__(type)


@lru_cache(maxsize=_TYPES)
def _known(type: Any) -> ChunkType:
    decode = msgspec.json.Decoder(type).decode
    if type is ChatCompletionChunk:
        return ChunkType(decode, SecondReading(decode, chunk_of), None, has_choices=True, name=type.__name__)
    # What a document says is checked to the letter, so nothing is read twice.
    strict = isinstance(type, builtin_type) and issubclass(type, DocumentedChunk)
    again = None if strict else lambda tree: msgspec.convert(tree, type, str_keys=True)
    reading = SecondReading(decode, again, own_type=True)
    name = getattr(type, "__name__", str(type))
    return ChunkType(decode, reading, _facts, _has_choices(inspect.type_info(type)), name)


builtin_type: Final = type


def _has_choices(info: inspect.Type) -> bool:
    """Whether chunks of this type may have a member `choices`."""
    if isinstance(info, inspect.Metadata):
        return _has_choices(info.type)
    if isinstance(info, inspect.UnionType):
        return any(map(_has_choices, info.types))
    if isinstance(info, (inspect.StructType, inspect.DataclassType, inspect.TypedDictType, inspect.NamedTupleType)):
        return any(field.name == "choices" and not isinstance(field.type, inspect.RawType) for field in info.fields)
    return isinstance(info, (inspect.DictType, inspect.AnyType, inspect.CustomType))


def _facts(chunk: Any, asks_for_text: bool) -> Facts:
    choices = _choices(chunk)
    copies = [_member(_member(chunk, "x_groq"), "usage"), *(_member(choice, "usage") for choice in choices)]
    copy = next(filter(None, map(_usage, copies)), None)
    reasons = [(_index(choice), _reason(choice)) for choice in choices]
    return _usage(_member(chunk, "usage")), copy, reasons, asks_for_text and bool(text_of(chunk))


def _usage(usage: Any) -> Any:
    """A usage that says something. In a `dict` it may be anything, and what is no object is none."""
    if not usage or isinstance(usage, (str, int, float, list)):
        return None
    known = [name for name in _COUNTS if (name in usage if isinstance(usage, dict) else hasattr(usage, name))]
    return usage if not known or any(_member(usage, name) is not None for name in known) else None


def _index(choice: Any) -> int:
    index = _member(choice, "index")
    return index if isinstance(index, int) else 0


def _reason(choice: Any) -> Any:
    reason = _member(choice, "finish_reason")
    return None if isinstance(reason, (int, float, list, dict)) else reason


def _choices(chunk: Any) -> list[Any]:
    """The choices of a chunk of any type; in a `dict` they may be anything."""
    choices = _member(chunk, "choices")
    if not isinstance(choices, (list, tuple)):
        return []
    return [choice for choice in choices if choice and not isinstance(choice, (str, int, float, list))]


def _member(value: Any, name: str) -> Any:
    """A member of a Struct, a dataclass or a dict; None where it is absent, also where msgspec says so."""
    found = value.get(name) if isinstance(value, dict) else getattr(value, name, None)
    return None if found is msgspec.UNSET else found


def text_of(chunk: Any) -> str:
    """The text of a chunk of any type that has choices of the usual shape."""
    if isinstance(chunk, (ChatCompletionChunk, DocumentedChunk)):
        return chunk.text
    return "".join(map(_text_of, _choices(chunk)))


def choice_text_of(index: int, chunk: Any) -> str:
    """The text of one choice of such a chunk."""
    return "".join(_text_of(choice) for choice in _choices(chunk) if _index(choice) == index)


def _text_of(choice: Any) -> str:
    # A whole completion that a gateway sends as one event has a message.
    content = _member(_member(choice, "delta") or _member(choice, "message"), "content")
    return content_text(content) if isinstance(content, (str, list)) else ""
