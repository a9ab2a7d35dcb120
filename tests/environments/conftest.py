"""The tests of an environment are collected in it alone."""

from __future__ import annotations

import os

from tests.clients.conftest import server

__all__ = ["server"]

_ENVIRONMENTS = {
    "test_niquests.py": "niquests",
    "test_urllib3_future.py": "niquests",
    "test_old_urllib3.py": "old-urllib3",
}

collect_ignore = [file for file, name in _ENVIRONMENTS.items() if name != os.environ.get("SSEWIRE_ENVIRONMENT")]
