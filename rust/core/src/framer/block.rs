//! The block that is being read: what is held of it, how it ends, and when it is let go.

use super::{Framer, HandedOut, Unfinished};
use crate::buffer::{append, empty};
use crate::step::{Event, TooLarge};

impl Framer {
    /// The bytes held for the current block, the unfinished line aside.
    pub(super) fn held(&self) -> usize {
        self.data.len() + usize::from(self.has_data) + self.name.len() + self.last_id.len() + self.id_len()
    }

    fn id_len(&self) -> usize {
        self.id.as_ref().map_or(0, Vec::len)
    }

    /// Whether nothing is held that could bear on the next event; only [`Framer::next_step`] can change that.
    pub(super) fn is_at_rest(&self) -> bool {
        !(self.after_cr || self.first_line || self.has_data || self.dropping)
            && self.unfinished == Unfinished::Nothing
            && self.handed_out == HandedOut::Nothing
            && self.name.is_empty()
            && self.last_id.is_empty()
            && self.id.is_none()
            && self.block_retry.is_none()
    }

    pub(super) fn append_data(&mut self, value: &[u8]) {
        if self.has_data {
            self.joined = true;
            append(&mut self.data, b"\n", self.limit);
        }
        self.has_data = true;
        append(&mut self.data, value, self.limit);
    }

    /// A blank line was read: the block's id comes into force. Says whether the block is an event.
    pub(super) fn end_block(&mut self, whole: bool) -> bool {
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

    pub(super) fn event<'a>(&'a mut self, whole: Option<&'a [u8]>) -> Event<'a> {
        // Nothing is held of the common event, so nothing will have to be emptied.
        if whole.is_none() || !self.name.is_empty() || self.block_retry.is_some() {
            self.handed_out = HandedOut::Event;
        }
        self.at_rest = self.is_at_rest();
        Event {
            data: whole.unwrap_or(&self.data),
            name: &self.name,
            id: &self.last_id,
            retry: self.block_retry,
            offset: self.data_offset,
        }
    }

    /// The block is beyond the limit: let go of it now, and of the rest of it as it comes.
    pub(super) fn drop_block(&mut self) -> TooLarge {
        self.dropping = true;
        if self.unfinished != Unfinished::Nothing {
            self.forget_line();
        }
        self.id = None;
        self.forget_event();
        TooLarge { limit: self.limit, offset: self.line_offset }
    }

    pub(super) fn forget_event(&mut self) {
        self.has_data = false;
        self.joined = false;
        self.block_retry = None;
        empty(&mut self.data);
        empty(&mut self.name);
    }

    #[inline]
    pub(super) fn clear_handed_out(&mut self) {
        match self.handed_out {
            HandedOut::Nothing => return,
            HandedOut::Event => self.forget_event(),
            HandedOut::Line => empty(&mut self.line),
        }
        self.handed_out = HandedOut::Nothing;
    }
}
