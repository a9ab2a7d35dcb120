"""Recorded streams, in the folder that `SSEWIRE_STREAMS` names: what breaks a document there, and at which events."""

from __future__ import annotations

import csv
import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest

from ssewire import CENTML, NSCALE, ChatStream, DecodeError, IncompleteStreamError, Provider
from tests import oracle
from tests.strict.schemas import DOCUMENTED, Documented, name_of
from tests.strict.walking import dotted

if "SSEWIRE_STREAMS" not in os.environ:
    pytest.skip("SSEWIRE_STREAMS names no folder of recorded streams", allow_module_level=True)

FOLDER = Path(os.environ["SSEWIRE_STREAMS"])
NSCALE_STREAMS = sorted(path.name for path in FOLDER.glob("nscale-*.sse"))
CENTML_STREAMS = sorted(path.name for path in FOLDER.glob("centml-*.sse"))
with (FOLDER / "INDEX.tsv").open(encoding="utf-8", newline="") as index:
    CHATS = [
        row["file"]
        for row in csv.DictReader(index, delimiter="\t", quoting=csv.QUOTE_NONE)
        if row["format"] == "chat.completion.chunk"
    ]


def refused(provider: Provider[Any], name: str) -> tuple[dict[int, str], ChatStream[Any]]:
    """The path of each event that the provider's type refuses, by its number."""
    stream = ChatStream((FOLDER / name).read_bytes(), type=provider.chunk_type)
    paths: dict[int, str] = {}
    while True:
        try:
            list(stream)
        except DecodeError as error:
            paths[error.event_number] = error.reason.partition(" - at ")[2]
        except IncompleteStreamError:
            return paths, stream
        else:
            return paths, stream


@pytest.mark.parametrize("name", NSCALE_STREAMS)
def test_nscale(name: str) -> None:
    """Every chunk between the first, which has the role, and the last, which has no choices."""
    payloads, done = oracle.payloads((FOLDER / name).read_bytes())
    assert not done
    assert len(payloads) > 3
    paths, stream = refused(NSCALE, name)
    assert paths == dict.fromkeys(range(2, len(payloads)), "`$.choices[0].delta.role`")
    assert (stream.state, stream.finish_reasons) == ("incomplete", {})
    assert stream.usage is not None


@pytest.mark.parametrize("name", CENTML_STREAMS)
def test_centml(name: str) -> None:
    paths, stream = refused(CENTML, name)
    assert paths == {}
    assert stream.state == "done"


def test_there_are_some_of_both() -> None:
    assert NSCALE_STREAMS
    assert CENTML_STREAMS


@pytest.mark.parametrize("documented", DOCUMENTED, ids=name_of)
def test_every_payload_of_every_service(documented: Documented) -> None:
    """The type refuses what the schema refuses, nothing else, and names a place that is wrong."""
    decode = msgspec.json.Decoder(documented.provider.chunk_type).decode
    seen: Counter[bool] = Counter()
    for name in CHATS:
        for number, payload in enumerate(_payloads(name), 1):
            wrong = _wrong_places(documented, payload)
            try:
                decode(payload)
                place = None
            except msgspec.DecodeError as error:
                place = str(error).partition(" - at ")[2].strip("`")
            assert place in wrong if wrong else place is None, (name, number)
            seen[not wrong] += 1
    assert seen[True] > 1000
    assert seen[False] > 100


def _payloads(name: str) -> list[bytes]:
    """Its payloads; where a server forgot the blank line between two (one does), each line is one."""
    return [line for payload in oracle.payloads((FOLDER / name).read_bytes())[0] for line in payload.split(b"\n")]


def _wrong_places(documented: Documented, payload: bytes) -> set[str]:
    """The paths that the schema refuses, the chunk as a whole as ""."""
    faults = documented.validator.iter_errors(json.loads(payload))
    return {dotted(tuple(fault.absolute_path)) if fault.absolute_path else "" for fault in faults}
