"""Parses the arguments of a tool call, and tells text that was cut from text that is no JSON."""

from __future__ import annotations

import json
import re
from typing import Any, Final

import msgspec

from .errors import ToolArgumentsError
from .lenient import tree_of

_LITERALS: Final = ("true", "false", "null", "NaN", "Infinity", "-Infinity")

# What the end of the text cut: a number inside its fraction or exponent, such as `1.` and `-2.5e+`; an escape.
_CUT_NUMBER: Final = re.compile(r"(?<![\d.eE+-])-?(?:0|[1-9]\d*)(?:\.|(?:\.\d+)?[eE][+-]?)\Z")
_CUT_ESCAPE: Final = re.compile(r"\\u[0-9a-fA-F]{0,4}\Z")


def parsed(name: str, arguments: str, type: Any) -> Any:
    """The arguments of the function of that name, decoded to a type; blank text is an empty object.

    Raises:
        ToolArgumentsError: They are no JSON, or not of the type.
    """
    payload = arguments.encode("utf-8", "surrogatepass")
    if not payload.strip():
        payload = b"{}"
    try:
        return msgspec.json.decode(payload, type=type)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass  # told of below: what is of another type may also turn out to be no JSON, further on
    cut = False
    try:
        return msgspec.convert(tree_of(payload), type, str_keys=True)
    except msgspec.ValidationError as error:
        reason = _with_path(error)
    except json.JSONDecodeError as error:
        cut = _is_beginning(error)
        at = len(arguments) if cut else error.pos
        reason = f"{'the JSON ends early,' if cut else error.msg} at character {at}"
    except ValueError as error:
        reason = str(error)
    except RecursionError:
        reason = "nested too deep"
    raise ToolArgumentsError(reason, name=name, arguments=arguments, cut=cut)


def _with_path(error: msgspec.ValidationError) -> str:
    """What msgspec said. It names no path where the whole is not of the type."""
    return str(error) if " - at `" in str(error) else f"{error} - at `$`"


def _is_beginning(error: json.JSONDecodeError) -> bool:
    """Whether the text in which the decoder found this error could go on so that it were JSON."""
    rest = error.doc[error.pos :]
    if not rest.strip() or error.msg.startswith("Unterminated string"):
        return True
    if error.msg == "Expecting value" and any(literal.startswith(rest) for literal in _LITERALS):
        return True
    cut = _CUT_NUMBER.search(error.doc) or _CUT_ESCAPE.search(error.doc)
    # The error must stand in it, not before it.
    return cut is not None and cut.start() < error.pos
