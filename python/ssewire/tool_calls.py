"""Merges the pieces of tool calls. Which call a piece belongs to, servers tell in half a dozen ways.

The index is a key, not a place. Where it is absent the id tells, and where both are, the order. Some servers number
every call 0, and then a new id with a name begins another; others send a new id with each piece, which means nothing.
"""

from __future__ import annotations

from io import StringIO
from typing import Any

from .completion import ToolCall, ToolCallFunction
from .models import ChoiceDeltaToolCall, ChoiceDeltaToolCallFunction
from .trees import json_text, key_of


class FunctionPieces:
    """Name and arguments of one call, as far as they came."""

    __slots__ = ("_arguments", "_length", "_name", "has_arguments")

    def __init__(self) -> None:
        self._name: list[str] = []
        self._length = 0
        self._arguments = StringIO()
        self.has_arguments = False

    @property
    def has_name(self) -> bool:
        """Whether a piece of the name came."""
        return self._length > 0

    def is_of_another(self, name: str) -> bool:
        """Whether a name belongs to another call: behind arguments it is no piece of this one's."""
        return self.has_name and self.has_arguments and name != self._joined_name()

    def add(self, name: str, arguments: str | None) -> None:
        """Join a piece; of the arguments None is an object without members.

        A piece of a name that is the whole name so far only repeats it. An empty object may stand before text, and
        says no more than nothing then.
        """
        if name and not (len(name) == self._length and name == self._joined_name()):
            self._name.append(name)
            self._length += len(name)
        self.has_arguments |= arguments != ""
        if arguments:
            self._arguments.write(arguments)

    def _joined_name(self) -> str:
        # Joined once for each piece as long as all before it, so the work grows with the text.
        if len(self._name) > 1:
            self._name = ["".join(self._name)]
        return self._name[0] if self._name else ""

    def result(self) -> ToolCallFunction:
        """What they are so far."""
        arguments = self._arguments.getvalue() or ("{}" if self.has_arguments else "")
        return ToolCallFunction("".join(self._name), arguments)


def said_of(function: Any) -> tuple[str, str | None]:
    """Name and arguments in a piece, "" where there are none; None for arguments that are an empty object."""
    if not isinstance(function, ChoiceDeltaToolCallFunction):
        return "", ""
    name, arguments = function.name, function.arguments
    said = json_text(arguments) if isinstance(arguments, dict) else arguments if isinstance(arguments, str) else ""
    return name if isinstance(name, str) else "", None if arguments == {} else said


class _Call:
    __slots__ = ("function", "has_index", "id", "index", "type")

    def __init__(self, index: int, *, has_index: bool) -> None:
        self.index = index
        self.has_index = has_index
        self.id: str | None = None
        self.type: str | None = None
        self.function = FunctionPieces()

    def result(self) -> ToolCall:
        return ToolCall(self.id, self.type or "function", self.function.result())


class ToolCallPieces:
    """The tool calls of one choice, as far as they came."""

    __slots__ = ("_at", "_by_id", "_calls", "_last", "_newest")

    def __init__(self) -> None:
        self._calls: list[_Call] = []
        self._last: _Call | None = None
        # By index, the call that was begun there last; by index and id, and by id alone, the first that had that id.
        self._newest: dict[int | str, _Call] = {}
        self._at: dict[tuple[int | str, str], _Call] = {}
        self._by_id: dict[str, _Call] = {}

    def add(self, pieces: list[Any]) -> None:
        """Join the pieces of one chunk."""
        for at, piece in enumerate(pieces):
            if not isinstance(piece, ChoiceDeltaToolCall):
                continue  # made by hand
            name, arguments = said_of(piece.function)
            call_id = piece.id if isinstance(piece.id, str) else ""
            if isinstance(piece.index, int):
                call = self._at_index(piece.index, call_id, name)
            elif call_id:
                call = self._by_id.get(call_id) or self._without_id(has_name=bool(name)) or self._begin(None)
                self._take_id(call, call_id)
            else:
                call = self._of_order(has_name=bool(name), stands_behind=at > 0)
            if call.type is None and isinstance(piece.type, str) and piece.type:
                call.type = piece.type
            call.function.add(name, arguments)
            self._last = call

    def _without_id(self, *, has_name: bool) -> _Call | None:
        """The last call, where it has nothing but a name: name and id may come in different pieces."""
        last = self._last
        is_waiting = last is not None and last.id is None and not last.function.has_arguments
        return last if is_waiting and not has_name else None

    def _begin(self, index: int | None) -> _Call:
        call = _Call(len(self._calls) if index is None else index, has_index=index is not None)
        self._calls.append(call)
        return call

    def _take_id(self, call: _Call, call_id: str) -> None:
        if call.id is None:
            call.id = call_id
            self._by_id.setdefault(call_id, call)
            if call.has_index:
                self._at[key_of(call.index), call_id] = call

    def _at_index(self, index: int, call_id: str, name: str) -> _Call:
        """An id that is known at the index tells the call; a new one with a name begins another."""
        key = key_of(index)
        call = self._newest.get(key)
        known = self._at.get((key, call_id)) if call_id else None
        if known is not None:
            return known
        if call is None:
            call = self._newest[key] = self._take_index(index, call_id, has_name=bool(name)) or self._begin(index)
        elif call_id and name and (call.id is not None or call.function.is_of_another(name)):
            call = self._newest[key] = self._begin(index)
        if call_id and call.id is None:
            self._take_id(call, call_id)
        return call

    def _take_index(self, index: int, call_id: str, *, has_name: bool) -> _Call | None:
        """The call that a piece at a new index goes on with, where it has come without an index so far."""
        call = self._by_id.get(call_id) if call_id else None if has_name else self._last
        if call is None or call.has_index:
            return None
        call.index, call.has_index = index, True
        if call.id is not None:
            self._at[key_of(index), call.id] = call
        return call

    def _of_order(self, *, has_name: bool, stands_behind: bool) -> _Call:
        """Neither index nor id: more of the last call, but for a name where that has one and is complete.

        It is complete when it has arguments, or when it stands in the same chunk: such servers send whole calls.
        """
        last = self._last
        if last is None:
            return self._begin(None)
        is_another = last.function.has_arguments or (stands_behind and last.function.has_name)
        return self._begin(None) if has_name and is_another else last

    def result(self) -> list[ToolCall]:
        """The calls so far, in the order of their index; those without one by how many there were before."""
        return [call.result() for call in sorted(self._calls, key=lambda call: call.index)]
