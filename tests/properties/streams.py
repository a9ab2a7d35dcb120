"""Strategies: event streams, well formed, damaged and arbitrary, and ways to cut them."""

from __future__ import annotations

import json
from typing import Any, TypeAlias

from hypothesis import strategies as st

# What the format turns on, whole and in parts.
PIECES = (
    b"\n",
    b"\r",
    b"\r\n",
    b"\n\n",
    b"\r\r",
    b"\r\n\r\n",
    b":",
    b": ",
    b" ",
    b"\0",
    b"\xef\xbb\xbf",
    b"\xef\xbb",
    b"\xbf",
    b"data",
    b"data:",
    b"data: ",
    b"data: x\n\n",
    b"data: [DONE]\n\n",
    b"id",
    b"id: ",
    b"id: 1\n",
    b"id\n\n",
    b"event",
    b"event: ",
    b"event: ping\n",
    b"retry: ",
    b"retry: 10\n",
    b"99999999999999999999",
    b": comment\n",
    b"foo: bar\n",
    "é…😀".encode(),
    b"\xff",
    b"\xe2\x80",
)

# Blocks without data, which give nothing and yet change what is in force; the last ones are unfinished.
TAILS = (b"id: 9\n\n", b"retry: 8\n\n", b"id: 9\nretry: 8\n\n", b"id\r\rretry: 8\r", b"id: 9\n", b"retry: 8")

_tails = st.just(b"") | st.lists(st.sampled_from(TAILS), max_size=3).map(b"".join)


def _with_tail(bodies: st.SearchStrategy[bytes]) -> st.SearchStrategy[bytes]:
    return st.tuples(bodies, _tails).map(b"".join)


bodies = _with_tail(st.lists(st.sampled_from(PIECES) | st.binary(max_size=4), max_size=40).map(b"".join))
"""Any bytes, such as are likely to be events among them."""

places = st.lists(st.integers(min_value=0, max_value=10_000), max_size=8)
"""Where to cut a body: `cut` takes them modulo its length."""


def _line(name: bytes) -> st.SearchStrategy[bytes]:
    values = st.text(st.characters(exclude_characters="\r\n", codec="utf-8"), max_size=8).map(str.encode)
    return st.builds(
        lambda space, value, end: name + space + value + end, st.sampled_from([b":", b": "]), values, _ends
    )


_ends = st.sampled_from([b"\n", b"\r\n", b"\r"])
_comments = _line(b"")
# Whole lines, so that events with and without a name or an id follow each other.
LINES = (
    b"data: x\n\n",
    b'data: {"choices":[]}\n\n',
    b"data: y\n",
    b"event: ping\n",
    b"id: 1\n",
    b"id\n",
    b"retry: 10\n",
    b": comment\n",
    b"\r\n",
)

Parts: TypeAlias = list[tuple[bytes, int]]

# With a small `detach_min` these are framed ahead, 4096 events at a time at most; otherwise that takes a mebibyte.
_part = st.tuples(st.sampled_from((*PIECES, *LINES, *LINES)), st.sampled_from([1, 1, 1, 2, 300]))
_long_part = st.sampled_from(
    [(b": " + b"x" * 98 + b"\n", 400), (b"data: x\n\n", 5000), (b"x", 40_000), (b"\r", 40_000)]
)
long_parts: st.SearchStrategy[Parts] = st.builds(
    lambda before, long, after: [*before, long, *after],
    st.lists(_part, max_size=8),
    _long_part,
    st.lists(_part | st.tuples(st.sampled_from(TAILS), st.just(1)), max_size=12),
)
"""Pieces and how often each is repeated: long bodies that are short to print."""


def joined(parts: Parts) -> bytes:
    """The body of some parts."""
    return b"".join(piece * times for piece, times in parts)


well_formed = _with_tail(
    st.lists(
        st.builds(
            lambda lines, end: b"".join(lines) + end,
            st.lists(_line(b"data") | _line(b"event") | _line(b"id") | _comments | st.just(b"retry: 7\n"), max_size=5),
            _ends,
        ),
        max_size=8,
    ).map(b"".join)
)
"""Streams of whole blocks."""

_texts = st.text(st.characters(codec="utf-8"), max_size=12)


@st.composite
def chats(draw: st.DrawFn) -> tuple[bytes, list[dict[str, Any]]]:
    """A chat stream as a server could send it, and its chunks: comments, blank data and ids between them."""
    chunks: list[dict[str, Any]] = []
    parts: list[bytes] = [draw(st.sampled_from([b"", b"\xef\xbb\xbf", b": hello\n\n"]))]
    for _ in range(draw(st.integers(min_value=0, max_value=8))):
        choice: dict[str, Any] = {"index": draw(st.integers(0, 2)), "delta": {"content": draw(_texts | st.none())}}
        if draw(st.booleans()):
            choice["finish_reason"] = draw(st.sampled_from([None, "length", "tool_calls"]))
        chunk: dict[str, Any] = {"id": "c", "choices": [choice] if draw(st.booleans()) else []}
        if draw(st.booleans()):
            chunk["usage"] = draw(st.none() | st.fixed_dictionaries({"total_tokens": st.integers(1, 9)}))
        chunks.append(chunk)
        payload = json.dumps(chunk, ensure_ascii=draw(st.booleans())).encode()
        end = draw(_ends)
        between = draw(
            st.sampled_from([b"", b": ping" + end, b"id: 7" + end, b"id" + end, b"data:" + end, b"event: ping" + end])
        )
        space = draw(st.sampled_from([b"", b" "]))
        parts += [between, end if b"data" in between or b"event" in between else b""]
        parts += [b"data:", space, payload, end, end]
    parts.append(draw(_tails))
    parts.append(draw(st.sampled_from([b"", b"data: [DONE]\n\n", b"data:[DONE]\r\n\r\n", b"data: [DONE]"])))
    return b"".join(parts), chunks
