"""The pages say what the rows say."""

from __future__ import annotations

from tests.clients.adapters import DOCUMENTED
from tests.clients.documenting import BEGIN, END, PAGE, README, page, readme
from tests.clients.scenarios import SCENARIOS


def test_the_readme_has_the_table_as_it_is_now() -> None:
    text = README.read_text("utf-8")
    assert text.count(BEGIN) == text.count(END) == 1
    assert readme(text) == text


def test_the_page_is_as_it_is_now() -> None:
    assert PAGE.read_text("utf-8") == page()


def test_what_a_client_cannot_is_a_scenario_with_a_sentence() -> None:
    for client in DOCUMENTED:
        assert set(client.cannot) <= set(SCENARIOS)
        assert all(sentence.endswith(".") for sentence in (*client.cannot.values(), *client.limits))
