"""The recorded streams in the folder that `SSEWIRE_STREAMS` names, as parameters of a test; never copied."""

from __future__ import annotations

import csv
import os
from pathlib import Path
from typing import Any

import pytest


def recorded(*, only_chats: bool = False) -> list[Any]:
    """The path of each stream; without the folder one parameter that is skipped, and says why."""
    if "SSEWIRE_STREAMS" not in os.environ:
        skipped = pytest.mark.skip(reason="SSEWIRE_STREAMS names no folder of recorded streams")
        return [pytest.param(Path(), marks=skipped, id="none")]
    folder = Path(os.environ["SSEWIRE_STREAMS"])
    with (folder / "INDEX.tsv").open(encoding="utf-8", newline="") as index:
        rows = list(csv.DictReader(index, delimiter="\t", quoting=csv.QUOTE_NONE))
    return [
        pytest.param(folder / row["file"], id=row["file"])
        for row in rows
        if not only_chats or row["format"] == "chat.completion.chunk"
    ]
