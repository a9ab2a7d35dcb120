"""The web-platform tests for EventSource, as bytes in and events out (`wpt.jsonl`), in every cut.

Cases that need HTTP (a refused content type) are about the client, not the stream.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from ssewire import ServerSentEvent, SSEDecoder
from tests import oracle
from tests.conftest import Run
from tests.reading import Outcome, every_cut, with_async_stream, with_decoder, with_stream

LINES = Path(__file__).with_name("wpt.jsonl").read_text("utf-8").splitlines()
CASES = [case for case in map(json.loads, LINES) if case.get("layer") != "http"]

each_case = pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])


def body_of(case: dict[str, Any]) -> bytes:
    """The bytes of a case; where the last event id is set before the stream begins, a block without data sets it."""
    before = f"id: {case['initial_last_event_id']}\n\n".encode() if "initial_last_event_id" in case else b""
    return before + base64.b64decode(case["input_b64"])


def check(case: dict[str, Any], outcome: Outcome) -> None:
    found = [{"type": step.event, "data": step.data.decode(), "id": step.id} for step in outcome.steps]
    assert found == case["events"]
    assert outcome.retry == case["retry"]
    assert outcome.last_event_id == case["last_id"]


def test_all_cases_are_there() -> None:
    assert (len(LINES), len(CASES)) == (34, 31)


@each_case
def test_decoder(case: dict[str, Any]) -> None:
    for reads in every_cut(body_of(case)):
        check(case, with_decoder(reads))


@each_case
def test_stream(case: dict[str, Any]) -> None:
    for reads in every_cut(body_of(case)):
        check(case, with_stream(reads))


@each_case
def test_async_stream(case: dict[str, Any], run: Run) -> None:
    async def all_cuts() -> None:
        for reads in every_cut(body_of(case)):
            check(case, await with_async_stream(reads))

    run(all_cuts())


@each_case
def test_oracle(case: dict[str, Any]) -> None:
    """The slow twin of the other tests stands on the same cases."""
    decoded = oracle.decode(body_of(case))
    check(case, Outcome(decoded.events, decoded.last_event_id, decoded.retry))


def test_an_unfinished_event_is_delivered_on_request() -> None:
    bodies = (b"data: x", b"data: x\n", b"data: x\r", b"data: x\r\n", b"data: x\n: c", b"data: x\n\n", b"data: x\r\r\n")
    for body in bodies:
        for reads in every_cut(body):
            assert finished(reads, deliver=True) == [ServerSentEvent(data="x")]
            complete = oracle.decode(body).events
            assert len(finished(reads, deliver=False)) == len(complete)


def finished(reads: Iterable[bytes], *, deliver: bool) -> list[ServerSentEvent]:
    decoder = SSEDecoder()
    events = [event for read in reads for event in decoder.feed(read)]
    events += decoder.finish(deliver=deliver)
    return [event for event in events if isinstance(event, ServerSentEvent)]
