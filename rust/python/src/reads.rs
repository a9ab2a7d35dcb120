//! The reads of one stream, pushed or pulled, and what the framer finds in them.
//!
//! A small read is framed step by step, as its events are asked for. A large one is framed ahead without the
//! interpreter, so that other threads run meanwhile: a bounded batch of places in the read at a time. Either way nothing
//! is copied, no list of results grows with the read, and signals are looked at after a bounded amount of work.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use memchr::memchr2;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyIterator};
use pyo3::{PyTraverseError, PyVisit};
use ssewire_core::{END_OF_INPUT, Framer};

use crate::alike::Alike;
use crate::buffer::to_bytes;
use crate::found::{Found, Place, frame_ahead, place};
use crate::turn::{Turn, interpreter_turn};

/// From so many bytes left in a read on, framing releases the interpreter: never for what comes from a socket, always
/// for large bodies held in memory. Framing runs at gigabytes a second, so that two threads gain nothing from a release
/// but in streams of very short lines; and beside a thread that computes without pause each release costs up to 5 ms,
/// the interpreter's switch interval, to get it back. From here on a release is for the other threads' sake: the
/// interpreter is never kept for longer than a slice takes.
/// Measured by `python -m benches.gil --save gil`, in `benches/results/gil.json`.
pub(crate) const DETACH_MIN: usize = SLICE;

/// So many bytes are framed at a time without the interpreter, in well below a millisecond.
const SLICE: usize = 1024 * 1024;

/// Signals are looked at and other threads let in when more was needed so many times, or behind 1 MiB of large reads.
const PATIENCE: usize = 32;

/// Bytes kept of the start of the body until its first event, to say what came instead of a stream: an error of a server
/// fits, with all its members.
const HEAD: usize = 65_536;

/// Whether more reads are to come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Open,
    /// The body has ended, and its last event was asked for.
    Finished,
    /// Nobody wants to know more of it.
    Stopped,
}

pub(crate) struct Reads {
    framer: Framer,
    /// At the end of the body its unfinished event is delivered; the standard drops it.
    deliver_last: bool,
    detach_min: usize,
    source: Option<Py<PyIterator>>,
    /// Nothing is asked of the source for now.
    pub(crate) resting: bool,
    pub(crate) turn: Turn,
    waiting: VecDeque<Py<PyBytes>>,
    /// When each of those that wait came; the end of the body comes at no time.
    waiting_since: VecDeque<Option<Duration>>,
    read: Option<Py<PyBytes>>,
    at: usize,
    /// Up to here the read is framed step by step although it is large.
    step_until: usize,
    ahead: VecDeque<Found>,
    /// So many times more was needed since the last turn of others; a large read counts as many.
    asked: usize,
    end: End,
    /// The first bytes of the body, until an event is found: those of the reads that were looked through.
    head: Option<Vec<u8>>,
    bytes_read: u64,
    /// When the stream began, where the times of its reads are taken: asking for the time takes longer than framing an
    /// event, and what lies in memory comes at no time.
    start: Option<Instant>,
    /// When the first byte came, since the start.
    first_byte: Option<Duration>,
    /// When the read that is looked into came, since the start, until somebody has taken note of it.
    pub(crate) came: Option<Duration>,
}

impl Reads {
    pub(crate) fn new(framer: Framer, deliver_last: bool, detach_min: usize) -> Self {
        Self {
            framer,
            deliver_last,
            detach_min,
            source: None,
            resting: false,
            turn: Turn::unlimited(),
            waiting: VecDeque::new(),
            waiting_since: VecDeque::new(),
            read: None,
            at: 0,
            step_until: 0,
            ahead: VecDeque::new(),
            asked: 0,
            end: End::Open,
            head: Some(Vec::new()),
            bytes_read: 0,
            start: None,
            first_byte: None,
            came: None,
        }
    }

    /// Take the time of each read from now on, or of none.
    pub(crate) fn take_times(&mut self, take: bool) {
        self.start = take.then(Instant::now);
    }

    /// From now on ask this iterator for the reads.
    pub(crate) fn pull_from(&mut self, source: Py<PyIterator>) {
        self.source = Some(source);
    }

    pub(crate) fn is_pulling(&self) -> bool {
        self.source.is_some()
    }

    pub(crate) fn feed(&mut self, read: Bound<'_, PyBytes>) {
        self.bytes_read += read.as_bytes().len() as u64;
        self.turn.spend(0);
        if self.end != End::Open {
            return;
        }
        let came = self.start.map(|start| start.elapsed());
        if self.first_byte.is_none() && self.bytes_read > 0 {
            self.first_byte = came;
        }
        self.queue(read.unbind(), came);
    }

    /// So many bytes the source has handed out.
    pub(crate) fn bytes_read(&self) -> u64 {
        self.bytes_read
    }

    /// When the first byte came, since the start.
    pub(crate) fn first_byte(&self) -> Option<Duration> {
        self.first_byte
    }

    #[inline]
    fn queue(&mut self, read: Py<PyBytes>, came: Option<Duration>) {
        if self.read.is_none() {
            self.begin(Some(read), came);
        } else {
            self.waiting.push_back(read);
            self.waiting_since.push_back(came);
        }
    }

    #[inline]
    fn begin(&mut self, read: Option<Py<PyBytes>>, came: Option<Duration>) {
        self.read = read;
        self.at = 0;
        self.step_until = 0;
        if came.is_some() {
            self.came = came;
        }
    }

    /// The body has ended.
    pub(crate) fn finish(&mut self, py: Python<'_>) {
        let end = std::mem::replace(&mut self.end, End::Finished);
        if end == End::Open && self.deliver_last {
            self.queue(PyBytes::new(py, END_OF_INPUT).unbind(), None);
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
        self.head.as_deref().unwrap_or_default()
    }

    pub(crate) fn reset(&mut self) {
        self.framer.reset();
        self.stop();
        self.end = End::Open;
        self.head = Some(Vec::new());
        self.bytes_read = 0;
        self.start = self.start.map(|_| Instant::now());
        self.first_byte = None;
    }

    /// Let go of the source, and of all that was read but not looked at.
    pub(crate) fn stop(&mut self) {
        self.source = None;
        self.waiting.clear();
        self.waiting_since.clear();
        self.ahead.clear();
        self.begin(None, None);
        self.came = None;
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

    /// Whether the framer stands where the last thing found does, and not further ahead in the read.
    #[inline]
    pub(crate) fn is_level(&self) -> bool {
        self.ahead.is_empty()
    }

    /// What is left of the read to be framed step by step, with the interpreter.
    #[inline]
    fn left<'a>(&self, read: &'a [u8]) -> Option<&'a [u8]> {
        let left = read.get(self.at..)?;
        if left.len() < self.detach_min { Some(left) } else { read.get(self.at..self.step_until) }
    }

    /// The data and the offset of the next event, where it is a plain one that lies whole in a small read. It is a short
    /// way of [`Reads::find`] for those who ask for nothing else.
    #[inline(always)]
    pub(crate) fn find_plain(&mut self, py: Python<'_>) -> Option<(&[u8], u64)> {
        self.find_plain_like(py, |line| memchr2(b'\n', b'\r', line))
    }

    /// The same of an event whose data the framer's reader recognises, see [`Framer::next_plain_like`].
    #[inline(always)]
    pub(crate) fn find_plain_like(
        &mut self,
        py: Python<'_>,
        recognise: impl FnOnce(&[u8]) -> Option<usize>,
    ) -> Option<(&[u8], u64)> {
        if !self.ahead.is_empty() || self.turn.is_over() {
            return None;
        }
        let mut left = self.left(self.read.as_ref()?.as_bytes(py))?;
        let length = left.len();
        let event = self.framer.next_plain_like(&mut left, recognise)?;
        let used = length - left.len();
        self.at += used;
        self.head = None;
        self.turn.spend(used);
        Some((event.data, event.offset))
    }

    /// The same of an event whose data is like that of earlier ones: its place.
    #[inline(always)]
    pub(crate) fn find_alike(&mut self, py: Python<'_>, alike: &mut Alike) -> Option<Place> {
        let (data, _) = self.find_plain_like(py, |line| alike.find(line))?;
        let (start, length) = (data.as_ptr().addr(), data.len());
        let read = self.read.as_ref()?.as_bytes(py);
        Some(Place::Read(start - read.as_ptr().addr(), length))
    }

    /// Find the next thing in the reads, asking the source for more where there is one; more is needed, too, when it is
    /// somebody else's turn. Gives nothing when there is a new read to look into, or more framed ahead: then the short
    /// way may be open again.
    pub(crate) fn find(&mut self, py: Python<'_>) -> PyResult<Option<Found>> {
        if self.turn.is_over() {
            return Ok(Some(Found::NeedMore));
        }
        let found = match self.ahead.pop_front() {
            Some(found) => found,
            None => match self.frame_next(py) {
                Found::NeedMore => return self.refill(py),
                found => found,
            },
        };
        if let Found::Event { data, .. } = found {
            self.head = None;
            self.turn.spend(self.data(py, data).len());
        } else {
            self.turn.spend(0);
        }
        Ok(Some(found).filter(|found| !matches!(found, Found::NeedMore)))
    }

    /// Frame one step of what is left of a small read.
    #[inline]
    fn frame_next(&mut self, py: Python<'_>) -> Found {
        let Some(read) = &self.read else { return Found::NeedMore };
        let bytes = read.as_bytes(py);
        let Some(left) = self.left(bytes).filter(|left| !left.is_empty()) else { return Found::NeedMore };
        let mut input = left;
        let found = place(bytes, self.framer.next(&mut input));
        let used = left.len() - input.len();
        self.at += used;
        self.turn.spend_bytes(used);
        found
    }

    /// Frame ahead in a large read, or go on to the next one; gives what is to be told where neither can be.
    fn refill(&mut self, py: Python<'_>) -> PyResult<Option<Found>> {
        self.let_others_run(py)?;
        if let Some(read) = &self.read {
            let bytes = read.as_bytes(py);
            let left = bytes.get(self.at..).unwrap_or_default();
            if !left.is_empty() {
                let slice = left.get(..SLICE).unwrap_or(left);
                let (framer, ahead) = (&mut self.framer, &mut self.ahead);
                let used = py.detach(|| frame_ahead(framer, ahead, bytes, slice));
                // A batch that had to end early would be followed by many like it: where events have names, or many
                // lines, the rest of the slice costs less with the interpreter than getting it back for each.
                self.step_until = self.at + slice.len();
                self.at += used;
                self.turn.spend_bytes(used);
                return Ok(None);
            }
            // What stands for the end of the body is no part of it, and comes last.
            if let Some(head) = self.head.as_mut().filter(|_| !(self.end == End::Finished && self.waiting.is_empty())) {
                head.extend_from_slice(bytes.get(..HEAD - head.len()).unwrap_or(bytes));
            }
            let next = self.waiting.pop_front();
            let came = if next.is_some() { self.waiting_since.pop_front().flatten() } else { None };
            self.begin(next, came);
            if self.read.is_some() {
                return Ok(None);
            }
        }
        if self.end != End::Open {
            return Ok(Some(Found::End));
        }
        let Some(source) = self.source.as_ref().filter(|_| !self.resting) else { return Ok(Some(Found::NeedMore)) };
        match source.bind(py).clone().next() {
            Some(read) => self.feed(to_bytes(&read?)?),
            None => self.finish(py),
        }
        Ok(None)
    }

    /// What was found has been copied: let go of it where the framer holds it, so that no large event is held twice.
    #[inline]
    pub(crate) fn release(&mut self) {
        if self.is_level() {
            self.framer.release();
        }
    }

    /// Where the source is no Python code, nor what takes the items (`"".join(texts)`), or where there are none to be handed
    /// out, this may go on for long or for ever: Ctrl-C must end it, and other threads have their turns.
    #[inline]
    fn let_others_run(&mut self, py: Python<'_>) -> PyResult<()> {
        // The read was worked through up to `at`.
        self.asked += 1 + self.at.min(SLICE) / (SLICE / PATIENCE);
        if self.asked < PATIENCE {
            return Ok(());
        }
        self.asked = 0;
        interpreter_turn(py)
    }
}
