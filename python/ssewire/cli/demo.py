"""``ssewire demo``: the streams of the demo's server, shown as they arrive, and a table of what came of each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NoReturn

import httpx
from rich import box
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from .reading import Reading, differences, read
from .scripts import FAULTS, STREAMS, Script
from .serving import ServerError, running_server
from .terminal import complain, visible

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["demo"]


class _Console(Console):
    def on_broken_pipe(self) -> NoReturn:
        """Leave the error to the program, whose exit status tells a reader that left from a stream that differed."""
        raise


class _Page:
    """Text as it comes, broken between words on a terminal; nothing in it is markup or a command."""

    def __init__(self, console: Console) -> None:
        self._console = console
        self._column = 0
        self._reasoning = False

    def title(self, text: str) -> None:
        self._console.print(Text(text, style="bold cyan"))

    def show(self, text: str, reasoning: str) -> None:
        if text and self._reasoning and not reasoning:
            self._line()
        self._reasoning = bool(reasoning)
        self._piece(reasoning, "dim italic")
        self._piece(text, "")

    def end(self, reading: Reading) -> None:
        self._reasoning = False
        if self._column:
            self._line()
        if reading.error:
            self._console.print(Text(visible(f"{reading.error}: {reading.message}"), style="yellow"))
        self._console.print()

    def _line(self) -> None:
        self._console.print()
        self._column = 0

    def _piece(self, piece: str, style: str) -> None:
        if not piece:
            return
        if self._console.is_terminal and self._column + cell_len(piece) > self._console.width:
            self._line()
            piece = piece.lstrip()
        self._column += cell_len(piece)
        self._console.print(Text(visible(piece), style=style), end="", soft_wrap=True)


def demo(*, alter: str) -> int:
    """Run the demo; returns the exit status."""
    slugs = [script.slug for script in (*STREAMS, *FAULTS) if script.text]
    if alter and alter not in slugs:
        complain(f"ssewire demo: no stream {alter!r} to alter; there are {', '.join(slugs)}")
        return 2
    console = _Console(highlight=False)
    page = _Page(console)
    results: list[tuple[Script, Reading]] = []
    try:
        # No environment: a proxy that is set there must not get requests for this machine.
        with (
            running_server(alter) as address,
            httpx.Client(trust_env=False, timeout=10) as client,
        ):
            # The first request pays for what both sides load late, so it is none of those that are shown and timed.
            read(client, address, FAULTS[-1], lambda _text, _reasoning: None)
            console.print(Text(f"A server at {address} speaks as the providers do; httpx and ChatStream read it.\n"))
            for script in (*STREAMS, *FAULTS):
                page.title(f"{script.provider.name}, {script.form}")
                reading = read(client, address, script, page.show)
                page.end(reading)
                results.append((script, reading))
    except ServerError as error:
        complain(f"ssewire demo: the server on this machine failed: {error}")
        return 1
    console.print(_streams_table(results[: len(STREAMS)]), _faults_table(results[len(STREAMS) :]))
    return _verdict(console, results)


def _verdict(console: Console, results: Sequence[tuple[Script, Reading]]) -> int:
    wrong = [(script, found) for script, reading in results if (found := differences(script, reading))]
    for script, found in wrong:
        for line in found:
            console.print(Text(visible(f"{script.slug}: {line}"), style="red"))
    if wrong:
        console.print(
            Text(f"{len(wrong)} of {len(results)} streams differ from what the server sent.", style="bold red")
        )
        return 1
    console.print(Text(f"All {len(results)} streams were read exactly as the server sent them.", style="bold green"))
    return 0


def _name(script: Script) -> Text:
    return Text(f"{script.provider.name}, {script.form}")


def _as_sent(script: Script, reading: Reading) -> Text:
    return Text("no", style="red") if differences(script, reading) else Text("yes", style="green")


def _table(title: str, **columns: Literal["left", "right"]) -> Table:
    table = Table(title=title, box=box.SIMPLE, padding=(0, 1, 0, 0), title_style="bold")
    for header, justify in columns.items():
        # Headers of two words stand on two lines, so that the table fits a terminal of 80 columns.
        table.add_column(header.replace("_", "\n"), justify=justify, no_wrap=True)
    return table


def _streams_table(results: Sequence[tuple[Script, Reading]]) -> Table:
    table = _table(
        "Streams as they should be",
        stream="left",
        chunks="right",
        finish="left",
        usage="right",
        state="left",
        first_text="right",
        chunks_a_second="right",
        as_sent="left",
    )
    table.caption = "usage: prompt + completion; the server sets the pace"
    for script, reading in results:
        usage, first = reading.usage, reading.first_text
        table.add_row(
            _name(script),
            str(reading.chunks),
            visible(", ".join(reading.finish_reasons.values())),
            f"{usage['prompt_tokens']} + {usage['completion_tokens']}" if usage else "-",
            reading.state,
            "-" if first is None else f"{first * 1000:.0f} ms",
            f"{reading.chunks / reading.seconds:.0f}",
            _as_sent(script, reading),
        )
    return table


def _faults_table(results: Sequence[tuple[Script, Reading]]) -> Table:
    table = _table(
        "Streams that go wrong, and what the reader gets",
        stream="left",
        chunks_before="right",
        state="left",
        error="left",
        as_sent="left",
    )
    for script, reading in results:
        error = Text(reading.error, style="yellow")
        table.add_row(_name(script), str(reading.chunks), reading.state, error, _as_sent(script, reading))
    return table
