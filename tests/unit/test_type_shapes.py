"""Shapes that a chunk type of the reader's own may have: what is followed in them, and where there is no text."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, TypedDict

import msgspec
import pytest

from ssewire import (
    AsyncChatStream,
    ChatCompletionChunk,
    ChatStream,
    ChunkDecoder,
    CompletionUsage,
    IncompleteStreamError,
)
from tests.cases.outcome import Undecodable, every_reader, plain
from tests.conftest import Run
from tests.reading import with_errors
from tests.unit.making import DONE, AsyncReads, Reads, chunk, lines, sse


class Delta(msgspec.Struct):
    content: str | None = None


class Choice(msgspec.Struct):
    delta: Delta
    index: int = 0


class TupleChunk(msgspec.Struct):
    choices: tuple[Choice, ...] = ()
    usage: dict[str, int] | None = None


class ChoiceWithReason(msgspec.Struct):
    delta: Delta
    index: int = 0
    finish_reason: str | None = None


class OneChoice(msgspec.Struct):
    choices: tuple[ChoiceWithReason]


class OwnText(msgspec.Struct):
    """A member of the same name as the built-in type's property, with another meaning."""

    choices: list[ChoiceWithReason]
    text: str = "of its own"


class Child(ChatCompletionChunk):
    extra: int = 0


class Louder(ChatCompletionChunk):
    @property
    def text(self) -> str:
        return super().text.upper()


BODY: Final = chunk("a", extra=5) + chunk("b", text="not this") + chunk("", "stop", usage={"total_tokens": 3}) + DONE


@pytest.mark.parametrize(
    ("type", "texts"),
    [
        (TupleChunk, ["a", "b"]),
        (OneChoice, ["a", "b"]),
        (OwnText, ["a", "b"]),
        (OwnText | None, ["a", "b"]),
        (Child, ["a", "b"]),
        (Louder, ["A", "B"]),
    ],
    ids=["tuple", "tuple of one", "own text", "or None", "child", "child with another text"],
)
def test_the_text_of_types_of_other_shapes(type: Any, texts: list[str], run: Run) -> None:
    assert list(ChatStream([BODY], type=type).iter_text()) == texts
    assert list(ChunkDecoder(type).feed(BODY).texts()) == texts

    async def read() -> None:
        assert [text async for text in AsyncChatStream(BODY, type=type).iter_text()] == texts

    run(read())


def test_choices_in_a_tuple_are_followed(run: Run) -> None:
    body = BODY.replace(DONE, b"")
    for items, reader in every_reader([body], run, type=OneChoice):
        assert [item.choices[0].delta.content for item in items] == ["a", "b", ""]
        assert (reader.finish_reasons, reader.state) == ({0: "stop"}, "finished")
    for items, reader in every_reader([body], run, type=TupleChunk):
        assert isinstance(items[-1], IncompleteStreamError)
        assert (msgspec.to_builtins(reader.usage), reader.finish_reasons) == ({"total_tokens": 3}, {})


def test_a_member_of_the_name_text_is_the_types_own(run: Run) -> None:
    for items, reader in every_reader([BODY], run, type=OwnText):
        assert [item.text for item in items] == ["of its own", "not this", "of its own"]
        assert reader.finish_reasons == {0: "stop"}


def test_a_child_of_the_built_in_type(run: Run) -> None:
    for items, reader in every_reader([BODY], run, type=Child):
        assert [(type(item), item.text, item.extra) for item in items] == [
            (Child, "a", 5),
            (Child, "b", 0),
            (Child, "", 0),
        ]
        assert (reader.usage, reader.finish_reasons) == (CompletionUsage(total_tokens=3), {0: "stop"})
    # It is a type of the reader's own, so that only JSON itself is mended for it.
    faulty = [b'{"choices":null}', b'{"choices":[],"extra":"5"}']
    for items, reader in every_reader(
        [b"".join(map(sse, faulty)) + chunk("?").replace(b"?", b"\xff") + DONE], run, type=Child
    ):
        assert [plain(item) for item in items[:2]] == list(map(Undecodable, faulty))
        assert (items[2].text, reader.stats.repaired, reader.stats.decode_errors) == ("\ufffd", 1, 2)


MAY_BE_NONE: Final = {"Any": Any, "Struct or None": TupleChunk | None, "dict or None": dict[str, Any] | None}


@pytest.mark.parametrize("type", MAY_BE_NONE.values(), ids=MAY_BE_NONE)
@pytest.mark.parametrize(
    "nulls",
    [
        sse(b"null"),
        sse(b" null\t"),
        b"data:\ndata: null\n\n",
        b"event: message\n" + sse(b"null"),
    ],
    ids=["event", "white space", "empty line", "named message"],
)
def test_null_is_no_chunk_although_the_type_could_be_none(type: Any, nulls: bytes, run: Run) -> None:
    for items, reader in every_reader([chunk("a") + nulls + chunk("b") + DONE], run, type=type):
        assert [msgspec.to_builtins(item)["choices"][0]["delta"]["content"] for item in items] == ["a", "b"]
        assert (reader.stats.events, reader.stats.chunks, reader.stats.decode_errors) == (4, 2, 0)
    for way in ("iter_payloads", "iter_text", "iter_with_payload"):
        assert len(list(getattr(ChatStream([chunk("a") + nulls + chunk("b") + DONE], type=type), way)())) == 2


@pytest.mark.parametrize("type", MAY_BE_NONE.values(), ids=MAY_BE_NONE)
@pytest.mark.parametrize("way", ["chunks", "iter_payloads", "iter_text", "iter_with_payload"])
def test_null_on_a_line_of_an_event_is_none_either(type: Any, way: str) -> None:
    body = lines(b"null", chunk("a")[6:-2], b"null", chunk("b")[6:-2], b" null") + DONE
    stream = ChatStream([body], type=type)
    found = list(stream if way == "chunks" else getattr(stream, way)())
    assert len(found) == 2
    assert None not in found
    assert (stream.stats.chunks, stream.stats.decode_errors) == (2, 0)


@pytest.mark.parametrize("type", [Any, dict[str, Any] | None])
def test_other_json_is_what_the_type_says(type: Any) -> None:
    found = with_errors(ChatStream([sse(b"7") + sse(b"[1]") + sse(b'"x"') + DONE], type=type))
    if type is Any:
        assert found == [7, [1], "x"]
    else:
        assert [plain(item) for item in found] == [Undecodable(b"7"), Undecodable(b"[1]"), Undecodable(b'"x"')]


# Text is refused at once where a type has none


class NoChoices(msgspec.Struct):
    id: str = ""


class NoChoicesDict(TypedDict, total=False):
    id: str


@dataclass
class NoChoicesData:
    id: str = ""


WITHOUT: Final[dict[str, Any]] = {
    "Struct": NoChoices,
    "TypedDict": NoChoicesDict,
    "dataclass": NoChoicesData,
    "or None": NoChoices | None,
    "list": list[Any],
    "text": str,
    "raw": msgspec.Raw,
}


@pytest.mark.parametrize("type", WITHOUT.values(), ids=WITHOUT)
def test_a_type_without_choices_refuses_text_before_anything_is_read(type: Any, run: Run) -> None:
    source = Reads(BODY)
    stream = ChatStream(source, type=type)
    with pytest.raises(TypeError, match="choices"):
        stream.iter_text()
    assert (source.asked, stream.state) == (0, "open")
    stream.close()
    decoder = ChunkDecoder(type)
    with pytest.raises(TypeError, match="choices"):
        decoder.texts()
    assert len(with_errors(decoder.feed(BODY))) == 3

    async def read() -> None:
        source = AsyncReads(BODY)
        async with AsyncChatStream(source, type=type) as stream:
            with pytest.raises(TypeError, match="choices"):
                stream.iter_text()
            assert source.asked == 0

    run(read())


@pytest.mark.parametrize("type", [dict, dict[str, Any], Any])
def test_a_type_that_may_have_choices_gives_the_text_of_those_that_have_some(type: Any) -> None:
    body = sse({"id": "x"}) + chunk("a") + sse({"choices": 5}) + chunk("b") + DONE
    decoder = ChunkDecoder(type)
    assert list(decoder.feed(body).texts()) == ["a", "b"]
    assert (decoder.state, decoder.stats.chunks) == ("done", 4)
