"""The comparison with other parsers: one plot and one table a suite, over both corpora and all read sizes."""

from functools import partial

from benches.reporting.chart import TIMES, Bars, Chart, Panel, fastest_first
from benches.reporting.grouping import kind_of
from benches.reporting.markdown import Part, Section, number, paragraph, picture, table
from benches.reporting.results import READS, Figures, Results
from benches.targets import FLOOR, OURS, ratio

_FILES = ("recorded", "comparison")
_PLOTTED = ("4k", "event")

_SUITES = {
    "typed": (
        "Typed chunks",
        (FLOOR, "OpenAI SDK"),
        "What a loop over chunks costs. The floor is msgspec with the same chunk type on payloads that somebody else"
        " has already split: what is left when framing, the sentinel, errors and the end of the stream cost nothing.",
    ),
    "text": (
        "Text",
        (FLOOR, "OpenAI SDK"),
        "What a loop over the text costs, `iter_text()` here, with usage, finish reasons and errors followed all the"
        " same. The floor is that of the chunks, which asks none for its text.",
    ),
    "payloads": (
        "Payloads as bytes",
        ("httpx-sse", "OpenAI decoder"),
        "What framing alone costs: each event's data as bytes, not decoded. Parsers that know only text are timed as"
        " they hand it out: nothing is encoded for them.",
    ),
    "events": (
        "Events with text",
        ("httpx-sse", "OpenAI decoder"),
        "Plain Server-Sent Events, each asked for its text.",
    ),
}


def label_of(peer: str) -> str:
    """Give the peer's name as readers understand it."""
    return "floor: msgspec alone" if peer == FLOOR else peer


def sections() -> list[Section]:
    """One section a suite."""
    return [Section(title, _FILES, partial(_part, suite)) for suite, (title, *_) in _SUITES.items()]


def _part(suite: str, results: Results) -> Part | None:
    corpora = {corpus: figures for corpus, figures in results.corpora().items() if figures.medians(suite)}
    if not corpora:
        return None
    title, references, words = _SUITES[suite]
    chart = _chart(suite, f"{title}: CPU time per event", corpora)
    tables = [
        f"{_of(corpus, figures, suite)}\n\n{_table(suite, figures, references)}" for corpus, figures in corpora.items()
    ]
    return Part("\n\n".join([picture(chart), paragraph(words), *tables]), (chart,))


def _of(corpus: str, figures: Figures, suite: str) -> str:
    rows = figures.rows("results", suite=suite)
    events, rounds = max(row["events"] for row in rows), max(row["rounds"] for row in rows)
    return f"**{corpus.capitalize()}**: {events:,} events, nanoseconds an event, medians of {rounds} rounds."


def _chart(suite: str, title: str, corpora: dict[str, Figures]) -> Chart:
    medians = [figures.medians(suite) for figures in corpora.values()]
    order = fastest_first(
        Bars(peer, kind_of(peer), (medians[0].get(("4k", peer)),))
        for peer in dict.fromkeys(peer for _, peer in medians[0])
    )
    panels = [
        Panel(
            f"{corpus} streams",
            tuple(
                Bars(label_of(one.label), one.kind, tuple(found.get((reads, one.label)) for reads in _PLOTTED))
                for one in order
            ),
        )
        for corpus, found in zip(corpora, medians, strict=True)
    ]
    return Chart(suite, title, "time", tuple(READS[reads] for reads in _PLOTTED), tuple(panels))


def _table(suite: str, figures: Figures, references: tuple[str, ...]) -> str:
    medians = figures.medians(suite)
    reads_there = [reads for reads in READS if any(reads == of for of, _ in medians)]
    peers = fastest_first(
        Bars(peer, kind_of(peer), (medians.get(("4k", peer)),)) for peer in dict.fromkeys(peer for _, peer in medians)
    )
    head = ["", *(READS[reads] for reads in reads_there), *(_against(name) for name in references)]
    rows = []
    for one in peers:
        times = [medians.get((reads, one.label)) for reads in reads_there]
        ratios = [_ratios(medians, name, one.label) for name in references]
        name = f"**{OURS}**" if one.label == OURS else label_of(one.label)
        rows.append([name, *(time and f"{time:,.0f}" for time in times), *ratios])
    return table(head, rows)


def _against(reference: str) -> str:
    words = "÷ floor" if reference == FLOOR else f"{TIMES} {reference}"
    return f"{words} (4 KiB / event)"


def _ratios(medians: dict[tuple[str, str], float], reference: str, peer: str) -> str:
    pairs = [(medians.get((reads, peer)), medians.get((reads, reference))) for reads in _PLOTTED]
    return " / ".join(number(ratio(reference, ours, theirs)) for ours, theirs in pairs if ours and theirs)
