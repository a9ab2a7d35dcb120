"""The program itself: help, version, and what it says when its extra is not installed."""

from __future__ import annotations

import subprocess
import sys

import pytest

import ssewire
from tests.cli.program import PATIENCE, run


def test_help_names_the_commands() -> None:
    result = run("--help")
    assert result.returncode == 0
    for command in (b"cat", b"demo", b"serve"):
        assert command in result.stdout
    assert b"--alter" not in run("demo", "--help").stdout


def test_no_command_is_wrong_use() -> None:
    result = run()
    assert result.returncode == 2
    assert b"Usage" in result.stdout + result.stderr


def test_version() -> None:
    result = run("--version")
    assert (result.returncode, result.stdout.decode()) == (0, f"ssewire {ssewire.__version__}\n")


@pytest.mark.parametrize(
    ("missing", "command"),
    [("typer", "cat"), ("rich", "demo"), ("httpx", "demo"), ("h11", "serve"), ("h2", "serve")],
)
def test_without_the_extra_there_is_one_sentence(missing: str, command: str) -> None:
    code = f"import sys; sys.modules[{missing!r}] = None; from ssewire.cli import main; sys.exit(main())"
    result = subprocess.run(
        [sys.executable, "-c", code, command], input=b"", capture_output=True, timeout=PATIENCE, check=False
    )
    assert result.returncode == 2
    assert result.stdout == b""
    expected = f'ssewire: the command line needs {missing}: pip install "ssewire[cli]"\n'
    assert result.stderr.decode() == expected
