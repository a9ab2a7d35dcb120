"""An HTTP server that can misbehave on purpose, for those who test what reads streams.

Real HTTP/1.1, plain and with TLS, and HTTP/2. Beyond what an application server offers, its answers choose how the body
is framed and compressed and what goes into one write, may end in the middle, be reset or fall silent, and learn when
the peer leaves.

    async def answer(exchange: Exchange) -> None:
        await exchange.start(200, {"content-type": "text/event-stream"})
        await exchange.send(b"data: 1")
        await exchange.drop(reset=True)

    async with Listener(answer) as listener:
        print(listener.port)
"""

from .encoding import EncodingMissingError, body_length, encoder
from .exchange import Encoding, Exchange, Framing, PeerLeftError, Request
from .listening import Answer, Listener

__all__ = [
    "Answer",
    "Encoding",
    "EncodingMissingError",
    "Exchange",
    "Framing",
    "Listener",
    "PeerLeftError",
    "Request",
    "body_length",
    "encoder",
]
