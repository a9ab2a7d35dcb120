"""Bodies that end in the middle of their last event, at each of its bytes."""

from __future__ import annotations

import re
from typing import Any, Final

import pytest

from tests.cases.outcome import Api, Case, Incomplete, check_cuts, every_reader, plain
from tests.cases.test_framing_variants import BOOM, ERROR, STOP, STOPPED, A
from tests.conftest import Run
from tests.reading import pieces
from tests.unit.making import DONE

# A text with everything that takes more than one byte, and the chunk that it is.
PAYLOAD: Final = (
    '{"choices":[{"index":0,"delta":{"content":"é 旗 😀 \\n \\u00e9 \\ud83d\\ude00 \\"}"},"finish_reason":"length"}]}'
).encode()
CHUNK: Final[dict[str, Any]] = {"choices": [{"delta": {"content": 'é 旗 😀 \n é 😀 "}'}, "finish_reason": "length"}]}


@pytest.mark.parametrize("before", [A, A + STOP], ids=["open", "finished"])
@pytest.mark.parametrize("field", [b"data: ", b"data:"])
@pytest.mark.parametrize("end", [b"\n\n", b"\r\n\r\n", b"\r\r"])
def test_chunk(before: bytes, field: bytes, end: bytes, run: Run) -> None:
    event = field + PAYLOAD + end
    first, reasons = (["a"], {}) if before == A else (["a", STOPPED], {0: "stop"})
    for at in range(len(event) + 1):
        there = event[:at]
        payload = there.removeprefix(field).rstrip(b"\r\n") if there.startswith(field) else b""
        if payload == PAYLOAD:
            right = Case([*first, CHUNK], "finished", {0: "length"})
        elif payload:
            right = Case([*first, Incomplete(payload)], "incomplete", reasons)
        elif reasons:
            right = Case(first, "finished", reasons)
        else:
            # Of a field's name nothing comes; what is no name yet is an unknown line.
            right = Case([*first, Incomplete(there if there in (b"d", b"da", b"dat") else b"")], "incomplete")
        for reads in ([before + there], [before, *pieces(there, 1)]):
            for items, reader in every_reader(reads, run):
                found = [plain(item) for item in items]
                assert (found, reader.state, reader.finish_reasons) == (
                    right.items,
                    right.state,
                    right.finish_reasons,
                ), there


def test_sentinel(run: Run) -> None:
    event = b"data: [DONE]"
    for at in range(len(b"data: ") + 1, len(event)):
        check_cuts(Case(["a", Incomplete(event[6:at])], "incomplete"), A + event[:at], run)
        check_cuts(Case(["a", STOPPED, Incomplete(event[6:at])], "incomplete", {0: "stop"}), A + STOP + event[:at], run)
    for end in (b"", b"\r", b"\n", b"\r\n"):
        check_cuts(Case(["a"], "done"), A + event + end, run)


def test_error_object(run: Run) -> None:
    for at in range(1, len(ERROR)):
        check_cuts(Case(["a", Incomplete(ERROR[:at])], "incomplete"), A + b"data: " + ERROR[:at], run)
    check_cuts(Case(["a", BOOM], "error"), A + b"data: " + ERROR, run)


def test_event_that_is_named_error(run: Run) -> None:
    # With that name it is an error whatever its data is.
    for at in range(1, len(ERROR)):
        text = ERROR[:at].decode()
        check_cuts(Case(["a", Api(text, text)], "error"), A + b"event: error\ndata: " + ERROR[:at], run)


def test_error_line(run: Run) -> None:
    for at in range(1, len(ERROR)):
        text = ERROR[:at].decode()
        check_cuts(Case(["a", Api(text, text)], "error"), A + b"error: " + ERROR[:at], run)


def test_bare_json(run: Run) -> None:
    for at in range(1, len(ERROR)):
        check_cuts(Case(["a", Incomplete(ERROR[:at])], "incomplete"), A + ERROR[:at], run)


def test_multi_line_data(run: Run) -> None:
    lines = [b'data: {"choices":', b'data: [{"index":0,', b'data: "delta":{"content":"b"}}]}']
    body = b"\n".join(lines)
    for at in range(len(lines[0]), len(body)):
        # A data line that is still empty adds nothing.
        payload = b"\n".join(re.findall(rb"(?m)^data: ?(\S.*)$", body[:at]))
        check_cuts(Case(["a", Incomplete(payload)], "incomplete"), A + body[:at], run)
    check_cuts(Case(["a", "b", Incomplete()], "incomplete"), A + body, run)


def test_lost_blank_lines(run: Run) -> None:
    """Where lines count as events, the end of the body cuts the last of them alone."""
    last = STOP[6:-2]
    for at in range(1, len(last)):
        body = A[:-1] + b"data: " + last[:at]
        check_cuts(Case(["a", Incomplete(last[:at])], "incomplete", repaired=1), body, run)
    check_cuts(Case(["a", STOPPED], "finished", {0: "stop"}, repaired=2), A[:-1] + STOP[:-2], run)


def test_a_blank_line_is_no_cut(run: Run) -> None:
    body = A + b"data: " + PAYLOAD[:-1] + b"\n\n"
    for items, reader in every_reader([body], run):
        assert [plain(item) for item in items][1].payload == PAYLOAD[:-1]
        assert reader.state == "incomplete"


def test_nothing_of_a_cut_event_counts_behind_the_sentinel(run: Run) -> None:
    check_cuts(Case(["a"], "done"), A + DONE + b"data: {", run)
