"""Every block of Python in the README and in docs/ runs, with its providers at the demo's server on loopback."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ssewire.cli.scripts import KEY, STREAMS
from ssewire.cli.serving import running_server

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
SCRIPT = next(script for script in STREAMS if script.slug == "nscale/real")
NOWHERE = "http://127.0.0.1:1"


def blocks_of(page: Path) -> list[str]:
    return re.findall(r"^```python\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)


BLOCKS = [
    pytest.param(block, id=f"{page.stem}-{at}")
    for page in PAGES
    for at, block in enumerate(blocks_of(page))
    # Those run in its own environment: tests/environments.
    if "import niquests" not in block and "import asyncio, niquests" not in block
]


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with running_server() as address:
        yield address


def run(block: str, address: str) -> str:
    """Run a block as a program of its own, with nothing changed in it but where the providers are."""
    here = address + SCRIPT.base_path
    block = re.sub(r"ssewire\.(NSCALE|CHUTES)\.request\(", rf'ssewire.\1.at("{here}").request(api_key="{KEY}", ', block)
    block = block.replace('ssewire.Provider("https://host/v1")', f'ssewire.Provider("{here}", key_variables=["KEY"])')
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", block],
        env={"KEY": KEY, "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        check=False,
        timeout=60,
    )
    assert (done.returncode, done.stderr.decode()) == (0, "")
    return done.stdout.decode()


def printed(page: str, words: str) -> list[str]:
    """The lines that the one block of a page that has these words prints, without a server."""
    (block,) = (block for block in blocks_of(ROOT / page) if words in block)
    return run(block, NOWHERE).splitlines()


def test_there_are_blocks_on_every_page() -> None:
    assert [page.stem for page in PAGES if not blocks_of(page)] == []
    assert {page.stem for page in PAGES} >= {
        "README",
        "clients",
        "gateways",
        "leaving",
        "merging",
        "reading",
        "waiting",
    }


@pytest.mark.parametrize("page", [*PAGES, ROOT / "ARCHITECTURE.md"], ids=lambda page: page.stem)
def test_what_a_page_names_is_there(page: Path) -> None:
    text = page.read_text("utf-8")
    links = [link.split("#")[0] for link in re.findall(r"\]\((?!https?:|#)([^)]+)\)", text)]
    paths = re.findall(r"`((?:benches|tests|rust|python|docs)/[\w./]+\w)`", text)
    missing = [link for link in links if not (page.parent / link).exists()]
    assert [*missing, *(path for path in paths if not (ROOT / path).exists())] == []


@pytest.mark.parametrize("block", BLOCKS)
def test_the_block_runs(block: str, address: str) -> None:
    assert run(block, address)


def test_the_first_block_prints_the_answer(address: str) -> None:
    assert run(blocks_of(ROOT / "README.md")[0], address) == SCRIPT.text


def test_the_relaying_blocks_print_the_bytes_and_what_was_in_them(address: str) -> None:
    relay, gateway = blocks_of(ROOT / "docs/gateways.md")
    body, _, told = run(relay, address).rpartition("\n\n")
    assert body.startswith("data: {")
    assert told.splitlines()[0].startswith("finished {0: 'stop'} CompletionUsage(")
    assert told.splitlines()[0].endswith(" None")
    assert told.splitlines()[1:] == SCRIPT.text.splitlines()
    state, size = run(gateway, address).splitlines()
    assert state.startswith("finished CompletionUsage(")
    assert int(size.split()[0]) == len(f"{body}\n\n".encode())


@pytest.mark.parametrize(
    ("page", "words", "lines"),
    [
        ("README.md", "no chunk at all", ["3 b'no chunk at all'", "['', 'caf\ufffd'] 5", "2 2 1"]),
        ("README.md", "greeting", ["greeting hello", "7 1", "7 2"]),
        ("docs/reading.md", "x_score", ["['yesno', '!']", "['no', '!']", "0 False", "1 True", "[2]"]),
        ("docs/merging.md", "noon", ["It is noon. stop 9"]),
        ("docs/merging.md", "Half an ans", ["Half an ans", "Half an ans None"]),
        (
            "docs/merging.md",
            "parse_arguments",
            ["t1 weather {\"city\": \"Oslo\"} {'city': 'Oslo'}", "True the JSON ends early, at character 12"],
        ),
        ("docs/merging.md", "so ", ["so be it"]),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_block_without_a_server_prints_what_it_should(page: str, words: str, lines: list[str]) -> None:
    assert printed(page, words) == lines


def test_the_blocks_that_leave_early_say_closed(address: str) -> None:
    early, cancelled, _ = blocks_of(ROOT / "docs/leaving.md")
    assert run(early, address).splitlines()[-1] == "closed"
    assert run(cancelled, address).splitlines()[-1] == "closed True"


def test_a_failing_connection_tells_how_much_had_come() -> None:
    assert printed("docs/leaving.md", "Half an ans") == [
        "connection reset by peer ['ssewire: 1 chunk had come before this']",
        "incomplete Half an ans",
    ]


def test_the_strict_block_names_the_path() -> None:
    first, reason = printed("README.md", "chunk_type")
    assert first == "[None]"
    assert "$.choices[0].delta.role" in reason


def test_the_timed_blocks_tell_times() -> None:
    words, times = printed("docs/waiting.md", "slow_server")
    assert words == "['one', 'two', 'three']"
    assert re.fullmatch(r"\d\.\d\d s, 2 gaps of \d\.\d\d s", times)
    (error,) = printed("docs/waiting.md", "still here")
    assert "more than idle_timeout=0.1 allows" in error
