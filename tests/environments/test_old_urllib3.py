"""urllib3 before 2.2 has no read that is at once: streams say so, and what can be read without it is read."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

import boto3  # type: ignore[import-untyped]
import botocore.config  # type: ignore[import-untyped]
import pytest
import requests
import urllib3

from ssewire import ChatStream
from tests.clients.bodies import TEXTS
from tests.clients.served import TIMEOUT, Server, Stream

TEXT = "".join(TEXTS)

SENTENCE = r"HTTPResponse has no read1\(\): update urllib3 to 2\.2 or later"


def test_urllib3_is_old_here() -> None:
    assert not hasattr(urllib3.HTTPResponse, "read1")


def test_a_response_of_urllib3_is_refused_with_a_sentence(server: Server) -> None:
    response = urllib3.request("GET", server.stream("at-once").address, preload_content=False)
    with pytest.raises(TypeError, match=SENTENCE):
        ChatStream(response)
    # Nothing of it was read.
    assert response.read().endswith(b"data: [DONE]\n\n")


def test_a_response_of_requests_is_refused_with_a_sentence(server: Server) -> None:
    with requests.get(server.stream("at-once").address, stream=True, timeout=TIMEOUT) as response:
        with pytest.raises(TypeError, match=SENTENCE):
            ChatStream(response)
        assert response.content.endswith(b"data: [DONE]\n\n")


def test_a_body_in_memory_needs_no_reading(server: Server) -> None:
    assert ChatStream(urllib3.request("GET", server.stream("at-once").address)).collect().text == TEXT
    response = requests.get(server.stream("at-once").address, timeout=TIMEOUT)
    assert ChatStream(response).collect().text == TEXT


def test_boto3_gives_a_byte_at_a_time_at_once(server: Server) -> None:
    served = server.stream("chunked")
    with body_of(served) as body:
        stream = ChatStream(body)
        for number, _ in enumerate(stream, 1):
            served.confirm(number)
        assert (number, stream.state) == (7, "done")
        served.wait_until_gone()


@contextmanager
def body_of(stream: Stream) -> Iterator[Any]:
    """What boto3 hands out for a stream."""
    client = boto3.client(
        "sagemaker-runtime",
        region_name="eu-north-1",
        endpoint_url=stream.url,
        aws_access_key_id="none",
        aws_secret_access_key="none",
        config=botocore.config.Config(read_timeout=stream.timeout, retries={"total_max_attempts": 1}),
    )
    with closing(client):
        yield client.invoke_endpoint(EndpointName="m", Body=json.dumps(stream.body))["Body"]
