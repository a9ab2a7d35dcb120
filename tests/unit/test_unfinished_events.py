"""The event that the end of the body finds open: delivered where it is whole, and else told of with what was cut."""

from __future__ import annotations

from typing import Any

import pytest

from ssewire import APIError, ChatStream, IncompleteStreamError
from tests.reading import every_cut, pieces, with_errors
from tests.unit.cases import HELLO, STOP, USAGE
from tests.unit.making import chunk
from tests.unit.outcomes import ends, incomplete, texts

# The data of the last event, which finishes the answer.
PAYLOAD = STOP.removeprefix(b"data: ").rstrip()


# The event that the end of the body finds open (F7)


OPEN: dict[str, bytes] = {
    "no line end": STOP.rstrip(),
    "one line end": STOP.rstrip() + b"\n",
    "CR": STOP.rstrip() + b"\r",
    "CR LF": STOP.rstrip() + b"\r\n",
    "a comment behind it": STOP.rstrip() + b"\n: bye",
    "a field behind it": STOP.rstrip() + b"\nid: 7\n",
    "an unknown line behind it": STOP.rstrip() + b"\nupstream error\n",
    "an empty data line behind it": STOP.rstrip() + b"\ndata",
    "half a field behind it": STOP.rstrip() + b"\ndat",
    "several data lines": b"data: {\ndata: " + PAYLOAD[1:-1] + b"\ndata: }",
    "of the default name": b"event: message\n" + STOP.rstrip(),
    "of a name, with choices": b"event: chunk\n" + STOP.rstrip(),
}


@pytest.mark.parametrize("event", OPEN.values(), ids=OPEN)
def test_an_open_event_is_delivered(event: bytes) -> None:
    ends(HELLO + event, ["Hello", ""], "finished")


@pytest.mark.parametrize("end", [b"", b"\n", b"\r", b"\r\n", b"\n: bye", b"\nid: 3", b"\ndata", b"\ndata:\n"])
def test_an_open_sentinel_counts(end: bytes) -> None:
    ends(HELLO + b"data: [DONE]" + end, ["Hello"], "done")


def test_an_open_error_is_one() -> None:
    for reads in every_cut(HELLO + b'event: error\ndata: {"mess'):
        stream = ChatStream(reads)
        hello, error = texts(stream)
        assert (hello, stream.state) == ("Hello", "error")
        assert isinstance(error, APIError)
        assert error.body == '{"mess'


def test_an_open_event_of_another_name_is_skipped() -> None:
    for reads in every_cut(STOP + b"event: ping\ndata: {"):
        stream = ChatStream(reads)
        assert texts(stream) == [""]
        assert (stream.state, stream.stats.skipped_events) == ("finished", 1)


def test_a_line_before_the_end_that_ends_in_cr_is_whole() -> None:
    ends(HELLO + STOP.replace(b"\n", b"\r")[:-1], ["Hello", ""], "finished")


# What the end of the body cuts


def test_a_payload_that_is_cut_at_any_of_its_bytes() -> None:
    for size in range(1, len(PAYLOAD)):
        body = HELLO + b"data: " + PAYLOAD[:size]
        for reads in ([body], pieces(body, 1), [body[:-1], body[-1:]]):
            stream = ChatStream(reads)
            hello, error = texts(stream)
            assert (hello, stream.state) == ("Hello", "incomplete")
            assert isinstance(error, IncompleteStreamError)
            assert error.tail == PAYLOAD[:size]
    ends(HELLO + b"data: " + PAYLOAD, ["Hello", ""], "finished")


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n"])
def test_a_payload_that_is_cut_behind_a_finished_answer_is_cut_all_the_same(end: bytes) -> None:
    """What is lost may be the usage: the answer is whole, but the stream is not."""
    cut = USAGE.removeprefix(b"data: ")[:-12]
    incomplete(HELLO + STOP + b"data: " + cut + end, ["Hello", ""], cut)


def test_the_field_name_that_is_cut_is_no_payload() -> None:
    for size, tail in [(1, b"d"), (2, b"da"), (3, b"dat"), (4, b""), (5, b""), (6, b"")]:
        incomplete(HELLO + b"data: "[:size], ["Hello"], tail)
        ends(HELLO + STOP + b"data: "[:size], ["Hello", ""], "finished")


def test_a_sentinel_that_is_cut_is_none() -> None:
    for size in range(1, len(b"[DONE]")):
        incomplete(HELLO + STOP + b"data: " + b"[DONE]"[:size], ["Hello", ""], b"[DONE]"[:size])


def test_a_cut_in_the_middle_of_a_character() -> None:
    payload = chunk("🎉").removeprefix(b"data: ")
    cut = payload[: payload.index(b"\xf0") + 2]
    incomplete(HELLO + b"data: " + cut, ["Hello"], cut)


@pytest.mark.parametrize(
    "payload", [b'{"error": {"message": "over', b'{"type": "error", "mess', b"[", b"nul", b"-", b"7"]
)
def test_a_cut_payload_is_no_error_of_the_server_and_no_undecodable_event(payload: bytes) -> None:
    incomplete(HELLO + STOP + b"data: " + payload, ["Hello", ""], payload)


def test_a_cut_payload_in_the_other_ways_to_iterate() -> None:
    body = HELLO + STOP[:-9]
    for items in (
        ChatStream([body]).iter_text(),
        ChatStream([body]).iter_payloads(),
        ChatStream([body]).iter_with_payload(),
        ChatStream([body], type=dict[str, Any]),
    ):
        _, error = with_errors(items)
        assert isinstance(error, IncompleteStreamError)
        assert error.tail == PAYLOAD[:-7]


# Unknown lines, quoted where the stream is cut


LINES: dict[str, tuple[bytes, bytes]] = {
    "one": (b"upstream error: read ECONNRESET\n", b"upstream error: read ECONNRESET"),
    "one that is not ended": (b"upstream error", b"upstream error"),
    "one with CR LF": (b"upstream error\r\n\r\n", b"upstream error"),
    "several": (b"a: b\nc\n", b"a: b\nc"),
    "several with blank lines between": (b"first\n\nsecond\n\n", b"first\nsecond"),
    "beside comments": (b": hi\nfailed\n: bye\n", b"failed"),
    "beside known fields": (b"id: 1\nfailed\nretry: 1\n", b"failed"),
    "a bare chunk": (b'{"choices":[]}\n', b'{"choices":[]}'),
    "a cut error": (b'{"error": {"mess', b'{"error": {"mess'),
    "a cut error, pretty": (b'{\n  "error": "m"\n', b'{\n  "error": "m"'),
    "no UTF-8": (b"caf\xe9\n", b"caf\xe9"),
    "comments alone": (b": hi\n\n: bye\n", b""),
    "known fields alone": (b"id: 1\nretry: 5\nevent: x\n", b""),
    "blank lines": (b"\n\n\n", b""),
}


@pytest.mark.parametrize(("lines", "tail"), LINES.values(), ids=LINES)
def test_unknown_lines_behind_the_last_event_are_quoted(lines: bytes, tail: bytes) -> None:
    incomplete(HELLO + lines, ["Hello"], tail)
    incomplete(STOP + lines, [""], tail, require_done=True)
    ends(STOP + lines, [""], "finished")


def test_unknown_lines_inside_the_last_event_are_quoted() -> None:
    incomplete(HELLO[:-1] + b"upstream error\n", ["Hello"], b"upstream error")


def test_unknown_lines_before_the_last_event_are_not_quoted() -> None:
    incomplete(b"before: all\n" + HELLO + b"between\n\n" + HELLO, ["Hello", "Hello"], b"")


def test_a_cut_payload_is_quoted_before_unknown_lines() -> None:
    incomplete(HELLO + b'between\n\ndata: {"choi', ["Hello"], b'{"choi')


def test_of_many_unknown_lines_the_tail_stays_small() -> None:
    stream = ChatStream([HELLO, *[b"x" * 99 + b"\n"] * 10_000, b"the last\n"])
    _, error = texts(stream)
    assert isinstance(error, IncompleteStreamError)
    assert error.tail.endswith(b"the last")
    assert len(error.tail) <= 65_536
