"""What was promised, what was measured, and whether the one keeps the other."""

from collections.abc import Callable, Iterable, Iterator

from benches import targets
from benches.reporting.markdown import Part, Section, number, paragraph, table
from benches.reporting.promised import FIND
from benches.reporting.results import READS, Results
from benches.targets import FLOOR, Verdict

_WHAT = {"payloads": "payloads as bytes", "events": "events with text", "typed": "typed chunks", "text": "text"}


def _part(results: Results) -> Part | None:
    if not results.files:
        return None
    words = (
        "What the project set out to show, judged by the figures on this page. The first table holds for recorded"
        " streams; the generated one stands beside it."
    )
    missing = [f"`{name}.json`" for name in ("recorded", "comparison") if name not in results]
    if missing:
        words += f" Not measured: {', '.join(missing)}."
    others = table(["", "promised", "measured, the worst case", "kept"], _of_others(results), left=4)
    return Part("\n\n".join([paragraph(words), *_of_suites(results), others]))


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


def _of_others(results: Results) -> list[list[str]]:
    """A line a promise; what was not measured is told."""
    lines = []
    for name, promise in targets.PROMISES.items():
        figures = results.get(promise.file)
        case = FIND[name](figures) if figures else None
        bound = f"{promise.how} {_amount(promise.bound, promise.unit, '{:g}'.format)}"
        if case:
            of = f" ({case.of})" if case.of else ""
            told = [f"{_amount(case.measured, promise.unit)}{of}", _word(met=promise.kept(case.measured))]
        else:
            path = f"`{promise.file}.json`"
            told = [f"{path} does not say" if figures else f"{path} is not there", "not measured"]
        lines.append([promise.what, bound, *told])
    return lines


def _amount(value: float, unit: str, form: Callable[[float], str] = number) -> str:
    """Give a number and its unit; whole ones with all their digits."""
    return f"{f'{value:,.0f}' if value == int(value) else form(value)} {unit}".rstrip()


PROMISES = Section(
    "Promised and kept",
    ("recorded", "comparison", *dict.fromkeys(one.file for one in targets.PROMISES.values())),
    _part,
)
