"""Every constraint of each document broken alone, in a chunk that has all members; and what they allow."""

from __future__ import annotations

import pytest

from tests.strict.checking import check_accepted, check_refused, encoded
from tests.strict.schemas import DOCUMENTED, Documented, name_of
from tests.strict.walking import SAMPLES, Break, Path, at, breaks, dotted, full, nodes, replaced, types, without

FULL = {name_of(documented): full(documented.schema) for documented in DOCUMENTED}

#: Where null is allowed, and nowhere else, by hand from the documents.
NULLABLE = {
    "Nscale": {"usage", "choices.finish_reason", "choices.delta.content"},
    "CentML": {"choices.finish_reason", "choices.delta.content"},
    "Chutes": {"usage", "choices.finish_reason", "choices.delta.content", "choices.logprobs"},
}

each_document = pytest.mark.parametrize("documented", DOCUMENTED, ids=name_of)

# Of the two items in each array the second is broken: its path shows that items are counted.
EVERY_BREAK = [
    pytest.param(documented, broken, id=f"{name_of(documented)}-{broken}")
    for documented in DOCUMENTED
    for broken in breaks(FULL[name_of(documented)], documented.schema)
    if 0 not in broken.path
]
EVERY_PLACE = [
    pytest.param(documented, path, id=f"{name_of(documented)}-{dotted(path)}")
    for documented in DOCUMENTED
    for path, _ in nodes(FULL[name_of(documented)], documented.schema)
    if path and 0 not in path
]


def _described_as(path: Path) -> str:
    return ".".join(key for key in path if isinstance(key, str))


@each_document
def test_a_chunk_with_every_member(documented: Documented) -> None:
    check_accepted(documented, encoded(FULL[name_of(documented)]))


@pytest.mark.parametrize(("documented", "broken"), EVERY_BREAK)
def test_a_broken_constraint(documented: Documented, broken: Break) -> None:
    payload = broken.of(FULL[name_of(documented)])
    error = check_refused(documented, encoded(payload), broken.path, broken.removed)
    words = {str(fault.validator) for fault in documented.validator.iter_errors(payload)}
    # What is no string is no value of an enum either.
    assert words - {"enum"} == {broken.word} - {"enum"}
    assert broken.word in words
    if broken.word == "enum":
        assert error.reason.startswith(f"Invalid enum value '{broken.value}'")
    elif broken.word == "type":
        assert f", got `{_GOT[_kind(broken.value)]}`" in error.reason


# How msgspec calls the JSON types.
_GOT = {"null": "null", "boolean": "bool", "integer": "int", "number": "float"} | {
    "string": "str",
    "array": "array",
    "object": "object",
}


def _kind(value: object) -> str:
    return next(kind for kind, sample in SAMPLES.items() if type(sample) is type(value))


@pytest.mark.parametrize(("documented", "path"), EVERY_PLACE)
def test_null(documented: Documented, path: Path) -> None:
    """Accepted exactly where the document says nullable."""
    payload = encoded(replaced(FULL[name_of(documented)], path, None))
    if _described_as(path) in NULLABLE[name_of(documented)] and isinstance(path[-1], str):
        check_accepted(documented, payload)
    else:
        assert "got `null`" in check_refused(documented, payload, path).reason


@each_document
def test_every_value_of_an_enum(documented: Documented) -> None:
    values = 0
    for path, node in nodes(FULL[name_of(documented)], documented.schema):
        for value in node.get("enum", ()):
            check_accepted(documented, encoded(replaced(FULL[name_of(documented)], path, value)))
            values += 1
    assert values >= 1 + 2 * (4 + 4)


@each_document
def test_every_other_member_may_be_absent(documented: Documented) -> None:
    instance = FULL[name_of(documented)]
    absent = set()
    for path, node in nodes(instance, documented.schema):
        for member in node.get("properties", {}).keys() - set(node.get("required", ())):
            check_accepted(documented, encoded(without(instance, path, member)))
            absent.add(_described_as((*path, member)))
    assert absent == ABSENT[name_of(documented)]


_IN_DELTA = {"choices.delta.role", "choices.delta.content", "choices.delta.tool_calls"}
_IN_USAGE = {"usage.prompt_tokens", "usage.completion_tokens", "usage.total_tokens"}
_IN_CALL = {f"choices.delta.tool_calls.{name}" for name in ("id", "type", "function")}
_IN_FUNCTION = {f"choices.delta.tool_calls.function.{name}" for name in ("name", "arguments")}

#: The members that need not be there, by hand from the documents.
ABSENT = {
    "Nscale": {"usage", "choices.finish_reason"} | _IN_DELTA | _IN_USAGE,
    "CentML": {"choices.finish_reason"} | _IN_DELTA,
    "Chutes": {"usage", "choices.logprobs"} | _IN_DELTA | _IN_CALL | _IN_FUNCTION,
}


@each_document
def test_the_least_that_is_allowed(documented: Documented) -> None:
    """Only what is required, down to a choice; then without a choice."""
    choice = {"index": 0, "delta": {}} | ({"finish_reason": None} if name_of(documented) == "Chutes" else {})
    least = {"id": "", "choices": [choice], "created": 0, "model": "", "object": "chat.completion.chunk"}
    check_accepted(documented, encoded(least))
    check_accepted(documented, encoded({**least, "choices": []}))


@each_document
@pytest.mark.parametrize("kind", SAMPLES)
def test_members_that_are_not_described(documented: Documented, kind: str) -> None:
    """Allowed in every object, whatever they hold; names that other providers use among them."""
    instance = FULL[name_of(documented)]
    for path, node in nodes(instance, documented.schema):
        if "object" not in types(node):
            continue
        for name in {"usage", "logprobs", "stop_reason", "matched_stop", "refusal"} - node.get("properties", {}).keys():
            payload = replaced(instance, path, {**at(instance, path), name: SAMPLES[kind]})
            check_accepted(documented, encoded(payload))
