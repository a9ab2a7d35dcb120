"""Errors that are nested deep, large or many: each is told of, none overflows a stack, and what is told is bounded."""

from __future__ import annotations

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import pytest

from ssewire import APIError, ChatStream, DecodeError, NotAStreamError, SSEWireError
from tests.reading import pieces, with_errors
from tests.unit.cases import HELLO
from tests.unit.making import DONE, Response, chunk, lines, sse

# So much of an error that has no sentence is told as its sentence, and a sign that there is more.
QUOTED: Final = 501


def arrays(depth: int, inner: str) -> str:
    return "[" * depth + inner + "]" * depth


def objects(key: str, depth: int, inner: str) -> str:
    return f'{{"{key}":' * depth + inner + "}" * depth


# An error with something that many levels deep.
NESTED: Final[dict[str, Callable[[int], str]]] = {
    "loc": lambda depth: f'{{"error":{{"message":[{{"msg":"m","loc":["body",{arrays(depth, "1")},"x"]}}]}}}}',
    "error": lambda depth: objects("error", depth, '"m"'),
    "error in an error of another shape": lambda depth: f'{{"type":"error","error":{objects("error", depth, "[1]")}}}',
    "detail": lambda depth: f'{{"error":{objects("detail", depth, chr(34) + "m" + chr(34))}}}',
    "detail and error": lambda depth: objects("error", 1, objects("detail", 1, objects("error", depth, '"m"'))),
    "message": lambda depth: f'{{"error":{objects("message", depth, "7")}}}',
    "list of messages": lambda depth: f'{{"error":{{"message":{arrays(depth, "7")}}}}}',
    "param": lambda depth: f'{{"error":{{"message":"m","param":{arrays(depth, "1")}}}}}',
    "code": lambda depth: f'{{"error":{{"message":"m","code":{arrays(depth, "1")}}}}}',
    "type": lambda depth: f'{{"error":{{"message":"m","type":{objects("a", depth, "1")}}}}}',
    "another member": lambda depth: f'{{"error":{{"message":"m","x":{objects("a", depth, "1")}}}}}',
    "no sentence": lambda depth: f'{{"error":{arrays(depth, "1")}}}',
    "Groq's": lambda depth: f'{{"choices":[],"x_groq":{objects("error", depth, chr(34) + "m" + chr(34))}}}',
    "beside choices": lambda depth: f'{{"choices":[],"error":{objects("error", depth, chr(34) + "m" + chr(34))}}}',
    "in an array": lambda depth: f'[{arrays(depth, "1")},{{"error":"m"}}]',
}

# Where it stands: the body, and the status of the response.
PLACES: Final[dict[str, Callable[[bytes], tuple[bytes, int]]]] = {
    "event": lambda error: (HELLO + sse(error) + DONE, 200),
    "event named error": lambda error: (HELLO + b"event: error\n" + sse(error) + DONE, 200),
    "line of an event": lambda error: (lines(HELLO[6:-2], error) + DONE, 200),
    "error line": lambda error: (HELLO + b"error: " + error + b"\n\n" + DONE, 200),
    "bare line": lambda error: (HELLO + error + b"\n\n" + DONE, 200),
    "body": lambda error: (error, 200),
    "refusal": lambda error: (error, 422),
    "refusal as an event": lambda error: (sse(error), 422),
}

each_place = pytest.mark.parametrize("place", PLACES.values(), ids=PLACES)
each_nested = pytest.mark.parametrize("nested", NESTED.values(), ids=NESTED)


def depth_of(value: Any) -> int:
    """How deep a value is nested, without recursion."""
    level, depth = [value], 0
    while level := [
        inner
        for item in level
        if isinstance(item, (dict, list))
        for inner in (item.values() if isinstance(item, dict) else item)
    ]:
        depth += 1
    return depth


def errors_of(body: bytes, status: int) -> list[SSEWireError]:
    found = with_errors(ChatStream(Response(body, status=status)))
    return [item for item in found if isinstance(item, SSEWireError)]


@each_nested
@each_place
@pytest.mark.parametrize("depth", [1, 7, 8, 9, 50, 200])
def test_an_error_with_something_deep_in_it(
    nested: Callable[[int], str], place: Callable[[bytes], tuple[bytes, int]], depth: int
) -> None:
    (error,) = errors_of(*place(nested(depth).encode()))
    assert isinstance(error, APIError)
    assert error.message
    assert len(error.message) <= QUOTED
    assert depth <= depth_of(error.body) <= depth + 5
    assert error.message in str(error)
    assert (error.code, error.param) == (None, None)


SENTENCES: Final = {
    "loc": "body.x: m",
    "param": "m",
    "code": "m",
    "type": "m",
    "another member": "m",
    "in an array": "m",
}


@pytest.mark.parametrize(("name", "sentence"), SENTENCES.items())
def test_the_sentence_is_found_whatever_is_deep_beside_it(name: str, sentence: str) -> None:
    for depth in (1, 50, 200):
        (error,) = errors_of(HELLO + sse(NESTED[name](depth).encode()) + DONE, 200)
        assert isinstance(error, APIError)
        assert error.message == sentence


def test_one_error_inside_another_is_told_by_the_innermost_up_to_a_depth() -> None:
    for depth in (1, 2, 3, 7):
        (error,) = errors_of(sse(objects("error", depth, '{"message":"m","code":5}').encode()) + DONE, 200)
        assert isinstance(error, APIError)
        assert (error.message, error.code) == ("m", 5)
    (error,) = errors_of(sse(objects("error", 100, '{"message":"m","code":5}').encode()) + DONE, 200)
    assert isinstance(error, APIError)
    assert error.message.startswith('{"error":{"error":')


def at_the_limit(nested: Callable[[int], str], place: Callable[[bytes], tuple[bytes, int]]) -> list[str]:
    """What is wrong with the errors that are about as deep as a decoder can go, or deeper."""
    limit = sys.getrecursionlimit()
    wrong: list[str] = []
    for depth in (*range(limit - 25, limit - 5), limit + 5, 3 * limit, 20 * limit):
        body, status = place(nested(depth).encode())
        try:
            found = errors_of(body, status)
        except RecursionError:
            wrong.append(f"RecursionError at {depth}")
            continue
        # What no decoder can read is an undecodable event, a text, no error line, or no stream.
        if not all(isinstance(error, (APIError, DecodeError, NotAStreamError)) and str(error) for error in found):
            wrong.append(f"{found} at {depth}")
        if len(found) > 1 or (not found and (status != 200 or not body.startswith(HELLO))):
            wrong.append(f"{len(found)} errors at {depth}")
    return wrong


@each_nested
@each_place
def test_an_error_as_deep_as_a_decoder_goes_is_no_recursion_error(
    nested: Callable[[int], str], place: Callable[[bytes], tuple[bytes, int]]
) -> None:
    # A thread has a stack of its own, so that it is the decoder that meets the limit.
    with ThreadPoolExecutor(1) as thread:
        assert thread.submit(at_the_limit, nested, place).result() == []


DIGITS: Final = b"7" * 5000
"""A number that neither decoder reads, and that neither looks at where it may be left out."""


@pytest.mark.parametrize(
    "body",
    [
        HELLO + sse(b'{"error":{"message":"boom"},"x":%b}' % DIGITS),
        HELLO + b"event: failure\n" + sse(b'{"x":%b,"error":"boom"}' % DIGITS),
        HELLO + b"event: error\n" + sse(b'{"message":"boom","x":%b}' % DIGITS),
        lines(HELLO[6:-2], b'{"error":{"message":"boom"},"x":%b}' % DIGITS),
        lines(b'{"error":{"message":"boom"},"x":%b}' % DIGITS, HELLO[6:-2]),
        HELLO + sse([{"error": "boom"}]).replace(b"}]", b',"x":%b}]' % DIGITS),
    ],
    ids=["event", "named", "named error", "last line of an event", "first line of an event", "array"],
)
def test_an_error_with_something_that_no_decoder_reads_is_told_as_it_stands(body: bytes) -> None:
    stream = ChatStream([body + DONE])
    found = with_errors(stream)
    (error,) = (item for item in found if isinstance(item, SSEWireError))
    assert isinstance(error, APIError)
    assert "boom" in error.message
    assert "boom" in str(error.body)
    assert (len(found), stream.state) == (2, "error")


# Many of them

HELD: Final = 16
"""So many errors on lines inside one event are told of."""


@pytest.mark.parametrize("line", [b"error: no %d\n", b'{"error":"no %d"}\n', b'{\n"error":"no %d"\n}\n'])
@pytest.mark.parametrize("count", [1, HELD - 1, HELD, HELD + 1, 1000])
def test_of_error_lines_inside_one_event_the_first_are_told_of(line: bytes, count: int) -> None:
    body = HELLO[:-1] + b"".join(line % number for number in range(count)) + b"\n" + chunk("behind") + DONE
    for reads in ([body], pieces(body, 7), pieces(body, 4096)):
        stream = ChatStream(reads)
        found = with_errors(stream)
        first, *errors, last = found
        assert [getattr(item, "text", None) for item in (first, last)] == ["Hello", "behind"]
        assert [str(error) for error in errors] == [f"no {number}" for number in range(min(count, HELD))]
        assert stream.state == "error"


def test_error_lines_between_events_are_all_told_of() -> None:
    body = b"".join(b"error: no %d\n" % number for number in range(100))
    errors = with_errors(ChatStream([HELLO + body + DONE]))[1:]
    assert [str(error) for error in errors] == [f"no {number}" for number in range(100)]


def test_the_next_event_has_as_many_again() -> None:
    lines_of_event = b"error: no\n" * (HELD + 5)
    stream = ChatStream([HELLO[:-1] + lines_of_event + b"\n" + HELLO[:-1] + lines_of_event + b"\n" + DONE])
    assert [isinstance(item, APIError) for item in with_errors(stream)] == ([False] + [True] * HELD) * 2


def test_errors_in_data_lines_of_one_event_are_all_told_of() -> None:
    payloads = [b'{"error":"no %d"}' % number for number in range(100)]
    stream = ChatStream([lines(HELLO[6:-2], *payloads) + DONE])
    _, *errors = with_errors(stream)
    assert [str(error) for error in errors] == [f"no {number}" for number in range(100)]


def test_of_a_long_list_of_sentences_the_first_are_told_and_the_body_has_all() -> None:
    details = [{"msg": f"wrong {number}", "loc": ["body", number]} for number in range(1000)]
    for body in ({"detail": details}, {"error": {"message": details}}, {"error": details}):
        (error,) = errors_of(HELLO + b"event: error\n" + sse(body) + DONE, 200)
        assert isinstance(error, APIError)
        told = error.message.split("; ")
        assert told[:3] == ["body.0: wrong 0", "body.1: wrong 1", "body.2: wrong 2"]
        assert told == [f"body.{number}: wrong {number}" for number in range(len(told))]
        assert len(told) < 100
        assert error.body == body


def test_a_path_without_a_name_is_left_out() -> None:
    paths: list[list[Any]] = [[], [[]], [[["x"]]], [None, {}]]
    for loc in paths:
        (error,) = errors_of(HELLO + sse({"error": {"message": [{"msg": "m", "loc": loc}]}}) + DONE, 200)
        assert isinstance(error, APIError)
        assert error.message == "m"
