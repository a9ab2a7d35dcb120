"""`python -m benches.imports`: what `import ssewire` takes beyond `import msgspec`, in fresh interpreters.

Each import runs in an interpreter of its own, in turn, and is timed inside of it, in processor time: neither starting
one counts nor what else the machine does. The second table is of one `-X importtime`: the modules that take longest by
themselves.
"""

import argparse
import atexit
import os
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from itertools import repeat
from statistics import median

from benches.report import announced, print_rows, save

_BASE = "msgspec"
# Beside it, for scale: what its users import anyway.
_MODULES = (_BASE, "ssewire", "httpx", "openai")
_TIMED = "from time import process_time_ns as now; start = now(); import {}; print(now() - start)"
_SHOWN = 12


def main() -> None:
    """Measure, print, and save when asked to."""
    parser = argparse.ArgumentParser(prog="python -m benches.imports", description=__doc__)
    parser.add_argument("--rounds", type=int, default=21, help="interpreters for each import (default: %(default)s)")
    parser.add_argument("--save", metavar="NAME", help="write benches/results/NAME.json")
    arguments = parser.parse_args()

    console = announced()
    with console.status("importing"):
        rows = measured(arguments.rounds)
    print_rows(console, "milliseconds for an import, medians", rows)
    parts = slowest()
    print_rows(console, "microseconds by itself, one import of ssewire", parts)
    if arguments.save:
        save(arguments.save, results=rows, modules=parts)


def measured(rounds: int) -> list[dict[str, object]]:
    """Time all imports in turn; the first round, which compiles, does not count."""
    times: dict[str, list[float]] = {module: [] for module in _MODULES}
    for _ in repeat(None, rounds + 1):
        for module, taken in times.items():
            taken.append(int(_python("-c", _TIMED.format(module)).stdout) / 1e6)
    times = {module: taken[1:] for module, taken in times.items()}
    return [
        {
            "import": module,
            "ms": round(median(taken), 1),
            "beyond msgspec": round(median(a - b for a, b in zip(taken, times[_BASE], strict=True)), 1),
            "min": round(min(taken), 1),
            "max": round(max(taken), 1),
        }
        for module, taken in times.items()
    ]


def slowest() -> list[dict[str, object]]:
    """Give the modules that `import ssewire` spends most time on, its own and others'."""
    rows: list[dict[str, object]] = []
    # Each line: `import time:   self [us] | cumulative | imported package`, indented by depth.
    run = f"import {_BASE}, sys; print('=', file=sys.stderr); import ssewire"
    for line in _python("-X", "importtime", "-c", run).stderr.partition("=\n")[2].splitlines():
        alone, whole, module = line.removeprefix("import time:").split("|")
        rows.append({"module": module.strip(), "self": int(alone), "with all below": int(whole)})
    return sorted(rows, key=lambda row: -int(str(row["self"])))[:_SHOWN]


def _python(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run an interpreter that finds everything compiled, as behind an installation, whatever this one was told."""
    environ = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    run = [sys.executable, *arguments]
    environ["PYTHONPYCACHEPREFIX"] = _compiled()
    return subprocess.run(run, check=True, capture_output=True, text=True, env=environ)  # noqa: S603


@cache
def _compiled() -> str:
    folder = tempfile.mkdtemp(prefix="ssewire-imports-")
    atexit.register(shutil.rmtree, folder)
    return folder


if __name__ == "__main__":
    main()
