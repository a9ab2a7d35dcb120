//! Any bytes, any cuts, any limit: the framer is its twin.

#![no_main]

#[path = "../../core/tests/common/mod.rs"]
mod common;

use common::{UNLIMITED, cut, frame, twin};
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
struct Input<'i> {
    limit: Option<u8>,
    show_ignored: bool,
    places: [u16; 3],
    bytes: &'i [u8],
}

fuzz_target!(|input: Input<'_>| {
    let Input { limit, show_ignored, places, bytes } = input;
    let limit = limit.map_or(UNLIMITED, usize::from);
    let twin = twin::decode(bytes, limit, show_ignored);
    assert_eq!(frame([bytes], limit, show_ignored), twin, "whole");
    assert_eq!(frame(bytes.chunks(1), limit, show_ignored), twin, "byte by byte");
    assert_eq!(frame(cut(bytes, &places.map(usize::from)), limit, show_ignored), twin, "cut");
});
