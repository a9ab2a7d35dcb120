//! What a chat stream makes of the events in its reads.
//!
//! The common event, an unnamed one whose data is a JSON object that says nothing of an error, goes from the read
//! through the decoder to the user here. Everything else goes to one Python method,
//!
//! `unusual(kind, payload, detail, number, offset) -> (items, over) | None`
//!
//! | kind | payload | detail |
//! |---|---|---|
//! | `"named"` | the data of an event with a name | the name, and whether the end of the body cut it |
//! | `"suspect"` | data in which `"error"` occurs, as a key or a value | whether the end of the body cut it |
//! | `"parts"` | data to be handed out undecoded that is no object on a line alone | whether the end of the body cut it |
//! | `"refused"` | data that the decoder refused | the exception, and whether the end of the body cut it |
//! | `"mend"` | such data at the end, which the decoder refused; the items are chunks | the exception |
//! | `"line"` | a line that is no field | whether it stands inside an event |
//! | `"done"` | None | whether no chunk came before it |
//! | `"too_large"` | None | the exception |
//! | `"end"` | the start of a body without any event, else None | whether the answer is whole |
//! | `"raised"` | None | the exception among the items that is raised now |
//! | `"failed"` | None | the exception that reading raised, or that interrupted it |
//!
//! `number` is the event's, counted from 1, `offset` its place in the stream in bytes. `items` are handed out in
//! order: a pair of payload and chunk, an exception, which is raised in its place, or None for the sentinel. `over` ends
//! the stream. Without an answer the data is taken as that of a common event.

use std::sync::LazyLock;
use std::sync::atomic::Ordering;

use memchr::memmem::Finder;
use pyo3::exceptions::{PyBaseException, PyException};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString, PyTuple};
use pyo3::{IntoPyObjectExt, PyTraverseError, PyVisit};
use ssewire_core::{DONE, is_done};

use crate::chunks::Want;
use crate::errors::event_too_large;
use crate::follow::{Facts, Follow, Outside, count};
use crate::found::Found;
use crate::in_force::InForce;
use crate::reads::Reads;
use crate::undecoded::Undecoded;
use crate::waiting::Waiting;

/// All shapes of an error have this somewhere: as the key of an object, or as the value of `type` or `object`.
static ERROR: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"error\""));

pub(crate) struct Chat {
    pub(crate) reads: Reads,
    pub(crate) follow: Follow,
    decode: Option<Py<PyAny>>,
    unusual: Option<Py<PyAny>>,
    waiting: Waiting,
    undecoded: Undecoded,
    over: bool,
    in_force: InForce,
}

/// What is known of an event: its number, where it stands, and whether the end of the body cut it.
#[derive(Clone, Copy)]
struct Event {
    number: u64,
    offset: u64,
    cut: bool,
}

impl Chat {
    pub(crate) fn new(reads: Reads, decode: Py<PyAny>, unusual: Py<PyAny>, facts: Facts) -> Self {
        Self {
            reads,
            follow: Follow::new(facts),
            decode: Some(decode),
            unusual: Some(unusual),
            waiting: Waiting::default(),
            undecoded: Undecoded::default(),
            over: false,
            in_force: InForce::default(),
        }
    }

    pub(crate) fn reset(&mut self) {
        self.reads.reset();
        self.follow.reset();
        self.waiting.clear();
        self.undecoded.forget();
        self.over = false;
        self.in_force = InForce::default();
    }

    pub(crate) fn is_over(&self) -> bool {
        self.over && self.waiting.is_empty()
    }

    /// Nothing more comes: let go of the source and of what was read.
    pub(crate) fn stop(&mut self) {
        self.over = true;
        self.reads.stop();
    }

    #[inline]
    pub(crate) fn next(&mut self, py: Python<'_>, want: Want, outside: &Outside<'_>) -> PyResult<Option<Py<PyAny>>> {
        self.step(py, want, outside).map_err(|error| {
            // A signal may have interrupted what was done about an event, so that the event is lost.
            if error.is_instance_of::<PyException>(py) { error } else { self.failed(py, error, outside) }
        })
    }

    #[inline(always)]
    fn step(&mut self, py: Python<'_>, want: Want, outside: &Outside<'_>) -> PyResult<Option<Py<PyAny>>> {
        loop {
            let given = if !self.waiting.is_empty() {
                self.hand_out(py, want, outside)?
            } else if let Some((data, offset)) = self.reads.find_plain(py) {
                let payload = PyBytes::new(py, data);
                let number = count(&outside.told.events);
                self.take_payload(payload, want, Event { number, offset, cut: false }, outside)?
            } else if self.over {
                return Ok(None);
            } else {
                let found = self.reads.find(py);
                self.in_force.tell(&self.reads, &outside.told.in_force);
                outside.told.bytes.store(self.reads.bytes_read(), Ordering::Relaxed);
                match found {
                    Ok(None) => continue,
                    Ok(Some(Found::NeedMore)) => return Ok(None),
                    Ok(Some(found)) => self.take(py, found, want, outside)?,
                    Err(error) if self.reads.is_pulling() => return Err(self.failed(py, error, outside)),
                    Err(error) => return Err(error),
                }
            };
            if given.is_some() {
                self.reads.handed_out();
                return Ok(given);
            }
        }
    }

    /// Take what was found; gives what is to be handed out, or nothing yet.
    fn take(&mut self, py: Python<'_>, found: Found, want: Want, outside: &Outside<'_>) -> PyResult<Option<Py<PyAny>>> {
        let Found::Event { data, bare, offset } = found else {
            self.take_other(py, found, outside)?;
            return Ok(None);
        };
        let payload = PyBytes::new(py, self.reads.data(py, data));
        let number = count(&outside.told.events);
        let (name, _, _) = self.reads.fields(bare);
        let named = !name.is_empty() && name != b"message" && (name == b"error" || !is_done(payload.as_bytes()));
        let name = named.then(|| PyString::new(py, &String::from_utf8_lossy(name)));
        // The framer may be ahead, and speak of a later event; then a question is asked in vain.
        let joined = self.reads.framer().is_joined();
        self.reads.release();
        let event = Event { number, offset, cut: self.reads.is_cut(py) };
        let judged = match name {
            Some(name) => self.unusual(py, "named", Some(&payload), (name, event.cut), number, offset)?,
            None => false,
        } || (want == Want::Payload
            && joined
            && self.unusual(py, "parts", Some(&payload), event.cut, number, offset)?);
        let given = if judged { None } else { self.take_payload(payload, want, event, outside)? };
        self.waiting.release();
        Ok(given)
    }

    /// Take the data of an event without a name.
    #[inline(always)]
    fn take_payload(
        &mut self,
        payload: Bound<'_, PyBytes>,
        want: Want,
        event: Event,
        outside: &Outside<'_>,
    ) -> PyResult<Option<Py<PyAny>>> {
        let py = payload.py();
        let data = payload.as_bytes();
        let is_object = data.first() == Some(&b'{');
        if !is_object && matches!(data.trim_ascii(), b"" | b"null" | DONE) {
            return self.take_no_chunk(&payload, event, outside);
        }
        if ERROR.find(data).is_some()
            && self.unusual(py, "suspect", Some(&payload), event.cut, event.number, event.offset)?
        {
            return Ok(None);
        }
        if want == Want::Payload && !event.cut {
            if !(is_object && data.last() == Some(&b'}'))
                && self.unusual(py, "parts", Some(&payload), event.cut, event.number, event.offset)?
            {
                return Ok(None);
            }
            count(&outside.told.chunks);
            self.undecoded.push(&payload);
            return Ok(Some(payload.into_any().unbind()));
        }
        let Some(decode) = &self.decode else { return Ok(None) };
        match decode.bind(py).call1((&payload,)) {
            Ok(chunk) => self.give(payload, chunk, want, outside),
            Err(error) => self.refuse(&payload, error, event),
        }
    }

    /// The decoder refused the data; or a signal interrupted it.
    #[cold]
    #[inline(never)]
    fn refuse(&mut self, payload: &Bound<'_, PyBytes>, error: PyErr, event: Event) -> PyResult<Option<Py<PyAny>>> {
        let py = payload.py();
        if !error.is_instance_of::<PyException>(py) {
            return Err(error);
        }
        let detail = (error.into_value(py), event.cut);
        self.unusual(py, "refused", Some(payload), detail, event.number, event.offset)?;
        Ok(None)
    }

    /// The sentinel, or what says nothing.
    #[cold]
    #[inline(never)]
    fn take_no_chunk(
        &mut self,
        payload: &Bound<'_, PyBytes>,
        event: Event,
        outside: &Outside<'_>,
    ) -> PyResult<Option<Py<PyAny>>> {
        let py = payload.py();
        if is_done(payload.as_bytes()) {
            self.take_done(py, event.number, event.offset, outside)?;
        }
        Ok(None)
    }

    fn take_done(&mut self, py: Python<'_>, number: u64, offset: u64, outside: &Outside<'_>) -> PyResult<()> {
        self.stop();
        outside.done.store(true, Ordering::Release);
        let nothing = outside.told.chunks.load(Ordering::Relaxed) == 0;
        self.unusual(py, "done", None, nothing, number, offset)?;
        Ok(())
    }

    /// Take what is no event.
    #[cold]
    #[inline(never)]
    fn take_other(&mut self, py: Python<'_>, found: Found, outside: &Outside<'_>) -> PyResult<()> {
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
                Ok(chunk) => self.follow.chunk(payload, &chunk, outside.told)?,
                Err(error) => {
                    self.unusual(py, "mend", Some(payload), error.into_value(py), 0, 0)?;
                    while let Some(chunk) = self.waiting.pop(py)? {
                        self.follow.chunk(payload, &chunk, outside.told)?;
                    }
                }
            }
        }
        Ok(())
    }

    /// The stream is over because of an exception, which passes through unless `unusual` puts another in its place.
    #[cold]
    #[inline(never)]
    fn failed(&mut self, py: Python<'_>, error: PyErr, outside: &Outside<'_>) -> PyErr {
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
    fn unusual<'py>(
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
    fn hand_out(&mut self, py: Python<'_>, want: Want, outside: &Outside<'_>) -> PyResult<Option<Py<PyAny>>> {
        let Some(item) = self.waiting.pop(py)? else { return Ok(None) };
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

    /// A chunk is complete: follow it, and give what is wanted of it, if it has that.
    #[inline(always)]
    fn give(
        &mut self,
        payload: Bound<'_, PyBytes>,
        chunk: Bound<'_, PyAny>,
        want: Want,
        outside: &Outside<'_>,
    ) -> PyResult<Option<Py<PyAny>>> {
        let py = payload.py();
        count(&outside.told.chunks);
        self.undecoded.forget();
        self.follow.chunk(&payload, &chunk, outside.told)?;
        Ok(match want {
            Want::Chunk => Some(chunk.unbind()),
            Want::Payload => Some(payload.into_any().unbind()),
            Want::Pair => Some((payload, chunk).into_py_any(py)?),
            Want::Text => self.follow.facts.text(&chunk)?,
        })
    }

    pub(crate) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.reads.traverse(visit)?;
        self.follow.traverse(visit)?;
        visit.call(&self.decode)?;
        visit.call(&self.unusual)?;
        self.waiting.traverse(visit)
    }

    pub(crate) fn clear(&mut self) {
        self.stop();
        self.follow.clear();
        self.undecoded.forget();
        self.decode = None;
        self.unusual = None;
        self.waiting.clear();
    }
}
