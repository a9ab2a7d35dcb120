"""The socket below a response, by which a thread that waits for a read is woken.

Each function gives the socket's number as long as the socket is the response's alone, and raises otherwise: over HTTP/2
it serves others too, and behind the end of a body it may serve the next request already.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeAlias, cast

Fileno: TypeAlias = Callable[[], int]


def has_socket(fileno: Fileno) -> bool:
    """Whether there is a socket to shut down."""
    try:
        return fileno() >= 0
    except Exception:  # whatever a client raises where there is no socket, or none of its own
        return False


def shut_down(fileno: Fileno) -> None:
    """End both directions of a connection, which ends every read from it."""
    # A response that has no socket, or has given it back, has nobody waiting.
    with suppress(Exception):
        # Imported here: it takes a tenth of importing this package, and who has a connection has it.
        import socket

        # Shutting down is the same for every family.
        with socket.fromfd(number := fileno(), socket.AF_INET, socket.SOCK_STREAM) as below:
            # Asked once more, at once before: the other thread may have met the end of the body meanwhile, and the
            # client given the connection to another request.
            if fileno() == number:
                below.shutdown(socket.SHUT_RDWR)


def of_httpx(response: Any) -> int:
    """The socket below a response of httpx or httpx2, or of an SDK that is built on one of them."""
    response = getattr(response, "http_response", response)
    # A response still names its connection when that has gone back to the pool; only this tells.
    if getattr(response, "is_closed", False):
        raise ValueError("the response has given its connection back")
    extensions: Any = getattr(response, "extensions", None)
    if extensions is None:  # something else with the same methods
        return cast(int, response.fileno())
    if extensions["http_version"] not in {b"HTTP/1.0", b"HTTP/1.1"}:
        raise ValueError("the connection serves other responses too")
    return cast(int, extensions["network_stream"].get_extra_info("socket").fileno())


def of_urllib3(response: Any) -> int:
    """The socket below a response of urllib3, or of urllib3-future, whose `fileno` knows none."""
    if not hasattr(response, "is_from_promise"):
        return cast(int, response.fileno())
    if response.version not in {10, 11}:
        raise ValueError("the connection serves other responses too")
    return cast(int, response.connection.sock.fileno())


def of_raw(response: Any) -> int:
    """The socket below a response of requests or niquests."""
    return of_urllib3(response.raw)


def of_aiohttp(response: Any) -> int:
    """The socket below a response of aiohttp, which has no connection when it has given it back."""
    return cast(int, response.connection.transport.get_extra_info("socket").fileno())


def of_curl(response: Any) -> Fileno:
    """The socket below a response of curl_cffi, asked now: later its handle must be left to the thread that reads."""
    number: int = response.curl.getinfo(sys.modules["curl_cffi"].CurlInfo.ACTIVESOCKET)
    try:
        identity = os.fstat(number).st_ino
    except (OSError, OverflowError):
        # The body is over, and the server has closed the connection; before 0.17 it is not told during the body either.
        identity = None

    def fileno() -> int:
        if os.fstat(number).st_ino != identity:
            raise ValueError("the connection has been closed, and its number given to another")
        return number

    return fileno
