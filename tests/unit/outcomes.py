"""What must come of the body of a chat stream in every cut: texts, then an error or not, and the state."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from ssewire import ChatStream, IncompleteStreamError, SSEWireError
from tests.reading import every_cut, with_errors
from tests.unit.making import Response


def texts(items: Iterable[Any]) -> list[Any]:
    """The text of each chunk, and each error in its place."""
    return [item if isinstance(item, SSEWireError) else item.text for item in with_errors(items)]


def incomplete(body: bytes, found: list[str], tail: bytes, *, require_done: bool = False) -> None:
    """In every cut these texts come, and then the error that the stream is cut, with this tail."""
    for reads in every_cut(body):
        response = Response(*reads)
        stream = ChatStream(response, require_done=require_done)
        *chunks, error = texts(stream)
        assert (chunks, stream.state) == (found, "incomplete")
        assert isinstance(error, IncompleteStreamError)
        assert error.tail == tail
        assert (response.closed, response.generator_closed) == (1, True)


def ends(body: bytes, found: list[str], state: str) -> None:
    """In every cut these texts come, without an error, and then this state."""
    for reads in every_cut(body):
        stream = ChatStream(reads)
        assert texts(stream) == found
        assert stream.state == state
