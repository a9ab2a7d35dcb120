"""What a table says well enough, or a plot of one column: hostile and mutated streams, linearity, memory, imports."""

from collections.abc import Callable
from functools import partial

from benches.reporting.chart import Bars, Chart, Panel, fastest_first
from benches.reporting.grouping import grouped, kind_of
from benches.reporting.markdown import Part, Section, folded, generic, paragraph, picture
from benches.reporting.results import READS, Figures, Results

# What the tables of a file are, by the names they are kept under.
_TITLES = {
    "limit": "One event and the limit of 32 MiB (all buffers together stay below three times that)",
    "streams": "Streams of ordinary chunks",
    "read": "A whole stream in one read, beyond the read itself",
    "chunks": "Streams of many chunks",
    "idle": "Ten thousand streams that wait",
    "doubling": "Milliseconds for one event: twice the event, twice the time",
    "modules": "Microseconds that each module takes by itself",
    "compared": "All events",
    "dialects": "By dialect",
    "results": "Medians",
}
# Longer tables are folded away.
_LONG = 12


def _imports(figures: Figures) -> Chart | None:
    rows = figures.rows("results")
    if not rows:
        return None
    bars = fastest_first(Bars(row["import"], kind_of(row["import"]), (row["ms"] * 1e6,)) for row in rows)
    return Chart("imports", "Time for an import", "time", ("median",), (Panel("", bars),), logarithmic=False)


def _hostile(figures: Figures) -> Chart:
    rows = [{**row, "reads": READS.get(row["reads"], row["reads"])} for row in figures.main]
    series, panels = grouped(
        rows, panel="way", line="stream", series="reads", value="times", kind=lambda _: "ours", ordered=False
    )
    title = "Streams that nothing can be learned from: times accelerate=False"
    return Chart("hostile", title, "times", series, panels, logarithmic=False, mark=1)


_MORE: tuple[tuple[str, str, str, Callable[[Figures], Chart | None] | None], ...] = (
    (
        "Streams that do not resemble themselves",
        "hostile",
        """What comparing an event with earlier ones costs where it is in vain: streams made so that it is, against the
        same with `accelerate=False`, where msgspec decodes each event.""",
        _hostile,
    ),
    (
        "Recognised is as decoded",
        "mutated",
        """Streams with mutations in them, read with recognition and with `accelerate=False`: chunks, errors, state,
        usage and the rest are compared.""",
        None,
    ),
    (
        "Twice the event, twice the time",
        "linearity",
        """Nanoseconds a KiB in events of so many KiB, and the steepest and the flattest doubling. Where copying alone
        takes more than twice as long, too, it is the machine's memory; and a read from 1 MiB on is framed a slice at a
        time, so that an event in it is collected before it is handed out.""",
        None,
    ),
    (
        "Memory",
        "memory",
        "What the process grows by, each case in a process of its own.",
        None,
    ),
    (
        "Importing",
        "imports",
        """`import ssewire` and, for scale, what its users import anyway, each in a fresh interpreter; msgspec
        is its only dependency.""",
        _imports,
    ),
)


def _part(name: str, words: str, chart_of: Callable[[Figures], Chart | None] | None, results: Results) -> Part | None:
    figures = results.get(name)
    if figures is None:
        return None
    chart = chart_of(figures) if chart_of else None
    texts = [picture(chart)] if chart else []
    texts.append(paragraph(words))
    for table, rows in figures.tables.items():
        title, shown = _TITLES.get(table, table), generic(rows)
        if len(rows) > _LONG:
            texts.append(folded(title, shown))
        else:
            texts.append(f"**{title}**\n\n{shown}" if len(figures.tables) > 1 else shown)
    return Part("\n\n".join(texts), (chart,) if chart else ())


MORE = tuple(Section(title, (name,), partial(_part, name, words, chart)) for title, name, words, chart in _MORE)
