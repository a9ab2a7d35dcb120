"""Dialects of engines that one runs oneself, and of the three services that the package knows by name."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from .answer import Answer
from .dialect import CREATED, OBJECT, Spoken, calls, counts, dialect, digits, role, silent, sorted_keys
from .expected import Chunk, Part
from .plan import SAME, Tools, plan
from .wire import Wire


@dialect("hf tgi", wire=Wire("own", data="data:", last="nothing"), sentinel=False)
def hf_tgi(answer: Answer, random: Random) -> Spoken:
    """Early releases: the index of the choice counts tokens; the object is that of a completion, the id empty."""
    head = {"id": "", "object": "text_completion", "created": CREATED, "model": "harbour/lantern-7b"}
    head["system_fingerprint"] = "1.4.3-sha-0a1b2c3"
    reasons = {"stop": random.choice(("eos_token", "stop_sequence"))}
    for place, said in enumerate(plan(answer, usage="nowhere", opening=False, role="every", reasons=reasons), 1):
        part = replace(said.parts[0], index=place)
        if part.finish_reason:
            part = replace(part, text="</s>")
        choice = {"index": place, "delta": {"role": "assistant", "content": part.text}, "logprobs": None}
        yield replace(said, parts=(part,)), {**head, "choices": [{**choice, "finish_reason": part.finish_reason}]}


@dialect("ollama", "thinking", "tools", "mixed", wire=Wire("own", go=True), faults=("event", "text"))
def ollama(answer: Answer, random: Random) -> Spoken:
    """Calls whole and without an index, `stop` as the reason after them, `created` that moves on."""
    identity = f"chatcmpl-{random.randint(1, 999)}"
    tools = Tools(pieces=random.choice(("whole", "together")), indexed=False)
    for place, said in enumerate(
        plan(answer, tools=tools, opening=False, role="every", reasons={"tool_calls": "stop"})
    ):
        choices: list[Chunk] = []
        for part in said.parts:
            delta: Chunk = {"role": "assistant", "content": part.text}
            delta |= {"reasoning": part.reasoning} if part.reasoning else {}
            choices.append({"index": 0, "delta": delta | calls(part), "finish_reason": part.finish_reason})
        chunk: Chunk = {"id": identity, "object": OBJECT, "created": CREATED + place // 3, "model": "lantern:8b"}
        chunk |= {"system_fingerprint": "fp_ollama", "choices": choices}
        yield said, {**chunk, "usage": counts(said.usage)} if said.usage else chunk


@dialect("llamacpp", "tools", "several", "thinking")
def llamacpp(answer: Answer, random: Random) -> Spoken:
    """Keys in alphabetical order, content null at first, times of the machine beside the usage."""
    tail = {"created": CREATED, "id": f"chatcmpl-{digits(random)}", "model": "/models/Lantern-8B-Q4_K_M.gguf"}
    tail |= {"object": OBJECT, "system_fingerprint": "b10499-0a1b2c3"}
    tools = Tools(opening=False, order=("function", "id", "index", "type"))
    for said in plan(answer, tools=tools):
        choices: list[Chunk] = []
        for part in said.parts:
            delta: Chunk = {"content": None, **role(part)} if part.role else {}
            if part.reasoning:
                delta["reasoning_content"] = part.reasoning
            elif not part.role and not silent(part):
                delta = calls(part) or {"content": part.text}
            choices.append({"delta": delta, "finish_reason": part.finish_reason, "index": part.index})
        chunk: Chunk = {"choices": choices, **tail}
        if said.usage:
            chunk["timings"] = {"cache_n": 17, "predicted_ms": 51.089, "predicted_per_second": 117.44211082620524}
            chunk["usage"] = sorted_keys(counts(said.usage, prompt_tokens_details={"cached_tokens": 17}))
        yield said, chunk


@dialect("gpustack", "tools", sentinel=False, faults=("field",))
def gpustack(answer: Answer, random: Random) -> Spoken:
    """Speeds among the counts of usage, arguments as an object, no role, an error as a line of its own field."""
    tail = {"id": f"chatcmpl-{digits(random)}", "model": "lantern", "object": OBJECT}
    tools = Tools(pieces="whole", indexed=False, arguments="object", order=("function", "id", "type"))
    for place, said in enumerate(plan(answer, tools=tools, usage="finish", opening=False)):
        (part,) = said.parts
        said = replace(said, parts=(replace(part, role=None),))
        choice = {"delta": calls(part) or {"content": part.text}, "finish_reason": part.finish_reason, "index": 0}
        usage = counts(said.usage, draft_tokens=0, draft_tokens_acceptance=0.0, tokens_per_second=113.39357118132229)
        yield said, {"choices": [choice], "created": CREATED + place // 4, **tail, "usage": sorted_keys(usage)}


@dialect("vllm", "thinking", "tools", "several", faults=("event", "flat"))
def vllm(answer: Answer, random: Random) -> Spoken:
    """Ids of calls repeated in each piece, usage so far on each chunk and once more alone, stop_reason at the end."""
    head = {"id": f"chatcmpl-{digits(random)}", "object": OBJECT, "created": CREATED, "model": "harbour/lantern-8b"}
    tools = Tools(later_id=SAME, later_name="", later_type=SAME, order=("id", "type", "index", "function"))
    for said in plan(answer, tools=tools, usage="each and alone"):
        choices: list[Chunk] = []
        for part in said.parts:
            delta = role(part) | ({"reasoning_content": part.reasoning} if part.reasoning else {})
            delta |= calls(part) or ({} if part.reasoning else {"content": part.text})
            stop: Chunk = {"stop_reason": 128001} if part.finish_reason else {}
            choice = {"index": part.index, "delta": delta, "logprobs": None, "finish_reason": part.finish_reason}
            choices.append(choice | stop)
        yield said, {**head, "choices": choices, "usage": counts(said.usage)}


@dialect("nscale", sentinel=False, faults=("event", "text"))
def nscale(answer: Answer, random: Random) -> Spoken:
    """Keys in alphabetical order; role, logprobs and usage null; usage in a last chunk without choices."""
    identity, model = f"chatcmpl-{digits(random)}", "harbour/Lantern-8B-Instruct"
    for said in plan(answer):
        choices = [
            {
                "delta": {"content": part.text, "role": part.role},
                "finish_reason": part.finish_reason,
                "index": 0,
                "logprobs": None,
            }
            for part in said.parts
        ]
        chunk: Chunk = {"choices": choices, "created": CREATED, "id": identity, "model": model, "object": OBJECT}
        yield said, {**chunk, "usage": sorted_keys(counts(said.usage))}


@dialect("centml", faults=("text",))
def centml(answer: Answer, random: Random) -> Spoken:
    """The last word brings the finish reason, and stop_reason with it; no usage."""
    head = {"id": f"chatcmpl-{digits(random)}", "object": OBJECT, "created": CREATED, "model": "harbour/Lantern-70B"}
    for said in plan(answer, usage="nowhere", finish="last"):
        (part,) = said.parts
        choice: Chunk = {"index": 0, "delta": role(part) | {"content": part.text}, "logprobs": None}
        choice["finish_reason"] = part.finish_reason
        yield said, {**head, "choices": [choice | ({"stop_reason": None} if part.finish_reason else {})]}


@dialect("chutes sglang", "thinking", "tools", "mixed", faults=("bare end", "bare behind an event"))
def chutes_sglang(answer: Answer, random: Random) -> Spoken:
    """Every null member written out, `created` the time of each chunk, hidden states, a digest on most chunks."""
    identity, hidden = digits(random), random.random() < 0.5
    tools = Tools(
        opening=True, later_id=None, later_name=None, later_type=SAME, order=("id", "index", "type", "function")
    )
    last: Chunk = {}
    for place, said in enumerate(plan(answer, tools=tools)):
        choices: list[Chunk] = []
        for part in said.parts:
            delta = {"role": part.role, "content": None if part.calls or part.finish_reason else part.text}
            delta |= {"reasoning_content": part.reasoning or None, "tool_calls": None, **calls(part)}
            choice: Chunk = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": part.finish_reason}
            choices.append(choice | {"matched_stop": random.choice((128001, "</s>")) if part.finish_reason else None})
        chunk: Chunk = {
            "id": identity,
            "object": OBJECT,
            "created": CREATED + place // 2,
            "model": "harbour/Lantern-TEE",
        }
        chunk |= {"choices": choices, "usage": counts(said.usage, prompt_tokens_details={"cached_tokens": 16})}
        if said.usage and hidden:
            states = {**last["choices"][0], "delta": {"hidden_states": [[0.5, -1.25e-07]]}, "finish_reason": None}
            yield replace(said, parts=(Part(),), usage=None), {**last, "choices": [states]}
        last = chunk
        yield said, chunk if said.usage or random.random() < 0.2 else {**chunk, "chutes_verification": digits(random)}


@dialect("chutes vllm", "thinking", "tools", faults=("bare end", "bare behind an event"))
def chutes_vllm(answer: Answer, random: Random) -> Spoken:
    """Reasoning under two names at once; token_ids and hidden_states null; usage on each chunk and once more alone."""
    head = {
        "id": f"chatcmpl-{digits(random)}",
        "object": OBJECT,
        "created": CREATED,
        "model": "harbour/Lantern-397B-TEE",
    }
    for said in plan(answer, usage="each and alone"):
        choices: list[Chunk] = []
        for part in said.parts:
            thought = part.reasoning or None
            delta = role(part) | {"content": None if thought or part.calls else part.text}
            delta |= {"reasoning": thought, "reasoning_content": thought, **calls(part)}
            choice: Chunk = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": part.finish_reason}
            choices.append(choice | {"token_ids": None, "hidden_states": None})
        usage = counts(said.usage, completion_tokens_details={"reasoning_tokens": 0})
        yield said, {**head, "choices": choices, "usage": usage, "prompt_sha256": digits(random, 64)}


ENGINES = (hf_tgi, ollama, llamacpp, gpustack, vllm)
SERVICES = (nscale, centml, chutes_sglang, chutes_vllm)
