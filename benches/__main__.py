"""`python -m benches`: all peers of all suites at all read sizes, interleaved in one process, with ratios."""

import argparse

from benches import corpus
from benches.measure import Result, as_json, command, compare, environment
from benches.peers import SUITES
from benches.report import judge, print_suite, print_targets, save, terminal


def main() -> None:
    """Measure, print, and save when asked to."""
    parser = argparse.ArgumentParser(prog="python -m benches", description=__doc__)
    parser.add_argument("--suite", choices=SUITES, action="append", help="only this suite (may be repeated)")
    parser.add_argument("--reads", choices=corpus.READS, action="append", help="only this read size (may be repeated)")
    parser.add_argument("--rounds", type=int, default=11, help="timed rounds of each peer (default: %(default)s)")
    parser.add_argument("--corpus", choices=("generated", "recorded"), default="generated")
    parser.add_argument("--save", metavar="NAME", help="write benches/results/NAME.json")
    arguments = parser.parse_args()

    console = terminal()
    facts = environment()
    console.print(
        f"{command()}\n{facts['python']}, {facts['cpu']} ({facts['cpus']} CPUs), {facts['clock']}, {facts['date']}"
    )
    for body in corpus.bodies(arguments.corpus):
        console.print(f"  {body.name}: {len(body.payloads):,} events, {len(body.data):,} bytes")
    if arguments.corpus == "generated" and corpus.recorded() is None:
        console.print(f"  {corpus.STREAMS_VARIABLE} is not set: no recorded streams for --corpus recorded")

    results: list[Result] = []
    for name in arguments.suite or SUITES:
        for reads in arguments.reads or corpus.READS:
            with console.status(f"{name}, reads: {reads}"):
                results += compare(SUITES[name], reads, arguments.corpus, arguments.rounds)

    for name in arguments.suite or SUITES:
        for reads in arguments.reads or corpus.READS:
            chosen = [result for result in results if (result.suite, result.reads) == (name, reads)]
            print_suite(console, SUITES[name], reads, chosen)
    verdicts = [verdict for name in arguments.suite or SUITES for verdict in judge(SUITES[name], results)]
    if verdicts:
        print_targets(console, verdicts)
    if arguments.save:
        path = save(arguments.save, corpus=[arguments.corpus], targets=verdicts, results=as_json(results))
        console.print(f"saved {path.relative_to(path.parent.parent.parent)}")


if __name__ == "__main__":
    main()
