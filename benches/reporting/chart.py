"""What a plot shows, as plain data: bars in panels, and a digest by which a drawn one is known again."""

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path
from typing import Literal

# Whose bar it is says its colour.
Kind = Literal["ours", "floor", "peer"]
Unit = Literal["time", "share", "times"]


TIMES = "\N{MULTIPLICATION SIGN}"
_MARK = re.compile(r"figures ([0-9a-f]{16})")


def time(nanoseconds: float) -> str:
    """Give a time in the unit that reads best, to three digits at the most."""
    if not nanoseconds:
        return "0"
    for size, unit in ((1e9, "s"), (1e6, "ms"), (1e3, "µs")):
        if nanoseconds >= size:
            return f"{_digits(nanoseconds / size)} {unit}"
    return f"{_digits(nanoseconds)} ns"


def _digits(value: float) -> str:
    """Three digits at the most, and one behind the point where that says something."""
    return f"{value:.1f}".removesuffix(".0") if value < 10 else f"{value:,.0f}"


FORMATS: dict[Unit, Callable[[float], str]] = {
    "time": time,
    "share": lambda value: f"{value * 100:.3g} %",
    "times": lambda value: f"{value:.2f}" if value < 10 else f"{value:,.0f}",
}
# Below the scale, where numbers are round.
TICKS: dict[Unit, Callable[[float], str]] = {"times": "{:g}".format}


@dataclass(frozen=True)
class Bars:
    """One line of a panel: a bar for each of the chart's series, or None where it was not measured."""

    label: str
    kind: Kind
    values: tuple[float | None, ...]
    # A word behind each number.
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Panel:
    """Bars below a title, from top to bottom."""

    title: str
    bars: tuple[Bars, ...]


@dataclass(frozen=True)
class Chart:
    """One plot."""

    slug: str
    title: str
    unit: Unit
    series: tuple[str, ...]
    panels: tuple[Panel, ...]
    logarithmic: bool = True
    # Panels of one scale can be compared with each other.
    one_scale: bool = True
    # Where less is better it is said, and where more is, too.
    better: Literal["less", "more"] = "less"
    # A line to compare with, at this value.
    mark: float | None = None
    # What the notes mean.
    legend: str = ""

    @property
    def file(self) -> str:
        """The name of the file it is drawn to."""
        return f"{self.slug}.svg"

    @property
    def digest(self) -> str:
        """What tells it from every other chart, and from the same one with other figures."""
        return sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()[:16]

    @property
    def about(self) -> str:
        """What a drawn file says of itself, for `digest_of`."""
        return f"figures {self.digest}"

    def told(self) -> str:
        """Say what is shown to those who do not see it."""
        form = FORMATS[self.unit]
        panels = (
            f"{panel.title}: " * bool(panel.title)
            + ", ".join(
                f"{bars.label} {' / '.join('none' if value is None else form(value) for value in bars.values)}"
                for bars in panel.bars
            )
            for panel in self.panels
        )
        series = f" ({' / '.join(self.series)})" if len(self.series) > 1 else ""
        return f"{self.title}{series}. {'; '.join(panels)}"


def digest_of(path: Path) -> str | None:
    """Say which chart a file was drawn from."""
    found = _MARK.search(path.read_text("utf-8"))
    return found and found[1]


def fastest_first(bars: Iterable[Bars]) -> tuple[Bars, ...]:
    """Sort by the first value that each has, the least first."""
    return tuple(sorted(bars, key=lambda one: next((v for v in one.values if v is not None), float("inf"))))
