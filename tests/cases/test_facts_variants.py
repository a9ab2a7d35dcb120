"""Variants in what a stream says about itself: where text, reasoning and usage stand, and how it ends."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import pytest

from tests.cases.outcome import Case, Incomplete, check_cuts, every_reader
from tests.cases.test_framing_variants import STOP, STOPPED, A, B, Variant
from tests.conftest import Run
from tests.unit.making import DONE, sse

COUNTS: Final[dict[str, Any]] = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
OTHERS: Final[dict[str, Any]] = {"total_tokens": 9}


def usage(counts: Any, **members: Any) -> bytes:
    """A chunk without choices."""
    return sse({"choices": [], "usage": counts, **members})


def finish(reason: Any, index: int = 0, **members: Any) -> bytes:
    return sse({"choices": [{"index": index, "delta": {}, "finish_reason": reason, **members}]})


def finished(reason: str, **members: Any) -> dict[str, Any]:
    return {"choices": [{**members, "delta": {}, "finish_reason": reason}]}


LAST: Final = {"usage": COUNTS}

USAGE: Final = {
    "behind the finish reason, no sentinel": Variant(
        A + STOP + usage(COUNTS), Case(["a", STOPPED, LAST], "finished", {0: "stop"}, COUNTS)
    ),
    "beside the finish reason": Variant(
        sse({"choices": [{"finish_reason": "stop"}], "usage": COUNTS}) + DONE,
        Case([{**STOPPED, **LAST}], "done", {0: "stop"}, COUNTS),
    ),
    "on every chunk": Variant(
        usage({"total_tokens": 1}) + usage({"total_tokens": 2}) + usage(COUNTS) + DONE,
        Case([{"usage": {"total_tokens": 1}}, {"usage": {"total_tokens": 2}}, LAST], "done", usage=COUNTS),
    ),
    "null behind it": Variant(usage(COUNTS) + usage(None) + DONE, Case([LAST, {}], "done", usage=COUNTS)),
    "empty behind it": Variant(usage(COUNTS) + usage({}) + DONE, Case([LAST, {"usage": {}}], "done", usage=COUNTS)),
    "nulls behind it": Variant(
        usage(COUNTS) + usage({"total_tokens": None}) + DONE, Case([LAST, {"usage": {}}], "done", usage=COUNTS)
    ),
    "no counts at all": Variant(usage({"cost": 0.1}) + DONE, Case([{"usage": {}}], "done")),
    "zero is a count": Variant(
        usage(COUNTS) + usage({"total_tokens": 0}) + DONE,
        Case([LAST, {"usage": {"total_tokens": 0}}], "done", usage={"total_tokens": 0}),
    ),
    "details": Variant(
        usage({**OTHERS, "prompt_tokens_details": {"cached_tokens": 4}, "completion_tokens_details": None}) + DONE,
        Case(
            [{"usage": {**OTHERS, "prompt_tokens_details": {"cached_tokens": 4}}}],
            "done",
            usage={**OTHERS, "prompt_tokens_details": {"cached_tokens": 4}},
        ),
    ),
    "what is no object": Variant(
        usage(COUNTS) + usage("none") + usage(7) + DONE, Case([LAST, {}, {}], "done", usage=COUNTS, repaired=2)
    ),
    "with Groq's object alone": Variant(
        finish("stop") + sse({"choices": [], "x_groq": {"id": "r", "usage": COUNTS}}) + DONE,
        Case([STOPPED, {}], "done", {0: "stop"}, COUNTS),
    ),
    "with the choice alone": Variant(
        finish("stop", usage=COUNTS) + DONE,
        Case([STOPPED], "done", {0: "stop"}, COUNTS),
    ),
    "a copy never replaces it": Variant(
        usage(COUNTS) + finish("stop", usage=OTHERS) + sse({"choices": [], "x_groq": {"usage": OTHERS}}) + DONE,
        Case(
            [LAST, STOPPED, {}],
            "done",
            {0: "stop"},
            COUNTS,
        ),
    ),
    "it replaces a copy": Variant(
        finish("stop", usage=OTHERS) + usage(COUNTS) + DONE,
        Case([STOPPED, LAST], "done", {0: "stop"}, COUNTS),
    ),
    "the last copy": Variant(
        sse({"choices": [], "x_groq": {"usage": OTHERS}}) + sse({"choices": [], "x_groq": {"usage": COUNTS}}) + DONE,
        Case([{}, {}], "done", usage=COUNTS),
    ),
}

ENDS: Final = {
    "no finish reason, CR LF": Variant((A + B).replace(b"\n", b"\r\n"), Case(["a", "b", Incomplete()], "incomplete")),
    "no finish reason, no blank line": Variant(A + B[:-2], Case(["a", "b", Incomplete()], "incomplete")),
    "null and empty finish reasons": Variant(
        finish(None) + finish("") + A,
        Case([{"choices": [{"delta": {}}]}, finished(""), "a", Incomplete()], "incomplete"),
    ),
    "only usage": Variant(usage(COUNTS), Case([LAST, Incomplete()], "incomplete", usage=COUNTS)),
    "finish reason alone": Variant(STOP, Case([STOPPED], "finished", {0: "stop"})),
    "finish reason beside the text": Variant(
        sse({"choices": [{"delta": {"content": "b"}, "finish_reason": "length"}]}),
        Case([{"choices": [{"delta": {"content": "b"}, "finish_reason": "length"}]}], "finished", {0: "length"}),
    ),
    "text behind the finish reason": Variant(STOP + A + B, Case([STOPPED, "a", "b"], "finished", {0: "stop"})),
    "text behind the finish reason, and null": Variant(
        STOP + finish(None) + finish("") + DONE,
        Case([STOPPED, {"choices": [{"delta": {}}]}, finished("")], "done", {0: "stop"}),
    ),
    "stop behind tool_calls": Variant(
        finish("tool_calls") + STOP + DONE, Case([finished("tool_calls"), STOPPED], "done", {0: "tool_calls"})
    ),
    "tool_calls behind stop": Variant(
        STOP + finish("tool_calls") + DONE, Case([STOPPED, finished("tool_calls")], "done", {0: "tool_calls"})
    ),
    "any word": Variant(A + finish("eos_token"), Case(["a", finished("eos_token")], "finished", {0: "eos_token"})),
    "two choices in one chunk": Variant(
        sse({"choices": [{"index": 1, "finish_reason": "stop"}, {"index": 0, "finish_reason": "length"}]}),
        Case(
            [
                {
                    "choices": [
                        {"index": 1, "delta": {}, "finish_reason": "stop"},
                        {"delta": {}, "finish_reason": "length"},
                    ]
                }
            ],
            "finished",
            {0: "length", 1: "stop"},
        ),
    ),
    # One service numbers the kinds of one answer, another its tokens.
    "choices that are seen once": Variant(
        b"".join(sse({"choices": [{"index": at, "delta": {"content": "x"}}]}) for at in range(1, 4))
        + finish("stop", 4),
        Case(
            [
                *({"choices": [{"index": at, "delta": {"content": "x"}}]} for at in (1, 2, 3)),
                {"choices": [{"index": 4, "delta": {}, "finish_reason": "stop"}]},
            ],
            "finished",
            {4: "stop"},
        ),
    ),
}

TEXTS: Final = {
    "the sentinel in a text": Variant(
        sse({"choices": [{"delta": {"content": "[DONE]"}}]}) + DONE, Case(["[DONE]"], "done")
    ),
    "the sentinel's whole event in a text": Variant(
        sse({"choices": [{"delta": {"content": "\n\ndata: [DONE]\n\n"}}]}) + A + DONE,
        Case(["\n\ndata: [DONE]\n\n", "a"], "done"),
    ),
    "an error's whole event in a text": Variant(
        sse({"choices": [{"delta": {"content": '\n\ndata: {"error": "m"}\n\nerror: m\n'}}]}) + DONE,
        Case(['\n\ndata: {"error": "m"}\n\nerror: m\n'], "done"),
    ),
    "tags for thoughts": Variant(
        sse({"choices": [{"delta": {"content": "<thi"}}]}) + sse({"choices": [{"delta": {"content": "nk>"}}]}) + DONE,
        Case(["<thi", "nk>"], "done"),
    ),
    "a key twice": Variant(
        sse(b'{"choices":[],"choices":[{"delta":{"content":"x","content":"a"}}]}') + DONE, Case(["a"], "done")
    ),
    "a large event over two lines": Variant(
        b'data: {"choices":[{"delta":\r\ndata: {"content":"' + b"x" * 100_000 + b'"}}]}\r\n\r\n' + DONE,
        Case(["x" * 100_000], "done"),
    ),
    "a large event that needs the second decoder": Variant(
        sse(b'{"choices":[{"delta":{"content":"' + b"x" * 100_000 + b'\\ud83d"}}]}') + DONE,
        Case(["x" * 100_000 + "\ufffd"], "done", repaired=1),
    ),
}

VARIANTS: Final = {
    f"{kind}: {name}": variant
    for kind, variants in {"usage": USAGE, "end": ENDS, "text": TEXTS}.items()
    for name, variant in variants.items()
}


@pytest.mark.parametrize("name", VARIANTS)
def test_variant(name: str, run: Run) -> None:
    check_cuts(VARIANTS[name].right, VARIANTS[name].body, run)


class Home(NamedTuple):
    """A delta, its text and its reasoning."""

    delta: dict[str, Any]
    text: str = ""
    reasoning: str = ""


HOMES: Final = [
    Home({"reasoning_content": "r"}, reasoning="r"),
    Home({"reasoning": "r"}, reasoning="r"),
    Home({"reasoning": "r", "reasoning_content": "r", "content": "t"}, "t", "r"),
    Home({"reasoning": "r", "reasoning_content": ""}, reasoning="r"),
    Home({"reasoning": None, "reasoning_content": None, "content": "t"}, "t"),
    Home({"reasoning_details": [{"type": "reasoning.text", "text": "r", "index": 0}]}, reasoning="r"),
    Home({"reasoning_details": [{"type": "reasoning.summary", "summary": "r"}]}, reasoning="r"),
    Home({"reasoning_details": [{"type": "reasoning.encrypted", "data": "x"}]}),
    Home({"reasoning": "r", "reasoning_details": [{"type": "reasoning.text", "text": "r"}]}, reasoning="r"),
    Home({"content": [{"type": "text", "text": "t"}]}, "t"),
    Home({"content": [{"type": "text", "text": "t"}, {"type": "text", "text": "u"}]}, "tu"),
    Home({"content": [{"type": "thinking", "thinking": [{"type": "text", "text": "r"}]}]}, reasoning="r"),
    Home(
        {
            "content": [
                {"type": "reasoning", "summary": [{"type": "summary_text", "text": "r"}]},
                {"type": "text", "text": "t"},
            ]
        },
        "t",
        "r",
    ),
    Home({"content": [{"type": "image_url", "image_url": {"url": "u"}}, {"type": "text", "text": "t"}]}, "t"),
    Home({"content": [], "reasoning_details": []}),
    Home({"refusal": "no"}),
]


@pytest.mark.parametrize("home", HOMES, ids=[repr(home.delta) for home in HOMES])
def test_homes_of_text_and_reasoning(home: Home, run: Run) -> None:
    body = sse({"choices": [{"delta": home.delta}]}) + DONE
    for items, reader in every_reader([body], run):
        (chunk,) = items
        assert (chunk.text, chunk.reasoning) == (home.text, home.reasoning)
        assert (reader.state, reader.stats.repaired) == ("done", 0)
