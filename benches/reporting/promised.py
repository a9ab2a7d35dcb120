"""Where in its file the figure stands that keeps a promise or breaks it: the worst case, and which one that is."""

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import NamedTuple

from benches.reporting.grouping import is_ours
from benches.reporting.markdown import cell, number
from benches.reporting.results import READS, Figures, Row
from benches.targets import OURS

_LARGE = ("16 KiB", "1 MiB")
# Forms in which something is made of an event, with the interpreter.
_FORMS = ("events", "payloads", "chunks")
# What the promise says of twice the event is not about these.
_BASELINE = "bytearray and bytes"


class Case(NamedTuple):
    """A figure, and what it was measured with."""

    measured: float
    of: str = ""


Find = Callable[[Figures], Case | None]


def _most(cases: Iterable[Case]) -> Case | None:
    return max(cases, default=None)


def _least(cases: Iterable[Case]) -> Case | None:
    return min(cases, default=None)


def _core(scenario: str, figures: Figures) -> Case | None:
    rows = [row for row in figures.main if row["scenario"] == scenario]
    crates = [row for row in rows if row["language"] == "rust" and not is_ours(row["peer"])]
    return _least(_ahead(rows, OURS, crates))


def _node(figures: Figures) -> Case | None:
    others = [row for row in figures.main if row["language"] != "rust"]
    return _least(_ahead(figures.main, f"{OURS}-text", others))


def _ahead(rows: Sequence[Row], ours: str, others: Sequence[Row]) -> Iterable[Case]:
    """How many times as fast as each of the others, at each size of read."""
    medians = {(row["scenario"], row["reads"]): row["median"] for row in rows if row["peer"] == ours}
    for row in others:
        case = row["scenario"], row["reads"]
        if case in medians:
            yield Case(row["median"] / medians[case], _words(row, "peer", "scenario", "reads"))


def _async(figures: Figures) -> Case | None:
    worst = _most(
        Case(row["beyond bare and sync"], f"{_words(row, 'way', 'reads')}, {row['at once']:,} at once")
        for row in figures.main
    )
    floor = next(iter(figures.rows("floor")), None)
    if worst is None or floor is None:
        return worst
    return worst._replace(of=f"{worst.of}; {number(worst.measured / floor['ns'])} of msgspec's time for an event")


def _threads(figures: Figures) -> Case | None:
    """As it is when nobody says anything: reads of this size keep the interpreter."""
    rows = [row for row in figures.rows("results", read="64 KiB") if row["event"] in _LARGE and row["form"] in _FORMS]
    return _least(
        Case(row["2 kept"], f"{_words(row, 'form', 'event')}; released {number(row['2 released'])}") for row in rows
    )


def _releasing(figures: Figures) -> Case | None:
    rows = figures.rows("small")
    return _most(Case(row["costs %"], f"events of {row['event']}, reads of {row['read']:,} bytes") for row in rows)


def _hostile(figures: Figures) -> Case | None:
    return _most(Case(row["times"], _words(row, "stream", "way", "reads")) for row in figures.main)


def _compared(column: str, figures: Figures) -> Case | None:
    rows = figures.rows("compared")
    return Case(sum(row[column] for row in rows)) if rows else None


def _listed(figures: Figures) -> Case | None:
    rates = [row["rate"] for row in figures.rows("recorded")]
    return Case(len(rates), f"from {min(rates):.1%} to {max(rates):.1%}") if rates else None


def _doublings(column: str, figures: Figures) -> list[Case]:
    """One kind of doubling of each form at each size of read, with that of copying alone beside it."""
    alone = {(row["body"], row["reads"]): row[column] for row in figures.main if row["form"] == _BASELINE}
    return [
        Case(
            row[column],
            f"{_words(row, 'form', 'body', 'reads')}; copying {cell(alone.get((row['body'], row['reads'])))}",
        )
        for row in figures.main
        if row["form"] != _BASELINE
    ]


def _growth(column: str, figures: Figures) -> Case | None:
    rows = [row for rows in figures.tables.values() for row in rows if column in row and "form" in row]
    return _most(Case(row[column], row["form"]) for row in rows)


def _import(figures: Figures) -> Case | None:
    return _most(Case(row["beyond msgspec"]) for row in figures.rows("results", **{"import": OURS}))


def _words(row: Row, *columns: str) -> str:
    return ", ".join(_cut(row[column]) if column in ("reads", "read") else str(row[column]) for column in columns)


def _cut(reads: str) -> str:
    return READS.get(reads, f"reads of {reads}" if reads[:1].isdigit() else reads)


FIND: dict[str, Find] = {
    **{
        f"core {scenario}": partial(_core, scenario)
        for scenario in ("chat", "large", "small", "keep-alives", "fragments")
    },
    "node": _node,
    "async": _async,
    "threads": _threads,
    "releasing": _releasing,
    "hostile": _hostile,
    "differences": partial(_compared, "differences"),
    "mutated": partial(_compared, "events"),
    "listed": _listed,
    "steepest": lambda figures: _most(_doublings("steepest", figures)),
    "flattest": lambda figures: _least(_doublings("flattest", figures)),
    "stream": partial(_growth, "1024 MiB: grown MiB"),
    "read": partial(_growth, "256 MiB: grown MiB"),
    "import": _import,
}
