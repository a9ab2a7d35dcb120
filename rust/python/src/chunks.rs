//! `ChunkDecoder`: reads in, chunks out; pushed with `feed`, or pulled from a source.

use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyIterator, PyString};
use pyo3::{PyTraverseError, PyVisit};
use ssewire_core::Framer;
use try_lock::{Locked, TryLock};

use crate::alike::Alike;
use crate::buffer::to_bytes;
use crate::chat::Chat;
use crate::errors::{enter, finished, guarded, relayed};
use crate::follow::Facts;
use crate::member::Members;
use crate::plan::Layouts;
use crate::reads::{DETACH_MIN, Reads};
use crate::times;
use crate::told::{Outside, Told};
use crate::turn::Needs;

const CLASS: &str = "ChunkDecoder";

#[pyclass(frozen, subclass, generic, module = "ssewire._core", weakref)]
pub(crate) struct ChunkDecoder {
    closed: AtomicBool,
    /// What is fed is followed only, and handed out by nobody.
    relayed: AtomicBool,
    done: AtomicBool,
    told: Told,
    state: TryLock<Chat>,
}

#[pymethods]
impl ChunkDecoder {
    #[new]
    #[pyo3(signature = (decode, unusual, *, facts = None, max_event_size, accelerate = true, detach_min = None))]
    fn py_new(
        py: Python<'_>,
        decode: Py<PyAny>,
        unusual: Py<PyAny>,
        facts: Option<Py<PyAny>>,
        max_event_size: usize,
        accelerate: bool,
        detach_min: Option<usize>,
    ) -> PyResult<Self> {
        let layouts = if accelerate && facts.is_none() { Layouts::built_in(py)? } else { None };
        let facts = match facts {
            Some(function) => Facts::Function(Some(function)),
            None => Facts::BuiltIn(Members::built_in(py)?),
        };
        let framer = Framer::new(max_event_size).show_ignored(true);
        let mut reads = Reads::new(framer, true, detach_min.unwrap_or(DETACH_MIN));
        reads.take_times(true);
        Ok(Self {
            closed: AtomicBool::new(false),
            relayed: AtomicBool::new(false),
            done: AtomicBool::new(false),
            told: Told::new(py),
            state: TryLock::new(Chat::new(reads, decode, unusual, facts, layouts.map(Alike::new))),
        })
    }

    /// Take the next read; give this decoder, an iterator over the chunks that are complete so far.
    pub(crate) fn feed<'py>(slf: Bound<'py, Self>, data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Self>> {
        let data = to_bytes(data)?;
        let mut state = slf.get().enter(slf.py())?;
        if state.reads.is_finished() {
            return Err(finished(slf.py(), CLASS));
        }
        state.reads.feed(data);
        slf.get().told.saw(&state.reads);
        drop(state);
        Ok(slf)
    }

    /// Take the end of the input; give this decoder, an iterator over what is left.
    pub(crate) fn finish(slf: Bound<'_, Self>) -> PyResult<Bound<'_, Self>> {
        slf.get().enter(slf.py())?.reads.finish(slf.py());
        Ok(slf)
    }

    /// Go back to the start, for another stream.
    fn reset(&self, py: Python<'_>) -> PyResult<()> {
        self.enter(py)?.reset();
        self.relayed.store(false, Ordering::Release);
        self.done.store(false, Ordering::Release);
        self.told.reset(py);
        Ok(())
    }

    fn pull_from(&self, source: &Bound<'_, PyIterator>) -> PyResult<()> {
        self.enter(source.py())?.reads.pull_from(source.clone().unbind());
        Ok(())
    }

    /// Take no time of any read.
    fn take_no_times(&self, py: Python<'_>) -> PyResult<()> {
        self.enter(py)?.reads.take_times(false);
        Ok(())
    }

    /// May come from any thread, and waits for none.
    pub(crate) fn close(&self) {
        self.closed.store(true, Ordering::Release);
        if let Some(mut state) = self.state.try_lock() {
            state.stop();
        }
    }

    /// From now on call `merge(chunk, usage so far)` with each chunk that is handed out.
    fn merge_with(&self, py: Python<'_>, merge: Py<PyAny>) -> PyResult<()> {
        self.enter(py)?.merge = Some(merge);
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

    /// From now on hand nothing out.
    fn relay(&self, py: Python<'_>) -> PyResult<()> {
        let _alone = self.enter(py)?;
        self.relayed.store(true, Ordering::Release);
        Ok(())
    }

    /// Follow what was fed, for a bounded number of events or bytes, without handing it out; gives whether there is more.
    fn follow(&self, py: Python<'_>) -> PyResult<bool> {
        guarded(py, &self.closed, || self.enter(py)?.follow_along(py, &self.outside()))
    }

    fn payloads(slf: Py<Self>) -> ChunkView {
        ChunkView { decoder: slf, want: Want::Payload }
    }

    fn pairs(slf: Py<Self>) -> ChunkView {
        ChunkView { decoder: slf, want: Want::Pair }
    }

    fn texts(slf: Py<Self>) -> ChunkView {
        ChunkView { decoder: slf, want: Want::Text }
    }

    fn batches(slf: Py<Self>, most: usize) -> ChunkBatches {
        ChunkBatches { decoder: slf, most }
    }

    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        self.next(py, Want::Chunk)
    }

    #[getter]
    fn done(&self) -> bool {
        self.done.load(Ordering::Acquire)
    }

    #[getter]
    fn closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Whether the stream has ended, and nothing more will come.
    #[getter]
    fn over(&self) -> bool {
        self.state.try_lock().is_some_and(|state| state.is_over())
    }

    #[getter]
    fn usage(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.told.usage(py)
    }

    #[getter]
    fn finish_reasons<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        match self.told.finish_reasons(py) {
            Some(reasons) => reasons.bind(py).copy(),
            None => Ok(PyDict::new(py)),
        }
    }

    /// The last event id in force; "" when none was sent.
    #[getter]
    fn last_event_id<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> {
        PyString::new(py, &String::from_utf8_lossy(&self.told.in_force().last_event_id))
    }

    /// The reconnection time that the stream has sent last, in milliseconds.
    #[getter]
    fn retry(&self) -> Option<u64> {
        self.told.in_force().retry
    }

    #[getter]
    fn events(&self) -> u64 {
        self.told.events.load(Ordering::Relaxed)
    }

    #[getter]
    fn chunks(&self) -> u64 {
        self.told.chunks.load(Ordering::Relaxed)
    }

    /// Those of the chunks that were recognised, and not decoded.
    #[getter]
    fn recognised(&self) -> u64 {
        self.told.recognised.load(Ordering::Relaxed)
    }

    #[getter]
    fn comments(&self) -> u64 {
        self.told.comments.load(Ordering::Relaxed)
    }

    #[getter]
    fn bytes(&self) -> u64 {
        self.told.bytes.load(Ordering::Relaxed)
    }

    /// When the first byte and the texts came, in seconds.
    #[getter]
    fn times(&self) -> times::Told {
        self.told.times.told()
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        self.told.traverse(&visit)?;
        self.state.try_lock().map_or(Ok(()), |state| state.traverse(&visit))
    }

    fn __clear__(&self) {
        if let Some(mut state) = self.state.try_lock() {
            state.clear();
        }
    }
}

impl ChunkDecoder {
    fn enter<'a>(&'a self, py: Python<'_>) -> PyResult<Locked<'a, Chat>> {
        enter(py, &self.state, &self.closed, CLASS)
    }

    /// What it needs when nothing is there to be handed out.
    pub(crate) fn needs(&self) -> Needs {
        self.state.try_lock().map_or(Needs::Read, |state| state.reads.turn.needs(state.is_over()))
    }

    fn outside(&self) -> Outside<'_> {
        Outside { told: &self.told, closed: &self.closed, done: &self.done }
    }

    pub(crate) fn next(&self, py: Python<'_>, want: Want) -> PyResult<Option<Py<PyAny>>> {
        guarded(py, &self.closed, || self.enter_to_hand_out(py)?.next(py, want, &self.outside()))
    }

    #[inline]
    fn enter_to_hand_out<'a>(&'a self, py: Python<'_>) -> PyResult<Locked<'a, Chat>> {
        let entered = self.enter(py)?;
        if self.relayed.load(Ordering::Relaxed) { Err(relayed(py)) } else { Ok(entered) }
    }
}

/// What an iteration gives for each chunk.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Want {
    Chunk,
    Payload,
    Pair,
    Text,
    /// It is only followed.
    Nothing,
}

/// Another way to iterate over the same decoder.
#[pyclass(frozen, generic, module = "ssewire._core")]
pub(crate) struct ChunkView {
    decoder: Py<ChunkDecoder>,
    want: Want,
}

#[pymethods]
impl ChunkView {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    pub(crate) fn __next__(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        self.decoder.get().next(py, self.want)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.decoder)
    }
}

/// Iterates over lists of the chunks that need no further read.
#[pyclass(frozen, generic, module = "ssewire._core")]
pub(crate) struct ChunkBatches {
    decoder: Py<ChunkDecoder>,
    /// So many chunks a list has at the most.
    most: usize,
}

#[pymethods]
impl ChunkBatches {
    fn __iter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    fn __next__(&self, py: Python<'_>) -> PyResult<Option<Py<PyAny>>> {
        let decoder = self.decoder.get();
        guarded(py, &decoder.closed, || decoder.enter_to_hand_out(py)?.batch(py, self.most, &decoder.outside()))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.decoder)
    }
}
