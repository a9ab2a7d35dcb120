"""How each provider speaks: one function per dialect turns words into the chunks that the demo's server sends.

The documented dialect follows the examples in the AsyncAPI documents. The others follow what the services were seen to
send, or what their engines' public source writes: order of keys, members beside the documented ones, nulls where the
documents allow none, where usage stands.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

__all__ = ["Chunk", "centml_real", "chutes_sglang", "chutes_vllm", "counts", "documented", "nscale_real"]

_CREATED = 1_770_000_000

Chunk = dict[str, Any]


def counts(completion: int, **details: object) -> Chunk:
    """Usage for an answer of so many tokens, of which a word is one."""
    return {"prompt_tokens": 21, "total_tokens": 21 + completion, "completion_tokens": completion, **details}


def _head(identity: str, model: str, created: int = _CREATED) -> Chunk:
    return {"id": identity, "object": "chat.completion.chunk", "created": created, "model": model}


def documented(words: Sequence[str], *, model: str, usage: bool = False, **choice: object) -> Iterator[Chunk]:
    """The example of the three documents, which are alike; they differ in members of the choice and in usage."""
    head = _head("chatcmpl-demo", model)

    def chunk(delta: Chunk, finish_reason: str | None = None) -> Chunk:
        counted = {"usage": counts(len(words)) if finish_reason else None} if usage else {}
        return {**head, "choices": [{"index": 0, "delta": delta, **choice, "finish_reason": finish_reason}], **counted}

    yield chunk({"role": "assistant", "content": ""})
    for word in words:
        yield chunk({"content": word})
    yield chunk({}, "stop")


def nscale_real(words: Sequence[str]) -> Iterator[Chunk]:
    """Keys in alphabetical order; role, logprobs and usage written as null; usage in a last chunk without choices."""
    head = _head("chatcmpl-5d0f2c7e8b1a4e6f9c3d", "meta-llama/Llama-3.1-8B-Instruct")

    def chunk(choices: list[Chunk], usage: Chunk | None = None) -> Chunk:
        return dict(sorted({**head, "choices": choices, "usage": usage}.items()))

    def choice(content: str, role: str | None = None, finish_reason: str | None = None) -> list[Chunk]:
        delta = {"content": content, "role": role}
        return [{"delta": delta, "finish_reason": finish_reason, "index": 0, "logprobs": None}]

    yield chunk(choice("", role="assistant"))
    for word in words:
        yield chunk(choice(word))
    yield chunk(choice("", finish_reason="stop"))
    yield chunk([], counts(len(words)))


def centml_real(words: Sequence[str]) -> Iterator[Chunk]:
    """Has logprobs beside what is documented; the last word brings the finish reason, and stop_reason with it."""
    head = _head("chatcmpl-90c1b7a4d2e84f35", "meta-llama/Llama-3.3-70B-Instruct")

    def chunk(delta: Chunk, finish_reason: str | None = None, **more: object) -> Chunk:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason, **more}
        return {**head, "choices": [choice]}

    yield chunk({"role": "assistant", "content": ""})
    for word in words[:-1]:
        yield chunk({"content": word})
    yield chunk({"content": words[-1]}, "length", stop_reason=None)


def chutes_sglang(words: Sequence[str]) -> Iterator[Chunk]:
    """Every null member written out; created moves on; usage so far on each chunk; a digest on most."""

    def chunk(done: int, choices: list[Chunk], **more: str) -> Chunk:
        head = _head("8c2f6b0d4e9a47f1b3c5d7e9f1a3b5c7", "deepseek-ai/DeepSeek-V3.2-TEE", _CREATED + done // 8)
        return {**head, "choices": choices, "usage": counts(done, prompt_tokens_details={"cached_tokens": 16}), **more}

    def spoken(done: int, content: str | None, role: str | None = None, finish_reason: str | None = None) -> Chunk:
        delta = {"role": role, "content": content, "reasoning_content": None, "tool_calls": None}
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason}
        choice["matched_stop"] = 128001 if finish_reason else None
        return chunk(
            done, [choice], chutes_verification=f"{(done + 1) * 0x9E3779B97F4A7C15F39CC0605CEDC835:032x}"[-32:]
        )

    yield spoken(0, "", role="assistant")
    for done, word in enumerate(words, 1):
        yield spoken(done, word)
    yield spoken(len(words), None, finish_reason="stop")
    yield chunk(len(words), [])


def chutes_vllm(words: Sequence[str], *, thoughts: Sequence[str]) -> Iterator[Chunk]:
    """Reasoning under two names at once; token_ids and hidden_states null; usage on each chunk and once more alone."""
    head = _head("chatcmpl-3f7a9e1c5b2d4860", "Qwen/Qwen3.5-397B-A17B-TEE")

    def chunk(done: int, choices: list[Chunk]) -> Chunk:
        details = {"reasoning_tokens": min(done, len(thoughts))}
        return {**head, "choices": choices, "usage": counts(done, completion_tokens_details=details)}

    def choice(content: str | None, thought: str | None, finish_reason: str | None = None, **first: str) -> list[Chunk]:
        delta = {**first, "content": content, "reasoning": thought, "reasoning_content": thought}
        nothing = {"token_ids": None, "hidden_states": None}
        return [{"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish_reason, **nothing}]

    yield chunk(0, choice("", None, role="assistant"))
    for done, thought in enumerate(thoughts, 1):
        yield chunk(done, choice(None, thought))
    for done, word in enumerate(words, len(thoughts) + 1):
        yield chunk(done, choice(word, None))
    yield chunk(len(thoughts) + len(words), choice("", None, "stop"))
    yield chunk(len(thoughts) + len(words), [])
