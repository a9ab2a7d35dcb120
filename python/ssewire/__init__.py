"""Server-Sent Events and OpenAI-compatible chat-completion streams out of the bytes of any HTTP client."""

from ._core import IgnoredLine, ServerSentEvent, __version__
from .accumulate import ChatAccumulator
from .async_stream import AsyncChatStream
from .completion import ChatCompletion, ChatCompletionMessage, CompletionChoice, ToolCall, ToolCallFunction
from .decode import DEFAULT_MAX_EVENT_SIZE, ChunkDecoder, SSEDecoder
from .errors import (
    APIError,
    DecodeError,
    EventTooLargeError,
    IncompleteStreamError,
    NotAStreamError,
    SSEWireError,
    StreamIdleError,
    ToolArgumentsError,
)
from .events import AsyncEventStream, EventStream
from .models import (
    ChatCompletionChunk,
    ChoiceDelta,
    ChoiceDeltaToolCall,
    ChoiceDeltaToolCallFunction,
    ChunkChoice,
    CompletionUsage,
)
from .provider import CENTML, CHUTES, NSCALE, Provider
from .stats import StreamStats
from .stream import ChatStream

__all__ = [
    "CENTML",
    "CHUTES",
    "DEFAULT_MAX_EVENT_SIZE",
    "NSCALE",
    "APIError",
    "AsyncChatStream",
    "AsyncEventStream",
    "ChatAccumulator",
    "ChatCompletion",
    "ChatCompletionChunk",
    "ChatCompletionMessage",
    "ChatStream",
    "ChoiceDelta",
    "ChoiceDeltaToolCall",
    "ChoiceDeltaToolCallFunction",
    "ChunkChoice",
    "ChunkDecoder",
    "CompletionChoice",
    "CompletionUsage",
    "DecodeError",
    "EventStream",
    "EventTooLargeError",
    "IgnoredLine",
    "IncompleteStreamError",
    "NotAStreamError",
    "Provider",
    "SSEDecoder",
    "SSEWireError",
    "ServerSentEvent",
    "StreamIdleError",
    "StreamStats",
    "ToolArgumentsError",
    "ToolCall",
    "ToolCallFunction",
    "__version__",
]
