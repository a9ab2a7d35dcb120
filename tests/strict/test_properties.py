"""What a schema allows is read to the last digit; with one constraint broken it is refused there, and only there."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ssewire import DecodeError
from tests.conftest import Run
from tests.strict.checking import check_accepted, check_refused, exact, strict_items
from tests.strict.schemas import DOCUMENTED, Documented, name_of
from tests.strict.strategies import broken_values, values, written
from tests.strict.walking import described

each_document = pytest.mark.parametrize("documented", DOCUMENTED, ids=name_of)


@each_document
@given(data=st.data())
def test_allowed(documented: Documented, data: st.DataObject) -> None:
    check_accepted(documented, data.draw(written(data.draw(values(documented.schema)))))


@each_document
@given(data=st.data())
@settings(max_examples=250)
def test_one_constraint_broken(documented: Documented, data: st.DataObject) -> None:
    instance, broken = data.draw(broken_values(documented.schema))
    check_refused(documented, data.draw(written(broken.of(instance))), broken.path, broken.removed)


@each_document
@given(data=st.data())
def test_streams_of_both(documented: Documented, run: Run, data: st.DataObject) -> None:
    """In one stream, read synchronously and asynchronously: each event for itself, whatever the others are."""
    payloads: list[bytes] = []
    allowed: list[bool] = []
    for is_allowed in data.draw(st.lists(st.booleans(), min_size=1, max_size=4)):
        if is_allowed:
            value = data.draw(values(documented.schema))
        else:
            instance, broken = data.draw(broken_values(documented.schema))
            value = broken.of(instance)
        payloads.append(data.draw(written(value)))
        allowed.append(is_allowed)
    items = strict_items(documented, *payloads)
    for number, (item, payload, is_allowed) in enumerate(zip(items, payloads, allowed, strict=True), 1):
        if is_allowed:
            right = described(json.loads(payload), documented.schema, documented.kept)
            assert exact(msgspec.to_builtins(item)) == exact(right)
        else:
            assert isinstance(item, DecodeError)
            assert (item.event_number, item.payload) == (number, payload)
    awaited = strict_items(documented, *payloads, run=run)
    assert [str(item) for item in awaited] == [str(item) for item in items]
