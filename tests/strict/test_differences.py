"""Where a type and its schema differ, as its module says, and what JSON itself forbids: nothing is mended here.

The default chunk type has a second decoder, which mends most of this. The documented types have none.
"""

from __future__ import annotations

import json

import pytest

from ssewire import DecodeError
from tests.strict.checking import check_accepted, encoded, strict_items
from tests.strict.schemas import DOCUMENTED, Documented, name_of
from tests.strict.walking import Path, at, dotted, full, nodes, replaced, types

each_document = pytest.mark.parametrize("documented", DOCUMENTED, ids=name_of)

HOLE = "a place for JSON text"


def with_text(documented: Documented, path: Path, text: bytes) -> bytes:
    """The chunk with every member, with this JSON text at the path."""
    return encoded(replaced(full(documented.schema), path, HOLE)).replace(encoded(HOLE), text)


def refused(documented: Documented, payload: bytes) -> str:
    """The reason for which the type refuses the payload."""
    (error,) = strict_items(documented, payload)
    assert isinstance(error, DecodeError), error
    assert error.payload == payload
    return error.reason


def places(documented: Documented, kind: str) -> list[Path]:
    """Where a value of this JSON type is described."""
    return [path for path, node in nodes(full(documented.schema), documented.schema) if kind in types(node)]


def free(documented: Documented) -> Path:
    """A member of an object that the document allows anything in, and the type keeps."""
    calls: Path = ("choices", 1, "delta", "tool_calls", 1, "free")
    return ("choices", 1, "logprobs", "free") if name_of(documented) == "Chutes" else calls


@each_document
@pytest.mark.parametrize("text", [b"5.0", b"5e0", b"50E-1", b"-0.0"])
def test_an_integer_with_a_fraction_of_zero(documented: Documented, text: bytes) -> None:
    """To JSON Schema 5.0 is an integer; to the types it is none."""
    paths = places(documented, "integer")
    assert ("created",) in paths
    for path in paths:
        payload = with_text(documented, path, text)
        documented.validator.validate(json.loads(payload))
        assert refused(documented, payload) == f"Expected `int`, got `float` - at `{dotted(path)}`"


@each_document
@pytest.mark.parametrize("text", [b"-0", b"9223372036854775808", b"-18446744073709551617", b"9" * 4300])
def test_integers_of_any_size(documented: Documented, text: bytes) -> None:
    for path in (*places(documented, "integer"), free(documented)):
        check_accepted(documented, with_text(documented, path, text))


@each_document
def test_numbers_out_of_range(documented: Documented) -> None:
    """JSON Schema knows no limit; Python's integers end at 4,300 digits, its floats at 1.8e308."""
    digits = b"9" * 4301
    for path in places(documented, "integer"):
        reason = refused(documented, with_text(documented, path, digits))
        assert reason == f"Integer value out of range - at `{dotted(path)}`"
    path = free(documented)
    where = f"`{dotted(path).removesuffix('.free')}[...]`"
    assert refused(documented, with_text(documented, path, digits)) == f"Integer value out of range - at {where}"
    payload = with_text(documented, path, b"1e400")
    documented.validator.validate(json.loads(payload))
    assert refused(documented, payload) == f"Number out of range - at {where}"


@each_document
def test_a_member_that_is_there_twice(documented: Documented) -> None:
    """The last counts, as to json.loads; but each must be what the document says."""
    twice = b'{"id": "first", ' + encoded(full(documented.schema))[1:]
    check_accepted(documented, twice)
    (chunk,) = strict_items(documented, twice)
    assert chunk.id == "5"
    payload = twice.replace(b'"first"', b"1")
    documented.validator.validate(json.loads(payload))
    assert refused(documented, payload) == "Expected `str`, got `int` - at `$.id`"


#: Texts that are no JSON, and a place where the document describes a value of their kind.
NO_JSON: dict[str, tuple[Path, bytes]] = {
    "NaN": (("created",), b"NaN"),
    "Infinity": (("created",), b"Infinity"),
    "minus Infinity": (("created",), b"-Infinity"),
    "a leading zero": (("created",), b"01"),
    "a plus sign": (("created",), b"+1"),
    "no digit behind the point": (("created",), b"1."),
    "no digit before the point": (("created",), b".5"),
    "hexadecimal": (("created",), b"0x1"),
    "a comment": (("created",), b"1 /* one */"),
    "a lone high surrogate": (("model",), b'"\\ud83d, and so on"'),
    "a lone low surrogate": (("model",), b'"\\ude00, and so on"'),
    "surrogates in the wrong order": (("model",), b'"\\ude00\\ud83d"'),
    "a control character": (("model",), b'"a\x01b"'),
    "a tab": (("model",), b'"a\tb"'),
    "an unknown escape": (("model",), b'"\\x41"'),
    "a short escape": (("model",), b'"\\u41"'),
    "single quotes": (("model",), b"'a'"),
    "a word": (("usage",), b"None"),
    "a trailing comma": (("usage",), b'{"prompt_tokens":1,}'),
}


@each_document
@pytest.mark.parametrize(("path", "text"), NO_JSON.values(), ids=NO_JSON)
def test_what_is_no_json(documented: Documented, path: Path, text: bytes) -> None:
    """Refused wherever it stands: in a member that is described, in one that is kept, in one that is skipped."""
    for place in (path, free(documented), ("not_described",)):
        assert refused(documented, with_text(documented, place, text)).startswith("JSON is malformed: ")


@each_document
@pytest.mark.parametrize("text", [b'"\xff"', b'"\xc0\x80"', b'"\xed\xa0\x80"', b'"\xe2\x82"', b'"\xf5\x80\x80\x80"'])
def test_invalid_utf_8(documented: Documented, text: bytes) -> None:
    """Refused in each text that is kept; what is skipped is not looked at."""
    for path in (*places(documented, "string"), free(documented)):
        assert "utf-8" in refused(documented, with_text(documented, path, text)).lower()
    (chunk,) = strict_items(documented, with_text(documented, ("not_described",), text))
    assert chunk == strict_items(documented, encoded(full(documented.schema)))[0]


@each_document
def test_skipped_numbers_may_be_out_of_range(documented: Documented) -> None:
    for text in (b"1e400", b"9" * 4301):
        (chunk,) = strict_items(documented, with_text(documented, ("not_described",), text))
        assert chunk == strict_items(documented, encoded(full(documented.schema)))[0]


@each_document
def test_a_thousand_levels(documented: Documented) -> None:
    nested = b"[" * 100_000 + b"]" * 100_000
    for path in (free(documented), ("not_described",)):
        assert "recursion" in refused(documented, with_text(documented, path, nested))


@each_document
def test_payloads_that_are_not_one_chunk(documented: Documented) -> None:
    """The default type would read a chunk or two in each of these; here each is one DecodeError."""
    chunk = encoded(full(documented.schema))
    assert refused(documented, b"\xef\xbb\xbf" + chunk).startswith("JSON is malformed: ")
    assert refused(documented, chunk + chunk).startswith("JSON is malformed: trailing characters")
    assert refused(documented, chunk + b" [DONE]").startswith("JSON is malformed: trailing characters")
    assert refused(documented, chunk + b" x").startswith("JSON is malformed: trailing characters")
    assert refused(documented, b"[" + chunk + b"]") == "Expected `object`, got `array` - at `$`"
    assert refused(documented, json.dumps(chunk.decode()).encode()) == "Expected `object`, got `str` - at `$`"
    assert refused(documented, chunk[:-1]) == "Input data was truncated"


@each_document
def test_a_blank_line_forgotten(documented: Documented) -> None:
    chunk = encoded(full(documented.schema))
    (error,) = strict_items(documented, chunk + b"\ndata: " + chunk)
    assert isinstance(error, DecodeError)
    assert error.payload == chunk + b"\n" + chunk
    assert error.reason.startswith("JSON is malformed: trailing characters")


@each_document
def test_null_in_place_of_a_chunk_is_skipped(documented: Documented) -> None:
    """As empty data is: it says nothing that could be wrong."""
    chunk = encoded(full(documented.schema))
    assert len(strict_items(documented, b"null", chunk, b" null ", b"")) == 1


@each_document
def test_json_of_several_lines_is_one_chunk(documented: Documented) -> None:
    value = full(documented.schema)
    lines = json.dumps(value, indent=1).encode().replace(b"\n", b"\ndata: ")
    (chunk,) = strict_items(documented, lines)
    assert chunk == strict_items(documented, encoded(value))[0]
    assert at(value, ("id",)) == chunk.id
