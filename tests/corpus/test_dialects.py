"""The project's own corpus: every dialect, kind of answer, end and wire, read by everything that reads a chat stream.

What is right was known before a byte was written; see `tests.dialects`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from random import Random
from typing import Any

import pytest

from ssewire import (
    APIError,
    AsyncChatStream,
    ChatCompletionChunk,
    ChatStream,
    ChoiceDeltaToolCallFunction,
    ChunkDecoder,
    IncompleteStreamError,
    SSEWireError,
)
from tests.conftest import Run
from tests.dialects import DIALECTS, Expected, Part, Piece, Problem, Recording, Said, generate
from tests.dialects.answer import Counts
from tests.reading import awaited, cut, pieces, with_errors, with_errors_async

RECORDINGS = list(generate(20260203))

each_recording = pytest.mark.parametrize("recording", [pytest.param(r, id=r.name) for r in RECORDINGS])


def cuts(body: bytes) -> Iterator[tuple[str, Sequence[bytes]]]:
    """How the body arrives; a random cut is the same whenever the body is."""
    yield "whole", [body]
    yield "1 byte", pieces(body, 1)
    yield "7 bytes", pieces(body, 7)
    yield "4 KiB", pieces(body, 4096)
    random = Random(len(body))
    places = [random.randrange(len(body)) for _ in range(random.randint(1, 12))]
    yield f"at {sorted(places)}", cut(body, places)


def two_cuts(body: bytes) -> list[tuple[str, Sequence[bytes]]]:
    """Some of these, for views of the same stream."""
    return [(how, reads) for how, reads in cuts(body) if how in ("whole", "7 bytes")]


@contextmanager
def read(how: str) -> Generator[None]:
    """Let a failure tell how the body was cut."""
    try:
        yield
    except AssertionError as error:
        error.add_note(f"the body was cut: {how}")
        raise


def from_decoder(decoder: ChunkDecoder[Any], reads: Iterable[bytes]) -> Iterator[Any]:
    for read in reads:
        yield from with_errors(decoder.feed(read))
    yield from with_errors(decoder.finish())


def problem(error: APIError) -> Problem:
    return Problem(error.message, error.type, error.code, error.param, error.body)


def plain(found: Iterable[Any]) -> list[Any]:
    """The same with errors in the corpus' terms."""
    return [problem(item) if isinstance(item, APIError) else item for item in found]


def runs(items: list[Any]) -> list[Any]:
    """The payloads between two errors as one."""
    grouped = itertools.groupby(items, lambda item: isinstance(item, bytes))
    return [found for are_payloads, group in grouped for found in ([b"".join(group)] if are_payloads else group)]


def with_problems(right: Expected, views: Iterable[Any]) -> list[Any]:
    """Another view of each chunk, and the errors in their place."""
    view = iter(views)
    return [item if isinstance(item, Problem) else next(view) for item in right.items]


def counts(usage: Any) -> Counts | None:
    if usage is None:
        return None
    get: Callable[[str], Any] = usage.get if isinstance(usage, dict) else lambda name: getattr(usage, name)
    return Counts(get("prompt_tokens"), get("completion_tokens"), get("total_tokens"))


def usages(stream: ChatStream[ChatCompletionChunk]) -> Iterator[Counts | None]:
    """The usage behind each chunk."""
    while True:
        with suppress(SSEWireError):
            if next(stream, None) is None:
                return
            yield counts(stream.usage)


def called(function: ChoiceDeltaToolCallFunction | None) -> tuple[str | None, str | dict[str, Any] | None] | None:
    return (function.name, function.arguments) if function else None


def said(chunk: ChatCompletionChunk, right: Said) -> Said:
    """What a chunk says, in the corpus' terms."""
    assert (chunk.text, chunk.reasoning) == (right.text, right.reasoning)
    parts: list[Part] = []
    for choice in chunk.choices:
        delta = choice.delta
        calls = tuple(
            Piece(call.index, call.id, *(called(call.function) or (None, None))) for call in delta.tool_calls or ()
        )
        # The text of typed parts is the chunk's, as is the reasoning; no dialect has several choices with these.
        alone = len(chunk.choices) == 1
        text = chunk.text if alone else delta.content or ""
        reasoning = chunk.reasoning if alone else ""
        assert isinstance(text, str)
        parts.append(
            Part(
                choice.index,
                role=delta.role,
                text=text,
                reasoning=reasoning,
                refusal=delta.refusal,
                calls=calls,
                function=called(delta.function_call),
                finish_reason=choice.finish_reason,
            )
        )
    return Said(tuple(parts), counts(chunk.usage))


def check_end(right: Expected, found: list[Any]) -> list[Any]:
    """The last error, where the stream is incomplete; gives what came before it."""
    if right.state != "incomplete":
        return found
    *found, error = found
    assert isinstance(error, IncompleteStreamError)
    if right.stray is None:
        assert error.tail == (right.torn or b"")
    else:
        assert right.stray in error.tail
    return found


def check_chunks(right: Expected, found: list[Any]) -> None:
    """Chunks and errors, one by one and in their order."""
    found = check_end(right, found)
    for item, expected in zip(found, right.items, strict=False):
        if isinstance(expected, Problem):
            assert isinstance(item, APIError)
            assert problem(item) == expected
        else:
            assert isinstance(item, ChatCompletionChunk)
            assert said(item, expected) == expected
    assert len(found) == len(right.items)
    chunks = [item for item in found if isinstance(item, ChatCompletionChunk)]
    for chunk, sent in zip(chunks, right.chunks, strict=True):
        for member in ("id", "object", "created", "model", "system_fingerprint", "service_tier"):
            assert getattr(chunk, member) == sent.get(member)


def check_facts(right: Expected, stream: Any) -> None:
    assert stream.state == right.state
    assert stream.finish_reasons == right.finish_reasons
    assert counts(stream.usage) == right.usage
    if right.last_event_id is not None:
        assert stream.last_event_id == right.last_event_id


def test_the_corpus_is_what_it_is_meant_to_be() -> None:
    assert [again.body for again in generate(20260203)] == [recording.body for recording in RECORDINGS]
    assert len({recording.name for recording in RECORDINGS}) == len(RECORDINGS)
    assert {recording.name.partition(":")[0] for recording in RECORDINGS} == {dialect.name for dialect in DIALECTS}
    states = {recording.expected.state for recording in RECORDINGS}
    assert states == {"done", "finished", "incomplete", "error"}


@each_recording
def test_stream(recording: Recording) -> None:
    right = recording.expected
    for how, reads in cuts(recording.body):
        with read(how):
            stream = ChatStream(iter(reads))
            check_chunks(right, list(with_errors(stream)))
            check_facts(right, stream)
            assert list(stream) == []


@each_recording
def test_async_stream(recording: Recording, run: Run) -> None:
    right = recording.expected
    for how, reads in cuts(recording.body):
        with read(how):
            stream = AsyncChatStream(awaited(reads))
            check_chunks(right, run(with_errors_async(stream)))
            check_facts(right, stream)


@each_recording
def test_decoder(recording: Recording) -> None:
    right = recording.expected
    for how, reads in cuts(recording.body):
        with read(how):
            decoder = ChunkDecoder()
            check_chunks(right, list(from_decoder(decoder, reads)))
            check_facts(right, decoder)
            assert decoder.done == right.done
            assert decoder.retry == right.retry


@each_recording
def test_text(recording: Recording, run: Run) -> None:
    """Text alone, of the built-in type and of `dict`; errors stand in their place."""
    right = recording.expected
    expected = [item if isinstance(item, Problem) else item.text for item in right.items]
    for how, reads in two_cuts(recording.body):
        with read(how):
            for found in (
                list(with_errors(ChatStream(iter(reads)).iter_text())),
                run(with_errors_async(AsyncChatStream(awaited(reads)).iter_text())),
                list(with_errors(ChatStream(iter(reads), type=dict).iter_text())),
            ):
                assert plain(check_end(right, found)) == [item for item in expected if item]


@each_recording
def test_dict(recording: Recording) -> None:
    """A type of the user's own gets the chunks as they were before they became JSON, and the same facts."""
    right = recording.expected
    for how, reads in two_cuts(recording.body):
        with read(how):
            stream = ChatStream(iter(reads), type=dict)
            assert plain(check_end(right, list(with_errors(stream)))) == with_problems(right, right.chunks)
            check_facts(right, stream)


@each_recording
def test_the_usage_behind_each_chunk(recording: Recording) -> None:
    right = recording.expected
    for how, reads in two_cuts(recording.body):
        with read(how):
            stream = ChatStream(iter(reads))
            assert list(usages(stream)) == right.usages


@each_recording
def test_chunks_with_their_payloads(recording: Recording, run: Run) -> None:
    """Each payload as it was written, and the errors in their place."""
    right = recording.expected
    for how, reads in two_cuts(recording.body):
        with read(how):
            for found in (
                list(with_errors(ChatStream(iter(reads)).iter_with_payload())),
                run(with_errors_async(AsyncChatStream(awaited(reads)).iter_with_payload())),
            ):
                check_chunks(right, [pair[1] if isinstance(pair, tuple) else pair for pair in found])
                payloads = [pair[0] if isinstance(pair, tuple) else pair for pair in check_end(right, found)]
                assert plain(payloads) == with_problems(right, right.payloads)


@each_recording
def test_payloads(recording: Recording, run: Run) -> None:
    """A reader that decodes nothing gives the same payloads."""
    right = recording.expected
    for how, reads in two_cuts(recording.body):
        with read(how):
            for found in (
                list(with_errors(ChatStream(iter(reads)).iter_payloads())),
                run(with_errors_async(AsyncChatStream(awaited(reads)).iter_payloads())),
            ):
                if right.torn is not None:
                    found = check_end(right, found)
                # How such a reader judges an end that is not torn is told in the tests of streams.
                known = plain(item for item in found if not isinstance(item, IncompleteStreamError))
                expected = with_problems(right, right.payloads)
                if recording.name.endswith(" joined"):
                    # Documents run together on one line come as one payload, unless there is more than chunks on it.
                    known, expected = runs(known), runs(expected)
                assert known == expected


@each_recording
def test_stats(recording: Recording) -> None:
    right = recording.expected
    stream = ChatStream(iter(pieces(recording.body, 7)))
    list(with_errors(stream))
    stats = stream.stats
    assert stats.chunks == len(right.chunks)
    assert stats.comments == right.comments
    assert stats.skipped_events == right.skipped_events
    assert stats.decode_errors == 0
    assert stats.events == right.events
