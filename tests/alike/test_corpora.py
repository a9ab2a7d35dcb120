"""Recognised chunks are the decoded ones in every corpus there is, in every way to read it, however the body is cut."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from tests.alike.comparing import WAYS, Reads, Way, compare
from tests.cases import test_error_variants, test_facts_variants, test_framing_variants
from tests.cases.test_reported_faults import FAULTS
from tests.conformance.test_wpt import CASES as WPT
from tests.conformance.test_wpt import body_of
from tests.corpus.test_dialects import RECORDINGS
from tests.reading import pieces
from tests.recorded import recorded
from tests.unit.cases import CASES

_BLANK: Final = re.compile(rb"(?:\r\n|\n|\r)(?:\r\n|\n|\r)+")

USUAL: Final = WAYS[:4]


def events(body: bytes) -> Reads:
    """A read an event, as live streams come."""
    edges = [0, *(match.end() for match in _BLANK.finditer(body)), len(body)]
    return [body[start:end] for start, end in itertools.pairwise(edges)]


def cuts(body: bytes) -> Iterator[Reads]:
    yield [body]
    yield events(body)
    yield pieces(body, 4096)
    yield pieces(body, 1460)


def ways(number: int) -> Iterator[Way]:
    """One of the usual ways and one of the others: of all bodies of a corpus together, each of them often."""
    yield USUAL[number % len(USUAL)]
    yield WAYS[len(USUAL) + number % (len(WAYS) - len(USUAL))]


@pytest.mark.parametrize("number", range(len(RECORDINGS)), ids=[recording.name for recording in RECORDINGS])
def test_dialects(number: int) -> None:
    # Said again, since most of them are too short for their events to be alike.
    body = RECORDINGS[number].body
    blocks = _BLANK.split(body.removeprefix(b"\xef\xbb\xbf"))
    longer = b"\n\n".join([*blocks[:-1], *blocks[:-1], *blocks])
    for way in ways(number):
        compare(way, [body])
        compare(way, [longer])
        compare(way, events(longer))
    compare(WAYS[number % 4], pieces(longer, 1))
    compare(WAYS[number % 4], pieces(longer, 1460))


CASES_OF_ALL: Final = {
    **{f"unit: {name}": case.body for name, case in CASES.items()},
    **{f"fault {number}": fault.body for number, fault in FAULTS.items()},
    **{f"framing: {name}": body for name, (body, _) in test_framing_variants.VARIANTS.items()},
    **{f"facts: {name}": body for name, (body, _) in test_facts_variants.VARIANTS.items()},
    **{f"errors: {name}": body for name, (body, _) in test_error_variants.MIXED.items()},
    **{f"standard: {case['name']}": body_of(case) for case in WPT},
}


@pytest.mark.parametrize("body", CASES_OF_ALL.values(), ids=CASES_OF_ALL)
def test_cases(body: bytes) -> None:
    for way in WAYS:
        compare(way, [body])
        if way in USUAL:
            compare(way, [body, body, body])
            compare(way, pieces(body, 1))


@pytest.mark.parametrize("path", recorded())
def test_recorded(path: Path) -> None:
    body = path.read_bytes()
    for number, way in enumerate(WAYS):
        for place, reads in enumerate(cuts(body)):
            if way in USUAL or (number + place) % 4 == 0:
                compare(way, reads)
    compare(WAYS[0], pieces(body, 1))
