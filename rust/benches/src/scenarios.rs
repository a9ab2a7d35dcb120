//! The streams that are read, and the reads they arrive in.
//!
//! Chat is our own, also with the line ends that some providers send; the other four are the scenarios that the crate
//! `sse-core` publishes, in the shapes of its own benchmark: sizes, fields and reads.

use std::fmt::Write as _;

use bytes::Bytes;

/// A stream, and the reads it is measured in.
#[derive(Debug)]
pub struct Scenario {
    /// Its name in tables and files.
    pub name: &'static str,
    /// The whole stream.
    pub body: Bytes,
    /// Its blocks, each ended by a blank line; of keep-alives none is an event.
    pub blocks: usize,
    /// What it is cut to.
    pub reads: &'static [Reads],
}

/// How a stream is cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reads {
    /// All at once.
    Whole,
    /// So many bytes each.
    Bytes(usize),
    /// Each read ends behind a blank line.
    Event,
}

impl Reads {
    /// Its name in tables and files.
    #[must_use]
    pub fn name(self) -> String {
        match self {
            Self::Whole => "whole".to_owned(),
            Self::Bytes(4096) => "4k".to_owned(),
            Self::Bytes(size) => size.to_string(),
            Self::Event => "event".to_owned(),
        }
    }

    /// The reads of a name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "whole" => Some(Self::Whole),
            "event" => Some(Self::Event),
            "4k" => Some(Self::Bytes(4096)),
            _ => name.parse().ok().filter(|size| *size > 0).map(Self::Bytes),
        }
    }

    /// Cut a stream.
    #[must_use]
    pub fn cut(self, body: &Bytes) -> Vec<Bytes> {
        let size = match self {
            Self::Whole => body.len(),
            Self::Bytes(size) => size,
            Self::Event => return blocks(body),
        };
        body.chunks(size).map(|read| body.slice_ref(read)).collect()
    }
}

fn blocks(body: &Bytes) -> Vec<Bytes> {
    let mut before = 0;
    body.split_inclusive(|byte| {
        let blank = *byte == b'\n' && before == b'\n';
        before = *byte;
        blank
    })
    .map(|read| body.slice_ref(read))
    .collect()
}

/// Make them all.
#[must_use]
pub fn all() -> Vec<Scenario> {
    let scenario = |name, body: String, blocks, reads| Scenario { name, body: Bytes::from(body), blocks, reads };
    vec![
        scenario("chat", chat(20_000), 20_001, &[Reads::Whole, Reads::Bytes(4096), Reads::Event]),
        scenario("chat-crlf", chat(20_000).replace('\n', "\r\n"), 20_001, &[Reads::Bytes(4096)]),
        scenario("large", all_fields(64, 40_000), 64, &[Reads::Whole, Reads::Bytes(4096), Reads::Bytes(1460)]),
        scenario("small", "data: {\"t\":\"a\"}\n\n".repeat(100_000), 100_000, &[Reads::Bytes(1460)]),
        scenario("keep-alives", ": keepalive\n\n".repeat(200_000), 200_000, &[Reads::Bytes(1460)]),
        scenario("fragments", all_fields(256, 4096), 256, &[Reads::Bytes(10)]),
    ]
}

/// A chat stream as model servers send it: events of about 240 bytes, text that varies in length.
fn chat(events: u32) -> String {
    let words =
        ["lantern", " harbour", " of", " quiet", " gulls", "\\n\\n", " before", " caf\u{e9}", " a", " tomorrow"];
    let mut body = String::new();
    for (number, word) in (0..events).zip(words.iter().cycle()) {
        let _ = write!(
            body,
            "data: {{\"id\":\"chatcmpl-ffa2c349049c0a738124db51564a954f\",\"object\":\"chat.completion.chunk\",\
             \"created\":1764500000,\"model\":\"harbour/lantern-8b-instruct\",\"choices\":[{{\"index\":0,\
             \"delta\":{{\"content\":\"{word}{}\"}},\"logprobs\":null,\"finish_reason\":null}}]}}\n\n",
            number % 10
        );
    }
    body + "data: [DONE]\n\n"
}

/// Events with every field, their data of `size` bytes and a few.
fn all_fields(events: u32, size: usize) -> String {
    let data = "word".repeat(size / 4);
    (0..events).fold(String::new(), |mut body, number| {
        let _ = write!(body, "retry:3000\nid: {number}\nevent: message\ndata: payload data: {data}\n\n");
        body
    })
}
