"""What a server says when it fails: which JSON values are errors, and where in them the sentence, type and code stand.

Each provider has a shape of its own, and gateways wrap one in another: `{"error": {...}}`, `{"error": "text"}`,
`{"object": "error", ...}`, `{"type": "error", ...}`, one of these in an array, `{"detail": ...}` as the body of a
refused request. Every member that has no place in `APIError` is in its `body`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, TypeVar

import msgspec

from .errors import APIError

T = TypeVar("T")

# An error without a sentence of its own is told by so many of its first bytes; `body` has all of it.
_QUOTED: Final = 500

# So many sentences of a list are told; `body` has all of them.
_TOLD: Final = 16

# One error inside another: gateways nest two or three.
_DEEPEST: Final = 8

# Members that hold the sentence, the usual ones first; and members that are wrapped around the error.
_SENTENCES: Final = ("message", "msg", "Message", "error_msg", "error_message", "errorMessage", "faultstring")
_POORER_SENTENCES: Final = ("details", "error_description", "description", "title", "reason")
_WRAPPERS: Final = ("error", "detail", "errors", "fault")
_CODES: Final = ("code", "error_code", "status_code", "statusCode", "status")


class Glance(msgspec.Struct, gc=False):
    """What tells an error and a chunk. All else is skipped: as a tree of objects it would take many times its bytes."""

    error: Any = None
    object: Any = None
    type: Any = None
    x_groq: Any = None
    choices: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET

    @property
    def is_error(self) -> bool:
        """Whether the object is an error, or has one beside what else it is."""
        return _is_error(self.members)

    @property
    def members(self) -> dict[str, Any]:
        """What was seen of the object."""
        seen = {"error": self.error, "object": self.object, "type": self.type, "x_groq": self.x_groq}
        return {name: value for name, value in seen.items() if value is not None}


# What may stand in an array beside an error is decoded, but not looked at.
_glance: Final = msgspec.json.Decoder(Glance | list[Glance | list[Any] | str | int | float | bool | None]).decode


def glance(payload: bytes) -> Glance | None:
    """What tells whether a payload is an error or a chunk: of an array, its first error; None for what is refused."""
    try:
        seen = _glance(payload)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return None
    if isinstance(seen, list):
        return next((item for item in seen if isinstance(item, Glance) and item.is_error), None)
    return seen


def error_in(value: object) -> dict[str, Any] | None:
    """The object that is an error, or has one: the value itself, or the first of an array; None where there is none."""
    items: Iterable[object] = value if isinstance(value, list) else (value,)
    return next((item for item in items if isinstance(item, dict) and _is_error(item)), None)


def _is_error(item: dict[str, Any]) -> bool:
    if "error" in (item.get("object"), item.get("type")):
        return True
    return bool(item.get("error") or _groq_error(item))


def api_error(body: Any, *, status: int | None = None, headers: Mapping[str, str] | None = None) -> APIError:
    """The exception for what a server sent as an error: a decoded JSON value, or text that is no JSON."""
    levels, said = _levels(error_in(body) or body)
    return APIError(
        _message(levels, said) or _quote(body).strip() or "the server sent an error and nothing about it",
        type=_first(levels, ("type", "error_type"), _text),
        code=_first(levels, _CODES, _code),
        param=_first(levels, ("param",), _names),
        body=body,
        status=status,
        headers=headers,
    )


def _levels(value: Any) -> tuple[list[dict[str, Any]], Any]:
    """The error object and what it is wrapped in, the innermost first; and what it holds where no object is."""
    levels: list[dict[str, Any]] = []
    while isinstance(value, dict) and len(levels) < _DEEPEST:
        levels.insert(0, value)
        value = next(filter(None, map(value.get, _WRAPPERS)), None) or _groq_error(value)
    if isinstance(value, list) and levels and levels[0].get("detail") is not value:
        # Of several errors the first tells type and code; FastAPI's details are of another kind.
        levels[:0] = [item for item in value[:1] if isinstance(item, dict)]
    return levels, value


def _groq_error(value: dict[str, Any]) -> Any:
    """Groq's word on why it stopped a stream early."""
    return groq.get("error") if isinstance(groq := value.get("x_groq"), dict) else None


def _message(levels: list[dict[str, Any]], said: Any) -> str:
    inner, outer = levels[:1], levels[1:]
    return (
        (_sentence(said) if isinstance(said, list) else "")
        or _first(inner, _SENTENCES, _sentence)
        or _sentence(said)
        or _first(inner, _POORER_SENTENCES, _sentence)
        or _first(outer, _SENTENCES, _sentence)
        or ""
    )


def _first(levels: list[dict[str, Any]], keys: Iterable[str], read: Callable[[object], T]) -> T | None:
    """The first member that says something: of the error object, else of what it stands in."""
    for level in levels:
        for key in keys:
            if (found := read(level.get(key))) not in (None, ""):
                return found
    return None


def _sentence(value: object, depth: int = 0) -> str:
    """A text, also out of a list of them or of objects that have one, such as FastAPI's list of what is wrong where."""
    if isinstance(value, str):
        return value.strip()
    if depth == _DEEPEST:
        return ""
    if isinstance(value, list):
        return "; ".join(filter(None, (_sentence(item, depth + 1) for item in value[:_TOLD])))
    if not isinstance(value, dict):
        return ""
    said = (_sentence(value.get(key), depth + 1) for key in (*_SENTENCES, "detail"))
    if (text := next(filter(None, said), "")) and isinstance(path := value.get("loc"), list):
        where = ".".join(str(key) for key in path if isinstance(key, (str, int)))
        return f"{where}: {text}" if where else text
    return text or _quote(value)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _code(value: object) -> str | int | None:
    """A code is a number or a text, as it was sent."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, (str, int)) and not isinstance(value, bool) else None


def _names(value: object) -> str | None:
    """The parameter that is at fault; some servers name several."""
    if isinstance(value, list):
        return ", ".join(name for name in value if isinstance(name, str))
    return _text(value)


def _quote(value: object) -> str:
    try:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except RecursionError:
        return "the server sent an error that is nested too deep to be shown"
    return text if len(text) <= _QUOTED else text[:_QUOTED] + "…"
