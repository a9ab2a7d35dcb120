"""``ssewire cat`` as a process: what goes in, what comes out, and the exit status."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.program import DONE, PATIENCE, PROGRAM, event, on_terminal, run, running

needs_posix = pytest.mark.skipif(sys.platform == "win32", reason="terminals and signals of POSIX")

#: Text that would command a terminal: clear screen, set the title, CSI in one character, overwrite, reorder.
HOSTILE = "a\x1b[2J\x1b]0;owned\x07b\x9b31mc\rd\x7fe\x08f\u202eg\u2066h\x00i\tj\nk[bold red]l[/]"


def recording(*contents: str) -> bytes:
    events = [event(content) for content in contents]
    return b": ping\n\n".join(events) + event("", finish_reason="stop") + DONE


# What is written


def test_text_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "recorded.sse"
    path.write_bytes(recording("Grüß", " dich,\r\n", "世界 ☕"))
    result = run("cat", str(path))
    assert (result.returncode, result.stderr) == (0, b"")
    assert result.stdout == "Grüß dich,\r\n世界 ☕".encode()


@pytest.mark.parametrize("arguments", [("cat",), ("cat", "-")])
def test_text_of_standard_input(arguments: tuple[str, ...]) -> None:
    result = run(*arguments, stdin=recording("piped", " text"))
    assert (result.returncode, result.stdout, result.stderr) == (0, b"piped text", b"")


def test_into_a_pipe_text_goes_byte_for_byte() -> None:
    assert run("cat", stdin=recording(HOSTILE)).stdout == HOSTILE.encode()


def test_chunks_as_json_lines_keep_members_that_no_model_knows() -> None:
    result = run("cat", "--json", stdin=recording("a\n☕", HOSTILE))
    lines = [json.loads(line) for line in result.stdout.decode().removesuffix("\n").split("\n")]
    assert [line["choices"][0]["delta"]["content"] for line in lines] == ["a\n☕", HOSTILE, ""]
    assert all(line["extra"] == {"kept": True} for line in lines)
    assert lines[-1]["choices"][0]["finish_reason"] == "stop"
    assert result.returncode == 0


def test_numbers_in_json_lines_stay_what_they_are() -> None:
    payload = '{"choices":[{"index":0,"delta":{},"finish_reason":"stop","seed":123456789012345678901234567890}]}'
    result = run("cat", "--json", stdin=f"data: {payload}\n\n".encode() + DONE)
    assert result.stdout.decode() == payload + "\n"


def test_events_as_json_lines() -> None:
    stream = b"retry: 20\nid: 7\nevent: ping\ndata: one\ndata: two\n\n: comment\n\ndata:\n\n" + DONE + b"data: cut off"
    result = run("cat", "--events", stdin=stream)
    assert [json.loads(line) for line in result.stdout.splitlines()] == [
        {"event": "ping", "data": "one\ntwo", "id": "7", "retry": 20},
        {"event": "message", "data": "", "id": "7", "retry": None},
        {"event": "message", "data": "[DONE]", "id": "7", "retry": None},
    ]
    assert (result.returncode, result.stderr) == (0, b"")


def test_stats_go_to_standard_error() -> None:
    usage = b'data: {"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":2,"total_tokens":7}}\n\n'
    stream = event("ab") + event("c", finish_reason="length") + usage + DONE
    result = run("cat", "--stats", stdin=stream)
    assert result.stdout == b"abc"
    facts = dict(line.split(": ", 1) for line in result.stderr.decode().splitlines())
    assert {name: value.strip() for name, value in facts.items()} == {
        "bytes": str(len(stream)),
        "events": "4",
        "chunks": "3",
        "state": "done",
        "finish reasons": "0: length",
        "usage": '{"prompt_tokens":5,"completion_tokens":2,"total_tokens":7}',
    }


def test_stats_tell_what_was_odd() -> None:
    odd = b'event: ping\ndata: {}\n\n: hi\n\ndata: {"choices":null}\n\ndata: oops\n\n'
    result = run("cat", "--stats", stdin=odd + event("a") + DONE)
    assert (result.returncode, result.stdout) == (1, b"a")
    _, *stats = result.stderr.decode().splitlines()
    assert stats[2:8] == [
        "chunks:         2",
        "comments:       1",
        "skipped events: 1",
        "repaired:       1",
        "decode errors:  1",
        "state:          done",
    ]


def test_stats_of_events() -> None:
    result = run("cat", "--events", "--stats", stdin=recording("a", "b"))
    assert b"events: " in result.stderr
    assert result.stderr.split()[-1] == b"4"


def test_stats_of_a_stream_with_an_event_that_is_too_large() -> None:
    large = b"data: " + b"x" * (33 * 2**20) + b"\n\n"
    result = run("cat", "--stats", stdin=event("a") + large + event("b") + DONE)
    assert (result.stdout, result.returncode) == (b"a", 1)
    error, *stats = result.stderr.decode().splitlines()
    assert "max_event_size" in error
    assert [line.split()[-1] for line in stats if line.startswith(("chunks", "state"))] == ["1", "error"]


def test_text_is_written_as_it_arrives() -> None:
    with running("cat") as program:
        program.send(event("first"))
        program.wait_for(b"first")
        half = event(" second")
        program.send(half[:20])
        program.send(half[20:])
        program.wait_for(b"first second")
        program.send(event("", finish_reason="stop") + DONE)
        # The sentinel is the end, although the pipe is still open.
        program.process.wait(PATIENCE)
        assert program.finish() == (0, b"first second", b"")


def test_events_are_written_as_they_arrive() -> None:
    with running("cat", "--events") as program:
        for number in range(3):
            program.send(f"data: {number}\n\n".encode())
            program.wait_for(f'"data":"{number}"'.encode())
        assert program.finish()[0] == 0


# What goes wrong


def test_an_error_in_the_stream_comes_after_the_text_before_it() -> None:
    result = run("cat", stdin=event("so far") + b'data: {"error": {"message": "overloaded", "code": 503}}\n\n' + DONE)
    assert result.stdout == b"so far"
    assert result.stderr.decode().splitlines() == ["ssewire cat: overloaded (code 503)"]
    assert result.returncode == 1


def test_a_stream_that_breaks_off() -> None:
    result = run("cat", "--stats", stdin=event("so") + event(" far")[:30])
    assert result.stdout == b"so"
    error, *stats = result.stderr.decode().splitlines()
    assert error.startswith("ssewire cat: the body ended")
    assert "state:          incomplete" in stats
    assert result.returncode == 1


def test_one_bad_event_does_not_hide_the_rest() -> None:
    result = run(
        "cat", stdin=event("before") + b'data: {"choices": [{]}\n\n' + event(" after", finish_reason="stop") + DONE
    )
    assert result.stdout == b"before after"
    (line,) = result.stderr.decode().splitlines()
    assert line.startswith("ssewire cat: event 2 at byte ")
    assert result.returncode == 1


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"<!DOCTYPE html><html><body>502</body></html>", "HTML"),
        (b'{"choices": [{"message": {"content": "whole"}}]}', "whole completion"),
        (b"", "empty"),
    ],
)
def test_what_is_no_stream(body: bytes, said: str) -> None:
    result = run("cat", stdin=body)
    assert (result.returncode, result.stdout) == (1, b"")
    (line,) = result.stderr.decode().splitlines()
    assert line.startswith("ssewire cat: ")
    assert said in line


def test_an_error_text_cannot_command_the_terminal() -> None:
    failure = json.dumps({"error": {"message": "bad\x1b[2J\r\nworse\u202e"}})
    result = run("cat", stdin=event("x") + f"data: {failure}\n\n".encode())
    (line,) = result.stderr.decode().splitlines()
    assert line.startswith(r"ssewire cat: bad\u001b[2J worse\u202e")


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    for path, said in ((tmp_path / "missing", "No such file"), (tmp_path, "directory")):
        result = run("cat", str(path))
        assert (result.returncode, result.stdout) == (2, b"")
        (line,) = result.stderr.decode().splitlines()
        assert line.startswith(f"ssewire cat: cannot read {path}: ")
        assert said in line


@pytest.mark.parametrize("arguments", [("--json", "--events"), ("--no-such-option",), ("one", "two")])
def test_wrong_arguments(arguments: tuple[str, ...]) -> None:
    result = run("cat", *arguments)
    assert (result.returncode, result.stdout) == (2, b"")
    assert b"Usage" in result.stderr
    assert b"Traceback" not in result.stderr


@needs_posix
def test_standard_input_and_output_may_be_closed() -> None:
    for closed, said in (("<&-", "cannot read standard input: "), (">&-", "cannot write: ")):
        result = subprocess.run(
            ["sh", "-c", f'exec "$@" {closed}', "sh", *PROGRAM, "cat"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=PATIENCE,
            check=False,
        )
        (line,) = result.stderr.decode().splitlines()
        assert line.startswith(f"ssewire cat: {said}")
        assert result.returncode == 2


@needs_posix
def test_a_reader_that_leaves_is_no_error(tmp_path: Path) -> None:
    path = tmp_path / "long.sse"
    path.write_bytes(recording(*["0123456789" * 20] * 20_000))
    with subprocess.Popen([*PROGRAM, "cat", str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout
        assert process.stderr
        assert process.stdout.read(10) == b"0123456789"
        process.stdout.close()
        assert process.stderr.read() == b""
        # As a shell reports a program that SIGPIPE has ended.
        assert process.wait(PATIENCE) == 128 + signal.SIGPIPE


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device that is always full is Linux's")
def test_a_full_disk() -> None:
    for command in (["cat"], ["--version"]):
        with Path("/dev/full").open("wb") as full:
            result = subprocess.run(
                [*PROGRAM, *command],
                input=recording("x"),
                stdout=full,
                stderr=subprocess.PIPE,
                timeout=PATIENCE,
                check=False,
            )
        (line,) = result.stderr.decode().splitlines()
        assert line.endswith(": cannot write: No space left on device")
        assert result.returncode == 2


@needs_posix
def test_interrupted() -> None:
    with running("cat", "--stats") as program:
        program.send(event("so far"))
        program.wait_for(b"so far")
        program.process.send_signal(signal.SIGINT)
        assert program.process.wait(PATIENCE) == 130
        status, text, said = program.finish()
    assert (status, text) == (130, b"so far")
    assert b"chunks:         1\nstate:          closed\n" in said
    assert said.splitlines()[-1] == b"ssewire cat: interrupted"


# On a terminal


@needs_posix
def test_on_a_terminal_text_cannot_command_it() -> None:
    status, shown = on_terminal("cat", stdin=recording(HOSTILE))
    assert status == 0
    assert shown == (
        r"a\u001b[2J\u001b]0;owned\u0007b\u009b31mc\u000dd\u007fe\u0008f\u202eg\u2066h\u0000i"
        + "\tj\nk[bold red]l[/]\n"
    )


@needs_posix
def test_on_a_terminal_json_lines_cannot_command_it_and_are_still_json() -> None:
    for mode in ("--json", "--events"):
        _, shown = on_terminal("cat", mode, stdin=recording(HOSTILE))
        assert not set("\x1b\x9b\x7f\x07\x00\r\u202e\u2066") & set(shown)
        line = json.loads(shown.splitlines()[0])
        chunk = line if mode == "--json" else json.loads(line["data"])
        assert chunk["choices"][0]["delta"]["content"] == HOSTILE


@needs_posix
def test_on_a_terminal_an_error_starts_a_line_of_its_own() -> None:
    _, shown = on_terminal("cat", stdin=event("so far"))
    assert shown.startswith("so far\nssewire cat: the body ended")
