//! `SSEDecoder`: reads in, server-sent events out; pushed with `feed`, or pulled from a source.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::{PyIterator, PyString};
use pyo3::{PyTraverseError, PyVisit};
use ssewire_core::Framer;
use try_lock::{Locked, TryLock};

use crate::buffer::to_bytes;
use crate::errors::{enter, event_too_large, finished, guarded};
use crate::event::{IgnoredLine, ServerSentEvent};
use crate::reads::{DETACH_MIN, Found, Reads};

const CLASS: &str = "SSEDecoder";

#[pyclass(frozen, subclass, generic, module = "ssewire._core", weakref)]
pub(crate) struct SSEDecoder {
    closed: AtomicBool,
    state: TryLock<Events>,
    /// What may be asked for while another thread reads.
    shown: Mutex<Shown>,
}

struct Events {
    reads: Reads,
    /// Told how a stream ended: `"end"`, `"too_large"` or `"failed"`, and the exception; may give another exception to
    /// raise. A decoder without it is nobody's stream, and goes on behind an event that is too large.
    unusual: Option<Py<PyAny>>,
    over: bool,
    /// The stream has sent an id or a retry.
    tells: bool,
}

#[derive(Default)]
struct Shown {
    retry: Option<u64>,
    last_event_id: Vec<u8>,
}

impl Events {
    fn next(&mut self, py: Python<'_>, decoder: &SSEDecoder) -> PyResult<Option<Py<PyAny>>> {
        if self.over {
            return Ok(None);
        }
        let found = loop {
            if let Some((data, _)) = self.reads.find_plain(py) {
                let event = ServerSentEvent::new(py, data, b"", b"", None)?;
                if self.tells {
                    show(true, b"", self.reads.framer().retry(), &decoder.shown);
                }
                return Ok(Some(Py::new(py, event)?.into_any()));
            }
            match self.reads.find(py) {
                Ok(None) => {}
                Ok(Some(found)) => break found,
                Err(error) if self.reads.is_pulling() => {
                    // A read that was interrupted, not one that failed, must never look like an end.
                    if !error.is_instance_of::<PyException>(py) {
                        decoder.closed.store(true, Ordering::Release);
                    }
                    return self.stop(py, "failed", Some(error));
                }
                Err(error) => return Err(error),
            }
        };
        let framer = self.reads.framer();
        match found {
            Found::NeedMore => {
                self.tells = show(self.tells, framer.last_event_id(), framer.retry(), &decoder.shown);
                Ok(None)
            }
            Found::End => {
                self.tells = show(self.tells, framer.last_event_id(), framer.retry(), &decoder.shown);
                self.stop(py, "end", None)
            }
            Found::Event { data, bare, .. } => {
                let (name, id, retry) = self.reads.fields(bare);
                self.tells = show(self.tells, id, framer.retry(), &decoder.shown);
                let event = ServerSentEvent::new(py, self.reads.data(py, data), name, id, retry)?;
                Ok(Some(Py::new(py, event)?.into_any()))
            }
            Found::Ignored { line, comment, in_event, .. } => {
                let line = IgnoredLine::new(self.reads.bytes(py, line, framer.line()), comment, in_event);
                Ok(Some(Py::new(py, line)?.into_any()))
            }
            Found::TooLarge(found) => {
                let error = event_too_large(py, found);
                if self.unusual.is_none() { Err(error) } else { self.stop(py, "too_large", Some(error)) }
            }
        }
    }

    /// The stream is over: the source is let go, and whoever opened it is told.
    fn stop(&mut self, py: Python<'_>, kind: &str, error: Option<PyErr>) -> PyResult<Option<Py<PyAny>>> {
        self.reads.stop();
        self.over = true;
        if let Some(unusual) = &self.unusual {
            let instead = unusual.bind(py).call1((kind, error.as_ref().map(|error| error.value(py))))?;
            if !instead.is_none() {
                return Err(PyErr::from_value(instead));
            }
        }
        error.map_or(Ok(None), Err)
    }
}

/// Show what is in force. A stream that has never sent an id or a retry, as most, takes no lock.
fn show(tells: bool, id: &[u8], retry: Option<u64>, shown: &Mutex<Shown>) -> bool {
    let tells = tells || !id.is_empty() || retry.is_some();
    if tells && let Ok(mut shown) = shown.lock() {
        shown.retry = retry;
        if shown.last_event_id != id {
            shown.last_event_id = id.to_vec();
        }
    }
    tells
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
                tells: false,
            }),
            shown: Mutex::default(),
        }
    }

    fn feed<'py>(slf: Bound<'py, Self>, data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Self>> {
        let data = to_bytes(data)?;
        let mut state = slf.get().enter(slf.py())?;
        if state.reads.is_finished() {
            return Err(finished(slf.py(), CLASS));
        }
        state.reads.feed(data);
        drop(state);
        Ok(slf)
    }

    #[pyo3(signature = (*, deliver = false))]
    fn finish(slf: Bound<'_, Self>, deliver: bool) -> PyResult<Bound<'_, Self>> {
        let mut state = slf.get().enter(slf.py())?;
        state.reads.deliver_last(deliver);
        state.reads.finish(slf.py());
        drop(state);
        Ok(slf)
    }

    fn reset(&self, py: Python<'_>) -> PyResult<()> {
        let mut state = self.enter(py)?;
        state.reads.reset();
        state.over = false;
        state.tells = false;
        drop(state);
        if let Ok(mut shown) = self.shown.lock() {
            *shown = Shown::default();
        }
        Ok(())
    }

    /// Let the decoder ask `source` for its reads.
    fn pull_from(&self, source: &Bound<'_, PyIterator>) -> PyResult<()> {
        self.enter(source.py())?.reads.pull_from(source.clone().unbind());
        Ok(())
    }

    /// May come from any thread, and waits for none.
    fn close(&self) {
        self.closed.store(true, Ordering::Release);
        if let Some(mut state) = self.state.try_lock() {
            state.reads.stop();
        }
    }

    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        guarded(py, &self.closed, || self.enter(py)?.next(py, self))
    }

    /// Whether the stream has ended, and nothing more will come.
    #[getter]
    fn over(&self) -> bool {
        self.state.try_lock().is_some_and(|state| state.over)
    }

    #[getter]
    fn retry(&self) -> Option<u64> {
        self.shown.lock().ok().and_then(|shown| shown.retry)
    }

    #[getter]
    fn last_event_id<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> {
        let id = self.shown.lock().map(|shown| shown.last_event_id.clone()).unwrap_or_default();
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
    fn enter<'a>(&'a self, py: Python<'_>) -> PyResult<Locked<'a, Events>> {
        enter(py, &self.state, &self.closed, CLASS)
    }
}
