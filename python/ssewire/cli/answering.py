"""The answers of ``ssewire serve``: which stream a request means, and playing it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import msgspec

from .faults import FaultError
from .http import Exchange, PeerLeftError, Request, body_length
from .replay import COMMENT, Playback, Stream
from .settings import Settings, SettingsError, without_redirect

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["Answers"]

#: A page of any origin may use the server.
_CORS = {"access-control-allow-origin": "*"}
#: Between two comments of a stream that has nothing else, in seconds.
_COMMENTS = 0.5
#: Bytes that a length promises beyond what is sent, where the body must not look whole.
_MISSING = 1024


class _Tally:
    """What was sent of one body."""

    def __init__(self) -> None:
        self.bytes = 0

    def __str__(self) -> str:
        return f"{self.bytes:,} bytes"


class Answers:
    """Answers each request with the stream that it names.

    Args:
        streams: The streams by name, at least one.
        settings: How they are served unless a request says otherwise.
        index: What ``GET /`` shows.
        tell: Takes a line about each request when its answer is over.
    """

    def __init__(
        self, streams: Mapping[str, Stream], settings: Settings, index: str, tell: Callable[[str], None]
    ) -> None:
        self._streams = streams
        self._settings = settings
        self._index = index
        self._tell = tell

    async def __call__(self, exchange: Exchange) -> None:
        """Answer one request, and tell how that went."""
        request = exchange.request
        path, _, query = request.target.partition("?")
        told = f"{request.method} {request.target}"
        if request.method == "OPTIONS":
            await exchange.respond(204, b"", _CORS | _preflight(request))
            self._tell(f"{told}: 204, what a page may send")
            return
        stream = self._meant(path, request.body)
        if stream is None:
            self._tell(f"{told}: {await self._other(exchange, path)}")
            return
        try:
            settings = self._settings.asked(query)
        except (FaultError, SettingsError) as error:
            await _refuse(exchange, 400, str(error), "invalid_request_error")
            self._tell(f"{told}: 400, {error}")
            return
        how = await self._played(exchange, stream, settings, path, query)
        self._tell(f"{told}: {' '.join(filter(None, (stream.name, settings.told)))}, {how}")

    def _meant(self, path: str, body: bytes) -> Stream | None:
        """The stream of the path's last part, or of the model in the body; any model is a stream that is alone.

        Below a base address such as ``/v1``, the list of models and chat completions are those of the API, whatever
        streams are called.
        """
        base, _, name = path.rpartition("/")
        if base and name == "models":
            return None
        stream = self._streams.get(unquote(name))
        if stream is not None and not path.endswith("/chat/completions"):
            return stream
        model = _model(body)
        alone = next(iter(self._streams.values())) if model is not None and len(self._streams) == 1 else None
        return self._streams.get(model or "", alone)

    async def _other(self, exchange: Exchange, path: str) -> str:
        if path == "/":
            await _respond(exchange, 200, self._index.encode(), "text/plain; charset=utf-8")
            return "the list of streams"
        if path.endswith("/models"):
            models = [{"id": name, "object": "model", "created": 0, "owned_by": "ssewire"} for name in self._streams]
            await _respond(exchange, 200, msgspec.json.encode({"object": "list", "data": models}))
            return "the list of models"
        message = f"no stream is named by the path or by the model; there are {', '.join(self._streams)}"
        await _refuse(exchange, 404, message, "model_not_found")
        return "404, no such stream"

    async def _played(self, exchange: Exchange, stream: Stream, settings: Settings, path: str, query: str) -> str:
        if stream.large:
            # It takes a while, in which others are answered.
            playback = await asyncio.to_thread(settings.playback, stream)
        else:
            playback = settings.playback(stream)
        headers = {**_CORS, **playback.headers}
        if 300 <= playback.status < 400:
            headers["location"] = f"{path}?{without_redirect(settings, query)}"
        sent = _Tally()
        try:
            await _play(exchange, playback, headers, settings, sent)
        except PeerLeftError:
            return f"the client left after {sent}"
        ending = "whole" if exchange.ended else playback.ending
        said = {"whole": "whole", "close": "closed", "reset": "reset"}[ending]
        status = "" if playback.status == 200 else f"{playback.status}, "
        return f"{status}{said} after {sent}"


async def _play(
    exchange: Exchange, playback: Playback, headers: dict[str, str], settings: Settings, sent: _Tally
) -> None:
    """Send an answer; returns when it is whole or was broken off, and raises PeerLeftError when the client leaves."""
    framing, length = settings.framing, None
    if framing == "length" and playback.ending == "comments":
        # Without an end they have no length.
        framing = "chunked"
    elif framing == "length":
        length = await body_length((step.data for step in playback.writes()), settings.encoding)
        length += 0 if playback.ending == "whole" else _MISSING
    await exchange.start(playback.status, headers, framing=framing, encoding=settings.encoding, length=length)
    if exchange.bodiless:
        await exchange.end()
        return
    due = asyncio.get_running_loop().time()
    for pause, data in playback.writes():
        due += pause
        await _wait(exchange, due)
        await exchange.send(data)
        sent.bytes += len(data)
    if playback.ending == "whole":
        await exchange.end()
    elif playback.ending == "comments":
        while True:
            await exchange.send(COMMENT)
            sent.bytes += len(COMMENT)
            due += _COMMENTS
            await _wait(exchange, due)
    elif playback.ending == "silence":
        await exchange.left()
        raise PeerLeftError
    else:
        await exchange.drop(reset=playback.ending == "reset")


async def _wait(exchange: Exchange, due: float) -> None:
    """Wait until a time of the loop's clock; raises PeerLeftError when the client leaves before it."""
    seconds = due - asyncio.get_running_loop().time()
    if seconds <= 0:
        return
    try:
        await asyncio.wait_for(exchange.left(), seconds)
    except TimeoutError:
        return
    raise PeerLeftError


def _model(body: bytes) -> str | None:
    """The model that a request's body names, "" if it names none; None for a body that is no JSON object."""
    try:
        document: Any = msgspec.json.decode(body)
    except ValueError:
        return None
    return str(document.get("model", "")) if isinstance(document, dict) else None


def _preflight(request: Request) -> dict[str, str]:
    """What a page may send: these methods, and the headers that it asks for, which an asterisk would not all allow."""
    asked = request.headers.get("access-control-request-headers", "*")
    return {"access-control-allow-methods": "GET, HEAD, POST", "access-control-allow-headers": asked}


async def _respond(exchange: Exchange, status: int, body: bytes, content_type: str = "application/json") -> None:
    await exchange.respond(status, body, _CORS | {"content-type": content_type})


async def _refuse(exchange: Exchange, status: int, message: str, code: str) -> None:
    error = {"message": message, "type": "invalid_request_error", "param": None, "code": code}
    await _respond(exchange, status, msgspec.json.encode({"error": error}))
