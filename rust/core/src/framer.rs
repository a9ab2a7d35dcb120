//! The push parser: a read goes in, steps come out.
//!
//! A line that lies whole in the read is looked at in place, and the data of an event with a single data line is
//! handed out as a slice of the read. Only what a read leaves unfinished is copied: the value of a data line goes
//! straight to `data`, the beginning of any other line to `line`. Each byte is searched for a line end once, and
//! copied once at the most, so the work grows with the bytes however they are cut.
//!
//! To change this file: the decoder in `tests/common/twin.rs` says the same in the standard's own words, and the tests
//! compare the two on every cut of every input they have.

use memchr::memchr2;

use crate::step::{Event, Ignored, Step, TooLarge};

/// The default limit of one event: 32 MiB. The largest event met in recorded streams is an image of 1.9 MB.
pub const DEFAULT_MAX_EVENT_SIZE: usize = 32 * 1024 * 1024;

/// Bytes which, fed as a last read, complete an unfinished line and an unfinished block: the end of input for a reader
/// that wants the pending event delivered. (Three, because the first may be the second half of a CR LF.)
/// The standard itself drops it: then feed nothing.
pub const END_OF_INPUT: &[u8] = b"\n\n\n";

/// A buffer above this many bytes is given back once its event was handed out, so that an idle stream stays small
/// although one of its events was large. Below it, keeping the buffer saves an allocation an event.
const KEEP_CAPACITY: usize = 64 * 1024;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// The longest name of a field is `event` or `retry`; a line that has no colon within one byte more is unknown.
const LONGEST_NAME: usize = 5;

/// So many bytes of a line, a byte-order mark and the space after `data:` included, tell which field it is.
const CLASSIFIED: usize = BYTE_ORDER_MARK.len() + b"data: ".len();

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
    data: Vec<u8>,
    data_offset: u64,
    name: Vec<u8>,
    /// The id in the current block, not in force before its blank line.
    id: Option<Vec<u8>>,
    block_retry: Option<u64>,
    last_id: Vec<u8>,
    retry: Option<u64>,
    /// The buffers hold what the last step borrowed; they are emptied when the next one begins.
    handed_out: HandedOut,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unfinished {
    /// No line is.
    Nothing,
    /// A line whose beginning is in `line`.
    Line,
    /// A data line; its value so far is the end of `data`.
    Data,
    /// A line that nobody wants to see.
    Unseen { comment: bool },
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
            data: Vec::new(),
            data_offset: 0,
            name: Vec::new(),
            id: None,
            block_retry: None,
            last_id: Vec::new(),
            retry: None,
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

    /// The line that the last step gave, as far as it did not lie whole in the read; until the next step.
    #[must_use]
    pub fn line(&self) -> &[u8] {
        &self.line
    }

    /// Find the next step in `input`, which is advanced over the bytes that were used.
    ///
    /// Call it until it gives [`Step::NeedMore`], then with the next read.
    pub fn next<'a, 'r: 'a>(&'a mut self, input: &mut &'r [u8]) -> Step<'a> {
        self.clear_handed_out();
        // The event's only data line so far, as long as it lies whole in this read.
        let mut whole: Option<&'r [u8]> = None;
        loop {
            if self.after_cr && !input.is_empty() {
                self.after_cr = false;
                if let Some(rest) = input.strip_prefix(b"\n") {
                    *input = rest;
                    self.offset += 1;
                }
            }
            let Some((part, line_end, rest)) = split_line(input) else {
                if let Some(value) = whole {
                    self.append_data(value);
                }
                let part = std::mem::take(input);
                return match self.keep(part) {
                    Line::TooLarge => Step::TooLarge(self.drop_block()),
                    _ => Step::NeedMore,
                };
            };
            let start = self.offset;
            *input = rest;
            self.offset = start + part.len() as u64 + 1;
            self.after_cr = line_end == b'\r';

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

    /// The bytes held for the current block, the unfinished line aside.
    fn held(&self) -> usize {
        self.data.len() + usize::from(self.has_data) + self.name.len() + self.last_id.len() + self.id_len()
    }

    fn id_len(&self) -> usize {
        self.id.as_ref().map_or(0, Vec::len)
    }

    /// Interpret a line that lies whole in the read; it is not blank.
    fn take_line(&mut self, line: &[u8]) -> Line {
        if let Some(value) = data_value(line) {
            if self.dropping {
                return Line::Taken;
            }
            if self.held() + value.len() > self.limit {
                return Line::TooLarge;
            }
            if !self.has_data {
                self.data_offset = self.line_offset;
            }
            self.append_data(value);
            return Line::Taken;
        }
        if line.starts_with(b":") {
            self.comments += 1;
            return self.ignored(line, true);
        }
        let (name, value) = split_field(line);
        if !matches!(name, b"event" | b"id" | b"retry") {
            return self.ignored(line, false);
        }
        if self.dropping {
            return Line::Taken;
        }
        if self.held() + line.len() > self.limit {
            return Line::TooLarge;
        }
        match name {
            b"event" => {
                self.name.clear();
                self.name.extend_from_slice(value);
            }
            b"id" => {
                if !value.contains(&0) {
                    self.id = Some(value.to_vec());
                }
            }
            _ => {
                if let Some(time) = parse_retry(value) {
                    self.block_retry = Some(time);
                    self.retry = Some(time);
                }
            }
        }
        Line::Taken
    }

    fn ignored(&self, line: &[u8], comment: bool) -> Line {
        if !self.show_ignored || self.dropping {
            Line::Taken
        } else if self.held() + line.len() > self.limit {
            Line::TooLarge
        } else {
            Line::Ignored { comment }
        }
    }

    /// Keep the part of a line whose end has not been read.
    fn keep(&mut self, part: &[u8]) -> Line {
        if part.is_empty() {
            return Line::Taken;
        }
        if self.unfinished == Unfinished::Nothing {
            self.line_offset = self.offset;
            self.unfinished = Unfinished::Line;
        }
        self.offset += part.len() as u64;
        self.extend_unfinished(part)
    }

    /// Add to the unfinished line, and see as early as can be whether its bytes belong to `data`, or nowhere.
    fn extend_unfinished(&mut self, part: &[u8]) -> Line {
        if self.unfinished == Unfinished::Line {
            // First only so much of the line as tells which field it is.
            let head = part.len().min(CLASSIFIED.saturating_sub(self.line.len()));
            let (head, tail) = part.split_at(head);
            if !head.is_empty() {
                self.line.extend_from_slice(head);
                self.classify();
            }
            if self.unfinished == Unfinished::Data {
                return self.extend_data(tail);
            }
            if self.unfinished == Unfinished::Line {
                // A line no longer than that may still turn out a data line, of which the value alone counts.
                let length = self.line.len() + tail.len();
                if length > CLASSIFIED && self.held() + length > self.limit {
                    return Line::TooLarge;
                }
                append(&mut self.line, tail, self.limit);
            }
            return Line::Taken;
        }
        if self.unfinished == Unfinished::Data { self.extend_data(part) } else { Line::Taken }
    }

    fn extend_data(&mut self, part: &[u8]) -> Line {
        // `held` has counted a line feed for a further data line; this one's is in `data` already.
        if self.held() - 1 + part.len() > self.limit {
            return Line::TooLarge;
        }
        append(&mut self.data, part, self.limit);
        Line::Taken
    }

    /// Move the beginning of a data line over to `data`, and forget one that nobody will see.
    fn classify(&mut self) {
        if self.first_line {
            if self.line.len() < BYTE_ORDER_MARK.len() && BYTE_ORDER_MARK.starts_with(&self.line) {
                return;
            }
            self.first_line = false;
            if self.line.starts_with(BYTE_ORDER_MARK) {
                self.line.drain(..BYTE_ORDER_MARK.len());
            }
        }
        if self.line.is_empty() {
            return;
        }
        if self.dropping {
            self.forget_line();
        } else if let Some(value) = self.line.strip_prefix(b"data:") {
            // The one space that is dropped may come with the next read.
            let Some(first) = value.first() else { return };
            let value = if *first == b' ' { value.get(1..).unwrap_or_default() } else { value };
            if self.has_data {
                append(&mut self.data, b"\n", self.limit);
            } else {
                self.has_data = true;
                self.data_offset = self.line_offset;
            }
            append(&mut self.data, value, self.limit);
            self.unfinished = Unfinished::Data;
            self.line.clear();
        } else if !self.show_ignored {
            let unknown = match self.line.iter().position(|byte| *byte == b':') {
                Some(colon) => !matches!(self.line.get(..colon), Some(b"data" | b"event" | b"id" | b"retry")),
                None => self.line.len() > LONGEST_NAME,
            };
            if unknown {
                self.forget_line();
            }
        }
    }

    fn forget_line(&mut self) {
        self.unfinished = Unfinished::Unseen { comment: self.line.starts_with(b":") };
        empty(&mut self.line);
    }

    /// The end of the unfinished line was read: `part` is its last piece.
    fn finish_line(&mut self, part: &[u8]) -> Line {
        let extended = self.extend_unfinished(part);
        self.first_line = false;
        if matches!(extended, Line::TooLarge) && self.unfinished == Unfinished::Line {
            self.forget_line();
        }
        let unfinished = std::mem::replace(&mut self.unfinished, Unfinished::Nothing);
        // A comment counts where its line ends, as every line does.
        self.comments += u64::from(unfinished == Unfinished::Unseen { comment: true });
        if unfinished != Unfinished::Line || self.line.is_empty() {
            return extended;
        }
        let line = std::mem::take(&mut self.line);
        let outcome = self.take_line(&line);
        self.line = line;
        if !matches!(outcome, Line::Ignored { .. }) {
            empty(&mut self.line);
        }
        outcome
    }

    fn without_byte_order_mark<'l>(&mut self, line: &'l [u8]) -> &'l [u8] {
        if !std::mem::replace(&mut self.first_line, false) {
            return line;
        }
        line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line)
    }

    fn append_data(&mut self, value: &[u8]) {
        if self.has_data {
            append(&mut self.data, b"\n", self.limit);
        }
        self.has_data = true;
        append(&mut self.data, value, self.limit);
    }

    /// A blank line was read: the block's id comes into force. Says whether the block is an event.
    fn end_block(&mut self, whole: bool) -> bool {
        if let Some(id) = self.id.take() {
            self.last_id = id;
        }
        if whole || self.has_data {
            return true;
        }
        self.dropping = false;
        self.block_retry = None;
        empty(&mut self.name);
        false
    }

    fn event<'a>(&'a mut self, whole: Option<&'a [u8]>) -> Event<'a> {
        self.handed_out = HandedOut::Event;
        Event {
            data: whole.unwrap_or(&self.data),
            name: &self.name,
            id: &self.last_id,
            retry: self.block_retry.take(),
            offset: self.data_offset,
        }
    }

    /// The block is beyond the limit: let go of it now, and of the rest of it as it comes.
    fn drop_block(&mut self) -> TooLarge {
        self.dropping = true;
        if self.unfinished != Unfinished::Nothing {
            self.forget_line();
        }
        self.id = None;
        self.forget_event();
        TooLarge { limit: self.limit, offset: self.line_offset }
    }

    fn forget_event(&mut self) {
        self.has_data = false;
        empty(&mut self.data);
        empty(&mut self.name);
    }

    fn clear_handed_out(&mut self) {
        match std::mem::replace(&mut self.handed_out, HandedOut::Nothing) {
            HandedOut::Nothing => {}
            HandedOut::Event => self.forget_event(),
            HandedOut::Line => empty(&mut self.line),
        }
    }
}

/// Split at the first line end: the line before it, the byte that ends it, the rest.
#[inline]
fn split_line(input: &[u8]) -> Option<(&[u8], u8, &[u8])> {
    let at = memchr2(b'\n', b'\r', input)?;
    let (line, rest) = input.split_at_checked(at)?;
    let (end, rest) = rest.split_first()?;
    Some((line, *end, rest))
}

/// The value of a data line; one space after the colon is dropped.
#[inline]
fn data_value(line: &[u8]) -> Option<&[u8]> {
    match line.strip_prefix(b"data")? {
        [] => Some(&[]),
        [b':', b' ', value @ ..] | [b':', value @ ..] => Some(value),
        _ => None,
    }
}

/// A field's name and value; a line without a colon is a name with an empty value.
fn split_field(line: &[u8]) -> (&[u8], &[u8]) {
    let mut halves = line.splitn(2, |byte| *byte == b':');
    let name = halves.next().unwrap_or_default();
    let value = halves.next().unwrap_or_default();
    (name, value.strip_prefix(b" ").unwrap_or(value))
}

/// ASCII digits only; a number beyond 64 bits stays at the largest.
fn parse_retry(value: &[u8]) -> Option<u64> {
    if value.is_empty() {
        return None;
    }
    value.iter().try_fold(0_u64, |number, byte| {
        byte.is_ascii_digit().then(|| number.saturating_mul(10).saturating_add(u64::from(byte - b'0')))
    })
}

/// Empty a buffer for what comes next, and give it back where it has grown large.
fn empty(buffer: &mut Vec<u8>) {
    buffer.clear();
    if buffer.capacity() > KEEP_CAPACITY {
        *buffer = Vec::new();
    }
}

/// Append with the capacity doubling as usual, but never beyond the limit: a buffer close to a limit of 32 MiB must not
/// take 64.
fn append(buffer: &mut Vec<u8>, bytes: &[u8], limit: usize) {
    let needed = buffer.len() + bytes.len();
    if needed > buffer.capacity() {
        let doubled = (buffer.capacity() * 2).max(256).min(limit.max(needed));
        buffer.reserve_exact(doubled.max(needed) - buffer.len());
    }
    buffer.extend_from_slice(bytes);
}
