"""The command line, in the extra ``ssewire[cli]``: without it there is one sentence, no traceback."""

from __future__ import annotations

import sys

__all__ = ["main"]

#: The distributions of the extra; any other missing module is a fault and must show itself.
_EXTRA = {"typer", "rich", "httpx", "h11", "h2"}


def main() -> int:
    """Run the command line and return its exit status."""
    try:
        from .app import run

        return run()
    except ModuleNotFoundError as error:
        package = (error.name or "").partition(".")[0]
        if package not in _EXTRA:
            raise
        print(f'ssewire: the command line needs {package}: pip install "ssewire[cli]"', file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("ssewire: interrupted", file=sys.stderr)
        return 130
