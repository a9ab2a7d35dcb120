"""Events that hold several (C9): a line each where blank lines were forgotten, or documents run together on a line.

However such a stream is read, the same comes out of it, in its order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, NamedTuple

import msgspec
import pytest

from ssewire import AsyncChatStream, ChatCompletionChunk, ChatStream, ChunkDecoder, DecodeError
from tests.cases.outcome import Api, Incomplete, Undecodable, plain
from tests.conftest import Run
from tests.reading import awaited, pieces, with_errors, with_errors_async
from tests.unit.making import DONE, choice, lines


class Held(NamedTuple):
    """A chunk that an event holds."""

    payload: bytes
    text: str


def held(text: str) -> Held:
    return Held(msgspec.json.encode({"choices": [choice(text)]}), text)


BEFORE, A, B, C, BEHIND = map(held, ("before", "a", "b", "c", "behind"))
ERROR: Final = b'{"error":{"message":"boom","code":5}}'
BOOM: Final = Api("boom", {"error": {"message": "boom", "code": 5}}, code=5)
BESIDE: Final = b'{"error":"m","choices":[{"index":0,"delta":{"content":"x"},"finish_reason":null}]}'
BESIDE_ITEMS: Final[list[Held | Api]] = [
    Held(BESIDE, "x"),
    Api("m", {"error": "m", "choices": [choice("x")]}),
]


class Shared(NamedTuple):
    """An event between two others, and what it holds; the stream has no end where it holds the sentinel."""

    event: bytes
    items: Sequence[Held | Api | Undecodable]
    done: bool = False


OOPS: Final = Undecodable(b"oops")

SHARED: Final[dict[str, Shared]] = {
    "lines": Shared(lines(A.payload, B.payload), [A, B]),
    "lines, empty ones between": Shared(lines(b"", A.payload, b" ", b"", B.payload, b""), [A, B]),
    "lines, white space around": Shared(
        lines(A.payload + b" ", b"\t" + B.payload), [Held(A.payload + b" ", "a"), Held(b"\t" + B.payload, "b")]
    ),
    "lines, a broken one between": Shared(lines(A.payload, b"oops", B.payload), [A, OOPS, B]),
    "lines, a broken one first": Shared(lines(b"oops", A.payload), [OOPS, A]),
    "lines, a broken one last": Shared(lines(A.payload, b"oops"), [A, OOPS]),
    "lines, a broken object": Shared(lines(A.payload, b'{"id":', B.payload), [A, Undecodable(b'{"id":'), B]),
    "lines, a number": Shared(lines(A.payload, b"7", B.payload), [A, Undecodable(b"7"), B]),
    "lines, null between": Shared(lines(A.payload, b"null", B.payload), [A, B]),
    "lines, null first": Shared(lines(b"null", A.payload, B.payload), [A, B]),
    "lines, null last": Shared(lines(A.payload, B.payload, b" null "), [A, B]),
    "lines, null beside one chunk": Shared(lines(b"null", A.payload), [A]),
    "lines, an error between": Shared(lines(A.payload, ERROR, B.payload), [A, BOOM, B]),
    "lines, an error first": Shared(lines(ERROR, B.payload), [BOOM, B]),
    "lines, an error last": Shared(lines(A.payload, ERROR), [A, BOOM]),
    "lines, an error that is null": Shared(lines(A.payload, b'{"error":null}'), [A, Held(b'{"error":null}', "")]),
    "lines, an error in an array": Shared(lines(A.payload, b"[" + ERROR + b"]"), [A, BOOM._replace(body=[BOOM.body])]),
    "lines, an error beside choices": Shared(lines(A.payload, BESIDE, B.payload), [A, *BESIDE_ITEMS, B]),
    "lines, a word in the text": Shared(
        lines(A.payload, held('the "error"').payload, B.payload), [A, held('the "error"'), B]
    ),
    "lines, the sentinel last": Shared(lines(A.payload, B.payload, b"[DONE]"), [A, B], done=True),
    "lines, the sentinel between": Shared(lines(A.payload, b"[DONE]", b"oops", B.payload), [A], done=True),
    "lines, the sentinel padded": Shared(lines(A.payload, b" [DONE]\t"), [A], done=True),
    "lines, an error and the sentinel": Shared(lines(A.payload, ERROR, b"[DONE]"), [A, BOOM], done=True),
    "lines, a broken one and the sentinel": Shared(lines(A.payload, b"oops", b"[DONE]"), [A, OOPS], done=True),
    "lines that are no chunk": Shared(lines(b"oops", b"again"), [Undecodable(b"oops\nagain")]),
    "a chunk over lines, one behind it": Shared(
        lines(b"{", A.payload[1:], B.payload),
        [Undecodable(b"{"), Undecodable(A.payload[1:]), B],
    ),
    "documents": Shared(lines(A.payload + B.payload), [A, B]),
    "documents, white space between": Shared(lines(A.payload + b" \t " + B.payload + b" "), [A, B]),
    "documents, three": Shared(lines(A.payload + B.payload + C.payload), [A, B, C]),
    "documents, an error last": Shared(lines(A.payload + ERROR), [A, BOOM]),
    "documents, an error between": Shared(lines(A.payload + ERROR + B.payload), [A, BOOM, B]),
    "documents, an error first": Shared(lines(ERROR + B.payload), [BOOM, B]),
    "documents, an error beside choices": Shared(lines(BESIDE + B.payload), [*BESIDE_ITEMS, B]),
    "documents, a broken one last": Shared(
        lines(A.payload + B.payload[:-1]), [Undecodable(A.payload + B.payload[:-1])]
    ),
    "documents, a broken one and an error": Shared(
        lines(A.payload + ERROR + b"{"), [Undecodable(A.payload + ERROR + b"{")]
    ),
    "documents, null behind": Shared(lines(A.payload + b"null"), [Undecodable(A.payload + b"null")]),
    "documents, the sentinel last": Shared(lines(A.payload + B.payload + b"[DONE]"), [A, B], done=True),
    "documents, the sentinel behind one": Shared(lines(A.payload + b" [DONE]"), [A], done=True),
    "documents, the sentinel between": Shared(lines(A.payload + b"[DONE]" + B.payload), [A], done=True),
    "documents, an error and the sentinel": Shared(lines(A.payload + ERROR + b"[DONE]"), [A, BOOM], done=True),
    "lines of documents": Shared(lines(A.payload + B.payload, C.payload), [A, B, C]),
    "lines of documents, one broken": Shared(
        lines(A.payload + B.payload[:-1], C.payload), [Undecodable(A.payload + B.payload[:-1]), C]
    ),
}
WHOLE: Final = {name: shared for name, shared in SHARED.items() if not shared.done}

each_shared = pytest.mark.parametrize("shared", SHARED.values(), ids=SHARED)

Items = Iterable[Any]

# What each way to iterate gives of a chunk.
WAYS: Final[dict[str, Callable[[Held], Any]]] = {
    "chunks": lambda chunk: chunk.text,
    "texts": lambda chunk: chunk.text,
    "payloads": lambda chunk: chunk.payload,
    "pairs": lambda chunk: tuple(chunk),
}

each_way = pytest.mark.parametrize("way", WAYS)


def body_of(shared: Shared) -> bytes:
    return lines(BEFORE.payload) + shared.event + lines(BEHIND.payload) + DONE


def as_read(shared: Shared, way: str) -> Shared:
    """Documents on one line come as one payload to who decodes nothing, unless an end or an error tells of more."""
    line = shared.event.removeprefix(b"data: ").rstrip(b"\n")
    glued = b"\n" not in line and line.startswith(b"{") and line.endswith(b"}") and b'"error"' not in line
    if way == "payloads" and glued and (b"}{" in line or b"[DONE]" in line):
        return Shared(shared.event, [Held(line, "")])
    return shared


def what_it_holds(shared: Shared, way: str) -> Sequence[Held | Api | Undecodable]:
    """A whole event that is no chunk is a payload for those who decode nothing."""
    if way == "payloads" and len(shared.items) == 1 and isinstance(item := shared.items[0], Undecodable):
        return [Held(item.payload, "")]
    return shared.items


def right(shared: Shared, way: str) -> list[Any]:
    """What must come of the body, in a way to iterate."""
    items = [BEFORE, *what_it_holds(shared, way), *([] if shared.done else [BEHIND])]
    found = [WAYS[way](item) if isinstance(item, Held) else item for item in items]
    return [item for item in found if item != ""] if way == "texts" else found


def text_of(item: Any) -> str:
    if isinstance(item, dict):
        return "".join(choice["delta"]["content"] or "" for choice in item.get("choices", ()))
    assert isinstance(item, ChatCompletionChunk)
    return item.text


def seen(item: Any) -> Any:
    """An item in the table's terms."""
    if isinstance(item, (str, bytes)):
        return item
    if isinstance(item, tuple):
        payload, parsed = item
        return payload, text_of(parsed)
    return plain(item) if isinstance(item, Exception) else text_of(item)


def view(reader: Any, way: str) -> Any:
    """A way to iterate over a stream or a decoder."""
    names = ("texts", "payloads", "pairs")
    if way == "chunks":
        return reader
    if isinstance(reader, ChunkDecoder):
        return getattr(reader, way)()
    return getattr(reader, ("iter_text", "iter_payloads", "iter_with_payload")[names.index(way)])()


def with_each_reader(reads: Sequence[bytes], way: str, run: Run, **options: Any) -> list[tuple[list[Any], Any]]:
    """What each kind of reader makes of the reads, and the reader."""
    stream = ChatStream(iter(reads), **options)
    awaiting = AsyncChatStream(awaited(reads), **options)
    decoder = ChunkDecoder(**options)
    pushed = [item for read in reads for item in with_errors(view(decoder.feed(read), way))]
    return [
        (with_errors(view(stream, way)), stream),
        (run(with_errors_async(view(awaiting, way))), awaiting),
        (pushed + with_errors(view(decoder.finish(), way)), decoder),
    ]


@each_shared
@each_way
@pytest.mark.parametrize("type", [ChatCompletionChunk, dict], ids=["built-in", "dict"])
def test_every_way_to_iterate_gives_the_same(shared: Shared, way: str, type: Any, run: Run) -> None:
    shared = as_read(shared, way)
    body = body_of(shared)
    items = what_it_holds(shared, way)
    held, errors, decode_errors = (sum(isinstance(item, kind) for item in items) for kind in (Held, Api, Undecodable))
    for reads in ([body], pieces(body, 1), pieces(body, 7)):
        for found, reader in with_each_reader(reads, way, run, type=type):
            assert list(map(seen, found)) == right(shared, way)
            stats = reader.stats
            assert reader.state == ("error" if errors else "done")
            assert (stats.chunks, stats.decode_errors) == (1 + held + (not shared.done), decode_errors)
            assert stats.events == (2 if shared.done else 4)


@pytest.mark.parametrize("shared", SHARED.values(), ids=SHARED)
def test_each_chunk_that_shares_its_event_counts_as_repaired(shared: Shared, run: Run) -> None:
    for found, reader in with_each_reader([body_of(shared)], "chunks", run):
        assert list(map(seen, found)) == right(shared, "chunks")
        assert reader.stats.repaired == sum(isinstance(item, Held) for item in shared.items)


@each_shared
def test_a_decode_error_names_its_part_and_the_number_and_place_of_the_event(shared: Shared) -> None:
    for error in with_errors(ChatStream([body_of(shared)])):
        if isinstance(error, DecodeError):
            assert (error.event_number, error.offset) == (2, len(lines(BEFORE.payload)))
            assert error.payload in shared.event.replace(b"data: ", b"")


@pytest.mark.parametrize("shared", WHOLE.values(), ids=WHOLE)
@each_way
def test_the_end_of_the_body_may_stand_in_the_place_of_the_blank_line(shared: Shared, way: str, run: Run) -> None:
    """A line or a document that is broken there was cut."""
    *front, last = shared.items
    body = lines(BEFORE.payload) + shared.event.rstrip(b"\n")
    for found, _ in with_each_reader([body], way, run):
        items = list(map(seen, found))
        *expected, _ = right(Shared(b"", front), way)
        if isinstance(last, Undecodable):
            assert items == [*expected, Incomplete(last.payload)]
        else:
            *expected, _ = right(shared, way)
            assert items[: len(expected)] == expected
            assert items[len(expected) :] in ([], [Incomplete()])
