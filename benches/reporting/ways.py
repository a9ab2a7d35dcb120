"""What the ways to read the same stream cost, for `docs/reading.md`."""

from benches.reporting.markdown import file_link, number, paragraph, table
from benches.reporting.results import READS, Figures, Results

_WAYS = {
    "chunks": "`for chunk in stream`",
    "text": "`iter_text()`",
    "payloads": "`iter_payloads()`",
    "payload and chunk": "`iter_with_payload()`",
    "batches of 256": "`iter_batches()`",
    "bytes": "`iter_bytes()`, everything followed",
    "chunks, accumulate": "`for chunk in stream`, `accumulate=True`",
    "chunks, accumulate, completion() each hundred": "the same, with `completion()` behind each hundredth chunk",
    "collect()": "`collect()`",
    "async chunks": "`async for chunk in stream`",
    "async batches": "`async for batch in stream.iter_batches()`",
    "async bytes": "`async for read in stream.iter_bytes()`",
}
_CUTS = ("event", "4k")
_BATCHES = "batches of "

Times = dict[tuple[str, str], float]


def section(results: Results) -> str:
    """Give the table, what follows from it, and what becomes of longer lists."""
    found = results.get("ways")
    if found is None:
        return "Nothing was measured."
    times: Times = {(row["way"], row["reads"]): row["ns"] for row in found.main}
    rows = [[name, *(f"{times[way, cut]:,.0f}" for cut in _CUTS)] for way, name in _WAYS.items()]
    return "\n\n".join([_made(found), table(["", *(READS[cut] for cut in _CUTS)], rows), *_told(times)])


def _made(found: Figures) -> str:
    facts = found.facts
    return paragraph(
        f"Nanoseconds of CPU an event, medians of one interleaved run over a generated stream, {facts['python']} on a"
        f" shared machine ({facts['cpu']}): `{facts['command']}`, kept in {file_link(found.name)}. Compare the rows of"
        " a column."
    )


def _told(times: Times) -> list[str]:
    merged = _more(times, "chunks, accumulate", "chunks")
    awaited = _more(times, "async chunks", "chunks")
    lists = _more(times, "async batches", "batches of 256")
    lengths = [way.removeprefix(_BATCHES) for way, cut in times if way.startswith(_BATCHES) and cut == "whole"]
    held = [[f"{times[_BATCHES + most, 'whole']:,.0f}" for most in lengths]]
    return [
        paragraph(
            f"So merging adds {merged} to a chunk. Being asynchronous adds {awaited}, the coroutine of the source that"
            f" gives the reads included, and in lists {lists}."
        ),
        paragraph("How long lists may grow, `iter_batches(most)`, where the whole stream comes in one read:"),
        table(lengths, held, left=0),
    ]


def _more(times: Times, way: str, than: str) -> str:
    """Say by how much one way takes longer than another, for each cut."""
    return " or ".join(f"{number(times[way, cut] - times[than, cut])} ns ({READS[cut]})" for cut in _CUTS)
