"""Trees of JSON values, copied and written however deep they are.

msgspec does both in C, but only as deep as Python's stack allows. A tree off the wire may have just fitted in there,
and a chunk that was made by hand may hold anything: what msgspec refuses is worked through here without recursion.
"""

from __future__ import annotations

import dataclasses
import json
from typing import Any, Final

import msgspec

_SMALL: Final = 1 << 16


def says(value: object) -> bool:
    """Whether a member says something: null and "" are as good as absent."""
    return value is not None and value != ""


def key_of(index: int) -> int | str:
    """An index as a key of a dict.

    Integers of one's own choice can be made to meet in a dict, which is as slow as a list then. Of small ones there are
    too few; the hashes of text cannot be foreseen.
    """
    return index if 0 <= index < _SMALL else hex(index)


def copied(tree: Any) -> Any:
    """A copy in which nothing that can change is shared: dicts, lists and what stands in them.

    Structs and dataclasses become dicts. What has no place in JSON becomes None, and a tree that contains itself ends
    there.
    """
    try:
        return msgspec.to_builtins(tree, enc_hook=_nothing)
    except Exception:  # it nests too deep, or an object in it cannot be read
        return _copied(tree)


def json_text(tree: Any) -> str:
    """The tree as JSON, without spaces. What has no place in JSON is null."""
    try:
        return msgspec.json.encode(tree).decode()
    except Exception:  # see above
        return _written(_copied(tree))


def _nothing(_: object) -> None:
    return None


def _copied(tree: Any) -> Any:
    seen: set[int] = set()
    result: list[Any] = [None]
    todo: list[tuple[Any, Any, Any]] = [(result, 0, tree)]
    while todo:
        place, key, value = todo.pop()
        if isinstance(value, (str, int, float)):
            place[key] = value
        elif (members := _members(value)) is not None and id(value) not in seen:
            seen.add(id(value))
            is_list = isinstance(members, list)
            place[key] = copy = [None] * len(members) if is_list else dict.fromkeys(members)
            todo.extend((copy, name, member) for name, member in (enumerate(members) if is_list else members.items()))
    return result[0]


def _members(value: Any) -> Any:
    """What stands in a value, as a dict or a list; None where nothing can."""
    if isinstance(value, (dict, list)):
        return value
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, msgspec.Struct):
        return dict(zip(value.__struct_encode_fields__, msgspec.structs.astuple(value), strict=True))
    if dataclasses.is_dataclass(value):
        return {field.name: getattr(value, field.name, None) for field in dataclasses.fields(value)}
    return None


def _written(tree: Any) -> str:
    written: list[str] = []
    # A tree has no tuples: what stands in one is JSON already.
    todo: list[Any] = [tree]
    while todo:
        value = todo.pop()
        parts: list[Any] = []
        if isinstance(value, tuple):
            written += value
        elif isinstance(value, dict):
            for name, member in value.items():
                parts += [(",",), (_leaf(str(name)), ":"), member]
            todo += [("}",), *reversed(parts[1:]), ("{",)]
        elif isinstance(value, list):
            for member in value:
                parts += [(",",), member]
            todo += [("]",), *reversed(parts[1:]), ("[",)]
        else:
            written.append(_leaf(value))
    return "".join(written)


def _leaf(value: Any) -> str:
    try:
        # Half a surrogate pair can be written as an escape only.
        return json.dumps(value) if isinstance(value, str) else msgspec.json.encode(value).decode()
    except ValueError:  # an integer of more digits than Python writes
        return "null"
