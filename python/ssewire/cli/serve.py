"""``ssewire serve``: recorded streams replayed to any client, at any pace, with faults on request."""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import ssl
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from .answering import Answers
from .faults import FaultError, listed
from .http import Listener
from .recording import RecordingError, load
from .replay import Step, Stream, at_pace, by_events
from .scripts import STREAMS
from .settings import Settings, SettingsError
from .terminal import complain, tell, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["serve"]


class _StartError(Exception):
    """The server cannot start; the message says why."""


def serve(
    files: Sequence[str],
    host: str,
    port: int,
    options: Iterable[tuple[str, str]],
    certificate: str | None,
    key: str | None,
) -> int:
    """Serve until interrupted; returns the exit status.

    Args:
        files: Bodies or recordings; without any, the streams of the demo.
        host: The address to listen at.
        port: The port; 0 is any free one.
        options: Settings, as pairs of a name and a text.
        certificate: File with the certificates of the server, which makes it HTTPS with HTTP/2.
        key: File with the certificate's key, if it is another.
    """
    try:
        streams = _named([_loaded(name) for name in files] if files else _built_in())
        settings = Settings().changed(options)
        asyncio.run(_serve(streams, settings, host, port, _context(certificate, key)))
    except (_StartError, FaultError, SettingsError) as error:
        complain(f"ssewire serve: {error}")
        return 2
    return 0


async def _serve(
    streams: dict[str, Stream], settings: Settings, host: str, port: int, tls: ssl.SSLContext | None
) -> None:
    listener = Listener(Answers(streams, settings, _index(streams), tell), host, port, tls=tls, http2=tls is not None)
    async with contextlib.AsyncExitStack() as stack:
        try:
            await stack.enter_async_context(listener)
        except OSError as error:
            why = error.strerror or str(error)
            if error.errno is not None and not isinstance(error, socket.gaierror):
                # What asyncio writes into it names host and port once more.
                why = os.strerror(error.errno)
            raise _StartError(f"cannot listen at {host}, port {port}: {why}") from None
        shown = f"[{host}]" if ":" in host else host
        _show(f"{'http' if tls is None else 'https'}://{shown}:{listener.port}", streams, settings)
        # For ever: Ctrl-C cancels it.
        await asyncio.get_running_loop().create_future()


def _loaded(name: str) -> Stream:
    try:
        stream = load(Path(name))
    except OSError as error:
        raise _StartError(f"cannot read {name}: {error.strerror or error}") from None
    except RecordingError as error:
        raise _StartError(f"{name}: {error}") from None
    if not stream.steps:
        raise _StartError(f"{name} is empty; the fault empty serves a body of no bytes")
    if not stream.events:
        complain(f"ssewire serve: {name} has no event; it is served as it is")
    return stream


def _built_in() -> list[Stream]:
    return [
        Stream(script.slug.replace("/", "-"), tuple(by_events([Step(0.0, b"".join(script.pieces))])), paced=False)
        for script in STREAMS
    ]


def _named(streams: Iterable[Stream]) -> dict[str, Stream]:
    """The streams by name; files of the same name are told apart by numbers."""
    named: dict[str, Stream] = {}
    for stream in streams:
        name, number = stream.name, 1
        while name in named:
            number += 1
            name = f"{stream.name}-{number}"
        named[name] = stream._replace(name=name)
    return named


def _context(certificate: str | None, key: str | None) -> ssl.SSLContext | None:
    if certificate is None:
        if key is not None:
            raise _StartError("a key needs its certificate: --tls-cert")
        return None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(certificate, key)
    except OSError as error:
        raise _StartError(f"cannot use the certificate {certificate}: {error.strerror or error}") from None
    return context


def _show(address: str, streams: dict[str, Stream], settings: Settings) -> None:
    console = Console(highlight=False, soft_wrap=True)
    table = Table(box=box.SIMPLE, padding=(0, 1, 0, 0), pad_edge=False)
    table.add_column("stream", overflow="fold")
    for header in ("events", "bytes", "seconds"):
        table.add_column(header, justify="right", no_wrap=True)
    for name, stream in streams.items():
        seconds = sum(step.pause for step in at_pace(stream, settings.gap, settings.speed))
        size = sum(len(step.data) for step in stream.steps)
        url = Text(visible(f"{address}/{quote(name)}"), style="cyan")
        table.add_row(url, f"{stream.events:,}", f"{size:,}", f"{seconds:.1f}")
    console.print(Text(f"Serving at {address} until Ctrl-C", style="bold"))
    console.print(table, soft_wrap=False)
    example = next(iter(streams))
    console.print(Text(visible(f'OpenAI clients: base_url "{address}/v1", model "{example}"')))
    if settings.faults:
        console.print(Text(f"Every answer: {settings.told}", style="yellow"))
    console.print(Text("One request alone: ?fault=reset:3&gap=0.5&encoding=gzip; GET / lists the faults"))


def _index(streams: dict[str, Stream]) -> str:
    """The text at ``/``."""
    lines = ["Streams, as GET or POST /NAME or by the model of an OpenAI-style POST /v1/chat/completions:", ""]
    lines += [f"  /{quote(name)}" for name in streams]
    lines += ["", "Faults, as ?fault=NAME, several as ?fault=NAME&fault=NAME, ?fault=none for none:", ""]
    lines += [f"  {line}" for line in listed()]
    lines += [
        "",
        "Beside them: gap=SECONDS between events, speed=TIMES as fast, framing=chunked, close or length,",
        "encoding=identity, gzip, br or zstd.",
        "",
    ]
    return "\n".join(lines)
