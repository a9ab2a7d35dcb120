"""Streams as steps, faults as changes of steps, and recordings as files: no server, no clock."""

from __future__ import annotations

import base64
import itertools
import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ssewire.cli.faults import FAULTS, FaultError, choose, spoiled
from ssewire.cli.recording import RecordingError, load
from ssewire.cli.replay import Playback, Step, Stream, at_pace, by_events
from ssewire.cli.settings import Settings, SettingsError, without_redirect

if TYPE_CHECKING:
    from pathlib import Path

ONE, TWO, THREE, DONE = b"data: 1\n\n", "data: zwei ü☕\n\n".encode(), b"data: 3\n\n", b"data: [DONE]\n\n"
COMMENT = b": keep-alive\n\n"
STEPS = (Step(0.5, ONE), Step(1.0, COMMENT), Step(0.0, TWO), Step(2.0, THREE), Step(0.25, DONE))
BODY = b"".join(step.data for step in STEPS)


def played(*faults: str, steps: tuple[Step, ...] = STEPS) -> Playback:
    return spoiled(Playback(steps), choose(faults))


def body(playback: Playback) -> bytes:
    return b"".join(step.data for step in playback.writes())


def writes(*faults: str, steps: tuple[Step, ...] = STEPS) -> list[bytes]:
    return [step.data for step in played(*faults, steps=steps).writes()]


# Steps


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_a_body_is_cut_behind_each_empty_line(end: bytes) -> None:
    blocks = [b"\xef\xbb\xbfdata: 1\n\n", b": c\n\n\n", b"event: e\ndata: 2\n\n", b"data: cut off"]
    blocks = [block.replace(b"\n", end) for block in blocks]
    assert by_events([Step(0.0, b"".join(blocks))]) == [Step(0.0, block) for block in blocks]


def test_an_event_comes_when_its_last_byte_does() -> None:
    reads = [Step(1.0, ONE + TWO[:5]), Step(0.5, TWO[5:8]), Step(0.25, TWO[8:] + THREE + DONE[:1]), Step(4.0, DONE[1:])]
    assert by_events(reads) == [Step(1.0, ONE), Step(0.75, TWO), Step(0.0, THREE), Step(4.0, DONE)]


@given(st.lists(st.tuples(st.sampled_from([0.0, 0.5, 2.0]), st.text("d\r\n:ü", max_size=6))))
def test_events_have_the_bytes_and_the_time_of_the_reads(reads: list[tuple[float, str]]) -> None:
    steps = [Step(pause, text.encode()) for pause, text in reads]
    events = by_events(steps)
    assert b"".join(step.data for step in events) == b"".join(step.data for step in steps)
    assert all(step.data for step in events)
    assert 0 <= sum(step.pause for step in events) <= sum(step.pause for step in steps)
    assert by_events(events) == events


def test_pace() -> None:
    steps = (Step(3.0, ONE), Step(1.0, TWO))
    recorded, bare = Stream("s", steps, paced=True), Stream("s", (Step(0.0, ONE), Step(0.0, TWO)), paced=False)
    assert [step.pause for step in at_pace(recorded, None, 2.0)] == [1.5, 0.5]
    assert [step.pause for step in at_pace(recorded, 0.5, 1.0)] == [0.0, 0.5]
    assert [step.pause for step in at_pace(bare, None, 1.0)] == [0.0, 0.02]
    assert [step.pause for step in at_pace(bare, 3.0, 2.0)] == [0.0, 1.5]


# Faults


@pytest.mark.parametrize(
    ("fault", "sent", "ending"),
    [
        ("stall:0", b"", "silence"),
        ("stall:1", ONE, "silence"),
        ("stall:2", ONE + COMMENT + TWO, "silence"),
        ("stall:9", BODY, "silence"),
        ("reset:0", ONE[:4], "reset"),
        ("close:1", ONE + COMMENT + TWO[:9], "close"),
        ("close:9", BODY, "close"),
        ("end:3", BODY.removesuffix(DONE), "whole"),
        ("no-done", BODY.removesuffix(DONE), "whole"),
        ("silent-end", BODY, "silence"),
        ("keep-alives-only", b"", "comments"),
        ("empty", b"", "whole"),
        ("keep-alives", COMMENT + ONE + COMMENT + COMMENT + TWO + COMMENT + THREE + COMMENT + DONE, "whole"),
        ("crlf", BODY.replace(b"\n", b"\r\n"), "whole"),
        ("cut:1", BODY, "whole"),
        ("one-write", BODY, "whole"),
    ],
)
def test_what_is_sent_with_a_fault(fault: str, sent: bytes, ending: str) -> None:
    playback = played(fault)
    assert (body(playback), playback.ending, playback.status) == (sent, ending, 200)


@pytest.mark.parametrize("fault", ["keep-alives", "crlf", "cut:1", "cut:5", "cut-utf8", "cut-crlf", "no-done"])
def test_the_pace_is_kept(fault: str) -> None:
    assert sum(step.pause for step in played(fault).writes()) == 3.75 - 0.25 * (fault == "no-done")


def test_writes() -> None:
    assert set(map(len, writes("cut:1"))) == {1}
    assert writes("cut:7", steps=(Step(1.0, ONE),)) == [b"data: 1", b"\n\n"]
    assert writes("cut-utf8", steps=(Step(1.0, TWO),)) == [b"data: zwei \xc3", b"\xbc\xe2", b"\x98\x95\n\n"]
    assert writes("cut-crlf", steps=(Step(1.0, ONE),)) == [b"data: 1\r", b"\n\r", b"\n"]
    assert played("one-write").steps == (Step(0.5, BODY),)
    assert played("slow-start:2.5").steps == (Step(3.0, ONE), *STEPS[1:])


def test_pieces_are_cut_when_they_are_written_and_the_first_waits() -> None:
    playback = played("big:1000000", "cut:1")
    assert [len(step.data) for step in playback.steps] == [len(ONE), 1_000_000, *(len(step.data) for step in STEPS[1:])]
    assert list(itertools.islice(playback.writes(), 3)) == [Step(0.5, b"d"), Step(0.0, b"a"), Step(0.0, b"t")]


def test_an_event_of_a_size() -> None:
    size = 100_000
    one, big, *rest = played(f"big:{size}").steps
    assert (one, rest) == (STEPS[0], list(STEPS[1:]))
    assert len(big.data) == size
    document = json.loads(big.data.removeprefix(b"data: "))
    assert set(document["choices"][0]["delta"]["content"]) == {"x"}


def test_answers_that_are_no_streams() -> None:
    refused = played("status:429")
    assert (refused.status, refused.headers) == (429, {"content-type": "application/json"})
    assert json.loads(body(refused))["error"]["type"] == "server_error"
    page = played("html:502")
    assert (page.status, page.headers) == (502, {"content-type": "text/html"})
    assert body(page).startswith(b"<!DOCTYPE html>")
    assert played("redirect:307").status == 307
    assert b"data:" not in body(played("garbage"))


def test_faults_work_together_in_whatever_order_they_are_given() -> None:
    together = played("cut-crlf", "stall:1", "no-done", "slow-start:1")
    assert together == played("slow-start:1", "no-done", "stall:1", "cut-crlf")
    assert [step.data for step in together.writes()] == [b"data: 1\r", b"\n\r", b"\n"]
    assert (together.ending, together.steps[0].pause) == ("silence", 1.5)


@pytest.mark.parametrize(
    ("faults", "said"),
    [
        (["stal:1"], "no fault 'stal'; there are big:BYTES, "),
        (["stall"], "stall:N takes a whole number from 0 to 1,000,000,000 for N, not ''"),
        (["stall:1.5"], "not '1.5'"),
        (["stall:-1"], "not '-1'"),
        (["slow-start:nan"], "slow-start:SECONDS takes a number from 0 to 1,000,000 for SECONDS, not 'nan'"),
        (["status:99"], "status:CODE takes a whole number from 400 to 599, or 200, or 201 for CODE, not '99'"),
        (["status:204"], "not '204'"),
        (["status:304"], "not '304'"),
        (["html:204"], "html:CODE takes a whole number from 400 to 599, or 200, or 201 for CODE, not '204'"),
        (["redirect:304"], "from 301 to 303, or 307, or 308 for CODE, not '304'"),
        (["no-done:1"], "no-done takes no argument"),
        (["end:1", "reset:2"], "reset:2 and end:1 both say how the stream ends"),
        (["cut:1", "cut-utf8"], "cut:1 and cut-utf8 both say what goes into one write"),
    ],
)
def test_faults_that_cannot_be(faults: list[str], said: str) -> None:
    with pytest.raises(FaultError) as caught:
        choose(faults)
    assert said in str(caught.value)


def test_every_fault_is_told_in_one_line_of_a_terminal() -> None:
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)
    assert max(len(fault.tells) for fault in FAULTS) <= 56


# Settings


def test_settings_of_a_request() -> None:
    server = Settings().changed([("fault", "stall:1"), ("fault", "crlf"), ("gap", "2"), ("encoding", "gzip")])
    assert server.told == "stall:1 crlf"
    assert server.asked("") == server
    asked = server.asked("fault=end:2&speed=4&framing=close&encoding=identity")
    assert (asked.told, asked.gap, asked.speed, asked.framing, asked.encoding) == ("end:2", 2, 4, "close", "identity")
    assert server.asked("fault=none").told == ""


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("gap=-1", "gap is a number from 0 on, not '-1'"),
        ("gap=", "not ''"),
        ("gap=inf", "not 'inf'"),
        ("speed=0", "speed is a number from 0.001 on"),
        ("framing=none", "no framing 'none'; there are chunked, close, length"),
        ("encoding=lzma", "no encoding 'lzma'; there are identity, gzip, br, zstd"),
        ("faults=x", "no setting 'faults'; there are fault, gap, speed, framing, encoding"),
    ],
)
def test_settings_that_cannot_be(query: str, said: str) -> None:
    with pytest.raises(SettingsError) as caught:
        Settings().asked(query)
    assert said in str(caught.value)


def test_where_a_redirect_leads() -> None:
    settings = Settings().changed([("fault", "redirect:302"), ("fault", "end:2")])
    assert without_redirect(settings, "gap=0&fault=x") == "gap=0&fault=end:2"
    assert without_redirect(Settings().changed([("fault", "redirect:302")]), "") == "fault=none"


# Recordings

HEAD = '{"ssewire":"recording","version":1}\n'
HEAD_REVERSED = '{"version":1,"ssewire":"recording"}\n'


def test_a_recording_is_loaded(tmp_path: Path) -> None:
    path = tmp_path / "answer.jsonl"
    cut = base64.b64encode(TWO[:12]).decode()
    lines = [{"at": 0.5, "data": ONE.decode()}, {"at": 0.75, "base64": cut}, {"at": 0.5, "data": "\n"}]
    path.write_text(HEAD + "".join(json.dumps(line) + "\n" for line in lines))
    steps = (Step(0.5, ONE), Step(0.25, TWO[:12]), Step(0.0, b"\n"))
    assert load(path) == Stream("answer", steps, paced=True)


@pytest.mark.parametrize("head", ["\ufeff" + HEAD, ' { "ssewire" : "recording", "version":1 }\r\n', HEAD_REVERSED])
def test_a_recording_is_known_however_its_head_is_spelled(head: str, tmp_path: Path) -> None:
    path = tmp_path / "answer.jsonl"
    path.write_bytes((head + ' \n{"at":0.5,"data":"data: 1\\n\\n"}\n').encode())
    assert load(path) == Stream("answer", (Step(0.5, ONE),), paced=True)


def test_other_files_are_bodies(tmp_path: Path) -> None:
    path = tmp_path / "answer"
    for content in (BODY, b'{"ssewire"', b'["ssewire"]\n', b'{"choices":[]}\n', b"\0" * 5000):
        path.write_bytes(content)
        stream = load(path)
        assert (b"".join(step.data for step in stream.steps), stream.paced) == (content, False)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('{"ssewire":"recording","version":2}\n', "line 1 is not what a recording has there: 'recording', version 2"),
        ('{"ssewire":1}', "line 1 "),
        (HEAD + '{"at":0,"data":"a"}\n{"at":"x"}\n', "line 3 "),
        (HEAD + '{"at":0,"base64":"a"}\n', "line 2 "),
        (HEAD + '\n{"at":0,"base64":"!!"}\n', "line 3 "),
        (HEAD + '{"at":0}\n', "line 2 is not what a recording has there: it needs data or base64, one of them"),
        (HEAD + '{"at":0,"data":"a","base64":"YQ=="}\n', "line 2 is not what a recording has there: it needs data or"),
        (HEAD + '{"at":-1,"data":"a"}\n', "line 2 is not what a recording has there: at is from 0 to 86,400 seconds"),
        (HEAD + '{"at":86401,"data":"a"}\n', "not 86401"),
        (HEAD + '{"at":1e999,"data":"a"}\n', "line 2 "),
        (HEAD + '{"at":NaN,"data":"a"}\n', "line 2 "),
    ],
)
def test_a_recording_that_is_none(content: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "answer.jsonl"
    path.write_text(content)
    with pytest.raises(RecordingError) as caught:
        load(path)
    assert said in str(caught.value)
