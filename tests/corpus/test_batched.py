"""`iter_batches` over whole corpora: the lists, one behind the other, are what plain iteration gives, errors included.

The corpora are the generated recordings, the unit tests' bodies and the faults reported of other readers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from random import Random
from typing import Any, Final

import msgspec
import pytest

from ssewire import AsyncChatStream, ChatStream, SSEWireError
from tests.cases.test_reported_faults import FAULTS
from tests.conftest import Run
from tests.corpus.test_dialects import RECORDINGS, cuts, two_cuts
from tests.reading import awaited, every_cut, pieces, with_errors, with_errors_async
from tests.unit.cases import CASES, LIMIT

MOST: Final = 256

# More than any recording has.
ITEMS: Final = 100_000


def flat(items: Iterable[Any]) -> list[Any]:
    """The chunks of all lists, none of which is empty or too long; errors as what they say."""
    found: list[Any] = []
    for item in items:
        if isinstance(item, list):
            assert 1 <= len(item) <= MOST
            found += item
        else:
            found.append(said(item))
    return found


def said(item: Any) -> Any:
    return (type(item), str(item), vars(item)) if isinstance(item, SSEWireError) else item


def facts(stream: Any) -> list[Any]:
    """What the stream tells at its end, but for the times."""
    stats = msgspec.structs.replace(stream.stats, **dict.fromkeys(TIMES))
    return [stream.state, stream.usage, stream.finish_reasons, stream.last_event_id, stats]


TIMES: Final = ("time_to_first_byte", "time_to_first_text", "text_gaps", "mean_text_gap", "longest_text_gap")


def check(reads: Sequence[bytes], run: Run, **options: Any) -> None:
    plain = ChatStream(iter(reads), **options)
    right = list(map(said, with_errors(plain)))
    stream = ChatStream(iter(reads), **options)
    assert flat(with_errors(stream.iter_batches())) == right
    assert facts(stream) == facts(plain)

    async def read() -> None:
        stream = AsyncChatStream(awaited(reads), **options)
        assert flat(await with_errors_async(stream.iter_batches())) == right
        assert facts(stream) == facts(plain)

    run(read())


@pytest.mark.parametrize("recording", [pytest.param(recording, id=recording.name) for recording in RECORDINGS])
def test_generated_recordings(recording: Any, run: Run) -> None:
    for how, reads in cuts(recording.body):
        if how != "1 byte":
            check(reads, run)


def taken(stream: ChatStream[Any], random: Random) -> Iterator[Any]:
    """What comes out of a stream when another way of reading has each turn."""
    chunks, pairs = iter(stream), stream.iter_with_payload()
    lists = [stream.iter_batches(most) for most in (1, 2, 5, MOST)]
    for _ in range(ITEMS):
        try:
            match random.randrange(6):
                case 0:
                    yield next(chunks)
                case 1:
                    yield next(pairs)[1]
                case way:
                    yield from next(lists[way - 2])
        except StopIteration:
            return
        except SSEWireError as error:
            yield error
    raise AssertionError("no end of items")


@pytest.mark.parametrize("recording", [pytest.param(recording, id=recording.name) for recording in RECORDINGS])
def test_lists_among_other_ways(recording: Any) -> None:
    for how, reads in two_cuts(recording.body):
        right = list(map(said, with_errors(ChatStream(iter(reads)))))
        assert list(map(said, taken(ChatStream(iter(reads)), Random(how)))) == right


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_bodies_of_the_unit_tests(case: Any, run: Run) -> None:
    for reads in ([case.body], pieces(case.body, 1), pieces(case.body, 97)):
        check(reads, run, require_done=case.require_done, max_event_size=LIMIT)


@pytest.mark.parametrize("number", FAULTS)
def test_reported_faults(number: int, run: Run) -> None:
    _, body, reads = FAULTS[number]
    check(reads, run)
    check(reads, run, type=dict)
    for again in every_cut(body) if len(body) < 300 else ([body], pieces(body, 1)):
        check(again, run)
