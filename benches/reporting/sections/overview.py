"""What comes first: one plot that tells the story, and for whom it matters."""

from benches.reporting.chart import TIMES, Bars, Chart, Kind, Panel, fastest_first, time
from benches.reporting.markdown import Part, Section, number, paragraph, picture
from benches.reporting.results import READS, Results
from benches.targets import FLOOR, OURS

# Suite, peer, what it is called here.
_STORY: tuple[tuple[str, str, str, Kind], ...] = (
    ("text", OURS, "ssewire, text", "ours"),
    ("typed", OURS, "ssewire, typed chunks", "ours"),
    ("typed", FLOOR, "msgspec alone, on payloads already split", "floor"),
    ("typed", "httpx-sse + msgspec", "httpx-sse + msgspec, typed chunks", "peer"),
    ("text", "httpx-sse + json", "httpx-sse + json, text", "peer"),
    ("typed", "OpenAI SDK", "OpenAI SDK, typed chunks", "peer"),
)
_SERIES = ("4k", "event")

# How many chunks a second one answer of a model brings, from a slow one to a fast one.
_CHUNKS_A_SECOND = (50, 200)
_MANY_STREAMS = 1000


def chart(results: Results) -> Chart | None:
    """The plot, of recorded streams where there are any."""
    for corpus, figures in results.corpora().items():
        typed = figures.medians("typed")
        bars: list[Bars] = []
        for suite, peer, name, kind in _STORY:
            medians = figures.medians(suite)
            times = tuple(medians.get((reads, peer)) for reads in _SERIES)
            notes = tuple(
                f"{number(taken / typed[reads, OURS])} {TIMES}"
                for reads, taken in zip(_SERIES, times, strict=True)
                if taken
            )
            bars.append(Bars(name, kind, times, () if (suite, peer) == ("typed", OURS) else notes))
        title = f"CPU time for one chunk of a chat stream ({corpus} streams)"
        series = tuple(READS[reads] for reads in _SERIES)
        panels = (Panel("", fastest_first(bars)),)
        return Chart("overview", title, "time", series, panels, legend=f"{TIMES}: of ssewire's typed chunks")
    return None


def whom(results: Results) -> str:
    """Say for whom it matters, by the figures themselves."""
    medians = next(iter(results.corpora().values())).medians("typed")
    ours, theirs = medians["event", OURS], medians["event", "OpenAI SDK"]
    slow, fast = _CHUNKS_A_SECOND
    beside_one = f"{_share(slow * ours)} to {_share(fast * ours)} of one core with ssewire"
    beside_theirs = f"{_share(slow * theirs)} to {_share(fast * theirs)} with the OpenAI SDK"
    many = slow * _MANY_STREAMS
    return paragraph(
        "**For whom this matters:** gateways that relay thousands of streams, load generators, training rollouts and"
        f" evaluations. {_MANY_STREAMS:,} streams of {slow} chunks a second keep {_cores(many * theirs)} busy with the"
        f" OpenAI SDK and {_cores(many * ours)} with ssewire, before the HTTP client's own work. **Beside one stream"
        f" from the network it does not matter:** a model sends {slow} to {fast} chunks a second, which takes"
        f" {beside_one} and {beside_theirs}; nobody sees the difference. ({time(ours)} and {time(theirs)} a chunk, one"
        " read an event.)"
    )


def _share(nanoseconds_a_second: float) -> str:
    return f"{_two_digits(nanoseconds_a_second / 1e7)} %"


def _two_digits(value: float) -> str:
    return f"{float(f'{value:.2g}'):g}"


def _cores(nanoseconds_a_second: float) -> str:
    cores = nanoseconds_a_second / 1e9
    return f"{_two_digits(cores)} cores" if cores > 1 else f"{_share(nanoseconds_a_second)} of one core"


def _part(results: Results) -> Part | None:
    shown = chart(results)
    if shown is None:
        return None
    return Part(f"{picture(shown, told=shown.told())}\n\n{whom(results)}", (shown,))


OVERVIEW = Section("", ("recorded", "comparison"), _part)
