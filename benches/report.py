"""Tables for the terminal and files for `benches/results`."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benches import targets
from benches.measure import Result, command, environment
from benches.peers import Suite
from benches.targets import FLOOR

_WIDTH = 120
RESULTS = Path(__file__).parent / "results"


def terminal() -> Console:
    """Give the console; into a file or a pipe it writes lines long enough for the tables."""
    console = Console()
    return console if console.is_terminal else Console(width=_WIDTH)


def announced() -> Console:
    """Give the console, and say on it what is measured, and on what."""
    console = terminal()
    facts = environment()
    console.print(f"{command()}\n{facts['python']}, {facts['cpu']} ({facts['cpus']} CPUs), {facts['date']}")
    return console


def print_suite(console: Console, suite: Suite, reads: str, results: list[Result]) -> None:
    """Print one suite at one read size, the fastest first."""
    table = Table(title=f"{suite.name}, reads: {reads}", title_justify="left")
    table.add_column("peer", no_wrap=True)
    for column in ("ns/event", "min", "max", *(_column(name) for name in suite.references)):
        table.add_column(column, justify="right", no_wrap=True)
    medians = {result.peer: result.median for result in results}
    for result in sorted(results, key=lambda result: result.median):
        cells = [f"{result.median:,.0f}", f"{result.min:,.0f}", f"{result.max:,.0f}"]
        cells += [f"{targets.ratio(name, result.median, medians[name]):.2f}" for name in suite.references]
        table.add_row(result.peer, *cells, style="bold" if result.peer == "ssewire" else None)
    console.print(table)


def _column(reference: str) -> str:
    return "x floor" if reference == FLOOR else f"{reference} x"


def judge(suite: Suite, results: list[Result]) -> list[dict[str, object]]:
    """Hold the medians against the targets of the suite."""
    medians = {(result.reads, result.peer): result.median for result in results if result.suite == suite.name}
    return [asdict(verdict) for verdict in targets.judge(suite.name, medians)]


def print_targets(console: Console, verdicts: list[dict[str, object]]) -> None:
    """Print which targets are met."""
    table = Table(title="targets: ssewire, times as fast as the peer, or times the floor", title_justify="left")
    for column in verdicts[0]:
        table.add_column(column, justify="right" if column in ("target", "measured") else "left", no_wrap=True)
    for verdict in verdicts:
        *cells, met = verdict.values()
        style = None if met else "bold red"
        table.add_row(*map(str, cells), "yes" if met else "no", style=style)
    console.print(table)


def print_rows(console: Console, title: str, rows: list[dict[str, object]]) -> None:
    """Print rows of the same columns, those of words to the left."""
    table = Table(title=title, title_justify="left")
    for name, value in rows[0].items():
        table.add_column(name, justify="left" if isinstance(value, str) else "right", no_wrap=True)
    for row in rows:
        table.add_row(*(str(row.get(name, "")) for name in rows[0]))
    console.print(table)


def save(name: str, **figures: Sequence[object]) -> Path:
    """Write figures, with the command and the machine they came from, to `benches/results/<name>.json`."""
    path = RESULTS / f"{name}.json"
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"command": command(), **environment(), **figures}, indent=1) + "\n", encoding="utf-8")
    return path
