"""The shapes in which servers send an error in the middle of a stream, and what a reader must make of each.

A shape writes the error and gives it as the reader sees it. Those that end with the body say so.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from .answer import Fault
from .expected import Problem
from .wire import Writer


@dataclass(frozen=True)
class Shape:
    """How an error is written."""

    name: str
    write: Callable[[Writer, Fault], Problem]
    last: bool = False
    """Whether the body ends with it."""
    bare: bool = False
    """Whether it is JSON in no field; where no event came before, it is then the whole body."""


def _object(fault: Fault) -> dict[str, Any]:
    return {"message": fault.message, "type": fault.type, "param": fault.param, "code": fault.code}


def _problem(fault: Fault, body: Any) -> Problem:
    return Problem(fault.message, fault.type, fault.code, fault.param, body)


def _event(writer: Writer, fault: Fault) -> Problem:
    body = {"error": _object(fault)}
    writer.error(body)
    return _problem(fault, body)


def _sparse(writer: Writer, fault: Fault) -> Problem:
    body = {"error": {"message": fault.message, "type": fault.type, "param": None, "code": None}}
    writer.error(body)
    return Problem(fault.message, fault.type, None, None, body)


def _text(writer: Writer, fault: Fault) -> Problem:
    body = {"error": fault.message, "error_type": fault.type, "code": fault.code}
    writer.error(body)
    return Problem(fault.message, fault.type, fault.code, None, body)


def _flat(writer: Writer, fault: Fault) -> Problem:
    body = {"object": "error", **_object(fault)}
    writer.error(body)
    return _problem(fault, body)


def _typed(writer: Writer, fault: Fault) -> Problem:
    body = {"type": "error", "error": {"type": fault.type, "message": fault.message}, "request_id": "req_017"}
    writer.error(body)
    return Problem(fault.message, fault.type, None, None, body)


def _listed(writer: Writer, fault: Fault) -> Problem:
    body = [{"error": {"code": fault.code, "message": fault.message, "status": "UNAVAILABLE"}}]
    writer.error(body)
    return Problem(fault.message, None, fault.code, None, body)


def _named(writer: Writer, fault: Fault) -> Problem:
    error = {"message": fault.message, "type": fault.type, "code": fault.code, "failed_generation": "{", "status": 400}
    body = {"error": error}
    writer.event("error", writer.wire.json(body))
    return Problem(fault.message, fault.type, fault.code, None, body)


def _named_bare(writer: Writer, fault: Fault) -> Problem:
    body = {"code": fault.code, "message": fault.message}
    writer.event("error", writer.wire.json(body))
    return Problem(fault.message, None, fault.code, None, body)


def _named_text(writer: Writer, fault: Fault) -> Problem:
    writer.event("error", fault.message)
    return Problem(fault.message, None, None, None, fault.message)


def _field(writer: Writer, fault: Fault) -> Problem:
    body = {"detail": fault.message, "error": {"message": fault.message}}
    writer.line(f"error: {writer.wire.json(body)}")
    writer.line("")
    return Problem(fault.message, None, None, None, body)


def _bare(writer: Writer, fault: Fault) -> Problem:
    body = {"error": _object(fault)}
    writer.line(writer.wire.json(body))
    writer.line("")
    return _problem(fault, body)


def _bare_indented(writer: Writer, fault: Fault) -> Problem:
    body = {"error": _object(fault)}
    for line in writer.wire.json(body, indent=2).split("\n"):
        writer.line(line)
    return _problem(fault, body)


def _bare_end(writer: Writer, fault: Fault) -> Problem:
    body = {"error": fault.message}
    writer.line(writer.wire.json(body), end="")
    return Problem(fault.message, None, None, None, body)


def _bare_behind(writer: Writer, fault: Fault) -> Problem:
    writer.flush()
    writer.reopen()
    return _bare_end(writer, fault)


SHAPES: Final = (
    Shape("event", _event),
    Shape("sparse event", _sparse),
    Shape("text", _text),
    Shape("flat", _flat),
    Shape("typed", _typed),
    Shape("listed", _listed),
    Shape("named", _named),
    Shape("named, no error member", _named_bare),
    Shape("named, no JSON", _named_text),
    Shape("field", _field),
    Shape("bare line", _bare, bare=True),
    Shape("bare lines", _bare_indented, bare=True),
    Shape("bare end", _bare_end, last=True, bare=True),
    Shape("bare behind an event", _bare_behind, last=True, bare=True),
)
"""Every shape but the error beside choices, which is a member of a chunk: `BESIDE`."""

BESIDE: Final = "beside choices"
