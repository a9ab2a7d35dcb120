"""``ssewire demo`` from end to end: what it shows, its server, and that it fails when the server errs."""

from __future__ import annotations

import re
import signal
import sys
import time
from dataclasses import replace
from typing import Any, cast

import httpx
import msgspec
import pytest

from ssewire.cli.reading import Reading, differences
from ssewire.cli.scripts import FAULTS, KEY, STREAMS, Script, altered
from ssewire.cli.serving import ServerError, running_server
from tests.cli.program import PATIENCE, on_terminal, run, running

needs_posix = pytest.mark.skipif(sys.platform == "win32", reason="terminals and signals of POSIX")


def test_everything_comes_as_it_was_sent() -> None:
    result = run("demo")
    shown = result.stdout.decode()
    assert (result.returncode, result.stderr) == (0, b"")
    for script in (*STREAMS, *FAULTS):
        assert script.text in shown
        assert f"{script.provider.name}, {script.form}" in shown
        assert not script.error or f"{script.error}: " in shown
    assert f"All {len(STREAMS + FAULTS)} streams" in shown
    assert "\x1b" not in shown


@pytest.mark.parametrize("slug", ["nscale/real", "chutes/documented", "centml/error-event"])
def test_the_demo_fails_when_the_server_sends_something_else(slug: str) -> None:
    result = run("demo", "--alter", slug)
    assert result.returncode == 1
    shown = " ".join(result.stdout.decode().split())
    assert f"{slug}: text is " in shown
    assert f"1 of {len(STREAMS + FAULTS)} streams differ" in shown


def test_a_stream_to_alter_must_exist() -> None:
    result = run("demo", "--alter", "nobody/here")
    assert result.returncode == 2
    assert b"nscale/real" in result.stderr


@needs_posix
def test_on_a_terminal_it_has_colour_and_keeps_to_the_width() -> None:
    status, shown = on_terminal("demo", columns=80)
    assert status == 0
    assert "\x1b[" in shown
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    assert "\x1b" not in plain
    assert "[bold]Markup[/bold]" in plain
    assert max(map(len, plain.split("\n"))) <= 80


# The server


def refuses(address: str) -> bool:
    try:
        httpx.get(address, trust_env=False)
    except httpx.ConnectError:
        return True
    return False


def wait_until_gone(address: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not refuses(address):
        assert time.monotonic() < deadline, "the server still runs"
        time.sleep(0.05)


def test_the_server_is_stopped_with_its_block() -> None:
    with running_server() as address:
        assert not refuses(address)
    assert refuses(address)


def test_an_error_in_the_block_stops_the_server_too() -> None:
    with pytest.raises(KeyError), running_server() as address:
        raise KeyError
    assert refuses(address)


def address_of(shown: bytes) -> str:
    found = re.search(rb"http://[0-9.:]+[0-9](?= )", shown)
    assert found
    return found[0].decode()


@needs_posix
def test_interrupted_it_leaves_no_server() -> None:
    with running("demo") as program:
        shown = program.wait_for(b"Nscale, documented\n")
        program.process.send_signal(signal.SIGINT)
        assert program.process.wait(PATIENCE) == 130
        assert refuses(address_of(shown))
        assert program.finish()[2] == b"ssewire demo: interrupted\n"


@needs_posix
def test_a_reader_that_leaves_is_no_difference() -> None:
    with running("demo") as program:
        shown = program.wait_for(b"Nscale, documented\n")
        program.stop_reading()
        assert program.process.wait(PATIENCE) == 128 + signal.SIGPIPE
        assert refuses(address_of(shown))


@needs_posix
def test_killed_it_leaves_no_server() -> None:
    with running("demo") as program:
        shown = program.wait_for(b"Nscale, documented\n")
        program.process.kill()
        wait_until_gone(address_of(shown))


def test_a_server_that_does_not_start_is_told_with_its_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ssewire.cli.serving._SERVER", "ssewire.cli.no_such_module")
    with pytest.raises(ServerError, match="no_such_module"), running_server():
        pass


def test_the_server_asks_for_post_key_and_stream() -> None:
    script = STREAMS[0]
    with running_server() as address:
        provider = script.provider.at(address + script.base_path)
        assert httpx.get(provider.url).status_code == 405
        assert httpx.request(**provider.request(api_key="")).status_code == 401
        assert httpx.request(**provider.request(api_key="wrong")).status_code == 401
        request = provider.request(KEY)
        assert httpx.request(**{**request, "json": {}}).status_code == 400
        response = httpx.request(**request)
    assert response.status_code == 201
    assert response.headers["content-type"].startswith("text/event-stream")
    assert response.content == b"".join(script.pieces)


# The scripts


def payloads(script: Script) -> list[bytes]:
    lines = b"".join(script.pieces).split(b"\n")
    return [line[6:] for line in lines if line.startswith(b"data: ") and b"DONE" not in line]


def breaks_its_document(script: Script) -> bool:
    chunk_type: Any = script.provider.chunk_type
    for payload in payloads(script):
        try:
            msgspec.json.decode(payload, type=chunk_type)
        except msgspec.ValidationError:
            return True
    return False


def test_documented_streams_keep_to_the_document_and_real_ones_do_not() -> None:
    broken = {script.slug for script in STREAMS if breaks_its_document(script)}
    # CentML's one recorded stream was valid, and Chutes' vLLM shape has no member that its document knows and forbids.
    assert broken == {"nscale/real", "chutes/real-sglang"}


def test_the_streams_have_what_makes_them_hard() -> None:
    together = b"".join(piece for script in STREAMS for piece in script.pieces)
    for trait in (
        b'"role":null',
        b'"tool_calls":null',
        b'"choices":[]',
        b'"stop_reason":null',
        b'"matched_stop":128001',
    ):
        assert trait in together
    assert any(b"[DONE]" not in b"".join(script.pieces) for script in STREAMS)
    assert any(not piece.endswith(b"\n\n") for script in STREAMS for piece in script.pieces)
    assert all(any(piece.startswith(b":") for piece in script.pieces) for script in STREAMS)
    sglang = next(script for script in STREAMS if script.form == "real SGLang")
    assert len({msgspec.json.decode(payload)["created"] for payload in payloads(sglang)}) > 1


def test_altering_changes_one_word() -> None:
    for script in (*STREAMS, *FAULTS[:3]):
        before, after = b"".join(script.pieces), b"".join(altered(script))
        assert after.replace(b"~", b"") == before
        assert len(after) == len(before) + 1


PERFECT = Reading("t", "r", 3, "done", {0: "stop"}, {"total_tokens": 1}, 200)


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("text", "T"),
        ("reasoning", ""),
        ("chunks", 4),
        ("state", "finished"),
        ("finish_reasons", {}),
        ("usage", None),
        ("status", 201),
        ("error", "APIError"),
    ],
)
def test_every_difference_is_found(member: str, value: object) -> None:
    script = Script(STREAMS[0].provider, "x", (), "t", 3, "done", {0: "stop"}, usage={"total_tokens": 1}, reasoning="r")
    assert differences(script, PERFECT) == []
    (found,) = differences(script, replace(PERFECT, **cast("Any", {member: value})))
    assert found.startswith(f"{member} is {value!r}, the server sent ")
