"""The arguments of a tool call: decoded to a type, or an error that tells cut text from text that is no JSON."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final, TypedDict

import msgspec
import pytest

from ssewire import ToolArgumentsError, ToolCall, ToolCallFunction


def call(arguments: str) -> ToolCall:
    return ToolCall("c1", "function", ToolCallFunction("get_weather", arguments))


def refused(arguments: str, type: Any = dict[str, Any]) -> ToolArgumentsError:
    with pytest.raises(ToolArgumentsError) as caught:
        call(arguments).parse_arguments(type)
    assert caught.value.name == "get_weather"
    assert caught.value.arguments == arguments
    return caught.value


@pytest.mark.parametrize(
    ("arguments", "right"),
    [
        ("", {}),
        (" \n\t", {}),
        ("{}", {}),
        (' {"a": [1, null, "é"]}\n', {"a": [1, None, "é"]}),
        # Faults that are mended.
        ('{"a": Infinity, "b": -Infinity}', {"a": math.inf, "b": -math.inf}),
        ('{"a": 1e400, "b": -1e400}', {"a": math.inf, "b": -math.inf}),
        ('{"a": "line\nline\ttab\0"}', {"a": "line\nline\ttab\0"}),
        ('{"a": "\\ud83d"}', {"a": "\ufffd"}),
        ('{"a": "\\ud83d\\ude00"}', {"a": "😀"}),
        ('{"a": "\ud83d"}', {"a": "\ufffd\ufffd\ufffd"}),
        ('\ufeff{"a": 1}', {"a": 1}),
        (f'{{"a": {10**100}}}', {"a": 10**100}),
    ],
)
def test_arguments_are_decoded(arguments: str, right: dict[str, Any]) -> None:
    assert call(arguments).parse_arguments() == right


class AStruct(msgspec.Struct):
    city: str
    days: int = 1


@dataclass
class AData:
    city: str
    days: int = 1


class ADict(TypedDict):
    city: str


@pytest.mark.parametrize(
    ("type", "right"),
    [(AStruct, AStruct("Ulm")), (AData, AData("Ulm")), (ADict, {"city": "Ulm"}), (dict, {"city": "Ulm"})],
)
def test_arguments_are_decoded_to_a_type(type: Any, right: Any) -> None:
    assert call('{"city": "Ulm"}').parse_arguments(type) == right
    # Mended too.
    assert call('{"city": "Ulm", "x": NaN}').parse_arguments(AStruct) == AStruct("Ulm")
    assert call('{"city": "a\nb"}').parse_arguments(AData) == AData("a\nb")


def test_blank_arguments_are_an_empty_object_for_any_type() -> None:
    class Options(msgspec.Struct):
        depth: int = 3

    assert call("").parse_arguments(Options) == Options(3)
    error = refused("", AStruct)
    assert (error.cut, error.reason) == (False, "Object missing required field `city` - at `$`")


WHOLE: Final = (
    '{"a": [1, -2.5e+3, 0.5, true, false, null], "b": {"c": "\\u00e9\\n\\"x"}, "d": NaN, "e": -Infinity, "f": 1E5}'
)


@pytest.mark.parametrize("end", range(1, len(WHOLE)))
def test_every_beginning_is_known_to_be_cut(end: int) -> None:
    assert refused(WHOLE[:end]).cut is True


@pytest.mark.parametrize(
    "arguments", ["-", "1.", "1e", "12E+", "-0.", "tru", "N", "-Inf", '"', '"a\\', '"\\u', '"\\u12', "[1 ", "[{"]
)
def test_beginnings_of_other_values_are_cut_too(arguments: str) -> None:
    assert refused(arguments).cut is True


# What can never become JSON, whatever comes behind it; and the place.
BROKEN: Final = {
    '{"a": 1}}': 8,
    '{"a": 1} x': 9,
    '{"a": 1}{"b"': 8,
    "{a": 1,
    "{'a': 1": 1,
    '{"a" 1': 5,
    '{"a": 1 "b"': 8,
    '{"a": 1 t': 8,
    '{"a" n': 5,
    "{n": 1,
    '{"a": x 1.': 6,
    '{"a": tru ': 6,
    '{"a": trux': 6,
    '{"a": nul, "b": n': 6,
    "[1 2.": 3,
    "[1.5.": 4,
    "[01.": 2,
    "[1e5e": 4,
    "[1.e": 2,
    '["\\x': 2,
    '["\\u12", "\\uzz", "\\u00': 3,
    "get_weather(": 0,
    "<tool>": 0,
}


@pytest.mark.parametrize(("arguments", "place"), BROKEN.items(), ids=list(BROKEN))
def test_what_can_never_become_json_is_not_cut(arguments: str, place: int) -> None:
    error = refused(arguments)
    assert error.cut is False
    assert error.reason.endswith(f" at character {place}")


@pytest.mark.parametrize(
    ("arguments", "type", "reason"),
    [
        ("[1]", dict[str, Any], "Expected `object`, got `array` - at `$`"),
        ("12", dict[str, Any], "Expected `object`, got `int` - at `$`"),
        ("null", dict[str, Any], "Expected `object`, got `null` - at `$`"),
        ('{"city": 5}', AStruct, "Expected `str`, got `int` - at `$.city`"),
        ('{"city": 5}', AData, "Expected `str`, got `int` - at `$.city`"),
        ('{"city": NaN}', AStruct, "Expected `str`, got `float` - at `$.city`"),
        ('{"city": "a", "days": "1"}', AStruct, "Expected `int`, got `str` - at `$.days`"),
        ("{}", ADict, "Object missing required field `city` - at `$`"),
    ],
)
def test_json_of_another_type_is_not_cut(arguments: str, type: Any, reason: str) -> None:
    error = refused(arguments, type)
    assert (error.cut, error.reason) == (False, reason)


def test_text_that_is_both_of_another_type_and_cut_is_cut() -> None:
    assert refused('{"city": 5, "days": [', AStruct).cut is True


@pytest.mark.parametrize("arguments", ['{"a":' * 100_000, "[" * 100_000 + "]" * 100_000, '{"a": 1' + "0" * 5000 + "}"])
def test_what_no_decoder_reads_is_not_cut(arguments: str) -> None:
    assert refused(arguments).cut is False


def test_the_message_says_which_function_what_and_where() -> None:
    assert str(refused('{"city": "Ul')) == (
        "the arguments of function 'get_weather' cannot be decoded: the JSON ends early, at character 12; "
        'they end with \'{"city": "Ul\''
    )
    assert str(refused('{"city" "Ulm"}')) == (
        "the arguments of function 'get_weather' cannot be decoded: Expecting ':' delimiter at character 8; "
        'they begin with \'{"city" "Ulm"}\''
    )
    assert len(str(refused('{"a": "' + "é" * 100_000))) < 400


def test_a_type_that_msgspec_does_not_know_is_wrong_use() -> None:
    with pytest.raises(TypeError, match="not supported"):
        call("{}").parse_arguments(list[int] | list[str])  # type: ignore[arg-type]
