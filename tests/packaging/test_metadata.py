"""What is installed: one version, one dependency, types, licence; and what importing it brings along."""

import ast
import inspect
import json
import subprocess
import sys
import tomllib
from importlib.metadata import metadata, requires
from importlib.resources import files
from pathlib import Path

import pytest

import ssewire
from ssewire import _core

ROOT = Path(__file__).parents[2]


def test_there_is_one_version() -> None:
    cargo = tomllib.loads((ROOT / "Cargo.toml").read_text("utf-8"))["workspace"]["package"]["version"]
    assert ssewire.__version__ == metadata("ssewire")["Version"] == cargo


def test_msgspec_is_the_only_dependency() -> None:
    needed = [requirement for requirement in requires("ssewire") or [] if "extra ==" not in requirement]
    assert [requirement.partition(">")[0] for requirement in needed] == ["msgspec"]


def test_the_metadata_tells_python_and_licence() -> None:
    about = metadata("ssewire")
    assert about["Requires-Python"] == ">=3.11"
    assert about["License-Expression"] == "MIT"
    assert about.get_all("License-File") == ["LICENSE"]
    assert "Typing :: Typed" in (about.get_all("Classifier") or [])


def test_the_package_is_typed() -> None:
    assert (files("ssewire") / "py.typed").is_file()
    assert (files("ssewire") / "_core.pyi").is_file()


def test_the_stub_documents_every_compiled_class_and_its_public_members() -> None:
    tree = ast.parse((files("ssewire") / "_core.pyi").read_text("utf-8"))
    classes = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef)}
    assert classes.keys() == {name for name, value in inspect.getmembers(_core) if inspect.isclass(value)}
    for name, node in classes.items():
        assert ast.get_docstring(node), name
        methods = [item for item in node.body if isinstance(item, ast.FunctionDef)]
        documented = {item.name for item in methods if ast.get_docstring(item)}
        public = {item.name for item in methods if not item.name.startswith("_")}
        assert public <= documented, name


def test_importing_brings_no_http_client_and_no_event_loop() -> None:
    code = "import json, sys, ssewire; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    loaded = {name.partition(".")[0] for name in json.loads(done.stdout)}
    assert not loaded & {
        "httpx",
        "httpx2",
        "requests",
        "urllib3",
        "aiohttp",
        "openai",
        "anyio",
        "trio",
        "asyncio",
        "typer",
    }


@pytest.mark.parametrize("name", ssewire.__all__)
def test_every_public_name_is_there_and_documented(name: str) -> None:
    value = getattr(ssewire, name)
    if inspect.isclass(value):
        assert value.__doc__, name
