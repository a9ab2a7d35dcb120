//! `SSEDecoder`: reads in, server-sent events out; pushed with `feed`, or pulled from a source.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::{PyIterator, PyString};
use pyo3::{PyTraverseError, PyVisit};
use ssewire_core::{Framer, is_done};
use try_lock::{Locked, TryLock};

use crate::buffer::to_bytes;
use crate::errors::{closed, enter, event_too_large, finished, guarded};
use crate::event::{IgnoredLine, ServerSentEvent};
use crate::found::Found;
use crate::in_force::InForce;
use crate::reads::{DETACH_MIN, Reads};
use crate::told::count;
use crate::turn::Needs;

const CLASS: &str = "SSEDecoder";

#[pyclass(frozen, subclass, generic, module = "ssewire._core", weakref)]
pub(crate) struct SSEDecoder {
    closed: AtomicBool,
    state: TryLock<Events>,
    /// What may be asked for while another thread reads.
    events: AtomicU64,
    in_force: Mutex<InForce>,
}

struct Events {
    reads: Reads,
    /// Told how a stream ended: `"end"`, `"too_large"` or `"failed"`, and the exception; may give another exception to
    /// raise. A decoder without it is nobody's stream, and goes on behind an event that is too large.
    unusual: Option<Py<PyAny>>,
    over: bool,
    in_force: InForce,
    /// The sentinel of a chat stream was handed out, as the event it is here.
    done: bool,
}

impl Events {
    fn next(&mut self, py: Python<'_>, decoder: &SSEDecoder) -> PyResult<Option<Py<PyAny>>> {
        if self.over {
            return Ok(None);
        }
        loop {
            if let Some((data, _)) = self.reads.find_plain(py) {
                let sentinel = data.first() != Some(&b'{') && is_done(data);
                let event = ServerSentEvent::new(py, data, b"", b"", None)?;
                self.done |= sentinel;
                count(&decoder.events);
                return Ok(Some(Py::new(py, event)?.into_any()));
            }
            if let Some(outcome) = self.step(py, decoder) {
                return outcome;
            }
        }
    }

    /// One step of what is no plain event in a small read; nothing where that may be next.
    #[inline(never)]
    fn step(&mut self, py: Python<'_>, decoder: &SSEDecoder) -> Option<PyResult<Option<Py<PyAny>>>> {
        let found = self.reads.find(py);
        self.in_force.tell(&self.reads, &decoder.in_force);
        match found {
            // Whoever closed it could not come in.
            Ok(None) if decoder.closed.load(Ordering::Acquire) => {
                Some(self.stop(py, "failed", Some(closed(py)), &decoder.closed))
            }
            Ok(None) => None,
            Ok(Some(found)) => Some(self.take(py, found, decoder)),
            Err(error) if self.reads.is_pulling() => {
                // A read that was interrupted, not one that failed, must never look like an end.
                if !error.is_instance_of::<PyException>(py) {
                    decoder.closed.store(true, Ordering::Release);
                }
                Some(self.stop(py, "failed", Some(error), &decoder.closed))
            }
            Err(error) => Some(Err(error)),
        }
    }

    fn take(&mut self, py: Python<'_>, found: Found, decoder: &SSEDecoder) -> PyResult<Option<Py<PyAny>>> {
        let framer = self.reads.framer();
        match found {
            Found::NeedMore => Ok(None),
            Found::End => self.stop(py, "end", None, &decoder.closed),
            Found::Event { data, bare, .. } => {
                count(&decoder.events);
                let (name, id, retry) = self.reads.fields(bare);
                let data = self.reads.data(py, data);
                self.done |= is_done(data);
                let event = ServerSentEvent::new(py, data, name, id, retry)?;
                self.reads.release();
                Ok(Some(Py::new(py, event)?.into_any()))
            }
            Found::Ignored { line, comment, in_event, .. } => {
                let line = IgnoredLine::new(self.reads.bytes(py, line, framer.line()), comment, in_event);
                Ok(Some(Py::new(py, line)?.into_any()))
            }
            Found::TooLarge(found) => {
                let error = event_too_large(py, found);
                if self.unusual.is_none() {
                    Err(error)
                } else {
                    self.stop(py, "too_large", Some(error), &decoder.closed)
                }
            }
        }
    }

    /// The stream is over: the source is let go, and whoever opened it is told.
    fn stop(
        &mut self,
        py: Python<'_>,
        kind: &str,
        error: Option<PyErr>,
        closed: &AtomicBool,
    ) -> PyResult<Option<Py<PyAny>>> {
        self.reads.stop();
        self.over = true;
        if let Some(unusual) = &self.unusual {
            let unusual = unusual.bind(py);
            match unusual.call1((kind, error.as_ref().map(|error| error.value(py)))) {
                Ok(instead) if !instead.is_none() => return Err(PyErr::from_value(instead)),
                Ok(_) => {}
                Err(other) => {
                    if !other.is_instance_of::<PyException>(py) {
                        // A signal that was waiting came before anything was told: it is what the stream ends by.
                        closed.store(true, Ordering::Release);
                        unusual.call1(("failed", other.value(py)))?;
                    }
                    return Err(other);
                }
            }
        }
        error.map_or(Ok(None), Err)
    }
}

#[pymethods]
impl SSEDecoder {
    #[new]
    #[pyo3(signature = (*, max_event_size, ignored_lines = false, unusual = None, detach_min = None))]
    fn py_new(
        max_event_size: usize,
        ignored_lines: bool,
        unusual: Option<Py<PyAny>>,
        detach_min: Option<usize>,
    ) -> Self {
        let framer = Framer::new(max_event_size).show_ignored(ignored_lines);
        Self {
            closed: AtomicBool::new(false),
            state: TryLock::new(Events {
                reads: Reads::new(framer, false, detach_min.unwrap_or(DETACH_MIN)),
                unusual,
                over: false,
                in_force: InForce::default(),
                done: false,
            }),
            events: AtomicU64::new(0),
            in_force: Mutex::default(),
        }
    }

    /// Take the next read; give this decoder, an iterator over what is complete so far.
    pub(crate) fn feed<'py>(slf: Bound<'py, Self>, data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Self>> {
        let data = to_bytes(data)?;
        let mut state = slf.get().enter(slf.py())?;
        if state.reads.is_finished() {
            return Err(finished(slf.py(), CLASS));
        }
        state.reads.feed(data);
        drop(state);
        Ok(slf)
    }

    /// Take the end of the input; give this decoder, an iterator over what is left.
    #[pyo3(signature = (*, deliver = false))]
    pub(crate) fn finish(slf: Bound<'_, Self>, deliver: bool) -> PyResult<Bound<'_, Self>> {
        let mut state = slf.get().enter(slf.py())?;
        state.reads.deliver_last(deliver);
        state.reads.finish(slf.py());
        drop(state);
        Ok(slf)
    }

    /// Go back to the start, for another stream.
    fn reset(&self, py: Python<'_>) -> PyResult<()> {
        let mut state = self.enter(py)?;
        state.reads.reset();
        state.over = false;
        state.in_force = InForce::default();
        state.done = false;
        drop(state);
        self.events.store(0, Ordering::Relaxed);
        if let Ok(mut in_force) = self.in_force.lock() {
            *in_force = InForce::default();
        }
        Ok(())
    }

    /// Let the decoder ask `source` for its reads.
    fn pull_from(&self, source: &Bound<'_, PyIterator>) -> PyResult<()> {
        self.enter(source.py())?.reads.pull_from(source.clone().unbind());
        Ok(())
    }

    /// From now on pause after a bounded number of events or bytes.
    fn take_turns(&self, py: Python<'_>) -> PyResult<()> {
        self.enter(py)?.reads.turn.limit();
        Ok(())
    }

    /// Whether it pauses; it goes on when it is asked again.
    fn pausing(&self) -> bool {
        self.state.try_lock().is_some_and(|mut state| state.reads.turn.take())
    }

    /// May come from any thread, and waits for none.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Release);
        if let Some(mut state) = self.state.try_lock() {
            state.reads.stop();
        }
    }

    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    pub(crate) fn __next__(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        guarded(py, &self.closed, || self.enter(py)?.next(py, self))
    }

    /// Whether the stream has ended, and nothing more will come.
    #[getter]
    fn over(&self) -> bool {
        self.state.try_lock().is_some_and(|state| state.over)
    }

    /// Whether the sentinel of a chat stream, `[DONE]`, was among the events.
    #[getter]
    fn done(&self) -> bool {
        self.state.try_lock().is_some_and(|state| state.done)
    }

    #[getter]
    fn events(&self) -> u64 {
        self.events.load(Ordering::Relaxed)
    }

    /// The reconnection time that the stream has sent last, in milliseconds.
    #[getter]
    fn retry(&self) -> Option<u64> {
        self.in_force.lock().ok().and_then(|in_force| in_force.retry)
    }

    /// The last event id in force; "" when none was sent.
    #[getter]
    fn last_event_id<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> {
        let id = self.in_force.lock().map(|in_force| in_force.last_event_id.clone()).unwrap_or_default();
        PyString::new(py, &String::from_utf8_lossy(&id))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        let Some(state) = self.state.try_lock() else { return Ok(()) };
        state.reads.traverse(&visit)?;
        visit.call(&state.unusual)
    }

    fn __clear__(&self) {
        if let Some(mut state) = self.state.try_lock() {
            state.reads.stop();
            state.unusual = None;
        }
    }
}

impl SSEDecoder {
    /// What it needs when nothing is there to be handed out.
    pub(crate) fn needs(&self) -> Needs {
        self.state.try_lock().map_or(Needs::Read, |state| state.reads.turn.needs(state.over))
    }

    fn enter<'a>(&'a self, py: Python<'_>) -> PyResult<Locked<'a, Events>> {
        enter(py, &self.state, &self.closed, CLASS)
    }
}
