"""The SDKs of services: their streaming responses, and the bodies that boto3 hands out."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from typing import Any

import anthropic
import boto3  # type: ignore[import-untyped]
import botocore.config  # type: ignore[import-untyped]
import groq
import httpx
import httpx2
import openai

from tests.clients.client import BOTH, TRIO_LIMITS, Client
from tests.clients.served import Stream

HI: Any = [{"role": "user", "content": "Hi"}]


def options(stream: Stream, package: Any, kind: str) -> dict[str, Any]:
    """What the SDKs are opened with; each brings a client of its own kind."""
    own = getattr(package, kind)(
        verify=stream.context, http2=stream.http2, timeout=stream.timeout, follow_redirects=True
    )
    return {"base_url": stream.url, "api_key": "none", "timeout": stream.timeout, "max_retries": 0, "http_client": own}


@contextmanager
def with_openai(stream: Stream) -> Iterator[Any]:
    with openai.OpenAI(**options(stream, httpx2, "Client")) as client:
        create = client.chat.completions.with_streaming_response.create
        with create(model="m", messages=HI, stream=True) as response:
            yield response


@contextmanager
def with_stream_of_openai(stream: Stream) -> Iterator[Any]:
    with (
        openai.OpenAI(**options(stream, httpx2, "Client")) as client,
        client.chat.completions.create(model="m", messages=HI, stream=True) as answer,
    ):
        yield answer


@contextmanager
def with_anthropic(stream: Stream) -> Iterator[Any]:
    with anthropic.Anthropic(**options(stream, httpx2, "Client")) as client:
        create = client.messages.with_streaming_response.create
        with create(model="m", messages=HI, max_tokens=9, stream=True) as response:
            yield response


@contextmanager
def with_groq(stream: Stream) -> Iterator[Any]:
    with groq.Groq(**options(stream, httpx, "Client")) as client:
        create = client.chat.completions.with_streaming_response.create
        with create(model="m", messages=HI, stream=True) as response:
            yield response


@contextmanager
def with_boto3(stream: Stream) -> Iterator[Any]:
    client = boto3.client(
        "sagemaker-runtime",
        region_name="eu-north-1",
        endpoint_url=stream.url,
        verify=stream.authority,
        aws_access_key_id="none",
        aws_secret_access_key="none",
        config=botocore.config.Config(read_timeout=stream.timeout, retries={"total_max_attempts": 1}),
    )
    try:
        yield client.invoke_endpoint(EndpointName="m", Body=json.dumps(stream.body))["Body"]
    finally:
        client.close()


@asynccontextmanager
async def with_async_openai(stream: Stream) -> AsyncIterator[Any]:
    async with openai.AsyncOpenAI(**options(stream, httpx2, "AsyncClient")) as client:
        create = client.chat.completions.with_streaming_response.create
        async with create(model="m", messages=HI, stream=True) as response:
            yield response


@asynccontextmanager
async def with_stream_of_async_openai(stream: Stream) -> AsyncIterator[Any]:
    async with (
        openai.AsyncOpenAI(**options(stream, httpx2, "AsyncClient")) as client,
        await client.chat.completions.create(model="m", messages=HI, stream=True) as answer,
    ):
        yield answer


@asynccontextmanager
async def with_async_anthropic(stream: Stream) -> AsyncIterator[Any]:
    async with anthropic.AsyncAnthropic(**options(stream, httpx2, "AsyncClient")) as client:
        create = client.messages.with_streaming_response.create
        async with create(model="m", messages=HI, max_tokens=9, stream=True) as response:
            yield response


@asynccontextmanager
async def with_async_groq(stream: Stream) -> AsyncIterator[Any]:
    async with groq.AsyncGroq(**options(stream, httpx, "AsyncClient")) as client:
        create = client.chat.completions.with_streaming_response.create
        async with create(model="m", messages=HI, stream=True) as response:
            yield response


def over(package: str) -> dict[str, Any]:
    """What an SDK is, by the client that it is built on."""
    return {
        "broken": f"{package}.RemoteProtocolError",
        "reset": (f"{package}.ReadError", f"{package}.RemoteProtocolError"),
        "timeout": f"{package}.ReadTimeout",
        "http2": True,
        "resets": False,
        "judges": True,
    }


WITH = "`with client.chat.completions.with_streaming_response.create(...) as response: ChatStream(response)`"

CLIENTS = [
    Client(
        name="OpenAI SDK",
        open=with_openai,
        bare=lambda response: response.iter_bytes(),
        use=WITH,
        example="""
            import openai, os, ssewire

            provider = ssewire.Provider("https://host/v1")
            with openai.OpenAI(base_url=provider.base_url, api_key=os.environ["KEY"], timeout=60) as client:
                create = client.chat.completions.with_streaming_response.create
                with create(model="m", messages=[], stream=True) as response:
                    for text in ssewire.ChatStream(response).iter_text():
                        print(text, end="")
        """,
        **over("httpx2"),
    ),
    Client(
        name="OpenAI SDK's Stream",
        open=with_stream_of_openai,
        bare=lambda answer: answer.response.iter_bytes(),
        use="`ChatStream(client.chat.completions.create(..., stream=True))`",
        example="""
            import openai, os, ssewire

            provider = ssewire.Provider("https://host/v1")
            with openai.OpenAI(base_url=provider.base_url, api_key=os.environ["KEY"], timeout=60) as client:
                answer = client.chat.completions.create(model="m", messages=[], stream=True)
                for text in ssewire.ChatStream(answer).iter_text():
                    print(text, end="")
        """,
        limits=("Hand it over before anything was read from it; `answer.response` does as well.",),
        **over("httpx2"),
    ),
    Client(
        name="Anthropic SDK",
        open=with_anthropic,
        bare=lambda response: response.iter_bytes(),
        use="`with client.messages.with_streaming_response.create(...) as response: EventStream(response)`",
        limits=("The service's own events are no chat-completion chunks: `EventStream` reads them.",),
        **over("httpx2"),
    ),
    Client(
        name="Groq SDK",
        open=with_groq,
        bare=lambda response: response.iter_bytes(),
        use=WITH,
        **over("httpx"),
    ),
    Client(
        name="boto3 StreamingBody",
        open=with_boto3,
        bare=lambda body: body.iter_chunks(1),
        use='`ChatStream(client.invoke_endpoint(...)["Body"])`',
        limits=(
            "It has no public read that is at once, only one that gives a byte at a time, so what lies below "
            "it is read.",
        ),
        broken="urllib3.exceptions.ProtocolError",
        short="ssewire.IncompleteStreamError",
        reset="urllib3.exceptions.ProtocolError",
        timeout="urllib3.exceptions.ReadTimeoutError",
        judges=True,
    ),
    Client(
        name="OpenAI SDK",
        open=with_async_openai,
        bare=lambda response: response.iter_bytes(),
        backends=BOTH,
        use=f"`async {WITH[1:].replace('ChatStream', 'AsyncChatStream')}",
        example="""
            import asyncio, openai, os, ssewire


            async def main() -> None:
                provider = ssewire.Provider("https://host/v1")
                key = os.environ["KEY"]
                async with openai.AsyncOpenAI(base_url=provider.base_url, api_key=key, timeout=60) as client:
                    create = client.chat.completions.with_streaming_response.create
                    async with create(model="m", messages=[], stream=True) as response:
                        async for text in ssewire.AsyncChatStream(response).iter_text():
                            print(text, end="")


            asyncio.run(main())
        """,
        limits=(TRIO_LIMITS,),
        **over("httpx2"),
    ),
    Client(
        name="OpenAI SDK's Stream",
        open=with_stream_of_async_openai,
        bare=lambda answer: answer.response.aiter_bytes(),
        backends=BOTH,
        use="`AsyncChatStream(await client.chat.completions.create(..., stream=True))`",
        limits=("Hand it over before anything was read from it; `answer.response` does as well.",),
        **over("httpx2"),
    ),
    Client(
        name="Anthropic SDK",
        open=with_async_anthropic,
        bare=lambda response: response.iter_bytes(),
        backends=BOTH,
        use="`async with client.messages.with_streaming_response.create(...) as response: AsyncEventStream(response)`",
        limits=(TRIO_LIMITS,),
        **over("httpx2"),
    ),
    Client(
        name="Groq SDK",
        open=with_async_groq,
        bare=lambda response: response.iter_bytes(),
        backends=BOTH,
        use=f"`async {WITH[1:].replace('ChatStream', 'AsyncChatStream')}",
        limits=(TRIO_LIMITS,),
        **over("httpx"),
    ),
]
