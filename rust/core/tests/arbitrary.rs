//! Inputs nobody thought of: whatever the bytes, the cuts and the limit, the framer is its twin.

mod common;

use common::{UNLIMITED, cut, feed, frame, outcome, twin};
use proptest::collection::vec;
use proptest::prelude::*;
use ssewire_core::Framer;

/// Pieces of event streams, whole and damaged, that make likely what the format turns on.
#[rustfmt::skip]
const PIECES: &[&[u8]] = &[
    b"\n", b"\n", b"\r", b"\r\n", b"\n\n", b"\r\r", b"\r\n\r\n", b":", b": ", b" ", b"\0", b"\xEF\xBB\xBF", b"\xEF\xBB",
    b"\xBF", b"d", b"data", b"data:", b"data: ", b"data: x\n", b"data: [DONE]\n\n", b"data\n", b"id", b"id:", b"id: 1\n",
    b"id: 22\n\n", b"event", b"event: ", b"event: ping\n", b"events", b"retry", b"retry: ", b"retry: 10\n", b"7",
    b"18446744073709551616", b": c\n", b": c\n\n", b": c\n\n: c\n\n", b"data: x\r\n\r\n", b"foo", b"foo: bar\n",
    b"abcdefghijklmnopqrstuvwxyz", b"\xFF", b"{\"a\":\"b\"}", b"\x0B\x0E\x8A\x8D",
];

fn stream() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        9 => prop::sample::select(PIECES).prop_map(<[u8]>::to_vec),
        1 => vec(any::<u8>(), 0..4),
    ];
    vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

/// Half of the limits are within reach of the short inputs above.
fn limit() -> impl Strategy<Value = usize> {
    prop_oneof![Just(UNLIMITED), 0..64_usize]
}

fn config(cases: u32) -> ProptestConfig {
    // The failing input is printed, shrunk; it goes into the table by hand.
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config(20_000))]

    #[test]
    fn any_cut(
        input in stream(),
        places in vec(any::<usize>(), 0..12),
        limit in limit(),
        show_ignored in any::<bool>(),
    ) {
        let twin = twin::decode(&input, limit, show_ignored);
        prop_assert_eq!(&frame([&input[..]], limit, show_ignored), &twin);
        prop_assert_eq!(&frame(input.chunks(1), limit, show_ignored), &twin);
        prop_assert_eq!(&frame(cut(&input, &places), limit, show_ignored), &twin);
    }

    #[test]
    fn any_bytes(input in vec(any::<u8>(), 0..200), size in 1..40_usize, show_ignored in any::<bool>()) {
        prop_assert_eq!(
            frame(input.chunks(size), UNLIMITED, show_ignored),
            twin::decode(&input, UNLIMITED, show_ignored)
        );
    }
}

proptest! {
    #![proptest_config(config(3000))]

    #[test]
    fn every_byte_where_it_comes(input in stream(), limit in limit(), show_ignored in any::<bool>()) {
        let mut framer = Framer::new(limit).show_ignored(show_ignored);
        let mut steps = Vec::new();
        for (at, byte) in input.iter().enumerate() {
            feed(&mut framer, &[*byte], &mut steps);
            let so_far = twin::decode(&input[..=at], limit, show_ignored);
            prop_assert_eq!(outcome(&framer, steps.clone()), so_far);
        }
    }
}
