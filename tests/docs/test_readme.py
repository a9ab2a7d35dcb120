"""Every block of Python in the README runs, with its providers at the demo's server on loopback."""

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from ssewire.cli.scripts import KEY, STREAMS
from ssewire.cli.serving import running_server

README = Path(__file__).parents[2] / "README.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```", README.read_text("utf-8"), re.DOTALL | re.MULTILINE)
SCRIPT = next(script for script in STREAMS if script.slug == "nscale/real")


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


def test_there_are_blocks() -> None:
    assert len(BLOCKS) >= 6


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_the_block_runs(block: str, address: str) -> None:
    assert run(block, address)


def test_the_first_block_prints_the_answer(address: str) -> None:
    assert run(BLOCKS[0], address) == SCRIPT.text


def test_the_blocks_without_a_server_print_what_they_should() -> None:
    lenient, strict, plain = (block for block in BLOCKS if "httpx" not in block)
    assert run(lenient, "http://127.0.0.1:1") == "3 b'no chunk at all'\n['', 'caf\ufffd'] 5\n2 2 1\n"
    assert run(strict, "http://127.0.0.1:1").splitlines()[0] == "[None]"
    assert "$.choices[0].delta.role" in run(strict, "http://127.0.0.1:1")
    assert run(plain, "http://127.0.0.1:1") == "greeting hello\n7 1\n7 2\n"
