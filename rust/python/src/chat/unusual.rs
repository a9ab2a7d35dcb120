//! Everything in a chat stream but the common event: what the one Python method is asked, and what becomes of its answers.

use std::sync::atomic::Ordering;

use pyo3::IntoPyObjectExt;
use pyo3::exceptions::{PyBaseException, PyException};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyTuple};

use super::Chat;
use crate::chunks::Want;
use crate::errors::event_too_large;
use crate::found::Found;
use crate::told::{Outside, count};

impl Chat {
    /// Take what is no event.
    #[cold]
    #[inline(never)]
    pub(super) fn take_other(&mut self, py: Python<'_>, found: Found, outside: &Outside<'_>) -> PyResult<()> {
        let events = outside.told.events.load(Ordering::Relaxed);
        match found {
            Found::Ignored { line, comment: false, in_event, offset } => {
                let line = PyBytes::new(py, self.reads.bytes(py, line, self.reads.framer().line()));
                if !in_event {
                    self.unusual(py, "line", Some(&line), in_event, events, offset)?;
                } else if self.waiting.may_hold() {
                    self.unusual(py, "line", Some(&line), in_event, events, offset)?;
                    self.waiting.hold();
                }
            }
            Found::Ignored { .. } => {
                count(&outside.told.comments);
            }
            Found::TooLarge(found) => {
                let error = event_too_large(py, found);
                self.unusual(py, "too_large", None, error.value(py), events + 1, found.offset)?;
                self.waiting.release();
            }
            Found::End => {
                let head = (events == 0).then(|| PyBytes::new(py, self.reads.head()));
                let offset = self.reads.framer().offset();
                self.follow_undecoded(py, outside)?;
                let finished = self.follow.finished(py, outside.told)?;
                self.stop();
                self.unusual(py, "end", head.as_ref(), finished, events, offset)?;
            }
            Found::Event { .. } | Found::NeedMore => {}
        }
        Ok(())
    }

    /// The body has ended without the sentinel: see what the last payloads say of the end. One that is no chunk was
    /// handed out as it is, and says nothing.
    fn follow_undecoded(&mut self, py: Python<'_>, outside: &Outside<'_>) -> PyResult<()> {
        for payload in self.undecoded.take() {
            let payload = payload.bind(py);
            let Some(decode) = &self.decode else { break };
            match decode.bind(py).call1(PyTuple::new(py, [payload])?) {
                Ok(chunk) => self.follow.chunk(Some(payload), &chunk, &mut None, outside.told)?,
                Err(error) => {
                    self.unusual(py, "mend", Some(payload), error.into_value(py), 0, 0)?;
                    while let Some(chunk) = self.waiting.pop(py)? {
                        self.follow.chunk(Some(payload), &chunk, &mut None, outside.told)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// The stream is over because of an exception, which passes through unless `unusual` puts another in its place.
    #[cold]
    #[inline(never)]
    pub(super) fn failed(&mut self, py: Python<'_>, error: PyErr, outside: &Outside<'_>) -> PyErr {
        if self.over {
            return error;
        }
        self.stop();
        if !error.is_instance_of::<PyException>(py) {
            outside.closed.store(true, Ordering::Release);
        }
        let events = outside.told.events.load(Ordering::Relaxed);
        let offset = self.reads.framer().offset();
        match self.unusual(py, "failed", None, error.value(py), events, offset) {
            Err(other) if !other.is_instance_of::<PyException>(py) => {
                // A signal that was waiting came before anything was told: it is what the stream ends by.
                outside.closed.store(true, Ordering::Release);
                self.unusual(py, "failed", None, other.value(py), events, offset).err().unwrap_or(other)
            }
            Err(other) => other,
            Ok(_) => match self.waiting.pop(py) {
                Ok(Some(item)) if item.is_instance_of::<PyBaseException>() => PyErr::from_value(item),
                _ => error,
            },
        }
    }

    /// Ask what to make of it; gives whether there was an answer.
    #[cold]
    #[inline(never)]
    pub(super) fn unusual<'py>(
        &mut self,
        py: Python<'py>,
        kind: &str,
        payload: Option<&Bound<'py, PyBytes>>,
        detail: impl IntoPyObject<'py>,
        number: u64,
        offset: u64,
    ) -> PyResult<bool> {
        let Some(unusual) = &self.unusual else { return Ok(false) };
        let detail = detail.into_bound_py_any(py)?;
        let outcome = unusual.bind(py).call1((kind, payload, detail, number, offset))?;
        if outcome.is_none() {
            return Ok(false);
        }
        let (items, over) = outcome.extract::<(Bound<'_, PyAny>, bool)>()?;
        self.waiting.add(&items)?;
        if over {
            self.stop();
        }
        Ok(true)
    }

    /// Hand out an item that `unusual` gave.
    #[cold]
    #[inline(never)]
    pub(super) fn hand_out(
        &mut self,
        py: Python<'_>,
        want: Want,
        outside: &Outside<'_>,
    ) -> PyResult<Option<Py<PyAny>>> {
        let Some(item) = self.waiting.pop(py)? else { return Ok(None) };
        self.reads.turn.spend(0);
        if item.is_none() {
            let number = outside.told.events.load(Ordering::Relaxed);
            self.take_done(py, number, self.reads.framer().offset(), outside)?;
            return Ok(None);
        }
        if item.is_instance_of::<PyBaseException>() {
            let offset = self.reads.framer().offset();
            self.unusual(py, "raised", None, &item, outside.told.events.load(Ordering::Relaxed), offset)?;
            return Err(PyErr::from_value(item));
        }
        let pair = item.cast_into::<PyTuple>()?;
        let payload = pair.get_item(0)?.cast_into::<PyBytes>()?;
        self.give(payload, pair.get_item(1)?, want, outside)
    }
}
