"""The translator: null where the documents say nullable, references resolved, nothing dropped in silence."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.strict.openapi import DIALECT, Schema, json_schema
from tests.strict.schemas import DOCUMENTED, Documented, name_of, validator_of
from tests.strict.walking import breaks, full, types

OTHER: dict[str, Schema] = {"Other": {"type": "object", "nullable": True, "required": ["n"]}}


@pytest.mark.parametrize(
    ("described", "right"),
    [
        ({"type": "string"}, {"type": "string"}),
        ({"type": "string", "nullable": False}, {"type": "string"}),
        ({"type": "string", "nullable": True}, {"type": ["string", "null"]}),
        ({"type": "string", "enum": ["a"]}, {"type": "string", "enum": ["a"]}),
        (
            {"type": "string", "nullable": True, "enum": ["a", "b"]},
            {"type": ["string", "null"], "enum": ["a", "b", None]},
        ),
        (
            {"type": "array", "items": {"type": "integer", "nullable": True}},
            {"type": "array", "items": {"type": ["integer", "null"]}},
        ),
        (
            {"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#/components/schemas/Other"}}},
            {"type": "object", "required": ["a"], "properties": {"a": {"type": ["object", "null"], "required": ["n"]}}},
        ),
        # A member may be called as a word is.
        ({"type": "object", "properties": {"nullable": {}}}, {"type": "object", "properties": {"nullable": {}}}),
    ],
)
def test_translation(described: Schema, right: Schema) -> None:
    before = repr(described)
    assert json_schema("It", {"It": described, **OTHER}) == {"$schema": DIALECT, **right}
    assert repr(described) == before


@pytest.mark.parametrize(
    ("described", "reason"),
    [
        ({"type": "string", "minLength": 1}, "unknown words: \\['minLength'\\]"),
        ({"nullable": True}, "nullable has no meaning without a type"),
        ({"$ref": "#/components/schemas/Other", "nullable": True}, "beside a \\$ref"),
        ({"type": "array", "items": {"const": 1}}, "unknown words: \\['const'\\]"),
    ],
)
def test_what_it_does_not_know(described: Schema, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        json_schema("It", {"It": described, **OTHER})


@pytest.mark.parametrize("value", ["a", None])
def test_a_nullable_enum_allows_null(value: str | None) -> None:
    schema = json_schema("It", {"It": {"type": "string", "nullable": True, "enum": ["a"]}})
    assert validator_of(schema).is_valid(value)
    assert not validator_of(schema).is_valid("b")


#: Counted by hand in the documents: required members, and schemas that have a type, an enum, null.
TALLIES = {
    "Nscale": {"required": 7, "type": 18, "enum": 3, "null": 3},
    "CentML": {"required": 7, "type": 14, "enum": 3, "null": 2},
    "Chutes": {"required": 12, "type": 25, "enum": 4, "null": 4},
}


@pytest.mark.parametrize("documented", DOCUMENTED, ids=name_of)
def test_the_walk_misses_no_constraint(documented: Documented) -> None:
    tally = dict.fromkeys(("required", "type", "enum", "null"), 0)
    for node in _every_schema(documented.schema):
        tally["type"] += 1
        tally["required"] += len(node.get("required", ()))
        tally["enum"] += "enum" in node
        tally["null"] += "null" in types(node)
    assert tally == TALLIES[name_of(documented)]
    # In a full instance each is broken, in every place.
    instance = full(documented.schema)
    documented.validator.validate(instance)
    reached = {
        tuple(key for key in found.path if isinstance(key, str)) for found in breaks(instance, documented.schema)
    }
    arrays = {("choices",), ("choices", "delta", "tool_calls")}
    # An array and its items have the same path without the numbers.
    assert len(reached) == tally["type"] - len(arrays)


def _every_schema(schema: Schema) -> list[Schema]:
    below = [*schema.get("properties", {}).values(), *([schema["items"]] if "items" in schema else [])]
    return [schema, *[found for node in below for found in _every_schema(node)]]


@pytest.mark.parametrize("documented", DOCUMENTED, ids=name_of)
def test_the_type_says_what_the_schema_says(documented: Documented) -> None:
    """The schema that msgspec writes of the type is the same, but for `usage` of CentML, which is Any."""
    generated = msgspec.json.schema(documented.provider.chunk_type)
    of_type = _essence(generated, generated["$defs"])
    for name in documented.kept:
        assert of_type["properties"].pop(name) == {}
    assert of_type == _essence(documented.schema, {})


def _essence(schema: Schema, definitions: dict[str, Schema]) -> dict[str, Any]:
    """A schema in one form for both: null apart from the rest, enums and required members without an order."""
    if "$ref" in schema:
        return _essence(definitions[schema["$ref"].removeprefix("#/$defs/")], definitions)
    if "anyOf" in schema:
        (rest,) = [option for option in schema["anyOf"] if option != {"type": "null"}]
        return {**_essence(rest, definitions), "null": True}
    essence: dict[str, Any] = {}
    if "enum" in schema:
        essence["enum"] = set(schema["enum"]) - {None}
    elif "type" in schema:
        essence["type"] = types(schema)[0]
    if "null" in types({"type": "string", **schema}):
        essence["null"] = True
    if required := schema.get("required"):
        essence["required"] = set(required)
    if "properties" in schema:
        essence["properties"] = {name: _essence(node, definitions) for name, node in schema["properties"].items()}
    if "items" in schema:
        essence["items"] = _essence(schema["items"], definitions)
    return essence
