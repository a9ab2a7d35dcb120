"""Every error is a SSEWireError, says what it is about, and pickles and copies with all its attributes."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from functools import partial

import pytest

from ssewire import (
    APIError,
    ChatAccumulator,
    DecodeError,
    EventTooLargeError,
    IncompleteStreamError,
    NotAStreamError,
    SSEWireError,
    StreamIdleError,
    ToolArgumentsError,
)

ERRORS: list[SSEWireError] = [
    SSEWireError("wrong use"),
    NotAStreamError("the body is HTML", status=502, headers={"a": "b"}, body=b"<html>\xff"),
    NotAStreamError("the body is empty"),
    APIError("no", type="t", code=429, param="p", body={"error": {"x": [1]}}, status=429, headers={"a": "b"}),
    APIError("no"),
    DecodeError("why", payload=b"\xff{", event_number=3, offset=70),
    IncompleteStreamError("too early", tail=b"{", completion=ChatAccumulator().completion()),
    IncompleteStreamError("too early"),
    EventTooLargeError(100, 7),
    ToolArgumentsError("why", name="f", arguments='{"a":', cut=True),
    StreamIdleError(5.0, waited=5.25, events=2, comments=3, option="idle_timeout"),
]


def pickled(protocol: int, error: SSEWireError) -> SSEWireError:
    again: SSEWireError = pickle.loads(pickle.dumps(error, protocol))
    return again


WAYS: dict[str, Callable[[SSEWireError], SSEWireError]] = {
    **{f"pickle {protocol}": partial(pickled, protocol) for protocol in range(pickle.HIGHEST_PROTOCOL + 1)},
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
def test_an_error_pickles_and_copies_with_all_its_attributes(
    error: SSEWireError, way: Callable[[SSEWireError], SSEWireError]
) -> None:
    error.add_note("seen in a test")
    again = way(error)
    assert type(again) is type(error)
    assert again is not error
    assert (str(again), again.args, vars(again)) == (str(error), error.args, vars(error))


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_all_have_one_parent_and_are_ordinary_exceptions(error: SSEWireError) -> None:
    assert isinstance(error, SSEWireError)
    assert isinstance(error, Exception)
    assert str(error)


def test_a_user_may_derive_an_error_of_another_signature() -> None:
    class MineError(APIError):
        def __init__(self, number: int) -> None:
            super().__init__(f"number {number}", code=number)
            self.number = number

    again = copy.copy(MineError(5))
    assert (again.number, again.code, str(again)) == (5, 5, "number 5 (code 5)")


def test_the_messages_say_what_it_is_about() -> None:
    assert str(NotAStreamError("no stream", status=502, body=b"<html>")) == (
        "no stream (status 502); it begins with '<html>'"
    )
    assert str(APIError("no", type="t", code="c", status=429)) == "no (status 429, type t, code c)"
    # In a stream that began well the status says nothing.
    assert str(APIError("no", type="t", status=200)) == "no (type t)"
    headers = {"retry-after": "20", "x-chutes-invocationid": "i-1", "server": "x", "x-request-id": ""}
    assert str(APIError("no", status=429, headers=headers)) == "no (status 429, request i-1, retry after 20)"
    assert str(NotAStreamError("no", status=503, headers=headers)) == "no (status 503, request i-1, retry after 20)"
    assert len(str(APIError("no", headers={"x-request-id": "x" * 10_000}))) < 200
    assert "event 3 at byte 70" in str(DecodeError("why", payload=b"{", event_number=3, offset=70))
    assert "max_event_size=100" in str(EventTooLargeError(100, 7))
    assert "'{\"a'" in str(IncompleteStreamError("too early", tail=b'{"a'))


def test_a_message_quotes_only_the_start_and_the_attribute_has_all() -> None:
    payload = "é".encode() * 10_000
    for error in (
        DecodeError("why", payload=payload, event_number=1, offset=0),
        NotAStreamError("no stream", body=payload),
        IncompleteStreamError("too early", tail=payload),
    ):
        assert len(str(error)) < 300
        assert payload in vars(error).values()
