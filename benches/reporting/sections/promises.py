"""What was promised, what was measured, and whether the one keeps the other."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from benches import targets
from benches.reporting.grouping import is_ours
from benches.reporting.markdown import Part, Section, number, paragraph, table
from benches.reporting.results import READS, Results, Row
from benches.targets import FLOOR, OURS, Verdict

_WHAT = {"payloads": "payloads as bytes", "events": "events with text", "typed": "typed chunks", "text": "text"}


class Promise(NamedTuple):
    """One line of the second table."""

    what: str
    bound: str
    measured: str
    met: bool


def _part(results: Results) -> Part | None:
    texts = [*_of_suites(results)]
    others = [promise for of in _OTHERS for promise in of(results)]
    if others:
        rows = [(*promise[:3], _word(met=promise.met)) for promise in others]
        texts.append(table(["", "promised", "measured, the worst case", "kept"], rows))
    if not texts:
        return None
    words = paragraph(
        "What the project set out to show, judged by the figures on this page. The first table holds for recorded"
        " streams; the generated one stands beside it."
    )
    return Part("\n\n".join([words, *texts]))


def _of_suites(results: Results) -> Iterator[str]:
    corpora = results.corpora()
    verdicts = {
        (corpus, verdict.suite, verdict.reads, verdict.against): verdict
        for corpus, figures in corpora.items()
        for suite in targets.TARGETS
        for verdict in targets.judge(suite, figures.medians(suite))
    }
    if not verdicts:
        return
    rows = []
    for case in dict.fromkeys(key[1:] for key in verdicts):
        suite, reads, against = case
        found = [verdicts.get((corpus, *case)) for corpus in corpora]
        target = next(verdict.target for verdict in found if verdict)
        rows.append([f"{_WHAT[suite]}, {_against(against)}", READS[reads], target, *_cells(found)])
    corpus_heads = [head for corpus in corpora for head in (corpus, "kept")]
    yield table(["", "cut", "promised", *corpus_heads], rows, left=2)


def _against(reference: str) -> str:
    return "÷ floor" if reference == FLOOR else f"times as fast as {reference}"


def _cells(found: Iterable[Verdict | None]) -> Iterator[str]:
    for verdict in found:
        yield from (number(verdict.measured), _word(met=verdict.met)) if verdict else ("", "")


def _word(*, met: bool) -> str:
    return "yes" if met else "**no**"


def _core(results: Results) -> Iterator[Promise]:
    figures = results.get("core")
    if figures is None:
        return
    for scenario in dict.fromkeys(row["scenario"] for row in figures.main):
        rows = [row for row in figures.main if row["scenario"] == scenario]
        bound = 2.5 if scenario == "chat" else 1
        crates = [row["peer"] for row in rows if row["language"] == "rust" and not is_ours(row["peer"])]
        yield from _ahead(f"core, {scenario}: times as fast as the fastest crate", rows, OURS, crates, bound)
        for other in dict.fromkeys(row["peer"] for row in rows if row["language"] != "rust"):
            yield from _ahead(f"core with text, {scenario}: times as fast as {other}", rows, f"{OURS}-text", [other], 1)


def _ahead(what: str, rows: list[Row], ours: str, theirs: list[str], bound: float) -> Iterator[Promise]:
    """Compare with the fastest of the others at each size of read; the worst of them counts."""
    ratios = []
    for reads in dict.fromkeys(row["reads"] for row in rows):
        medians = {row["peer"]: row["median"] for row in rows if row["reads"] == reads}
        there = [medians[peer] for peer in theirs if peer in medians]
        if there and ours in medians:
            ratios.append(min(there) / medians[ours])
    if ratios:
        yield Promise(what, f"at least {bound:g}", number(min(ratios)), min(ratios) >= bound)


def _asyncio(results: Results) -> Iterator[Promise]:
    figures = results.get("asyncio_streams")
    if figures is None:
        return
    most = max(row["beyond bare and sync"] for row in figures.main)
    yield Promise("asynchronous, beyond a bare loop and the work itself", "at most 150 ns", f"{most} ns", most <= 150)


def _threads(results: Results) -> Iterator[Promise]:
    figures = results.get("threads")
    if figures is None:
        return
    rows = [
        row
        for row in figures.rows("results", read="64 KiB")
        if row["event"] in _LARGE and row["form"] in ("events", "payloads", "chunks")
    ]
    if rows:
        least = min(max(row["2 kept"], row["2 released"]) for row in rows)
        yield Promise("two threads, large events at reads of 64 KiB", "at least 1.7", number(least), least >= 1.7)


def _memory(results: Results) -> Iterator[Promise]:
    figures = results.get("memory")
    if figures is None:
        return
    rows = [row for table_ in figures.tables.values() for row in table_]
    for what, column, bound in _GROWTH:
        grown = [row[column] for row in rows if column in row]
        if grown:
            yield Promise(what, f"below {bound} MiB", f"{number(max(grown))} MiB", max(grown) < bound)


def _hostile(results: Results) -> Iterator[Promise]:
    figures = results.get("hostile")
    if figures and figures.main:
        most = max(row["times"] for row in figures.main)
        what = "streams that nothing can be learned from, times `accelerate=False`"
        yield Promise(what, "at most 1.1", number(most), most <= 1.1)


def _imports(results: Results) -> Iterator[Promise]:
    figures = results.get("imports")
    for row in figures.rows("results", **{"import": OURS}) if figures else []:
        beyond = row["beyond msgspec"]
        yield Promise("`import ssewire` beyond `import msgspec`", "at most 25 ms", f"{beyond} ms", beyond <= 25)


_GROWTH = (
    ("growth of the process over a stream of 1 GiB", "1024 MiB: grown MiB", 8),
    ("growth beyond the input over 256 MiB in one read", "256 MiB: grown MiB", 32),
)
_LARGE = ("16 KiB", "1 MiB")
_OTHERS = (_core, _asyncio, _threads, _hostile, _memory, _imports)

PROMISES = Section("Promised and kept", ("recorded", "comparison"), _part)
