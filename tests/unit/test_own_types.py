"""The reader's own chunk types: JSON with faults is mended for them as for the built-in type, and nothing else is."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Final, TypedDict

import msgspec
import pytest

from ssewire import CENTML, CHUTES, NSCALE, APIError, ChatStream, DecodeError, IncompleteStreamError
from tests.cases.outcome import Undecodable, every_reader, plain
from tests.conftest import Run
from tests.reading import pieces
from tests.unit.making import DONE, chunk, sse

A: Final = sse(b'{"choices":[{"index":0,"delta":{"content":"a"}}]}')
B: Final = sse(b'{"choices":[{"index":0,"delta":{"content":"b"}}]}')


class DeltaStruct(msgspec.Struct):
    content: str | None = None


class ChoiceStruct(msgspec.Struct):
    delta: DeltaStruct
    index: int = 0
    score: float | None = None


class ChunkStruct(msgspec.Struct):
    choices: list[ChoiceStruct]


class DeltaDict(TypedDict, total=False):
    content: str | None


class ChoiceDict(TypedDict, total=False):
    delta: DeltaDict
    index: int
    score: float


class ChunkDict(TypedDict):
    choices: list[ChoiceDict]


@dataclass
class DeltaData:
    content: str | None = None


@dataclass
class ChoiceData:
    delta: DeltaData
    index: int = 0
    score: float | None = None


@dataclass
class ChunkData:
    choices: list[ChoiceData] = field(default_factory=list)


TYPES: Final[dict[str, Any]] = {
    "Struct": ChunkStruct,
    "TypedDict": ChunkDict,
    "dataclass": ChunkData,
    "dict": dict[str, Any],
    "plain dict": dict,
}


@pytest.fixture(params=TYPES.values(), ids=list(TYPES))
def own_type(request: pytest.FixtureRequest) -> Any:
    return request.param


def content(text: bytes, more: bytes = b"") -> bytes:
    return b'{"choices":[{"delta":{"content":"%b"},"index":0%b}]}' % (text, more)


# Payload, text, and the choice's score.
REPAIRED: Final = [
    (content(b"a", b',"score":Infinity'), "a", math.inf),
    (content(b"a", b',"score":-Infinity'), "a", -math.inf),
    (content(b"a", b',"score":1e400'), "a", math.inf),
    (content(b"a\\ud83d"), "a\ufffd", None),
    (content(b"\\ude00 \\ud83d\\ude00 \\\\ud83d"), "\ufffd 😀 \\ud83d", None),
    (content(b"a\xff\xe6\x97"), "a\ufffd\ufffd", None),
    (content(b"a\tb\x00"), "a\tb\0", None),
    (b"\xef\xbb\xbf" + content(b"a"), "a", None),
    (content(b"a", b',"x":"\\ud83d"'), "a", None),
]


@pytest.mark.parametrize(("payload", "text", "score"), REPAIRED, ids=[repr(payload) for payload, _, _ in REPAIRED])
def test_own_types_get_the_same_repairs(
    own_type: Any, payload: bytes, text: str, score: float | None, run: Run
) -> None:
    body = A + sse(payload) + DONE
    for items, reader in every_reader([body], run, type=own_type):
        first, second = map(msgspec.to_builtins, items)
        assert first["choices"][0]["delta"]["content"] == "a"
        assert second["choices"][0]["delta"]["content"] == text
        assert second["choices"][0].get("score") == score
        assert isinstance(items[1], dict if own_type in (ChunkDict, dict, dict[str, Any]) else own_type)
        assert (reader.state, reader.stats.repaired, reader.stats.decode_errors) == ("done", 1, 0)
    assert list(ChatStream(pieces(body, 1), type=own_type).iter_text()) == ["a", text]


def test_nan_in_an_own_type(own_type: Any, run: Run) -> None:
    for items, _ in every_reader([sse(content(b"a", b',"score":NaN')) + DONE], run, type=own_type):
        assert math.isnan(msgspec.to_builtins(items[0])["choices"][0]["score"])


def test_own_types_get_lines_and_documents_as_events(own_type: Any, run: Run) -> None:
    for body in (A[:-1] + B + DONE, A[:-2] + B[6:] + DONE):
        for items, reader in every_reader([body], run, type=own_type):
            texts = [msgspec.to_builtins(item)["choices"][0]["delta"]["content"] for item in items]
            assert (texts, reader.stats.repaired, reader.state) == (["a", "b"], 2, "done")


# JSON that is not of the type, with and without faults in it.
REFUSED: Final = [
    b'{"choices":null}',
    b'{"choices":[{"delta":null,"index":0}]}',
    b'{"choices":[{"delta":{"content":5},"index":0}]}',
    b'{"choices":[{"delta":{"content":"a"},"index":"0"}]}',
    b'{"choices":[{"delta":{"content":"\\ud83d"},"index":null}]}',
    b'{"choices":[{"delta":{"content":"\xff"},"index":"0"}]}',
    b'{"choices":[{"delta":[],"index":NaN}]}',
]


@pytest.mark.parametrize("type", [ChunkStruct, ChunkDict, ChunkData])
@pytest.mark.parametrize("payload", REFUSED, ids=repr)
def test_own_types_are_taken_at_their_word(type: Any, payload: bytes, run: Run) -> None:
    """Syntax is repaired, but what a member is stays the type's to say."""
    for items, reader in every_reader([A + sse(payload) + B + DONE], run, type=type):
        assert [isinstance(item, DecodeError) for item in items] == [False, True, False]
        assert items[1].payload == payload
        assert "$.choices" in items[1].reason
        assert (reader.state, reader.stats.repaired, reader.stats.decode_errors) == ("done", 0, 1)


@pytest.mark.parametrize("null", [b"null", b" null "])
def test_null_is_skipped_for_own_types_too(own_type: Any, null: bytes, run: Run) -> None:
    for items, reader in every_reader([A + sse(null) + B + DONE], run, type=own_type):
        assert len(items) == 2
        assert (reader.state, reader.stats.decode_errors) == ("done", 0)


def test_errors_are_found_whatever_the_type(own_type: Any, run: Run) -> None:
    bodies = {sse({"error": "boom"}): "boom", b"error: boom\n\n": "boom", sse(b'{"error":"b\\ud83d"}'): "b\ufffd"}
    for body, message in bodies.items():
        for items, reader in every_reader([A + body + B], run, type=own_type):
            assert isinstance(items[1], APIError)
            assert (items[1].message, len(items), reader.state) == (message, 3, "error")


class Rest(msgspec.Struct):
    id: str = ""


def test_a_type_without_choices_has_no_text_and_needs_the_sentinel(run: Run) -> None:
    payload = sse(b'{"id":"x\\ud83d","choices":[{"index":0,"finish_reason":"stop"}]}')
    for items, reader in every_reader([payload + DONE], run, type=Rest):
        assert items == [Rest("x\ufffd")]
        assert reader.state == "done"
    for items, reader in every_reader([payload], run, type=Rest):
        assert items[0] == Rest("x\ufffd")
        assert isinstance(items[1], IncompleteStreamError)
        assert reader.state == "incomplete"
    with ChatStream([payload + DONE], type=Rest) as stream, pytest.raises(TypeError, match="choices"):
        stream.iter_text()


DOCUMENTED: Final = {"Nscale": NSCALE.chunk_type, "CentML": CENTML.chunk_type, "Chutes": CHUTES.chunk_type}


@pytest.mark.parametrize("type", DOCUMENTED.values(), ids=DOCUMENTED)
def test_documented_types_get_no_second_decoder(type: Any, run: Run) -> None:
    good = (
        b'{"id":"i","created":1,"model":"m","object":"chat.completion.chunk",'
        b'"choices":[{"index":0,"delta":{"content":"a"},"finish_reason":null}]}'
    )
    wrong = [
        good.replace(b'"a"', b'"\\ud83d"'),
        good.replace(b'"a"', b'"\xff"'),
        good.replace(b'"a"', b'"\t"'),
        good.replace(b'"m",', b'"m","x":NaN,'),
        b"\xef\xbb\xbf" + good,
        good + good,
        good + b"\n" + good,
        good.replace(b'"index":0', b'"index":null'),
    ]
    for payload in wrong:
        event = b"data: " + payload.replace(b"\n", b"\ndata: ") + b"\n\n"
        for items, reader in every_reader([sse(good) + event + sse(good) + DONE], run, type=type):
            assert [getattr(item, "text", None) for item in items] == ["a", None, "a"]
            assert plain(items[1]) == Undecodable(payload)
            assert (reader.state, reader.stats.repaired, reader.stats.decode_errors) == ("done", 0, 1)


@pytest.mark.parametrize("nothing", ["null", "[]", "false", "1", '"x"'])
def test_what_is_no_choice_is_none(nothing: str) -> None:
    body = chunk("a") + chunk("b", "stop") + sse(b'{"choices": [%b]}' % nothing.encode()) * 2
    stream = ChatStream(body, type=dict[str, Any])
    assert len(list(stream)) == 4
    assert (stream.state, stream.finish_reasons) == ("finished", {0: "stop"})
