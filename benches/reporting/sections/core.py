"""The Rust core beside other crates, and a parser of another language."""

from benches.reporting.chart import Chart
from benches.reporting.grouping import grouped
from benches.reporting.markdown import Part, Section, number, paragraph, picture, table
from benches.reporting.results import READS, Results, Row
from benches.targets import OURS

_TITLES = {
    "chat": "chat, events of 240 bytes",
    "large": "large events",
    "small": "small events",
    "keep-alives": "keep-alives",
    "fragments": "fragments of ten bytes",
}


def reads_of(name: str) -> str:
    """Say how a stream was cut."""
    return READS.get(name) or ("whole" if name == "whole" else f"reads of {name} bytes")


def _part(results: Results) -> Part | None:
    figures = results.get("core")
    if figures is None:
        return None
    rows = figures.main
    # One size of read for each scenario, or the plot would be as long as the table.
    first = {scenario: _plotted(rows, scenario) for scenario in dict.fromkeys(row["scenario"] for row in rows)}
    shown = [
        {**row, "panel": f"{_TITLES.get(row['scenario'], row['scenario'])}, {reads_of(row['reads'])}", "series": ""}
        for row in rows
        if row["reads"] == first[row["scenario"]]
    ]
    series, panels = grouped(shown, panel="panel", line="peer", series="series", value="median")
    chart = Chart(
        "core",
        "The Rust core, other crates, and eventsource-parser: time per event",
        "time",
        series,
        panels,
        one_scale=False,
    )
    words = paragraph(
        "The core alone, without Python, beside other crates called as their users call them, and eventsource-parser"
        " under Node on the same bytes. `ssewire` hands out borrowed bytes, `ssewire-text` makes a string of each"
        " event as the others do. Nanoseconds an event, medians; in brackets times what `ssewire` takes."
    )
    return Part(f"{picture(chart)}\n\n{words}\n\n{_table(rows)}", (chart,))


def _plotted(rows: list[Row], scenario: str) -> str:
    sizes = [row["reads"] for row in rows if row["scenario"] == scenario]
    return "4k" if "4k" in sizes else str(sizes[0])


def _table(rows: list[Row]) -> str:
    peers = list(dict.fromkeys(row["peer"] for row in rows))
    cases = dict.fromkeys((row["scenario"], row["reads"]) for row in rows)
    lines = []
    for scenario, reads in cases:
        medians = {row["peer"]: row["median"] for row in rows if (row["scenario"], row["reads"]) == (scenario, reads)}
        ours = medians.get(OURS)
        cells = [_times(medians.get(peer), ours if peer != OURS else None) for peer in peers]
        lines.append([scenario, reads_of(reads), *cells])
    languages = {row["peer"]: row.get("language", "") for row in rows}
    # Rust is what is expected here.
    foreign = {peer: f" ({language})" for peer, language in languages.items() if language not in ("", "rust")}
    head = ["stream", "cut", *(f"{peer}{foreign.get(peer, '')}" for peer in peers)]
    return table(head, lines, left=2)


def _times(median: float | None, ours: float | None) -> str:
    if median is None:
        return ""
    return f"{number(median)} ({number(median / ours)})" if ours else number(median)


CORE = Section("The core", ("core",), _part)
