"""`python -m benches.core`: the Rust core beside the parsers of other languages, on the same bytes in the same reads.

Chat, and the four scenarios that the crate `sse-core` publishes. Each parser answers for what it found before it is
timed: it must be what a page of the standard finds (`corpus.split_events`). `ssewire` hands out borrowed bytes,
`ssewire-text` makes the text that all others make. Nanoseconds are of the processor's time for a block (an event, or in
its scenario a keep-alive); what a runtime does in other threads meanwhile is not held against it.
"""

import argparse
import hashlib
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median

from rich.console import Console
from rich.table import Table

from benches.corpus import split_events
from benches.measure import command, environment
from benches.report import print_targets, save, terminal
from benches.workers import Worker, WorkerError, javascript, rust

OURS, OURS_WITH_TEXT = "ssewire", "ssewire-text"

# A round takes at least so many milliseconds; so does what fills caches and compiles before the first.
_ROUND = 30
_WARM_UP = 300
# Whoever takes longer than a second for one pass shows it in a few rounds.
_SLOW = 1e9
_ROUNDS_OF_THE_SLOW = 3


@dataclass(frozen=True)
class Row:
    """What one parser took in one scenario at one read size, in nanoseconds a block."""

    scenario: str
    reads: str
    peer: str
    language: str
    events: int
    bytes: int
    rounds: int
    median: float
    min: float
    max: float


def main() -> None:
    """Measure, print, and save when asked to."""
    parser = argparse.ArgumentParser(prog="python -m benches.core", description=__doc__)
    parser.add_argument("--scenario", action="append", help="only this scenario (may be repeated)")
    parser.add_argument("--rounds", type=int, default=11, help="timed rounds of each parser (default: %(default)s)")
    parser.add_argument("--save", metavar="NAME", help="write benches/results/NAME.json")
    arguments = parser.parse_args()

    console = terminal()
    facts = environment()
    console.print(f"{command()}\n{facts['cpu']} ({facts['cpus']} CPUs), {facts['date']}")
    rows: list[Row] = []
    left_out: list[str] = []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        workers = [stack.enter_context(rust(folder))]
        try:
            workers.append(stack.enter_context(javascript(folder)))
        except WorkerError as error:
            left_out.append(f"eventsource-parser: {error}")
        versions = [version for worker in workers for version in worker.versions]
        console.print(", ".join(versions))
        cells = [cell.split("/") for cell in workers[0].ask("scenarios").split()]
        scenarios = {scenario for scenario, _, _ in cells}
        if unknown := set(arguments.scenario or ()) - scenarios:
            parser.error(f"no scenario {', '.join(sorted(unknown))}: there are {', '.join(sorted(scenarios))}")
        for scenario, reads, blocks in cells:
            if scenario in (arguments.scenario or scenarios):
                with console.status(f"{scenario}, reads: {reads}"):
                    rows += _Cell(scenario, reads, int(blocks), folder / scenario).measure(
                        workers, arguments.rounds, left_out
                    )
    for scenario, reads in dict.fromkeys((row.scenario, row.reads) for row in rows):
        _print(console, f"{scenario}, reads: {reads}", [r for r in rows if (r.scenario, r.reads) == (scenario, reads)])
    verdicts = list(judge(rows))
    if verdicts:
        print_targets(console, verdicts)
    for reason in left_out:
        console.print(f"left out: {reason}")
    if arguments.save:
        results = [{k: round(v, 2) if isinstance(v, float) else v for k, v in asdict(row).items()} for row in rows]
        save(
            arguments.save,
            clock="processor time",
            versions=versions,
            left_out=left_out,
            targets=verdicts,
            results=results,
        )


@dataclass(frozen=True)
class _Cell:
    """One scenario at one read size."""

    scenario: str
    reads: str
    blocks: int
    path: Path

    def measure(self, workers: list[Worker], rounds: int, left_out: list[str]) -> list[Row]:
        """Check what each finds, then time all in turn."""
        expected = digest(self.path.read_bytes())
        contenders: list[tuple[Worker, str]] = []
        for worker, peer in [(one, peer) for one in workers for peer in one.peers]:
            try:
                found = worker.ask("check", self.scenario, self.reads, peer)
            except WorkerError as error:
                found = str(error)
            if found == expected:
                contenders.append((worker, peer))
            else:
                assert not peer.startswith(OURS), f"{peer} finds {found}, not {expected}"
                left_out.append(f"{peer} in {self.scenario}, reads: {self.reads}: {found}, not {expected}")
        first = [self._time(*contender, _WARM_UP) for contender in contenders]
        times: list[list[float]] = [[] for _ in contenders]
        for number in range(rounds):
            for contender, warm, passes in zip(contenders, first, times, strict=True):
                if warm < _SLOW or number < _ROUNDS_OF_THE_SLOW:
                    passes.append(self._time(*contender, _ROUND) / self.blocks)
        size = self.path.stat().st_size
        return [
            Row(self.scenario, self.reads, peer, w.language, self.blocks, size, len(t), median(t), min(t), max(t))
            for (w, peer), t in zip(contenders, times, strict=True)
        ]

    def _time(self, worker: Worker, peer: str, milliseconds: int) -> float:
        return float(worker.ask("time", self.scenario, self.reads, peer, milliseconds))


def digest(body: bytes) -> str:
    """Say what is in a stream, as the workers do: how many events, and the hash of all their data."""
    events = list(split_events(body))
    data = b"".join(len(event).to_bytes(4, "little") + event for event in events)
    return f"{len(events)} {hashlib.sha256(data).hexdigest()}"


def judge(rows: list[Row]) -> Iterator[dict[str, object]]:
    """Hold the medians against the targets: ahead of each crate, by far with chat; with text ahead of JavaScript."""
    for scenario, reads in dict.fromkeys((row.scenario, row.reads) for row in rows):
        chosen = [row for row in rows if (row.scenario, row.reads) == (scenario, reads)]
        medians = {row.peer: row.median for row in chosen}
        crates = {r.peer: r.median for r in chosen if r.language == "rust" and not r.peer.startswith(OURS)}
        others = {r.peer: r.median for r in chosen if r.language != "rust"}
        far = 2.5 if scenario.startswith("chat") else 1
        for ours, peers, bound in ((OURS, crates, far), (OURS_WITH_TEXT, others, 1)):
            if peers:
                fastest = min(peers, key=peers.__getitem__)
                ratio = peers[fastest] / medians[ours]
                yield {
                    "scenario": scenario,
                    "reads": reads,
                    "ours": ours,
                    "against": fastest,
                    "target": f"at least {bound:g}",
                    "measured": round(ratio, 2),
                    "met": ratio >= bound,
                }


def _print(console: Console, title: str, rows: list[Row]) -> None:
    """Print one scenario at one read size, the fastest first."""
    table = Table(title=title, title_justify="left")
    table.add_column("parser", no_wrap=True)
    table.add_column("language", no_wrap=True)
    medians = {row.peer: row.median for row in rows}
    ours = [name for name in (OURS, OURS_WITH_TEXT) if name in medians]
    for column in ("ns/event", "min", "max", "MB/s", *(f"x {name}" for name in ours)):
        table.add_column(column, justify="right", no_wrap=True)
    for row in sorted(rows, key=lambda row: row.median):
        speed = row.bytes / row.events / row.median * 1e3
        cells = [f"{row.median:,.1f}", f"{row.min:,.1f}", f"{row.max:,.1f}", f"{speed:,.0f}"]
        cells += [f"{row.median / medians[name]:.2f}" for name in ours]
        table.add_row(row.peer, row.language, *cells, style="bold" if row.peer == OURS else None)
    console.print(table)


if __name__ == "__main__":
    main()
