"""Strategies from a schema: payloads that it allows, and payloads with one constraint broken.

Written here, since hypothesis-jsonschema 0.23.1 (its last release) reaches into internals of hypothesis that are gone.
"""

from __future__ import annotations

import json
from typing import Any

from hypothesis import strategies as st

from tests.strict.openapi import Schema
from tests.strict.walking import ELSEWHERE, SAMPLES, Break, Path, at, nodes, types, wrong_types

# Words by which a stream tells an error of the server from a chunk: an error is none of a chunk type's business.
_OF_ERRORS = {"error", "object", "type"}

texts = st.text(st.characters(codec="utf-8"), max_size=12)
_names = texts.filter(lambda name: name not in _OF_ERRORS)
_integers = st.integers() | st.integers(-(2**64), 2**64) | st.integers(10**300, 10**400)
_fractions = st.floats(allow_nan=False, allow_infinity=False)
_scalars = st.none() | st.booleans() | _integers | _fractions | texts
anything = st.recursive(
    _scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_names, inner, max_size=3),
    max_leaves=6,
)
"""Any JSON value."""

# Members that services send and the documents do not describe, or only some of them.
_SEEN = (
    "usage",
    "logprobs",
    "stop_reason",
    "matched_stop",
    "reasoning_content",
    "refusal",
    "system_fingerprint",
    "chutes_verification",
    "x_groq",
)

_KINDS: dict[str, st.SearchStrategy[Any]] = {
    "null": st.none(),
    "boolean": st.booleans(),
    "integer": _integers,
    "number": _fractions.filter(lambda value: not value.is_integer()),
    "string": texts,
    "array": st.lists(anything, max_size=2),
    "object": st.dictionaries(_names, anything, max_size=2),
}
assert _KINDS.keys() == SAMPLES.keys()


def values(schema: Schema) -> st.SearchStrategy[Any]:
    """What the schema allows."""
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    return st.one_of([_of_type(kind, schema) for kind in types(schema)])


def _of_type(kind: str, schema: Schema) -> st.SearchStrategy[Any]:
    if kind == "object" and "properties" in schema:
        return _objects(schema)
    if kind == "array":
        return st.lists(values(schema["items"]), max_size=3)
    return _KINDS[kind]


@st.composite
def _objects(draw: st.DrawFn, schema: Schema) -> dict[str, Any]:
    """An object with its required members, some of the others, some that are not described, in any order."""
    members = schema["properties"]
    required = set(schema.get("required", ()))
    names = [name for name in members if name in required or draw(st.booleans())]
    found = {name: draw(values(members[name])) for name in names}
    for name in draw(st.lists(st.sampled_from(_SEEN) | _names, max_size=2)):
        if name not in members:
            found[name] = draw(anything)
    return {name: found[name] for name in draw(st.permutations(list(found)))}


@st.composite
def broken_values(draw: st.DrawFn, schema: Schema) -> tuple[Any, Break]:
    """What the schema allows, and a constraint to break in it."""
    instance = draw(values(schema))
    # One of each kind first: there are ten wrong types for each required member, and null is the likeliest mistake.
    ways: dict[str, list[st.SearchStrategy[Break]]] = {"type": [], "null": [], "enum": [], "required": []}
    for path, node in nodes(instance, schema):
        for kind in wrong_types(path, node):
            ways["null" if kind == "null" else "type"].append(_breaks("type", path, _KINDS[kind]))
        if "enum" in node:
            ways["enum"].append(_breaks("enum", path, _no_value_of(node["enum"])))
        if isinstance(at(instance, path), dict):
            ways["required"] += [
                st.just(Break("required", path, removed=member)) for member in node.get("required", ())
            ]
    return instance, draw(draw(st.sampled_from(ways[draw(st.sampled_from(list(ways)))])))


def _breaks(word: str, path: Path, wrong: st.SearchStrategy[Any]) -> st.SearchStrategy[Break]:
    return wrong.map(lambda value: Break(word, path, value))


def _no_value_of(enum: list[Any]) -> st.SearchStrategy[str]:
    allowed = {*enum, *_OF_ERRORS}
    return (st.sampled_from(ELSEWHERE) | texts).filter(lambda text: text not in allowed)


@st.composite
def written(draw: st.DrawFn, value: Any) -> bytes:
    """A value as JSON on one line, in one of the ways that servers write it."""
    separators = draw(st.sampled_from([(",", ":"), (", ", ": "), (" , ", " : ")]))
    return json.dumps(value, ensure_ascii=draw(st.booleans()), separators=separators).encode()
