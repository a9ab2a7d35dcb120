"""With a client and a socket in front: what an event costs the process that reads, and how late it is."""

from benches.reporting.chart import Chart
from benches.reporting.grouping import grouped
from benches.reporting.markdown import Part, Section, folded, generic, paragraph, picture, table
from benches.reporting.results import Figures, Results, Row

_PACES = {"fast": "as fast as it goes", "paced": "one write an event"}
_BARE = "bytes alone"
# Those with something to compare with; the table has all.
_PLOTTED = ("httpx", "httpx, async", "OpenAI SDK", "OpenAI SDK, async")


def _plotted(figures: Figures) -> list[Row]:
    rows = [row for row in figures.main if row["client"] in _PLOTTED]
    return sorted(rows, key=lambda row: _PLOTTED.index(row["client"]))


def _loopback(results: Results) -> Part | None:
    figures = results.get("loopback")
    if figures is None:
        return None
    rows = [{**row, "pace": _PACES.get(row["pace"], row["pace"]), "us": row["us"] * 1e3} for row in _plotted(figures)]
    series, panels = grouped(rows, panel="client", line="reading", series="pace", value="us")
    title = "CPU time of the reading process per event, over loopback"
    chart = Chart("loopback", title, "time", series, panels)
    words = paragraph(
        """A server in another process sends the same stream, as fast as it goes or one event at a time, so that each is
        a read of its own. What counts is all processor time of the process that reads, the client's and the system's
        work for it included. Bytes alone are what the same client takes without a parser; what is beyond them, the
        parser adds, in microseconds an event. One write an event takes the client and the system 40 to 200 of them,
        which spread by more than a parser adds: there a figure near zero or below says that it is lost in them."""
    )
    listed = folded("All clients", generic(figures.main))
    return Part(f"{picture(chart)}\n\n{words}\n\n{_added(figures)}\n\n{listed}", (chart,))


def _added(figures: Figures) -> str:
    """What the parsers add to the bytes, by client and pace."""
    added = {(row["client"], row["reading"], row["pace"]): row["beyond bytes"] for row in figures.main}
    lines = [
        [client, reading, *(added.get((client, reading, pace)) for pace in _PACES)]
        for client, reading in dict.fromkeys(key[:2] for key in added)
        if reading != _BARE
    ]
    return table(["client", "parser", *_PACES.values()], lines, left=2)


def _latency(results: Results) -> Part | None:
    figures = results.get("latency")
    if figures is None:
        return None
    long = [{**row, "which": name, "time": row[name] * 1e3} for row in _plotted(figures) for name in ("p50", "p99")]
    series, panels = grouped(long, panel="client", line="reading", series="which", value="time")
    chart = Chart("latency", "From the server's write to the user's loop", "time", series, panels)
    words = paragraph(
        """A server in another process writes one event at a time, with the time of the write in it. In between lie two
        system calls, the waking of a process that waits, the client, and the parser where there is one."""
    )
    listed = folded("All clients, in microseconds", generic(figures.main))
    return Part(f"{picture(chart)}\n\n{words}\n\n{listed}", (chart,))


LOOPBACK = Section("End to end", ("loopback",), _loopback)
LATENCY = Section("Latency", ("latency",), _latency)
