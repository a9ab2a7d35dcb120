"""Events with a name (C1, C3): which of them are chunks, errors or the sentinel, and which are skipped."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final, NamedTuple

import anyio
import msgspec
import pytest

from ssewire import AsyncChatStream, ChatCompletionChunk, ChatStream, ChunkDecoder, DecodeError
from tests.cases.outcome import Api, Undecodable, every_reader, plain
from tests.conftest import Run
from tests.reading import every_cut, pieces, with_errors, with_errors_async
from tests.unit.cases import HELLO, STOP, USAGE
from tests.unit.making import DONE, choice, chunk, lines, sse
from tests.unit.outcomes import ends, incomplete, texts

NAMES = ["end", "done", "message", "ping", "completion.chunk", "[DONE]", "err", "errors", "Error", "é"]


@pytest.mark.parametrize("name", NAMES)
def test_the_sentinel_counts_under_every_name_but_error(name: str) -> None:
    ends(HELLO + f"event: {name}\n".encode() + DONE + HELLO, ["Hello"], "done")
    ends(HELLO + b"data: [DONE]\n" + f"event: {name}".encode(), ["Hello"], "done")


@pytest.mark.parametrize("name", ["message", ""])
def test_the_name_of_events_without_a_name(name: str) -> None:
    head = f"event: {name}\n".encode()
    body = head + sse({"id": "no choices"}) + head + HELLO + head + sse(b"oops") + head + STOP
    for reads in every_cut(body):
        stream = ChatStream(reads)
        no_choices, hello, error, stop = texts(stream)
        assert (no_choices, hello, stop, stream.state) == ("", "Hello", "", "finished")
        assert isinstance(error, DecodeError)
        assert error.event_number == 3
        assert stream.stats.skipped_events == 0


@pytest.mark.parametrize("name", [name for name in NAMES if name != "message"])
def test_an_event_of_another_name_that_has_choices_is_a_chunk(name: str) -> None:
    body = b"".join(f"event: {name}\n".encode() + event for event in (HELLO, STOP, USAGE))
    ends(body, ["Hello", "", ""], "finished")
    stream = ChatStream([body])
    assert len(list(stream)) == 3
    assert (stream.stats.chunks, stream.stats.skipped_events) == (3, 0)
    assert (stream.usage and stream.usage.total_tokens, stream.finish_reasons) == (5, {0: "stop"})


SKIPPED: dict[str, bytes] = {
    "an object": b'data: {"tool": "search", "status": "run"}\n\n',
    "an object that has choices deeper": b'data: {"data": {"choices": [{"delta": {"content": "x"}}]}}\n\n',
    "a text that speaks of choices": b'data: {"text": "\\"choices\\": []"}\n\n',
    "an error that is null": b'data: {"error": null}\n\n',
    "a text": b"data: hello\n\n",
    "a time": b"data: 2025-01-01T00:00:00Z\n\n",
    "broken JSON": b'data: {"tool": \n\n',
    "several lines": b"data: a\ndata: b\n\n",
    "an array": b'data: [1, {"choices": []}]\n\n',
    "a number": b"data: 7\n\n",
    "null": b"data: null\n\n",
    "no UTF-8": b"data: \xff\n\n",
    "a sentinel with something behind it": b"data: [DONE] x\n\n",
}


@pytest.mark.parametrize("event", SKIPPED.values(), ids=SKIPPED)
@pytest.mark.parametrize("kind", [None, dict, Any], ids=["built-in", "dict", "Any"])
def test_an_event_of_another_name_is_skipped_and_counted(event: bytes, kind: Any) -> None:
    body = b"event: ping\n" + event + HELLO + b"event: tool.progress\n" + event + STOP
    for reads in every_cut(body):
        stream: ChatStream[Any] = ChatStream(reads) if kind is None else ChatStream(reads, type=kind)
        assert len(with_errors(stream)) == 2
        assert (stream.state, stream.stats.skipped_events, stream.stats.decode_errors) == ("finished", 2, 0)


def test_a_name_holds_for_its_own_event_alone() -> None:
    stream = ChatStream([b"event: ping\n\n" + HELLO + b"event: a\nevent\n" + HELLO + b"event: a\nevent: b\n" + DONE])
    assert texts(stream) == ["Hello", "Hello"]
    assert (stream.state, stream.stats.skipped_events) == ("done", 0)


def test_a_skipped_event_is_counted_for_decoders_and_asynchronous_streams_too() -> None:
    body = b"event: ping\ndata: {}\n\n" + HELLO + DONE
    decoder = ChunkDecoder()
    assert texts(decoder.feed(body)) == ["Hello"]
    assert decoder.stats.skipped_events == 1
    decoder.reset()
    assert decoder.stats.skipped_events == 0

    async def main() -> None:
        stream = AsyncChatStream(body)
        assert len(await with_errors_async(stream)) == 1
        assert (stream.state, stream.stats.skipped_events) == ("done", 1)

    anyio.run(main)


# What the data of such an event holds (C9)


A, B = (event[6:-2] for event in (chunk("a"), chunk("b")))
BROKEN: Final = b'{"choices":[{"ind'
BOOM: Final = b'{"error":{"message":"boom"}}'
TOLD: Final = Api("boom", {"error": {"message": "boom"}})
NO_CHOICES: Final = b'{"step":1}'
# An event whose blank line was forgotten.
A_OPEN: Final = b"data: " + A + b"\n"


def plain_texts(items: Iterable[Any]) -> list[Any]:
    """Each chunk as its text, each error in its tuple."""
    return [item.text if isinstance(item, ChatCompletionChunk) else plain(item) for item in items]


def named(name: str, *payloads: bytes) -> bytes:
    return f"event: {name}\n".encode() + lines(*payloads)


class Right(NamedTuple):
    """What must come of a body, and how many events were skipped."""

    body: bytes
    items: list[Any]
    state: str = "done"
    skipped: int = 0
    repaired: int = 0


def check(right: Right, run: Run) -> None:
    undecodable = sum(isinstance(item, Undecodable) for item in right.items)
    for reads in every_cut(right.body):
        for items, reader in every_reader(reads, run):
            assert plain_texts(items) == right.items
            stats = reader.stats
            assert (reader.state, stats.skipped_events, stats.repaired) == (right.state, right.skipped, right.repaired)
            assert stats.decode_errors == undecodable


HELD: Final[dict[str, Right]] = {
    "lines": Right(named("chunk", A, B) + DONE, ["a", "b"], repaired=2),
    "lines, one name before another": Right(named("ping", A, B) + DONE, ["a", "b"], repaired=2),
    "lines, one that is no chunk first": Right(
        named("chunk", b"oops", B) + DONE, [Undecodable(b"oops"), "b"], repaired=1
    ),
    "lines, one that is no chunk last": Right(
        named("chunk", A, b"oops") + DONE, ["a", Undecodable(b"oops")], repaired=1
    ),
    "lines, one without choices": Right(named("chunk", A, NO_CHOICES) + DONE, ["a", ""], repaired=2),
    "lines, none with choices": Right(named("chunk", NO_CHOICES, NO_CHOICES) + DONE, [], skipped=1),
    "lines, null": Right(named("chunk", b"null", A, b"null") + DONE, ["a"], repaired=1),
    "lines, an error": Right(named("chunk", A, BOOM, B) + DONE, ["a", TOLD, "b"], "error", repaired=2),
    "lines, an error alone": Right(named("chunk", b"oops", BOOM) + DONE, [Undecodable(b"oops"), TOLD], "error"),
    "lines, the sentinel": Right(named("chunk", A, b"[DONE]", B), ["a"], repaired=1),
    "lines, the sentinel first": Right(named("chunk", b"[DONE]", B) + chunk("c"), []),
    "lines, the sentinel and no chunk": Right(named("ping", b"pong", b"[DONE]"), [Undecodable(b"pong")]),
    "documents": Right(named("chunk", A + B) + DONE, ["a", "b"], repaired=2),
    "documents, the sentinel": Right(named("chunk", A + B + b"[DONE]") + chunk("c"), ["a", "b"], repaired=2),
    "documents, an error": Right(named("chunk", A + BOOM) + DONE, ["a", TOLD], "error", repaired=1),
    "documents, none with choices": Right(named("chunk", NO_CHOICES * 2) + DONE, [], skipped=1),
    "documents, a broken one": Right(
        named("chunk", A) + named("chunk", A + BROKEN) + DONE, ["a", Undecodable(A + BROKEN)]
    ),
    "documents on one of several lines": Right(named("chunk", A, A + B) + DONE, ["a", "a", "b"], repaired=3),
    "one chunk over lines": Right(named("chunk", b"{", A[1:-1], b"}") + DONE, ["a"]),
}


@pytest.mark.parametrize("right", HELD.values(), ids=HELD)
def test_an_event_of_another_name_may_hold_several(right: Right, run: Run) -> None:
    check(right, run)


@pytest.mark.parametrize("way", ["iter_text", "iter_payloads", "iter_with_payload"])
def test_however_they_are_read(way: str) -> None:
    stream = ChatStream([named("chunk", A, b"oops", b"null", B) + named("ping", NO_CHOICES) + named("end", b"[DONE]")])
    items: list[Any] = with_errors(getattr(stream, way)())
    found = [(item[0], item[1].text) if isinstance(item, tuple) else plain(item) for item in items]
    oops = Undecodable(b"oops")
    right = {
        "iter_text": ["a", oops, "b"],
        "iter_payloads": [A, oops, B],
        "iter_with_payload": [(A, "a"), oops, (B, "b")],
    }
    assert found == right[way]
    assert (stream.state, stream.stats.skipped_events, stream.stats.decode_errors) == ("done", 1, 1)


# What cannot be read under a name


def test_a_payload_that_is_cut_under_the_name_of_chunks_is_a_chunk_that_is_cut() -> None:
    event = named("chunk", B).rstrip(b"\n")
    start = len(b"event: chunk\ndata: ")
    for size in range(start + 1, len(event)):
        incomplete(named("chunk", A) + event[:size], ["a"], event[start:size])


def test_a_payload_that_is_cut_under_another_name_is_skipped() -> None:
    event = named("ping", b'{"choices": oops}').rstrip(b"\n")
    for before, found in (
        (named("chunk", STOP[6:-2]), 1),
        (STOP, 1),
        (named("a", STOP[6:-2]) + named("ping", b"x"), 1),
    ):
        for size in range(len(b"event: ping\ndata: ") + 1, len(event)):
            for reads in ([before + event[:size]], pieces(before + event[:size], 7)):
                stream = ChatStream(reads)
                assert len(with_errors(stream)) == found
                assert (stream.state, stream.stats.skipped_events) == ("finished", before.count(b"ping") + 1)


def test_a_name_that_chunks_had_once_is_theirs_no_longer_when_they_come_under_another() -> None:
    body = named("one", A) + named("two", A) + b"event: one\ndata: " + BROKEN
    for reads in every_cut(body):
        stream = ChatStream(reads)
        assert texts(stream)[:2] == ["a", "a"]
        assert stream.stats.skipped_events == 1


def test_the_last_line_of_several_is_cut_whatever_the_name() -> None:
    for name in ("chunk", "ping"):
        incomplete(named("chunk", A) + named(name, B, BROKEN).rstrip(b"\n"), ["a", "b"], BROKEN)


def test_a_payload_that_is_broken_under_the_name_of_chunks_is_a_chunk_that_is_broken(run: Run) -> None:
    body = named("chunk", A) + named("chunk", BROKEN) + named("ping", BROKEN) + named("chunk", B) + DONE
    for items, reader in every_reader([body], run):
        assert plain_texts(items) == ["a", Undecodable(BROKEN), "b"]
        assert (reader.state, reader.stats.skipped_events, reader.stats.decode_errors) == ("done", 1, 1)


# Events of the name `error`


BESIDE: Final[dict[str, Any]] = {"choices": [choice("x", "error")], "error": {"message": "m", "code": 7}}
SAID: Final = Api("m", BESIDE, code=7)
PLAIN: Final[dict[str, Any]] = {"choices": [choice("x")]}

ERRORS: Final[dict[str, Right]] = {
    "behind a chunk": Right(A_OPEN + named("error", BOOM) + DONE, ["a", TOLD], "error", repaired=1),
    "behind two chunks": Right(A_OPEN + A_OPEN + named("error", BOOM) + DONE, ["a", "a", TOLD], "error", repaired=2),
    "behind a chunk, a text": Right(
        A_OPEN + named("error", b"out of memory") + DONE, ["a", Api("out of memory", "out of memory")], "error", 0, 1
    ),
    "behind a chunk, over lines": Right(
        A_OPEN + named("error", b"{", BOOM[1:-1], b"}") + DONE, ["a", TOLD], "error", repaired=1
    ),
    "behind a chunk, the sentinel": Right(
        A_OPEN + named("error", b"[DONE]") + chunk("b") + DONE, ["a", Api("[DONE]", "[DONE]"), "b"], "error", 0, 1
    ),
    "behind a chunk that needs the second decoder": Right(
        b'data: {"choices":null}\n' + named("error", BOOM) + DONE, ["", TOLD], "error", repaired=1
    ),
    "the name behind the data": Right(
        b"data: " + A + b"\ndata: " + BOOM + b"\nevent: error\n\n" + DONE, ["a", TOLD], "error", repaired=1
    ),
    "an error beside choices": Right(
        b"event: error\n" + sse(BESIDE) + chunk("b") + DONE, ["x", SAID, "b"], "error"
    ),
    "a plain chunk": Right(
        b"event: error\n" + sse(PLAIN) + chunk("b") + DONE,
        [Api(msgspec.json.encode(PLAIN).decode(), PLAIN), "b"],
        "error",
    ),
}  # fmt: skip


@pytest.mark.parametrize("right", ERRORS.values(), ids=ERRORS)
def test_an_event_of_the_name_error(right: Right, run: Run) -> None:
    check(right, run)


@pytest.mark.parametrize("way", ["iter_text", "iter_payloads", "iter_with_payload"])
def test_an_event_of_the_name_error_however_it_is_read(way: str) -> None:
    stream = ChatStream([A_OPEN + named("error", BOOM) + b"event: error\n" + sse(BESIDE) + DONE])
    a, told, x, said = with_errors(getattr(stream, way)())
    right = {
        "iter_text": ("a", "x"),
        "iter_payloads": (A, msgspec.json.encode(BESIDE)),
        "iter_with_payload": (A, msgspec.json.encode(BESIDE)),
    }
    assert [item[0] if isinstance(item, tuple) else item for item in (a, x)] == list(right[way])
    assert (plain(told), plain(said), stream.state) == (TOLD, SAID, "error")
