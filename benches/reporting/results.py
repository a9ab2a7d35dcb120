"""The figures as they were saved: files by name, tables of rows in them, medians by suite."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benches" / "results"

# What a row says goes by the names that the benchmark gave it: text, numbers, lists of them.
Row = Mapping[str, Any]

# In the order in which they are shown.
READS = {
    "event": "one read an event",
    "1460": "reads of 1,460 bytes",
    "4k": "reads of 4 KiB",
    "64k": "reads of 64 KiB",
}


@dataclass(frozen=True)
class Figures:
    """One file: how it was made, and its tables."""

    name: str
    facts: Mapping[str, Any]
    tables: Mapping[str, list[Row]]

    def rows(self, table: str, **wanted: object) -> list[Row]:
        """Give the rows of a table that have these values."""
        return [row for row in self.tables.get(table, []) if all(row.get(name) == one for name, one in wanted.items())]

    @property
    def main(self) -> list[Row]:
        """The rows of the table of results, or of the only one, whatever its name."""
        return self.tables.get("results") or next(iter(self.tables.values()), [])

    def medians(self, suite: str) -> dict[tuple[str, str], float]:
        """Give the medians of a suite, by reads and peer."""
        return {(row["reads"], row["peer"]): row["median"] for row in self.rows("results", suite=suite)}


@dataclass(frozen=True)
class Results:
    """All files of a folder, by name."""

    files: Mapping[str, Figures]

    def __contains__(self, name: str) -> bool:
        return name in self.files

    def get(self, name: str) -> Figures | None:
        """Give a file, if it is there."""
        return self.files.get(name)

    def corpora(self) -> dict[str, Figures]:
        """Give the comparisons with other parsers that there are, by their corpus, those of recorded streams first."""
        names = {"recorded": "recorded", "comparison": "generated"}
        return {corpus: self.files[name] for name, corpus in names.items() if name in self.files}


def load(folder: Path = RESULTS) -> Results:
    """Read all files of the folder."""
    return Results({path.stem: _read(path) for path in sorted(folder.glob("*.json"))})


def _read(path: Path) -> Figures:
    found = json.loads(path.read_text("utf-8"))
    tables = {name: value for name, value in found.items() if _is_table(value)}
    return Figures(path.stem, {name: value for name, value in found.items() if name not in tables}, tables)


def _is_table(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(row, dict) for row in value)
