"""Text, from every peer at every read size."""

from pytest_benchmark.fixture import BenchmarkFixture

from benches.harness import pairs, run
from benches.peers import SUITES, Peer

SUITE = SUITES["text"]


@pairs(SUITE)
def test_text(benchmark: BenchmarkFixture, corpus_name: str, reads: str, peer: Peer) -> None:
    run(benchmark, SUITE, corpus_name, reads, peer)
