"""The public names have the types that their documentation says, as mypy sees them."""

from __future__ import annotations

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
