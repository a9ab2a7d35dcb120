"""How long busy streams keep other tasks waiting, and what turns cost, for `docs/waiting.md`."""

from benches.reporting.markdown import file_link, number, paragraph, table
from benches.reporting.results import Figures, Results, Row

_LOOPS = ("asyncio", "trio")
# How many streams, how they are read, and their reads.
_BESIDE = {
    "nothing": (0, "", ""),
    "1 stream, in one read": (1, "chunks", "whole"),
    "50 streams, the same": (50, "chunks", "whole"),
    "50 streams, reads of 4 KiB": (50, "chunks", "4k"),
    "50 streams, the same, in batches": (50, "batches", "4k"),
}


def section(results: Results) -> str:
    """Give the table of gaps, and what the turns cost."""
    found = results.get("fairness")
    if found is None:
        return "Nothing was measured."
    head = ["beside", *(f"{loop}: {column}" for loop in _LOOPS for column in ("median", "largest", "without turns"))]
    rows = [[name, *(cell for loop in _LOOPS for cell in _cells(found, loop, *case))] for name, case in _BESIDE.items()]
    return "\n\n".join([_made(found), table(head, rows), _cost(found)])


def _made(found: Figures) -> str:
    facts = found.facts
    return paragraph(
        f"`{facts['command']}`, {file_link(found.name)}, {facts['python']} on a shared machine of {facts['cpus']} CPUs;"
        " in milliseconds, without turns the largest gap:"
    )


def _cells(found: Figures, loop: str, streams: int, way: str, reads: str) -> list[str]:
    rows = found.rows("gaps", loop=loop, streams=streams, way=way, reads=reads)
    by_turns: dict[str, Row] = {row["turns"]: row for row in rows}
    # With nothing beside the ticks there is nothing that could take turns.
    with_turns, without = by_turns.get("yes", by_turns.get("")), by_turns.get("no")
    if with_turns is None:
        return ["", "", ""]
    return [number(with_turns["median"]), number(with_turns["largest"]), number(without["largest"]) if without else ""]


def _cost(found: Figures) -> str:
    ratios = [row["ratio"] for row in found.rows("cost")]
    return paragraph(
        f"With turns such a stream alone takes {number(min(ratios))} to {number(max(ratios))} times the processor time"
        " that it takes without; where a stream waits for the network nothing of that shows."
    )
