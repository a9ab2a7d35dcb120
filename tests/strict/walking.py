"""Walking a schema beside an instance of it: a full instance, its paths, and every way to break one constraint."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import Any, NamedTuple, TypeAlias

from tests.strict.openapi import Schema

Path: TypeAlias = tuple[str | int, ...]

SAMPLES: dict[str, Any] = {
    "null": None,
    "boolean": True,
    "integer": 5,
    "number": 1.5,
    "string": "5",
    "array": [],
    "object": {},
}
"""One value of each JSON type; `number` is one with a fraction, which is no integer."""

# Stands in an object of which the document describes no member.
_FREE: dict[str, Schema] = {"free": {"type": "string"}}

ELSEWHERE = (
    *("content_filter", "function_call", "abort", "eos", "developer", "function"),
    *("chat.completion", "text_completion", "chat.completion.done", "retrieval"),
)
"""What services send, some of these three among them, where the documents have an enum."""


class Break(NamedTuple):
    """One constraint, and what breaks it alone: the value at the path is replaced, or one of its members removed."""

    word: str
    """The word of JSON Schema that states the constraint: `required`, `type` or `enum`."""
    path: Path
    value: Any = None
    removed: str | None = None

    def of(self, instance: Any) -> Any:
        """A copy of the instance with this constraint broken."""
        if self.removed is None:
            return replaced(instance, self.path, self.value)
        return without(instance, self.path, self.removed)

    def __str__(self) -> str:
        """How a test that uses it is called."""
        what = f"no-{self.removed}" if self.removed is not None else f"{self.word}-{self.value!r}"
        return f"{dotted(self.path)}-{what}"


def dotted(path: Path) -> str:
    """A path as msgspec writes it: `$.choices[0].delta`."""
    return "$" + "".join(f"[{key}]" if isinstance(key, int) else f".{key}" for key in path)


def at(instance: Any, path: Path) -> Any:
    """What stands at a path."""
    for key in path:
        instance = instance[key]
    return instance


def replaced(instance: Any, path: Path, value: Any) -> Any:
    """A copy of the instance with another value at the path."""
    if not path:
        return value
    instance = copy.deepcopy(instance)
    at(instance, path[:-1])[path[-1]] = value
    return instance


def without(instance: Any, path: Path, member: str) -> Any:
    """A copy of the instance that lacks a member of the object at the path."""
    instance = copy.deepcopy(instance)
    del at(instance, path)[member]
    return instance


def full(schema: Schema) -> Any:
    """An instance with every member that is described, none null, and two items in each array."""
    if "enum" in schema:
        return schema["enum"][0]
    match types(schema)[0]:
        case "object":
            return {name: full(member) for name, member in schema.get("properties", _FREE).items()}
        case "array":
            return [full(schema["items"]) for _ in range(2)]
        case kind:
            return SAMPLES[kind]


def types(schema: Schema) -> list[str]:
    """The JSON types that a schema allows."""
    return [allowed] if isinstance(allowed := schema["type"], str) else list(allowed)


def nodes(instance: Any, schema: Schema, path: Path = ()) -> Iterator[tuple[Path, Schema]]:
    """Each described place that the instance has, and its schema."""
    yield path, schema
    if isinstance(instance, dict):
        for name, member in schema.get("properties", {}).items():
            if name in instance:
                yield from nodes(instance[name], member, (*path, name))
    elif isinstance(instance, list):
        for index, item in enumerate(instance):
            yield from nodes(item, schema["items"], (*path, index))


def breaks(instance: Any, schema: Schema) -> Iterator[Break]:
    """Every way to break one constraint of the schema in the instance, with a sample for each JSON type.

    Null in place of the chunk as a whole is left out: a stream skips it, as it skips empty data.
    """
    for path, node in nodes(instance, schema):
        for kind in wrong_types(path, node):
            yield Break("type", path, SAMPLES[kind])
        if "enum" in node:
            for value in ("", node["enum"][0].upper(), node["enum"][0] + " ", *ELSEWHERE):
                if value not in node["enum"]:
                    yield Break("enum", path, value)
        # Where null or such stands in place of an object there is nothing to remove.
        if isinstance(at(instance, path), dict):
            for member in node.get("required", ()):
                yield Break("required", path, removed=member)


def wrong_types(path: Path, node: Schema) -> list[str]:
    """The JSON types that are forbidden at a place."""
    allowed = {*types(node), *(["null"] if not path else [])}
    return [kind for kind in SAMPLES if kind not in allowed]


def described(instance: Any, schema: Schema, kept: frozenset[str] = frozenset()) -> Any:
    """The instance without the members that are not described, but for those that are kept at the top.

    An object of which no member is described is kept whole.
    """
    if isinstance(instance, dict) and "properties" in schema:
        members = schema["properties"]
        return {
            name: described(value, members[name]) if name in members else value
            for name, value in instance.items()
            if name in members or name in kept
        }
    if isinstance(instance, list) and "items" in schema:
        return [described(item, schema["items"]) for item in instance]
    return instance
