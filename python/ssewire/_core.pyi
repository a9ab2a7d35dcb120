"""The compiled part of ssewire. Users meet these classes through the names of `ssewire` itself."""

from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Generator, Iterable, Iterator
from types import GenericAlias
from typing import Any, Final, Generic, Self, TypeVar, final, overload

from typing_extensions import Buffer, disjoint_base

from .models import CompletionUsage
from .pull import AsyncPull

__all__ = [
    "AwaitedReads",
    "ChunkBatches",
    "ChunkDecoder",
    "ChunkView",
    "IgnoredLine",
    "ReadyItems",
    "SSEDecoder",
    "ServerSentEvent",
    "__version__",
]

__version__: Final[str]

_T = TypeVar("_T")
_ItemT = TypeVar("_ItemT")
_EventT = TypeVar("_EventT", bound=ServerSentEvent | IgnoredLine)
_ChunkT = TypeVar("_ChunkT")

@final
class ServerSentEvent:
    """One server-sent event.

    Equal, hashable and picklable by its four members. Bytes that are no UTF-8 are U+FFFD in the text; `payload` has
    them as they were sent.
    """

    __match_args__: Final = ("event", "data", "id", "retry")
    def __new__(
        cls, event: str | None = None, data: str | None = None, id: str | None = None, retry: int | None = None
    ) -> Self: ...
    @property
    def event(self) -> str:
        """The event's name; "message" where the stream gave none."""
    @property
    def data(self) -> str:
        """The values of its data lines, joined by line feeds."""
    @property
    def payload(self) -> bytes:
        """The data as the bytes that were sent."""
    @property
    def id(self) -> str:
        """The last event id of the stream at this event, which may have come with an earlier one; "" for none."""
    @property
    def retry(self) -> int | None:
        """The reconnection time in milliseconds, where this event's block carried one."""
    @overload
    def json(self, type: None = None) -> Any: ...
    @overload
    def json(self, type: type[_T]) -> _T:
        """Decode the data as JSON, to plain objects or to `type`.

        Raises:
            msgspec.DecodeError: The data is no JSON, or (msgspec.ValidationError) not of this type.
        """
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...
    def __reduce__(self) -> tuple[type[Self], tuple[str, str, str, int | None]]: ...

@final
class IgnoredLine:
    """A line without effect on any event: a comment, or one of an unknown field.

    Equal, hashable and picklable by its content.
    """

    def __new__(cls, payload: bytes, *, in_event: bool = False) -> Self: ...
    @property
    def payload(self) -> bytes:
        """The whole line, without its end."""
    @property
    def text(self) -> str:
        """The whole line as text; bytes that are no UTF-8 become U+FFFD."""
    @property
    def comment(self) -> bool:
        """Whether it is a comment, so begins with a colon."""
    @property
    def in_event(self) -> bool:
        """Whether it stands behind a data line of an event that was not complete yet."""
    def __getnewargs_ex__(self) -> tuple[tuple[bytes], dict[str, bool]]: ...
    def __eq__(self, other: object, /) -> bool: ...
    def __hash__(self) -> int: ...

@disjoint_base
class SSEDecoder(Generic[_EventT]):
    """The compiled part of `ssewire.SSEDecoder` and `EventStream`.

    A read with at least `detach_min` bytes left is framed without the interpreter.
    """

    def __new__(
        cls,
        *,
        max_event_size: int,
        ignored_lines: bool = False,
        unusual: Callable[[str, BaseException | None], BaseException | None] | None = None,
        detach_min: int | None = None,
    ) -> Self: ...
    def feed(self, data: Buffer) -> Self:
        """Take the next read, of any size; give this decoder, an iterator over what is complete so far.

        Raises:
            TypeError: `data` is no buffer of bytes.
            SSEWireError: The end of the input was taken before; `reset` first.
        """
    def finish(self, *, deliver: bool = False) -> Self:
        """Take the end of the input; give this decoder, an iterator over what is left.

        The standard drops an event whose blank line did not come (section 9.2.6); `deliver` gives it.
        """
    def reset(self) -> None:
        """Go back to the start, for another stream; the last event id is forgotten too."""
    def pull_from(self, source: Iterator[Any]) -> None:
        """Ask `source` for the reads from now on."""
    def take_turns(self) -> None:
        """From now on pause after a bounded number of events or bytes, so that others have a turn."""
    def pausing(self) -> bool:
        """Whether it pauses, and has nothing to give for that reason; it goes on when it is asked again."""
    def close(self) -> None:
        """Refuse to go on; from any thread, without waiting for one that is reading."""
    @property
    def over(self) -> bool:
        """Whether a stream has ended, and nothing more will come of it."""
    @property
    def done(self) -> bool:
        """Whether the sentinel of a chat stream, `[DONE]`, was among the events."""
    @property
    def events(self) -> int:
        """How many events were handed out."""
    @property
    def retry(self) -> int | None:
        """The reconnection time that the stream has sent last, in milliseconds."""
    @property
    def last_event_id(self) -> str:
        """The last event id in force; "" when none was sent."""
    def __iter__(self) -> Self: ...
    def __next__(self) -> _EventT: ...
    def __class_getitem__(cls, key: Any) -> GenericAlias: ...

@disjoint_base
class ChunkDecoder(Generic[_ChunkT]):
    """The compiled part of `ssewire.ChunkDecoder` and `ChatStream`."""

    def __new__(
        cls,
        decode: Callable[[bytes], _ChunkT],
        unusual: Callable[[str, bytes | None, Any, int, int], tuple[Iterable[Any], bool] | None],
        *,
        facts: Callable[[_ChunkT, bool], tuple[Any, Any, list[tuple[Any, Any]], bool]] | None = None,
        max_event_size: int,
        accelerate: bool = True,
        detach_min: int | None = None,
    ) -> Self: ...
    def feed(self, data: Buffer) -> Self:
        """Take the next read, of any size; give this decoder, an iterator over the chunks that are complete so far.

        Raises:
            TypeError: `data` is no buffer of bytes.
            SSEWireError: The end of the input was taken before; `reset` first.
        """
    def finish(self) -> Self:
        """Take the end of the input; give this decoder, an iterator over what is left."""
    def reset(self) -> None:
        """Go back to the start, for another stream."""
    def pull_from(self, source: Iterator[Any]) -> None:
        """Ask `source` for the reads from now on."""
    def take_no_times(self) -> None:
        """From now on take no time of any read."""
    def take_turns(self) -> None:
        """From now on pause after a bounded number of events or bytes, so that others have a turn."""
    def pausing(self) -> bool:
        """Whether it pauses, and has nothing to give for that reason; it goes on when it is asked again."""
    def close(self) -> None:
        """Refuse to go on; from any thread, without waiting for one that is reading."""
    def merge_with(self, merge: Callable[[_ChunkT, Any], object]) -> None:
        """From now on call `merge(chunk, usage so far)` with each chunk that is handed out."""
    def relay(self) -> None:
        """From now on hand nothing out; iterating raises an SSEWireError."""
    def follow(self) -> bool:
        """Follow a bounded part of what was fed without handing it out; give whether there is more.

        An error is raised in its place; calling it again goes on behind it.
        """
    def payloads(self) -> ChunkView[bytes]:
        """Iterate over the payloads instead, not decoded."""
    def pairs(self) -> ChunkView[tuple[bytes, _ChunkT]]:
        """Iterate over pairs of payload and chunk instead."""
    def texts(self) -> Iterator[str]:
        """Iterate over the text of each chunk that has some instead."""
    def batches(self, most: int) -> ChunkBatches[_ChunkT]:
        """Iterate over lists of the chunks that need no further read instead, not more than `most` in one."""
    @property
    def closed(self) -> bool:
        """Whether it refuses to go on."""
    @property
    def over(self) -> bool:
        """Whether the stream has ended, and nothing more will come of it."""
    @property
    def done(self) -> bool:
        """Whether the sentinel came."""
    @property
    def usage(self) -> CompletionUsage | None:
        """The usage that was sent last, as the chunk's type has it; None when there was none."""
    @property
    def finish_reasons(self) -> dict[int, str]:
        """The finish reason of each choice that has one so far, by the choice's index."""
    @property
    def last_event_id(self) -> str:
        """The last event id in force; "" when none was sent."""
    @property
    def retry(self) -> int | None:
        """The reconnection time that the stream has sent last, in milliseconds."""
    @property
    def events(self) -> int:
        """How many events were seen, the sentinel included."""
    @property
    def chunks(self) -> int:
        """How many chunks were handed out."""
    @property
    def recognised(self) -> int:
        """Those of the chunks that were recognised as like earlier ones, and built without decoding them."""
    @property
    def comments(self) -> int:
        """How many comment lines were seen."""
    @property
    def bytes(self) -> int:
        """How many bytes were read."""
    @property
    def times(self) -> tuple[float | None, float | None, int, float | None, float | None]:
        """Time to the first byte and to the first text, number, mean and longest of the gaps between texts; seconds."""
    def __iter__(self) -> Self: ...
    def __next__(self) -> _ChunkT: ...
    def __class_getitem__(cls, key: Any) -> GenericAlias: ...

@final
class ChunkView(Generic[_ItemT]):
    """Another way to iterate over the same decoder."""

    def __iter__(self) -> Self: ...
    def __next__(self) -> _ItemT: ...
    def __class_getitem__(cls, key: Any) -> GenericAlias: ...

@final
class ChunkBatches(Generic[_ItemT]):
    """Iterates over lists of chunks."""

    def __iter__(self) -> Self: ...
    def __next__(self) -> list[_ItemT]: ...
    def __class_getitem__(cls, key: Any) -> GenericAlias: ...

@final
class AwaitedReads:
    """The reads of an asynchronous stream, awaited for its decoder, by one task at a time.

    `awaited(awaitable)` is a coroutine that awaits what it is given.
    """

    def __new__(
        cls,
        decoder: SSEDecoder[Any] | ChunkDecoder[Any],
        reads: AsyncIterator[Any],
        awaited: Callable[[Awaitable[Any]], Coroutine[Any, Any, Any]],
    ) -> Self: ...
    @property
    def reading(self) -> bool:
        """Whether somebody awaits a read."""
    @reading.setter
    def reading(self, value: bool) -> None: ...
    def stop(self) -> None:
        """Ask for no more reads: one has failed."""

@final
class ReadyItems(Generic[_ItemT]):
    """The items of one view of a stream: iterating gives those that come without waiting, and awaiting then the next.

        for item in items:
            return item
        return await items

    What is more than an item or a read is awaited as `pull.turn()`, `pull.ended(error)` and `pull.failed(error)`.
    """

    def __new__(cls, reads: AwaitedReads, view: Iterator[_ItemT], pull: AsyncPull) -> Self: ...
    def __iter__(self) -> Self: ...
    def __next__(self) -> _ItemT:
        """Give the next item.

        Raises:
            StopAsyncIteration: There is none.
            StopIteration: It is to be awaited, at once.
        """
    def __await__(self) -> Generator[Any, Any, _ItemT]: ...
    def __class_getitem__(cls, key: Any) -> GenericAlias: ...
