"""A server process for the ways out of a stream: it sends without being asked, and counts what its readers leave open.

    python -m tests.lifecycle.server

prints its ports: `http`, and `aside` for questions. A request for `/<scenario>/<id>` (a longer path does as well) is
answered as the scenario says, with what the query tells. Aside, `/connections` tells how many connections are open,
`/requests/<id>` how many requests there were for a stream, and `/gone/<id>` whether the server is done with it.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from random import Random
from typing import Final, TypeAlias
from urllib.parse import parse_qsl, urlsplit

from ssewire.cli.http import Exchange, Listener
from tests.clients.bodies import API_ERROR, DONE, EVENTS, KEEP_ALIVE, USAGE, WHOLE, choice, event_of, payload_of

# So many seconds streams wait for each other: only a failing test sees it.
PATIENCE: Final = 60.0

# More events than are handed out between two turns of a loop.
MANY: Final = 4_000

Query: TypeAlias = Mapping[str, str]
Play: TypeAlias = Callable[[Exchange, Query], Awaitable[None]]


class Session:
    """What is known of the stream, or the streams, of one id."""

    def __init__(self) -> None:
        self.requests = 0
        self.gone = False


class Gathering:
    """Streams that wait for each other, so that there are as many open at once as were asked for."""

    def __init__(self) -> None:
        self._here: defaultdict[str, int] = defaultdict(int)
        self._changed = asyncio.Condition()

    async def wait(self, name: str, number: int) -> None:
        async with self._changed:
            self._here[name] += 1
            self._changed.notify_all()
            await asyncio.wait_for(self._changed.wait_for(lambda: self._here[name] >= number), PATIENCE)


def texts_of(seed: int, number: int) -> list[str]:
    """The texts of an answer, which no other seed has."""
    random = Random(seed)
    return [f"{seed}:{random.randrange(10**9)} " for _ in range(number)]


def event_with(text: str) -> bytes:
    return event_of(payload_of(choices=[choice(text)]))


async def start(exchange: Exchange, encoding: str = "identity") -> None:
    peer = {"x-peer": str(exchange.request.peer)}
    assert encoding in {"identity", "gzip"}
    await exchange.start(
        200, {"content-type": "text/event-stream", **peer}, encoding="gzip" if encoding == "gzip" else "identity"
    )


async def silent(exchange: Exchange, _: Query) -> None:
    """One event, and then nothing."""
    await start(exchange)
    await exchange.send(EVENTS[0])
    await exchange.left()


async def two_events(exchange: Exchange, _: Query) -> None:
    """Two events at once, and then nothing."""
    await start(exchange)
    await exchange.send(EVENTS[0] + EVENTS[1])
    await exchange.left()


async def whole(exchange: Exchange, query: Query) -> None:
    """A whole answer, at once; what is compressed leaves the server when all is there."""
    await start(exchange, query.get("encoding", "identity"))
    await exchange.send(WHOLE)
    await exchange.end()


async def many(exchange: Exchange, _: Query) -> None:
    """Thousands of events in one write."""
    await start(exchange)
    await exchange.send(event_with("x") * MANY + DONE)
    await exchange.end()


async def late_end(exchange: Exchange, _: Query) -> None:
    """The end of the body comes behind the sentinel, in a read of its own."""
    await start(exchange)
    await exchange.send(WHOLE)
    await asyncio.sleep(0.05)
    await exchange.end()


async def silent_behind(exchange: Exchange, _: Query) -> None:
    """The end of the body never comes."""
    await start(exchange)
    await exchange.send(WHOLE)
    await exchange.left()


async def unfinished(exchange: Exchange, _: Query) -> None:
    """All events without the sentinel, and the end of the body, which is that of the connection."""
    await exchange.start(200, {"content-type": "text/event-stream"}, framing="close")
    await exchange.send(b"".join(EVENTS))
    await exchange.end()


async def reset(exchange: Exchange, _: Query) -> None:
    """Two events, and the connection is reset."""
    await start(exchange)
    await exchange.send(b"".join(EVENTS[:2]))
    # Not at once: what a reset overtakes on its way is lost.
    await asyncio.sleep(0.05)
    await exchange.drop(reset=True)


async def refused(exchange: Exchange, _: Query) -> None:
    await exchange.respond(429, json.dumps(API_ERROR).encode(), {"content-type": "application/json"})


async def steady(exchange: Exchange, query: Query) -> None:
    """So many events, `gap` seconds apart (or from 0 to twice as many, where there is a seed), with the usage last."""
    random = Random(query["seed"]) if "seed" in query else None
    gap = float(query["gap"])
    await start(exchange)
    for _ in range(int(query["events"])):
        await exchange.send(event_with("x"))
        await asyncio.sleep(random.uniform(0, 2 * gap) if random else gap)
    await exchange.send(event_of(payload_of(choices=[choice("", "stop")], usage=USAGE)) + DONE)
    await exchange.end()


async def echo(exchange: Exchange, _: Query) -> None:
    """The body of the request, in pieces of odd sizes."""
    body, random = exchange.request.body, Random(len(exchange.request.body))
    await start(exchange)
    at = 0
    while at < len(body):
        size = random.randint(1, 4096)
        await exchange.send(body[at : at + size])
        at += size
    await exchange.end()


async def compressing(exchange: Exchange, _: Query) -> None:
    """An event every 20 ms, as the answer of a server with compression in front, which holds all back to the end."""
    if "gzip" not in exchange.request.headers.get("accept-encoding", ""):
        await start(exchange)
        for event in EVENTS:
            await exchange.send(event)
            await asyncio.sleep(0.02)
    else:
        await asyncio.sleep(0.02 * len(EVENTS))
        await start(exchange, "gzip")
        await exchange.send(b"".join(EVENTS))
    await exchange.send(DONE)
    await exchange.end()


async def mute(exchange: Exchange, _: Query) -> None:
    """A comment (some clients hand out no response before there is a byte of its body), and no event."""
    await start(exchange)
    await exchange.send(KEEP_ALIVE)
    await exchange.left()


async def kept_alive(exchange: Exchange, _: Query) -> None:
    """One event, and then comments without end."""
    await start(exchange)
    await exchange.send(EVENTS[0])
    while True:
        await asyncio.sleep(0.02)
        await exchange.send(KEEP_ALIVE)


async def first_cut_then_whole(exchange: Exchange, query: Query) -> None:
    """Two events and a reset; asked again, the whole answer."""
    await (reset if query["request"] == "1" else whole)(exchange, query)


PLAYS: Final[Mapping[str, Play]] = {
    "silent": silent,
    "two-events": two_events,
    "whole": whole,
    "many": many,
    "late-end": late_end,
    "silent-behind": silent_behind,
    "unfinished": unfinished,
    "reset": reset,
    "refused": refused,
    "steady": steady,
    "echo": echo,
    "compressing": compressing,
    "mute": mute,
    "kept-alive": kept_alive,
    "first-cut-then-whole": first_cut_then_whole,
}


class Server:
    """All streams, by their ids."""

    def __init__(self) -> None:
        self._sessions: defaultdict[str, Session] = defaultdict(Session)
        self._gathering = Gathering()
        self.listener = Listener(self.play)

    async def play(self, exchange: Exchange) -> None:
        """Answer a request for a stream."""
        target = urlsplit(exchange.request.target)
        _, scenario, name, *_ = target.path.split("/")
        query = dict(parse_qsl(target.query))
        session = self._sessions[name]
        session.requests += 1
        query["request"] = str(session.requests)
        try:
            if scenario == "together":
                await self._together(exchange, query)
            else:
                await PLAYS[scenario](exchange, query)
        finally:
            session.gone = True

    async def _together(self, exchange: Exchange, query: Query) -> None:
        """The first event; the others, of which no answer has those of another, when all streams are there."""
        first, *others = texts_of(int(query["seed"]), int(query["events"]))
        await start(exchange)
        await exchange.send(event_with(first))
        await self._gathering.wait(query["group"], int(query["streams"]))
        for text in others:
            await exchange.send(event_with(text))
        await exchange.send(DONE)
        await exchange.end()

    async def tell(self, exchange: Exchange) -> None:
        """Answer a question."""
        _, what, *name = exchange.request.target.split("/")
        if what == "connections":
            answer = self.listener.connections
        elif what == "requests":
            answer = self._sessions[name[0]].requests
        else:
            answer = self._sessions[name[0]].gone
        await exchange.respond(200, json.dumps(answer).encode())


async def main() -> None:
    server = Server()
    async with server.listener, Listener(server.tell) as aside:
        # The ports, for whoever started this process.
        print(json.dumps({"http": server.listener.port, "aside": aside.port}), flush=True)  # noqa: T201
        # It ends when that process does, however that ends.
        await asyncio.to_thread(sys.stdin.read)


if __name__ == "__main__":
    asyncio.run(main())
