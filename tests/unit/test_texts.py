"""`iter_text`: the text of each chunk that has some, or of one choice of it, for chunks of every type."""

from __future__ import annotations

from typing import Any, Final

import msgspec
import pytest

from ssewire import (
    APIError,
    AsyncChatStream,
    ChatCompletionChunk,
    ChatStream,
    ChunkDecoder,
    DecodeError,
    IncompleteStreamError,
)
from tests.conftest import Run
from tests.corpus.test_dialects import RECORDINGS
from tests.reading import awaited, with_errors, with_errors_async
from tests.unit.cases import ERROR
from tests.unit.making import DONE, AsyncReads, Reads, choice, chunk, lines, sse
from tests.unit.test_own_types import DOCUMENTED, TYPES

ALL: Final = {"built-in": ChatCompletionChunk, **TYPES}

each_type = pytest.mark.parametrize("type", ALL.values(), ids=ALL)


def texts(reads: list[Any], run: Run, choice: int | None = None, **options: Any) -> list[Any]:
    """The texts, and the kinds of the errors in their places, which both streams give."""

    async def read() -> list[Any]:
        return await with_errors_async(AsyncChatStream(awaited(reads), **options).iter_text(choice))

    both = [with_errors(ChatStream(iter(reads), **options).iter_text(choice)), run(read())]
    found, again = ([item if isinstance(item, str) else type(item) for item in items] for items in both)
    assert found == again
    return found


def choices(*choices: dict[str, Any]) -> bytes:
    """A chunk with several choices."""
    return sse({"choices": choices})


INTERLEAVED: Final = [
    chunk("a") + chunk("x", index=1) + chunk("b"),
    chunk("y", index=1) + chunk("", index=1) + chunk("c") + choices(choice("d"), choice("z", index=1)),
    choices(choice("w", index=1), choice("e"), choice("f")) + chunk(None, "stop") + chunk("!", "stop", index=1) + DONE,
]


@each_type
@pytest.mark.parametrize(
    ("index", "right"),
    [
        (None, ["a", "x", "b", "y", "c", "dz", "wef", "!"]),
        (0, ["a", "b", "c", "d", "ef"]),
        (1, ["x", "y", "z", "w", "!"]),
        (2, []),
        (-1, []),
        (2**70, []),
    ],
    ids=str,
)
def test_interleaved_choices(type: Any, index: int | None, right: list[str], run: Run) -> None:
    assert texts(INTERLEAVED, run, index, type=type) == right


@pytest.mark.parametrize("type", DOCUMENTED.values(), ids=DOCUMENTED)
@pytest.mark.parametrize(("index", "right"), [(None, ["a", "x", "bc"]), (0, ["a", "b"]), (1, ["x", "c"]), (2, [])])
def test_interleaved_choices_of_documented_types(type: Any, index: int | None, right: list[str], run: Run) -> None:
    members = {"id": "i", "created": 1, "model": "m", "object": "chat.completion.chunk"}
    made = [[choice("a")], [choice("x", index=1)], [choice("b"), choice("c", index=1)]]
    body = b"".join(sse({**members, "choices": choices}) for choices in made) + DONE
    assert texts([body], run, index, type=type) == right


def test_the_choice_may_be_named() -> None:
    assert list(ChatStream(INTERLEAVED).iter_text(choice=1)) == ["x", "y", "z", "w", "!"]


@each_type
def test_a_choice_without_an_index_is_the_first(type: Any, run: Run) -> None:
    body = sse({"choices": [{"delta": {"content": "a"}}]}) + DONE
    for index, right in ((None, ["a"]), (0, ["a"]), (1, [])):
        assert texts([body], run, index, type=type) == right


def typed(*parts: dict[str, Any], index: int = 0) -> dict[str, Any]:
    return {"index": index, "delta": {"content": list(parts)}}


def text_part(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


@pytest.mark.parametrize("type", [ChatCompletionChunk, dict])
def test_of_typed_parts_the_text_counts(type: Any, run: Run) -> None:
    thinking = {"type": "thinking", "thinking": [text_part("hm")]}
    body = choices(typed(thinking)) + choices(typed(thinking, text_part("a"), text_part("b"))) + choices(typed())
    body += choices(typed(text_part("x"), index=1), typed(text_part("c"))) + DONE
    for index, right in ((None, ["ab", "xc"]), (0, ["ab", "c"]), (1, ["x"])):
        assert texts([body], run, index, type=type) == right


@pytest.mark.parametrize("type", [ChatCompletionChunk, dict])
@pytest.mark.parametrize(
    "delta",
    [
        {"reasoning_content": "hm"},
        {"reasoning": "hm", "content": ""},
        {"refusal": "no"},
        {"role": "assistant", "content": None},
        {"tool_calls": [{"index": 0, "function": {"name": "f", "arguments": "{}"}}]},
        {},
    ],
    ids=str,
)
def test_what_is_no_text(type: Any, delta: dict[str, Any], run: Run) -> None:
    body = choices({"index": 0, "delta": delta}) + sse({"choices": [], "usage": {"total_tokens": 1}}) + DONE
    for index in (None, 0):
        assert texts([body], run, index, type=type) == []


@pytest.mark.parametrize("type", [ChatCompletionChunk, dict])
def test_the_message_of_a_whole_completion_is_its_text(type: Any, run: Run) -> None:
    said = [{"index": index, "message": {"content": text}, "finish_reason": "stop"} for index, text in enumerate("ab")]
    body = sse({"object": "chat.completion", "choices": said}) + DONE
    for index, right in ((None, ["ab"]), (0, ["a"]), (1, ["b"])):
        assert texts([body], run, index, type=type) == right


def test_so_it_is_behind_a_reset() -> None:
    decoder = ChunkDecoder()
    body = sse({"object": "chat.completion", "choices": [{"message": {"content": "a"}, "finish_reason": "stop"}]})
    assert list(decoder.feed(body + DONE).texts()) == ["a"]
    decoder.reset()
    assert list(decoder.feed(body + DONE).texts()) == ["a"]


# Errors


@each_type
@pytest.mark.parametrize("index", [None, 0])
def test_it_goes_on_behind_errors(type: Any, index: int | None, run: Run) -> None:
    reads = [
        chunk("a") + sse(b"oops") + chunk("") + chunk("b"),
        ERROR + lines(chunk("c")[6:-2], b'{"choi', chunk("d")[6:-2]),
        chunk("e"),
    ]
    right = ["a", DecodeError, "b", APIError, "c", DecodeError, "d", "e"]
    assert texts(reads, run, index, type=type) == right
    del reads[1:2]
    assert texts(reads, run, index, type=type) == ["a", DecodeError, "b", "e", IncompleteStreamError]


@pytest.mark.parametrize("index", [None, 0, 1])
def test_an_error_stands_in_its_place_though_the_choice_said_nothing_before_it(index: int | None, run: Run) -> None:
    right = {None: ["x", APIError], 0: [APIError], 1: ["x", APIError]}
    assert texts([chunk("x", index=1) + ERROR + DONE], run, index) == right[index]


class Rest(msgspec.Struct):
    id: str = ""


@pytest.mark.parametrize("index", [None, 0])
def test_types_without_choices_refuse_it_before_the_source_is_read(index: int | None, run: Run) -> None:
    source = Reads(DONE)
    stream = ChatStream(source, type=Rest)
    with pytest.raises(
        TypeError, match=r"iter_text\(\) needs chunks with choices, and Rest has no member of that name"
    ):
        stream.iter_text(index)
    assert (stream.state, source.asked) == ("open", 0)
    assert list(stream) == []

    async def read() -> None:
        source = AsyncReads(DONE)
        stream = AsyncChatStream(source, type=Rest)
        with pytest.raises(TypeError, match=r"iter_text\(\) needs chunks with choices"):
            stream.iter_text(index)
        assert (stream.state, source.asked) == ("open", 0)
        await stream.aclose()

    run(read())


# Other ways beside it


def test_choices_taken_in_turns_share_one_position() -> None:
    stream = ChatStream(INTERLEAVED)
    first, second = stream.iter_text(0), stream.iter_text(1)
    # What the other choice says on the way is passed over.
    assert [next(first), next(first), next(second), next(first), next(second)] == ["a", "b", "y", "c", "z"]
    assert next(stream).text == "wef"
    assert (list(first), list(second), stream.state) == ([], [], "done")


def test_usage_and_finish_reasons_of_other_choices_are_followed() -> None:
    usage = sse({"choices": [], "usage": {"total_tokens": 5}})
    stream = ChatStream([*INTERLEAVED[:-1], INTERLEAVED[-1][: -len(DONE)] + usage + DONE])
    assert list(stream.iter_text(7)) == []
    assert (stream.finish_reasons, stream.stats.chunks) == ({0: "stop", 1: "stop"}, 11)
    assert stream.usage is not None
    assert stream.usage.total_tokens == 5


@pytest.mark.parametrize("recording", [pytest.param(r, id=r.name) for r in RECORDINGS if len(r.expected.text) > 1])
def test_generated_recordings_with_several_choices(recording: Any, run: Run) -> None:
    right = recording.expected.text
    for index in (*right, max(right) + 1):
        for chunk_type in (ChatCompletionChunk, dict):
            found = texts([recording.body], run, index, type=chunk_type)
            assert "".join(item for item in found if isinstance(item, str)) == right.get(index, "")
