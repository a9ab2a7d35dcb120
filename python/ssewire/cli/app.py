"""The commands and their arguments; what they do is in the modules beside this one, imported when asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

import ssewire

from .faults import listed
from .terminal import complain, output_failed

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["run"]

_app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    # A traceback with the values of variables in it could show a key.
    pretty_exceptions_enable=False,
)


def run() -> int:
    """Run the program with the arguments it was given; returns the exit status."""
    try:
        _app(prog_name="ssewire")
    except SystemExit as exit_:
        return exit_.code if isinstance(exit_.code, int) else 1
    except OSError as error:
        return output_failed("ssewire", error)
    return 0


def _finish(command: str, work: Callable[[], int]) -> None:
    """Do the work of a command and leave with its status; Ctrl-C is said in a sentence."""
    try:
        status = work()
    except KeyboardInterrupt:
        complain(f"ssewire {command}: interrupted")
        status = 130
    except OSError as error:
        status = output_failed(f"ssewire {command}", error)
    raise typer.Exit(status)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ssewire {ssewire.__version__}")
        raise typer.Exit


@_app.callback()
def _program(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and leave.")
    ] = False,
) -> None:
    """Server-Sent Events and chat-completion streams, read by ssewire."""


@_app.command("cat")
def _cat(
    file: Annotated[str, typer.Argument(metavar="[FILE|-]", help="A recorded stream; - is standard input.")] = "-",
    as_json: Annotated[bool, typer.Option("--json", help="One chunk a line, as it was sent.")] = False,
    events: Annotated[bool, typer.Option("--events", help="One server-sent event a line, as JSON.")] = False,
    stats: Annotated[bool, typer.Option("--stats", help="At the end, counts and state to standard error.")] = False,
    record: Annotated[
        str | None, typer.Option(metavar="FILE", help="Keep the stream with its pace, for ssewire serve.")
    ] = None,
) -> None:
    """Write the text of a chat stream as it arrives, such as that of curl -N ... | ssewire cat.

    Exit status: 0, the stream ended as it should; 1, it carried or ended in an error; 2, it could not be read.
    """
    from .cat import Show, cat

    if as_json and events:
        raise typer.BadParameter("give --json or --events, not both")
    show = Show.CHUNKS if as_json else Show.EVENTS if events else Show.TEXT
    _finish("cat", lambda: cat(file, show, stats=stats, record=record))


# The mark at the beginning keeps the lines as they are.
@_app.command("serve", epilog="\b\n" + "\n".join(["Faults:", *(f"  {line}" for line in listed())]))
def _serve(
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="[FILE...]", help="Bodies as they were sent (curl -N ... > FILE) or recordings."),
    ] = None,
    host: Annotated[str, typer.Option(help="The address to listen at.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port; 0 is any free one.")] = 0,
    gap: Annotated[
        str | None, typer.Option(metavar="SECONDS", help="Between events; default: as recorded, or 0.02.")
    ] = None,
    speed: Annotated[str | None, typer.Option(metavar="TIMES", help="How many times as fast.")] = None,
    fault: Annotated[list[str] | None, typer.Option(metavar="FAULT", help="See below; may be repeated.")] = None,
    framing: Annotated[str | None, typer.Option(metavar="WAY", help="chunked, close or length.")] = None,
    encoding: Annotated[str | None, typer.Option(metavar="NAME", help="gzip, br or zstd.")] = None,
    tls_cert: Annotated[str | None, typer.Option(metavar="FILE", help="Certificate: serve HTTPS, with HTTP/2.")] = None,
    tls_key: Annotated[str | None, typer.Option(metavar="FILE", help="Its key, if in another file.")] = None,
) -> None:
    """Replay recorded streams to your own client, at any pace and with faults; without FILE, those of the demo.

    A stream is chosen by path, /NAME for NAME.sse, or as the model of a POST to /v1/chat/completions. A query changes
    one answer: /NAME?fault=reset:3&gap=0.5&encoding=gzip. GET / lists all there is.
    """
    from .serve import serve

    given = {"gap": gap, "speed": speed, "framing": framing, "encoding": encoding}
    options = [(name, value) for name, value in given.items() if value is not None]
    options += [("fault", text) for text in fault or []]
    _finish("serve", lambda: serve(files or [], host, port, options, tls_cert, tls_key))


@_app.command("demo")
def _demo(
    alter: Annotated[
        str, typer.Option(hidden=True, help="Let the server change one event of this stream, to see the demo fail.")
    ] = "",
) -> None:
    """Read live streams of Nscale, CentML and Chutes, as documented and as they are, from a server on this machine.

    Exit status: 0, everything came as the server sent it; 1, something differed.
    """
    from .demo import demo

    _finish("demo", lambda: demo(alter=alter))
