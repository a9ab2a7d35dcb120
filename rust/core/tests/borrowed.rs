//! Data that lies whole in a read is handed out in place; and what counts as the sentinel.

use ssewire_core::{Framer, Step, is_done};

const LIMIT: usize = 1 << 20;

/// The data of the first event of `read`, and whether it is a slice of it.
fn data_of(framer: &mut Framer, read: &[u8]) -> Option<(Vec<u8>, bool)> {
    let mut input = read;
    match framer.next(&mut input) {
        Step::Event(event) => {
            let inside = read.as_ptr_range().contains(&event.data.as_ptr());
            Some((event.data.to_vec(), inside))
        }
        _ => None,
    }
}

#[test]
fn data_of_one_whole_line_is_a_slice_of_the_read() {
    let reads: [&[u8]; 6] = [
        b"data: hello\n\n",
        b"data:hello\r\n\r\n",
        b"\xEF\xBB\xBFdata: hello\n\n",
        b"id: 1\nevent: e\nretry: 3\ndata: hello\n\n",
        b": comment\n\ndata: hello\n\ndata: next\n\n",
        b"foo: bar\ndata: hello\r\r",
    ];
    for read in reads {
        assert_eq!(data_of(&mut Framer::new(LIMIT), read), Some((b"hello".to_vec(), true)), "{read:?}");
    }
}

#[test]
fn data_behind_an_unfinished_line_is_a_slice_too() {
    let mut framer = Framer::new(LIMIT);
    assert_eq!(data_of(&mut framer, b"data: one\n\ndata: tw"), Some((b"one".to_vec(), true)));
    assert_eq!(data_of(&mut framer, b": com"), None);
    framer.reset();
    assert_eq!(data_of(&mut framer, b": com"), None);
    assert_eq!(data_of(&mut framer, b"ment\ndata: hello\n\n"), Some((b"hello".to_vec(), true)));
}

#[test]
fn data_in_pieces_or_of_several_lines_is_joined_in_the_framer() {
    let mut framer = Framer::new(LIMIT);
    assert_eq!(data_of(&mut framer, b"data: hel"), None);
    assert_eq!(data_of(&mut framer, b"lo\n\n"), Some((b"hello".to_vec(), false)));
    assert!(!framer.is_joined());
    assert_eq!(data_of(&mut framer, b"data: a\ndata: b\n\n"), Some((b"a\nb".to_vec(), false)));
    assert!(framer.is_joined());
    assert_eq!(data_of(&mut framer, b"data: c\n\n"), Some((b"c".to_vec(), true)));
    assert!(!framer.is_joined());
    assert_eq!(data_of(&mut framer, b"data\ndata: d"), None);
    assert_eq!(data_of(&mut framer, b"\n\n"), Some((b"\nd".to_vec(), false)));
    assert!(framer.is_joined());
}

#[test]
fn done_is_the_whole_data() {
    let done: [&[u8]; 6] = [b"[DONE]", b" [DONE]", b"[DONE] ", b"\t[DONE]\t ", b"\n[DONE]\n", b"\x0C[DONE]\r"];
    for data in done {
        assert!(is_done(data), "{data:?}");
    }
    let others: [&[u8]; 13] = [
        b"",
        b" ",
        b"[DONE",
        b"DONE",
        b"[done]",
        b"[ DONE ]",
        b"[DONE].",
        b"\"[DONE]\"",
        b"[DONE][DONE]",
        b"{\"a\": \"[DONE]\"}",
        b"\x0B[DONE]",
        b"\xC2\xA0[DONE]",
        b"[DONE]\0",
    ];
    for data in others {
        assert!(!is_done(data), "{data:?}");
    }
}

#[test]
fn an_event_knows_the_sentinel() {
    let cases: [(&[u8], bool); 4] = [
        (b"data: [DONE]\n\n", true),
        (b"data:  [DONE] \r\n\r\n", true),
        (b"data:\ndata: [DONE]\n\n", true),
        (b"data: [DONE]\ndata: x\n\n", false),
    ];
    for (read, expected) in cases {
        let mut input = read;
        let mut framer = Framer::new(LIMIT);
        let Step::Event(event) = framer.next(&mut input) else { panic!("no event in {read:?}") };
        assert_eq!(event.is_done(), expected, "{read:?}");
    }
}
