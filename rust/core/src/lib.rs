//! An incremental parser for the event-stream format of the HTML standard, section 9.2 "Server-sent events".
//!
//! Bytes go in as they arrive, events come out as soon as they are complete:
//!
//! ```
//! use ssewire_core::{Framer, Step, DEFAULT_MAX_EVENT_SIZE};
//!
//! let mut framer = Framer::new(DEFAULT_MAX_EVENT_SIZE);
//! let mut seen = Vec::new();
//! for read in [&b"data: he"[..], b"llo\n", b"\ndata: [DONE]\n\n"] {
//!     let mut input = read;
//!     loop {
//!         match framer.next(&mut input) {
//!             Step::NeedMore => break,
//!             Step::Event(event) => seen.push((event.data.to_vec(), event.is_done())),
//!             Step::Ignored(_) | Step::TooLarge(_) => {}
//!         }
//!     }
//! }
//! assert_eq!(seen, [(b"hello".to_vec(), false), (b"[DONE]".to_vec(), true)]);
//! ```
//!
//! The crate knows bytes and nothing else: no text, no JSON, no sockets, no clock, no threads, no unsafe code.
//! How the bytes were cut into reads never changes what comes out.

#![forbid(unsafe_code)]

mod buffer;
mod field;
mod framer;
mod line;
mod step;

pub use framer::{DEFAULT_MAX_EVENT_SIZE, END_OF_INPUT, Framer};
pub use step::{DONE, Event, Ignored, Step, TooLarge, is_done};
