//! The last payloads that were handed out undecoded: when the body ends without the sentinel, they tell whether the answer
//! is whole.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// So many are kept: finish reasons and usage stand in the last chunk or two of an answer.
const LAST: usize = 4;

#[derive(Default)]
pub(crate) struct Undecoded {
    payloads: [Option<Py<PyBytes>>; LAST],
    count: usize,
}

impl Undecoded {
    #[inline]
    pub(crate) fn push(&mut self, payload: &Bound<'_, PyBytes>) {
        if let Some(place) = self.payloads.get_mut(self.count % LAST) {
            let earlier = place.replace(payload.clone().unbind());
            // Bound, it is dropped without asking first whether the interpreter is attached.
            drop(earlier.map(|earlier| earlier.into_bound(payload.py())));
        }
        self.count += 1;
    }

    /// Give them in the order in which they came, and keep none.
    pub(crate) fn take(&mut self) -> impl Iterator<Item = Py<PyBytes>> + use<> {
        let mut kept = std::mem::take(self);
        kept.payloads.rotate_left(kept.count % LAST);
        kept.payloads.into_iter().flatten()
    }

    /// They are no longer the last.
    #[inline]
    pub(crate) fn forget(&mut self) {
        if self.count > 0 {
            *self = Self::default();
        }
    }
}
