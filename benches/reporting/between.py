"""Figures in the midst of pages that are written by hand: they stand between two marks, and nothing else is touched."""

from collections.abc import Callable
from typing import NamedTuple

from benches.reporting import readme, turns, ways
from benches.reporting.results import ROOT, Results

BEGIN = "<!-- benchmarks -->"
END = "<!-- /benchmarks -->"


class Spot(NamedTuple):
    """A page with figures in it: which files they come from, and how."""

    page: str
    files: tuple[str, ...]
    section: Callable[[Results], str]

    def now(self) -> str:
        """Give the page as it is."""
        return (ROOT / self.page).read_text("utf-8")

    def filled(self, text: str, results: Results) -> str:
        """Give the page with these figures in it."""
        before, _, rest = text.partition(BEGIN)
        _, _, after = rest.partition(END)
        return f"{before}{BEGIN}\n\n{self.section(results)}\n\n{END}{after}"


SPOTS = (
    Spot("README.md", ("recorded", "comparison"), readme.section),
    Spot("docs/reading.md", ("ways",), ways.section),
    Spot("docs/waiting.md", ("fairness",), turns.section),
)
