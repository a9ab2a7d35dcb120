//! Lines of fields, well formed and nearly so: after every read the framer is where its twin would be if the input ended
//! there.

#![no_main]

#[path = "../../core/tests/common/mod.rs"]
mod common;

use common::{UNLIMITED, cut, feed, frame, outcome, twin};
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use ssewire_core::Framer;

#[derive(Arbitrary, Debug)]
struct Line<'i> {
    mark: Mark,
    name: Name<'i>,
    colon: Colon,
    value: &'i [u8],
    end: End,
}

/// Bytes by name, so that the fuzzer need not find them.
macro_rules! words {
    ($name:ident { $($word:ident = $bytes:expr),* $(,)? }) => {
        #[derive(Arbitrary, Debug)]
        enum $name { $($word),* }

        impl $name {
            fn bytes(&self) -> &'static [u8] {
                match self { $(Self::$word => $bytes),* }
            }
        }
    };
}

words!(Mark { None = b"", Another = b"", ByteOrderMark = b"\xEF\xBB\xBF", Half = b"\xEF\xBB" });
words!(Colon { Space = b": ", Bare = b":", Spaces = b":  ", None = b"" });
words!(End { Lf = b"\n", CrLf = b"\r\n", Cr = b"\r", Blank = b"\n\n", BlankCrLf = b"\r\n\r\n", BlankCr = b"\r\r", None = b"" });

#[derive(Arbitrary, Debug)]
enum Name<'i> {
    Data,
    Event,
    Id,
    Retry,
    Comment,
    Other(&'i [u8]),
}

impl<'i> Name<'i> {
    fn bytes(&self) -> &'i [u8] {
        match self {
            Self::Data => b"data",
            Self::Event => b"event",
            Self::Id => b"id",
            Self::Retry => b"retry",
            Self::Comment => b"",
            Self::Other(bytes) => bytes,
        }
    }
}

#[derive(Arbitrary, Debug)]
struct Input<'i> {
    limit: Option<u8>,
    show_ignored: bool,
    places: Vec<u16>,
    lines: Vec<Line<'i>>,
}

fuzz_target!(|input: Input<'_>| {
    let Input { limit, show_ignored, places, lines } = input;
    let limit = limit.map_or(UNLIMITED, usize::from);
    let bytes: Vec<u8> = lines
        .iter()
        .flat_map(|line| [line.mark.bytes(), line.name.bytes(), line.colon.bytes(), line.value, line.end.bytes()])
        .flatten()
        .copied()
        .collect();
    assert_eq!(frame([&bytes[..]], limit, show_ignored), twin::decode(&bytes, limit, show_ignored), "whole");

    let places: Vec<usize> = places.into_iter().map(usize::from).collect();
    let mut framer = Framer::new(limit).show_ignored(show_ignored);
    let mut steps = Vec::new();
    let mut end = 0;
    for read in cut(&bytes, &places) {
        feed(&mut framer, read, &mut steps);
        end += read.len();
        let so_far = twin::decode(&bytes[..end], limit, show_ignored);
        assert_eq!(outcome(&framer, steps.clone()), so_far, "after {end} bytes");
    }
});
