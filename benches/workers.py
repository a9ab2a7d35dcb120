"""Parsers in other languages: processes that answer a question a line, so that one run can ask them in turn.

The one in Rust (`rust/benches`) writes the streams, all read them from the same files. What they answer stands in the
table of its first lines.
"""

import json
import shutil
import subprocess
import tomllib
from pathlib import Path
from types import TracebackType
from typing import Self

_ROOT = Path(__file__).parent.parent
_RUST = _ROOT / "rust" / "benches"
_NODE = Path(__file__).parent / "node"


class WorkerError(Exception):
    """A worker could not be had, or did not answer what it was asked."""


class Worker:
    """A process that runs the parsers of one language."""

    def __init__(self, language: str, versions: list[str], command: list[str]) -> None:
        self.language = language
        self.versions = versions
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)  # noqa: S603
        self.peers = self.ask("peers").split()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._process.__exit__(kind, error, traceback)

    def ask(self, *question: object) -> str:
        """Ask for a line; raises `WorkerError` where the question failed or the process has died of it."""
        assert self._process.stdin
        assert self._process.stdout
        print(*question, file=self._process.stdin, flush=True)
        answer = self._process.stdout.readline().strip()
        if not answer or answer.startswith("failed"):
            raise WorkerError(answer or "the worker has died")
        return answer


def rust(folder: Path) -> Worker:
    """Build the worker in Rust and start it: it writes the streams into the folder."""
    _run("cargo", "build", "--release", "--locked", "--quiet", cwd=_RUST)
    lock = tomllib.loads((_RUST / "Cargo.lock").read_text(encoding="utf-8"))
    crates = ["sse-core", "sse-stream", "sse-parse", "eventsource-stream"]
    versions = [f"{package['name']} {package['version']}" for package in lock["package"] if package["name"] in crates]
    program = _RUST / "target" / "release" / "ssewire-benches"
    return Worker("rust", [_run("rustc", "--version"), *versions], [str(program), str(folder)])


def javascript(folder: Path) -> Worker:
    """Install the packages of the worker under Node and start it."""
    pinned: dict[str, str] = json.loads((_NODE / "package.json").read_text(encoding="utf-8"))["dependencies"]
    _run("npm", "install", "--no-package-lock", "--no-audit", "--no-fund", "--loglevel=error", cwd=_NODE)
    versions = [f"node {_run('node', '--version')}", *(f"{name} {version}" for name, version in pinned.items())]
    return Worker("javascript", versions, ["node", str(_NODE / "worker.mjs"), str(folder)])


def _run(program: str, *arguments: str, cwd: Path = _ROOT) -> str:
    """Run to the end, complaints going to the terminal; gives what was printed."""
    path = shutil.which(program)
    if path is None:
        raise WorkerError(f"{program} is not installed")
    done = subprocess.run([path, *arguments], cwd=cwd, stdout=subprocess.PIPE, text=True, check=False)  # noqa: S603
    if done.returncode:
        raise WorkerError(f"{program} {arguments[0]} failed")
    return done.stdout.strip()
