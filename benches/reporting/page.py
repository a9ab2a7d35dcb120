"""The page: its sections, one after the other, and how each figure was made."""

from collections.abc import Mapping
from dataclasses import dataclass

from benches.reporting.chart import Chart
from benches.reporting.markdown import cell, file_link, paragraph, table
from benches.reporting.results import Figures, Results
from benches.reporting.sections import SECTIONS

_HEAD = "<!-- Made by make bench-report from benches/results: edit those, not this. -->\n\n# Benchmarks"

_AGAIN = """\
## Again

    make bench                                          # the comparison, generated streams
    python -m benches --save comparison                 # the same, kept; each command stands in the table above
    make bench-report                                   # this page, its plots, the README's figures

The recorded streams are other people's data and no part of this project: `SSEWIRE_STREAMS` names a folder with some,
and an `INDEX.tsv` that lists them (`benches/corpus.py` says how). Your own server's stream is the better
measure anyway:

```python
from time import process_time

import httpx, ssewire

with httpx.stream(**ssewire.Provider("https://host/v1").request(model="m", messages=[])) as response:
    reads = list(response.iter_raw())
start, rounds = process_time(), 1000
chunks = sum(1 for _ in range(rounds) for _ in ssewire.ChatStream(reads))
taken = process_time() - start
print(f"{taken / chunks * 1e9:,.0f} ns a chunk ({chunks // rounds} chunks in {len(reads)} reads)")
```
"""

_HOW = """\
Every comparison asserts first that all peers give the same, calls each as its users call it, and times them in turn,
round by round, so that a slow minute of the machine meets them all; what is shown are medians. Times are processor time
where nothing waits. The machine is a shared one: compare the rows of one table, not the numbers with those of another
machine."""


# What each file says of how it was made (`benches.measure.environment`).
_KNOWN = {"command", "date", "python", "platform", "cpu", "cpus", "clock", "packages", "targets"}


@dataclass(frozen=True)
class Page:
    """The text, the plots it shows, and the files that it would have shown more from."""

    text: str
    charts: tuple[Chart, ...]
    missing: tuple[str, ...]


def page(results: Results) -> Page:
    """Put the page together from what is there."""
    texts: list[str] = [_HEAD]
    charts: list[Chart] = []
    for section in SECTIONS:
        part = section.make(results)
        if part is None:
            continue
        texts.append(f"## {section.title}\n\n{part.text}" if section.title else part.text)
        charts += part.charts
    texts += [f"## How it was measured\n\n{paragraph(_HOW)}\n\n{_made(results)}", _AGAIN]
    wanted = dict.fromkeys(name for section in SECTIONS for name in section.files)
    return Page("\n\n".join(texts), tuple(charts), tuple(name for name in wanted if name not in results))


def _made(results: Results) -> str:
    files = results.files.values()
    head = ["figures", "command", "date", "Python", "machine", "also"]
    rows = [
        (
            file_link(one.name),
            f"`{one.facts['command']}`",
            one.facts["date"][:10],
            one.facts["python"],
            _machine(one),
            _also(one),
        )
        for one in files
    ]
    versions = "; ".join(dict.fromkeys(_versions(one.facts["packages"]) for one in files))
    return f"{table(head, rows, left=len(head))}\n\n{paragraph(f'Versions: {versions}.')}"


def _machine(figures: Figures) -> str:
    facts = figures.facts
    return f"{facts['cpu']}, {facts['cpus']} CPUs, {facts['platform']}, {facts['clock']}"


def _also(figures: Figures) -> str:
    """What else a benchmark has said of itself."""
    return "; ".join(f"{name}: {cell(value)}" for name, value in figures.facts.items() if value and name not in _KNOWN)


def _versions(packages: Mapping[str, str]) -> str:
    return ", ".join(f"{name} {version}" for name, version in packages.items() if version != "not installed")
