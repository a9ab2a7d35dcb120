"""Many streams at once: on one event loop, and in threads."""

from benches.reporting.chart import Chart
from benches.reporting.grouping import grouped
from benches.reporting.markdown import Part, Section, generic, paragraph, picture
from benches.reporting.results import READS, Results


def _asyncio(results: Results) -> Part | None:
    figures = results.get("asyncio_streams")
    if figures is None:
        return None
    ours = [
        {**row, "way": row["way"] if row["way"].startswith("bare") else f"ssewire, {row['way']}"}
        for row in figures.first
    ]
    labelled = [{**row, "at once": f"{row['at once']:,} at once"} for row in ours]
    series, panels = grouped(
        labelled, panel="reads", line="way", series="at once", value="ns", titles=lambda reads: READS.get(reads, reads)
    )
    chart = Chart("asyncio", "Many streams on one event loop: CPU time per event", "time", series, panels)
    words = paragraph(
        "Streams over sources in memory that really wait at times, all on one loop, against a bare `async for` over"
        " the same reads. `beyond bare and sync` is what remains when the source, the loop and the work of a"
        " synchronous stream are taken off: so much it costs to be asynchronous. Nanoseconds an event, medians."
    )
    return Part(f"{picture(chart)}\n\n{words}\n\n{generic(figures.first)}", (chart,))


ASYNCIO = Section("Asynchronously", ("asyncio_streams",), _asyncio)
