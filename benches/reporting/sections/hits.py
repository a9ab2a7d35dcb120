"""How many events of each stream are recognised by what came before, and need no JSON decoder."""

from collections.abc import Sequence
from statistics import median

from benches.reporting.chart import Bars, Chart, Panel
from benches.reporting.markdown import Part, Section, folded, paragraph, picture, table
from benches.reporting.results import Results, Row

_LISTS = {"recorded": "All recorded streams, by the names of their files", "dialects": "Generated streams, by dialect"}


def _part(results: Results) -> Part | None:
    figures = results.get("hits")
    if figures is None:
        return None
    found = {name: sorted(figures.rows(name), key=lambda row: row["rate"], reverse=True) for name in _LISTS}
    # The generated ones are a table only: they resemble themselves as much as their generator lets them.
    rows = found["recorded"]
    bars = tuple(Bars(row["stream"].removesuffix(".sse"), "ours", (row["rate"],)) for row in rows)
    words = paragraph(
        "Streams resemble themselves: from one event to the next only a few leaves change. An event that is like an"
        f" earlier one but for those is not parsed again; every other goes to msgspec. {_told(rows)}"
    )
    lists = [folded(title, _listed(found[name])) for name, title in _LISTS.items() if found[name]]
    if not rows:
        return Part("\n\n".join([words, *lists]))
    chart = Chart(
        "hits",
        "Events of recorded streams that were recognised by earlier ones",
        "share",
        ("rate",),
        (Panel("", bars),),
        logarithmic=False,
        better="more",
    )
    return Part("\n\n".join([picture(chart), words, *lists]), (chart,))


def _told(rows: Sequence[Row]) -> str:
    if not rows:
        return "No recorded streams were counted."
    events, hits = sum(row["events"] for row in rows), sum(row["hits"] for row in rows)
    return (
        f"Of {len(rows)} recorded streams {hits:,} of {events:,} events were recognised so, {hits / events:.1%}; in the"
        f" median stream {median(row['rate'] for row in rows):.1%}."
    )


def _listed(rows: Sequence[Row]) -> str:
    return table(
        ["stream", "events", "recognised", "share"],
        ([row["stream"], row["events"], row["hits"], f"{row['rate']:.1%}"] for row in rows),
    )


HITS = Section("Streams that resemble themselves", ("hits",), _part)
