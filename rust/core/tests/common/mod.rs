//! What the integration tests share: the twin, and a reader that feeds the framer in given pieces.

pub(crate) mod twin;

use ssewire_core::{Framer, Step};
use twin::{Outcome, Seen};

/// A limit that no test input reaches.
pub(crate) const UNLIMITED: usize = 1 << 30;

/// Feed one read and add what comes out to `steps`.
pub(crate) fn feed(framer: &mut Framer, read: &[u8], steps: &mut Vec<Seen>) {
    let mut input = read;
    loop {
        steps.push(match framer.next(&mut input) {
            Step::NeedMore => break,
            Step::Event(event) => Seen::Event {
                data: event.data.to_vec(),
                name: event.name.to_vec(),
                id: event.id.to_vec(),
                retry: event.retry,
                offset: event.offset,
            },
            Step::Ignored(ignored) => Seen::Ignored {
                line: ignored.line.to_vec(),
                comment: ignored.comment,
                in_event: ignored.in_event,
                offset: ignored.offset,
            },
            Step::TooLarge(too_large) => Seen::TooLarge { offset: too_large.offset },
        });
    }
    assert!(input.is_empty(), "{} bytes of the read were left behind", input.len());
}

/// What is to be compared of a framer, after `steps` came out of it.
pub(crate) fn outcome(framer: &Framer, steps: Vec<Seen>) -> Outcome {
    Outcome {
        steps,
        last_event_id: framer.last_event_id().to_vec(),
        retry: framer.retry(),
        comments: framer.comments(),
        offset: framer.offset(),
    }
}

/// Feed a new framer read by read.
pub(crate) fn frame<'r>(reads: impl IntoIterator<Item = &'r [u8]>, limit: usize, show_ignored: bool) -> Outcome {
    let mut framer = Framer::new(limit).show_ignored(show_ignored);
    let mut steps = Vec::new();
    for read in reads {
        feed(&mut framer, read, &mut steps);
    }
    outcome(&framer, steps)
}

/// Cut an input at the given places, in any order; the same place twice makes an empty read.
pub(crate) fn cut<'i>(input: &'i [u8], places: &[usize]) -> Vec<&'i [u8]> {
    let mut places: Vec<usize> = places.iter().map(|place| place % (input.len() + 1)).collect();
    places.sort_unstable();
    let mut rest = input;
    let mut taken = 0;
    let mut reads = Vec::with_capacity(places.len() + 1);
    for place in places {
        let (read, tail) = rest.split_at(place - taken);
        reads.push(read);
        rest = tail;
        taken = place;
    }
    reads.push(rest);
    reads
}
