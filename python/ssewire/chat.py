"""What both kinds of chat stream have in common: their options, and what may be asked of them at any moment."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any, Final, Generic, TypedDict, TypeVar
from weakref import proxy

from . import _core
from .accumulate import ChatAccumulator
from .chunk_types import choice_text_of, chunk_type, text_of
from .completion import ChatCompletion
from .decode import DEFAULT_MAX_EVENT_SIZE, chat_decoder, stats_of
from .errors import SSEWireError
from .follow import OnDecodeError
from .idle import patience
from .models import CompletionUsage
from .readable import has_choices
from .relay import Following
from .source import Source
from .state import State
from .stats import StreamStats

T = TypeVar("T")
SourceT = TypeVar("SourceT")

BATCH: Final = 256
"""So many chunks a batch has at the most. More in a list gain nothing: what is held at once leaves the cache.
Measured by `python -m benches.ways --save ways`, in `benches/results/ways.json`."""


class StreamOptions(TypedDict, total=False):
    """What a chat stream may be told beside its source and the type of its chunks."""

    require_done: bool
    """A missing sentinel is an IncompleteStreamError although every choice has finished."""
    accumulate: bool
    """Merge the chunks that are handed out, so that `completion()` has the answer so far."""
    on_decode_error: OnDecodeError
    """What becomes of events that are no chunk: `"raise"`, `"skip"`, or a function that is called with each error."""
    max_event_size: int
    """Most bytes of data in one event; an event beyond it is an EventTooLargeError."""
    idle_timeout: float | None
    """Most seconds to wait for an event; then StreamIdleError. Keep-alive comments are no events."""
    first_event_timeout: float | None
    """The same for the first event, which may take longer; without it `idle_timeout` counts there too."""
    accelerate: bool
    """Chunks of the built-in type that differ from earlier ones in a few values only are recognised and built without
    decoding them, which gives the same in less time. `False` decodes each."""
    drain: bool
    """Behind the sentinel read on to the end of the body, for half a second and 64 KiB at the most, so that the client
    can use the connection again."""


class Chat(Generic[T]):
    """A chat stream that knows no reads yet."""

    # What is wrong with the arguments is found before the source is touched.
    def __init__(
        self,
        type: Any,
        *,
        require_done: bool = False,
        accumulate: bool = False,
        on_decode_error: OnDecodeError = "raise",
        max_event_size: int = DEFAULT_MAX_EVENT_SIZE,
        idle_timeout: float | None = None,
        first_event_timeout: float | None = None,
        accelerate: bool = True,
        drain: bool = False,
    ) -> None:
        self._known = known = chunk_type(type)
        if accumulate:
            known.need_choices("accumulate=True")
        self._follower, arguments = chat_decoder(known, require_done=require_done, on_decode_error=on_decode_error)
        self._follower.drain = drain
        self._decoder: _core.ChunkDecoder[T] = _core.ChunkDecoder(
            *arguments, facts=known.facts, max_event_size=max_event_size, accelerate=accelerate
        )
        # The decoder holds the reads, and they hold this: a stream that is dropped must be gone at once.
        counting, follower = proxy(self._decoder), self._follower
        self._patience = patience(
            first_event_timeout, idle_timeout, lambda: (counting.events + follower.unseen, counting.comments)
        )
        follower.had_come = lambda: (counting.chunks, "chunk")
        self._following: Following | None = None
        if accumulate:
            self._accumulate()

    def _open(self, source: Source[SourceT]) -> Source[SourceT]:
        self._follower.source = source
        if source.in_memory:
            # Asking for the time takes longer than framing an event.
            self._decoder.take_no_times()
        return source

    @property
    def state(self) -> State:
        """How the stream stands.

        `open`; `done` (the sentinel came); `finished` (the body ended without it, and every choice seen in more than
        one chunk has a finish reason, at least one in all); `incomplete` (it ended with neither, or reading it failed);
        `error` (the server sent an error, or something that is no stream, or an event beyond the limit); `closed` (by
        the reader).
        """
        self._catch_up()
        return self._follower.state

    @property
    def usage(self) -> CompletionUsage | None:
        """The usage that the server sent last, in tokens; None when it sent none so far."""
        self._catch_up()
        return self._decoder.usage

    @property
    def finish_reasons(self) -> dict[int, str]:
        """The finish reason of each choice that has one so far, by the choice's index."""
        self._catch_up()
        return self._decoder.finish_reasons

    @property
    def last_event_id(self) -> str:
        """The last event id that the stream has sent; "" when it has sent none."""
        self._catch_up()
        return self._decoder.last_event_id

    @property
    def response_headers(self) -> Mapping[str, str]:
        """The headers of the response, names in lower case; empty where the source has none."""
        return self._follower.headers

    @property
    def stats(self) -> StreamStats:
        """What the stream has counted and timed so far; a snapshot."""
        self._catch_up()
        return stats_of(self._decoder, self._follower)

    @property
    def error(self) -> Exception | None:
        """The last error that was found while `iter_bytes` went on, and not raised therefore."""
        self._catch_up()
        return self._follower.error

    def completion(self) -> ChatCompletion:
        """The answer as merged from the chunks handed out so far: all text, all tool calls, usage, finish reasons.

        Each call gives another object, which nothing changes afterwards. To be asked in the thread that reads the
        stream; behind `iter_bytes` from any.

        Raises:
            SSEWireError: The stream was made without `accumulate=True`, and `collect` was not called.
        """
        if (accumulator := self._follower.accumulator) is None:
            raise SSEWireError("nothing was merged: make the stream with accumulate=True")
        return accumulator.completion() if self._following is None else self._following.completion(accumulator)

    def _accumulate(self) -> None:
        accumulator = ChatAccumulator()
        self._decoder.merge_with(accumulator.add if self._known.facts is None else _passing_over(accumulator.add))
        self._follower.accumulator = accumulator

    def _begin_collecting(self) -> None:
        # Once bytes are handed out, reading says that there are no chunks.
        if self._follower.accumulator is not None or self._following is not None:
            return
        self._known.need_choices("collect()")
        if self._decoder.chunks:
            raise SSEWireError(
                f"collect() has not all chunks: {self._decoder.chunks} of them were handed out before and not merged; "
                "make the stream with accumulate=True"
            )
        self._accumulate()

    def _texts(self, choice: int | None) -> Iterator[str]:
        if choice is not None and not isinstance(choice, int):
            raise TypeError(f"a choice is told by its index, an integer, not {choice!r}")
        if choice is None and self._known.facts is None:
            return self._decoder.texts()
        self._known.need_choices("iter_text()")
        text: Callable[[Any], str] = text_of if choice is None else partial(choice_text_of, choice)
        # No generator: that would be over after the first error.
        return filter(None, map(text, self._decoder))

    def _batches(self, most: int) -> Iterator[list[T]]:
        if most < 1:
            raise ValueError(f"a batch has at least one chunk, not {most}")
        return self._decoder.batches(min(most, sys.maxsize))

    def _catch_up(self) -> None:
        """Follow what was relayed before anything is said of the stream."""
        if self._following is not None:
            self._following.catch_up()

    def _leave(self) -> None:
        """The same before the stream is closed, which waits for nobody."""
        if self._following is not None:
            self._following.leave()


def _passing_over(add: Callable[[Any, Any], None]) -> Callable[[Any, Any], None]:
    """Merging where a type such as `Any` lets through what is no chunk: that has nothing to merge."""

    def merge(chunk: Any, usage: Any) -> None:
        if has_choices(chunk):
            add(chunk, usage)

    return merge
