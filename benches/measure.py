"""Interleaved timing: every peer once, then every peer again, so that a slow minute of the machine meets them all."""

import gc
import os
import platform
import sys
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from statistics import median
from time import get_clock_info, perf_counter_ns, thread_time_ns

from benches import corpus
from benches.peers import Peer, Suite, check_equal

_PACKAGES = (
    "ssewire",
    "msgspec",
    "httpx",
    "httpx-sse",
    "httpx2",
    "openai",
    "pydantic-core",
    "sseclient-py",
    "launchdarkly-eventsource",
)


# Nothing here waits, so the processor time of the thread is the time it takes, less what other programs took away.
_CPU_TIME = get_clock_info("thread_time").resolution <= 1e-6
clock = thread_time_ns if _CPU_TIME else perf_counter_ns


# So many events a round has at the least, of peers that do not take a second for them.
_ROUND_EVENTS = 20_000


@dataclass(frozen=True)
class Result:
    """What one peer took in one suite at one read size, in nanoseconds an event."""

    suite: str
    reads: str
    peer: str
    events: int
    rounds: int
    median: float
    min: float
    max: float


def compare(suite: Suite, reads: str, corpus_name: str, rounds: int) -> list[Result]:
    """Check that all peers of a suite give the same, then time them in turn."""
    contenders = [_Contender(suite, peer, reads, corpus_name) for peer in suite.peers]
    for contender in contenders:
        contender.round()  # caches filled, code specialised: nobody's first round counts
    times: dict[str, list[float]] = {contender.peer.name: [] for contender in contenders}
    for _ in range(rounds):
        for contender in contenders:
            times[contender.peer.name].append(contender.round())
    return [
        Result(suite.name, reads, c.peer.name, c.events, rounds, median(t), min(t), max(t))
        for c, t in zip(contenders, times.values(), strict=True)
    ]


class _Contender:
    """A peer with its input at hand and its output checked."""

    def __init__(self, suite: Suite, peer: Peer, reads: str, corpus_name: str) -> None:
        self.peer = peer
        bodies = corpus.bodies(corpus_name, *([peer.events] if peer.events else []))
        for body in bodies:
            check_equal(peer, body, reads, suite.expected(body))
        events = sum(len(body.payloads) for body in bodies)
        # A round of a millisecond would measure how the caches fill behind the peer before.
        times = 1 if peer.events else max(1, _ROUND_EVENTS // events)
        self.events = events * times
        self._streams = [body.cut(reads) for body in bodies] * times

    def round(self) -> float:
        """Read every stream: nanoseconds an event."""
        # The collector runs as it does for users, but nobody pays for what the peer before left behind.
        gc.collect()
        run, streams = self.peer.run, self._streams
        start = clock()
        for stream in streams:
            run(stream)
        return (clock() - start) / self.events


@cache
def environment() -> dict[str, object]:
    """Say what the numbers were taken on."""
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": f"{platform.python_implementation()} {platform.python_version()}",
        "platform": f"{platform.system()} {platform.machine()}",
        "cpu": _cpu_model(),
        "cpus": os.cpu_count(),
        "clock": "processor time" if _CPU_TIME else "wall clock",
        "packages": {name: _version(name) for name in _PACKAGES},
    }


def command() -> str:
    """Give the command line without the paths of this machine."""
    path = Path(sys.argv[0])
    package = path.parent.relative_to(Path(__file__).parent.parent).parts
    module = ".".join(package if path.stem == "__main__" else (*package, path.stem))
    return " ".join(["python", "-m", module, *sys.argv[1:]])


def as_json(results: list[Result]) -> list[dict[str, object]]:
    """Give results as plain objects, rounded to what they are worth."""
    return [
        {key: round(value, 1) if isinstance(value, float) else value for key, value in asdict(result).items()}
        for result in results
    ]


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "unknown")


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
