//! What the framer keeps stays under three times its limit, and what it copies grows with the bytes, no faster.
//!
//! Both are counted by an allocator, not timed. The searching has no such meter: the benches show it (`make bench-core`).

// The standard library's only way to count allocations is this unsafe trait; every call is passed on unchanged.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use ssewire_core::{Framer, Step};

struct Counting;

thread_local! {
    static HELD: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
    static TOTAL: Cell<isize> = const { Cell::new(0) };
}

/// Count per thread, so that tests can run beside each other.
fn count(change: isize) {
    let held = HELD.get() + change;
    HELD.set(held);
    PEAK.set(PEAK.get().max(held));
    TOTAL.set(TOTAL.get() + change.max(0));
}

fn size(bytes: usize) -> isize {
    isize::try_from(bytes).unwrap_or(isize::MAX)
}

// SAFETY: `System` does all the work; the counters are plain cells without a destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(size(layout.size()));
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-size(layout.size()));
        unsafe { System.dealloc(pointer, layout) }
    }

    // `realloc` is left to its default, a new block, a copy and then the release: the worst that can happen.
}

#[global_allocator]
static COUNTING: Counting = Counting;

/// What running `work` held at its peak and allocated in all, in bytes, and what was still held at its end.
struct Measured {
    peak: isize,
    total: isize,
    left: isize,
}

fn measure(work: impl FnOnce()) -> Measured {
    let (held, total) = (HELD.get(), TOTAL.get());
    PEAK.set(held);
    work();
    Measured { peak: PEAK.get() - held, total: TOTAL.get() - total, left: HELD.get() - held }
}

/// Feed pieces until all are used up, and count the events and errors.
fn feed<'r>(framer: &mut Framer, reads: impl IntoIterator<Item = &'r [u8]>) -> (usize, usize) {
    let (mut events, mut errors) = (0, 0);
    for read in reads {
        let mut input = read;
        loop {
            match framer.next(&mut input) {
                Step::NeedMore => break,
                Step::Event(_) => events += 1,
                Step::TooLarge(_) => errors += 1,
                Step::Ignored(_) => {}
            }
        }
    }
    (events, errors)
}

const LIMIT: usize = 1 << 20;
const THREE_LIMITS: isize = 3 << 20;
/// One page of line-end-free text.
const PAGE: &[u8] = &[b'x'; 4096];

/// One line, `pages` pages long, its end included.
fn line(start: &'static [u8], pages: usize, end: &'static [u8]) -> impl Iterator<Item = &'static [u8]> {
    std::iter::once(start).chain(std::iter::repeat_n(PAGE, pages)).chain(std::iter::once(end))
}

#[test]
fn an_endless_line_is_an_error_and_then_nothing_is_kept() {
    for start in [&b"data: "[..], b"event: ", b"id: ", b"retry: ", b"data: a\ndata: ", b": ", b"foo: ", b""] {
        for show_ignored in [false, true] {
            let mut framer = Framer::new(LIMIT).show_ignored(show_ignored);
            let mut found = (0, 0);
            let measured = measure(|| found = feed(&mut framer, line(start, 4 * LIMIT / PAGE.len(), b"")));
            let unseen = matches!(start, b": " | b"foo: " | b"") && !show_ignored;
            assert_eq!(found, (0, usize::from(!unseen)), "{start:?}");
            assert!(measured.peak < THREE_LIMITS, "{start:?}: {} bytes held", measured.peak);
            assert!(measured.left <= 128 * 1024, "{start:?}: {} bytes still held", measured.left);
            assert!(!unseen || measured.peak < 1024, "{start:?}: {} bytes held of what nobody sees", measured.peak);
        }
    }
}

/// One event whose data is just as long as the limit, at every size of the pieces.
#[test]
fn the_largest_event() {
    let mut input = b"data: ".to_vec();
    input.resize(input.len() + LIMIT, b'x');
    input.extend_from_slice(b"\n\n");
    for size in [1, 100, 4096, 100_000, input.len()] {
        let mut framer = Framer::new(LIMIT);
        let measured = measure(|| assert_eq!(feed(&mut framer, input.chunks(size)), (1, 0)));
        assert!(measured.peak < THREE_LIMITS, "{size}: {} bytes held", measured.peak);
        feed(&mut framer, [&b": next\n"[..]]);
        assert!(size == input.len() || measured.left > 0);
        let after = measure(|| drop(framer));
        assert!(-after.left <= 128 * 1024, "{size}: {} bytes kept behind the event", -after.left);
    }
}

/// A further data line where the data is already as long as the limit: its line feed must not double the buffer.
#[test]
fn one_line_beyond_the_limit() {
    let further: [&[u8]; 3] = [b"data: y", b"data:", b"data: y\n"];
    for last in further {
        let mut framer = Framer::new(LIMIT);
        let pages = line(b"data: ", LIMIT / PAGE.len(), b"\n");
        let measured = measure(|| {
            feed(&mut framer, pages);
            feed(&mut framer, last.chunks(1));
        });
        assert!(measured.peak < THREE_LIMITS, "{} bytes held", measured.peak);
    }
}

/// The limit holds for all parts of a block together.
#[test]
fn every_part_of_a_block_at_once() {
    let parts: [&[u8]; 6] = [b"data: ", b"event: ", b"id: ", b"data: ", b": ", b"retry: "];
    for pages in [1, 20, 60, 127, 250] {
        let mut framer = Framer::new(LIMIT).show_ignored(true);
        let measured = measure(|| {
            for _ in 0..3 {
                for start in parts {
                    feed(&mut framer, line(start, pages, b"\n"));
                }
                feed(&mut framer, [&b"\n"[..]]);
            }
        });
        assert!(measured.peak < THREE_LIMITS, "{pages} pages a line: {} bytes held", measured.peak);
    }
}

/// Twice the event takes twice the copying at each size of the pieces.
#[test]
fn copying_grows_with_the_bytes() {
    for size in [1, 7, 100, 4096] {
        let copied = [1, 2, 4].map(|times| {
            let mut input = b"data: ".to_vec();
            input.resize(times * 300_000, b'x');
            input.extend_from_slice(b"\n\n");
            let mut framer = Framer::new(1 << 30);
            measure(|| assert_eq!(feed(&mut framer, input.chunks(size)), (1, 0))).total
        });
        // A buffer that doubles has allocated, all sizes together, less than four times what it holds.
        for (bytes, times) in copied.into_iter().zip([1, 2, 4]) {
            assert!(bytes < 4 * times * 300_000, "pieces of {size}, {times} times the event: {bytes} bytes allocated");
        }
    }
}

/// Many lines and many events: nothing piles up, and a stream without ids allocates nothing for a further event.
#[test]
fn a_long_stream_stays_where_it_is() {
    let block = b"event: e\ndata: one\ndata: two\n: comment\nfoo: bar\n\n";
    for size in [1, 5, block.len()] {
        let mut framer = Framer::new(LIMIT);
        feed(&mut framer, block.chunks(size));
        let measured = measure(|| {
            for _ in 0..1000 {
                feed(&mut framer, block.chunks(size));
            }
        });
        assert_eq!(measured.total, 0, "pieces of {size}");
    }
}
