"""Charts drawn as SVG: on white, letters as shapes, the same bytes for the same figures.

Letters are shapes so that no page depends on the fonts of its reader. Nothing of the day or of the machine goes into a
file, but the digest of the chart it was drawn from.
"""

import re
from contextlib import AbstractContextManager
from io import StringIO
from typing import Any

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Patch
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator

from benches.reporting.chart import FORMATS, TICKS, Bars, Chart, Kind, Panel

# One palette for all: a dark and a light tone for each kind of bar, so that two series can be told apart.
TONES: dict[Kind, tuple[str, ...]] = {
    "ours": ("#0b5d75", "#3fa7c4", "#a9d8e6", "#d5edf4"),
    "floor": ("#c77700", "#f0ad3d", "#f8d79c", "#fbeacb"),
    "peer": ("#6b7280", "#a3aab5", "#d0d5dc", "#e6e9ed"),
}
_INK, _FAINT, _LINES = "#1f2937", "#6b7280", "#e5e7eb"

# Which settings there are, and of which kind, differs from version to version.
_STYLE: dict[Any, Any] = {
    "svg.fonttype": "path",
    "font.family": "DejaVu Sans",
    "font.size": 9.5,
    "text.color": _INK,
    "axes.labelcolor": _FAINT,
    "xtick.color": _FAINT,
    "ytick.color": _INK,
}
# In inches: the pages show an inch as 96 dots.
_WIDTH, _MARGIN, _HEAD, _FOOT = 9.2, 0.15, 0.4, 0.36
_BAR, _BETWEEN, _TITLE, _AXIS = 0.17, 0.12, 0.34, 0.3
_LETTER = 0.083


def style(chart: Chart) -> AbstractContextManager[None]:
    """Set what all charts have in common, and nothing of the user's own settings."""
    return mpl.rc_context({**mpl.rcParamsDefault, **_STYLE, "svg.hashsalt": chart.slug})


def draw(chart: Chart) -> str:
    """Draw a chart."""
    with style(chart):
        figure = figure_of(chart)
        out = StringIO()
        about = {"Date": None, "Creator": None, "Title": chart.title, "Description": chart.about}
        figure.savefig(out, format="svg", metadata=about, facecolor="white")
    # A path on a line of its own, not on one for each of its points.
    return re.sub(r' d="([^"]*)"', lambda path: f' d="{" ".join(path[1].split())}"', out.getvalue())


def figure_of(chart: Chart) -> Figure:
    """Lay a chart out."""
    columns = 1 if len(chart.panels) == 1 else 2
    rows = -(-len(chart.panels) // columns)
    shared = len({tuple(bars.label for bars in panel.bars) for panel in chart.panels}) == 1
    heights = [max(_height(chart, panel) for panel in chart.panels[at * columns :][:columns]) for at in range(rows)]
    titled = any(panel.title for panel in chart.panels)
    gap = (_TITLE if titled else 0.1) + _AXIS
    height = _HEAD + sum(heights) + gap * rows + _FOOT
    figure = Figure(figsize=(_WIDTH, height))
    labels = max(len(bars.label) for panel in chart.panels for bars in panel.bars) * _LETTER + 0.2
    lefts, width = _places(columns, labels, shared=shared)
    top = height - _HEAD
    limits = _limits(chart, *chart.panels)
    for row in range(rows):
        top -= _TITLE if titled else 0.1
        for column, panel in enumerate(chart.panels[row * columns :][:columns]):
            own = _height(chart, panel)
            place = (lefts[column] / _WIDTH, (top - own) / height, width / _WIDTH, own / height)
            own_limits = limits if chart.one_scale else _limits(chart, panel)
            _panel(figure.add_axes(place), chart, panel, own_limits, labelled=not (shared and column))
        top -= heights[row] + _AXIS
    _words(figure, chart, height)
    return figure


def _places(columns: int, labels: float, *, shared: bool) -> tuple[list[float], float]:
    """Where panels begin, and how wide they are: labels stand beside each, or once for a whole row."""
    if columns == 1:
        return [labels], _WIDTH - labels - _MARGIN
    between = 0.3 if shared else labels
    width = (_WIDTH - labels - between - _MARGIN) / 2
    return [labels, labels + width + between], width


def _height(chart: Chart, panel: Panel) -> float:
    return len(panel.bars) * (len(chart.series) * _BAR + _BETWEEN)


def _limits(chart: Chart, *panels: Panel) -> tuple[float, float]:
    """Where the scale of panels begins and ends, with room for the numbers behind the bars."""
    values = [value for panel in panels for bars in panel.bars for value in bars.values if value is not None]
    if chart.logarithmic:
        least, most = min(values) / 2, max(values)
        noted = any(bars.notes for panel in chart.panels for bars in panel.bars)
        return least, most * (most / least) ** (0.3 if len(chart.panels) > 1 else 0.28 if noted else 0.14)
    return 0, max(values) * (1.3 if len(chart.panels) > 1 else 1.14)


def _panel(axes: Axes, chart: Chart, panel: Panel, limits: tuple[float, float], *, labelled: bool) -> None:
    axes.set_xscale("log" if chart.logarithmic else "linear")
    axes.set_xlim(*limits)
    locator = LogLocator(10) if chart.logarithmic else MaxNLocator(5)
    along = axes.transScale + axes.transLimits
    # Not at the right edge, where half a label would be cut.
    axes.set_xticks([tick for tick in locator.tick_values(*limits) if 0 <= along.transform((tick, 0))[0] <= 0.97])
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: TICKS.get(chart.unit, FORMATS[chart.unit])(value)))
    step = len(chart.series) * _BAR + _BETWEEN
    axes.set_ylim(len(panel.bars) * step - _BETWEEN / 2, -_BETWEEN / 2)
    for at, bars in enumerate(panel.bars):
        _bars(axes, chart, bars, at * step, limits)
    centre = len(chart.series) * _BAR / 2
    axes.set_yticks([at * step + centre for at in range(len(panel.bars))])
    axes.set_yticklabels([bars.label if labelled else "" for bars in panel.bars])
    for label, bars in zip(axes.get_yticklabels(), panel.bars, strict=True):
        label.set_color(TONES[bars.kind][0] if bars.kind != "peer" else _INK)
        label.set_fontweight("bold" if bars.kind == "ours" else "normal")
    axes.tick_params(length=0, labelsize=8.5, axis="x")
    axes.tick_params(length=0, axis="y")
    axes.grid(axis="x", color=_LINES, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[:].set_visible(False)
    if chart.mark is not None:
        axes.axvline(chart.mark, color=_INK, linewidth=0.9, linestyle=(0, (4, 3)), zorder=2)
    if panel.title:
        axes.set_title(panel.title, loc="left", fontsize=9.5, color=_FAINT, pad=6)


def _bars(axes: Axes, chart: Chart, bars: Bars, top: float, limits: tuple[float, float]) -> None:
    tones = TONES[bars.kind]
    room = (limits[1] / limits[0]) ** 0.008 if chart.logarithmic else limits[1] * 0.008
    for at, value in enumerate(bars.values):
        if value is None:
            continue
        middle = top + at * _BAR + _BAR / 2
        axes.barh(middle, value - limits[0], height=_BAR * 0.9, left=limits[0], color=tones[at % len(tones)])
        words = FORMATS[chart.unit](value)
        weight = "bold" if bars.kind == "ours" else "normal"
        where = value * room if chart.logarithmic else value + room
        # On white, or a line of the grid would run through it.
        behind = {"facecolor": "white", "edgecolor": "none", "pad": 0.8}
        axes.annotate(words, (where, middle), va="center_baseline", fontsize=8, fontweight=weight, bbox=behind)
        if at < len(bars.notes):
            axes.annotate(
                bars.notes[at],
                (1, middle),
                xycoords=("axes fraction", "data"),
                ha="right",
                va="center_baseline",
                fontsize=8,
                color=_FAINT,
            )


def _words(figure: Figure, chart: Chart, height: float) -> None:
    figure.text(_MARGIN / _WIDTH, 1 - 0.27 / height, chart.title, fontsize=12, fontweight="bold", va="center")
    scale = "logarithmic scale, " if chart.logarithmic else ""
    legend = f"; {chart.legend}" if chart.legend else ""
    figure.text(
        _MARGIN / _WIDTH,
        0.18 / height,
        f"{scale}{chart.better} is better{legend}",
        fontsize=8.5,
        color=_FAINT,
        va="center",
    )
    if len(chart.series) > 1:
        patches = [Patch(color=TONES["peer"][at % 4], label=name) for at, name in enumerate(chart.series)]
        figure.legend(
            handles=patches,
            loc="lower right",
            bbox_to_anchor=(1 - _MARGIN / _WIDTH, 0.02 / height),
            ncols=len(patches),
            frameon=False,
            fontsize=8.5,
            handlelength=1.2,
            handleheight=0.8,
            columnspacing=1.4,
        )
