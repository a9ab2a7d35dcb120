"""How many events of each recorded stream are recognised by what came before, and need no JSON decoder."""

from statistics import median

from benches.reporting.chart import Bars, Chart, Panel
from benches.reporting.markdown import Part, Section, folded, paragraph, picture, table
from benches.reporting.results import Results


def _part(results: Results) -> Part | None:
    figures = results.get("hits")
    if figures is None:
        return None
    rows = sorted(figures.main, key=lambda row: row["rate"], reverse=True)
    events, hits = sum(row["events"] for row in rows), sum(row["hits"] for row in rows)
    bars = tuple(Bars(row["stream"].removesuffix(".sse"), "ours", (row["rate"],)) for row in rows)
    chart = Chart(
        "hits",
        "Events decoded by comparing them with earlier ones",
        "share",
        ("rate",),
        (Panel("", bars),),
        logarithmic=False,
        better="more",
    )
    words = paragraph(
        "Streams resemble themselves: from one event to the next only a few leaves change. An event that is like an"
        f" earlier one but for those is not parsed again; every other goes to msgspec. Of {len(rows)} recorded streams"
        f" (the names of files, see below) {hits:,} of {events:,} events were recognised so, {hits / events:.1%}; in"
        f" the median stream {median(row['rate'] for row in rows):.1%}."
    )
    listed = table(
        ["stream", "events", "recognised", "share"],
        ([row["stream"], row["events"], row["hits"], f"{row['rate']:.1%}"] for row in rows),
    )
    return Part(f"{picture(chart)}\n\n{words}\n\n{folded('All streams', listed)}", (chart,))


HITS = Section("Streams that resemble themselves", ("hits",), _part)
