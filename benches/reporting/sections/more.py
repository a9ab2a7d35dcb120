"""What a table says well enough: hostile streams, linearity, memory, imports."""

from functools import partial

from benches.reporting.markdown import Part, Section, folded, generic, paragraph
from benches.reporting.results import Results

_MORE = (
    (
        "Streams that do not resemble themselves",
        "hostile",
        "What comparing an event with earlier ones costs where it is in vain: streams made so that it is, against the"
        " same with `accelerate=False`, where msgspec decodes each event.",
    ),
    (
        "Twice the event, twice the time",
        "linearity",
        "Work grows with the bytes at every size of read, no faster.",
    ),
    (
        "Memory",
        "memory",
        "What the process grows by, each case in a process of its own.",
    ),
    (
        "Importing",
        "imports",
        "`import ssewire` beyond `import msgspec`, each in a fresh interpreter.",
    ),
)
# Longer tables are folded away.
_LONG = 12


def _part(name: str, words: str, results: Results) -> Part | None:
    figures = results.get(name)
    if figures is None:
        return None
    texts = [paragraph(words)]
    for title, rows in figures.tables.items():
        shown = generic(rows)
        if len(rows) > _LONG:
            texts.append(folded(f"{title} ({len(rows)} rows)", shown))
        else:
            texts.append(f"**{title}**\n\n{shown}" if len(figures.tables) > 1 else shown)
    return Part("\n\n".join(texts))


MORE = tuple(Section(title, (name,), partial(_part, name, words)) for title, name, words in _MORE)
