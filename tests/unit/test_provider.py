"""Providers: the request that they describe, the key that never shows, and addresses that are wrong."""

from __future__ import annotations

import copy
import logging
import pickle
import pprint
from typing import TYPE_CHECKING, Any, cast

import httpx
import pytest
import requests
from rich.pretty import pretty_repr

from ssewire.documented import CentMLChunk, ChutesChunk, NscaleChunk
from ssewire.models import ChatCompletionChunk
from ssewire.provider import CENTML, CHUTES, NSCALE, Provider

if TYPE_CHECKING:
    from collections.abc import Callable

SECRET = "cpk_0123456789abcdef"
NAMED = (NSCALE, CENTML, CHUTES)
VARIABLES = [variable for provider in NAMED for variable in provider.key_variables]


@pytest.fixture(autouse=True)
def _no_keys_set(monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in VARIABLES:
        monkeypatch.delenv(variable, raising=False)


@pytest.mark.parametrize(
    ("provider", "url", "variables", "chunk_type"),
    [
        (
            NSCALE,
            "https://inference.api.nscale.com/v1/chat/completions",
            ("NSCALE_SERVICE_TOKEN", "NSCALE_API_KEY"),
            NscaleChunk,
        ),
        (CENTML, "https://api.centml.com/openai/v1/chat/completions", ("CENTML_API_KEY",), CentMLChunk),
        (CHUTES, "https://llm.chutes.ai/v1/chat/completions", ("CHUTES_API_KEY", "CHUTES_API_TOKEN"), ChutesChunk),
    ],
)
def test_the_named_services(
    provider: Provider[Any], url: str, variables: tuple[str, ...], chunk_type: type[object]
) -> None:
    assert provider.url == url
    assert provider.key_variables == variables
    assert provider.chunk_type is chunk_type


def test_any_other_service() -> None:
    provider = Provider("https://llm.example:8443/v1/")
    assert provider.url == "https://llm.example:8443/v1/chat/completions"
    assert provider.name == "llm.example:8443"
    assert provider.chunk_type is ChatCompletionChunk
    assert "Authorization" not in provider.request(model="m")["headers"]


def test_the_same_service_elsewhere() -> None:
    dedicated = CENTML.at("https://name.cluster.example/openai/v1/")
    assert dedicated.url == "https://name.cluster.example/openai/v1/chat/completions"
    assert (dedicated.name, dedicated.key_variables) == (CENTML.name, CENTML.key_variables)
    assert dedicated.chunk_type is CentMLChunk
    assert CENTML.base_url == "https://api.centml.com/openai/v1"


def test_providers_are_values() -> None:
    assert NSCALE.at(NSCALE.base_url) == NSCALE
    assert len({NSCALE, copy.deepcopy(NSCALE), pickle.loads(pickle.dumps(NSCALE))}) == 1
    with pytest.raises(AttributeError):
        NSCALE.base_url = "https://elsewhere.example"  # type: ignore[misc]


def test_the_request() -> None:
    messages = [{"role": "user", "content": "Hi"}]
    request = CHUTES.request(SECRET, model="m", messages=messages, stream_options={"include_usage": True})
    assert request == {
        "method": "POST",
        "url": "https://llm.chutes.ai/v1/chat/completions",
        "headers": {
            "Accept": "text/event-stream",
            "Accept-Encoding": "identity",
            "Authorization": f"Bearer {SECRET}",
        },
        "json": {"model": "m", "messages": messages, "stream_options": {"include_usage": True}, "stream": True},
    }


def test_a_member_of_the_body_may_have_any_name() -> None:
    assert NSCALE.request(self=1, headers=2, body=3, stream=True)["json"] == {
        "self": 1,
        "headers": 2,
        "body": 3,
        "stream": True,
    }


@pytest.mark.parametrize("stream", [False, None, 0, "true"])
def test_a_request_without_a_stream_is_refused(stream: object) -> None:
    with pytest.raises(ValueError, match="streams only"):
        NSCALE.request(SECRET, stream=stream)


# Keys


def authorization(request: dict[str, Any]) -> str | None:
    value = request["headers"].get("Authorization")
    return None if value is None else str(value)


def test_the_first_variable_that_is_set_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    assert authorization(NSCALE.request()) is None
    monkeypatch.setenv("NSCALE_API_KEY", "old\n")
    assert authorization(NSCALE.request()) == "Bearer old"
    monkeypatch.setenv("NSCALE_SERVICE_TOKEN", " \n")
    assert authorization(NSCALE.request()) == "Bearer old"
    monkeypatch.setenv("NSCALE_SERVICE_TOKEN", "token")
    assert authorization(NSCALE.request()) == "Bearer token"
    assert authorization(NSCALE.request("given")) == "Bearer given"
    assert authorization(NSCALE.request(api_key="given")) == "Bearer given"


def test_an_empty_key_means_none_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CENTML_API_KEY", "set")
    assert authorization(CENTML.request(api_key="")) is None


def test_one_variable_may_be_given_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_KEY", "mine")
    assert authorization(Provider("https://host.example/v1", key_variables="MY_KEY").request()) == "Bearer mine"


@pytest.mark.parametrize("around", ["{}\n", "{}\r\n", "  {}\t", "{}"])
def test_white_space_around_a_key_is_removed(around: str) -> None:
    assert authorization(CHUTES.request(around.format(SECRET))) == f"Bearer {SECRET}"


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        (f"{SECRET}\nX-Injected: 1", "not allowed"),
        (f"{SECRET}\x00", "not allowed"),
        (f"{SECRET}\x1b[2J", "not allowed"),
        (f"{SECRET}\u2014", "not allowed"),
        (f"{SECRET} {SECRET}", "not allowed"),
        (f"Bearer {SECRET}", "give the key alone"),
        ("\n", "blank"),
    ],
)
def test_a_key_that_no_header_can_carry(monkeypatch: pytest.MonkeyPatch, key: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason) as given:
        CHUTES.request(key)
    assert "api_key" in str(given.value)
    assert SECRET not in repr(given.value)
    if key.strip() and "\x00" not in key:
        monkeypatch.setenv("CHUTES_API_TOKEN", key)
        with pytest.raises(ValueError, match=f"CHUTES_API_TOKEN .*{reason}") as from_variable:
            CHUTES.request()
        assert SECRET not in repr(from_variable.value)


def test_a_key_of_another_type() -> None:
    with pytest.raises(TypeError, match="api_key must be a str, not bytes"):
        CHUTES.request(cast("Any", SECRET.encode()))


RENDERINGS: list[Callable[[object], str]] = [
    repr,
    str,
    pprint.pformat,
    pretty_repr,
    lambda value: pretty_repr(value, max_string=12),
    "{}".format,
    lambda value: f"{value!r:>500}",
    lambda value: "%s" % (value,),  # noqa: UP031
]


@pytest.mark.parametrize("render", RENDERINGS)
def test_the_key_shows_in_no_rendering(render: Callable[[object], str]) -> None:
    request = CHUTES.request(SECRET, model="m")
    for value in (
        request,
        request["headers"],
        copy.copy(request),
        copy.deepcopy(request),
        {**request["headers"], "X-Mine": "1"},
        request["headers"].copy(),
        pickle.loads(pickle.dumps(request)),
        [dict(request).items()],
    ):
        assert SECRET[:6] not in render(value)
    assert "cpk" not in render(CHUTES)


def test_the_key_shows_in_no_log(caplog: pytest.LogCaptureFixture) -> None:
    request = CHUTES.request(SECRET, model="m")
    with caplog.at_level(logging.DEBUG):
        logging.getLogger("app").debug("sending %s", request)
        logging.getLogger("app").debug("sending %r", request["headers"])
    assert "hidden" in caplog.text
    assert SECRET not in caplog.text


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
def test_a_copy_of_a_request_is_the_same_request(duplicate: Callable[[Any], Any]) -> None:
    request = CHUTES.request(SECRET, model="m")
    assert duplicate(request) == request
    assert authorization(duplicate(request)) == f"Bearer {SECRET}"


# Clients


def test_httpx_sends_it() -> None:
    seen: list[httpx.Request] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, content=b"data: [DONE]\n\n")

    client = httpx.Client(transport=httpx.MockTransport(answer))
    with client.stream(**CHUTES.request(SECRET, model="m")):
        pass
    assert seen[0].headers["authorization"] == f"Bearer {SECRET}"
    assert seen[0].headers["content-type"] == "application/json"
    assert seen[0].headers["accept-encoding"] == "identity"
    assert seen[0].content == b'{"model":"m","stream":true}'


def test_requests_takes_it() -> None:
    prepared = requests.Session().prepare_request(requests.Request(**CHUTES.request(SECRET, model="m")))
    assert prepared.headers["Authorization"] == f"Bearer {SECRET}"
    assert prepared.headers["Content-Type"] == "application/json"
    assert prepared.url == CHUTES.url


# Addresses


@pytest.mark.parametrize(
    ("address", "reason"),
    [
        ("host.example/v1", "needs a scheme"),
        ("localhost:8000/v1", "needs a scheme"),
        ("", "needs a scheme"),
        ("ftp://host.example/v1", "http or https, not ftp"),
        ("https:///v1", "no host"),
        ("https://host.example:port/v1", "host and port"),
        ("https://[::1/v1", "host and port"),
        ("https://user:hunter2@host.example/v1", "user name or password"),
        ("https://host.example/v1?key=hunter2", "a query"),
        ("https://host.example/v1#hunter2", "a query"),
        ("https://host.example/v1 hunter2", "white space"),
        ("https://host.example/v1\nhunter2", "white space"),
        ("https://host.example/v1/chat/completions", "already ends in /chat/completions"),
        ("https://host.example/v1/chat/completions/", "already ends in /chat/completions"),
    ],
)
def test_an_address_that_is_wrong(address: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason) as raised:
        Provider(address)
    assert "hunter2" not in repr(raised.value)
    with pytest.raises(ValueError, match=reason):
        NSCALE.at(address)


def test_a_key_in_the_place_of_the_address_does_not_show() -> None:
    with pytest.raises(ValueError, match="needs a scheme") as raised:
        Provider(SECRET)
    assert SECRET not in str(raised.value)


def test_an_address_of_another_type() -> None:
    with pytest.raises(TypeError, match="base_url must be a str, not URL"):
        Provider(cast("Any", httpx.URL("https://host.example/v1")))


@pytest.mark.parametrize(
    ("address", "url"),
    [
        ("http://127.0.0.1:8000/v1", "http://127.0.0.1:8000/v1/chat/completions"),
        ("http://[::1]:8000", "http://[::1]:8000/chat/completions"),
        (" https://host.example/v1/ \n", "https://host.example/v1/chat/completions"),
        ("HTTPS://host.example", "HTTPS://host.example/chat/completions"),
    ],
)
def test_an_address_that_is_right(address: str, url: str) -> None:
    assert Provider(address).url == url


def test_another_path() -> None:
    assert Provider("https://host.example/v1", path="completions?v=2").url == "https://host.example/v1/completions?v=2"
    assert Provider("https://host.example/v1/chat/completions", path="").url.endswith("/v1/chat/completions")
