//! Inputs with one point each, and what comes out of them, written down by hand: in every cut.
//!
//! Each is read whole, in every two-way cut, in every three-way cut, byte by byte and in random pieces. The events must
//! be those of the table, all else that of the twin, and at each byte everything must be out that is complete there.

mod common;

use common::twin::{self, Outcome, Seen};
use common::{UNLIMITED, cut, feed, frame, outcome};
use ssewire_core::{END_OF_INPUT, Framer};

/// Data, event name, id, retry, offset.
type Expected = (&'static str, &'static str, &'static str, Option<u64>, u64);

const fn data(data: &'static str, offset: u64) -> Expected {
    (data, "", "", None, offset)
}

struct Case {
    rule: &'static str,
    input: &'static [u8],
    events: &'static [Expected],
}

const fn case(rule: &'static str, input: &'static [u8], events: &'static [Expected]) -> Case {
    Case { rule, input, events }
}

#[rustfmt::skip]
const CASES: &[Case] = &[
    case("nothing", b"", &[]),
    case("one event", b"data: x\n\n", &[data("x", 0)]),
    case("two events", b"data: one\n\ndata: two\n\n", &[data("one", 0), data("two", 11)]),
    case("a chat stream", b"data: {\"a\":1}\n\n: ping\n\ndata: [DONE]\n\n", &[data("{\"a\":1}", 0), data("[DONE]", 23)]),

    case("line ends: CR LF", b"data: x\r\n\r\ndata: y\r\n\r\n", &[data("x", 0), data("y", 11)]),
    case("line ends: CR", b"data: x\r\rdata: y\r\r", &[data("x", 0), data("y", 9)]),
    case("line ends: mixed", b"data: a\r\n\ndata: b\n\r\ndata: c\r\r\ndata: d\n\r", &[data("a", 0), data("b", 10), data("c", 20), data("d", 30)]),
    case("line ends: LF CR is two", b"data: a\n\rdata: b\n\r", &[data("a", 0), data("b", 9)]),
    case("line ends: CR CR LF is two", b"data: a\rdata: b\r\r\ndata: c\r\r", &[data("a\nb", 0), data("c", 18)]),
    case("line ends: many blank lines", b"\n\r\n\r\r\ndata: a\n\n\n\r\n\r\r\n\ndata: b\n\n", &[data("a", 6), data("b", 22)]),
    case("line ends: no other character", "data: a\u{2028}b\u{85}c\u{b}d\u{c}e\u{2029}f\n\n".as_bytes(), &[data("a\u{2028}b\u{85}c\u{b}d\u{c}e\u{2029}f", 0)]),
    case("line ends: joined data never has a CR", b"data: a\r\ndata: b\rdata: c\ndata: d\r\n\r\n", &[data("a\nb\nc\nd", 0)]),
    case("line ends: CR LF, and behind it another", b"\n\ndata: x\r\n\r\n\r\n\ndata: y\r\n\r\rdata: z\r\n\r\n", &[data("x", 2), data("y", 16), data("z", 27)]),
    case("line ends: wherever they stand in a word", b":\n:1\n:12\n:123\n:1234\n:12345\n:123456\n:1234567\n:12345678\rdata: x\n\n", &[data("x", 54)]),
    case("line ends: a byte away from one", b"\t\x0B\x0C\x0E\x8A\x8D\x0B\x0C\ndata: x\n\n", &[data("x", 9)]),
    case("a CR completes an event", b"data: x\r\r", &[data("x", 0)]),
    case("a CR completes a line", b"id: 1\r\rdata: x\n\r", &[("x", "", "1", None, 7)]),

    case("byte-order mark", b"\xEF\xBB\xBFdata: x\n\ndata: y\n\n", &[data("x", 0), data("y", 12)]),
    case("byte-order mark: only one", b"\xEF\xBB\xBF\xEF\xBB\xBFdata: x\n\ndata: y\n\n", &[data("y", 15)]),
    case("byte-order mark: only at the start", b"data: x\n\n\xEF\xBB\xBFdata: y\n\n", &[data("x", 0)]),
    case("byte-order mark: not after a blank line", b"\n\xEF\xBB\xBFdata: y\n\n", &[]),
    case("byte-order mark: alone", b"\xEF\xBB\xBF", &[]),
    case("byte-order mark: then a blank line", b"\xEF\xBB\xBF\n\r\ndata: x\n\n", &[data("x", 6)]),
    case("byte-order mark: two bytes of it", b"\xEF\xBBdata: x\n\ndata: y\n\n", &[data("y", 11)]),
    case("byte-order mark: two bytes and a line end", b"\xEF\xBB\ndata: y\n\n", &[data("y", 3)]),
    case("byte-order mark: before a comment", b"\xEF\xBB\xBF: c\ndata: x\n\n", &[data("x", 7)]),
    case("byte-order mark: before a long comment", b"\xEF\xBB\xBF: comment\ndata: x\n\n", &[data("x", 13)]),
    case("byte-order mark: before an id", b"\xEF\xBB\xBFid: 7\ndata: x\n\n", &[("x", "", "7", None, 9)]),

    case("data: no space, one, two", b"data:a\ndata: b\ndata:  c\n\n", &[data("a\nb\n c", 0)]),
    case("data: a tab is no space", b"data:\ta\ndata: \tb\n\n", &[data("\ta\n\tb", 0)]),
    case("data: space at the end stays", b"data: a \n\n", &[data("a ", 0)]),
    case("data: no colon", b"data\n\n", &[data("", 0)]),
    case("data: no colon twice", b"data\ndata\n\n", &[data("\n", 0)]),
    case("data: empty", b"data:\n\ndata: \n\n", &[data("", 0), data("", 7)]),
    case("data: empty lines around text", b"data\ndata:x\ndata: \n\n", &[data("\nx\n", 0)]),
    case("data: colons in the value", b"data:::\ndata: :a: b\n\n", &[data("::\n:a: b", 0)]),
    case("data: a NUL", b"data:\0\ndata: a\0b\n\n", &[data("\0\na\0b", 0)]),
    case("data: cut characters join again", "data: a…é😀\n\n".as_bytes(), &[data("a…é😀", 0)]),
    case("data: the blank line is missing", b"data: a\n", &[]),
    case("data: the line end is missing", b"data: a\n\ndata: b", &[data("a", 0)]),

    case("names: case counts", b"Data: a\nDATA: b\nEvent: c\nID: d\n\n", &[]),
    case("names: a space before", b" data: a\n\n", &[]),
    case("names: a space behind", b"data : a\nid : b\n\n", &[]),
    case("names: too long, too short", b"dat: a\ndataa: b\nda\ndatas\neven: t\nevents: t\ni: 1\nids: 2\n\n", &[]),
    case("names: a NUL in one", b"data\0: a\n\0data: b\n\n", &[]),
    case("names: none", b": data: a\n:data: b\n:\n\n", &[]),
    case("names: bytes that are no UTF-8", b"\xFF\xFE: a\ndata: b\n\n", &[data("b", 6)]),
    case("names: unknown lines in an event", b"data: a\nfoo\nfoo: bar\n: c\n:\ndata: b\n\n", &[data("a\nb", 0)]),
    case("names: a long line without a colon", b"<!DOCTYPE html><html lang=en>\n\n", &[]),
    case("names: JSON is no field", b"{\"error\": {\"message\": \"no\"}}\n\ndata: x\n\n", &[data("x", 30)]),

    case("keep-alives", b": a\n\n: a\n\n: a\n\ndata: x\n\n: a\n\n: a\n\n", &[data("x", 15)]),
    case("keep-alives: one begins another", b"\n:\n\n:\n\n: a\n\n: ab\n\n: a\n\ndata: x\n\n", &[data("x", 23)]),
    case("keep-alives: the blank line is missing", b"\n: a\n\n: a\n: a\n\n: a\ndata: x\n\n", &[data("x", 19)]),
    case("keep-alives: other line ends", b"\n: a\r\n\r\n: a\r\n\r\n: a\r\r: a\n\r: a\r\n\ndata: x\n\n", &[data("x", 31)]),
    case("keep-alives: what is in force stays", b"id: 1\nretry: 2\n\n: a\n\n: a\n\ndata: x\n\n: a\n\n", &[("x", "", "1", None, 26)]),

    case("names: a long comment", b"data: a\n: a long comment\ndata: b\n\n", &[data("a\nb", 0)]),
    case("names: a long unknown line", b"data: a\nunknown field: value\ndata: b\n\n", &[data("a\nb", 0)]),

    case("event: a name", b"event: add\ndata: 1\n\ndata: 2\n\n", &[("1", "add", "", None, 11), data("2", 20)]),
    case("event: the last one counts", b"event: a\ndata: x\nevent: b\n\n", &[("x", "b", "", None, 9)]),
    case("event: emptied again", b"event: a\nevent\ndata: x\n\nevent: a\nevent:\ndata: y\n\n", &[data("x", 15), data("y", 40)]),
    case("event: forgotten without data", b"event: a\n\ndata: x\n\n", &[data("x", 10)]),
    case("event: spaces", b"event:  a b \ndata: x\n\n", &[("x", " a b ", "", None, 13)]),

    case("id: lasts", b"id: 1\ndata: a\n\ndata: b\n\nid: 2\ndata: c\n\n", &[("a", "", "1", None, 6), ("b", "", "1", None, 15), ("c", "", "2", None, 30)]),
    case("id: from a block without data", b"id: 1\n\ndata: a\n\n", &[("a", "", "1", None, 7)]),
    case("id: emptied", b"id: 1\ndata: a\n\nid\ndata: b\n\nid: 2\n\nid:\ndata: c\n\n", &[("a", "", "1", None, 6), data("b", 18), data("c", 38)]),
    case("id: not in force before the blank line", b"id: 1\n\nid: 2\ndata: a\n", &[]),
    case("id: a NUL", b"id: 1\n\nid: a\0b\ndata: x\n\nid: \0\ndata: y\n\n", &[("x", "", "1", None, 15), ("y", "", "1", None, 30)]),
    case("id: a NUL does not undo the one before", b"id: 1\nid: \0\ndata: x\n\n", &[("x", "", "1", None, 12)]),
    case("id: the last one counts", b"id: 1\ndata: x\nid: 2\n\n", &[("x", "", "2", None, 6)]),
    case("id: only one space", b"id:  1\ndata: x\n\n", &[("x", "", " 1", None, 7)]),

    case("retry", b"retry: 3000\ndata: x\n\ndata: y\n\n", &[("x", "", "", Some(3000), 12), data("y", 21)]),
    case("retry: leading zeros", b"retry:00030\ndata: x\n\n", &[("x", "", "", Some(30), 12)]),
    case("retry: no number", b"retry: 1x\nretry: -1\nretry:+1\nretry: 1.5\nretry:  2\nretry: 2 \nretry:\nretry\ndata: x\n\n", &[data("x", 73)]),
    case("retry: digits, but not ASCII", "retry: ٣\ndata: x\n\n".as_bytes(), &[data("x", 10)]),
    case("retry: garbage does not undo the one before", b"retry: 5\nretry: 1000x\ndata: x\n\n", &[("x", "", "", Some(5), 22)]),
    case("retry: the last one counts", b"retry: 1\ndata: x\nretry: 2\n\n", &[("x", "", "", Some(2), 9)]),
    case("retry: 64 bits", b"retry: 18446744073709551615\ndata: x\n\n", &[("x", "", "", Some(u64::MAX), 28)]),
    case("retry: beyond 64 bits", b"retry: 18446744073709551616\ndata: x\n\n", &[("x", "", "", Some(u64::MAX), 28)]),
    case("retry: far beyond 64 bits", b"retry: 900000000000000000000000\ndata: x\n\n", &[("x", "", "", Some(u64::MAX), 32)]),
    case("retry: in a block without data", b"retry: 9\n\ndata: x\n\n", &[data("x", 10)]),

    case("end of input: nothing", b"\n\n\n", &[]),
    case("end of input: in a line", b"data: x\n\n\n", &[data("x", 0)]),
    case("end of input: behind a CR", b"data: x\r\n\n\n", &[data("x", 0)]),
    case("end of input: behind CR CR", b"data: x\r\r\n\n\n", &[data("x", 0)]),
];

fn events(steps: &[Seen]) -> Vec<Seen> {
    steps.iter().filter(|step| !matches!(step, Seen::Ignored { .. })).cloned().collect()
}

fn expected(case: &Case) -> Vec<Seen> {
    let owned = |text: &str| text.as_bytes().to_vec();
    let event = |&(data, name, id, retry, offset): &Expected| Seen::Event {
        data: owned(data),
        name: owned(name),
        id: owned(id),
        retry,
        offset,
    };
    case.events.iter().map(event).collect()
}

/// Run `check` for every input of the table, with and without ignored lines, beside the twin's outcome.
fn for_each(check: impl Fn(&Case, bool, &Outcome)) {
    for case in CASES {
        for show_ignored in [false, true] {
            check(case, show_ignored, &twin::decode(case.input, UNLIMITED, show_ignored));
        }
    }
}

#[test]
fn whole() {
    for_each(|case, show_ignored, twin| {
        let framed = frame([case.input], UNLIMITED, show_ignored);
        assert_eq!(events(&framed.steps), expected(case), "{}", case.rule);
        assert_eq!(&framed, twin, "{}", case.rule);
    });
}

#[test]
fn every_two_way_cut() {
    for_each(|case, show_ignored, twin| {
        for at in 0..=case.input.len() {
            let framed = frame(cut(case.input, &[at]), UNLIMITED, show_ignored);
            assert_eq!(&framed, twin, "{}, cut at {at}", case.rule);
        }
    });
}

#[test]
fn every_three_way_cut() {
    for_each(|case, show_ignored, twin| {
        for second in 0..=case.input.len() {
            for first in 0..=second {
                let framed = frame(cut(case.input, &[first, second]), UNLIMITED, show_ignored);
                assert_eq!(&framed, twin, "{}, cut at {first} and {second}", case.rule);
            }
        }
    });
}

/// After each byte the framer is where the twin would be if the input ended there: nothing is late, above all no event
/// that a bare CR has completed.
fn check_byte_by_byte(case: &Case, limit: usize, show_ignored: bool) {
    let mut framer = Framer::new(limit).show_ignored(show_ignored);
    let mut steps = Vec::new();
    for (at, byte) in case.input.iter().enumerate() {
        feed(&mut framer, &[*byte], &mut steps);
        feed(&mut framer, b"", &mut steps);
        let so_far = twin::decode(case.input.get(..=at).unwrap_or_default(), limit, show_ignored);
        assert_eq!(outcome(&framer, steps.clone()), so_far, "{}, limit {limit}, after byte {at}", case.rule);
    }
}

#[test]
fn byte_by_byte() {
    for_each(|case, show_ignored, _| check_byte_by_byte(case, UNLIMITED, show_ignored));
}

/// Every limit from nothing to more than the input: the same steps, errors and offsets in every cut.
#[test]
fn every_limit() {
    for_each(|case, show_ignored, _| {
        for limit in 0..case.input.len() + 2 {
            let twin = twin::decode(case.input, limit, show_ignored);
            for at in 0..=case.input.len() {
                let framed = frame(cut(case.input, &[at]), limit, show_ignored);
                assert_eq!(framed, twin, "{}, limit {limit}, cut at {at}", case.rule);
            }
            check_byte_by_byte(case, limit, show_ignored);
        }
    });
}

/// Cut anywhere, then ended: the twin is given the same three bytes.
#[test]
fn end_of_input() {
    for_each(|case, show_ignored, _| {
        for end in 0..=case.input.len() {
            let part = case.input.get(..end).unwrap_or_default();
            let twin = twin::decode(&[part, END_OF_INPUT].concat(), UNLIMITED, show_ignored);
            let framed = frame([part, END_OF_INPUT], UNLIMITED, show_ignored);
            assert_eq!(framed, twin, "{}, ended at {end}", case.rule);
        }
    });
}

#[test]
fn end_of_input_delivers_what_is_pending() {
    let pending: [&[u8]; 9] = [
        b"data: x",
        b"data: x\n",
        b"data: x\r",
        b"data: x\r\n",
        b"data:x\n: c",
        b"data:x\nfoo",
        b"data:x\nid",
        b"data: x\n\n",
        b"data: x\r\r",
    ];
    for input in pending {
        let expected = [Seen::Event { data: b"x".to_vec(), name: vec![], id: vec![], retry: None, offset: 0 }];
        assert_eq!(frame([input, END_OF_INPUT], UNLIMITED, false).steps, expected, "{input:?}");
    }
}

#[test]
fn reset_is_a_new_framer_with_the_same_settings() {
    for_each(|case, show_ignored, _| {
        for limit in [8, UNLIMITED] {
            let mut framer = Framer::new(limit).show_ignored(show_ignored);
            let mut steps = Vec::new();
            feed(&mut framer, b"id: 9\nretry: 9\n: c\n\nevent: e\ndata: left\ndata: ov", &mut steps);
            framer.reset();
            steps.clear();
            feed(&mut framer, case.input, &mut steps);
            assert_eq!(outcome(&framer, steps), twin::decode(case.input, limit, show_ignored), "{}", case.rule);
        }
    });
}

/// A block beyond the limit costs one error and itself; the events around it come out.
#[test]
fn framing_goes_on_behind_a_block_that_is_too_large() {
    let input = b"data: a\n\nid: 1\nevent: e\ndata: 123456789\ndata: b\n: c\nid: 2\n\ndata: d\n\n";
    let event =
        |data: &[u8], offset| Seen::Event { data: data.to_vec(), name: vec![], id: vec![], retry: None, offset };
    let steps = [event(b"a", 0), Seen::TooLarge { offset: 24 }, event(b"d", 59)];
    for reads in [vec![&input[..]], input.chunks(1).collect(), input.chunks(5).collect()] {
        assert_eq!(frame(reads, 10, true).steps, steps);
    }
}

#[test]
fn ignored_lines_say_whether_an_event_surrounds_them() {
    let input = b": a\nfoo\ndata: x\nbar: b\n:\n\n:c\n";
    let ignored =
        |line: &[u8], comment, in_event, offset| Seen::Ignored { line: line.to_vec(), comment, in_event, offset };
    let expected = [
        ignored(b": a", true, false, 0),
        ignored(b"foo", false, false, 4),
        ignored(b"bar: b", false, true, 16),
        ignored(b":", true, true, 23),
        Seen::Event { data: b"x".to_vec(), name: vec![], id: vec![], retry: None, offset: 8 },
        ignored(b":c", true, false, 26),
    ];
    for reads in [vec![&input[..]], input.chunks(1).collect(), input.chunks(3).collect()] {
        let framed = frame(reads, UNLIMITED, true);
        assert_eq!(framed.steps, expected);
        assert_eq!(framed.comments, 3);
    }
}
