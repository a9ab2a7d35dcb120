"""The slow twin of the chat layer: what a whole body says, told rule by rule, with nothing but `json` and `re`.

`read` gives all that comes out of a chat stream, chunks and errors in their order, and how it ended. It is written to
be seen through at once and not to be fast; the events are those of `tests/oracle.py`. It knows responses whose status
is a success, and chunks of the built-in type.
"""

from __future__ import annotations

import itertools
import json
import re
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from tests import oracle

_COUNTS: Final = ("prompt_tokens", "completion_tokens", "total_tokens")
_NO_JSON: Final = object()


@dataclass(frozen=True)
class ToolCall:
    """A piece of a tool call, every member as it was sent."""

    choice: int
    index: int | None
    id: str | None
    name: str | None
    arguments: Any


class Chunk(NamedTuple):
    """A chunk: the bytes and the tree that it is, and what a reader wants of it."""

    payload: bytes
    tree: dict[str, Any]
    text: dict[int, str]
    """The text of each choice that has some, by its index."""
    reasoning: str
    tool_calls: list[ToolCall]


class ServerError(NamedTuple):
    """The server said that it failed."""

    message: str
    type: str | None
    code: str | int | None
    body: Any


class Undecodable(NamedTuple):
    """An event that is no chunk."""

    payload: bytes


class Incomplete(NamedTuple):
    """The body ended before the answer did."""

    tail: bytes


class NoStream(NamedTuple):
    """The body is no event stream."""

    body: bytes


@dataclass
class Chat:
    """All that a body says."""

    items: list[Chunk | ServerError | Undecodable | Incomplete | NoStream] = field(default_factory=list)
    state: str = "open"
    over: bool = False
    finish_reasons: dict[int, str] = field(default_factory=dict)
    usage: dict[str, Any] | None = None
    usage_elsewhere: dict[str, Any] | None = None
    """Counts with a choice or with Groq's own object."""
    chunks_of: dict[int, int] = field(default_factory=dict)
    """In how many chunks each choice was."""
    events: int = 0
    comments: int = 0
    skipped_events: int = 0
    shared: int = 0
    """How many chunks had no event of their own."""
    unknown_lines: list[bytes] = field(default_factory=list)
    """Those behind the last event."""

    @property
    def payloads(self) -> list[bytes]:
        """The payload of each chunk."""
        return [item.payload for item in self.items if isinstance(item, Chunk)]

    def count(self, kind: type) -> int:
        """How many items are of one kind."""
        return sum(isinstance(item, kind) for item in self.items)

    def end(self, state: str) -> None:
        """Nothing more is read. An error stays one whatever follows."""
        self.over = True
        self.state = state if self.state == "open" else self.state


def read(body: bytes) -> Chat:
    """Read a whole body."""
    chat = Chat()
    # What the end of the body cuts is delivered where it can be read: servers forget the last blank line.
    whole_events = len(oracle.decode(body).events)
    lines: list[oracle.Ignored] = []
    for step in oracle.decode(body + oracle.END_OF_INPUT).steps:
        if isinstance(step, oracle.Ignored):
            lines.append(step)
            continue
        _read_lines(chat, [line.line for line in lines if not line.in_event])
        if not chat.over:
            _read_event(chat, step, cut=chat.events == whole_events)
            # A line in the middle of an event comes behind it, the sentinel's included.
            _read_lines(chat, [line.line for line in lines if line.in_event])
        if chat.over:
            return chat
        lines = []
    _read_lines(chat, [line.line for line in lines])
    if not chat.over:
        _read_end(chat, body)
    return chat


def _read_lines(chat: Chat, lines: list[bytes]) -> None:
    """Lines that are no field of an event: comments, and errors of servers that forget `data:`."""
    while lines:
        line, *lines = lines
        name, colon, value = line.partition(b":")
        if not name:
            chat.comments += 1
            continue
        if colon and name.lower() == b"error":
            said = _json(value)
            if value.strip() and said not in (None, {}):
                _fail(chat, value.strip().decode("utf-8", "replace") if said is _NO_JSON else said)
            continue
        chat.unknown_lines.append(line)
        if line.startswith((b"{", b"[")):
            said = _json(line)
            for at, later in enumerate(lines):
                # Over several lines, up to one that begins with a closing bracket.
                if said is _NO_JSON and later.startswith((b"}", b"]")):
                    said = _json(b"\n".join([line, *lines[: at + 1]]))
            if _error_in(said):
                _fail(chat, said)
                if chat.events == 0:
                    # Before any event it is the body.
                    chat.over = True
                    return


def _read_event(chat: Chat, event: oracle.Event, *, cut: bool) -> None:
    chat.events += 1
    if chat.events == 1 and chat.unknown_lines and chat.state == "open" and event.data.strip() == b"[DONE]":
        # A gateway puts the sentinel behind whatever it relayed.
        chat.items.append(NoStream(b"\n".join(chat.unknown_lines)))
        chat.end("error")
        return
    chat.unknown_lines.clear()
    chunks = chat.count(Chunk)
    if event.event == "error":
        said = _json(event.data)
        _fail(chat, event.data.decode("utf-8", "replace") if said is _NO_JSON else said)
    elif event.event == "message" or event.data.strip() == b"[DONE]":
        _read_data(chat, event.data, cut=cut)
    else:
        tree = _json(event.data)
        if _error_in(tree) or (isinstance(tree, dict) and "choices" in tree):
            _read_data(chat, event.data, cut=cut)
        else:
            chat.skipped_events += 1
    if _json(event.data) is _NO_JSON:
        chat.shared += chat.count(Chunk) - chunks


def _read_data(chat: Chat, data: bytes, *, cut: bool) -> None:
    if data.strip() == b"[DONE]":
        chat.end("done")
    elif data.strip():
        lines = [line for line in data.split(b"\n") if line.strip()]
        if (tree := _json(data)) is not _NO_JSON:
            _read_tree(chat, tree, data, cut=cut)
        elif b"\n" in data and _are_events(lines):
            # A server that forgets the blank line.
            for line in lines:
                if not chat.over:
                    _read_data(chat, line, cut=cut and line is lines[-1])
        elif documents := _documents(data):
            for document in documents:
                if not chat.over:
                    _read_data(chat, document, cut=False)
        else:
            _refuse(chat, data, cut=cut)


def _refuse(chat: Chat, payload: bytes, *, cut: bool) -> None:
    """What is no chunk is a fault of its event, unless the end of the body cut it."""
    chat.items.append(Incomplete(payload) if cut else Undecodable(payload))
    if cut:
        chat.end("incomplete")


def _are_events(lines: list[bytes]) -> bool:
    if all(line.lstrip().startswith(b"{") for line in lines):
        return True
    for line in lines:
        tree = _json(line)
        if line.strip() == b"[DONE]" or _error_in(tree) or (isinstance(tree, dict) and "choices" in tree):
            return True
    return False


def _documents(line: bytes) -> list[bytes] | None:
    """The JSON documents, and perhaps the sentinel, that stand in one line; None where anything else does."""
    found: list[bytes] = []
    rest = line.decode("utf-8", "surrogateescape").strip()
    while rest:
        end = len("[DONE]")
        if not rest.startswith("[DONE]"):
            try:
                tree, end = json.JSONDecoder(strict=False).raw_decode(rest)
            except (ValueError, RecursionError):
                return None
            if not isinstance(tree, (dict, list)):
                return None
        found.append(rest[:end].encode("utf-8", "surrogateescape"))
        rest = rest[end:].strip()
    return found


def _read_tree(chat: Chat, tree: Any, payload: bytes, *, cut: bool) -> None:
    """One JSON value: a chunk, an error, both, or neither."""
    error = _error_in(tree)
    if isinstance(tree, dict) and (not error or isinstance(tree.get("choices"), list)) and _is_chunk(tree):
        _read_chunk(chat, tree, payload)
    elif tree is not None and not error:
        _refuse(chat, payload, cut=cut)
    if error:
        _fail(chat, tree)


def _is_chunk(tree: dict[str, Any]) -> bool:
    """Whether what holds the answer is of the right kind, or null; an empty list is PHP's empty object."""
    choices = tree.get("choices") or []
    if not isinstance(choices, list) or not all(isinstance(choice or {}, dict) for choice in choices):
        return False
    deltas = [choice.get("delta") or {} for choice in choices if choice]
    return all(
        isinstance(delta, dict)
        and isinstance(delta.get("content") or "", (str, list))
        and isinstance(delta.get("tool_calls") or [], list)
        for delta in deltas
    )


def _read_chunk(chat: Chat, tree: dict[str, Any], payload: bytes) -> None:
    chunk = Chunk(payload, tree, {}, "", [])
    reasoning = ""
    choices = [choice for choice in tree.get("choices") or [] if choice]
    for choice in choices:
        index, delta = choice.get("index") or 0, choice.get("delta") or {}
        if text := _text(delta.get("content")):
            chunk.text[index] = chunk.text.get(index, "") + text
        reasoning += _reasoning(delta)
        for call in delta.get("tool_calls") or []:
            function = call.get("function") or {}
            piece = ToolCall(index, call.get("index"), call.get("id"), function.get("name"), function.get("arguments"))
            chunk.tool_calls.append(piece)
        # Null and "" wipe nothing, and what is called "stop" after tool calls is no news.
        reason, before = choice.get("finish_reason"), chat.finish_reasons.get(index)
        if reason and isinstance(reason, str) and (before, reason) != ("tool_calls", "stop"):
            chat.finish_reasons[index] = reason
    for index in {choice.get("index") or 0 for choice in choices}:
        chat.chunks_of[index] = chat.chunks_of.get(index, 0) + 1
    if _has_count(tree.get("usage")):
        chat.usage = tree["usage"]
    if not choices or any(choice.get("finish_reason") for choice in choices):
        for place in [*choices, tree.get("x_groq")]:
            if isinstance(place, dict) and _has_count(place.get("usage")):
                chat.usage_elsewhere = place["usage"]
    chat.items.append(chunk._replace(reasoning=reasoning))


def _has_count(usage: Any) -> bool:
    return isinstance(usage, dict) and any(usage.get(count) is not None for count in _COUNTS)


def _text(content: Any) -> str:
    if isinstance(content, list):
        return "".join(part["text"] for part in content if isinstance(part, dict) and part.get("type") == "text")
    return content or ""


def _reasoning(delta: dict[str, Any]) -> str:
    """Servers that send the same in several places are met, so the first place that has some counts."""
    details = delta.get("reasoning_details") or []
    content = delta["content"] if isinstance(delta.get("content"), list) else []
    places = [
        delta.get("reasoning_content"),
        delta.get("reasoning"),
        "".join(part.get("text") or part.get("summary") or "" for part in details),
        "".join(map(_thought, content)),
    ]
    return next((text for text in places if text), "")


def _thought(part: Any) -> str:
    if not isinstance(part, dict) or part.get("type") not in ("thinking", "reasoning", "reasoning_text"):
        return ""
    said = part.get("thinking") or part.get("text") or part.get("summary") or ""
    return said if isinstance(said, str) else "".join(inner.get("text") or "" for inner in said)


def _read_end(chat: Chat, body: bytes) -> None:
    if chat.state == "error":
        chat.over = True
        return
    has_field = re.search(rb"(?m)^(\xef\xbb\xbf)?(:|(id|event|retry|data)(:|$))", body.replace(b"\r", b"\n"))
    finished = all(index in chat.finish_reasons for index, chunks in chat.chunks_of.items() if chunks > 1)
    if not chat.events and (chat.unknown_lines or not has_field):
        said = _json(body)
        if isinstance(said, dict) and said.get("detail"):
            _fail(chat, said)
        else:
            chat.items.append(NoStream(body))
        chat.end("error")
    elif chat.finish_reasons and finished:
        chat.end("finished")
    else:
        chat.items.append(Incomplete(b"\n".join(chat.unknown_lines)))
        chat.end("incomplete")


def _error_in(tree: Any) -> Any:
    """The error that a JSON value is or holds; None where there is none."""
    if isinstance(tree, list):
        return next((item for item in tree if isinstance(item, dict) and _error_in(item)), None)
    if isinstance(tree, dict) and (tree.get("error") or "error" in (tree.get("object"), tree.get("type"))):
        return tree
    return None


def _fail(chat: Chat, said: Any) -> None:
    """Take what a server said for an error: members are looked for in the innermost object, then around it."""
    chat.state = "error"
    levels: list[dict[str, Any]] = []
    inner = _error_in(said) or said
    while isinstance(inner, dict):
        levels.insert(0, inner)
        inner = inner.get("error") or inner.get("detail")
    members = dict(itertools.chain(*(level.items() for level in reversed(levels))))
    texts = [_sentence(inner), *(level.get(name) for level in levels for name in ("message", "msg", "details"))]
    message = next((text for text in texts if isinstance(text, str)), None)
    chat.items.append(
        ServerError(
            message if message is not None else json.dumps(said, ensure_ascii=False, separators=(",", ":")),
            next((members[name] for name in ("type", "error_type") if members.get(name)), None),
            next((members[name] for name in ("code", "error_code", "status_code") if members.get(name)), None),
            said,
        )
    )


def _sentence(said: Any) -> str | None:
    """A text, or a list of texts or of objects with one."""
    if not isinstance(said, list) or not said:
        return said.strip() if isinstance(said, str) else None
    texts = [item.get("message", item.get("msg")) if isinstance(item, dict) else item for item in said]
    return "; ".join(map(str, texts)) if all(isinstance(text, str) for text in texts) else None


def _json(data: bytes) -> Any:
    """Decode JSON with the faults that servers make; `_NO_JSON` for what is none."""
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    try:
        return _mended(json.loads(text, strict=False))  # not strict: control characters may stand in strings
    except (ValueError, RecursionError):
        return _NO_JSON


def _mended(tree: Any) -> Any:
    """Half a surrogate pair is no character."""
    if isinstance(tree, str):
        return re.sub("[\ud800-\udfff]", "\ufffd", tree)
    if isinstance(tree, list):
        return [_mended(item) for item in tree]
    if isinstance(tree, dict):
        return {_mended(key): _mended(value) for key, value in tree.items()}
    return tree
