"""The pages of figures are what the kept figures render to: nobody writes a number there by hand."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.text import Text

from benches.reporting import drawing
from benches.reporting.between import BEGIN, END, SPOTS, Spot
from benches.reporting.chart import Bars, Chart, Panel, digest_of
from benches.reporting.markdown import PAGE, PLOTS
from benches.reporting.page import page
from benches.reporting.results import Results, load

FACTS: dict[str, Any] = {
    "command": "python -m benches",
    "date": "2026-01-01T00:00:00+00:00",
    "python": "CPython 3.11.0",
    "platform": "Linux",
    "cpu": "one",
    "cpus": 1,
    "clock": "processor time",
    "packages": {"ssewire": "0.1.0", "uvloop": "not installed"},
}
CHART = Chart("a", "Some", "time", ("x", "y"), (Panel("", (Bars("ssewire", "ours", (10.0, None)),)),))


def found(folder: Path, **files: dict[str, Any]) -> Results:
    for name, tables in files.items():
        (folder / f"{name}.json").write_text(json.dumps({**FACTS, **tables}), "utf-8")
    return load(folder)


def result(suite: str, reads: str, peer: str, median: float) -> dict[str, Any]:
    return {"suite": suite, "reads": reads, "peer": peer, "events": 10, "rounds": 3, "median": median}


def test_the_page_is_as_the_figures_are_now() -> None:
    assert PAGE.read_text("utf-8") == page(load()).text


@pytest.mark.parametrize("spot", SPOTS, ids=lambda spot: spot.page)
def test_a_page_has_the_figures_as_they_are_now(spot: Spot) -> None:
    text = spot.now()
    assert text.count(BEGIN) == text.count(END) == 1
    assert spot.filled(text, load()) == text


@pytest.mark.parametrize("spot", SPOTS, ids=lambda spot: spot.page)
def test_a_page_without_figures_says_so(spot: Spot, tmp_path: Path) -> None:
    filled = spot.filled(spot.now(), load(tmp_path))
    assert f"{BEGIN}\n\nNothing was measured.\n\n{END}" in filled


def test_each_plot_is_there_and_shows_the_figures_as_they_are_now() -> None:
    charts = {chart.file: chart.digest for chart in page(load()).charts}
    assert {path.name: digest_of(path) for path in PLOTS.glob("*.svg")} == charts


def test_each_plot_is_shown() -> None:
    shown = re.findall(r"!\[[^\]]+\]\(benchmarks/([^)]+)\)", PAGE.read_text("utf-8"))
    assert sorted(shown) == sorted(path.name for path in PLOTS.glob("*"))


def test_what_is_not_there_is_left_out_and_told(tmp_path: Path) -> None:
    made = page(found(tmp_path, imports={"rows": [{"module": "ssewire", "ms": 20.25, "new": True}]}))
    assert "## Importing" in made.text
    assert "| ssewire | 20.2 | yes |" in made.text
    assert "## Memory" not in made.text
    assert "memory" in made.missing
    assert "imports" not in made.missing
    assert made.charts == ()


@pytest.mark.parametrize(("median", "word"), [(49.0, "yes"), (51.0, "**no**")])
def test_a_promise_is_judged_by_the_figures(tmp_path: Path, median: float, word: str) -> None:
    rows = [result("typed", reads, "floor", 100.0) for reads in ("4k", "event")]
    rows += [result("typed", reads, "ssewire", median) for reads in ("4k", "event")]
    rows += [result("typed", reads, "OpenAI SDK", 10_000.0) for reads in ("4k", "event")]
    made = page(found(tmp_path, recorded={"results": rows}))
    line = next(line for line in made.text.splitlines() if line.startswith("| typed chunks, ÷ floor | reads of 4 KiB"))
    assert line.endswith(f"| at most 0.5 | {median / 100:.2f} | {word} |")


def test_another_figure_is_another_digest() -> None:
    other = Chart("a", "Some", "time", ("x", "y"), (Panel("", (Bars("ssewire", "ours", (11.0, None)),)),))
    assert CHART.digest != other.digest


def test_a_chart_is_drawn_the_same_each_time(tmp_path: Path) -> None:
    drawn = drawing.draw(CHART)
    assert drawing.draw(CHART) == drawn
    assert "<dc:date>" not in drawn
    path = tmp_path / CHART.file
    path.write_text(drawn, "utf-8")
    assert digest_of(path) == CHART.digest


@pytest.mark.parametrize("chart", page(load()).charts, ids=lambda chart: chart.slug)
def test_no_word_is_cut(chart: Chart) -> None:
    with drawing.style(chart):
        figure = drawing.figure_of(chart)
        renderer = FigureCanvasAgg(figure).get_renderer()  # type: ignore[no-untyped-call]
        figure.draw(renderer)
        for text in figure.findobj(Text):
            assert isinstance(text, Text)
            if text.get_text() and text.get_visible():
                box = text.get_window_extent(renderer)
                inside = box.x0 >= 0 and box.y0 >= 0 and box.x1 <= figure.bbox.x1 and box.y1 <= figure.bbox.y1
                assert inside, text.get_text()
