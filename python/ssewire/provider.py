"""Where a service is and how it is asked: address, path, key, and the chunk schema that it documents.

A Provider makes no request. ``request()`` returns the arguments of one, for the HTTP client that the user has:

    with httpx.stream(**NSCALE.request(model=M, messages=[...])) as response: ...

The key hides itself: the header's value is a string whose repr does not show it, so no dict, log line or traceback that
holds it does either, however it was copied. Only the client that sends the value sees it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, SupportsIndex, TypeVar, overload
from urllib.parse import urlsplit

from .documented import CentMLChunk, ChutesChunk, NscaleChunk
from .models import ChatCompletionChunk

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["CENTML", "CHUTES", "NSCALE", "Provider"]

ChunkT = TypeVar("ChunkT")


class _Hidden(str):
    """A string that its repr, and the repr of its slices, do not show; to an HTTP client it is the string itself."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "'[hidden]'"

    def __getitem__(self, key: SupportsIndex | slice) -> _Hidden:
        # Printers that shorten long strings (rich, in a traceback with locals) show the repr of a slice.
        return _Hidden(super().__getitem__(key))


@dataclass(frozen=True, init=False)
class Provider(Generic[ChunkT]):
    """An OpenAI-compatible service: ``Provider("https://host/v1")``.

    Attributes:
        base_url: The address up to and including the version, with scheme, without the path below.
        name: What to call it; the host unless told.
        path: Where chat completions are asked for, below the address.
        key_variables: Environment variables that may hold the key, the first that is set counts.
        chunk_type: The chunk schema that the service documents, for a strict check (``type=provider.chunk_type``).
    """

    base_url: str
    name: str
    path: str
    key_variables: tuple[str, ...]
    chunk_type: type[ChunkT]

    @overload
    def __init__(
        self: Provider[ChatCompletionChunk],
        base_url: str,
        *,
        name: str | None = None,
        path: str = "/chat/completions",
        key_variables: Iterable[str] = (),
    ) -> None: ...
    @overload
    def __init__(
        self,
        base_url: str,
        *,
        name: str | None = None,
        path: str = "/chat/completions",
        key_variables: Iterable[str] = (),
        chunk_type: type[ChunkT],
    ) -> None: ...
    def __init__(
        self,
        base_url: str,
        *,
        name: str | None = None,
        path: str = "/chat/completions",
        key_variables: Iterable[str] = (),
        chunk_type: type[Any] = ChatCompletionChunk,
    ) -> None:
        path = "/" + path.lstrip("/") if path else ""
        base_url, host = _checked_address(base_url, path)
        names = (key_variables,) if isinstance(key_variables, str) else tuple(key_variables)
        values = {"base_url": base_url, "name": name or host, "path": path, "key_variables": names}
        for attribute, value in (values | {"chunk_type": chunk_type}).items():
            object.__setattr__(self, attribute, value)

    @property
    def url(self) -> str:
        """The whole address that chat completions are asked for at."""
        return self.base_url + self.path

    def at(self, address: str) -> Provider[ChunkT]:
        """The same service at another address: a dedicated endpoint, a proxy, a server on this machine."""
        return replace(self, base_url=address)

    def request(self, /, api_key: str | None = None, **body: object) -> dict[str, Any]:
        """The arguments of a streaming request: method, url, headers, json.

        Any client takes them: ``httpx.stream(**request)``, ``requests.request(**request, stream=True)``,
        ``aiohttp_session.request(**request)``.

        Args:
            api_key: The key. None: the first of ``key_variables`` that is set and not blank. "": no key, although
                a variable may be set. Without a key no Authorization header is sent (a server of one's own, a client
                certificate). White space around it (the line end of a key file) is removed.
            **body: The members of the request: model, messages, stream_options ... ``stream`` is always true.

        Raises:
            ValueError: ``stream`` is given and not true, or the key holds what no header can carry.
        """
        if body.get("stream", True) is not True:
            raise ValueError("a Provider asks for streams only: leave out `stream`, or make the request without it")
        headers = {
            "Accept": "text/event-stream",
            # A compressor between server and client holds events back until it has a block full.
            "Accept-Encoding": "identity",
        }
        key = self._key() if api_key is None else _checked_key(api_key, "api_key") if api_key else ""
        if key:
            headers["Authorization"] = _Hidden(f"Bearer {key}")
        # Content-Type is the client's: every one sets it for json=.
        return {"method": "POST", "url": self.url, "headers": headers, "json": {**body, "stream": True}}

    def _key(self) -> str:
        for variable in self.key_variables:
            if (value := os.environ.get(variable, "")).strip():
                return _checked_key(value, variable)
        return ""


def _checked_key(key: object, source: str) -> str:
    """The key without white space around it; `source` names it in the errors, which never show it."""
    if not isinstance(key, str):
        raise TypeError(f"{source} must be a str, not {type(key).__name__}")
    key = key.strip()
    if not key:
        raise ValueError(f"{source} is blank; give a key, or api_key='' for a request without one")
    if key[:7].lower() == "bearer ":
        raise ValueError(f"{source} starts with 'Bearer': give the key alone, the word is added")
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise ValueError(f"{source} holds characters that are not allowed in a key (white space, control, non-ASCII)")
    return key


def _checked_address(address: object, path: str) -> tuple[str, str]:
    """The address without a slash at the end, and its host. The errors never repeat it: it may hold a secret."""
    if not isinstance(address, str):
        raise TypeError(f"base_url must be a str, not {type(address).__name__}")
    address = address.strip()
    if "://" not in address:
        raise ValueError("base_url needs a scheme: https://host/v1, or http://localhost:8000/v1 on this machine")
    try:
        parts = urlsplit(address)
        host = parts.netloc if parts.port is not None else parts.hostname
    except ValueError:
        raise ValueError("base_url is no valid address: look at its host and port") from None
    if parts.scheme not in {"http", "https"}:
        raise ValueError(f"base_url must be http or https, not {parts.scheme}")
    if not host:
        raise ValueError("base_url has no host")
    if "@" in parts.netloc:
        raise ValueError("base_url must not hold a user name or password: give the key as api_key")
    if parts.query or parts.fragment:
        raise ValueError("base_url must end with its path: a query (?...) belongs to the client's params= or to path")
    if not address.isprintable() or " " in address:
        raise ValueError("base_url holds white space or control characters")
    address = address.rstrip("/")
    if path and address.endswith(path):
        raise ValueError(f"base_url already ends in {path}, which is added to it: leave it out")
    return address, host


#: Nscale's serverless inference. Its documents speak of a service token; older ones of an API key.
NSCALE = Provider(
    "https://inference.api.nscale.com/v1",
    name="Nscale",
    key_variables=("NSCALE_SERVICE_TOKEN", "NSCALE_API_KEY"),
    chunk_type=NscaleChunk,
)

#: CentML. The address of its serverless service is retired (the provider's documents dropped it in 2026); for a
#: dedicated endpoint use ``CENTML.at("https://<endpoint>/openai/v1")``. One that wants a client certificate instead
#: of a key gets that from the HTTP client, and ``api_key=""`` here.
CENTML = Provider(
    "https://api.centml.com/openai/v1",
    name="CentML",
    key_variables=("CENTML_API_KEY",),
    chunk_type=CentMLChunk,
)

#: Chutes, all models at one address; ``CHUTES.at("https://<slug>.chutes.ai/v1")`` is a single one.
CHUTES = Provider(
    "https://llm.chutes.ai/v1",
    name="Chutes",
    key_variables=("CHUTES_API_KEY", "CHUTES_API_TOKEN"),
    chunk_type=ChutesChunk,
)
