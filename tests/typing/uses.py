"""Typed uses of the public names: each `assert_type` must hold for mypy and pyright, each `ignore` be needed for mypy.

Nothing here runs; see `test_types.py`.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from functools import partial
from typing import Any, Literal, TypedDict, assert_type

import msgspec

from ssewire import (
    NSCALE,
    APIError,
    AsyncChatStream,
    AsyncEventStream,
    ChatAccumulator,
    ChatCompletion,
    ChatCompletionChunk,
    ChatCompletionMessage,
    ChatStream,
    ChunkDecoder,
    CompletionChoice,
    CompletionUsage,
    DecodeError,
    EventStream,
    IgnoredLine,
    IncompleteStreamError,
    ServerSentEvent,
    SSEDecoder,
    SSEWireError,
    StreamIdleError,
    StreamStats,
    ToolArgumentsError,
    ToolCall,
    ToolCallFunction,
)


class Mine(msgspec.Struct):
    x: int


class Shape(TypedDict):
    x: int


def chat_stream(response: Any) -> None:
    stream = ChatStream(response)
    assert_type(stream, ChatStream[ChatCompletionChunk])
    with ChatStream(response, require_done=True, max_event_size=1) as entered:
        assert_type(entered, ChatStream[ChatCompletionChunk])
    for chunk in stream:
        assert_type(chunk, ChatCompletionChunk)
        assert_type(chunk.text, str)
    assert_type(iter(stream), Iterator[ChatCompletionChunk])
    assert_type(next(stream), ChatCompletionChunk)
    assert_type(stream.iter_text(), Iterator[str])
    assert_type(stream.iter_payloads(), Iterator[bytes])
    assert_type(stream.iter_with_payload(), Iterator[tuple[bytes, ChatCompletionChunk]])
    assert_type(stream.state, Literal["open", "done", "finished", "incomplete", "error", "closed"])
    assert_type(stream.usage, CompletionUsage | None)
    assert_type(stream.finish_reasons, dict[int, str])
    assert_type(stream.last_event_id, str)
    assert_type(stream.response_headers, Mapping[str, str])
    assert_type(stream.response_headers.get("x-request-id"), str | None)
    assert_type(stream.stats, StreamStats)
    counts = stream.stats
    assert_type((counts.bytes, counts.events, counts.chunks), tuple[int, int, int])
    assert_type((counts.comments, counts.skipped_events), tuple[int, int])
    assert_type((counts.repaired, counts.decode_errors), tuple[int, int])
    assert_type((counts.time_to_first_byte, counts.time_to_first_text), tuple[float | None, float | None])
    assert_type((counts.text_gaps, counts.mean_text_gap), tuple[int, float | None])
    assert_type(counts.longest_text_gap, float | None)


def other_ways(stream: ChatStream[ChatCompletionChunk], own: ChatStream[Mine]) -> None:
    assert_type(stream.iter_batches(), Iterator[list[ChatCompletionChunk]])
    assert_type(stream.iter_batches(1), Iterator[list[ChatCompletionChunk]])
    assert_type(own.iter_batches(most=1), Iterator[list[Mine]])
    assert_type(stream.iter_bytes(), Iterator[bytes])
    assert_type(stream.iter_text(0), Iterator[str])
    assert_type(own.iter_text(choice=None), Iterator[str])
    assert_type(stream.collect(), ChatCompletion)
    assert_type(own.completion(), ChatCompletion)
    assert_type(stream.error, Exception | None)


def stream_options(response: Any, seconds: float | None) -> None:
    assert_type(
        ChatStream(
            response,
            accumulate=True,
            require_done=True,
            on_decode_error="skip",
            max_event_size=1,
            idle_timeout=seconds,
            first_event_timeout=30,
            drain=True,
        ),
        ChatStream[ChatCompletionChunk],
    )
    assert_type(ChatStream(response, type=Mine, accumulate=True, idle_timeout=None), ChatStream[Mine])
    assert_type(ChatStream(response, type=dict[str, Any], drain=True), ChatStream[dict[str, Any]])
    assert_type(
        AsyncChatStream(response, accumulate=True, drain=True, idle_timeout=0.5, first_event_timeout=seconds),
        AsyncChatStream[ChatCompletionChunk],
    )
    assert_type(AsyncChatStream(response, type=Mine, accumulate=True, drain=False), AsyncChatStream[Mine])


def completions(completion: ChatCompletion) -> None:
    assert_type((completion.id, completion.object, completion.model), tuple[str | None, str, str | None])
    assert_type((completion.text, completion.reasoning), tuple[str, str])
    assert_type(completion.created, int | float | None)
    assert_type(completion.choices, list[CompletionChoice])
    assert_type(completion.usage, CompletionUsage | None)
    assert_type((completion.system_fingerprint, completion.service_tier), tuple[str | None, str | None])
    choice = completion.choices[0]
    assert_type((choice.index, choice.finish_reason), tuple[int, str | None])
    assert_type(choice.logprobs, dict[str, Any] | None)
    message = choice.message
    assert_type(message, ChatCompletionMessage)
    assert_type((message.role, message.content, message.refusal), tuple[str, str | None, str | None])
    assert_type((message.reasoning, message.reasoning_content), tuple[str | None, str | None])
    assert_type(message.reasoning_details, list[Any] | None)
    assert_type(message.tool_calls, list[ToolCall])
    assert_type(message.function_call, ToolCallFunction | None)
    assert_type((message.annotations, message.images), tuple[list[Any] | None, list[Any] | None])
    assert_type(message.audio, dict[str, Any] | None)


def tool_calls(call: ToolCall) -> None:
    assert_type((call.id, call.type), tuple[str | None, str])
    assert_type((call.function.name, call.function.arguments), tuple[str, str])
    assert_type(call.parse_arguments(), dict[str, Any])
    assert_type(call.parse_arguments(Mine), Mine)
    assert_type(call.parse_arguments(type=Shape), Shape)
    try:
        call.parse_arguments(list[int])
    except ToolArgumentsError as error:
        assert_type((error.name, error.arguments, error.reason, error.cut), tuple[str, str, str, bool])


def accumulators(chunk: ChatCompletionChunk, own: Mine) -> None:
    accumulator = ChatAccumulator()
    accumulator.add(chunk)
    accumulator.add(own)
    accumulator.add({"choices": []})
    assert_type(accumulator.completion(), ChatCompletion)


def errors(incomplete: IncompleteStreamError, idle: StreamIdleError) -> None:
    assert_type((incomplete.tail, incomplete.completion), tuple[bytes, ChatCompletion | None])
    assert_type((idle.limit, idle.waited, idle.option), tuple[float, float, str])
    assert_type((idle.events, idle.comments), tuple[int, int | None])
    assert_type(idle.completion, ChatCompletion | None)


class Collector:
    """Functions for decode errors that are no functions."""

    def __call__(self, error: DecodeError) -> bool:
        assert_type(error.payload, bytes)
        return True

    def method(self, error: DecodeError, more: int = 0) -> int:
        assert_type((error.reason, error.event_number, error.offset), tuple[str, int, int])
        return more

    def of_any_error(self, error: Exception) -> None: ...


def decode_errors(response: Any, given: Literal["raise", "skip"] | None) -> None:
    errors: list[DecodeError] = []
    collector = Collector()
    assert_type(ChatStream(response, on_decode_error="raise"), ChatStream[ChatCompletionChunk])
    assert_type(ChatStream(response, on_decode_error="skip"), ChatStream[ChatCompletionChunk])
    assert_type(ChatStream(response, on_decode_error=given or "raise"), ChatStream[ChatCompletionChunk])
    assert_type(ChatStream(response, on_decode_error=errors.append), ChatStream[ChatCompletionChunk])
    assert_type(ChatStream(response, on_decode_error=print), ChatStream[ChatCompletionChunk])
    assert_type(ChatStream(response, on_decode_error=lambda error: error.payload), ChatStream[ChatCompletionChunk])
    assert_type(ChatStream(response, on_decode_error=collector), ChatStream[ChatCompletionChunk])
    assert_type(ChatStream(response, on_decode_error=collector.method), ChatStream[ChatCompletionChunk])
    assert_type(ChatStream(response, on_decode_error=collector.of_any_error), ChatStream[ChatCompletionChunk])
    assert_type(
        ChatStream(response, on_decode_error=partial(collector.method, more=1)), ChatStream[ChatCompletionChunk]
    )
    assert_type(ChatStream(response, type=Mine, on_decode_error="skip"), ChatStream[Mine])
    assert_type(ChatStream(response, type=Mine, on_decode_error=errors.append), ChatStream[Mine])
    assert_type(AsyncChatStream(response, on_decode_error="skip"), AsyncChatStream[ChatCompletionChunk])
    assert_type(AsyncChatStream(response, on_decode_error=errors.append), AsyncChatStream[ChatCompletionChunk])
    assert_type(AsyncChatStream(response, type=Mine, on_decode_error=collector), AsyncChatStream[Mine])
    assert_type(ChunkDecoder(on_decode_error="skip"), ChunkDecoder[ChatCompletionChunk])
    assert_type(ChunkDecoder(on_decode_error=errors.append), ChunkDecoder[ChatCompletionChunk])
    assert_type(ChunkDecoder(Mine, on_decode_error=collector.method), ChunkDecoder[Mine])


def chunks_of_other_types(response: Any) -> None:
    assert_type(ChatStream(response, type=Mine), ChatStream[Mine])
    assert_type(ChatStream(response, type=Shape), ChatStream[Shape])
    assert_type(ChatStream(response, type=dict[str, Any]), ChatStream[dict[str, Any]])
    assert_type(ChatStream(response, type=ChatCompletionChunk), ChatStream[ChatCompletionChunk])
    assert_type(AsyncChatStream(response, type=dict[str, Any]), AsyncChatStream[dict[str, Any]])
    assert_type(next(ChatStream(response, type=Mine).iter_with_payload()), tuple[bytes, Mine])
    for chunk in ChatStream(response, type=NSCALE.chunk_type):
        assert_type(chunk.choices[0].delta.content, str | msgspec.UnsetType | None)


async def async_chat_stream(response: Any) -> None:
    stream = AsyncChatStream(response)
    assert_type(stream, AsyncChatStream[ChatCompletionChunk])
    async with AsyncChatStream(response, type=Mine) as entered:
        assert_type(entered, AsyncChatStream[Mine])
    async for chunk in stream:
        assert_type(chunk, ChatCompletionChunk)
    assert_type(aiter(stream), AsyncIterator[ChatCompletionChunk])
    assert_type(await anext(stream), ChatCompletionChunk)
    assert_type(stream.iter_text(), AsyncIterator[str])
    assert_type(stream.iter_payloads(), AsyncIterator[bytes])
    assert_type(stream.iter_with_payload(), AsyncIterator[tuple[bytes, ChatCompletionChunk]])
    assert_type((stream.stats, stream.response_headers), tuple[StreamStats, Mapping[str, str]])
    assert_type(stream.iter_batches(), AsyncIterator[list[ChatCompletionChunk]])
    assert_type(stream.iter_batches(most=1), AsyncIterator[list[ChatCompletionChunk]])
    assert_type(stream.iter_bytes(), AsyncIterator[bytes])
    assert_type(stream.iter_text(choice=1), AsyncIterator[str])
    assert_type(await stream.collect(), ChatCompletion)
    assert_type((stream.completion(), stream.error), tuple[ChatCompletion, Exception | None])
    await stream.aclose()


async def event_streams(response: Any, maybe: bool) -> None:
    assert_type(EventStream(response), EventStream[ServerSentEvent])
    assert_type(EventStream(response, ignored_lines=False), EventStream[ServerSentEvent])
    assert_type(EventStream(response, ignored_lines=True), EventStream[ServerSentEvent | IgnoredLine])
    assert_type(EventStream(response, ignored_lines=maybe), EventStream[ServerSentEvent | IgnoredLine])
    for event in EventStream(response):
        assert_type(event, ServerSentEvent)
    for item in EventStream(response, ignored_lines=True):
        assert_type(item, ServerSentEvent | IgnoredLine)
        if isinstance(item, IgnoredLine):
            assert_type(item.comment, bool)
        else:
            assert_type(item.data, str)
    async for event in AsyncEventStream(response):
        assert_type(event, ServerSentEvent)
    assert_type(AsyncEventStream(response, ignored_lines=True), AsyncEventStream[ServerSentEvent | IgnoredLine])


def events(event: ServerSentEvent) -> None:
    assert_type((event.event, event.data, event.payload, event.id), tuple[str, str, bytes, str])
    assert_type(event.retry, int | None)
    assert_type(event.json(), Any)
    assert_type(event.json(type=Mine), Mine)
    assert_type(event.json(dict[str, int]), dict[str, int])
    match event:
        case ServerSentEvent(name, data):
            assert_type((name, data), tuple[str, str])


def decoders(read: bytes | bytearray | memoryview) -> None:
    decoder = SSEDecoder()
    assert_type(decoder, SSEDecoder[ServerSentEvent])
    assert_type(decoder.feed(read), SSEDecoder[ServerSentEvent])
    assert_type(decoder.finish(deliver=True), SSEDecoder[ServerSentEvent])
    assert_type(SSEDecoder(ignored_lines=True), SSEDecoder[ServerSentEvent | IgnoredLine])
    assert_type(list(decoder), list[ServerSentEvent])
    chunks = ChunkDecoder()
    assert_type(chunks, ChunkDecoder[ChatCompletionChunk])
    assert_type(chunks.feed(read), ChunkDecoder[ChatCompletionChunk])
    assert_type(ChunkDecoder(Mine), ChunkDecoder[Mine])
    assert_type(ChunkDecoder(type=dict[str, Any]), ChunkDecoder[dict[str, Any]])
    assert_type(list(ChunkDecoder(Mine).feed(read).finish()), list[Mine])
    assert_type(chunks.done, bool)
    assert_type(chunks.stats, StreamStats)
    assert_type(chunks.texts(), Iterator[str])
    assert_type(chunks.state, Literal["open", "done", "finished", "incomplete", "error", "closed"])


def of_another_error(error: APIError) -> None: ...


def wrong_uses(
    stream: ChatStream[ChatCompletionChunk], decoder: SSEDecoder[ServerSentEvent], error: SSEWireError
) -> None:
    decoder.feed("data: a\n\n")  # type: ignore[arg-type]
    decoder.feed(None)  # type: ignore[arg-type]
    ChatStream()  # type: ignore[call-overload]
    ChatStream(b"", "positional")  # type: ignore[call-overload]
    ChatStream(b"", nonsense=True)  # type: ignore[call-overload]
    ChatStream(b"", accumulate="yes")  # type: ignore[call-overload]
    ChatStream(b"", idle_timeout="1")  # type: ignore[call-overload]
    AsyncChatStream(b"", drain=None)  # type: ignore[call-overload]
    stream.iter_text("0")  # type: ignore[arg-type]
    stream.iter_batches(None)  # type: ignore[arg-type]
    stream.completion().choices = ()  # type: ignore[assignment]
    stream.completion().text = ""  # type: ignore[misc]
    stream.collect().choices[0].delta  # type: ignore[attr-defined]  # noqa: B018
    ChatStream(b"", on_decode_error="ignore")  # type: ignore[call-overload]
    ChatStream(b"", on_decode_error=None)  # type: ignore[call-overload]
    ChatStream(b"", on_decode_error=lambda: None)  # type: ignore[misc, arg-type]
    ChunkDecoder(on_decode_error=of_another_error)  # type: ignore[arg-type]
    stream.stats.chunks = 0  # type: ignore[misc]
    stream.stats = StreamStats()  # type: ignore[misc, call-arg]
    stream.response_headers["x"] = "y"  # type: ignore[index]
    stream.state = "done"  # type: ignore[misc]
    assert stream.state != "Done"  # type: ignore[comparison-overlap]
    next(stream).txt  # type: ignore[attr-defined]  # noqa: B018
    next(iter(decoder)).data = ""  # type: ignore[misc]
    print(error.status)  # type: ignore[attr-defined]  # noqa: T201
