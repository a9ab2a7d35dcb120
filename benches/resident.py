"""What a process has in memory, as the system tells it: Rust's share does not show in tracemalloc.

What is measured runs in a process of its own, a benchmark started once more as `python -m <module> child ...`, which
writes what it found as JSON.
"""

import json
import resource
import subprocess
import sys
from pathlib import Path


def in_child(module: str, *arguments: object) -> dict[str, object]:
    """Run a case in a process of its own; gives what it wrote."""
    run = [sys.executable, "-m", module, "child", *map(str, arguments)]
    output = subprocess.run(run, check=True, capture_output=True, text=True).stdout  # noqa: S603
    found: dict[str, object] = json.loads(output)
    return found


def resident() -> int:
    """Give the resident set now, and where the system allows it let the peak begin here."""
    try:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
        return _status("VmRSS")
    except OSError:
        return peak()


def peak() -> int:
    """Give the largest resident set since then, or of the process."""
    try:
        return _status("VmHWM")
    except OSError:
        unit = 1 if sys.platform == "darwin" else 1024
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit


def _status(name: str) -> int:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))
