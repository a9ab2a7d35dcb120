"""Merges the members of a choice that are trees: log probabilities, details of the reasoning, audio.

What is taken from a chunk is copied, and so is what is given out: nobody who changes either changes the other.
"""

from __future__ import annotations

import base64
import re
from io import StringIO
from typing import Any, Final

from .trees import copied, json_text, says

_DETAIL_TEXTS: Final = frozenset({"text", "summary", "data"})
_AUDIO_TEXTS: Final = frozenset({"transcript", "data"})

# What one encoder wrote in one go: padding ends it.
_BASE64: Final = re.compile(r"[^=]*=+|[^=]+")


class Members:
    """The members of one object: some are texts that join, of any other the last that says something stays."""

    __slots__ = ("_texts", "said")

    def __init__(self, texts: frozenset[str]) -> None:
        self._texts = texts
        self.said: dict[str, Any] = {}

    def add(self, members: dict[str, Any]) -> None:
        """Join what the same object has in another chunk; a copy that nobody else has."""
        for name, value in members.items():
            if not says(value):
                continue
            if name in self._texts and isinstance(value, str):
                text = self.said.get(name)
                if not isinstance(text, StringIO):
                    text = self.said[name] = StringIO()
                text.write(value)
            else:
                self.said[name] = value

    def result(self) -> dict[str, Any]:
        """The members so far."""
        return {
            name: value.getvalue() if isinstance(value, StringIO) else copied(value)
            for name, value in self.said.items()
        }


class Logprobs:
    """The log probabilities of a choice: lists are extended, of anything else the last that says something stays."""

    __slots__ = ("_members",)

    def __init__(self) -> None:
        self._members: dict[str, Any] = {}

    def add(self, logprobs: dict[str, Any]) -> None:
        """Append those of a chunk."""
        for name, value in copied(logprobs).items():
            known = self._members.get(name)
            if isinstance(value, list) and isinstance(known, list):
                known += value
            elif says(value):
                self._members[name] = value

    def result(self) -> dict[str, Any] | None:
        """What came so far; None where nothing did."""
        return copied(self._members) or None


class ReasoningDetails:
    """The entries of `reasoning_details`: those of one type and index are one, but for those of different ids."""

    __slots__ = ("_entries", "_ids", "_newest")

    def __init__(self) -> None:
        self._entries: list[Any] = []
        # By type and index, as JSON since anything may stand there: the newest entry and its id; and with the id too.
        self._newest: dict[str, tuple[Members, bool]] = {}
        self._ids: dict[tuple[str, str], Members] = {}

    def add(self, details: list[Any]) -> None:
        """Join the entries of a chunk."""
        for detail in copied(details):
            if isinstance(detail, dict):
                if any(map(says, detail.values())):
                    self._entry(detail).add(detail)
            elif says(detail):
                self._entries.append(detail)

    def _entry(self, detail: dict[str, Any]) -> Members:
        place = (detail.get("type"), detail.get("index"))
        key = json_text([value if says(value) else None for value in place])
        said_id = json_text(detail["id"]) if says(detail.get("id")) else ""
        entry, has_id = self._newest.get(key, (None, False))
        if said_id:
            entry = self._ids.get((key, said_id)) or (None if has_id else entry)
        if entry is None:
            entry = Members(_DETAIL_TEXTS)
            self._entries.append(entry)
            self._newest[key] = entry, bool(said_id)
        elif said_id and not has_id:
            self._newest[key] = entry, True
        if said_id:
            self._ids[key, said_id] = entry
        return entry

    def result(self) -> list[Any]:
        """The entries so far, in the order in which each came first."""
        return [entry.result() if isinstance(entry, Members) else copied(entry) for entry in self._entries]


class Audio:
    """Audio that comes in pieces: transcript and data join, the first id stays."""

    __slots__ = ("_members",)

    def __init__(self) -> None:
        self._members = Members(_AUDIO_TEXTS)

    def add(self, audio: dict[str, Any]) -> None:
        """Join a piece."""
        piece = copied(audio)
        if "id" in self._members.said:
            piece.pop("id", None)
        self._members.add(piece)

    def result(self) -> dict[str, Any] | None:
        """What came so far; None where nothing did."""
        audio = self._members.result()
        if isinstance(data := audio.get("data"), str):
            audio["data"] = joined_base64(data)
        return audio or None


def joined_base64(text: str) -> str:
    """Pieces of base64, one behind the other, as one; left alone where they are no base64.

    A piece that was padded ends where no byte of the next begins. Decoders stop there, so the whole is encoded anew.
    """
    if "=" not in text.rstrip("="):
        return text
    pieces = _BASE64.findall(text)
    # Some interpreters let padding pass that is too long.
    if any(len(piece) % 4 for piece in pieces):
        return text
    try:
        data = b"".join(base64.b64decode(piece, validate=True) for piece in pieces)
    except ValueError:
        return text
    return base64.b64encode(data).decode()
