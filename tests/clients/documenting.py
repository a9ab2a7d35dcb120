"""The pages that tell of clients, made from the rows that the tests read with.

    python -m tests.clients.documenting

writes the table of the README, between two comments, and the whole of docs/clients.md.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator

from tests.clients.adapters import DOCUMENTED
from tests.clients.client import Client, Raised
from tests.clients.served import ROOT

README = ROOT / "README.md"
PAGE = ROOT / "docs" / "clients.md"

BEGIN = "<!-- clients: made by python -m tests.clients.documenting -->"
END = "<!-- clients: end -->"

INTRODUCTION = """\
<!-- Made by python -m tests.clients.documenting from the rows in tests/clients. -->

# With your client

Hand over the response, before its body was read. Bytes are taken as soon as they arrive, by the method that each client
has for that, and decompressed where the client does so. No client is imported for it: what you hand over is recognised
by what it can do.

All of this is tested with each client against a server of another process: bodies of every kind, odd cuts, huge
events, resets, silence, refusals, and that no connection is left. That is over HTTP/1.1; plain, compressed and reset
bodies are read over TLS, too, and over HTTP/2 where the client speaks it.

Everything else that yields bytes will do too: an iterable or asynchronous iterable of `bytes`, a list, `bytes`
themselves. An iterator is closed with the stream, the response behind it is not: hand that over instead. A file that
you opened stays open. A pipe must block: what a non-blocking one does not have yet looks like its end.

A response is handed over unread. One that was read before is parsed from memory where its client has kept the body;
else an error says so, an `SSEWireError` or the client's own. Of one that was read in part some clients refuse to give
the rest; others give it, and the stream begins in the middle.
"""

ERRORS = """\
## What they raise

The errors of a client pass through as they are, behind the chunks that came before, with a note that says how many. The
stream's state is `incomplete` then.

| client | ends within a chunk | ends before its length | reset | no bytes for its `timeout` |
|---|---|---|---|---|
"""


def table() -> str:
    """One row a client: what its users write."""
    rows = [f"| {name} | {_uses(sync)} | {_uses(asynchronous)} |" for name, sync, asynchronous in _by_name()]
    return "\n".join(["| client | use | asynchronously |", "|---|---|---|", *rows])


def page() -> str:
    """The page about all clients."""
    errors = dict.fromkeys(_errors(client) for client in DOCUMENTED)
    parts = [INTRODUCTION, table() + "\n", ERRORS + "\n".join(errors) + "\n"]
    return "\n".join([*parts, *(_section(name, [*sync, *others]) for name, sync, others in _by_name())])


def readme(text: str) -> str:
    """The README with the table as it is now."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{table()}\n\n{END}{after}"


def _by_name() -> Iterator[tuple[str, list[Client], list[Client]]]:
    """The synchronous and the asynchronous rows of each name."""
    for name in dict.fromkeys(client.name for client in DOCUMENTED):
        rows = [client for client in DOCUMENTED if client.name == name]
        yield name, [row for row in rows if not row.backends], [row for row in rows if row.backends]


def _uses(rows: Iterable[Client]) -> str:
    return "<br>".join(row.use for row in rows)


def _errors(client: Client) -> str:
    told = (_classes(raised) for raised in (client.broken, client.short or client.broken, client.reset, client.timeout))
    return f"| {client.name} | {' | '.join(told)} |"


def _classes(raised: Raised) -> str:
    names = [raised] if isinstance(raised, str) else raised
    return ", ".join(f"`{name.removeprefix('builtins.')}`" for name in names) or "none"


def _section(name: str, rows: list[Client]) -> str:
    sentences = dict.fromkeys(sentence for row in rows for sentence in _sentences(row))
    lines = [f"## {name}", "", *(f"- {sentence}" for sentence in sentences)]
    for row in rows:
        if row.example:
            lines += ["", "```python", textwrap.dedent(row.example).strip(), "```"]
    return "\n".join([*lines, ""])


def _sentences(client: Client) -> Iterator[str]:
    """What is special about it: what is written down in its row, and what the row says to the tests."""
    if client.backends:
        yield f"Asynchronously on {' and '.join(client.backends)}."
    yield from client.limits
    yield from client.cannot.values()
    if client.judges:
        yield "A bad status is an error of its own, raised before there is a response."
    if client.framed and not client.follows and not client.judges:
        yield "It follows no redirection of a POST unless it is told to: that is a `NotAStreamError` with its status."
    if client.framed and not client.encodings:
        yield "It decompresses nothing."
    if not client.lets_go:
        yield "The connection outlives the stream, until what opened it is left or closed."
    if not client.wakes:
        yield "Closing the stream from another thread or task does not end a read that waits."
    if client.http2 and not client.resets:
        yield "Over HTTP/2 the server is not told that a stream was left: it writes on until the client is closed."


def main() -> None:
    """Write the pages."""
    README.write_text(readme(README.read_text("utf-8")), "utf-8")
    PAGE.write_text(page(), "utf-8")


if __name__ == "__main__":
    main()
