"""Usage where it does not belong: in Groq's member of the chunk, or inside a choice, as Moonshot has it.

Members of the chunk's type for these would cost time on every chunk of every stream. They are looked for in the payload
instead, of chunks at the end of an answer, and only where no usage came in its own place.
"""

from __future__ import annotations

from typing import Final

import msgspec

from .models import CompletionUsage


class _Holder(msgspec.Struct, gc=False):
    usage: CompletionUsage | None = None


class _Copies(msgspec.Struct, gc=False):
    x_groq: _Holder | None = None
    choices: list[_Holder | None] | None = None


_decode: Final = msgspec.json.Decoder(_Copies).decode


def copied_usage(payload: bytes) -> CompletionUsage | None:
    """The usage that a payload has elsewhere, Groq's first; None where it has none."""
    try:
        copies = _decode(payload)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        # What the second decoder had to mend is looked at no further: such a stream and such a place were never met.
        return None
    holders = (copies.x_groq, *(copies.choices or ()))
    return next((holder.usage for holder in holders if holder and holder.usage), None)
