//! Lines that end in a later read than they begin in.
//!
//! The value of a data line goes straight to the event's data, the beginning of any other line to `line`, and what
//! nobody will see nowhere. Which of the three it is shows within a few bytes; the rest is not looked at again.

use super::{BYTE_ORDER_MARK, Framer, Line};
use crate::buffer::{append, empty};
use crate::line::line_end;

/// The longest name of a field is `event` or `retry`; a line that has no colon within one byte more is unknown.
const LONGEST_NAME: usize = 5;

/// So many bytes of a line, a byte-order mark and the space after `data:` included, tell which field it is.
const CLASSIFIED: usize = BYTE_ORDER_MARK.len() + b"data: ".len();

/// A read of so few bytes costs more in steps than in searching, so that it may well be searched twice.
const SMALL: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unfinished {
    /// No line is.
    Nothing,
    /// A line whose beginning is in `line`.
    Line,
    /// A data line; its value so far is the end of `data`.
    Data,
    /// A line that nobody wants to see.
    Unseen { comment: bool },
}

impl Framer {
    /// The fast path of small reads: keep one that lies whole within the unfinished data line. Says whether it did;
    /// whatever else the read is, it is left to [`Framer::next_step`].
    pub(super) fn keep_value(&mut self, input: &mut &[u8]) -> bool {
        let part = *input;
        // `held` has counted a line feed too many, as in `extend_data`.
        if !(1..=SMALL).contains(&part.len()) || line_end(part).is_some() || self.held() - 1 + part.len() > self.limit {
            return false;
        }
        append(&mut self.data, part, self.limit);
        self.offset += part.len() as u64;
        *input = &[];
        true
    }

    /// Keep the part of a line whose end has not been read.
    pub(super) fn keep(&mut self, part: &[u8]) -> Line {
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
                self.joined = true;
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

    pub(super) fn forget_line(&mut self) {
        self.unfinished = Unfinished::Unseen { comment: self.line.starts_with(b":") };
        empty(&mut self.line);
    }

    /// The end of the unfinished line was read: `part` is its last piece.
    pub(super) fn finish_line(&mut self, part: &[u8]) -> Line {
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
}
