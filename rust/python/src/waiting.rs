//! What waits to be handed out: items that are there, and iterators over more.
//!
//! An event of some megabytes may hold millions of chunks, so they are made one by one, each when it is asked for: what
//! making one does, such as counting it, is done by then and not before.

use std::collections::VecDeque;

use pyo3::prelude::*;
use pyo3::types::{PyIterator, PyList, PyTuple};
use pyo3::{PyTraverseError, PyVisit};

enum Next {
    Item(Py<PyAny>),
    More(Py<PyIterator>),
}

/// So many items are held back for one event: a server says once why it fails.
const MOST_HELD: usize = 16;

#[derive(Default)]
pub(crate) struct Waiting {
    queue: VecDeque<Next>,
    /// What lines inside an event led to, until that event is complete.
    held: VecDeque<Next>,
}

impl Waiting {
    /// Whether nothing waits; where an iterator does, it may turn out to have no more.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.queue.is_empty()
    }

    /// Add the items of an iterable behind the others.
    pub(crate) fn add(&mut self, items: &Bound<'_, PyAny>) -> PyResult<()> {
        if let Ok(items) = items.cast::<PyList>() {
            self.queue.extend(items.iter().map(|item| Next::Item(item.unbind())));
        } else {
            self.queue.push_back(Next::More(items.try_iter()?.unbind()));
        }
        Ok(())
    }

    /// Whether more may be held back.
    pub(crate) fn may_hold(&self) -> bool {
        self.held.len() < MOST_HELD
    }

    /// Hold what waits back until [`Waiting::release`].
    pub(crate) fn hold(&mut self) {
        self.held.append(&mut self.queue);
    }

    /// What was held back waits behind the rest now.
    #[inline]
    pub(crate) fn release(&mut self) {
        if !self.held.is_empty() {
            self.queue.append(&mut self.held);
        }
    }

    pub(crate) fn pop<'py>(&mut self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        while let Some(next) = self.queue.front() {
            if let Next::More(more) = next
                && let Some(item) = more.bind(py).clone().next()
            {
                return item.map(Some);
            }
            if let Some(Next::Item(item)) = self.queue.pop_front() {
                return Ok(Some(item.into_bound(py)));
            }
        }
        Ok(None)
    }

    /// Put an item before all others.
    pub(crate) fn push_front(&mut self, item: Py<PyAny>) {
        self.queue.push_front(Next::Item(item));
    }

    /// Whether what comes next is a chunk. It is made for that, where it was not there yet.
    pub(crate) fn chunk_is_next(&mut self, py: Python<'_>) -> PyResult<bool> {
        let Some(item) = self.pop(py)? else { return Ok(true) };
        let is_chunk = item.is_instance_of::<PyTuple>();
        self.push_front(item.unbind());
        Ok(is_chunk)
    }

    pub(crate) fn clear(&mut self) {
        self.queue.clear();
        self.held.clear();
    }

    pub(crate) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.queue.iter().chain(&self.held).try_for_each(|next| match next {
            Next::Item(item) => visit.call(item),
            Next::More(more) => visit.call(more),
        })
    }
}
