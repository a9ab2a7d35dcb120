"""Dialects of relays that stand before several providers and write what they get in a form of their own."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from .answer import Answer, Counts
from .dialect import CREATED, OBJECT, Spoken, calls, counts, dialect, digits, finish, role, silent
from .expected import Chunk, Said
from .plan import SAME, Tools, plan
from .wire import COMMENTS, Wire


@dialect(
    "openrouter",
    "thinking",
    "tools",
    "mixed",
    "refusal",
    wire=Wire("own", comments=COMMENTS[:1] * 3),
    faults=("beside choices", "event"),
)
def openrouter(answer: Answer, random: Random) -> Spoken:
    """Reasoning as text and as details, the reason of the provider behind it, costs, an error beside the choices."""
    head: Chunk = {
        "id": f"gen-{CREATED}-{digits(random, 20)}",
        "provider": "Harbour",
        "model": "harbour/lantern-8b:free",
    }
    head |= {"object": OBJECT, "created": CREATED}
    tools = Tools(later_id=None, later_name=None, later_type=SAME)
    reasoned = random.choice(("both", "details only"))
    for said in plan(answer, tools=tools, role="every", usage="alone"):
        choices: list[Chunk] = []
        for part in said.parts:
            delta: Chunk = {"role": "assistant", "content": part.text}
            if part.refusal is not None:
                delta["refusal"] = part.refusal
            if part.reasoning:
                delta["reasoning"] = part.reasoning if reasoned == "both" else None
                detail = {"type": "reasoning.text", "text": part.reasoning, "format": "unknown", "index": 0}
                delta["reasoning_details"] = [detail]
            elif random.random() < 0.3:
                delta |= {"reasoning": None, "reasoning_details": []}
            choice: Chunk = {"index": part.index, "delta": delta | calls(part), "finish_reason": part.finish_reason}
            choices.append({**choice, "native_finish_reason": part.finish_reason and "end_turn", "logprobs": None})
        chunk: Chunk = {**head, "choices": choices}
        if said.usage:
            cost = {"upstream_inference_cost": None, "upstream_inference_prompt_cost": 4.0799999944e-06}
            chunk["usage"] = counts(said.usage, cost=6.624e-4, is_byok=False, cost_details=cost)
        yield said, chunk


@dialect("copilot", "tools", "several")
def copilot(answer: Answer, random: Random) -> Spoken:
    """No `object` at all, no finish_reason before the end, the prompt's filters in a chunk of their own."""
    model = {"model": "tide-2-2026-01-01"}
    filters = [{"content_filter_results": {"hate": {"filtered": False, "severity": "safe"}}, "prompt_index": 0}]
    yield Said(), {"choices": [], "created": 0, "id": "", **model, "prompt_filter_results": filters}
    tail = {"created": CREATED, "id": f"chatcmpl-{digits(random)}", **model, "system_fingerprint": "fp_d4e5f6a7b8"}
    for said in plan(answer, usage="finish", tools=Tools(order=("function", "id", "index", "type"))):
        choices: list[Chunk] = []
        for part in said.parts:
            delta = {"content": None if part.calls or silent(part) else part.text, **role(part), **calls(part)}
            choices.append({"content_filter_results": {}, "delta": delta, **finish(part), "index": part.index})
        chunk: Chunk = {"choices": choices, **tail}
        if said.usage:
            billed = [{"batch_size": 1_000_000, "cost_per_batch": 0, "token_count": 46, "token_type": "output"}]
            chunk = {
                **chunk,
                "copilot_usage": {"token_details": billed},
                "usage": counts(said.usage, reasoning_tokens=0),
            }
        yield said, chunk


@dialect("featherless", wire=Wire("own", comments=COMMENTS[2:3] * 2, in_block=True))
def featherless(answer: Answer, random: Random) -> Spoken:
    """`created` in milliseconds, which moves on; another `object` on the last chunk."""
    identity, created = digits(random, 6), CREATED * 1000 + random.randint(0, 999)
    for said in plan(answer, usage="nowhere"):
        (part,) = said.parts
        created += random.randint(1, 900)
        chunk: Chunk = {"id": identity, "object": "text_completion" if part.finish_reason else OBJECT}
        chunk |= {"created": created, "model": "harbour/lantern-8b"}
        delta = {} if part.finish_reason else role(part) | {"content": part.text}
        choice: Chunk = {"delta": delta, "index": 0, **({"logprobs": None} if part.finish_reason else {})}
        yield said, {**chunk, "choices": [{**choice, "finish_reason": part.finish_reason}]}


@dialect("proxy", "thinking", "tools", "several")
def proxy(answer: Answer, random: Random) -> Spoken:
    """A small relay: usage that has no counts before the end, null where a member says nothing, tool_calls empty."""
    head = {"id": f"chatcmpl-{digits(random)}", "object": OBJECT, "created": CREATED * 1000, "model": "lantern"}
    unknown: Chunk = random.choice(({}, {"prompt_tokens": None, "completion_tokens": None, "total_tokens": None}))
    for said in plan(answer, tools=Tools(later_id="", later_name="", later_type=SAME), usage="finish"):
        choices: list[Chunk] = []
        for part in said.parts:
            delta: Chunk = {
                "role": part.role,
                "content": part.text or None,
                "reasoning_content": part.reasoning or None,
            }
            delta |= {"tool_calls": [], "function_call": None, **calls(part)}
            choices.append({"index": part.index, "delta": delta, "finish_reason": part.finish_reason})
        usage = said.usage or Counts(None, None, None)
        yield replace(said, usage=usage), {**head, "choices": choices, "usage": counts(said.usage) or unknown}


RELAYS = (openrouter, copilot, featherless, proxy)
