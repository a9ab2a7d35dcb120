"""What counts as a refused request, and refusals that cannot be read."""

from __future__ import annotations

from typing import Any

import anyio
import pytest

from ssewire import AsyncChatStream, ChatStream, NotAStreamError
from tests.unit.cases import HELLO
from tests.unit.making import DONE, AsyncResponse, Response


def test_a_flag_is_no_status() -> None:
    class Flagged(Response):
        status_code: Any
        status: Any = True

        def __init__(self, status_code: Any) -> None:
            super().__init__(HELLO, DONE)
            self.status_code = status_code

    for status in (None, False, True, 200):
        assert [item.text for item in ChatStream(Flagged(status))] == ["Hello"]
    with pytest.raises(NotAStreamError):
        next(ChatStream(Flagged(404)))


@pytest.mark.parametrize(("read", "sentence"), [("text", "iter_bytes"), (7, "got int"), ([1], "got list")])
def test_a_refusal_whose_reads_are_no_bytes_says_so(read: Any, sentence: str) -> None:
    for reads in ([read], [b"no", read]):
        stream = ChatStream(Response(*reads, status=500))
        with pytest.raises(TypeError, match=f"expected bytes.*{sentence}"):
            next(stream)
        assert stream.state == "incomplete"

    async def main() -> None:
        with pytest.raises(TypeError, match=f"expected bytes.*{sentence}"):
            await anext(AsyncChatStream(AsyncResponse(read, status=500)))

    anyio.run(main)
