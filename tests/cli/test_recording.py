"""Recordings: written by ``ssewire cat --record``, served by ``ssewire serve``."""

from __future__ import annotations

import base64
import json
import time
from pathlib import Path

import pytest

from tests.cli.program import DONE, event, run, running
from tests.cli.served import BODY, TEXTS, serving


def test_what_is_recorded_is_served_again(tmp_path: Path) -> None:
    path = tmp_path / "answer.jsonl"
    behind = b": behind the sentinel\n\n"
    cut = len(event(TEXTS[0])) + event(TEXTS[1] + TEXTS[2]).index("ö".encode()) + 1
    body = event(TEXTS[0]) + event(TEXTS[1] + TEXTS[2]) + event("", finish_reason="stop") + DONE
    with running("cat", "--record", str(path)) as program:
        program.send(body[:cut])
        program.wait_for(TEXTS[0].encode())
        # Nothing of it waits for the end.
        assert len(path.read_text().splitlines()) == 2
        program.send(body[cut:])
        program.wait_for("".join(TEXTS).encode())
        program.send(behind)
        status, text, errors = program.finish()
    assert (status, text.decode(), errors) == (0, "".join(TEXTS), b"")
    head, *lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert head == {"ssewire": "recording", "version": 1}
    assert [set(line) for line in lines] == [{"at", "base64"}, {"at", "base64"}, {"at", "data"}]
    assert base64.b64decode(lines[0]["base64"]) == body[:cut]
    assert 0 <= lines[0]["at"] <= lines[1]["at"] <= lines[2]["at"]
    with serving(str(path), "--speed", "1000") as served:
        assert served.client.get("/answer").content == body + behind
        assert served.client.get("/answer?fault=cut:1").content == body + behind


def test_a_replay_keeps_its_pace_or_another(tmp_path: Path) -> None:
    path = tmp_path / "slow.jsonl"
    reads = [(0.0, TEXTS[0]), (30.0, TEXTS[1]), (30.5, TEXTS[2])]
    lines = [{"ssewire": "recording", "version": 1}]
    lines += [{"at": at, "data": event(text).decode()} for at, text in reads]
    path.write_text("\n".join(map(json.dumps, lines)))
    with serving(str(path), "--speed", "1000") as served:
        start = time.monotonic()
        assert len(served.client.get("/slow").content) > 100
        assert time.monotonic() - start < 30
        start = before = time.monotonic()
        waits = []
        with served.client.stream("GET", "/slow?speed=40") as response:
            for _ in response.iter_raw():
                now = time.monotonic()
                waits.append(now - before)
                before = now
    # However slow this machine is, nothing comes before its time.
    assert before - start >= 30.5 / 40
    assert len(waits) == 3
    assert waits[1] > waits[2]


def test_a_recording_is_a_stream_for_cat_too(tmp_path: Path) -> None:
    path, again = tmp_path / "answer.jsonl", tmp_path / "again.jsonl"
    run("cat", "--record", str(path), stdin=BODY)
    result = run("cat", "--stats", "--record", str(again), str(path))
    assert (result.returncode, result.stdout.decode()) == (0, "".join(TEXTS))
    assert f"bytes:          {len(BODY)}\n" in result.stderr.decode()
    assert json.loads(again.read_text().splitlines()[1])["data"] == BODY.decode()
    with path.open("a") as file:
        file.write('{"at":1}\n')
    result = run("cat", str(path))
    assert (result.returncode, result.stdout) == (2, b"")
    assert result.stderr.startswith(f"ssewire cat: cannot read {path}: line 3 is not what a recording ".encode())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full is Linux's")
def test_it_is_the_recording_that_finds_no_room(tmp_path: Path) -> None:
    source = tmp_path / "answer.sse"
    source.write_bytes(BODY)
    result = run("cat", "--record", "/dev/full", str(source))
    assert (result.returncode, result.stdout) == (2, b"")
    assert result.stderr == b"ssewire cat: cannot record into /dev/full: No space left on device\n"


def test_a_recording_that_cannot_be_written(tmp_path: Path) -> None:
    source = tmp_path / "answer.sse"
    source.write_bytes(BODY)
    for target, said in ((tmp_path, "directory"), (source, "it is what is read")):
        result = run("cat", "--record", str(target), str(source))
        assert (result.returncode, result.stdout) == (2, b"")
        assert result.stderr.startswith(f"ssewire cat: cannot record into {target}: ".encode())
        assert said.encode() in result.stderr
    assert source.read_bytes() == BODY
