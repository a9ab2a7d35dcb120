//! The reads of one stream, pushed or pulled, and what the framer finds in them.
//!
//! A small read is framed step by step, as its events are asked for. A large one is framed ahead without the
//! interpreter, so that other threads run meanwhile: a bounded batch of places in the read at a time, with a look at
//! the signals between two slices. Either way nothing is copied, and no list of results grows with the read.

use std::collections::VecDeque;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyIterator};
use pyo3::{PyTraverseError, PyVisit};
use ssewire_core::{END_OF_INPUT, Event, Framer, Ignored, Step, TooLarge};

use crate::buffer::to_bytes;

/// From so many bytes left in a read on, framing releases the interpreter: never for what comes from a socket, always
/// for large bodies held in memory. Framing runs at gigabytes a second, so that two threads gain nothing from a release
/// but in streams of very short lines; and beside a thread that computes without pause each release costs up to 5 ms,
/// the interpreter's switch interval, to get it back. From here on a release is for the other threads' sake: the
/// interpreter is never kept for longer than a slice takes.
/// Measured by `python -m benches.gil --save gil`, in `benches/results/gil.json`.
pub(crate) const DETACH_MIN: usize = SLICE;

/// So many bytes are framed between two looks at the signals: well below a millisecond.
const SLICE: usize = 1024 * 1024;

/// So many events are framed ahead: a slice of usual ones, in 200 KB.
const AHEAD: usize = 4096;

/// Bytes kept of the start of the body until its first event, to say what came instead of a stream.
const HEAD: usize = 4096;

/// Whether more reads are to come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Open,
    /// The body has ended, and its last event was asked for.
    Finished,
    /// Nobody wants to know more of it.
    Stopped,
}

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

pub(crate) struct Reads {
    framer: Framer,
    /// At the end of the body its unfinished event is delivered; the standard drops it.
    deliver_last: bool,
    detach_min: usize,
    source: Option<Py<PyIterator>>,
    waiting: VecDeque<Py<PyBytes>>,
    read: Option<Py<PyBytes>>,
    at: usize,
    ahead: VecDeque<Found>,
    end: End,
    head: Vec<u8>,
    /// No event was seen yet.
    before_first: bool,
}

impl Reads {
    pub(crate) fn new(framer: Framer, deliver_last: bool, detach_min: usize) -> Self {
        Self {
            framer,
            deliver_last,
            detach_min,
            source: None,
            waiting: VecDeque::new(),
            read: None,
            at: 0,
            ahead: VecDeque::new(),
            end: End::Open,
            head: Vec::new(),
            before_first: true,
        }
    }

    /// From now on ask this iterator for the reads.
    pub(crate) fn pull_from(&mut self, source: Py<PyIterator>) {
        self.source = Some(source);
    }

    pub(crate) fn is_pulling(&self) -> bool {
        self.source.is_some()
    }

    pub(crate) fn feed(&mut self, read: Bound<'_, PyBytes>) {
        if self.end != End::Open {
            return;
        }
        if self.before_first && self.head.len() < HEAD {
            let data = read.as_bytes();
            self.head.extend_from_slice(data.get(..HEAD - self.head.len()).unwrap_or(data));
        }
        self.queue(read.unbind());
    }

    fn queue(&mut self, read: Py<PyBytes>) {
        if self.read.is_none() {
            self.read = Some(read);
            self.at = 0;
        } else {
            self.waiting.push_back(read);
        }
    }

    /// The body has ended.
    pub(crate) fn finish(&mut self, py: Python<'_>) {
        let end = std::mem::replace(&mut self.end, End::Finished);
        if end == End::Open && self.deliver_last {
            self.queue(PyBytes::new(py, END_OF_INPUT).unbind());
        }
    }

    /// Whether the end of the body was told, so that nothing can be fed any more.
    pub(crate) fn is_finished(&self) -> bool {
        self.end == End::Finished
    }

    /// Whether at the end of the body its unfinished event is delivered.
    pub(crate) fn deliver_last(&mut self, deliver: bool) {
        self.deliver_last = deliver;
    }

    /// Whether what was found last is complete only because the body has ended.
    pub(crate) fn is_cut(&self, py: Python<'_>) -> bool {
        let last = self.read.as_ref().filter(|_| self.end == End::Finished && self.waiting.is_empty());
        last.is_some_and(|read| read.as_bytes(py) == END_OF_INPUT)
    }

    pub(crate) fn framer(&self) -> &Framer {
        &self.framer
    }

    /// The first bytes of a body that had no event so far.
    pub(crate) fn head(&self) -> &[u8] {
        &self.head
    }

    pub(crate) fn reset(&mut self) {
        self.framer.reset();
        self.stop();
        self.end = End::Open;
        self.before_first = true;
        self.head = Vec::new();
    }

    /// Let go of the source, and of all that was read but not looked at.
    pub(crate) fn stop(&mut self) {
        self.source = None;
        self.waiting.clear();
        self.ahead.clear();
        self.read = None;
        self.at = 0;
        if self.end == End::Open {
            self.end = End::Stopped;
        }
    }

    pub(crate) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.source)
    }

    /// Look the bytes of a place up. They are there until the next call of [`Reads::find`].
    pub(crate) fn bytes<'a>(&'a self, py: Python<'_>, place: Place, held: &'a [u8]) -> &'a [u8] {
        match (place, &self.read) {
            (Place::Read(start, length), Some(read)) => {
                read.as_bytes(py).get(start..start + length).unwrap_or_default()
            }
            _ => held,
        }
    }

    /// The name, the id in force and the retry of an event that was just found. The framer may be further already, but
    /// only behind bare events.
    #[inline]
    pub(crate) fn fields(&self, bare: bool) -> (&[u8], &[u8], Option<u64>) {
        if bare {
            return (b"", b"", None);
        }
        (self.framer.name(), self.framer.last_event_id(), self.framer.block_retry())
    }

    /// The data of an event that was just found.
    #[inline]
    pub(crate) fn data<'a>(&'a self, py: Python<'_>, place: Place) -> &'a [u8] {
        self.bytes(py, place, self.framer.data())
    }

    /// The data and the offset of the next event, where it is a plain one that lies whole in a small read. It is a short
    /// way of [`Reads::find`] for those who ask for nothing else.
    #[inline]
    pub(crate) fn find_plain(&mut self, py: Python<'_>) -> Option<(&[u8], u64)> {
        if !self.ahead.is_empty() {
            return None;
        }
        let mut left = self.read.as_ref()?.as_bytes(py).get(self.at..)?;
        let length = left.len();
        if length >= self.detach_min {
            return None;
        }
        let event = self.framer.next_plain(&mut left)?;
        self.at += length - left.len();
        Some((event.data, event.offset))
    }

    /// Find the next thing in the reads, asking the source for more where there is one. Gives nothing when there is a
    /// new read to look into, or more framed ahead: then the short way may be open again.
    pub(crate) fn find(&mut self, py: Python<'_>) -> PyResult<Option<Found>> {
        if let Some(found) = self.ahead.pop_front() {
            return Ok(Some(found));
        }
        let found = self.frame_next(py);
        if matches!(found, Found::NeedMore) { self.refill(py) } else { Ok(Some(found)) }
    }

    /// Frame one step of what is left of a small read.
    #[inline]
    fn frame_next(&mut self, py: Python<'_>) -> Found {
        let Some(read) = &self.read else { return Found::NeedMore };
        let bytes = read.as_bytes(py);
        let Some(left) = bytes.get(self.at..) else { return Found::NeedMore };
        if left.is_empty() || left.len() >= self.detach_min {
            return Found::NeedMore;
        }
        let mut input = left;
        let found = place(bytes, self.framer.next(&mut input));
        self.at += left.len() - input.len();
        found
    }

    /// Frame ahead in a large read, or go on to the next one; gives what is to be told where neither can be.
    fn refill(&mut self, py: Python<'_>) -> PyResult<Option<Found>> {
        if let Some(read) = &self.read {
            let bytes = read.as_bytes(py);
            let left = bytes.get(self.at..).unwrap_or_default();
            if !left.is_empty() {
                py.check_signals()?;
                let left = left.get(..SLICE).unwrap_or(left);
                let (framer, ahead) = (&mut self.framer, &mut self.ahead);
                self.at += py.detach(|| frame_ahead(framer, ahead, bytes, left));
                return Ok(None);
            }
            self.read = self.waiting.pop_front();
            self.at = 0;
            if self.read.is_some() {
                return Ok(None);
            }
        }
        if self.end != End::Open {
            return Ok(Some(Found::End));
        }
        let Some(source) = &self.source else { return Ok(Some(Found::NeedMore)) };
        match source.bind(py).clone().next() {
            Some(read) => self.feed(to_bytes(&read?)?),
            None => self.finish(py),
        }
        Ok(None)
    }

    /// An event was found: the start of the body is of no interest any more.
    #[inline]
    pub(crate) fn forget_head(&mut self) {
        if self.before_first {
            self.before_first = false;
            self.head = Vec::new();
        }
    }
}

/// Frame a slice of the read, up to the first thing that the framer still holds; gives the number of bytes used.
fn frame_ahead(framer: &mut Framer, ahead: &mut VecDeque<Found>, bytes: &[u8], slice: &[u8]) -> usize {
    let mut input = slice;
    while ahead.len() < AHEAD {
        let found = match framer.next(&mut input) {
            Step::NeedMore => break,
            step => place(bytes, step),
        };
        // What only the framer knows is lost with its next step.
        let held = matches!(
            found,
            Found::Event { bare: false, .. }
                | Found::Event { data: Place::Held, .. }
                | Found::Ignored { line: Place::Held, .. }
        );
        ahead.push_back(found);
        if held {
            break;
        }
    }
    slice.len() - input.len()
}

#[inline]
fn place(read: &[u8], step: Step<'_>) -> Found {
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
