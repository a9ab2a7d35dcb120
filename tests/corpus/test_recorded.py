"""Recorded streams of real services: read from the folder that `SSEWIRE_STREAMS` names, never copied.

The folder holds `*.sse` files and an `INDEX.tsv` with a `file` and a `format` column.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from ssewire import AsyncChatStream, ChatCompletionChunk, ChatStream
from tests import oracle
from tests.conftest import Run
from tests.reading import Outcome, awaited, pieces, until_incomplete, with_async_stream, with_decoder, with_stream

if "SSEWIRE_STREAMS" not in os.environ:
    pytest.skip("SSEWIRE_STREAMS names no folder of recorded streams", allow_module_level=True)

FOLDER = Path(os.environ["SSEWIRE_STREAMS"])
STREAMS = sorted(path.name for path in FOLDER.glob("*.sse"))
with (FOLDER / "INDEX.tsv").open(encoding="utf-8", newline="") as index:
    ROWS = list(csv.DictReader(index, delimiter="\t", quoting=csv.QUOTE_NONE))
# The services whose recordings the package promises to read to the byte.
OURS = [row["file"] for row in ROWS if row["file"].startswith(("nscale-", "centml-"))]


def cuts(body: bytes) -> dict[str, Sequence[bytes]]:
    return {"whole": [body], "1 byte": pieces(body, 1), "7 bytes": pieces(body, 7), "4 KiB": pieces(body, 4096)}


def test_the_folder_is_what_its_index_says() -> None:
    assert sorted(row["file"] for row in ROWS) == STREAMS
    assert len(OURS) >= 2


@pytest.mark.parametrize("name", STREAMS)
def test_events(name: str, run: Run) -> None:
    body = (FOLDER / name).read_bytes()
    decoded = oracle.decode(body)
    right = Outcome(list(decoded.steps), decoded.last_event_id, decoded.retry)
    assert decoded.events
    for cut, reads in cuts(body).items():
        assert with_decoder(reads, ignored_lines=True) == right, cut
        assert with_stream(reads, ignored_lines=True) == right, cut
        assert run(with_async_stream(reads, ignored_lines=True)) == right, cut


def text_by_choice(chunks: list[ChatCompletionChunk]) -> dict[int, str]:
    text: dict[int, str] = {}
    for chunk in chunks:
        for choice in chunk.choices:
            if isinstance(content := choice.delta.content, str) and content:
                text[choice.index] = text.get(choice.index, "") + content
    return text


def check(
    right: oracle.Chat, chunks: list[ChatCompletionChunk], stream: ChatStream[Any] | AsyncChatStream[Any]
) -> None:
    assert text_by_choice(chunks) == right.text
    assert [chunk.text for chunk in chunks if len(chunk.choices) > 1] == []
    assert "".join(chunk.text for chunk in chunks) == "".join(right.text.values())
    assert stream.finish_reasons == right.finish_reasons
    assert stream.state == ("done" if right.done else "finished")
    assert (stream.usage is None) == (right.usage is None)
    if stream.usage is not None and right.usage is not None:
        for count in ("prompt_tokens", "completion_tokens", "total_tokens"):
            assert getattr(stream.usage, count) == right.usage[count]


@pytest.mark.parametrize("name", OURS)
def test_our_services(name: str, run: Run) -> None:
    body = (FOLDER / name).read_bytes()
    right = oracle.read_chat(body)
    assert right.text
    assert right.finish_reasons
    for reads in cuts(body).values():
        stream = ChatStream(iter(reads))
        check(right, list(stream), stream)
        assert list(until_incomplete(ChatStream(iter(reads)).iter_payloads())) == right.payloads
        assert "".join(ChatStream(iter(reads)).iter_text()) == "".join(right.text.values())

        awaiting = AsyncChatStream(awaited(reads))
        check(right, run(all_chunks(awaiting)), awaiting)


async def all_chunks(stream: AsyncChatStream[ChatCompletionChunk]) -> list[ChatCompletionChunk]:
    return [chunk async for chunk in stream]
