//! Lines that lie whole in the read, and what becomes of them.

use super::{BYTE_ORDER_MARK, Framer, Line};
use crate::field::{data_value, parse_retry, split_field};
use crate::line::split_line;

impl Framer {
    /// The fast path of an idle stream: between two blocks, where nothing is held, comments of one line each that lie
    /// whole in the read, up to whatever else stands there.
    pub(super) fn skip_keep_alives(&mut self, input: &mut &[u8]) {
        while !self.show_ignored
            && input.starts_with(b":")
            && let Some((line, b'\n', rest)) = split_line(input)
            && rest.starts_with(b"\n")
            && let Some((block, mut rest)) = input.split_at_checked(line.len() + 2)
        {
            let mut blocks = 1;
            // A server's are all alike, and comparing is faster than searching.
            while let Some(behind) = rest.strip_prefix(block) {
                rest = behind;
                blocks += 1;
            }
            self.comments += blocks;
            self.offset += blocks * block.len() as u64;
            *input = rest;
        }
    }

    /// Interpret a line that lies whole in the read; it is not blank.
    pub(super) fn take_line(&mut self, line: &[u8]) -> Line {
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

    pub(super) fn without_byte_order_mark<'l>(&mut self, line: &'l [u8]) -> &'l [u8] {
        if !std::mem::replace(&mut self.first_line, false) {
            return line;
        }
        line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line)
    }
}
