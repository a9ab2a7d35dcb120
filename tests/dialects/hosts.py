"""Dialects of hosts and clouds, which serve the models of others, and of one that is like them."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from .answer import Answer, Counts
from .dialect import (
    CREATED,
    OBJECT,
    Spoken,
    calls,
    counts,
    dialect,
    digits,
    finish,
    role,
    silent,
    sorted_keys,
    uuid,
)
from .expected import Chunk
from .plan import SAME, Tools, plan
from .wire import Wire


@dialect("groq", "thinking", "tools", "mixed", wire=Wire("own", go=True), faults=("named",))
def groq(answer: Answer, random: Random) -> Spoken:
    """Usage under `x_groq` of the finish chunk, and only there; ids that change when it thinks aloud."""
    identity, request, changing = uuid(random), f"req_{digits(random, 26)}", random.random() < 0.4
    for place, said in enumerate(plan(answer, tools=Tools(pieces="whole"), usage="finish")):
        (part,) = said.parts
        if part.reasoning:
            delta: Chunk = role(part) | {"reasoning": part.reasoning, "channel": "analysis"}
        else:
            delta = role(part) | (calls(part) or ({} if silent(part) else {"content": part.text}))
        chunk: Chunk = {"id": f"chatcmpl-{uuid(random) if changing else identity}", "object": OBJECT}
        chunk |= {"created": CREATED, "model": "openai/gpt-oss-cove", "system_fingerprint": None}
        chunk["choices"] = [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": part.finish_reason}]
        if not place:
            chunk["x_groq"] = {"id": request, "seed": random.getrandbits(24)}
        elif said.usage:
            usage = counts(said.usage, queue_time=0.018265729, prompt_time=1.8e-3, total_time=0.023470536)
            chunk["x_groq"] = {"id": request, "usage": usage}
        yield replace(said, usage=None, elsewhere=said.usage if place else None), chunk


@dialect("together", "thinking", "tools", "several")
def together(answer: Answer, random: Random) -> Spoken:
    """The text of a completion beside the delta, token ids, seeds beyond 64 bits, ids of later tool pieces null."""
    head = {"id": f"o{digits(random, 6)}-{digits(random, 16)}", "object": OBJECT, "created": CREATED}
    tools = Tools(later_id=None, later_name=None, later_type=SAME, order=("id", "index", "type", "function"))
    for said in plan(answer, tools=tools, role="every", reasons={"stop": "eos"}):
        choices: list[Chunk] = []
        for part in said.parts:
            choice: Chunk = {"index": part.index, "text": part.text, "logprobs": None}
            seed = random.getrandbits(random.choice((53, 63, 64, 70)))
            choice |= {"finish_reason": part.finish_reason, "seed": seed if part.finish_reason else None}
            delta = {"token_id": random.choice((None, 128009)), "role": part.role, "content": part.text}
            choice["delta"] = delta | (calls(part) or {"tool_calls": None}) | {"reasoning": part.reasoning or None}
            choices.append(choice)
        usage = counts(said.usage, prompt_tokens_details=None, reasoning_tokens=0)
        chunk: Chunk = {**head, "choices": choices, "model": "harbour/lantern-70b-turbo", "usage": usage}
        yield said, {**chunk, "warnings": [{"message": "one tool at a time"}]} if said.usage else chunk


@dialect("databricks", "thinking", "tools")
def databricks(answer: Answer, random: Random) -> Spoken:
    """Reasoning as typed parts; usage on each chunk, with null for the counts that are not known before the end."""
    identity, model = f"chatcmpl_{uuid(random)}", "us.anthropic.claude-skerry-v1:0"
    tools = Tools(pieces=random.choice(("fragments", "whole")))
    for said in plan(answer, tools=tools, role="every", usage="each"):
        (part,) = said.parts
        content: str | list[Chunk] | None = part.text
        if part.reasoning:
            content = [{"type": "reasoning", "summary": [{"type": "summary_text", "text": part.reasoning}]}]
        choice = {"delta": {"role": "assistant", "content": None if part.calls else content, **calls(part)}}
        chunk: Chunk = {"model": model, "choices": [choice | {"index": 0, "finish_reason": part.finish_reason}]}
        usage = said.usage if part.finish_reason else Counts(answer.usage.prompt, None, None)
        chunk["usage"] = {"cache_read_input_tokens": 0, **(counts(usage) or {}), "cache_creation_input_tokens": 0}
        yield replace(said, usage=usage), {**chunk, "object": OBJECT, "id": identity, "created": CREATED}


@dialect("cerebras", "thinking", "tools", "mixed", sentinel=False)
def cerebras(answer: Answer, random: Random) -> Spoken:
    """No finish_reason before the end, several whole calls in one chunk, times beside the usage, ids that change."""
    tools = Tools(pieces="together", order=("function", "type", "id", "index"))
    identity = uuid(random)
    for said in plan(answer, tools=tools, usage="finish"):
        (part,) = said.parts
        if random.random() < 0.2:
            identity = uuid(random)
        if part.reasoning:
            delta: Chunk = role(part) | {"reasoning": part.reasoning}
        else:
            delta = role(part) | (calls(part) or ({"content": part.text} if part.text else {}))
        chunk: Chunk = {"id": f"chatcmpl-{identity}", "choices": [{"delta": delta, **finish(part), "index": 0}]}
        chunk |= {"created": CREATED, "model": "lantern-3.3-70b", "system_fingerprint": "fp_1f2e", "object": OBJECT}
        if said.usage:
            chunk["usage"] = counts(said.usage)
            chunk["time_info"] = {"queue_time": 9.4581e-05, "total_time": 0.02123236656188965, "created": CREATED + 0.5}
        yield said, chunk


@dialect("snowflake", "thinking", "tools")
def snowflake(answer: Answer, random: Random) -> Spoken:
    """Texts empty instead of null, reasoning in details alone, and never a finish_reason."""
    tail = {"created": 0, "id": "", "model": random.choice(("claude-skerry", "lantern-70b")), "object": OBJECT}
    tail |= {"service_tier": "", "system_fingerprint": ""}
    for said in plan(answer, role="every", finish="never"):
        choices: list[Chunk] = []
        for place, part in enumerate(said.parts):
            delta: Chunk = {"content": part.text, "refusal": "", "role": part.role, "tool_calls": None, **calls(part)}
            if part.reasoning:
                detail = {"format": "anthropic-claude-v1", "id": f"reasoning-text-{place}", "index": 0}
                delta["reasoning_details"] = [{**detail, "text": part.reasoning, "type": "reasoning.text"}]
            choices.append({"delta": delta, "index": 0, "logprobs": {"content": None, "refusal": None}})
        parts = tuple(replace(part, refusal="") for part in said.parts)
        chunk = sorted_keys({"choices": choices, **tail})
        yield replace(said, parts=parts), {**chunk, "usage": counts(said.usage)} if said.usage else chunk


@dialect("bedrock compat", "tools", "thinking")
def bedrock_compat(answer: Answer, random: Random) -> Spoken:
    """Reasoning in angle brackets inside the text, padding inside the choice."""
    spoken = answer.replies[0]
    if spoken.thoughts:
        inline = f"<reasoning>{''.join(spoken.thoughts)}</reasoning>"
        answer = replace(answer, replies=(replace(spoken, thoughts=(), words=(inline, *spoken.words)),))
    tail = {"created": CREATED, "id": f"chatcmpl-{uuid(random)}", "model": "openai.gpt-oss-cove-1:0", "object": OBJECT}
    tail["service_tier"] = "default"
    for said in plan(answer, finish="last"):
        choices: list[Chunk] = []
        for part in said.parts:
            delta = sorted_keys(role(part) | (calls(part) or {"content": part.text}))
            choice = {"delta": delta, "finish_reason": part.finish_reason, "index": 0}
            choices.append({**choice, "obfuscation": digits(random, random.randint(20, 90))})
        chunk: Chunk = {"choices": choices, **tail}
        yield said, {**chunk, "usage": sorted_keys(counts(said.usage))} if said.usage else chunk


@dialect("xai", "thinking", "tools", "mixed")
def xai(answer: Answer, random: Random) -> Spoken:
    """No finish_reason before the end, calls whole, the fingerprint behind the choices."""
    head = {"id": uuid(random), "object": OBJECT, "created": CREATED, "model": "grok-cutter"}
    tail = {"system_fingerprint": "fp_eb3c0f0e0d", "service_tier": "default"}
    for said in plan(answer, tools=Tools(pieces="whole", order=("id", "function", "index", "type")), opening=False):
        choices: list[Chunk] = []
        for part in said.parts:
            spoken: Chunk = {"reasoning_content": part.reasoning} if part.reasoning else {"content": part.text}
            delta = {} if silent(part) else calls(part) or spoken
            choices.append({"index": 0, "delta": delta | role(part), **finish(part)})
        chunk: Chunk = {**head, "choices": choices}
        if said.usage:
            chunk["usage"] = counts(said.usage, num_sources_used=0, cost_in_usd_ticks=5_681_000)
        yield said, chunk | tail


HOSTS = (groq, together, databricks, cerebras, snowflake, bedrock_compat, xai)
