"""Mutated streams, some hundred thousand events of them: recognised chunks are the decoded ones.

`python -m tests.alike` goes on from here.
"""

from __future__ import annotations

import itertools
from functools import partial

import pytest

from tests.alike.__main__ import compared
from tests.alike.comparing import WAYS, DifferenceError, Outcome, Read, Reads, Way, compare
from tests.alike.mutator import payloads, streams
from tests.dialects import DIALECTS


@pytest.mark.parametrize("seed", [20261201, 20261202, 20261203])
def test_mutated_streams(seed: int) -> None:
    tally = compared(40_000, seed)
    assert not tally.differences
    assert tally.share() > 0.6


def test_all_dialects_and_ways_are_among_them() -> None:
    tally = compared(40_000, 20261204)
    assert not tally.differences
    assert len(tally.ways) == len(WAYS)
    assert {dialect.name for dialect in DIALECTS} < set(payloads())
    names = {stream.dialect for stream in itertools.islice(streams(1), 800)}
    assert names == set(payloads())


def test_the_same_seed_gives_the_same_streams() -> None:
    one, other = itertools.islice(streams(3), 30), itertools.islice(streams(3), 30)
    assert list(one) == list(other)


def made_up(found: Outcome, right: Outcome, _: Reads, accelerate: bool) -> Read:
    return Read(found if accelerate else right, 1, 0)


def test_what_differs_is_found() -> None:
    """A reader whose chunks differ in the least, or that tells something else, is no slow twin."""
    outcomes = iter([Outcome(["1"], ["'done'"]), Outcome(["1.0"], ["'done'"]), Outcome(["1"], ["'error'"])])
    right = next(outcomes)
    for found in outcomes:
        way = Way("made up", partial(made_up, found, right))
        with pytest.raises(DifferenceError):
            compare(way, [])
