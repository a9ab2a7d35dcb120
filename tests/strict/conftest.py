"""The checks that the tests here share say what differed, as those in the tests themselves do."""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite("tests.strict.checking")
