"""Recorded streams of real services: read from the folder that `SSEWIRE_STREAMS` names, never copied.

The folder holds `*.sse` files and an `INDEX.tsv` with a `file` and a `format` column. Chat streams must come out as the
oracle reads them, all others as plain events, however the body is cut.
"""

from __future__ import annotations

import csv
import os
import random
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
import pytest

from ssewire import AsyncChatStream, ChatCompletionChunk, ChatStream
from tests import chat_oracle, oracle
from tests.cases.outcome import Incomplete, Undecodable, every_reader, plain, with_stream
from tests.conftest import Run
from tests.reading import Outcome, awaited, cut, pieces, with_async_stream, with_decoder, with_errors, with_errors_async
from tests.reading import with_stream as with_event_stream

if "SSEWIRE_STREAMS" not in os.environ:
    pytest.skip("SSEWIRE_STREAMS names no folder of recorded streams", allow_module_level=True)

FOLDER = Path(os.environ["SSEWIRE_STREAMS"])
STREAMS = sorted(path.name for path in FOLDER.glob("*.sse"))
with (FOLDER / "INDEX.tsv").open(encoding="utf-8", newline="") as index:
    ROWS = list(csv.DictReader(index, delimiter="\t", quoting=csv.QUOTE_NONE))
CHATS = [row["file"] for row in ROWS if row["format"] == "chat.completion.chunk"]


def cuts(body: bytes) -> dict[str, Sequence[bytes]]:
    return {"whole": [body], "1 byte": pieces(body, 1), "7 bytes": pieces(body, 7), "4 KiB": pieces(body, 4096)}


def chat_cuts(name: str, body: bytes) -> dict[str, Sequence[bytes]]:
    """The same, and some at random places: few, many, and about two in each event."""
    chance = random.Random(name)
    counts = (5, 40, len(body) // 150)
    at_random = {f"{count} at random": cut(body, chance.choices(range(len(body)), k=count)) for count in counts}
    return cuts(body) | at_random


def test_the_folder_is_what_its_index_says() -> None:
    assert sorted(row["file"] for row in ROWS) == STREAMS
    assert len(CHATS) >= 81


@pytest.mark.parametrize("name", STREAMS)
def test_events(name: str, run: Run) -> None:
    body = (FOLDER / name).read_bytes()
    decoded = oracle.decode(body)
    right = Outcome(list(decoded.steps), decoded.last_event_id, decoded.retry)
    assert decoded.events
    for where, reads in cuts(body).items():
        assert with_decoder(reads, ignored_lines=True) == right, where
        assert with_event_stream(reads, ignored_lines=True) == right, where
        assert run(with_async_stream(reads, ignored_lines=True)) == right, where


# Chat streams, in the terms that the oracle and the package share


class Told(NamedTuple):
    """What a reader wants of a chunk."""

    text_of_choices: dict[int, str]
    text: str
    reasoning: str
    tool_calls: list[tuple[Any, ...]]
    finish_reasons: list[tuple[int, str]]
    counts: tuple[Any, ...] | None
    about: tuple[Any, ...]


COUNTS = ("prompt_tokens", "completion_tokens", "total_tokens")
ABOUT = ("id", "object", "created", "model", "system_fingerprint", "service_tier")


def told_by_oracle(item: Any) -> Any:
    match item:
        case chat_oracle.Chunk(_, tree, text, reasoning, tool_calls):
            usage = tree.get("usage")
            return Told(
                text,
                "".join(text.values()),
                reasoning,
                [(piece.choice, piece.index, piece.id, piece.name, piece.arguments) for piece in tool_calls],
                [
                    (choice.get("index", 0), choice["finish_reason"])
                    for choice in tree["choices"]
                    if choice.get("finish_reason")
                ],
                None if usage is None else tuple(usage.get(count) for count in COUNTS),
                tuple(tree.get(member) for member in ABOUT),
            )
        case chat_oracle.ServerError():
            return (item.message, item.type, item.code, item.body)
        case chat_oracle.Undecodable():
            return Undecodable(item.payload)
        case chat_oracle.Incomplete():
            return Incomplete(item.tail)
    raise AssertionError(item)


def told(item: Any) -> Any:
    if not isinstance(item, ChatCompletionChunk):
        error = plain(item)
        return (error.message, error.type, error.code, error.body) if hasattr(error, "code") else error
    text: dict[int, str] = {}
    tool_calls: list[tuple[Any, ...]] = []
    for choice in item.choices:
        alone = ChatCompletionChunk(choices=[choice]).text
        if alone:
            text[choice.index] = text.get(choice.index, "") + alone
        for call in choice.delta.tool_calls or []:
            function = call.function
            name, arguments = (None, None) if function is None else (function.name, function.arguments)
            tool_calls.append((choice.index, call.index, call.id, name, arguments))
    return Told(
        text,
        item.text,
        item.reasoning,
        tool_calls,
        [(choice.index, choice.finish_reason) for choice in item.choices if choice.finish_reason],
        None if item.usage is None else tuple(getattr(item.usage, count) for count in COUNTS),
        tuple(getattr(item, member) for member in ABOUT),
    )


class Chat(NamedTuple):
    """A recorded chat stream, what the oracle reads in it, and the chunks of it, which are what the oracle says."""

    body: bytes
    right: chat_oracle.Chat
    items: list[Any]
    """Chunks and errors in their order."""


@cache
def chat(name: str) -> Chat:
    body = (FOLDER / name).read_bytes()
    right = chat_oracle.read(body)
    items = with_errors(ChatStream(body))
    assert [told(item) for item in items] == [told_by_oracle(item) for item in right.items]
    return Chat(body, right, items)


def comparable(items: list[Any]) -> list[Any]:
    """Chunks as they are, errors as tuples: exceptions are equal to themselves alone."""
    return [plain(item) if isinstance(item, Exception) else item for item in items]


def check(chat: Chat, items: list[Any], reader: Any, where: str) -> None:
    right = chat.right
    assert comparable(items) == comparable(chat.items), where
    assert (reader.state, reader.finish_reasons) == (right.state, right.finish_reasons), where
    counts = reader.usage and {count: getattr(reader.usage, count) for count in COUNTS}
    usage = right.usage or right.usage_elsewhere
    assert counts == (usage and {count: usage.get(count) for count in COUNTS}), where
    stats = msgspec.to_builtins(reader.stats)
    assert {name: count for name, count in stats.items() if "time" not in name and "gap" not in name} == {
        "bytes": len(chat.body),
        "events": right.events,
        "chunks": right.count(chat_oracle.Chunk),
        "comments": right.comments,
        "skipped_events": right.skipped_events,
        "repaired": right.shared,
        "decode_errors": right.count(chat_oracle.Undecodable),
    }, where


@pytest.mark.parametrize("name", CHATS)
def test_chat(name: str, run: Run) -> None:
    recorded = chat(name)
    for where, reads in chat_cuts(name, recorded.body).items():
        for items, reader in every_reader(reads, run):
            check(recorded, items, reader, f"{type(reader).__name__}, {where}")


@pytest.mark.parametrize("name", CHATS)
def test_other_views_of_a_chat(name: str, run: Run) -> None:
    body, right, items = chat(name)
    texts = [text for item in items if (text := item.text if isinstance(item, ChatCompletionChunk) else plain(item))]
    payloads = iter(right.payloads)
    pairs = [(next(payloads), item) if isinstance(item, ChatCompletionChunk) else plain(item) for item in items]
    only_payloads = [pair[0] if isinstance(pair[-1], ChatCompletionChunk) else pair for pair in pairs]
    for where, reads in chat_cuts(name, body).items():
        assert comparable(with_errors(ChatStream(reads).iter_text())) == texts, where
        assert comparable(with_errors(ChatStream(reads).iter_with_payload())) == pairs, where
        assert comparable(with_errors(ChatStream(reads).iter_payloads())) == only_payloads, where
        stream = AsyncChatStream(awaited(reads))
        assert comparable(run(with_errors_async(stream.iter_text()))) == texts, where
        stream = AsyncChatStream(awaited(reads))
        assert comparable(run(with_errors_async(stream.iter_with_payload()))) == pairs, where
        stream = AsyncChatStream(awaited(reads))
        assert comparable(run(with_errors_async(stream.iter_payloads()))) == only_payloads, where


@pytest.mark.parametrize("name", CHATS)
def test_chunks_as_plain_trees(name: str, run: Run) -> None:
    body, right, items = chat(name)
    errors = (plain(item) for item in items if isinstance(item, Exception))
    trees = [item.tree if isinstance(item, chat_oracle.Chunk) else next(errors) for item in right.items]
    for where, reads in chat_cuts(name, body).items():
        found, stream = with_stream(reads, type=dict)
        assert comparable(found) == trees, where
        assert (stream.state, stream.finish_reasons) == (right.state, right.finish_reasons), where
    for found, reader in every_reader([body], run, type=dict[str, Any]):
        assert comparable(found) == trees, type(reader).__name__
