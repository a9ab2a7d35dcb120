"""``ssewire serve`` as a process, with a client for it."""

from __future__ import annotations

import contextlib
import re
import signal
import ssl
from typing import TYPE_CHECKING

import httpx

from tests.cli.program import DONE, PATIENCE, Running, event, running

if TYPE_CHECKING:
    from collections.abc import Generator

TEXTS = ("Hel", "lo ", "wörld ☕")
BODY = b"".join(event(text) for text in TEXTS) + event("", finish_reason="stop") + DONE


class Served:
    """A running server and a client for it."""

    def __init__(self, program: Running, verify: ssl.SSLContext | bool) -> None:
        self._program = program
        self.shown = program.wait_for(b"GET / lists the faults\n").decode()
        found = re.search(r"https?://[0-9.:]+[0-9]", self.shown)
        assert found
        self.address = found[0]
        self.client = httpx.Client(
            base_url=self.address, trust_env=False, timeout=PATIENCE, verify=verify, http2=True, follow_redirects=True
        )

    def interrupt(self) -> tuple[int, list[str]]:
        """Ctrl-C; the exit status and what standard error got."""
        self.client.close()
        self._program.process.send_signal(signal.SIGINT)
        self._program.process.wait(PATIENCE)
        status, _, errors = self._program.finish()
        return status, errors.decode().splitlines()


@contextlib.contextmanager
def serving(*arguments: str, verify: ssl.SSLContext | bool = True) -> Generator[Served]:
    with running("serve", *arguments) as program:
        served = Served(program, verify)
        with served.client:
            yield served
