"""Many streams at once: on one event loop, and in threads."""

from benches.reporting.chart import Chart
from benches.reporting.grouping import grouped
from benches.reporting.markdown import Part, Section, folded, generic, paragraph, picture
from benches.reporting.results import READS, Results

_SMALL = "4 KiB"
_READ = {"64 KiB": "reads of 64 KiB", "whole": "in one read"}


def _asyncio(results: Results) -> Part | None:
    figures = results.get("asyncio_streams")
    if figures is None:
        return None
    ours = [
        {**row, "way": row["way"] if row["way"].startswith("bare") else f"ssewire, {row['way']}"}
        for row in figures.main
    ]
    labelled = [{**row, "at once": f"{row['at once']:,} at once"} for row in ours]
    series, panels = grouped(
        labelled, panel="reads", line="way", series="at once", value="ns", titles=lambda reads: READS.get(reads, reads)
    )
    chart = Chart(
        "asyncio", "Many streams on one event loop: CPU time per event", "time", series, panels, logarithmic=False
    )
    words = paragraph(
        "Streams over sources in memory that really wait at times, all on one loop, against a bare `async for` over"
        " the same reads. `beyond bare and sync` is what remains when the source, the loop and the work of a"
        " synchronous stream are taken off: so much it costs to be asynchronous. Nanoseconds an event, medians."
    )
    return Part(f"{picture(chart)}\n\n{words}\n\n{folded('All figures', generic(figures.main))}", (chart,))


def _threads(results: Results) -> Part | None:
    figures = results.get("threads")
    if figures is None:
        return None
    rows = [
        {
            "form": row["form"],
            "what": f"{row['event']}, {_READ.get(row['read'], row['read'])}",
            "way": way,
            "times": row[way],
        }
        for row in figures.rows("results")
        for way in row
        if way.startswith("2 ") and row["read"] != _SMALL
    ]
    series, panels = grouped(
        rows, panel="form", line="what", series="way", value="times", kind=lambda _: "ours", ordered=False
    )
    series = tuple(name.replace("2 ", "interpreter ") for name in series)
    title = "Two threads: throughput as times that of one"
    chart = Chart("threads", title, "times", series, panels, logarithmic=False, better="more", mark=1)
    words = paragraph(
        """One, two and four threads, each with streams of its own. "Released" is with the interpreter let go while
        framing, "kept" without; all are times what one thread that keeps it gets through. Python's objects are made by
        one thread at a time, however many there are; so the larger an event, the more there is to win. `hashing` says
        what this machine gives to a second thread that needs no interpreter, by the length of its pieces."""
    )
    tables = [f"**{title}**\n\n{generic(rows)}" for title, rows in figures.tables.items() if title != "results"]
    listed = folded("All sizes", generic(figures.rows("results")))
    return Part("\n\n".join([picture(chart), words, *tables, listed]), (chart,))


ASYNCIO = Section("Asynchronously", ("asyncio_streams",), _asyncio)
THREADS = Section("Threads", ("threads",), _threads)
