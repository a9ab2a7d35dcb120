"""How an answer is to be served: the server's options, and what the query of a request changes about them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, cast, get_args
from urllib.parse import parse_qsl, urlencode

from .faults import Chosen, choose, spoiled
from .http import Encoding, EncodingMissingError, Framing, encoder
from .replay import Playback, Stream, at_pace

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["Settings", "SettingsError", "without_redirect"]


#: What the APIs themselves have in their queries, and their SDKs add: Azure, Gemini, Anthropic.
_OF_APIS = ("api-version", "alt", "key", "beta")


class SettingsError(ValueError):
    """A setting's name or value is wrong; the message says what it can be."""


@dataclass(frozen=True)
class Settings:
    """What is chosen of pace, faults, framing and encoding."""

    faults: tuple[Chosen, ...] = ()
    gap: float | None = None
    speed: float = 1.0
    framing: Framing = "chunked"
    encoding: Encoding = "identity"

    def changed(self, pairs: Iterable[tuple[str, str]]) -> Settings:
        """These settings with some others, as pairs of a name and a text; faults replace all that were there.

        Raises:
            FaultError: A fault is wrong.
            SettingsError: Another name or value is wrong, or what it needs is not installed.
        """
        settings = self
        faults: list[str] | None = None
        for name, value in pairs:
            if name == "fault":
                faults = [*(faults or ()), *([] if value == "none" else [value])]
            elif name == "gap":
                settings = replace(settings, gap=_number(name, value))
            elif name == "speed":
                settings = replace(settings, speed=_number(name, value, least=0.001))
            elif name == "framing":
                settings = replace(settings, framing=cast("Framing", _one_of(name, value, get_args(Framing))))
            elif name == "encoding":
                settings = replace(settings, encoding=_encoding(value))
            elif name not in _OF_APIS:
                raise SettingsError(f"no setting {name!r}; there are fault, gap, speed, framing, encoding")
        return settings if faults is None else replace(settings, faults=choose(faults))

    def asked(self, query: str) -> Settings:
        """These settings as the query of a request changes them; raises as `changed` does."""
        return self.changed(parse_qsl(query, keep_blank_values=True))

    def playback(self, stream: Stream) -> Playback:
        """How a stream is played."""
        return spoiled(Playback(at_pace(stream, self.gap, self.speed)), self.faults)

    @property
    def told(self) -> str:
        """The faults in a few words."""
        return " ".join(fault.text for fault in self.faults)


def without_redirect(settings: Settings, query: str) -> str:
    """The query that asks for the same without a redirect."""
    kept = [(name, value) for name, value in parse_qsl(query, keep_blank_values=True) if name != "fault"]
    faults = [one.text for one in settings.faults if one.fault.name != "redirect"] or ["none"]
    return urlencode([*kept, *(("fault", text) for text in faults)], safe=":")


def _number(name: str, text: str, *, least: float = 0.0) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    # Written so that NaN is refused too.
    if not least <= value < math.inf:
        raise SettingsError(f"{name} is a number from {least:g} on, not {text!r}")
    return value


def _one_of(name: str, text: str, names: tuple[str, ...]) -> str:
    if text not in names:
        raise SettingsError(f"no {name} {text!r}; there are {', '.join(names)}")
    return text


def _encoding(text: str) -> Encoding:
    chosen = cast("Encoding", _one_of("encoding", text, get_args(Encoding)))
    try:
        encoder(chosen)
    except EncodingMissingError as error:
        raise SettingsError(str(error)) from None
    return chosen
