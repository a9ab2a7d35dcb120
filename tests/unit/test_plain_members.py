"""The built-in chunk is of plain types only, which is what recognising chunks rests on: any text will do."""

from __future__ import annotations

from typing import Final

from msgspec import inspect

from ssewire import ChatCompletionChunk

PLAIN: Final = (
    inspect.NoneType,
    inspect.StrType,
    inspect.IntType,
    inspect.FloatType,
    inspect.AnyType,
    inspect.ListType,
    inspect.DictType,
    inspect.UnionType,
    inspect.StructType,
)
LIMITS: Final = ("min_length", "max_length", "pattern", "gt", "ge", "lt", "le", "multiple_of")


def test_no_member_is_limited_or_made_by_code() -> None:
    seen: set[str] = set()
    waiting: list[inspect.Type] = [inspect.type_info(ChatCompletionChunk)]
    while waiting:
        member = waiting.pop()
        assert isinstance(member, PLAIN), member
        assert [name for name in LIMITS if getattr(member, name, None) is not None] == []
        if isinstance(member, inspect.UnionType):
            waiting += member.types
        elif isinstance(member, inspect.ListType):
            waiting.append(member.item_type)
        elif isinstance(member, inspect.DictType):
            waiting += (member.key_type, member.value_type)
        elif isinstance(member, inspect.StructType) and member.cls.__name__ not in seen:
            seen.add(member.cls.__name__)
            assert not hasattr(member.cls, "__post_init__")
            assert not member.tag
            assert not member.array_like
            assert not member.forbid_unknown_fields
            waiting += [field.type for field in member.fields]
    assert seen == {
        "ChatCompletionChunk",
        "ChunkChoice",
        "ChoiceDelta",
        "ChoiceDeltaToolCall",
        "ChoiceDeltaToolCallFunction",
        "CompletionUsage",
    }
