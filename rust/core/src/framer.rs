//! The push parser: a read goes in, steps come out.
//!
//! A line that lies whole in the read is looked at in place, and the data of an event with a single data line is
//! handed out as a slice of the read. Only what a read leaves unfinished is copied: the value of a data line goes
//! straight to `data`, the beginning of any other line to `line`. Each byte is searched for a line end twice at the most
//! (by a fast path, and where that gives up, by the general one), and copied once at the most, so the work grows with
//! the bytes however they are cut.
//!
//! To change this file: the decoder in `tests/common/twin.rs` says the same in the standard's own words, and the tests
//! compare the two on every cut of every input they have.

mod block;
mod unfinished;
mod whole;

use memchr::memchr2;

use crate::field::data_value;
use crate::line::split_line;
use crate::step::{Event, Ignored, Step};
use unfinished::Unfinished;

/// The default limit of one event: 32 MiB. The largest event met in recorded streams is an image of 1.9 MB.
pub const DEFAULT_MAX_EVENT_SIZE: usize = 32 * 1024 * 1024;

/// Bytes which, fed as a last read, complete an unfinished line and an unfinished block: the end of input for a reader
/// that wants the pending event delivered. (Three, because the first may be the second half of a CR LF.)
/// The standard itself drops it: then feed nothing.
pub const END_OF_INPUT: &[u8] = b"\n\n\n";

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// An incremental parser of one event stream (HTML standard, 9.2.5 "Parsing an event stream" and 9.2.6 "Interpreting
/// an event stream").
#[derive(Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts, not the states of one machine")]
pub struct Framer {
    limit: usize,
    show_ignored: bool,
    /// Bytes read so far.
    offset: u64,
    /// Comments read so far, shown or not.
    comments: u64,
    /// The last byte read was CR: an LF right after it belongs to the same line end.
    after_cr: bool,
    /// The first line is still to come or unfinished; a byte-order mark before it is dropped.
    first_line: bool,

    /// What an earlier read has left unfinished.
    unfinished: Unfinished,
    /// Where the unfinished line begins.
    line_offset: u64,
    /// The beginning of the unfinished line, where it is no data line.
    line: Vec<u8>,

    /// The current block outgrew the limit: it is dropped up to its blank line.
    dropping: bool,
    has_data: bool,
    /// The data was joined of several lines.
    joined: bool,
    data: Vec<u8>,
    data_offset: u64,
    name: Vec<u8>,
    /// The id in the current block, not in force before its blank line.
    id: Option<Vec<u8>>,
    block_retry: Option<u64>,
    last_id: Vec<u8>,
    retry: Option<u64>,
    /// The next event may take the fast path.
    at_rest: bool,
    /// The buffers hold what the last step borrowed; they are emptied when the next one begins.
    handed_out: HandedOut,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum HandedOut {
    Nothing,
    Event,
    Line,
}

/// What became of a whole line.
enum Line {
    Taken,
    Ignored { comment: bool },
    TooLarge,
}

impl Framer {
    /// A framer at the start of a stream.
    ///
    /// `max_event_size` limits in bytes what is held of one block: its data, event name and id, and the line that is
    /// being read. One byte more gives [`Step::TooLarge`].
    #[must_use]
    pub fn new(max_event_size: usize) -> Self {
        Self {
            limit: max_event_size,
            show_ignored: false,
            offset: 0,
            comments: 0,
            after_cr: false,
            first_line: true,
            unfinished: Unfinished::Nothing,
            line_offset: 0,
            line: Vec::new(),
            dropping: false,
            has_data: false,
            joined: false,
            data: Vec::new(),
            data_offset: 0,
            name: Vec::new(),
            id: None,
            block_retry: None,
            last_id: Vec::new(),
            retry: None,
            at_rest: false,
            handed_out: HandedOut::Nothing,
        }
    }

    /// Also give comments and lines of unknown fields, as [`Step::Ignored`].
    #[must_use]
    pub fn show_ignored(mut self, show: bool) -> Self {
        self.show_ignored = show;
        self
    }

    /// Back to the start of a stream, with the same settings.
    pub fn reset(&mut self) {
        *self = Self::new(self.limit).show_ignored(self.show_ignored);
    }

    /// Whether the data of the event that was found last stood on several lines, until the next step.
    #[must_use]
    pub fn is_joined(&self) -> bool {
        self.joined
    }

    /// The last event id in force; empty where none was sent.
    #[must_use]
    pub fn last_event_id(&self) -> &[u8] {
        &self.last_id
    }

    /// The reconnection time that the stream set last, in milliseconds.
    #[must_use]
    pub fn retry(&self) -> Option<u64> {
        self.retry
    }

    /// How many bytes were read so far.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// How many comments were read so far, whether shown or not.
    #[must_use]
    pub fn comments(&self) -> u64 {
        self.comments
    }

    /// The data of the event that the last step gave, as far as it did not lie whole in the read; until the next step.
    #[must_use]
    pub fn data(&self) -> &[u8] {
        &self.data
    }

    /// The name of the event that the last step gave; until the next step.
    #[must_use]
    pub fn name(&self) -> &[u8] {
        &self.name
    }

    /// The reconnection time in the block of the event that the last step gave; until the next step.
    #[must_use]
    pub fn block_retry(&self) -> Option<u64> {
        self.block_retry
    }

    /// The line that the last step gave, as far as it did not lie whole in the read; until the next step.
    #[must_use]
    pub fn line(&self) -> &[u8] {
        &self.line
    }

    /// Let go of what the last step borrowed; the next step does so by itself.
    #[inline]
    pub fn release(&mut self) {
        self.clear_handed_out();
    }

    /// Find the next step in `input`, which is advanced over the bytes that were used.
    ///
    /// Call it until it gives [`Step::NeedMore`], then with the next read.
    #[inline]
    pub fn next<'a, 'r: 'a>(&'a mut self, input: &mut &'r [u8]) -> Step<'a> {
        match self.next_plain(input) {
            Some(event) => Step::Event(event),
            None if self.at_rest && input.is_empty() => Step::NeedMore,
            None if self.unfinished == Unfinished::Data && self.keep_value(input) => Step::NeedMore,
            None => self.next_step(input),
        }
    }

    /// The fast path: between two blocks, where nothing is held, an event of one data line that lies whole in the read
    /// and is ended by two line feeds, or twice by CR LF. Whatever else stands there is left to [`Framer::next_step`].
    ///
    /// Gives nothing, and uses nothing of the input, where [`Framer::next`] would give anything else.
    #[inline]
    pub fn next_plain<'r>(&mut self, input: &mut &'r [u8]) -> Option<Event<'r>> {
        self.next_plain_like(input, |line| memchr2(b'\n', b'\r', line))
    }

    /// The same for a reader that may know the data: `recognise` is given what stands behind `data:` and one space, and
    /// gives the length of the data, or nothing. It answers for that there is no line end in so many bytes.
    #[inline]
    pub fn next_plain_like<'r>(
        &mut self,
        input: &mut &'r [u8],
        recognise: impl FnOnce(&'r [u8]) -> Option<usize>,
    ) -> Option<Event<'r>> {
        if !self.at_rest {
            return None;
        }
        let line = input.strip_prefix(b"data:")?;
        let line = line.strip_prefix(b" ").unwrap_or(line);
        let (value, rest) = line.split_at_checked(recognise(line)?)?;
        let rest = rest.strip_prefix(b"\n\n").or_else(|| rest.strip_prefix(b"\r\n\r\n"))?;
        if value.len() > self.limit {
            return None;
        }
        let offset = self.offset;
        self.offset += (input.len() - rest.len()) as u64;
        *input = rest;
        Some(Event { data: value, name: &[], id: &[], retry: None, offset })
    }

    fn next_step<'a, 'r: 'a>(&'a mut self, input: &mut &'r [u8]) -> Step<'a> {
        if self.at_rest {
            self.skip_keep_alives(input);
        } else {
            // What was handed out may have been all that was held.
            self.clear_handed_out();
            self.at_rest = self.is_at_rest();
            if let Some(event) = self.next_plain(input) {
                return Step::Event(event);
            }
        }
        self.at_rest = false;
        // The event's only data line so far, as long as it lies whole in this read.
        let mut whole: Option<&'r [u8]> = None;
        if self.after_cr && !input.is_empty() {
            self.after_cr = false;
            if let Some(rest) = input.strip_prefix(b"\n") {
                *input = rest;
                self.offset += 1;
            }
        }
        loop {
            let Some((part, line_end, rest)) = split_line(input) else {
                if let Some(value) = whole {
                    self.append_data(value);
                }
                let part = std::mem::take(input);
                if part.is_empty() {
                    self.at_rest = self.is_at_rest();
                    return Step::NeedMore;
                }
                return match self.keep(part) {
                    Line::TooLarge => Step::TooLarge(self.drop_block()),
                    _ => Step::NeedMore,
                };
            };
            let start = self.offset;
            self.offset = start + part.len() as u64 + 1;
            *input = rest;
            if line_end == b'\r' {
                self.after_cr = rest.is_empty();
                if let Some(rest) = rest.strip_prefix(b"\n") {
                    *input = rest;
                    self.offset += 1;
                }
            }

            if self.unfinished != Unfinished::Nothing {
                match self.finish_line(part) {
                    Line::Taken => {}
                    Line::TooLarge => return Step::TooLarge(self.drop_block()),
                    Line::Ignored { comment } => {
                        self.handed_out = HandedOut::Line;
                        return Step::Ignored(Ignored {
                            line: &self.line,
                            comment,
                            in_event: self.has_data,
                            offset: self.line_offset,
                        });
                    }
                }
                continue;
            }

            self.line_offset = start;
            let line = self.without_byte_order_mark(part);
            if line.is_empty() {
                if self.end_block(whole.is_some()) {
                    return Step::Event(self.event(whole));
                }
                if self.is_at_rest() {
                    self.skip_keep_alives(input);
                }
            } else if let Some(value) = data_value(line)
                && !self.has_data
                && whole.is_none()
                && !self.dropping
            {
                if self.held() + value.len() > self.limit {
                    return Step::TooLarge(self.drop_block());
                }
                self.data_offset = start;
                whole = Some(value);
            } else {
                if let Some(value) = whole.take() {
                    self.append_data(value);
                }
                match self.take_line(line) {
                    Line::Taken => {}
                    Line::TooLarge => return Step::TooLarge(self.drop_block()),
                    Line::Ignored { comment } => {
                        return Step::Ignored(Ignored { line, comment, in_event: self.has_data, offset: start });
                    }
                }
            }
        }
    }
}
