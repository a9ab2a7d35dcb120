"""Rows of figures turned into bars: one column says the panel, one the line, one the series, one the value."""

from collections.abc import Callable, Sequence

from benches.reporting.chart import Bars, Kind, Panel, fastest_first
from benches.reporting.results import Row
from benches.targets import FLOOR, OURS

# What is there without any parser: decoding alone, reading alone, a loop alone.
_FLOORS = (FLOOR, "msgspec", "bytes alone", "bare ")


def is_ours(peer: str) -> bool:
    """Say whether this is one of our own forms."""
    return peer.startswith(OURS)


def kind_of(peer: str) -> Kind:
    """Say whose bar this is, which is its colour."""
    return "ours" if is_ours(peer) else "floor" if peer.startswith(_FLOORS) else "peer"


def grouped(
    rows: Sequence[Row],
    *,
    line: str,
    value: str,
    series: str,
    panel: str = "",
    kind: Callable[[str], Kind] = kind_of,
    ordered: bool = True,
    titles: Callable[[str], str] = str,
) -> tuple[tuple[str, ...], tuple[Panel, ...]]:
    """Give the names of the series, and the panels; without a panel's column there is one of all rows.

    Lines come sorted by their values, or in the order of the rows.
    """
    names = tuple(dict.fromkeys(row[series] for row in rows))
    panels: list[Panel] = []
    for title in dict.fromkeys(row[panel] if panel else "" for row in rows):
        here = [row for row in rows if not panel or row[panel] == title]
        values = {(row[line], row[series]): row[value] for row in here}
        bars = [
            Bars(str(label), kind(str(label)), tuple(values.get((label, name)) for name in names))
            for label in dict.fromkeys(row[line] for row in here)
        ]
        panels.append(Panel(titles(title) if title else "", fastest_first(bars) if ordered else tuple(bars)))
    return tuple(map(str, names)), tuple(panels)
