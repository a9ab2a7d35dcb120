"""The second decoder: reads what msgspec refuses, and fits it to the built-in chunk type.

It is slower by an order of magnitude and sees only what the first one refused. Two things are refused there: JSON that
is not quite JSON (`tree_of`), and members of another kind than the chunk's (`chunk_of`).
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, Final, TypeAlias

import msgspec

from .models import ChatCompletionChunk, CompletionUsage, content_text

DONE: Final = b"[DONE]"
"""The sentinel."""

_SPACE: Final = re.compile(r"[ \t\r\n]*")

# An escape of a surrogate is whole as a pair of a high and a low one. Any other escape is matched too, so that the
# backslash that ends one is not taken for the start of the next.
_ESCAPE: Final = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)", re.DOTALL
)


def tree_of(payload: bytes) -> Any:
    """Decode JSON with the faults that servers make.

    NaN and Infinity, and numbers beyond msgspec's range, are floats and integers; what is no UTF-8, and half a
    surrogate pair, become U+FFFD; raw control characters inside strings are kept; a byte-order mark is dropped.

    Raises:
        ValueError: It is no JSON in spite of that, or has a number of more than 4,300 digits.
        RecursionError: It is nested too deep.
    """
    text = _mend_surrogates(payload).decode("utf-8", "replace").removeprefix("\ufeff")
    return json.loads(text, strict=False)


def _mend_surrogates(payload: bytes) -> bytes | bytearray:
    if b"\\u" not in payload:
        return payload
    mended = bytearray(payload)
    for match in _ESCAPE.finditer(payload):
        if match[1]:
            mended[slice(*match.span(1))] = b"ufffd"
    return mended


def tree_or_none(payload: bytes) -> Any:
    """Decode JSON, with or without faults; None for what is none (and for null)."""
    try:
        return msgspec.json.decode(payload)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass
    try:
        return tree_of(payload)
    except (ValueError, RecursionError):
        return None


def documents(data: bytes) -> Iterator[bytes]:
    """Give the JSON objects and arrays that stand behind one another, and the sentinel where that is one of them.

    Raises:
        ValueError: What comes next is none of these.
        RecursionError: It is nested too deep.
    """
    # Every byte is a character of Latin-1, and JSON's own signs are the same in it: so places are counted in bytes.
    text = data.decode("latin-1")
    decode = json.JSONDecoder(strict=False).raw_decode
    at = _behind_space(text, 0)
    while at < len(text):
        if data.startswith(DONE, at):
            end = at + len(DONE)
        elif text[at] in "{[":
            _, end = decode(text, at)
        else:
            raise ValueError("neither an object nor an array")
        yield data[at:end]
        at = _behind_space(text, end)


def _behind_space(text: str, at: int) -> int:
    return found.end() if (found := _SPACE.match(text, at)) else at


def first_document(data: bytes) -> bytes | None:
    """The JSON object or array that the data begins with, whatever is behind it; None where there is no whole one."""
    try:
        return next(documents(data), None)
    except (ValueError, RecursionError):
        return None


def chunk_of(tree: Any) -> ChatCompletionChunk:
    """Make a chunk of a tree in which members may be of another kind than they should.

    Null is as good as absent. A number is read where it was sent as text, and the reverse; an empty list where an
    object should be is an empty object (so PHP writes it). Of what is left, `choices` and what holds text and tool
    calls is refused; any other member is left out.

    Raises:
        msgspec.ValidationError: With the path.
    """
    if not isinstance(tree, dict):
        raise _refusal(tree, "object", "$")
    return msgspec.convert(_members(tree, _CHUNK, "$"), ChatCompletionChunk)


def usage_of(value: object) -> CompletionUsage | None:
    """The usage that a decoded member holds; None where it holds no count."""
    if not isinstance(value, dict):
        return None
    usage = msgspec.convert(_members(value, _USAGE, "$"), CompletionUsage)
    counts = (usage.prompt_tokens, usage.completion_tokens, usage.total_tokens)
    return None if all(count is None for count in counts) else usage


_ABSENT: Final[Any] = object()

_Rule: TypeAlias = Callable[[Any, str], Any]
"""Gives the member as it is meant, or `_ABSENT`, from what was sent and its path."""


def _refusal(value: object, expected: str, path: str) -> msgspec.ValidationError:
    kinds: dict[type[Any], str] = {dict: "object", list: "array", str: "str", bool: "bool", type(None): "null"}
    return msgspec.ValidationError(
        f"Expected `{expected}`, got `{kinds.get(type(value), type(value).__name__)}` - at `{path}`"
    )


def _members(tree: dict[str, Any], rules: dict[str, _Rule], path: str) -> dict[str, Any]:
    fitted = {key: rule(tree[key], f"{path}.{key}") for key, rule in rules.items() if tree.get(key) is not None}
    return {key: value for key, value in fitted.items() if value is not _ABSENT}


def _is_number(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _text(value: Any, _path: str) -> Any:
    if isinstance(value, str):
        return value
    return json.dumps(value) if _is_number(value) else _ABSENT


def _number(value: Any, _path: str) -> Any:
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return _ABSENT
    return value if _is_number(value) else _ABSENT


def _reason(value: Any, path: str) -> Any:
    return _text(value, path) if value else _ABSENT


def _index(value: Any, path: str) -> Any:
    if value == "":
        return _ABSENT
    number = _number(value, path)
    if isinstance(number, float) and number.is_integer():
        return int(number)
    if not isinstance(number, int):
        raise _refusal(value, "int", path)
    return number


def _tool_index(value: Any, path: str) -> Any:
    try:
        return _index(value, path)
    except msgspec.ValidationError:
        return _ABSENT


def _object(value: Any, _path: str) -> Any:
    return value if isinstance(value, dict) else _ABSENT


def _aside(value: Any, _path: str) -> Any:
    """Text beside the answer: reasoning, a refusal. Typed parts are joined; what is no text at all is left out."""
    if isinstance(value, (dict, list)):
        return content_text([value] if isinstance(value, dict) else value) or _ABSENT
    return _text(value, "")


def _written(value: Any, path: str) -> Any:
    """Text of the answer itself."""
    if isinstance(value, str):
        return value
    if value is False:
        return _ABSENT
    if not _is_number(value):
        raise _refusal(value, "str", path)
    return json.dumps(value)


def _content(value: Any, path: str) -> Any:
    """Text, or typed parts; a part alone stands for a list of one."""
    if isinstance(value, (dict, list)):
        return [value] if isinstance(value, dict) else value
    return _written(value, path)


def _parts(value: Any, _path: str) -> Any:
    if isinstance(value, dict):
        return [value]
    return value if isinstance(value, list) else _ABSENT


def _arguments(value: Any, _path: str) -> Any:
    return value if isinstance(value, (str, dict)) else json.dumps(value)


def _struct(rules: dict[str, _Rule], *, optional: bool = False) -> _Rule:
    def rule(value: Any, path: str) -> Any:
        if isinstance(value, dict):
            return _members(value, rules, path)
        if optional or not value:
            return _ABSENT
        raise _refusal(value, "object", path)

    return rule


def _list_of(rules: dict[str, _Rule]) -> _Rule:
    """A list of objects. One alone stands for a list of one, numbered members for a list (so PHP writes some)."""
    item = _struct(rules)

    def rule(value: Any, path: str) -> Any:
        if not value:
            return _ABSENT
        if isinstance(value, dict):
            if all(key.isdecimal() for key in value):
                value = list(value.values())
            elif not rules.keys().isdisjoint(value):
                value = [value]
        if not isinstance(value, list):
            raise _refusal(value, "array", path)
        fitted = (item(entry, f"{path}[{at}]") for at, entry in enumerate(value) if entry is not None)
        return [entry for entry in fitted if entry is not _ABSENT]

    return rule


_FUNCTION: Final[dict[str, _Rule]] = {"name": _text, "arguments": _arguments}
_TOOL_CALL: Final[dict[str, _Rule]] = {
    "index": _tool_index,
    "id": _text,
    "function": _struct(_FUNCTION),
    "type": _text,
}
_DELTA: Final[dict[str, _Rule]] = {
    "role": _text,
    "content": _content,
    "reasoning_content": _aside,
    "reasoning": _aside,
    "tool_calls": _list_of(_TOOL_CALL),
    "refusal": _aside,
    "reasoning_details": _parts,
    "function_call": _struct(_FUNCTION, optional=True),
    "annotations": _parts,
    "audio": _object,
    "images": _parts,
}
_USAGE: Final[dict[str, _Rule]] = {
    "prompt_tokens": _number,
    "completion_tokens": _number,
    "total_tokens": _number,
    "prompt_tokens_details": _object,
    "completion_tokens_details": _object,
}
_CHOICE: Final[dict[str, _Rule]] = {
    "index": _index,
    "delta": _struct(_DELTA),
    "finish_reason": _reason,
    "logprobs": _object,
}
_CHUNK: Final[dict[str, _Rule]] = {
    "id": _text,
    "object": _text,
    "created": _number,
    "model": _text,
    "choices": _list_of(_CHOICE),
    "usage": _struct(_USAGE, optional=True),
    "system_fingerprint": _text,
    "service_tier": _text,
}
