"""JSON Schema (draft 2020-12) of a schema as the providers' AsyncAPI documents write it: in the words of OpenAPI 3.0.

Two words differ. `nullable: true` is none of JSON Schema's: null joins the `type` and, beside an `enum`, the enum too,
since JSON Schema asks for both. `$ref` is replaced by what it names, so that a schema can be walked from top to bottom.
Every other word means the same in both. A word that is not known here is an error: it would be a constraint that goes
untested.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

Schema: TypeAlias = dict[str, Any]

DIALECT = "https://json-schema.org/draft/2020-12/schema"

_REFERENCE = "#/components/schemas/"
_KNOWN = {"type", "nullable", "enum", "required", "properties", "items"}


def json_schema(name: str, components: Mapping[str, Schema]) -> Schema:
    """The schema of that name among a document's `components.schemas`, as JSON Schema."""
    return {"$schema": DIALECT, **_translated(components[name], components)}


def _translated(described: Schema, components: Mapping[str, Schema]) -> Schema:
    if "$ref" in described:
        if len(described) > 1:
            raise ValueError(f"beside a $ref OpenAPI 3.0 reads nothing: {described}")
        return _translated(components[described["$ref"].removeprefix(_REFERENCE)], components)
    if unknown := described.keys() - _KNOWN:
        raise ValueError(f"unknown words: {sorted(unknown)}")
    schema = {word: value for word, value in described.items() if word != "nullable"}
    if described.get("nullable"):
        if "type" not in described:
            raise ValueError("nullable has no meaning without a type (OpenAPI 3.0.3)")
        schema["type"] = [described["type"], "null"]
        if "enum" in described:
            schema["enum"] = [*described["enum"], None]
    if "properties" in described:
        schema["properties"] = {
            member: _translated(value, components) for member, value in described["properties"].items()
        }
    if "items" in described:
        schema["items"] = _translated(described["items"], components)
    return schema
