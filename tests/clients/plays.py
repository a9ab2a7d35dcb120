"""What the server does for each scenario, step by step."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TypeAlias

from ssewire.cli.http import Encoding, Exchange, Framing
from tests.clients.bodies import DONE, GARBAGE, KEEP_ALIVE, WHOLE, choice, event_of, payload_of

# An event that its reader does not confirm is given up after so many seconds: only a failing test waits for it.
PATIENCE = 15.0

# So much later than the sentinel comes what stands behind it: a client has read the sentinel alone by then.
PAUSE = 0.05

# So much later comes a piece that is to be a read of its own.
MOMENT = 0.002

# Seconds between the events of the timed scenario, and how many there are.
GAP = 0.05
TIMED = 9

# Seconds of silence behind the sentinel of the timed scenario, unless the reader leaves: then the connection ends.
SILENCE = 2.0

HEADERS = {"content-type": "text/event-stream; charset=utf-8", "x-request-id": "r-1"}


class Session:
    """One stream: how far its reader is, and whether the server is done with it."""

    def __init__(self) -> None:
        self.confirmed = 0
        self.progress = asyncio.Condition()
        self.gone = False

    async def confirm(self, number: int) -> None:
        async with self.progress:
            self.confirmed = number
            self.progress.notify_all()

    async def wait_for(self, number: int) -> None:
        async with self.progress:
            await asyncio.wait_for(self.progress.wait_for(lambda: self.confirmed >= number), PATIENCE)


class Turn:
    """One answer of the server: how its body is framed and compressed, and the pace of its reader."""

    def __init__(self, exchange: Exchange, session: Session, framing: Framing, encoding: Encoding) -> None:
        self.exchange = exchange
        self.send = exchange.send
        self.end = exchange.end
        self.drop = exchange.drop
        self.silence = exchange.left
        self._session = session
        self._framing: Framing = framing
        self._encoding: Encoding = encoding

    async def start(self, *, length: int | None = None) -> None:
        headers = {**HEADERS, "x-peer": str(self.exchange.request.peer)}
        framing, encoding = self._framing, self._encoding
        await self.exchange.start(200, headers, framing=framing, encoding=encoding, length=length)

    async def in_step(self, events: list[bytes]) -> None:
        """Send each event when the one before has reached the reader's loop; return when the last one has."""
        for number, event in enumerate(events):
            await self._confirmed(number)
            await self.send(event)
        await self._confirmed(len(events))

    async def _confirmed(self, number: int) -> None:
        """Return when so many events have reached the reader's loop, or the reader has left."""
        waits = [asyncio.ensure_future(wait) for wait in (self._session.wait_for(number), self.exchange.left())]
        done, waiting = await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        for wait in waiting:
            wait.cancel()
        for wait in done:
            wait.result()


Play: TypeAlias = Callable[[Turn], Awaitable[None]]


def respond(status: int, body: bytes, kind: str, **headers: str) -> Play:
    """A whole answer, with its length."""

    async def play(turn: Turn) -> None:
        await turn.exchange.respond(status, body, {"content-type": kind, "x-request-id": "r-1", **headers})

    return play


async def redirect(turn: Turn) -> None:
    """The answer is elsewhere, for the same reader."""
    location = turn.exchange.request.target.replace("/redirected/", "/chunked/")
    await respond(307, b"", "text/plain", location=location)(turn)


def at_once(*pieces: bytes, moment: float = 0.0) -> Play:
    """A whole body in so many writes, and its end in order."""

    async def play(turn: Turn) -> None:
        await turn.start(length=sum(map(len, pieces)))
        for piece in pieces:
            await turn.send(piece)
            if moment:
                await asyncio.sleep(moment)
        await turn.end()

    return play


def in_step(*events: bytes, behind: bytes = b"", then: Play | None = None, length: int | None = None) -> Play:
    """Events in step with their reader, then what stands behind them, then silence or another ending."""

    async def play(turn: Turn) -> None:
        await turn.start(length=length or sum(map(len, events)) + len(behind))
        await turn.in_step(list(events))
        await turn.send(behind)
        await (then or silence)(turn)

    return play


def behind_the_sentinel(then: Play) -> Play:
    """A whole answer in one read, and what comes behind it."""

    async def play(turn: Turn) -> None:
        await turn.start(length=len(WHOLE) + len(GARBAGE))
        await turn.send(WHOLE)
        await asyncio.sleep(PAUSE)
        await then(turn)

    return play


async def silence(turn: Turn) -> None:
    """The connection stays open until the reader leaves."""
    await turn.silence()


async def end(turn: Turn) -> None:
    await turn.end()


async def drop(turn: Turn) -> None:
    await turn.drop()


async def reset(turn: Turn) -> None:
    # Not at once: what a reset overtakes on its way is lost.
    await asyncio.sleep(PAUSE)
    await turn.drop(reset=True)


async def garbage(turn: Turn) -> None:
    while True:
        await turn.send(GARBAGE)


async def keep_alives(turn: Turn) -> None:
    while True:
        await turn.send(KEEP_ALIVE)
        await asyncio.sleep(PAUSE)


async def timed(turn: Turn) -> None:
    """Events that say when they were sent, by the clock that all processes share; then silence, for some time."""
    await turn.start(length=TIMED * len(_event_of_now()) + len(DONE))
    for _ in range(TIMED):
        await asyncio.sleep(GAP)
        await turn.send(_event_of_now())
    await asyncio.sleep(GAP)
    await turn.send(DONE)
    with suppress(TimeoutError):
        await asyncio.wait_for(turn.silence(), SILENCE)


def _event_of_now() -> bytes:
    return event_of(payload_of(choices=[choice("x")], sent=f"{time.monotonic():020.9f}"))
