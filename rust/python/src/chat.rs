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

mod known;
mod unusual;
mod ways;

use std::sync::LazyLock;
use std::sync::atomic::Ordering;

use memchr::memmem::Finder;
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use pyo3::{IntoPyObjectExt, PyTraverseError, PyVisit};
use ssewire_core::{DONE, is_done};

use crate::alike::Alike;
use crate::chunks::Want;
use crate::errors::closed;
use crate::follow::{Facts, Follow};
use crate::found::Found;
use crate::in_force::InForce;
use crate::reads::Reads;
use crate::told::{Outside, count};
use crate::undecoded::Undecoded;
use crate::waiting::Waiting;

/// All shapes of an error have this somewhere: as the key of an object, or as the value of `type` or `object`.
static ERROR: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"error\""));

pub(crate) struct Chat {
    pub(crate) reads: Reads,
    pub(crate) follow: Follow,
    decode: Option<Py<PyAny>>,
    unusual: Option<Py<PyAny>>,
    /// Takes each chunk that is handed out, and the usage so far, where chunks are merged.
    pub(crate) merge: Option<Py<PyAny>>,
    /// What is known of events that are like earlier ones; nothing where each is to be decoded.
    alike: Option<Alike>,
    waiting: Waiting,
    /// A batch has chunks, so that neither an error nor the sentinel may come before they are handed out.
    batching: bool,
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
    pub(crate) fn new(reads: Reads, decode: Py<PyAny>, unusual: Py<PyAny>, facts: Facts, alike: Option<Alike>) -> Self {
        Self {
            reads,
            follow: Follow::new(facts),
            decode: Some(decode),
            unusual: Some(unusual),
            merge: None,
            alike,
            waiting: Waiting::default(),
            batching: false,
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
        if let Some(alike) = &mut self.alike {
            alike.forget();
        }
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
                if self.reads.turn.is_over() || (self.batching && !self.waiting.chunk_is_next(py)?) {
                    return Ok(None);
                }
                self.hand_out(py, want, outside)?
            } else if let Some(place) = self.find_alike(py, want) {
                self.take_alike(py, place, want, outside)?
            } else if let Some((data, offset)) = self.reads.find_plain(py) {
                let payload = PyBytes::new(py, data);
                let number = count(&outside.told.events);
                self.take_payload(payload, want, Event { number, offset, cut: false }, outside)?
            } else if self.over {
                return Ok(None);
            } else {
                let found = self.reads.find(py);
                self.in_force.tell(&self.reads, &outside.told.in_force);
                outside.told.saw(&self.reads);
                match found {
                    // Whoever closed it could not come in.
                    Ok(None) if outside.closed.load(Ordering::Acquire) => {
                        return Err(self.failed(py, closed(py), outside));
                    }
                    Ok(None) => continue,
                    Ok(Some(Found::NeedMore)) => return Ok(None),
                    Ok(Some(found)) => self.take(py, found, want, outside)?,
                    Err(error) if self.reads.is_pulling() => return Err(self.failed(py, error, outside)),
                    Err(error) => return Err(error),
                }
            };
            if given.is_some() {
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
        if self.is_alike(py, data, bare, want) {
            let given = self.take_alike(py, data, want, outside)?;
            self.reads.release();
            self.waiting.release();
            return Ok(given);
        }
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
        if want == Want::Payload && !event.cut && self.merge.is_none() {
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
            Ok(chunk) => {
                if let Some(alike) = &mut self.alike {
                    alike.learn(data, &chunk, decode.bind(py))?;
                }
                self.give(payload, chunk, want, outside)
            }
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
            if self.batching {
                self.waiting.push_front(py.None());
            } else {
                self.take_done(py, event.number, event.offset, outside)?;
            }
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
        self.follow.chunk(Some(&payload), &chunk, &mut self.reads.came, outside.told)?;
        if self.merge.is_some() {
            self.merge(&chunk, outside)?;
        }
        Ok(match want {
            Want::Chunk => Some(chunk.unbind()),
            Want::Payload => Some(payload.into_any().unbind()),
            Want::Pair => Some((payload, chunk).into_py_any(py)?),
            Want::Text => self.follow.facts.text(&chunk)?,
            Want::Nothing => None,
        })
    }

    #[inline(never)]
    fn merge(&self, chunk: &Bound<'_, PyAny>, outside: &Outside<'_>) -> PyResult<()> {
        let py = chunk.py();
        if let Some(merge) = &self.merge {
            merge.bind(py).call1((chunk, outside.told.usage(py)))?;
        }
        Ok(())
    }

    pub(crate) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.reads.traverse(visit)?;
        self.follow.traverse(visit)?;
        visit.call(&self.decode)?;
        visit.call(&self.unusual)?;
        visit.call(&self.merge)?;
        self.waiting.traverse(visit)
    }

    pub(crate) fn clear(&mut self) {
        self.stop();
        self.follow.clear();
        self.undecoded.forget();
        self.decode = None;
        self.unusual = None;
        self.merge = None;
        self.waiting.clear();
    }
}
