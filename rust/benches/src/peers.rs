//! Each parser behind one adapter, called as its users call it; the asynchronous ones over a stream in memory that is
//! always ready.
//!
//! `ssewire` hands out borrowed bytes, as its API does. `ssewire-text` makes of each event the `String` that all others
//! make, so that it is equal to them in work as well as in result. `sse-core` is that crate's decoder without a stream
//! around it, `sse-core-stream` the one with which it publishes its figures.

use std::convert::Infallible;
use std::hint::black_box;

use bytes::Bytes;
use eventsource_stream::Eventsource;
use futures::{Stream, StreamExt, executor::block_on, stream};
use sha2::{Digest, Sha256};
use sse_core::{SseDecoder, SseEvent};
use ssewire_core::{DEFAULT_MAX_EVENT_SIZE, Framer, Step};

/// A parser, ready to be compared and timed.
#[derive(Debug, Clone, Copy)]
pub struct Peer {
    /// Its name in tables and files.
    pub name: &'static str,
    /// Read the stream and let every event go.
    pub run: fn(&[Bytes]),
    /// Read the stream and tell what was in it.
    pub check: fn(&[Bytes]) -> Output,
}

/// What a parser found: equal for all of them.
#[derive(Debug, PartialEq, Eq)]
pub struct Output {
    /// How many events had data.
    pub events: usize,
    /// SHA-256 of the data of all events, each behind its length in four bytes, little-endian.
    pub digest: String,
}

/// All of them, ours first.
pub const PEERS: &[Peer] = &[
    peer::<Ssewire>(),
    peer::<SsewireText>(),
    peer::<SseCore>(),
    peer::<SseCoreStream>(),
    peer::<SseStream>(),
    peer::<SseParse>(),
    peer::<EventsourceStream>(),
];

trait Parser {
    const NAME: &'static str;

    fn read(reads: &[Bytes], sink: impl FnMut(&[u8]));
}

const fn peer<P: Parser>() -> Peer {
    Peer { name: P::NAME, run: |reads| P::read(reads, |data| _ = black_box(data)), check: check::<P> }
}

fn check<P: Parser>(reads: &[Bytes]) -> Output {
    let mut events = 0;
    let mut hash = Sha256::new();
    P::read(reads, |data| {
        events += 1;
        hash.update(u32::try_from(data.len()).unwrap_or(u32::MAX).to_le_bytes());
        hash.update(data);
    });
    Output { events, digest: format!("{:x}", hash.finalize()) }
}

/// A response body as an asynchronous client gives it.
fn body(reads: &[Bytes]) -> impl Stream<Item = Result<Bytes, Infallible>> + Unpin {
    stream::iter(reads.iter().cloned().map(Ok))
}

struct Ssewire;

impl Parser for Ssewire {
    const NAME: &'static str = "ssewire";

    fn read(reads: &[Bytes], mut sink: impl FnMut(&[u8])) {
        let mut framer = Framer::new(DEFAULT_MAX_EVENT_SIZE);
        for read in reads {
            let mut input = &read[..];
            loop {
                match framer.next(&mut input) {
                    Step::NeedMore => break,
                    Step::Event(event) => sink(event.data),
                    Step::Ignored(_) | Step::TooLarge(_) => {}
                }
            }
        }
    }
}

struct SsewireText;

impl Parser for SsewireText {
    const NAME: &'static str = "ssewire-text";

    fn read(reads: &[Bytes], mut sink: impl FnMut(&[u8])) {
        Ssewire::read(reads, |data| sink(text(data).as_bytes()));
    }
}

/// Validated where it lies and copied once; what is no UTF-8 is replaced, as the standard asks.
fn text(data: &[u8]) -> String {
    simdutf8::basic::from_utf8(data).map_or_else(|_| String::from_utf8_lossy(data).into_owned(), str::to_owned)
}

struct SseCore;

impl Parser for SseCore {
    const NAME: &'static str = "sse-core";

    fn read(reads: &[Bytes], mut sink: impl FnMut(&[u8])) {
        let mut decoder = SseDecoder::new();
        for read in reads {
            let mut input = &read[..];
            while let Some(event) = decoder.next(&mut input) {
                if let Ok(SseEvent::Message(message)) = event {
                    sink(message.data.as_bytes());
                }
            }
        }
    }
}

struct SseCoreStream;

impl Parser for SseCoreStream {
    const NAME: &'static str = "sse-core-stream";

    fn read(reads: &[Bytes], mut sink: impl FnMut(&[u8])) {
        let mut events = sse_core::SseStream::new(body(reads));
        block_on(async {
            while let Some(event) = events.next().await {
                if let Ok(SseEvent::Message(message)) = event {
                    sink(message.data.as_bytes());
                }
            }
        });
    }
}

struct SseStream;

impl Parser for SseStream {
    const NAME: &'static str = "sse-stream";

    fn read(reads: &[Bytes], mut sink: impl FnMut(&[u8])) {
        let mut events = sse_stream::SseByteStream::new(body(reads));
        block_on(async {
            while let Some(Ok(event)) = events.next().await {
                if let Some(data) = event.data {
                    sink(data.as_bytes());
                }
            }
        });
    }
}

struct SseParse;

impl Parser for SseParse {
    const NAME: &'static str = "sse-parse";

    fn read(reads: &[Bytes], mut sink: impl FnMut(&[u8])) {
        let mut parser = sse_parse::SseParser::new();
        for read in reads {
            parser.feed(read);
            while let Some(event) = parser.next_event() {
                sink(event.data.as_bytes());
            }
        }
    }
}

struct EventsourceStream;

impl Parser for EventsourceStream {
    const NAME: &'static str = "eventsource-stream";

    fn read(reads: &[Bytes], mut sink: impl FnMut(&[u8])) {
        let mut events = body(reads).eventsource();
        block_on(async {
            while let Some(Ok(event)) = events.next().await {
                sink(event.data.as_bytes());
            }
        });
    }
}
