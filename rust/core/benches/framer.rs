//! The framer beside the crate `sse-core`, on the same bytes in the same reads; what comes out is compared before any
//! timing. `cargo bench -p ssewire-core`.
//!
//! Three rows each: `ssewire` hands out borrowed bytes, as its API does; `ssewire_text` makes of each event the
//! `String` that `sse_core` always makes, so that the two are equal in work as well as in result.

use std::fmt::Write as _;
use std::hint::black_box;
use std::time::Duration;

use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main, measurement::WallTime};
use sse_core::{SseDecoder, SseEvent};
use ssewire_core::{DEFAULT_MAX_EVENT_SIZE, Framer, Step};

/// A stream and the size of its reads.
struct Case {
    name: &'static str,
    body: Vec<u8>,
    reads: Reads,
}

#[derive(Clone, Copy)]
enum Reads {
    Whole,
    Bytes(usize),
    /// Each read ends behind a blank line.
    Event,
}

impl Case {
    fn new(name: &'static str, body: String, reads: Reads) -> Self {
        Self { name, body: body.into_bytes(), reads }
    }

    fn cut(&self) -> Vec<&[u8]> {
        match self.reads {
            Reads::Whole => vec![&self.body],
            Reads::Bytes(size) => self.body.chunks(size).collect(),
            Reads::Event => {
                let mut before = 0;
                self.body
                    .split_inclusive(|byte| {
                        let blank = *byte == b'\n' && before == b'\n';
                        before = *byte;
                        blank
                    })
                    .collect()
            }
        }
    }
}

/// A chat stream as model servers send it: 20,000 events of about 240 bytes, text that varies in length.
fn chat() -> String {
    let words =
        ["lantern", " harbour", " of", " quiet", " gulls", "\\n\\n", " before", " caf\u{e9}", " a", " tomorrow"];
    let mut body = String::new();
    for (number, word) in (0..20_000_u32).zip(words.iter().cycle()) {
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

/// Events with every field, their data of `size` bytes.
fn all_fields(events: u32, size: usize) -> String {
    let data = "word".repeat(size / 4);
    (0..events).fold(String::new(), |mut body, number| {
        let _ = write!(body, "retry:3000\nid: {number}\nevent: message\ndata: {data}\n\n");
        body
    })
}

fn cases() -> Vec<Case> {
    vec![
        Case::new("chat/whole", chat(), Reads::Whole),
        Case::new("chat/4k", chat(), Reads::Bytes(4096)),
        Case::new("chat/event", chat(), Reads::Event),
        Case::new("large_40k/whole", all_fields(64, 40_000), Reads::Whole),
        Case::new("large_40k/4k", all_fields(64, 40_000), Reads::Bytes(4096)),
        Case::new("large_40k/1460", all_fields(64, 40_000), Reads::Bytes(1460)),
        Case::new("small_9/1460", "data: x\n\n".repeat(50_000), Reads::Bytes(1460)),
        Case::new("keep_alive/1460", ": keep-alive\n\n".repeat(50_000), Reads::Bytes(1460)),
        Case::new("fragments_10/4k_events", all_fields(64, 4096), Reads::Bytes(10)),
    ]
}

fn ssewire(reads: &[&[u8]], mut sink: impl FnMut(&[u8])) {
    let mut framer = Framer::new(DEFAULT_MAX_EVENT_SIZE);
    for read in reads {
        let mut input = *read;
        loop {
            match framer.next(&mut input) {
                Step::NeedMore => break,
                Step::Event(event) => sink(event.data),
                Step::Ignored(_) | Step::TooLarge(_) => {}
            }
        }
    }
}

fn sse_core(reads: &[&[u8]], mut sink: impl FnMut(String)) {
    let mut decoder = SseDecoder::new();
    for read in reads {
        let mut input = *read;
        while let Some(event) = decoder.next(&mut input) {
            if let Ok(SseEvent::Message(message)) = event {
                sink(message.data);
            }
        }
    }
}

/// The same steps as in `sse_core`: the fast validation first, the slow one with replacement only where it fails.
fn text(data: &[u8]) -> String {
    String::from_utf8(data.to_vec()).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

fn compare(group: &mut BenchmarkGroup<'_, WallTime>, case: &Case) {
    let reads = case.cut();
    let (mut ours, mut theirs) = (Vec::new(), Vec::new());
    ssewire(&reads, |data| ours.push(text(data)));
    sse_core(&reads, |data| theirs.push(data));
    assert!(ours == theirs, "{}: the two parsers differ", case.name);

    group.throughput(Throughput::Bytes(case.body.len() as u64));
    group.bench_function("ssewire", |b| {
        b.iter(|| ssewire(&reads, |data| _ = black_box(data)));
    });
    group.bench_function("ssewire_text", |b| {
        b.iter(|| ssewire(&reads, |data| _ = black_box(text(data))));
    });
    group.bench_function("sse_core", |b| {
        b.iter(|| sse_core(&reads, |data| _ = black_box(data)));
    });
}

fn framer(criterion: &mut Criterion) {
    for case in cases() {
        let mut group = criterion.benchmark_group(case.name);
        group.warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(2)).sample_size(40);
        compare(&mut group, &case);
        group.finish();
    }
}

criterion_group!(benches, framer);
criterion_main!(benches);
