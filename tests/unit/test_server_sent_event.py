"""ServerSentEvent and IgnoredLine as values: equal, hashable, picklable, shown, matched; text made when asked for."""

from __future__ import annotations

import copy
import pickle
import weakref
from typing import Any

import msgspec
import pytest

from ssewire import IgnoredLine, ServerSentEvent, SSEDecoder


def event_of(body: bytes) -> ServerSentEvent:
    return next(SSEDecoder().feed(body))


def test_the_members_of_an_event() -> None:
    event = event_of(b"event: add\nid: 7\nretry: 30\ndata: a\ndata: b\n\n")
    assert (event.event, event.data, event.payload, event.id, event.retry) == ("add", "a\nb", b"a\nb", "7", 30)
    plain = event_of(b"data\n\n")
    assert (plain.event, plain.data, plain.payload, plain.id, plain.retry) == ("message", "", b"", "", None)


def test_an_event_cannot_be_changed() -> None:
    for name in ("event", "data", "payload", "id", "retry", "other"):
        with pytest.raises(AttributeError):
            setattr(ServerSentEvent(), name, None)


def test_what_is_no_utf_8_is_replaced_in_the_text_and_kept_in_the_payload() -> None:
    event = event_of(b"event: \xff\nid: \xe2\x82\ndata: a\xff\xe2\x82b\xed\xa0\x80\xf0\x9f\x8e\x89\n\n")
    assert event.payload == b"a\xff\xe2\x82b\xed\xa0\x80\xf0\x9f\x8e\x89"
    assert event.data == event.payload.decode("utf-8", "replace") == "a\ufffd\ufffdb\ufffd\ufffd\ufffd🎉"
    assert (event.event, event.id) == ("\ufffd", "\ufffd")


def test_the_text_is_made_once() -> None:
    event = event_of(b"data: some text\n\n")
    assert event.data is event.data


def test_equality_and_hash_go_by_the_four_members() -> None:
    event = ServerSentEvent("add", "text", "1", 3)
    assert event == event_of(b"event: add\nid: 1\nretry: 3\ndata: text\n\n")
    assert hash(event) == hash(ServerSentEvent("add", "text", "1", 3))
    assert ServerSentEvent(event="message") == ServerSentEvent() == ServerSentEvent(None, None, None, None)
    others = [
        ServerSentEvent("Add", "text", "1", 3),
        ServerSentEvent("add", "text.", "1", 3),
        ServerSentEvent("add", "text", "", 3),
        ServerSentEvent("add", "text", "1", None),
        ("add", "text", "1", 3),
        None,
    ]
    assert all(event != other for other in others)
    assert len({event, *others, ServerSentEvent("add", "text", "1", 3)}) == len(others) + 1


@pytest.mark.parametrize(
    ("event", "shown"),
    [
        (ServerSentEvent(), "ServerSentEvent(event='message', data='')"),
        (ServerSentEvent("add", "it's", "1", 3), "ServerSentEvent(event='add', data=\"it's\", id='1', retry=3)"),
        (IgnoredLine(b": \xff", in_event=True), r"IgnoredLine(b': \xff', in_event=True)"),
    ],
)
def test_the_repr_makes_an_equal_value(event: Any, shown: str) -> None:
    assert repr(event) == shown
    assert eval(shown, {"ServerSentEvent": ServerSentEvent, "IgnoredLine": IgnoredLine}) == event


@pytest.mark.parametrize(
    "event", [ServerSentEvent(), ServerSentEvent("add", "tëxt\n", "1", 3), event_of(b"data:\xff\n\n")]
)
def test_an_event_pickles_and_copies(event: ServerSentEvent) -> None:
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps(event, protocol))
        assert again == event
        assert (again.event, again.data, again.id, again.retry) == (event.event, event.data, event.id, event.retry)
    assert copy.copy(event) == copy.deepcopy(event) == event


def test_an_event_can_be_matched_and_weakly_held() -> None:
    match event_of(b"event: add\ndata: text\n\n"):
        case ServerSentEvent("add", data, id=id, retry=None):
            assert (data, id) == ("text", "")
        case _:
            raise AssertionError
    event = ServerSentEvent()
    assert weakref.ref(event)() is event


class Point(msgspec.Struct):
    x: int


def test_json_decodes_to_plain_objects_or_a_type() -> None:
    event = event_of(b'data: {"x":\ndata: 1}\n\n')
    assert event.json() == {"x": 1}
    assert event.json(type=Point) == Point(1)
    assert event.json(dict[str, int]) == {"x": 1}
    with pytest.raises(msgspec.ValidationError, match="x"):
        ServerSentEvent(data='{"x": "1"}').json(type=Point)
    with pytest.raises(msgspec.DecodeError):
        ServerSentEvent(data="[DONE]").json()


@pytest.mark.parametrize("wrong", [{"event": 1}, {"data": b"x"}, {"id": 1}, {"retry": "1"}, {"retry": -1}])
def test_members_of_the_wrong_type_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises((TypeError, OverflowError)):
        ServerSentEvent(**wrong)


def test_an_ignored_line_as_a_value() -> None:
    comment, unknown = IgnoredLine(b": hi"), IgnoredLine(b"foo: \xff", in_event=True)
    assert (comment.payload, comment.text, comment.comment, comment.in_event) == (b": hi", ": hi", True, False)
    assert (unknown.text, unknown.comment, unknown.in_event) == ("foo: \ufffd", False, True)
    assert comment == IgnoredLine(b": hi") != IgnoredLine(b": hi", in_event=True) != unknown
    assert hash(comment) == hash(IgnoredLine(b": hi"))
    assert len({comment, unknown, IgnoredLine(b": hi")}) == 2
    with pytest.raises(TypeError, match="line end"):
        IgnoredLine(b"a\nb")


@pytest.mark.parametrize("line", [IgnoredLine(b": hi"), IgnoredLine(b"foo: \xff", in_event=True)])
def test_an_ignored_line_pickles_and_copies(line: IgnoredLine) -> None:
    assert pickle.loads(pickle.dumps(line)) == copy.deepcopy(line) == line
