"""The parts that pages are put together from: tables, numbers, links, and a section with its plots."""

import os
import textwrap
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benches.reporting.chart import Chart
from benches.reporting.results import RESULTS, ROOT, Results, Row

PAGE = ROOT / "docs" / "benchmarks.md"
PLOTS = ROOT / "docs" / "benchmarks"
_WIDTH = 120


@dataclass(frozen=True)
class Section:
    """A part of the page: the files it is made from, and how; None where none of them is there."""

    title: str
    files: tuple[str, ...]
    make: Callable[[Results], "Part | None"]


@dataclass(frozen=True)
class Part:
    """What a section says and shows. A chart's place in the text is where `picture` put it."""

    text: str
    charts: tuple[Chart, ...] = ()


def picture(chart: Chart, folder: Path = PAGE.parent, told: str = "") -> str:
    """Show a chart on a page that stands in this folder; `told` says to those who do not see it what no table does."""
    words = (told or chart.title).replace("[", "(").replace("]", ")")
    return f"![{words}]({os.path.relpath(PLOTS / chart.file, folder)})"


def file_link(name: str, folder: Path = PAGE.parent) -> str:
    """Link to a file of figures."""
    path = RESULTS / f"{name}.json"
    return f"[`{path.relative_to(ROOT)}`]({os.path.relpath(path, folder)})"


def paragraph(text: str) -> str:
    """Fill lines as the other pages have them."""
    return textwrap.fill(" ".join(text.split()), _WIDTH, break_long_words=False, break_on_hyphens=False)


def table(head: Sequence[str], rows: Iterable[Sequence[object]], *, left: int = 1) -> str:
    """Give a table whose first columns are words, and the others numbers."""
    rule = ["---" if at < left else "---:" for at in range(len(head))]
    lines = [head, rule, *([cell(value) for value in row] for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def cell(value: object) -> str:
    """Give a value as a table shows it."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return number(value)
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, list | tuple):
        return ", ".join(cell(one) for one in value)
    return str(value).replace("|", "\\|")


def number(value: float) -> str:
    """Give a number with as many digits as it is worth: three, and all before the point."""
    size = abs(value)
    if not size:
        return "0"
    return f"{value:,.0f}" if size >= 100 else f"{value:.1f}" if size >= 10 else f"{value:.2f}"


def folded(summary: str, text: str) -> str:
    """Fold away what few will read."""
    return f"<details><summary>{summary}</summary>\n\n{text}\n\n</details>"


def generic(rows: Sequence[Row]) -> str:
    """Give all rows of a table as they are, under the names they have, whatever they are."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    words = [name for name in names if all(isinstance(row.get(name), str | None) for row in rows)]
    # Words first, so that the numbers stand together.
    names = [*words, *(name for name in names if name not in words)]
    return table(names, ([row.get(name) for name in names] for row in rows), left=len(words))
