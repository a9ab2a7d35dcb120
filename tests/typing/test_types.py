"""The public names have the types that their documentation says, as mypy and pyright see them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

USES = Path(__file__).with_name("uses.py")
ROOT = USES.parents[2]


def test_mypy_sees_the_types_that_are_meant() -> None:
    pytest.importorskip("mypy", reason="mypy is installed for linting, where it checks the same file")
    # In a process of its own: mypy changes the recursion limit of the one it runs in.
    command = [sys.executable, "-m", "mypy", "--no-error-summary", str(USES)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (result.stdout, result.stderr, result.returncode) == ("", "", 0)


def test_pyright_sees_the_same() -> None:
    """But for the wrong uses: it takes every `ignore` for needed."""
    pytest.importorskip("pyright", reason="pyright is installed for linting")
    # Of a newer version it would tell among what it says of the file.
    environment = {**os.environ, "PYRIGHT_PYTHON_IGNORE_WARNINGS": "1"}
    command = [sys.executable, "-m", "pyright", str(USES)]
    result = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    assert (result.stdout.strip(), result.returncode) == ("0 errors, 0 warnings, 0 informations", 0)
