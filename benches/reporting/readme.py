"""The README's figures: the plot that tells the story, and the numbers in it."""

from collections.abc import Iterator

from benches.reporting.chart import time
from benches.reporting.grouping import is_ours
from benches.reporting.markdown import file_link, number, paragraph, picture, table
from benches.reporting.results import READS, ROOT, Figures, Results
from benches.reporting.sections import overview
from benches.targets import FLOOR, OURS

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


def section(results: Results) -> str:
    """Give the plot, and what the README says of the figures."""
    chart = overview.chart(results)
    if chart is None:
        return "Nothing was measured."
    corpora = results.corpora()
    numbers = table(["", *(f"{corpus}, {READS[reads]}" for corpus in corpora for reads in _READS)], _lines(corpora))
    ending = paragraph(
        "[docs/benchmarks.md](docs/benchmarks.md) has all of it: every peer and size of read, the promises and which"
        " of them are kept, and how to measure again."
    )
    told = [overview.whom(results), _told(corpora), numbers, *_more(results), ending]
    return "\n\n".join([picture(chart, ROOT, chart.told()), *told])


def _told(corpora: dict[str, Figures]) -> str:
    corpus, first = next(iter(corpora.items()))
    rounds = max(row["rounds"] for row in first.rows("results"))
    made = [f"`{found.facts['command']}` ({file_link(_FILES[name], ROOT)})" for name, found in corpora.items()]
    machines = dict.fromkeys(f"{found.facts['python']}, {found.facts['cpu']}" for found in corpora.values())
    typed = first.medians("typed")
    shares = [number(typed[reads, OURS] / typed[reads, FLOOR]) for reads in _READS]
    times = [number(typed[reads, "OpenAI SDK"] / typed[reads, OURS]) for reads in _READS]
    return paragraph(
        f"A typed chunk takes {_both(shares)} times what msgspec alone does on {corpus} streams, and the OpenAI SDK,"
        f" which builds pydantic models, {_both(times)} times as long as that. Nanoseconds of CPU per event, medians"
        f" of {rounds} rounds, {' and '.join(machines)}; compare the rows of a column, not"
        f" the numbers with those of another machine. From {' and '.join(made)}."
    )


def _more(results: Results) -> list[str]:
    """What the other benchmarks have to say in a sentence."""
    sentences = [sentence for of in (_core, _memory, _imports) for sentence in of(results)]
    return [paragraph(" ".join(sentences))] if sentences else []


def _core(results: Results) -> Iterator[str]:
    figures = results.get("core")
    rows = [row for row in figures.main if (row["scenario"], row["reads"]) == ("chat", "4k")] if figures else []
    medians = {row["peer"]: row["median"] for row in rows}
    crates = {row["peer"]: row["median"] for row in rows if row["language"] == "rust" and not is_ours(row["peer"])}
    if figures and crates and OURS in medians:
        fastest = min(crates, key=lambda peer: crates[peer])
        yield (
            f"The Rust core alone takes {time(medians[OURS])} an event, and the fastest other crate, {fastest},"
            f" {number(crates[fastest] / medians[OURS])} times that (`{figures.facts['command']}`,"
            f" {file_link(figures.name, ROOT)})."
        )


def _memory(results: Results) -> Iterator[str]:
    figures = results.get("memory")
    streams = figures.rows("streams") if figures else []
    if figures and streams:
        most = max(row["1024 MiB: grown MiB"] for row in streams)
        refused = max(row["grown MiB"] for row in figures.rows("limit", **{"event MiB": 64}))
        yield (
            f"A stream of 1 GiB grows the process by {number(most)} MiB at the most, and an event of 64 MiB, which is"
            f" refused at the limit of 32 MiB, by {number(refused)} MiB (`{figures.facts['command']}`,"
            f" {file_link(figures.name, ROOT)})."
        )


def _imports(results: Results) -> Iterator[str]:
    figures = results.get("imports")
    for row in figures.rows("results", **{"import": OURS}) if figures else []:
        assert figures
        yield (
            f"`import ssewire` takes {row['beyond msgspec']} ms beyond `import msgspec` (`{figures.facts['command']}`,"
            f" {file_link(figures.name, ROOT)})."
        )


def _both(numbers: list[str]) -> str:
    return " (one read an event) and ".join(numbers) + " (4 KiB)"


def _lines(corpora: dict[str, Figures]) -> list[list[str]]:
    lines = []
    for suite, peer, name in _ROWS:
        times = [figures.medians(suite).get((reads, peer)) for figures in corpora.values() for reads in _READS]
        lines.append([name, *("" if taken is None else f"{taken:,.0f}" for taken in times)])
    return lines
