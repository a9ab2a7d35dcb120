"""`python -m benches.hits`: how many chunks of a stream are recognised, and need no decoding.

Recorded streams of 100 events and more, where there are some, by the names of their files; and the project's own, one
for each dialect, with answers as long. What is recognised depends on the events alone, not on the reads they come in.
"""

import argparse
from collections.abc import Iterable, Iterator
from random import Random

from rich.table import Table

import ssewire
from benches import corpus
from benches.measure import command
from benches.report import save, terminal
from tests.dialects import DIALECTS, answer, record

# The size of a read at which a client that lags behind finds them.
_READ = 4096
_WORDS = 400
_SEED = 20_261_201

Rows = Iterator[dict[str, object]]


def main() -> None:
    """Count, print, and save when asked to."""
    parser = argparse.ArgumentParser(prog="python -m benches.hits", description=__doc__)
    parser.add_argument("--save", metavar="NAME", help="write benches/results/NAME.json")
    arguments = parser.parse_args()
    found = {"dialects": list(dialects())}
    if (bodies := corpus.recorded()) is not None:
        found["recorded"] = [row(body.name, [body.data]) for body in bodies]
    console = terminal()
    console.print(command())
    for name, rows in found.items():
        table = Table(title=f"{name}: chunks that were recognised", title_justify="left")
        for column in rows[0]:
            table.add_column(column, justify="left" if column == "stream" else "right", no_wrap=True)
        for each in rows:
            table.add_row(*map(str, each.values()))
        console.print(table)
    if arguments.save:
        save(arguments.save, **found)


def dialects() -> Rows:
    """Streams of our own: of each dialect an answer of some hundred words."""
    for dialect in DIALECTS:
        random = Random(f"{_SEED} {dialect.name}")  # noqa: S311 (a corpus, not a secret)
        said = answer("text", random, most=_WORDS)
        while len(said.replies[0].words) < _WORDS // 2:
            said = answer("text", random, most=_WORDS)
        recording = record(dialect, said, dialect.wire, "done" if dialect.sentinel else "no sentinel", random)
        yield row(dialect.name, [recording.body])


def row(name: str, bodies: Iterable[bytes]) -> dict[str, object]:
    """Count in some streams."""
    events = hits = 0
    for body in bodies:
        decoder = ssewire.ChunkDecoder()
        for read in corpus.cut(body, _READ):
            for _ in decoder.feed(read):
                pass
        for _ in decoder.finish():
            pass
        events += decoder.chunks
        hits += decoder.recognised
    return {"stream": name, "events": events, "hits": hits, "rate": round(hits / events, 4)}


if __name__ == "__main__":
    main()
