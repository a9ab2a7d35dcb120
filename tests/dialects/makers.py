"""Dialects of those who make the models they serve: OpenAI and Azure, Mistral, Perplexity, DeepSeek, Z.ai, others."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Any

from .answer import Answer
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
from .expected import Chunk, Part, Said
from .plan import Tools, plan
from .wire import COMMENTS, Wire

_SAFE = {name: {"filtered": False, "severity": "safe"} for name in ("hate", "self_harm", "sexual", "violence")}


def _openai_delta(part: Part) -> Chunk:
    if silent(part):
        return {}
    delta: Chunk = role(part)
    if part.refusal is not None:
        return {**delta, "refusal": part.refusal}
    if part.function:
        name, arguments = part.function
        return {**delta, "function_call": {"name": name, "arguments": arguments} if name else {"arguments": arguments}}
    if part.calls:
        return {**delta, "content": None, **calls(part)} if part.role else calls(part)
    return {**delta, "content": part.text, **({"refusal": None} if part.role else {})}


def _logprobs(part: Part, random: Random) -> Chunk | None:
    if not part.text:
        return None
    chance = -random.random() * 10 ** -random.randint(0, 9)
    token = {"token": part.text, "logprob": chance, "bytes": list(part.text[:9].encode()), "top_logprobs": []}
    return {"content": [token], "refusal": None}


@dialect("openai", "tools", "refusal", "several", "function", faults=("event", "sparse event"))
def openai(answer: Answer, random: Random) -> Spoken:
    """Padding against eavesdroppers, log probabilities, usage null on each chunk but a last one without choices."""
    head = {"id": f"chatcmpl-{digits(random)}", "object": OBJECT, "created": CREATED, "model": "tide-2-mini"}
    head |= {"service_tier": "default", "system_fingerprint": random.choice((None, "fp_0a1b2c3d4e"))}
    padded, likely = random.random() < 0.5, random.random() < 0.3
    for said in plan(answer, side_by_side=random.random() < 0.3):
        chunk: Chunk = {**head, "choices": []}
        for part in said.parts:
            choice: Chunk = {"index": part.index, "delta": _openai_delta(part)}
            choice["logprobs"] = _logprobs(part, random) if likely else None
            chunk["choices"].append({**choice, "finish_reason": part.finish_reason})
        details = {"prompt_tokens_details": {"cached_tokens": 0}, "completion_tokens_details": {"reasoning_tokens": 0}}
        chunk["usage"] = counts(said.usage, **details)
        if padded:
            chunk["obfuscation"] = digits(random, random.randint(1, 16))
        yield said, chunk


@dialect("azure", "tools", "refusal", "several")
def azure(answer: Answer, random: Random) -> Spoken:
    """A first chunk that is only about the prompt, with empty id, object and model; one with offsets and no delta."""
    results = {**_SAFE, "jailbreak": {"filtered": False, "detected": False}}
    yield (
        Said(),
        {
            "choices": [],
            "created": 0,
            "id": "",
            "model": "",
            "object": "",
            "prompt_filter_results": [{"prompt_index": 0, "content_filter_results": results}],
        },
    )
    head = {"created": CREATED, "id": f"chatcmpl-{digits(random)}", "model": "tide-2-mini", "object": OBJECT}
    head["system_fingerprint"] = "fp_5f6e7d8c9b"
    for place, said in enumerate(plan(answer)):
        choices = [
            {
                "content_filter_results": _SAFE if part.text else {},
                "delta": _openai_delta(part),
                "finish_reason": part.finish_reason,
                "index": part.index,
                "logprobs": None,
            }
            for part in said.parts
        ]
        yield said, {"choices": choices, **head, "usage": counts(said.usage)}
        if place == 2:
            offsets = {"check_offset": 44, "start_offset": 44, "end_offset": 91}
            choice = {"content_filter_offsets": offsets, "content_filter_results": _SAFE, "finish_reason": None}
            yield Said((Part(),)), {"choices": [{**choice, "index": 0, "logprobs": None}], **head}


@dialect("mistral", "thinking", "tools", "mixed", faults=("flat",))
def mistral(answer: Answer, random: Random) -> Spoken:
    """Content as typed parts while it thinks, all calls whole in one chunk without an index, padding in `p`."""
    head = {"id": digits(random), "object": OBJECT, "created": CREATED, "model": "mistral-breeze-1"}
    tools = Tools(pieces="together", indexed=False, order=("id", "function"))
    for said in plan(answer, tools=tools, usage="finish", finish="last", blend=True):
        (part,) = said.parts
        content: str | list[Chunk] = part.text
        if part.reasoning:
            content = [{"type": "thinking", "thinking": [{"type": "text", "text": part.reasoning}]}]
            if part.text:
                content[0]["closed"] = True
                content.append({"type": "text", "text": part.text})
        delta = role(part) | (calls(part) if part.calls else {"content": content})
        chunk: Chunk = {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": part.finish_reason}]}
        if said.usage:
            chunk["usage"] = counts(said.usage, prompt_tokens_details={"cached_tokens": 0}, service_tier="standard")
        yield said, {**chunk, "p": "abcdefghijklmnopqrstuvwxyz"[: random.randint(1, 26)]}


@dialect("perplexity", wire=Wire("own", spaced=True, ascii=True, end="\r\n", comments=COMMENTS[3:4]), sentinel=False)
def perplexity(answer: Answer, random: Random) -> Spoken:
    """Usage and sources on each chunk, the message so far beside the delta, another `object` on the last one."""
    identity, message, sources = uuid(random), "", [f"https://library.example/{n}?a=1&b=2" for n in range(3)]
    for place, said in enumerate(plan(answer, usage="each", opening=False, role="every")):
        (part,) = said.parts
        message += part.text
        cost = {"input_tokens_cost": 0.0, "output_tokens_cost": 1e-05, "total_cost": 5.01e-03}
        choice: Chunk = {"index": 0, "message": {"role": "assistant", "content": message}}
        choice |= {"delta": {"role": "assistant", "content": part.text}, **finish(part)}
        chunk: Chunk = {"id": identity, "model": "sextant", "created": CREATED + place}
        chunk["usage"] = counts(said.usage, search_context_size="low", cost=cost)
        chunk |= {"citations": sources, "search_results": [{"title": "“Tides”", "url": url} for url in sources]}
        chunk["object"] = "chat.completion.done" if part.finish_reason else OBJECT
        yield said, {**chunk, "choices": [choice]}


@dialect("deepseek", "thinking", "tools", wire=Wire("own", comments=COMMENTS[1:2]))
def deepseek(answer: Answer, random: Random) -> Spoken:
    """Content null while it thinks, reasoning null while it speaks, counts of the cache beside the usual ones."""
    head = {"id": uuid(random), "object": OBJECT, "created": CREATED, "model": "deepseek-fathom"}
    head["system_fingerprint"] = "fp_77aa_prod0101_fp8"
    for said in plan(answer, usage="finish"):
        (part,) = said.parts
        if part.calls:
            delta = role(part) | calls(part)
        else:
            thinking = bool(part.reasoning)
            delta = role(part) | {"content": None if thinking else part.text}
            delta["reasoning_content"] = part.reasoning if thinking else None
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": part.finish_reason}
        usage = counts(said.usage, prompt_cache_hit_tokens=0, prompt_cache_miss_tokens=answer.usage.prompt)
        yield said, {**head, "choices": [choice], "usage": usage}


@dialect("zai", "thinking", "tools", "mixed")
def zai(answer: Answer, random: Random) -> Spoken:
    """Choices 0, 1, 2 and 3 for the reasoning, the text, the calls and the end of one answer; `object` left out."""
    head = {"id": f"20260203{digits(random, 24)}", "created": CREATED, "model": "glm-reef"}
    tools = Tools(pieces="whole", order=("id", "index", "type", "function"))
    for said in plan(answer, tools=tools, usage="finish", opening=False, role="every"):
        (part,) = said.parts
        index = 0 if part.reasoning else 2 if part.calls else 3 if part.finish_reason else 1
        delta: Chunk = {"role": "assistant"}
        if part.reasoning:
            delta["reasoning_content"] = part.reasoning
        else:
            delta |= calls(part) or {"content": part.text}
        chunk: Chunk = {**head, "choices": [{"index": index, **finish(part), "delta": delta}]}
        if said.usage:
            chunk["usage"] = counts(said.usage, completion_tokens_details={"reasoning_tokens": 1})
        yield replace(said, parts=(replace(part, index=index),)), chunk


@dialect("google compat", "tools", faults=("listed",))
def google_compat(answer: Answer, random: Random) -> Spoken:
    """No id, calls whole without an index and with an empty id, and `stop` as the reason after them."""
    tools = Tools(pieces="together", indexed=False, first_id="", order=("function", "id", "type"))
    created = CREATED + random.randint(0, 99)
    for said in plan(
        answer, tools=tools, usage="each", opening=False, role="every", finish="last", reasons={"tool_calls": "stop"}
    ):
        (part,) = said.parts
        delta: Chunk = role(part) | (calls(part) or {"content": part.text})
        chunk: Chunk = {"choices": [{"delta": delta, **finish(part), "index": 0}], "created": created}
        chunk |= {"model": "gemini-compass-flash", "object": OBJECT, "usage": counts(said.usage)}
        yield said, sorted_keys(chunk)


@dialect("moonshot", "thinking", "tools", "several", faults=("event",))
def moonshot(answer: Answer, random: Random) -> Spoken:
    """Usage inside the choice that ends, and nowhere else."""
    head = {"id": f"cmpl-{digits(random)}", "object": OBJECT, "created": CREATED, "model": "kimi-quarter-moon"}
    for said in plan(answer, usage="finish"):
        choices: list[Chunk] = []
        for part in said.parts:
            delta = role(part) | (calls(part) or ({} if silent(part) else {"content": part.text}))
            if part.reasoning:
                delta = role(part) | {"reasoning_content": part.reasoning}
            choice: dict[str, Any] = {"index": part.index, "delta": delta, "finish_reason": part.finish_reason}
            choices.append({**choice, "usage": counts(said.usage, cached_tokens=3)} if said.usage else choice)
        elsewhere = replace(said, usage=None, elsewhere=said.usage)
        yield elsewhere, {**head, "choices": choices, "system_fingerprint": "fpv0_9c8b7a65"}


@dialect("writer", "tools", "several", sentinel=False)
def writer(answer: Answer, random: Random) -> Spoken:
    """Every member that there is, null where it has nothing, and the whole delta once more as a message."""
    identity = uuid(random)
    none = dict.fromkeys(("llm_data", "image_data", "translation_data", "web_search_data", "refusal"))
    tools = Tools(later_id=None, later_name=None, later_type=None, arguments="null at first")
    for said in plan(answer, tools=tools, role="every"):
        choices = []
        for part in said.parts:
            delta = {"content": part.text or None, "role": part.role, "tool_calls": None, **calls(part)}
            delta |= {"graph_data": {"sources": None, "status": None, "subqueries": None}, **none}
            choice = {"index": part.index, "finish_reason": part.finish_reason, "message": delta, "delta": delta}
            choices.append({**choice, "logprobs": None, "trace_details": None})
        chunk: Chunk = {"id": identity, "object": OBJECT, "choices": choices, "created": CREATED}
        chunk |= {"model": "palmyra-shoal", "usage": counts(said.usage, prompt_token_details=None)}
        yield said, {**chunk, "system_fingerprint": "v1", "service_tier": None}


MAKERS = (openai, azure, mistral, perplexity, deepseek, zai, google_compat, moonshot, writer)
