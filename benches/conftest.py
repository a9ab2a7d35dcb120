"""The pairs of the comparison under pytest-benchmark: `python -m pytest benches`, small enough to run in a minute."""

import pytest

from benches import corpus


def pytest_report_header() -> str:
    found = corpus.recorded()
    if found is None:
        return f"benches: generated corpus only ({corpus.STREAMS_VARIABLE} is not set)"
    return f"benches: generated corpus, {len(found)} recorded streams"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "corpus_name" in metafunc.fixturenames:
        names = ["generated"] if corpus.recorded() is None else ["generated", "recorded"]
        metafunc.parametrize("corpus_name", names)
