//! What waits to be handed out: items that are there, and iterators over more.
//!
//! An event of some megabytes may hold millions of chunks, so they are made one by one, each just before it is asked for:
//! the next one is always made already, so that what is empty is known to be.

use std::collections::VecDeque;

use pyo3::prelude::*;
use pyo3::types::{PyIterator, PyList};
use pyo3::{PyTraverseError, PyVisit};

enum Next {
    Item(Py<PyAny>),
    More(Py<PyIterator>),
}

#[derive(Default)]
pub(crate) struct Waiting {
    queue: VecDeque<Next>,
}

impl Waiting {
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
        self.prepare(items.py());
        Ok(())
    }

    /// Add what another has waiting.
    pub(crate) fn append(&mut self, other: &mut Self) {
        self.queue.append(&mut other.queue);
    }

    pub(crate) fn pop<'py>(&mut self, py: Python<'py>) -> Option<Bound<'py, PyAny>> {
        let item = match self.queue.pop_front()? {
            Next::Item(item) => Some(item.into_bound(py)),
            Next::More(_) => None,
        };
        self.prepare(py);
        item
    }

    /// See to it that an item stands in front; what making it raises is raised in its place.
    fn prepare(&mut self, py: Python<'_>) {
        while let Some(Next::More(more)) = self.queue.front() {
            let item = match more.bind(py).clone().next() {
                Some(Ok(item)) => item.unbind(),
                Some(Err(error)) => error.into_value(py).into_any(),
                None => {
                    self.queue.pop_front();
                    continue;
                }
            };
            self.queue.push_front(Next::Item(item));
        }
    }

    pub(crate) fn clear(&mut self) {
        self.queue.clear();
    }

    pub(crate) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.queue.iter().try_for_each(|next| match next {
            Next::Item(item) => visit.call(item),
            Next::More(more) => visit.call(more),
        })
    }
}
