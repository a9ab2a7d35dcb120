"""The project's own corpus: chat-completion streams as each group of providers writes them, with what is right to read.

    for recording in generate(seed):
        recording.name, recording.body, recording.expected

An *answer* is what is said (`answer.py`), a *dialect* how a provider puts it into chunks (`makers.py`, `hosts.py`,
`relays.py`, `engines.py`, on top of `plan.py`), a *wire* how chunks become bytes (`wire.py`; errors in `faults.py`).
What is right follows from the answer and the end that it comes to (`expected.py`); no byte is parsed for it. The shapes
are those of recorded streams, the words and values our own.
"""

from .answer import KINDS, Answer, answer
from .dialect import Dialect
from .expected import Expected, Merged, MergedCall, MergedChoice, Part, Piece, Problem, Recording, Said
from .generating import DIALECTS, ENDS, generate, record, record_beside, record_error
from .wire import WIRES, Wire

__all__ = [
    "DIALECTS",
    "ENDS",
    "KINDS",
    "WIRES",
    "Answer",
    "Dialect",
    "Expected",
    "Merged",
    "MergedCall",
    "MergedChoice",
    "Part",
    "Piece",
    "Problem",
    "Recording",
    "Said",
    "Wire",
    "answer",
    "generate",
    "record",
    "record_beside",
    "record_error",
]
