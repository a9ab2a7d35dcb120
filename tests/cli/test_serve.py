"""``ssewire serve`` as a process, with clients that know nothing of it."""

from __future__ import annotations

import socket
import ssl
import sys
from typing import TYPE_CHECKING, Any

import httpx
import openai
import pytest
import trustme

import ssewire
from tests.cli.program import event, run
from tests.cli.served import BODY, TEXTS, Served, serving

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path

needs_posix = pytest.mark.skipif(sys.platform == "win32", reason="terminals and signals of POSIX")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("streams")
    (folder / "answer.sse").write_bytes(BODY)
    (folder / "other one.sse").write_bytes(b": hi\n\n" + BODY)
    return folder


@pytest.fixture(scope="module")
def served(folder: Path) -> Generator[Served]:
    with serving(str(folder / "answer.sse"), str(folder / "other one.sse"), "--gap", "0") as served:
        yield served


# Faults, as a client sees them


class Reading:
    """What ChatStream makes of an answer."""

    def __init__(self, client: httpx.Client, target: str, **options: Any) -> None:
        self.texts: list[str] = []
        self.error: Exception | None = None
        self.state = ""
        with client.stream("GET", target) as response:
            self.status, self.headers = response.status_code, response.headers
            stream = ssewire.ChatStream(response, **options)
            try:
                self.texts.extend(text for text in stream.iter_text() if text)
            except (ssewire.SSEWireError, httpx.HTTPError) as error:
                self.error = error
            self.state, self.comments = stream.state, stream.stats.comments


@pytest.mark.parametrize("framing", ["chunked", "close", "length"])
@pytest.mark.parametrize("encoding", ["identity", "gzip", "br"])
@pytest.mark.parametrize("fault", ["none", "cut:1", "cut-utf8", "cut-crlf", "crlf", "one-write", "slow-start:0.05"])
def test_what_changes_nothing_for_a_reader(served: Served, fault: str, encoding: str, framing: str) -> None:
    reading = Reading(served.client, f"/answer?fault={fault}&encoding={encoding}&framing={framing}")
    assert (tuple(reading.texts), reading.state, reading.error) == (TEXTS, "done", None)


@pytest.mark.parametrize(
    ("query", "texts", "state", "error"),
    [
        ("fault=silent-end", 3, "done", None),
        ("fault=silent-end&framing=length", 3, "done", None),
        ("fault=no-done", 3, "finished", None),
        ("fault=end:4", 3, "finished", None),
        ("fault=end:2", 2, "incomplete", ssewire.IncompleteStreamError),
        ("fault=close:2", 2, "incomplete", httpx.RemoteProtocolError),
        ("fault=close:2&framing=length&encoding=gzip", 2, "incomplete", httpx.RemoteProtocolError),
        ("fault=close:2&framing=close", 2, "incomplete", ssewire.IncompleteStreamError),
        ("fault=reset:2", 2, "incomplete", httpx.ReadError),
        ("fault=error:1", 1, "error", ssewire.APIError),
        ("fault=empty", 0, "error", ssewire.NotAStreamError),
        ("fault=garbage", 0, "error", ssewire.NotAStreamError),
        ("fault=status:429", 0, "error", ssewire.APIError),
        ("fault=html:502", 0, "error", ssewire.NotAStreamError),
        ("fault=redirect:307", 3, "done", None),
        ("fault=redirect:302&fault=end:2", 2, "incomplete", ssewire.IncompleteStreamError),
    ],
)
def test_what_a_reader_must_tell(
    served: Served, query: str, texts: int, state: str, error: type[Exception] | None
) -> None:
    reading = Reading(served.client, f"/answer?{query}")
    assert type(reading.error) is (error or type(None))
    assert (tuple(reading.texts), reading.state) == (TEXTS[:texts], state)


def test_statuses(served: Served) -> None:
    assert Reading(served.client, "/answer?fault=status:429").status == 429
    assert Reading(served.client, "/answer?fault=html:502").status == 502
    assert served.client.get("/answer?fault=redirect:302", follow_redirects=False).status_code == 302


def test_silence(served: Served) -> None:
    with httpx.Client(base_url=served.address, trust_env=False, timeout=0.3) as client:
        reading = Reading(client, "/answer?fault=stall:2")
    assert tuple(reading.texts) == TEXTS[:2]
    assert isinstance(reading.error, httpx.ReadTimeout)


def test_comments(served: Served) -> None:
    reading = Reading(served.client, "/answer?fault=keep-alives")
    assert (tuple(reading.texts), reading.comments) == (TEXTS, 5)
    for framing in ("chunked", "length"):
        reading = Reading(served.client, f"/answer?fault=keep-alives-only&framing={framing}", idle_timeout=0.1)
        assert isinstance(reading.error, ssewire.StreamIdleError)
        assert reading.comments > 0
        assert "content-length" not in reading.headers


def test_a_big_event(served: Served) -> None:
    size = 10_000_000
    first, big, *rest = Reading(served.client, f"/answer?fault=big:{size}").texts
    assert (first, *rest) == TEXTS
    assert size - 100 < len(big) < size
    reading = Reading(served.client, f"/answer?fault=big:{size}", max_event_size=size // 2)
    assert isinstance(reading.error, ssewire.EventTooLargeError)


def test_one_answer_does_not_hold_up_the_others(served: Served) -> None:
    # Twenty million writes, one by one.
    with served.client.stream("GET", "/answer?fault=big:20000000&fault=cut:1", timeout=10) as response:
        assert next(response.iter_raw()).startswith(b"d")
        assert served.client.get("/answer", timeout=10).content == BODY


@pytest.mark.parametrize("query", ["framing=chunked", "framing=close", "framing=length", "fault=stall:1"])
def test_a_head_alone_does_not_wait_for_the_stream(served: Served, query: str) -> None:
    response = served.client.head(f"/answer?gap=1000&{query}")
    assert (response.status_code, response.content) == (200, b"")
    assert response.headers["content-type"].startswith("text/event-stream")
    assert response.headers.get("content-length") == (str(len(BODY)) if query == "framing=length" else None)


def test_a_page_may_use_it(served: Served) -> None:
    client = served.client
    for path in ("/", "/answer", "/nothing", "/answer?gap=x", "/v1/models", "/answer?fault=status:500"):
        assert client.get(path).headers["access-control-allow-origin"] == "*"
    asked = "authorization,content-type,x-stainless-os"
    preflight = {"access-control-request-method": "POST", "access-control-request-headers": asked}
    response = client.options("/v1/chat/completions", headers=preflight)
    assert (response.status_code, response.content) == (204, b"")
    assert dict(response.headers) == {
        "access-control-allow-origin": "*",
        "access-control-allow-methods": "GET, HEAD, POST",
        "access-control-allow-headers": asked,
    }


# Which stream


def test_streams_by_path_and_by_model(served: Served) -> None:
    client = served.client
    assert client.get("/answer").content == BODY
    assert client.post("/v1/answer", json={"model": "other one"}).content == BODY
    assert client.get("/other%20one").content == b": hi\n\n" + BODY
    assert client.post("/any/chat/completions", json={"model": "other one"}).content == b": hi\n\n" + BODY
    assert [model["id"] for model in client.get("/v1/models").json()["data"]] == ["answer", "other one"]
    for response in (
        client.get("/nothing"),
        client.post("/v1/chat/completions", json={"model": "nothing"}),
        client.post("/v1/chat/completions", json={}),
        client.post("/v1/chat/completions", content=b"no JSON"),
    ):
        assert response.status_code == 404
        assert "there are answer, other one" in response.json()["error"]["message"]


def test_what_an_api_has_in_its_query_is_no_setting(served: Served) -> None:
    response = served.client.post("/openai/chat/completions?api-version=1&fault=end:1", json={"model": "answer"})
    assert response.content == event(TEXTS[0])
    assert served.client.get("/v1/models?limit=20").status_code == 200


def test_a_stream_that_is_alone_is_any_model(folder: Path) -> None:
    with serving(str(folder / "answer.sse"), "--gap", "0") as served:
        assert served.client.post("/v1/chat/completions", json={"model": "gpt"}).content == BODY
        assert served.client.get("/nothing").status_code == 404


def test_paths_of_the_api_come_before_streams_of_their_names(tmp_path: Path) -> None:
    for name in ("completions", "models"):
        (tmp_path / f"{name}.sse").write_bytes(event(name))
    with serving(*map(str, sorted(tmp_path.iterdir())), "--gap", "0") as served:
        client = served.client
        assert client.post("/v1/chat/completions", json={"model": "models"}).content == event("models")
        assert client.post("/v1/chat/completions", json={"model": "nothing"}).status_code == 404
        assert [model["id"] for model in client.get("/v1/models").json()["data"]] == ["completions", "models"]
        assert client.get("/models").content == event("models")
        assert client.get("/completions").content == event("completions")


def test_the_openai_sdk(served: Served) -> None:
    with openai.OpenAI(
        base_url=f"{served.address}/v1",
        api_key="none",
        max_retries=0,
        http_client=openai.DefaultHttpxClient(trust_env=False),
    ) as client:
        stream = client.chat.completions.create(model="answer", messages=[], stream=True)
        assert "".join(chunk.choices[0].delta.content or "" for chunk in stream) == "".join(TEXTS)
        with pytest.raises(openai.RateLimitError):
            client.chat.completions.create(
                model="answer", messages=[], stream=True, extra_query={"fault": "status:429"}
            )
        with pytest.raises(openai.NotFoundError, match="there are answer, other one"):
            client.chat.completions.create(model="nothing", messages=[], stream=True)


def test_without_files_the_streams_of_the_demo_are_served() -> None:
    with serving("--gap", "0") as served:
        names = [model["id"] for model in served.client.get("/v1/models").json()["data"]]
        assert "nscale-real" in names
        states = {name: Reading(served.client, f"/{name}").state for name in names}
    assert states == {name: "finished" if name == "nscale-real" else "done" for name in names}


def test_files_of_one_name_are_told_apart(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "answer.txt").write_bytes(b"data: 1\n\n")
    with serving(str(folder / "answer.sse"), str(tmp_path / "answer.txt")) as served:
        assert served.client.get("/answer-2").content == b"data: 1\n\n"


# Options


def test_options_hold_unless_a_request_says_otherwise(folder: Path) -> None:
    with serving(str(folder / "answer.sse"), "--gap", "0", "--fault", "end:1", "--fault", "crlf") as served:
        assert "Every answer: end:1 crlf" in served.shown
        assert served.client.get("/answer").content == event(TEXTS[0]).replace(b"\n", b"\r\n")
        assert served.client.get("/answer?fault=none").content == BODY


def test_what_a_request_cannot_ask_for(served: Served) -> None:
    for query, said in (("fault=stal:1", "there are big:BYTES"), ("gap=x", "gap is a number")):
        response = served.client.get(f"/answer?{query}")
        assert response.status_code == 400
        assert said in response.json()["error"]["message"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--fault", "stal:1"], "ssewire serve: no fault 'stal'; there are big:BYTES, "),
        (["--gap", "x"], "ssewire serve: gap is a number from 0 on, not 'x'"),
        (["--encoding", "lzma"], "ssewire serve: no encoding 'lzma'; there are identity, gzip, br, zstd"),
        (["--host", "256.0.0.1"], "ssewire serve: cannot listen at 256.0.0.1, port 0: "),
        (["no-such-file"], "ssewire serve: cannot read no-such-file: No such file or directory"),
        (["--tls-cert", "no-such-file"], "ssewire serve: cannot use the certificate no-such-file: No such file"),
        (["--tls-key", "no-such-file"], "ssewire serve: a key needs its certificate: --tls-cert"),
    ],
)
def test_wrong_arguments_are_told_in_a_sentence(arguments: list[str], said: str) -> None:
    result = run("serve", *arguments)
    (line,) = result.stderr.decode().splitlines()
    assert line.startswith(said)
    assert (result.returncode, result.stdout) == (2, b"")


def test_files_that_are_no_streams_are_told_in_a_sentence(tmp_path: Path) -> None:
    for content, said in ((b"", "is empty"), (b'{"ssewire":"recording","version":9}\n', "line 1 is not what")):
        path = tmp_path / "file"
        path.write_bytes(content)
        result = run("serve", str(path))
        assert (result.returncode, result.stdout) == (2, b"")
        assert said in result.stderr.decode()


@needs_posix
def test_a_file_without_an_event_is_served_and_said(tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes(b"plain text\n\nand more\n")
    with serving(str(path), "--gap", "0") as served:
        assert served.client.get("/text").content == path.read_bytes()
        _, told = served.interrupt()
    assert told[0] == f"ssewire serve: {path} has no event; it is served as it is"


def test_a_port_that_is_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        result = run("serve", "--port", str(taken.getsockname()[1]))
    assert result.returncode == 2
    assert result.stderr.endswith(b": Address already in use\n")


def test_https_and_http2(folder: Path, tmp_path: Path) -> None:
    authority = trustme.CA()
    issued = authority.issue_cert("127.0.0.1")
    certificate, key = tmp_path / "server.pem", tmp_path / "key.pem"
    issued.cert_chain_pems[0].write_to_path(certificate)
    issued.private_key_pem.write_to_path(key)
    trusting = ssl.create_default_context()
    authority.configure_trust(trusting)
    arguments = (str(folder / "answer.sse"), "--tls-cert", str(certificate), "--tls-key", str(key), "--gap", "0")
    with serving(*arguments, verify=trusting) as served:
        assert served.address.startswith("https://")
        response = served.client.get("/answer")
        assert (response.http_version, response.content) == ("HTTP/2", BODY)
        assert served.client.head("/answer?gap=1000").status_code == 200
        assert isinstance(Reading(served.client, "/answer?fault=reset:1").error, httpx.RemoteProtocolError)


# What it says


@needs_posix
def test_each_request_is_told_and_ctrl_c_ends_it_at_once(folder: Path) -> None:
    with serving(str(folder / "answer.sse"), "--gap", "0") as served:
        size = len(BODY)
        served.client.get("/answer")
        served.client.post("/v1/chat/completions?fault=cut:9&encoding=gzip", json={"model": "answer"})
        for query in ("fault=reset:1", "fault=close:1"):
            with pytest.raises(httpx.TransportError):
                served.client.get(f"/answer?{query}")
        served.client.get("/answer?fault=status:503")
        served.client.get("/nothing")
        served.client.get("/answer?gap=x")
        with served.client.stream("GET", "/answer?fault=stall:1") as response:
            next(response.iter_raw())
        served.client.get("/")
        # One that still waits does not keep the program from ending.
        with served.client.stream("GET", "/answer?fault=stall:0"):
            status, told = served.interrupt()
    half = len(event(TEXTS[0])) + len(event(TEXTS[1])) // 2
    assert [line for line in told if "stall" not in line] == [
        f"GET /answer: answer, whole after {size} bytes",
        f"POST /v1/chat/completions?fault=cut:9&encoding=gzip: answer cut:9, whole after {size} bytes",
        f"GET /answer?fault=reset:1: answer reset:1, reset after {half} bytes",
        f"GET /answer?fault=close:1: answer close:1, closed after {half} bytes",
        "GET /answer?fault=status:503: answer status:503, 503, whole after 111 bytes",
        "GET /nothing: 404, no such stream",
        "GET /answer?gap=x: 400, gap is a number from 0 on, not 'x'",
        "GET /: the list of streams",
        "ssewire serve: interrupted",
    ]
    left = f"GET /answer?fault=stall:1: answer stall:1, the client left after {len(event(TEXTS[0]))} bytes"
    assert left in told
    assert status == 130


def test_the_lists(served: Served) -> None:
    index = served.client.get("/").text
    help_text = run("serve", "--help").stdout.decode()
    for fault in ("stall:N", "reset:N", "keep-alives-only", "big:BYTES"):
        assert fault in index
        assert fault in help_text
    assert "/other%20one" in index
    assert "/answer " in served.shown
    assert f"{len(BODY)} " in served.shown


def test_a_name_can_be_long_and_cannot_command_the_terminal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    path = tmp_path / ("long-name-" * 9 + "\x1b[2J.sse")
    path.write_bytes(BODY)
    with serving(str(path)) as served:
        assert "\x1b" not in served.shown
        assert r"long-name-\u001b[2J" in served.shown
        table, _, _ = served.shown.partition("OpenAI clients")
        assert max(map(len, table.splitlines())) <= 80
