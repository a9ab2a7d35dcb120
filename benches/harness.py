"""What the four suites share under pytest-benchmark: the parameters, and one checked and timed run."""

from collections.abc import Callable

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from benches import corpus
from benches.peers import Peer, Suite, check_equal

_EVENTS = 2000
_ROUNDS = 5


def pairs(suite: Suite) -> Callable[[Callable[..., None]], pytest.MarkDecorator]:
    """Parametrise a test by read size and peer."""
    cases = [pytest.param(reads, peer, id=f"{reads}-{peer.name}") for reads in corpus.READS for peer in suite.peers]
    return pytest.mark.parametrize(("reads", "peer"), cases)


def run(benchmark: BenchmarkFixture, suite: Suite, corpus_name: str, reads: str, peer: Peer) -> None:
    """Check the output of a peer, then time it; times are of the whole corpus, `extra_info` has its events."""
    bodies = corpus.bodies(corpus_name, min(peer.events or _EVENTS, _EVENTS))
    for body in bodies:
        check_equal(peer, body, reads, suite.expected(body))
    streams = [body.cut(reads) for body in bodies]

    def every_stream() -> None:
        for stream in streams:
            peer.run(stream)

    benchmark.group = f"{suite.name}, {corpus_name}, reads: {reads}"
    benchmark.extra_info["events"] = sum(len(body.payloads) for body in bodies)
    benchmark.pedantic(every_stream, rounds=_ROUNDS, warmup_rounds=1)  # type: ignore[no-untyped-call]
