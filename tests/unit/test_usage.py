"""`stream.usage` is the last usage with a count, wherever it stands, and however the stream is read."""

from __future__ import annotations

from typing import Any, Final

import msgspec
import pytest

from ssewire import AsyncChatStream, ChatCompletionChunk, ChatStream, ChunkDecoder
from tests.conftest import Run
from tests.reading import with_errors
from tests.unit.making import DONE, choice, chunk, lines, sse

FIRST: Final = {"total_tokens": 1}
LAST: Final = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}


def usage(counts: Any) -> bytes:
    """An event without choices."""
    return sse({"choices": [], "usage": counts})


def stop(**members: Any) -> dict[str, Any]:
    """A choice that ends the answer."""
    return {**choice("", "stop"), **members}


def told(stream: Any) -> Any:
    return stream.usage and msgspec.to_builtins(stream.usage)


# Ways to iterate that are mixed

PLACES: Final = {
    "at the top": (usage(FIRST), usage(LAST)),
    "in a choice": (sse({"choices": [stop(usage=FIRST)]}), sse({"choices": [stop(usage=LAST)]})),
    "in x_groq": (
        sse({"choices": [], "x_groq": {"usage": FIRST}}),
        sse({"choices": [stop()], "x_groq": {"usage": LAST}}),
    ),
    "in x_groq, and then at the top": (sse({"choices": [], "x_groq": {"usage": FIRST}}), usage(LAST)),
}


@pytest.mark.parametrize(("first", "last"), PLACES.values(), ids=PLACES)
def test_payloads_first_and_then_chunks(first: bytes, last: bytes) -> None:
    for end in (DONE, b""):
        stream = ChatStream([first + chunk("a"), last + end])
        payloads = stream.iter_payloads()
        assert [next(payloads), next(payloads)] == [first[6:-2], chunk("a")[6:-2]]
        # Nothing was decoded so far.
        assert told(stream) is None
        next(stream)
        assert told(stream) == LAST
        with_errors(stream)
        assert told(stream) == LAST


@pytest.mark.parametrize(("first", "last"), PLACES.values(), ids=PLACES)
def test_chunks_first_and_then_payloads_of_a_body_without_the_sentinel(first: bytes, last: bytes, run: Run) -> None:
    """Then the last payloads tell how it ended, and so what it cost."""
    body = first + chunk("a") + last + sse({"choices": [stop()]})
    stream = ChatStream([body])
    next(stream)
    assert told(stream) == FIRST
    assert len(list(stream.iter_payloads())) == 3
    assert (told(stream), stream.state, stream.finish_reasons) == (LAST, "finished", {0: "stop"})

    async def read() -> None:
        stream = AsyncChatStream(body)
        await anext(stream)
        assert [payload async for payload in stream.iter_payloads()] == [
            event.removeprefix(b"data: ") for event in body.rstrip().split(b"\n\n")
        ][1:]
        assert (told(stream), stream.state) == (LAST, "finished")

    run(read())


def test_chunks_first_and_then_payloads_up_to_the_sentinel() -> None:
    """Payloads are not decoded, so what was known stays."""
    stream = ChatStream([usage(LAST) + usage(FIRST) + DONE])
    next(stream)
    assert len(list(stream.iter_payloads())) == 1
    assert (told(stream), stream.state) == (LAST, "done")


def test_of_payloads_alone_the_last_four_tell_it() -> None:
    payloads = [usage(LAST), chunk("a"), chunk("b"), sse({"choices": [stop()]})]
    stream = ChatStream([b"".join([usage(FIRST), *payloads])])
    assert len(list(stream.iter_payloads())) == 5
    assert (told(stream), stream.state) == (LAST, "finished")
    stream = ChatStream([b"".join([usage(LAST), *payloads[1:], chunk("c")])])
    assert len(list(stream.iter_payloads())) == 5
    assert (told(stream), stream.state) == (None, "finished")


def test_a_chunk_behind_payloads_makes_them_count_no_longer() -> None:
    stream = ChatStream([usage(FIRST) + usage(LAST) + chunk("a", "stop")])
    payloads = stream.iter_payloads()
    next(payloads)
    next(stream)
    assert told(stream) == LAST
    assert len(list(payloads)) == 1
    assert (told(stream), stream.state) == (LAST, "finished")


def test_each_way_to_iterate_follows_it_but_that_of_payloads() -> None:
    body = usage(FIRST) + chunk("a", "stop") + usage(LAST) + DONE
    for way in ("iter_text", "iter_with_payload"):
        stream = ChatStream([body])
        list(getattr(stream, way)())
        assert told(stream) == LAST
    decoder = ChunkDecoder()
    list(decoder.feed(body))
    assert told(decoder) == LAST


# Copies in other places

ODD: Final[list[Any]] = [None, {}, [], "none", 7, True, [LAST], {"id": "r"}, {"usage": None}, {"usage": {}}]
ODD_USAGES: Final[list[Any]] = [{"usage": odd} for odd in ([], "none", 7, [1], {"total_tokens": None})]


@pytest.mark.parametrize("x_groq", ODD + ODD_USAGES, ids=repr)
@pytest.mark.parametrize("type", [ChatCompletionChunk, dict])
def test_what_is_no_usage_hides_none_in_a_choice(type: Any, x_groq: Any) -> None:
    body = sse({"choices": [stop(usage=LAST)], "x_groq": x_groq})
    stream = ChatStream([body + DONE], type=type)
    assert len(with_errors(stream)) == 1
    assert (told(stream), stream.stats.decode_errors) == (LAST, 0)


@pytest.mark.parametrize("odd", [None, {}, [], "none", 7, True, [1], {"total_tokens": None}], ids=repr)
@pytest.mark.parametrize("type", [ChatCompletionChunk, dict])
def test_what_is_no_usage_in_a_choice_hides_none_in_another(type: Any, odd: Any) -> None:
    body = sse({"choices": [stop(usage=odd), stop(index=1, usage=LAST)], "usage": None})
    stream = ChatStream([body + DONE], type=type)
    assert len(with_errors(stream)) == 1
    assert (told(stream), stream.stats.decode_errors) == (LAST, 0)


def test_numbers_without_a_count_hide_none() -> None:
    """Groq sends its times beside the counts."""
    body = sse({"choices": [stop(usage=LAST)], "x_groq": {"usage": {"queue_time": 0.1}}})
    stream = ChatStream([body + DONE])
    list(stream)
    assert told(stream) == LAST


@pytest.mark.parametrize("type", [ChatCompletionChunk, dict])
def test_of_two_copies_groqs_counts(type: Any) -> None:
    stream = ChatStream([sse({"choices": [stop(usage=FIRST)], "x_groq": {"usage": LAST}}) + DONE], type=type)
    list(stream)
    assert told(stream) == LAST


# What the first decoder refuses, or would refuse if it did not skip it.
FAULTY: Final = {
    "odd member": sse({"choices": [stop(usage=LAST, index=None)]}),
    "null as choices": sse({"choices": None, "x_groq": {"usage": LAST}}),
    "null among choices": sse({"choices": [None], "x_groq": {"usage": LAST}}),
    "counts as text": sse({"choices": [], "x_groq": {"usage": {name: str(count) for name, count in LAST.items()}}}),
    "NaN": sse({"choices": [stop(usage=LAST)], "x": 7}).replace(b":7", b":NaN"),
    "no UTF-8": sse({"choices": [stop(usage=LAST)], "x": "?"}).replace(b"?", b"\xff"),
    "half a surrogate pair": sse({"choices": [stop(usage=LAST)], "x": "?"}).replace(b"?", rb"\ud83d"),
    "two documents on a line": sse(sse({"choices": [stop(usage=LAST)]})[6:-2] + chunk("a")[6:-2]),
    "lines": lines(chunk("a")[6:-2], sse({"choices": [stop(usage=LAST)]})[6:-2]),
}


@pytest.mark.parametrize("body", FAULTY.values(), ids=FAULTY)
def test_a_copy_is_found_in_a_faulty_payload(body: bytes) -> None:
    stream = ChatStream([chunk("a") + body + DONE])
    assert stream.usage is None
    list(stream)
    assert told(stream) == LAST


def test_it_is_the_usage_of_the_chunk_and_no_other_object() -> None:
    stream = ChatStream([usage(LAST) + DONE])
    (item,) = stream
    assert stream.usage is item.usage
