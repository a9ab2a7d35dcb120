"""`on_decode_error`: what becomes of events that are no chunk."""

from __future__ import annotations

import gc
from collections.abc import Sequence
from functools import partial
from typing import Any, Final

import pytest

from ssewire import APIError, AsyncChatStream, ChatStream, ChunkDecoder, DecodeError, SSEWireError
from tests.cases.outcome import Api, Incomplete, Undecodable, every_reader, plain
from tests.conftest import Run
from tests.reading import awaited, pieces, with_errors, with_errors_async
from tests.unit.making import DONE, AsyncReads, AsyncResponse, Reads, Response, chunk, sse

A: Final = sse(b'{"choices":[{"index":0,"delta":{"content":"a"}}]}')
B: Final = sse(b'{"choices":[{"index":0,"delta":{"content":"b"}}]}')
BROKEN: Final = sse(b"oops")
ODD: Final = sse(b'{"choices":5}')
BODY: Final = A + BROKEN + ODD + B + DONE
OFFSETS: Final = [len(A), len(A + BROKEN)]

READS: Final = {"whole": [BODY], "1 byte": pieces(BODY, 1), "7 bytes": pieces(BODY, 7)}


class RefusalError(Exception):
    """What a caller's function raises."""


@pytest.fixture(params=READS.values(), ids=list(READS))
def reads(request: pytest.FixtureRequest) -> Any:
    return request.param


def test_raise_is_the_default_and_both_are_counted(reads: Sequence[bytes], run: Run) -> None:
    for options in ({}, {"on_decode_error": "raise"}):
        for items, reader in every_reader(reads, run, **options):
            assert [plain(item) for item in items] == ["a", Undecodable(b"oops"), Undecodable(b'{"choices":5}'), "b"]
            assert [(item.event_number, item.offset) for item in items[1:3]] == [(2, OFFSETS[0]), (3, OFFSETS[1])]
            assert (reader.state, reader.stats.decode_errors, reader.stats.chunks) == ("done", 2, 2)


def test_skip_leaves_them_out_and_counts_them(reads: Sequence[bytes], run: Run) -> None:
    for items, reader in every_reader(reads, run, on_decode_error="skip"):
        assert [plain(item) for item in items] == ["a", "b"]
        assert (reader.state, reader.stats.decode_errors, reader.stats.chunks) == ("done", 2, 2)
        assert reader.stats.events == 5


def test_a_function_is_called_with_each_in_order(reads: Sequence[bytes], run: Run) -> None:
    told: list[DecodeError] = []
    for items, reader in every_reader(reads, run, on_decode_error=told.append):
        assert [plain(item) for item in items] == ["a", "b"]
        assert (reader.state, reader.stats.decode_errors) == ("done", 2)
    # Three readers, one behind the other.
    assert [plain(error) for error in told] == [Undecodable(b"oops"), Undecodable(b'{"choices":5}')] * 3
    assert [(error.event_number, error.offset) for error in told] == [(2, OFFSETS[0]), (3, OFFSETS[1])] * 3


@pytest.mark.parametrize("answer", [True, False, "raise", DecodeError("", payload=b"", event_number=0, offset=0)])
def test_what_the_function_gives_is_not_looked_at(answer: Any, run: Run) -> None:
    for items, _ in every_reader([BODY], run, on_decode_error=lambda _: answer):
        assert [plain(item) for item in items] == ["a", "b"]


def test_the_function_is_called_in_the_place_of_the_event() -> None:
    seen: list[Any] = []
    stream = ChatStream([BODY], on_decode_error=lambda error: seen.append(error.payload))
    for item in stream:
        seen.append(item.text)  # noqa: PERF401 - two write to the list
    assert seen == ["a", b"oops", b'{"choices":5}', "b"]


def raise_refusal(error: DecodeError) -> None:
    raise RefusalError(error.payload)


def test_what_the_function_raises_passes_through_and_reading_goes_on(reads: Sequence[bytes]) -> None:
    stream = ChatStream(Reads(*reads), on_decode_error=raise_refusal)
    assert plain(next(stream)) == "a"
    for number, payload in enumerate([b"oops", b'{"choices":5}'], start=1):
        with pytest.raises(RefusalError) as caught:
            next(stream)
        assert caught.value.args == (payload,)
        assert (stream.state, stream.stats.decode_errors) == ("open", number)
    assert [plain(item) for item in stream] == ["b"]
    assert (stream.state, stream.stats.decode_errors) == ("done", 2)


def test_what_it_raises_passes_through_an_asynchronous_stream(reads: Sequence[bytes], run: Run) -> None:
    async def read() -> None:
        source = AsyncReads(*reads)
        stream = AsyncChatStream(source, on_decode_error=raise_refusal)
        assert plain(await anext(stream)) == "a"
        for payload in (b"oops", b'{"choices":5}'):
            with pytest.raises(RefusalError) as caught:
                await anext(stream)
            assert caught.value.args == (payload,)
            assert (stream.state, source.closed) == ("open", 0)
        assert [plain(item) async for item in stream] == ["b"]
        assert (stream.state, stream.stats.decode_errors, source.closed) == ("done", 2, 1)

    run(read())


def test_what_it_raises_passes_through_a_decoder() -> None:
    decoder = ChunkDecoder(on_decode_error=raise_refusal)
    chunks = decoder.feed(BODY)
    assert plain(next(chunks)) == "a"
    for payload in (b"oops", b'{"choices":5}'):
        with pytest.raises(RefusalError) as caught:
            next(chunks)
        assert caught.value.args == (payload,)
    assert [plain(item) for item in decoder] == ["b"]
    assert (decoder.state, decoder.stats.decode_errors) == ("done", 2)


@pytest.mark.parametrize("interruption", [KeyboardInterrupt(), SystemExit(3)])
def test_an_interruption_in_the_function_passes_through(interruption: BaseException) -> None:
    def interrupt(_: DecodeError) -> None:
        raise interruption

    with ChatStream([BODY], on_decode_error=interrupt) as stream:
        next(stream)
        with pytest.raises(type(interruption)) as caught:
            next(stream)
        assert caught.value is interruption


def test_the_function_may_raise_the_error_itself() -> None:
    def again(error: DecodeError) -> None:
        raise error

    found = with_errors(ChatStream([BODY], on_decode_error=again))
    assert [plain(item) for item in found] == ["a", Undecodable(b"oops"), Undecodable(b'{"choices":5}'), "b"]


SHARED: Final = A[:-1] + b"data: oops\n" + B


@pytest.mark.parametrize(
    "raised", [RefusalError("r"), ValueError("v"), OSError("o"), RecursionError("r"), APIError("a")]
)
def test_what_it_raises_comes_between_the_lines_of_one_event(raised: Exception, run: Run) -> None:
    def on_decode_error(_: DecodeError) -> None:
        raise raised

    stream = ChatStream([SHARED + DONE], on_decode_error=on_decode_error)
    assert plain(next(stream)) == "a"
    with pytest.raises(type(raised)) as caught:
        next(stream)
    assert caught.value is raised
    assert (stream.stats.chunks, stream.stats.decode_errors, stream.stats.repaired) == (1, 1, 1)
    assert [plain(item) for item in stream] == ["b"]
    assert (stream.stats.chunks, stream.stats.decode_errors, stream.stats.repaired) == (2, 1, 2)

    async def read() -> None:
        stream = AsyncChatStream(awaited([SHARED + DONE]), on_decode_error=on_decode_error)
        assert plain(await anext(stream)) == "a"
        with pytest.raises(type(raised)) as caught:
            await anext(stream)
        assert caught.value is raised
        assert [plain(item) async for item in stream] == ["b"]

    run(read())


def stops(raised: type[Exception]) -> Any:
    """A function that raises what means the end of an iteration, such as one that calls `next` on an empty one."""

    def on_decode_error(_: DecodeError) -> None:
        raise raised

    return on_decode_error


ENDS: Final = [StopIteration, StopAsyncIteration]


@pytest.mark.parametrize("body", [SHARED, A + BROKEN + B], ids=["shared event", "own event"])
def test_the_end_of_an_iteration_that_it_raises_is_no_end_of_the_stream(body: bytes) -> None:
    decoder = ChunkDecoder(on_decode_error=stops(StopIteration)).feed(body + DONE)
    for reader in (ChatStream([body + DONE], on_decode_error=stops(StopIteration)), decoder):
        assert plain(next(reader)) == "a"
        with pytest.raises(RuntimeError, match="on_decode_error raised StopIteration") as caught:
            next(reader)
        assert isinstance(caught.value.__cause__, StopIteration)
        assert reader.state == "open"
        assert [plain(item) for item in reader] == ["b"]
        assert (reader.state, reader.stats.decode_errors) == ("done", 1)


@pytest.mark.parametrize("raised", ENDS)
@pytest.mark.parametrize("body", [SHARED, A + BROKEN + B], ids=["shared event", "own event"])
def test_it_is_no_end_of_an_asynchronous_stream_either(body: bytes, raised: type[Exception], run: Run) -> None:
    async def read() -> None:
        stream = AsyncChatStream(awaited([body + DONE]), on_decode_error=stops(raised))
        assert plain(await anext(stream)) == "a"
        with pytest.raises(RuntimeError) as caught:
            await anext(stream)
        assert isinstance(caught.value.__cause__, raised)
        assert stream.state == "open"
        assert [plain(item) async for item in stream] == ["b"]
        assert (stream.state, stream.stats.decode_errors) == ("done", 1)

    run(read())


@pytest.mark.parametrize("body", [SHARED, A + BROKEN + B], ids=["shared event", "own event"])
def test_the_function_may_close_the_stream(body: bytes) -> None:
    seen: list[tuple[str, int]] = []

    def close(_: DecodeError) -> None:
        stream.close()
        seen.append((stream.state, response.closed))

    response = Response(body, DONE)
    stream: ChatStream[Any] = ChatStream(response, on_decode_error=close)
    assert plain(next(stream)) == "a"
    # The step that is under way may come to its end.
    assert plain(next(stream)) == "b"
    assert seen == [("closed", 1)]
    for reader in (stream, stream.iter_text()):
        with pytest.raises(SSEWireError, match="closed"):
            next(reader)
    assert (stream.state, response.closed, response.generator_closed) == ("closed", 1, True)


def test_the_function_may_not_read_the_stream() -> None:
    seen: list[str] = []

    def read_on(_: DecodeError) -> None:
        with pytest.raises(SSEWireError, match="is being read already") as caught:
            next(stream)
        seen.append(str(caught.value))

    for body in (SHARED, A + BROKEN + B):
        stream: ChatStream[Any] = ChatStream([body + DONE], on_decode_error=read_on)
        assert [plain(item) for item in stream] == ["a", "b"]
    assert len(seen) == 2


@pytest.mark.parametrize("wrong", ["ignore", "RAISE", "", None, 1, True, ["skip"]])
def test_another_value_is_refused_at_once(wrong: Any) -> None:
    source = Reads(BODY)
    for make in (ChatStream, AsyncChatStream):
        with pytest.raises((TypeError, ValueError), match="on_decode_error"):
            make([BODY] if make is ChatStream else awaited([BODY]), on_decode_error=wrong)
    with pytest.raises((TypeError, ValueError), match="on_decode_error"):
        ChatStream(source, on_decode_error=wrong)
    with pytest.raises((TypeError, ValueError), match="on_decode_error"):
        ChunkDecoder(on_decode_error=wrong)
    assert (source.asked, source.closed) == (0, 0)


async def coroutine_function(_: DecodeError) -> None:
    """Nobody would await what it gives."""


class Awaited:
    async def __call__(self, _: DecodeError) -> None:
        """The same."""

    async def method(self, _: DecodeError) -> None:
        """The same."""


COROUTINES: Final[dict[str, Any]] = {
    "function": coroutine_function,
    "object": Awaited(),
    "method": Awaited().method,
    "partial": partial(coroutine_function),
}


@pytest.mark.parametrize("wrong", COROUTINES.values(), ids=COROUTINES)
def test_a_coroutine_function_is_refused_at_once_and_the_source_is_left_alone(wrong: Any) -> None:
    response, awaiting = Response(BODY), AsyncResponse(BODY)
    with pytest.raises(TypeError, match="cannot be a coroutine function"):
        ChatStream(response, on_decode_error=wrong)
    with pytest.raises(TypeError, match="cannot be a coroutine function"):
        AsyncChatStream(awaiting, on_decode_error=wrong)
    with pytest.raises(TypeError, match="cannot be a coroutine function"):
        ChunkDecoder(on_decode_error=wrong)
    # Nor was anything made that would warn when it is dropped.
    gc.collect()
    for source in (response, awaiting):
        assert (source.reads.asked, source.closed, source.generator_closed) == (0, 0, False)
    assert [plain(item) for item in ChatStream(response, on_decode_error="skip")] == ["a", "b"]


@pytest.mark.parametrize("on_decode_error", ["skip", lambda _: None], ids=["skip", "function"])
def test_only_decode_errors_are_left_out(on_decode_error: Any, run: Run) -> None:
    for items, reader in every_reader([A + sse({"error": "boom"}) + BROKEN + B], run, on_decode_error=on_decode_error):
        assert [plain(item) for item in items] == ["a", Api("boom", {"error": "boom"}), "b"]
        assert (reader.state, reader.stats.decode_errors) == ("error", 1)
    for items, reader in every_reader([A + BROKEN + b'data: {"cut'], run, on_decode_error=on_decode_error):
        assert [plain(item) for item in items] == ["a", Incomplete(b'{"cut')]
        assert (reader.state, reader.stats.decode_errors) == ("incomplete", 1)
    for items, reader in every_reader([BROKEN], run, on_decode_error=on_decode_error):
        assert [plain(item) for item in items] == [Incomplete()]
        assert (reader.state, reader.stats.decode_errors) == ("incomplete", 1)


def test_a_decode_error_alone_leaves_the_state_to_the_rest(run: Run) -> None:
    for items, reader in every_reader([BROKEN + chunk("a", "stop")], run):
        assert isinstance(items[0], DecodeError)
        assert [item.text for item in items[1:]] == ["a"]
        assert reader.state == "finished"


def test_ten_thousand_in_a_row(run: Run) -> None:
    for items, reader in every_reader([A + BROKEN * 10_000 + B + DONE], run, on_decode_error="skip"):
        assert [plain(item) for item in items] == ["a", "b"]
        assert reader.stats.decode_errors == 10_000


def test_other_ways_to_iterate_leave_them_out_too(run: Run) -> None:
    assert list(ChatStream([BODY], on_decode_error="skip").iter_text()) == ["a", "b"]
    pairs = list(ChatStream([BODY], on_decode_error="skip").iter_with_payload())
    assert [(payload, plain(item)) for payload, item in pairs] == [(A[6:-2], "a"), (B[6:-2], "b")]
    # Payloads are not decoded, so that none can be refused.
    payloads = [A[6:-2], b"oops", b'{"choices":5}', B[6:-2]]
    assert list(ChatStream([BODY], on_decode_error="skip").iter_payloads()) == payloads

    stream = AsyncChatStream(BODY, on_decode_error="skip")
    assert run(with_errors_async(stream.iter_text())) == ["a", "b"]
