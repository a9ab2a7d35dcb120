"""Each promise is judged by the figure in its file, and one without a figure is told."""

import json
from pathlib import Path
from typing import Any

import pytest

from benches.reporting.promised import FIND
from benches.reporting.results import load
from benches.reporting.sections.promises import PROMISES as SECTION
from benches.targets import PROMISES


def core(scenario: str, ours: float) -> list[dict[str, Any]]:
    case = {"scenario": scenario, "reads": "4k"}
    peers = [("ssewire", "rust", ours), ("ssewire-text", "rust", ours), ("one", "rust", 100.0), ("two", "rust", 200.0)]
    rows = [{**case, "peer": peer, "language": language, "median": median} for peer, language, median in peers]
    return [*rows, {**case, "peer": "three", "language": "node", "median": 100.0}]


def threads(kept: float) -> list[dict[str, Any]]:
    row = {"form": "events", "event": "16 KiB", "read": "64 KiB", "2 kept": kept, "2 released": 9.0}
    others = [{"form": "framing alone"}, {"event": "240 B"}, {"read": "4 KiB"}]
    return [row, *({**row, "2 kept": 0.1, **other} for other in others)]


def linearity(steepest: float, flattest: float) -> list[dict[str, Any]]:
    row = {"form": "EventStream", "body": "one line", "reads": "4 KiB", "steepest": steepest, "flattest": flattest}
    return [{**row, "form": "bytearray and bytes", "steepest": 9, "flattest": 0.1}, row]


def asynchronous(beyond: float) -> list[dict[str, Any]]:
    row = {"way": "typed", "reads": "4k", "at once": 1000, "beyond bare and sync": beyond}
    return [{**row, "at once": 1, "beyond bare and sync": 0}, row]


# What keeps each promise just so, and what breaks it, as the tables of its file.
KEPT_AND_BROKEN: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "core chat": ({"results": core("chat", 40)}, {"results": core("chat", 41)}),
    **{
        f"core {scenario}": ({"results": core(scenario, 100)}, {"results": core(scenario, 101)})
        for scenario in ("large", "small", "keep-alives", "fragments")
    },
    "node": ({"results": core("chat", 100)}, {"results": core("chat", 101)}),
    "async": ({"results": asynchronous(150)}, {"results": asynchronous(151)}),
    "threads": ({"results": threads(1.7)}, {"results": threads(1.69)}),
    "releasing": (
        {"small": [{"event": "240 B", "read": 240, "costs %": 5.0}]},
        {"small": [{"event": "240 B", "read": 240, "costs %": -1.0}, {"event": "1", "read": 1, "costs %": 5.1}]},
    ),
    "hostile": (
        {"results": [{"stream": "a", "way": "typed", "reads": "4k", "times": 1.1}]},
        {"results": [{"stream": "a", "way": "typed", "reads": "4k", "times": 1.11}]},
    ),
    "differences": ({"compared": [{"events": 1, "differences": 0}]}, {"compared": [{"events": 1, "differences": 1}]}),
    "mutated": (
        {"compared": [{"events": 10_000_000, "differences": 0}]},
        {"compared": [{"events": 9_999_999, "differences": 0}]},
    ),
    "steepest": ({"results": linearity(2.3, 1)}, {"results": linearity(2.31, 2)}),
    "flattest": ({"results": linearity(3, 1.7)}, {"results": linearity(2, 1.69)}),
    "stream": (
        {"streams": [{"form": "a", "1024 MiB: grown MiB": 7.9}]},
        {"streams": [{"form": "a", "1024 MiB: grown MiB": 8.0}]},
    ),
    "read": (
        {"read": [{"form": "a", "256 MiB: grown MiB": 31.9}]},
        {"read": [{"form": "a", "256 MiB: grown MiB": 32.0}]},
    ),
    "import": (
        {"results": [{"import": "ssewire", "beyond msgspec": 25.0}, {"import": "openai", "beyond msgspec": 300.0}]},
        {"results": [{"import": "ssewire", "beyond msgspec": 25.1}]},
    ),
}


def line(folder: Path, name: str, **files: dict[str, Any]) -> str:
    """The line of a promise on the page that is made from these files."""
    for file, tables in {"other": {}, **files}.items():
        (folder / f"{file}.json").write_text(json.dumps(tables), "utf-8")
    part = SECTION.make(load(folder))
    assert part
    # Two promises may be made of the same thing: at most so much, at least so much.
    promise = PROMISES[name]
    (found,) = (one for one in part.text.splitlines() if one.startswith(f"| {promise.what} | {promise.how} "))
    return found


def test_each_promise_has_its_figure() -> None:
    assert FIND.keys() == PROMISES.keys()
    assert KEPT_AND_BROKEN.keys() == PROMISES.keys() - {"listed"}


@pytest.mark.parametrize("name", KEPT_AND_BROKEN)
def test_a_promise_is_kept_or_broken(name: str, tmp_path: Path) -> None:
    kept, broken = KEPT_AND_BROKEN[name]
    file = PROMISES[name].file
    assert line(tmp_path, name, **{file: kept}).endswith(" | yes |")
    assert line(tmp_path, name, **{file: broken}).endswith(" | **no** |")


@pytest.mark.parametrize("name", PROMISES)
def test_what_was_not_measured_is_told(name: str, tmp_path: Path) -> None:
    file = PROMISES[name].file
    assert line(tmp_path, name).endswith(f"| `{file}.json` is not there | not measured |")
    assert line(tmp_path, name, **{file: {}}).endswith(f"| `{file}.json` does not say | not measured |")


def test_streams_whose_hits_are_listed_are_counted(tmp_path: Path) -> None:
    rows = [{"stream": "a", "rate": 0.5}, {"stream": "b", "rate": 0.991}]
    assert line(tmp_path, "listed", hits={"dialects": [{"stream": "c", "rate": 0.0}], "recorded": rows}).endswith(
        "| at least 1 | 2 (from 50.0% to 99.1%) | yes |"
    )


def test_the_worst_case_is_named(tmp_path: Path) -> None:
    tables = {"results": asynchronous(120), "floor": [{"ns": 400}]}
    told = line(tmp_path, "async", asyncio_streams=tables)
    assert "| 120 ns (typed, reads of 4 KiB, 1,000 at once; 0.30 of msgspec's time for an event) | yes |" in told
