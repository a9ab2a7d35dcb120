"""How an answer is divided into chunks: what each of them says, before anything is written.

Where the opening, the finish reason and the usage stand, how tool calls are cut, and what later pieces of a call
repeat differs from server to server; `plan` takes these as parameters, and a dialect only writes what it gives.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import chain, zip_longest
from typing import Any, Final, Literal

from .answer import Answer, Call, Counts, Reply
from .expected import Part, Piece, Said

ABSENT: Final = object()
SAME: Final = object()


@dataclass(frozen=True)
class Tools:
    """How tool calls are cut and written.

    `pieces`: cut into fragments; each call whole in a chunk; all calls whole in one chunk. The later ones are the
    values of these members in each piece but the first: left out, null, "" or the same again.
    """

    pieces: Literal["fragments", "whole", "together"] = "fragments"
    opening: bool = True
    """Whether the first piece has no arguments yet."""
    indexed: bool = True
    first_id: Any = SAME
    later_id: Any = ABSENT
    later_name: Any = ABSENT
    later_type: Any = ABSENT
    arguments: Literal["text", "object", "null at first"] = "text"
    order: tuple[str, ...] = ("index", "id", "type", "function")

    def cut(self, calls: tuple[Call, ...]) -> Iterator[tuple[Piece, ...]]:
        """The pieces of each chunk."""
        if self.pieces == "together" and calls:
            yield tuple(self._whole(call, index) for index, call in enumerate(calls))
        elif self.pieces == "whole":
            yield from ((self._whole(call, index),) for index, call in enumerate(calls))
        else:
            yield from ((piece,) for index, call in enumerate(calls) for piece in self._fragments(call, index))

    def _whole(self, call: Call, index: int) -> Piece:
        arguments = json.loads(call.arguments) if self.arguments == "object" else call.arguments
        return self._piece(call, index, self._first_id(call), call.name, "function", arguments)

    def _fragments(self, call: Call, index: int) -> Iterator[Piece]:
        first, *rest = ("", *call.fragments) if self.opening else call.fragments
        opening = None if self.arguments == "null at first" else first
        yield self._piece(call, index, self._first_id(call), call.name, "function", opening)
        for fragment in rest:
            again = (
                call.id if self.later_id is SAME else self.later_id,
                call.name if self.later_name is SAME else self.later_name,
                "function" if self.later_type is SAME else self.later_type,
            )
            yield self._piece(call, index, *again, fragment)

    def _first_id(self, call: Call) -> Any:
        return call.id if self.first_id is SAME else self.first_id

    def _piece(self, call: Call, index: int, id: Any, name: Any, type: Any, arguments: Any) -> Piece:
        function = _present({"name": name, "arguments": arguments})
        members = {"index": index if self.indexed else ABSENT, "id": id, "type": type, "function": function}
        sent = _present({key: members[key] for key in self.order})
        return Piece(sent.get("index"), sent.get("id"), function.get("name"), arguments, sent, call)


def _present(members: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in members.items() if value is not ABSENT}


UsageAt = Literal["nowhere", "alone", "finish", "each", "each and alone"]


def plan(
    answer: Answer,
    *,
    tools: Tools = Tools(),
    usage: UsageAt = "alone",
    opening: bool = True,
    role: Literal["first", "every"] = "first",
    finish: Literal["alone", "last", "never"] = "alone",
    reasons: Mapping[str, str] | None = None,
    blend: bool = False,
    side_by_side: bool = False,
) -> list[Said]:
    """What each chunk of an answer says.

    `opening` is a chunk with a role and no text. `finish` puts the finish reason into a chunk of its own or into the
    last one that says something; `reasons` are the server's words for some. `blend` lets the last thought and the first
    word share a chunk; `side_by_side` lets all choices share each chunk.
    """
    columns: list[list[Part]] = []
    for index, reply in enumerate(answer.replies):
        parts = [Part(), *_parts(reply, tools, blend=blend)] if opening else list(_parts(reply, tools, blend=blend))
        reason = (reasons or {}).get(reply.finish_reason, reply.finish_reason)
        if finish == "alone" or not parts:
            parts.append(Part(finish_reason=None if finish == "never" else reason))
        elif finish == "last":
            parts[-1] = replace(parts[-1], finish_reason=reason)
        columns.append(
            [
                replace(part, index=index, role="assistant" if role == "every" or not place else None)
                for place, part in enumerate(parts)
            ]
        )
    rows = [tuple(part for part in row if part) for row in zip_longest(*columns)]
    saids = [Said(row) for row in rows] if side_by_side else [Said((part,)) for part in chain(*rows)]
    if usage in ("alone", "each and alone"):
        saids.append(Said())
    return _counted(saids, answer.usage, usage)


def _parts(reply: Reply, tools: Tools, *, blend: bool) -> Iterator[Part]:
    thoughts, words = list(reply.thoughts), list(reply.words)
    blended = Part(reasoning=thoughts.pop(), text=words.pop(0)) if blend and thoughts and words else None
    yield from (Part(reasoning=thought) for thought in thoughts)
    if blended:
        yield blended
    yield from (Part(text=word) for word in words)
    yield from (Part(refusal=piece) for piece in reply.refusal)
    yield from (Part(calls=pieces) for pieces in tools.cut(reply.calls))
    if reply.function:
        yield Part(function=(reply.function.name, ""))
        yield from (Part(function=(None, fragment)) for fragment in reply.function.fragments)


def _counted(saids: list[Said], counts: Counts, usage: UsageAt) -> list[Said]:
    if usage == "nowhere":
        return saids
    counted = [
        replace(said, usage=_so_far(counts, done)) if "each" in usage else said for done, said in enumerate(saids)
    ]
    counted[-1] = replace(counted[-1], usage=counts)
    return counted


def _so_far(counts: Counts, completion: int) -> Counts:
    """Usage when so many tokens are out."""
    return Counts(counts.prompt, completion, (counts.prompt or 0) + completion)
