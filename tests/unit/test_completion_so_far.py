"""`completion()` in mid-stream: at every moment it is what was handed out so far, whatever way the stream is read."""

from __future__ import annotations

import gc
import itertools
import tracemalloc
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, Final

import msgspec
import pytest

from ssewire import APIError, AsyncChatStream, ChatCompletionChunk, ChatStream, DecodeError, SSEWireError
from tests.conftest import Run
from tests.reading import pieces
from tests.unit.cases import ERROR, STOP
from tests.unit.making import DONE, AsyncReads, choice, chunk, lines, sse

A, B, C = (chunk(text) for text in "abc")
USAGE: Final[dict[str, Any]] = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}


def said(payload: bytes) -> str:
    """The text of a payload."""
    return "".join(choice["delta"].get("content") or "" for choice in msgspec.json.decode(payload)["choices"])


# A way to read, and the text in what it hands out.
WAYS: Final[dict[str, tuple[Callable[[Any], Any], Callable[[Any], str]]]] = {
    "chunks": (lambda stream: stream, lambda chunk: chunk.text),
    "texts": (lambda stream: stream.iter_text(), str),
    "texts of a choice": (lambda stream: stream.iter_text(0), str),
    "payloads": (lambda stream: stream.iter_payloads(), said),
    "pairs": (lambda stream: stream.iter_with_payload(), lambda pair: pair[1].text),
    "lists": (lambda stream: stream.iter_batches(), lambda chunks: "".join(chunk.text for chunk in chunks)),
    "lists of two": (lambda stream: stream.iter_batches(2), lambda chunks: "".join(chunk.text for chunk in chunks)),
}

each_way = pytest.mark.parametrize(("way", "text"), WAYS.values(), ids=WAYS)

BODY: Final = b"".join(
    [
        A + chunk("") + B + sse(b"oops") + C + b": hi\n\n" + lines(A[6:-2], b'{"choi', B[6:-2]),
        sse({"choices": [choice("d")], "error": "no"}) + ERROR + C + sse(A[6:-2] + B[6:-2]),
        STOP + sse({"choices": [], "usage": USAGE}) + DONE,
    ]
)
WHOLE: Final = "abcabdcab"

CUTS: Final = {"whole": [BODY], "at 300": [BODY[:300], BODY[300:]], "100 bytes": pieces(BODY, 100)}

each_cut = pytest.mark.parametrize("reads", CUTS.values(), ids=CUTS)


def moments(stream: ChatStream[Any], items: Iterator[Any], text: Callable[[Any], str]) -> Iterator[tuple[str, str]]:
    """The text that was handed out, and the completion's, behind each item and each error."""
    given = ""
    while True:
        try:
            given += text(next(items))
        except (APIError, DecodeError):
            pass
        except StopIteration:
            return
        yield given, stream.completion().text


@each_cut
@each_way
def test_it_is_what_was_handed_out(way: Any, text: Callable[[Any], str], reads: list[bytes]) -> None:
    stream = ChatStream(reads, accumulate=True)
    assert stream.completion().choices == []
    *_, last = found = list(moments(stream, iter(way(stream)), text))
    assert [given for given, _ in found] == [merged for _, merged in found]
    assert last == (WHOLE, WHOLE)
    completion = stream.completion()
    assert (completion.choices[0].finish_reason, msgspec.to_builtins(completion.usage)) == ("stop", USAGE)


@each_cut
@each_way
def test_the_same_of_asynchronous_streams(way: Any, text: Callable[[Any], str], reads: list[bytes], run: Run) -> None:
    async def read() -> str:
        stream = AsyncChatStream(AsyncReads(*reads), accumulate=True)
        items: AsyncIterator[Any] = aiter(way(stream))
        given = ""
        while True:
            try:
                given += text(await anext(items))
            except (APIError, DecodeError):
                pass
            except StopAsyncIteration:
                return given
            assert stream.completion().text == given

    assert run(read()) == WHOLE


@pytest.mark.parametrize("options", [{}, {"type": dict}], ids=["built-in", "dict"])
def test_of_bytes_it_is_what_was_in_them(options: dict[str, Any]) -> None:
    stream = ChatStream([A + B[:9], B[9:], ERROR + C, STOP + DONE, A], accumulate=True, **options)
    relayed = stream.iter_bytes()
    assert [stream.completion().text for _ in relayed] == ["a", "ab", "abc", "abc", "abc"]


def test_ways_that_take_turns() -> None:
    stream = ChatStream([A + B + C, A + B, C + STOP + DONE], accumulate=True)
    texts = []
    for take in (
        lambda: next(stream),
        lambda: next(stream.iter_payloads()),
        lambda: next(stream.iter_text()),
        lambda: next(stream.iter_batches()),
        lambda: list(stream.iter_with_payload()),
    ):
        take()
        texts.append(stream.completion().text)
    assert texts == ["a", "ab", "abc", "abcab", "abcabc"]


def test_earlier_answers_stay_as_they_were() -> None:
    stream = ChatStream([A, B, STOP, DONE], accumulate=True)
    answers = [(stream.completion(), stream.completion()) for _ in stream]
    assert [first.text for first, _ in answers] == ["a", "ab", "ab"]
    assert [first.choices[0].finish_reason for first, _ in answers] == [None, None, "stop"]
    answers[0][0].choices.clear()
    assert answers[0][1].text == "a"


def test_what_is_done_to_a_chunk_is_not_done_to_the_answer() -> None:
    right: dict[str, Any] = {**USAGE, "prompt_tokens_details": {"cached_tokens": 1}}
    stream = ChatStream([A, sse({"choices": [choice("b")], "usage": right}), DONE], accumulate=True)
    for item in stream:
        item.choices[0].delta.content = "changed"
        item.choices.clear()
        if item.usage is not None:
            item.usage.total_tokens = 0
            item.usage.prompt_tokens_details["cached_tokens"] = 2  # type: ignore[index]
    assert stream.completion().text == "ab"
    assert msgspec.to_builtins(stream.completion().usage) == right


@pytest.mark.parametrize("type", [Any, dict[str, Any] | list[Any]], ids=["Any", "union"])
@pytest.mark.parametrize("name", WAYS)
def test_what_is_no_chunk_is_handed_out_and_not_merged(name: str, type: Any) -> None:
    way, _ = WAYS[name]
    reads = [A + sse(b"[1]") + sse({"x": 1}) + B + STOP + DONE]
    plain: ChatStream[Any] = ChatStream(reads, type=type)
    stream: ChatStream[Any] = ChatStream(reads, type=type, accumulate=True)
    assert list(way(stream)) == list(way(plain))
    assert (stream.completion().text, stream.state) == ("ab", "done")


# Usage

ELSEWHERE: Final[dict[str, dict[str, Any]]] = {
    "at the top": {"choices": [], "usage": USAGE},
    "at the top of the last chunk with text": {"choices": [choice("b", "stop")], "usage": USAGE},
    "in x_groq": {"choices": [choice(None, "stop")], "x_groq": {"id": "r", "usage": USAGE}},
    "in x_groq, without choices": {"choices": [], "x_groq": {"usage": USAGE}},
    "in the choice": {"choices": [{**choice(None, "stop"), "usage": USAGE}]},
}


@pytest.mark.parametrize("type", [ChatCompletionChunk, dict])
@pytest.mark.parametrize("last", ELSEWHERE.values(), ids=ELSEWHERE)
def test_usage_wherever_it_is_sent(last: dict[str, Any], type: Any, run: Run) -> None:
    reads = [A, sse(last) + DONE]
    assert msgspec.to_builtins(ChatStream(reads, type=type).collect().usage) == USAGE

    stream = ChatStream(reads, type=type, accumulate=True)
    assert [stream.completion().usage is None for _ in stream] == [True, False]
    stream = ChatStream(reads, type=type, accumulate=True)
    list(stream.iter_bytes())
    assert msgspec.to_builtins(stream.completion().usage) == USAGE

    async def read() -> Any:
        return (await AsyncChatStream(AsyncReads(*reads), type=type).collect()).usage

    assert msgspec.to_builtins(run(read())) == USAGE


@pytest.mark.parametrize("type", [ChatCompletionChunk, dict])
@pytest.mark.parametrize("top_first", [True, False])
def test_a_copy_elsewhere_never_replaces_the_usage_in_its_place(type: Any, top_first: bool) -> None:
    top = sse({"choices": [], "usage": USAGE})
    copy = sse({"choices": [choice(None, "stop")], "x_groq": {"usage": {"total_tokens": 9}}})
    stream = ChatStream([A + (top + copy if top_first else copy + top) + DONE], type=type)
    assert msgspec.to_builtins(stream.collect().usage) == USAGE
    assert msgspec.to_builtins(stream.usage) == USAGE


def test_usage_that_says_nothing_replaces_none() -> None:
    empty = sse({"choices": [], "usage": {"prompt_tokens": None}})
    stream = ChatStream([A + sse({"choices": [], "usage": USAGE}) + empty + sse({"usage": {}}) + DONE])
    assert msgspec.to_builtins(stream.collect().usage) == USAGE


@pytest.mark.parametrize("last", ELSEWHERE.values(), ids=ELSEWHERE)
def test_usage_is_not_shared_with_the_streams(last: dict[str, Any]) -> None:
    stream = ChatStream([A, sse(last) + DONE])
    first, second = stream.collect(), stream.completion()
    for usage in (first.usage, stream.usage):
        assert usage is not None
        usage.total_tokens = 0
    assert msgspec.to_builtins(second.usage) == USAGE
    assert msgspec.to_builtins(stream.completion().usage) == USAGE


# Without accumulate


def test_without_accumulate_it_says_what_to_do(run: Run) -> None:
    async def ask() -> None:
        stream = AsyncChatStream(DONE)
        with pytest.raises(SSEWireError, match=r"^nothing was merged: make the stream with accumulate=True$"):
            stream.completion()

    run(ask())
    for options in ({}, {"type": dict}, {"accumulate": False}):
        stream: ChatStream[Any] = ChatStream([A, DONE], **options)
        for _ in range(2):
            with pytest.raises(SSEWireError, match=r"^nothing was merged: make the stream with accumulate=True$"):
                stream.completion()
            list(stream)


def kept(way: Callable[[Any], Any], items: int, **options: Any) -> int:
    """So many bytes more a stream holds behind so many items than behind a few."""
    # Of a text that is always the same, only one would be kept.
    reads = (
        b"".join(chunk(f"some text of the answer {n}") for n in range(at, at + 20)) for at in itertools.count(0, 20)
    )
    stream: ChatStream[Any] = ChatStream(reads, **options)
    found = iter(way(stream))
    for _ in range(100):
        next(found)
    tracemalloc.start()
    try:
        gc.collect()
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(items):
            next(found)
        gc.collect()
        return tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
        stream.close()


# In each way some 20,000 chunks.
ITEMS: Final = {name: {"lists": 1000, "lists of two": 10_000}.get(name, 20_000) for name in WAYS}


@pytest.mark.parametrize("type", [ChatCompletionChunk, dict])
@pytest.mark.parametrize("name", WAYS)
def test_without_accumulate_nothing_is_kept(name: str, type: Any) -> None:
    # Less than a pointer for each, and some for what else the process does meanwhile.
    assert kept(WAYS[name][0], ITEMS[name], type=type) < 4 * ITEMS[name] + 20_000


def test_with_accumulate_the_text_is_kept() -> None:
    """Or else the test above could not fail."""
    assert kept(iter, 20_000, accumulate=True) > 20_000 * len("some text of the answer")
