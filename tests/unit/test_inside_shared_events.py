"""What is known of a stream between the things that one event holds (C9): counts and state are as of the last of them.

Each is decoded when it is asked for, and a function for decode errors is called between the chunk before and the one
behind.
"""

from __future__ import annotations

from typing import Any, Final

import msgspec
import pytest

from ssewire import (
    APIError,
    AsyncChatStream,
    ChatStream,
    ChunkDecoder,
    DecodeError,
    IncompleteStreamError,
    SSEWireError,
)
from tests.cases.outcome import Api, Incomplete, plain
from tests.conftest import Run
from tests.reading import awaited, pieces
from tests.unit.making import DONE, AsyncResponse, Response, chunk, lines

A, B, C, STOP = (event[6:-2] for event in (chunk("a"), chunk("b"), chunk("c"), chunk("", "stop")))
ERROR: Final = b'{"error":{"message":"boom","code":5}}'
BOOM: Final = Api("boom", {"error": {"message": "boom", "code": 5}}, code=5)

MIXED: Final = lines(A, b"oops", b'{"choices":5}', ERROR, B)


def told(stream: Any) -> tuple[Any, ...]:
    """What is known of a stream: counts and state."""
    stats = stream.stats
    return stats.events, stats.chunks, stats.repaired, stats.decode_errors, stream.state


RIGHT: Final = [
    ("a", (2, 2, 1, 0, "open")),
    # Each call is between the chunk before and the chunk behind.
    (b"oops", (2, 2, 1, 1, "open")),
    (b'{"choices":5}', (2, 2, 1, 2, "open")),
    (BOOM, (2, 2, 1, 2, "error")),
    ("b", (2, 3, 2, 2, "error")),
    ("behind", (3, 4, 2, 2, "error")),
    (None, (4, 4, 2, 2, "error")),
]
BODY: Final = chunk("before") + MIXED + chunk("behind") + DONE


def text_of(item: Any) -> str | None:
    return item and str(item.text)


def step(stream: Any, log: list[Any]) -> None:
    try:
        item = next(stream, None)
        log.append((text_of(item), told(stream)))
    except APIError as error:
        log.append((plain(error), told(stream)))


def test_counts_and_state_are_as_of_the_item_handed_out() -> None:
    log: list[Any] = []

    def on_decode_error(error: DecodeError) -> None:
        log.append((error.payload, told(stream)))

    for reads in ([BODY], pieces(BODY, 1)):
        stream: ChatStream[Any] = ChatStream(Response(*reads), on_decode_error=on_decode_error)
        next(stream)
        log.clear()
        for _ in range(5):
            step(stream, log)
        assert log == RIGHT


def test_counts_and_state_of_a_decoder_are_as_of_the_item_handed_out() -> None:
    log: list[Any] = []

    def on_decode_error(error: DecodeError) -> None:
        log.append((error.payload, told(decoder)))

    decoder: ChunkDecoder[Any] = ChunkDecoder(on_decode_error=on_decode_error)
    decoder.feed(BODY)
    next(decoder)
    for _ in range(5):
        step(decoder, log)
    assert log == RIGHT


def test_counts_and_state_of_an_asynchronous_stream_are_as_of_the_item_handed_out(run: Run) -> None:
    log: list[Any] = []

    async def main() -> None:
        def on_decode_error(error: DecodeError) -> None:
            log.append((error.payload, told(stream)))

        stream: AsyncChatStream[Any] = AsyncChatStream(awaited([BODY]), on_decode_error=on_decode_error)
        await anext(stream)
        for _ in range(5):
            try:
                item = await anext(stream, None)
                log.append((text_of(item), told(stream)))
            except APIError as error:
                log.append((plain(error), told(stream)))

    run(main())
    assert log == RIGHT


def test_a_part_is_decoded_when_it_is_asked_for_and_not_before() -> None:
    made: list[str] = []

    class Own(msgspec.Struct):
        id: str
        choices: list[Any]

        def __post_init__(self) -> None:
            made.append(self.id)

    payloads = [b'{"id":"%d","choices":[]}' % number for number in range(5)]
    stream = ChatStream([lines(*payloads) + DONE], type=Own)
    # The first document is decoded before it shows that there is more.
    for number, item in enumerate(stream):
        assert item.id == made[-1] == str(number)
    assert made == ["0", "0", "1", "2", "3", "4"]


# The end of the body comes behind what the last event holds


LASTS: Final[dict[str, tuple[bytes, Any, str]]] = {
    "a cut payload": (b'data: {"cut', Incomplete(b'{"cut'), "incomplete"),
    "a cut sentinel": (b"data: [DO", Incomplete(b"[DO"), "incomplete"),
    "an error": (b"data: " + ERROR, BOOM, "error"),
    "an error line": (b"error: late", Api("late", "late"), "error"),
    "a bare error": (ERROR, BOOM, "error"),
}


@pytest.mark.parametrize(("last", "item", "state"), LASTS.values(), ids=LASTS)
def test_until_the_last_error_is_raised_the_stream_is_open_and_so_is_the_response(
    last: bytes, item: Any, state: str
) -> None:
    response = Response(lines(A, B)[:-1] + last)
    stream = ChatStream(response)
    for text in ("a", "b"):
        assert next(stream).text == text
        assert (stream.state, response.closed) == ("open", 0)
    with pytest.raises((APIError, IncompleteStreamError)) as caught:
        next(stream)
    assert (plain(caught.value), stream.state) == (item, state)
    assert next(stream, None) is None
    assert (stream.state, response.closed, response.generator_closed) == (state, 1, True)


@pytest.mark.parametrize(("last", "item", "state"), LASTS.values(), ids=LASTS)
def test_so_it_is_with_an_asynchronous_stream(last: bytes, item: Any, state: str, run: Run) -> None:
    async def main() -> None:
        response = AsyncResponse(lines(A, B)[:-1] + last)
        stream = AsyncChatStream(response)
        for text in ("a", "b"):
            assert (await anext(stream)).text == text
            assert (stream.state, response.closed) == ("open", 0)
        with pytest.raises((APIError, IncompleteStreamError)) as caught:
            await anext(stream)
        assert (plain(caught.value), stream.state) == (item, state)
        assert [left async for left in stream] == []
        assert (stream.state, response.closed, response.generator_closed) == (state, 1, True)

    run(main())


def test_a_stream_that_is_closed_in_the_middle_of_an_event_gives_nothing_more_of_it() -> None:
    response = Response(lines(A, B) + DONE)
    stream = ChatStream(response)
    next(stream)
    stream.close()
    with pytest.raises(SSEWireError, match="closed"):
        next(stream)
    assert (stream.state, stream.stats.chunks, response.closed) == ("closed", 1, 1)


def test_a_decoder_that_is_reset_in_the_middle_of_an_event_gives_nothing_more_of_it() -> None:
    decoder = ChunkDecoder()
    assert next(decoder.feed(lines(A, b"oops", B))).text == "a"
    decoder.reset()
    assert told(decoder) == (0, 0, 0, 0, "open")
    assert list(decoder) == []
    assert [item.text for item in decoder.feed(lines(C) + DONE)] == ["c"]


def test_usage_and_finish_reasons_are_as_of_the_item_handed_out() -> None:
    usage = b'{"choices":[],"usage":{"total_tokens":5}}'
    stream = ChatStream([lines(A, STOP, usage)])
    known = [(item.text, stream.finish_reasons, stream.usage and stream.usage.total_tokens) for item in stream]
    assert known == [("a", {}, None), ("", {0: "stop"}, None), ("", {0: "stop"}, 5)]
    assert stream.state == "finished"


def test_two_ways_to_iterate_share_one_position_inside_an_event() -> None:
    stream = ChatStream([lines(A, B, C, STOP) + DONE])
    assert next(stream).text == "a"
    assert next(stream.iter_payloads()) == B
    assert next(stream.iter_text()) == "c"
    assert next(stream.iter_with_payload())[0] == STOP
    assert (next(stream, None), stream.state, stream.finish_reasons) == (None, "done", {0: "stop"})


def test_an_event_of_a_hundred_thousand_lines() -> None:
    count = 100_000
    stream = ChatStream([lines(*[A] * count, b"[DONE]")])
    assert sum(len(text) for text in stream.iter_text()) == count
    assert (stream.stats.chunks, stream.stats.repaired, stream.stats.events) == (count, count, 1)


def test_an_event_that_the_first_reads_leave_open_is_handed_out_when_it_is_whole() -> None:
    source = Response(b"", lines(A)[:-1], lines(B)[:-1], b"\n", chunk("c") + DONE)
    stream = ChatStream(source)
    assert next(stream).text == "a"
    assert source.reads.asked == 4
    assert [item.text for item in stream] == ["b", "c"]
