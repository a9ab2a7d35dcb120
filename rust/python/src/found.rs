//! What the framer finds in a read, told without borrowing: places in the read, or that the framer holds it.

use std::collections::VecDeque;

use ssewire_core::{Event, Framer, Ignored, Step, TooLarge};

use crate::in_force::same;

/// So many events are framed ahead: a slice of usual ones, in 200 KB.
const AHEAD: usize = 4096;

/// Where some bytes stand.
#[derive(Clone, Copy)]
pub(crate) enum Place {
    /// In the read: start and length.
    Read(usize, usize),
    /// In the framer, until it is asked for the next step.
    Held,
}

/// A [`Step`] that borrows nothing.
#[derive(Clone, Copy)]
pub(crate) enum Found {
    /// All reads are used up, and there is no source to ask for more.
    NeedMore,
    /// The body has ended, and so has what it held.
    End,
    Event {
        data: Place,
        /// It has no name and no retry, and no id is in force. Only behind such events is anything framed ahead.
        bare: bool,
        offset: u64,
    },
    Ignored {
        line: Place,
        comment: bool,
        in_event: bool,
        offset: u64,
    },
    TooLarge(TooLarge),
}

/// Frame a slice of the read, up to the first thing that the framer still holds or that changes what is in force; gives
/// the number of bytes used.
pub(crate) fn frame_ahead(framer: &mut Framer, ahead: &mut VecDeque<Found>, bytes: &[u8], slice: &[u8]) -> usize {
    let mut input = slice;
    let (retry, id) = (framer.retry(), framer.last_event_id().to_vec());
    while ahead.len() < AHEAD {
        let found = place(bytes, framer.next(&mut input));
        let changes = framer.retry() != retry || !same(framer.last_event_id(), &id);
        let held = matches!(
            found,
            Found::Event { bare: false, .. }
                | Found::Event { data: Place::Held, .. }
                | Found::Ignored { line: Place::Held, .. }
        );
        let end = matches!(found, Found::NeedMore);
        // A change behind the last event must not show before that is handed out, so the end is kept as a step then.
        if !end || changes {
            ahead.push_back(found);
        }
        if end || held || changes {
            break;
        }
    }
    slice.len() - input.len()
}

#[inline]
pub(crate) fn place(read: &[u8], step: Step<'_>) -> Found {
    match step {
        Step::NeedMore => Found::NeedMore,
        Step::Event(Event { data, name, id, retry, offset }) => {
            let bare = name.is_empty() && id.is_empty() && retry.is_none();
            Found::Event { data: place_of(read, data), bare, offset }
        }
        Step::Ignored(Ignored { line, comment, in_event, offset }) => {
            Found::Ignored { line: place_of(read, line), comment, in_event, offset }
        }
        Step::TooLarge(found) => Found::TooLarge(found),
    }
}

#[inline]
fn place_of(read: &[u8], part: &[u8]) -> Place {
    let start = (part.as_ptr().addr()).wrapping_sub(read.as_ptr().addr());
    if start.checked_add(part.len()).is_some_and(|end| end <= read.len()) {
        Place::Read(start, part.len())
    } else {
        Place::Held
    }
}
