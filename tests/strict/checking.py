"""Reading payloads strictly, as chunks of a stream, in plain objects that can be compared to the last digit."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import msgspec

from ssewire import AsyncChatStream, ChatStream, DecodeError
from tests.conftest import Run
from tests.reading import awaited, with_errors, with_errors_async
from tests.strict.schemas import Documented
from tests.strict.walking import Path, described, dotted

DONE = b"data: [DONE]\n\n"


def body_of(payloads: Iterable[bytes]) -> bytes:
    """A stream as the documents have it: one data line for each payload, then the sentinel."""
    return b"".join(b"data: " + payload + b"\n\n" for payload in payloads) + DONE


def encoded(value: Any) -> bytes:
    """JSON as the documents' services write it."""
    return json.dumps(value, ensure_ascii=False).encode()


def exact(value: Any) -> str:
    """JSON in one form, in which 1, 1.0 and true differ."""
    return json.dumps(value, sort_keys=True)


def strict_items(documented: Documented, *payloads: bytes, run: Run | None = None) -> list[Any]:
    """What a stream of these payloads gives with the provider's type; read asynchronously where `run` is given."""
    body, chunk_type = body_of(payloads), documented.provider.chunk_type
    if run is None:
        stream = ChatStream(body, type=chunk_type)
        items = with_errors(stream)
        state, stats = stream.state, stream.stats
    else:
        awaiting = AsyncChatStream(awaited([body]), type=chunk_type)
        items = run(with_errors_async(awaiting))
        state, stats = awaiting.state, awaiting.stats
    assert state == "done"
    refused = sum(isinstance(item, DecodeError) for item in items)
    assert (stats.chunks, stats.decode_errors, stats.repaired) == (len(items) - refused, refused, 0)
    return items


def check_accepted(documented: Documented, payload: bytes, run: Run | None = None) -> None:
    """The schema and the type accept the payload; the chunk equals what json.loads makes of it."""
    value = json.loads(payload)
    documented.validator.validate(value)
    (chunk,) = strict_items(documented, payload, run=run)
    assert type(chunk) is documented.provider.chunk_type, chunk
    assert exact(msgspec.to_builtins(chunk)) == exact(described(value, documented.schema, documented.kept))


def check_refused(documented: Documented, payload: bytes, path: Path, member: str | None = None) -> DecodeError:
    """The schema and the type refuse the payload, both for what stands at the path (the member missing there)."""
    faults = list(documented.validator.iter_errors(json.loads(payload)))
    assert {tuple(fault.absolute_path) for fault in faults} == {path}
    (error,) = strict_items(documented, payload)
    assert isinstance(error, DecodeError), error
    assert (error.payload, error.event_number, error.offset) == (payload, 1, 0)
    assert error.reason.partition(" - at ")[2] == f"`{dotted(path)}`"
    if member is not None:
        assert error.reason.startswith(f"Object missing required field `{member}`")
    return error
