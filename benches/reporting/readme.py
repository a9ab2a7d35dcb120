"""The README's figures: the plot that tells the story, and the numbers in it."""

from benches.reporting.markdown import file_link, number, paragraph, picture, table
from benches.reporting.results import READS, ROOT, Figures, Results
from benches.reporting.sections import overview
from benches.targets import FLOOR, OURS

README = ROOT / "README.md"
BEGIN = "<!-- benchmarks -->"
END = "<!-- /benchmarks -->"

_FILES = {"recorded": "recorded", "generated": "comparison"}
# Suite, peer, what it is called, what it is compared with.
_ROWS = (
    ("payloads", OURS, "**payloads as bytes**: ssewire"),
    ("payloads", "httpx-sse", "httpx-sse"),
    ("payloads", "OpenAI decoder", "the OpenAI SDK's decoder"),
    ("events", OURS, "**events with text**: ssewire"),
    ("events", "httpx-sse", "httpx-sse"),
    ("typed", OURS, "**typed chunks**: ssewire"),
    ("typed", FLOOR, "msgspec alone, on payloads already split"),
    ("typed", "httpx-sse + msgspec", "httpx-sse and msgspec"),
    ("typed", "OpenAI SDK", "the OpenAI SDK"),
    ("text", OURS, "**text**: ssewire"),
    ("text", "httpx-sse + json", "httpx-sse and json"),
)
_READS = ("event", "4k")


def readme(text: str, results: Results) -> str:
    """Give the README with the figures as they are now."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{_figures(results)}\n\n{END}{after}"


def _figures(results: Results) -> str:
    chart = overview.chart(results)
    if chart is None:
        return "Nothing was measured."
    corpora = results.corpora()
    numbers = table(["", *(f"{corpus}, {READS[reads]}" for corpus in corpora for reads in _READS)], _lines(corpora))
    ending = paragraph(
        "[docs/benchmarks.md](docs/benchmarks.md) has all of it: every peer and size of read, the promises and which"
        " of them are kept, and how to measure again."
    )
    return "\n\n".join([picture(chart, ROOT, chart.told()), overview.whom(results), _told(corpora), numbers, ending])


def _told(corpora: dict[str, Figures]) -> str:
    corpus, figures = next(iter(corpora.items()))
    rounds = max(row["rounds"] for row in figures.rows("results"))
    made = [f"`{found.facts['command']}` ({file_link(_FILES[name], ROOT)})" for name, found in corpora.items()]
    typed = figures.medians("typed")
    shares = [number(typed[reads, OURS] / typed[reads, FLOOR]) for reads in _READS]
    times = [number(typed[reads, "OpenAI SDK"] / typed[reads, OURS]) for reads in _READS]
    return paragraph(
        f"A typed chunk takes {_both(shares)} times what msgspec alone does on {corpus} streams, and the OpenAI SDK,"
        f" which builds pydantic models, {_both(times)} times as long as that. Nanoseconds of CPU per event, medians"
        f" of {rounds} rounds, {figures.facts['python']}, {figures.facts['cpu']}; compare the rows of a column, not"
        f" the numbers with those of another machine. From {' and '.join(made)}."
    )


def _both(numbers: list[str]) -> str:
    return " (one read an event) and ".join(numbers) + " (4 KiB)"


def _lines(corpora: dict[str, Figures]) -> list[list[str]]:
    lines = []
    for suite, peer, name in _ROWS:
        times = [figures.medians(suite).get((reads, peer)) for figures in corpora.values() for reads in _READS]
        lines.append([name, *("" if time is None else f"{time:,.0f}" for time in times)])
    return lines
