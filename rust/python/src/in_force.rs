//! The last event id and the reconnection time of a stream, as of what was handed out last.

use std::sync::Mutex;

use crate::reads::Reads;

#[derive(Default, Clone, PartialEq)]
pub(crate) struct InForce {
    pub(crate) retry: Option<u64>,
    pub(crate) last_event_id: Vec<u8>,
}

impl InForce {
    /// Tell `outside`, which may be asked while another thread reads. `self` is what it was told last: most streams
    /// never send an id or a time, and then nothing is locked.
    #[inline]
    pub(crate) fn tell(&mut self, reads: &Reads, outside: &Mutex<Self>) {
        let framer = reads.framer();
        // Where it is ahead, nothing has changed since: what changes either ends what is framed ahead.
        if !reads.is_level() || (self.retry == framer.retry() && same(&self.last_event_id, framer.last_event_id())) {
            return;
        }
        self.retry = framer.retry();
        self.last_event_id = framer.last_event_id().to_vec();
        if let Ok(mut told) = outside.lock() {
            told.clone_from(self);
        }
    }
}

/// Whether two ids are equal. Two empty ones, the usual case, are not compared: on some processors a comparison of no
/// bytes at an address that is none takes as long as framing an event.
#[inline]
pub(crate) fn same(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && (one.is_empty() || one == other)
}
