"""A recognised chunk is its reader's own: whatever is done to it shows in no other, nor in what the stream tells."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import msgspec
import pytest

from ssewire import ChatCompletionChunk, ChatStream, ChoiceDelta, ChunkChoice
from tests.alike.sharing import KINDS, alike, are_recognised, mutable_parts, written

each_kind = pytest.mark.parametrize("kind", KINDS)


def structs(chunk: Any) -> Iterator[Any]:
    return (part for part in mutable_parts(chunk) if isinstance(part, msgspec.Struct))


def lists(chunk: Any) -> Iterator[Any]:
    return (part for part in mutable_parts(chunk) if isinstance(part, list))


def dicts(chunk: Any) -> Iterator[Any]:
    return (part for part in mutable_parts(chunk) if isinstance(part, dict))


def set_members(chunk: Any) -> None:
    for struct in list(structs(chunk)):
        for name in struct.__struct_fields__:
            setattr(struct, name, "changed")


def set_members_to_lists(chunk: Any) -> None:
    for struct in list(structs(chunk)):
        for name in struct.__struct_fields__:
            setattr(struct, name, ["changed"])


def delete_members(chunk: Any) -> None:
    for struct in list(structs(chunk)):
        for name in struct.__struct_fields__:
            delattr(struct, name)


def clear_lists(chunk: Any) -> None:
    for found in list(lists(chunk)):
        found.clear()


def append_to_lists(chunk: Any) -> None:
    for found in list(lists(chunk)):
        found.append("changed")


def repeat_items(chunk: Any) -> None:
    for found in list(lists(chunk)):
        found[:] = [found[0]] * len(found) if found else []


def set_items(chunk: Any) -> None:
    for found in list(lists(chunk)):
        found[:] = ["changed"] * len(found)


def clear_dicts(chunk: Any) -> None:
    for found in list(dicts(chunk)):
        found.clear()


def set_dict_members(chunk: Any) -> None:
    for found in list(dicts(chunk)):
        found.update(dict.fromkeys(found, "changed"), more="changed")


def replace_choices(chunk: Any) -> None:
    chunk.choices = [ChunkChoice(delta=ChoiceDelta(content="changed")) for _ in chunk.choices]


def replace_choices_by_a_tuple(chunk: Any) -> None:
    chunk.choices = tuple(chunk.choices)


def replace_deltas(chunk: Any) -> None:
    for choice in chunk.choices:
        choice.delta = ChoiceDelta(role="changed", tool_calls=[])


def one_delta_for_all(chunk: Any) -> None:
    for choice in chunk.choices:
        choice.delta = chunk.choices[0].delta


SHARED: Final = [ChunkChoice()]
EARLIER: Final = ChatCompletionChunk(choices=[ChunkChoice(delta=ChoiceDelta(content="earlier"))])


def a_list_of_its_reader(chunk: Any) -> None:
    chunk.choices = SHARED


def choices_of_another(chunk: Any) -> None:
    chunk.choices = EARLIER.choices
    chunk.usage = EARLIER


class Delta(ChoiceDelta):
    """A type of the reader's own."""


def a_subclass(chunk: Any) -> None:
    for choice in chunk.choices:
        choice.delta = Delta(content="changed")


CHANGES: Final[tuple[Callable[[Any], None], ...]] = (
    set_members,
    set_members_to_lists,
    delete_members,
    clear_lists,
    append_to_lists,
    repeat_items,
    set_items,
    clear_dicts,
    set_dict_members,
    replace_choices,
    replace_choices_by_a_tuple,
    replace_deltas,
    one_delta_for_all,
    a_list_of_its_reader,
    choices_of_another,
    a_subclass,
)

each_change = pytest.mark.parametrize("change", CHANGES)


def changing(kind: str, change: Callable[[Any], None], keep: int, *, accelerate: bool) -> Iterator[Any]:
    """What a stream tells behind each chunk, which is changed then; so many of the changed ones are kept."""
    stream = alike(kind, accelerate=accelerate, accumulate=True)
    kept: list[Any] = []
    for chunk in stream:
        yield written(chunk), written(stream.usage), stream.finish_reasons
        change(chunk)
        kept = [*kept, chunk][-keep:] if keep else []
        del chunk
    yield written(stream.completion()), stream.state
    assert are_recognised(stream) == accelerate


@each_kind
@each_change
@pytest.mark.parametrize("keep", [0, 2])
def test_what_is_changed_shows_nowhere_else(kind: str, change: Callable[[Any], None], keep: int) -> None:
    # Without templates the usage of a chunk is the stream's, too.
    right = list(changing(kind, change, keep, accelerate=False))
    assert list(changing(kind, change, keep, accelerate=True)) == right
    assert written(SHARED) == written([ChunkChoice()])
    assert EARLIER.text == "earlier"


@each_kind
@each_change
def test_earlier_chunks_stay_as_they_were(kind: str, change: Callable[[Any], None]) -> None:
    stream = alike(kind)
    held: list[tuple[Any, str]] = []
    for number, chunk in enumerate(stream):
        if number % 3:
            change(chunk)
        else:
            held.append((chunk, written(chunk)))
    assert [written(chunk) for chunk, _ in held] == [right for _, right in held]
    assert are_recognised(stream)


@each_kind
def test_no_two_chunks_have_a_part_in_common(kind: str) -> None:
    stream = alike(kind)
    parts = [part for chunk in stream for part in mutable_parts(chunk)]
    assert len(set(map(id, parts))) == len(parts)
    assert are_recognised(stream)


@each_kind
def test_a_chunk_is_what_a_decoded_one_is(kind: str) -> None:
    *_, last = alike(kind)
    *_, right = alike(kind, accelerate=False)
    assert written(last) == written(right)
    for part, right_part in zip(mutable_parts(last), mutable_parts(right), strict=True):
        assert type(part) is type(right_part)
        if isinstance(part, msgspec.Struct):
            assert part == right_part
            assert msgspec.json.encode(part) == msgspec.json.encode(right_part)
            assert part.__struct_fields__ == right_part.__struct_fields__
            assert msgspec.structs.replace(part) == part


def test_the_usage_that_a_stream_has_told_stays_as_it_was() -> None:
    stream: ChatStream[Any] = alike("counted")
    told: list[tuple[Any, str]] = []
    for chunk in stream:
        assert chunk.usage is not None
        del chunk
        told.append((stream.usage, written(stream.usage)))
    assert [written(usage) for usage, _ in told] == [right for _, right in told]
    assert len({id(usage) for usage, _ in told}) == len(told)
