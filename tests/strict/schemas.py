"""The ChatCompletionChunk of each provider, described anew from its AsyncAPI document, and translated to JSON Schema.

Written from `components.schemas` of the documents: all constraints, none of the prose. `openapi.py` says how they are
translated. In none of them is `additionalProperties` named, so members that are not described are allowed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from jsonschema import Draft202012Validator

from ssewire import CENTML, CHUTES, NSCALE, Provider
from tests.strict.openapi import Schema, json_schema

STRING: Schema = {"type": "string"}
INTEGER: Schema = {"type": "integer"}
TEXT: Schema = {"type": "string", "nullable": True}
OBJECT: Schema = {"type": "object"}
ROLE: Schema = {"type": "string", "enum": ["system", "user", "assistant", "tool"]}
FINISH_REASON: Schema = {"type": "string", "nullable": True, "enum": ["stop", "length", "tool_calls"]}
COUNTS: dict[str, Schema] = {"prompt_tokens": INTEGER, "completion_tokens": INTEGER, "total_tokens": INTEGER}


def _reference(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


# What all three say alike.
CHUNK: Schema = {
    "type": "object",
    "required": ["choices", "created", "id", "model", "object"],
    "properties": {
        "id": STRING,
        "choices": {"type": "array", "items": _reference("ChatCompletionChunkChoice")},
        "created": INTEGER,
        "model": STRING,
        "object": {"type": "string", "enum": ["chat.completion.chunk"]},
    },
}
CHUNK_WITH_USAGE: Schema = {**CHUNK, "properties": {**CHUNK["properties"], "usage": _reference("CompletionUsage")}}

CENTML_SCHEMAS: dict[str, Schema] = {
    "ChatCompletionChunk": CHUNK,
    "ChatCompletionChunkChoice": {
        "type": "object",
        "required": ["delta", "index"],
        "properties": {
            "index": INTEGER,
            "delta": _reference("ChatCompletionStreamResponseDelta"),
            "finish_reason": FINISH_REASON,
        },
    },
    "ChatCompletionStreamResponseDelta": {
        "type": "object",
        "properties": {"role": ROLE, "content": TEXT, "tool_calls": {"type": "array", "items": OBJECT}},
    },
}

NSCALE_SCHEMAS: dict[str, Schema] = {
    **CENTML_SCHEMAS,
    "ChatCompletionChunk": CHUNK_WITH_USAGE,
    "CompletionUsage": {"type": "object", "nullable": True, "properties": COUNTS},
}

CHUTES_SCHEMAS: dict[str, Schema] = {
    "ChatCompletionChunk": CHUNK_WITH_USAGE,
    "ChatCompletionChunkChoice": {
        "type": "object",
        "required": ["delta", "finish_reason", "index"],
        "properties": {
            "index": INTEGER,
            "delta": _reference("ChatCompletionStreamResponseDelta"),
            "logprobs": {"type": "object", "nullable": True},
            "finish_reason": FINISH_REASON,
        },
    },
    "ChatCompletionStreamResponseDelta": {
        "type": "object",
        "properties": {
            "role": ROLE,
            "content": TEXT,
            "tool_calls": {
                "type": "array",
                "items": {
                    "type": "object",
                    "required": ["index"],
                    "properties": {
                        "index": INTEGER,
                        "id": STRING,
                        "type": {"type": "string", "enum": ["function"]},
                        "function": {"type": "object", "properties": {"name": STRING, "arguments": STRING}},
                    },
                },
            },
        },
    },
    "CompletionUsage": {
        "type": "object",
        "nullable": True,
        "required": ["prompt_tokens", "completion_tokens", "total_tokens"],
        "properties": COUNTS,
    },
}


class Documented(NamedTuple):
    """A provider, what its document says of a chunk, and the members that its type keeps without a description."""

    provider: Provider[Any]
    schema: Schema
    validator: Any
    kept: frozenset[str] = frozenset()


def validator_of(schema: Schema) -> Any:
    """What checks values after the schema; the schema itself is checked first."""
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator(schema)


def _documented(provider: Provider[Any], schemas: dict[str, Schema], kept: frozenset[str] = frozenset()) -> Documented:
    schema = json_schema("ChatCompletionChunk", schemas)
    return Documented(provider, schema, validator_of(schema), kept)


DOCUMENTED = (
    _documented(NSCALE, NSCALE_SCHEMAS),
    _documented(CENTML, CENTML_SCHEMAS, frozenset({"usage"})),
    _documented(CHUTES, CHUTES_SCHEMAS),
)


def name_of(documented: Documented) -> str:
    """Its id in the names of tests."""
    return documented.provider.name
