//! The reads of an asynchronous stream, awaited for its decoder, by one task at a time.

use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::exceptions::PyAttributeError;
use pyo3::prelude::*;
use pyo3::types::PyIterator;
use pyo3::{PyTraverseError, PyVisit, intern};

use crate::chunks::ChunkDecoder;
use crate::driving::driver;
use crate::events::SSEDecoder;
use crate::turn::Needs;

#[derive(FromPyObject)]
enum Decoder {
    Chunks(Py<ChunkDecoder>),
    Events(Py<SSEDecoder>),
}

#[pyclass(frozen, module = "ssewire._core")]
pub(crate) struct AwaitedReads {
    decoder: Decoder,
    reads: Py<PyAny>,
    /// `builtins.anext`: finding the method by its name takes longer.
    anext: Py<PyAny>,
    /// What a generator gives to be awaited is driven itself, and need not be asked by what.
    from_generator: bool,
    /// A coroutine that awaits what it is given.
    awaited: Py<PyAny>,
    /// Somebody awaits a read.
    reading: AtomicBool,
    /// A read has failed: no more is asked for.
    over: AtomicBool,
}

#[pymethods]
impl AwaitedReads {
    #[new]
    fn py_new(decoder: Decoder, reads: &Bound<'_, PyAny>, awaited: Py<PyAny>) -> PyResult<Self> {
        let py = reads.py();
        let generator = py.import("types")?.getattr("AsyncGeneratorType")?;
        Ok(Self {
            decoder,
            reads: reads.clone().unbind(),
            anext: py.import("builtins")?.getattr("anext")?.unbind(),
            from_generator: reads.get_type().is(&generator),
            awaited,
            reading: AtomicBool::new(false),
            over: AtomicBool::new(false),
        })
    }

    /// Whether somebody awaits a read.
    #[getter]
    pub(crate) fn reading(&self) -> bool {
        self.reading.load(Ordering::Acquire)
    }

    #[setter]
    pub(crate) fn set_reading(&self, reading: bool) {
        self.reading.store(reading, Ordering::Release);
    }

    /// Ask for no more.
    fn stop(&self) {
        self.over.store(true, Ordering::Release);
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        match &self.decoder {
            Decoder::Chunks(decoder) => visit.call(decoder)?,
            Decoder::Events(decoder) => visit.call(decoder)?,
        }
        visit.call(&self.reads)?;
        visit.call(&self.anext)?;
        visit.call(&self.awaited)
    }
}

impl AwaitedReads {
    /// Somebody begins to await a read, or a turn; gives whether nobody else does.
    pub(crate) fn begin(&self) -> bool {
        !self.reading.swap(true, Ordering::AcqRel)
    }

    /// What the decoder needs, when it has nothing to hand out.
    pub(crate) fn needs(&self) -> Needs {
        if self.over.load(Ordering::Acquire) {
            return Needs::Nothing;
        }
        match &self.decoder {
            Decoder::Chunks(decoder) => decoder.get().needs(),
            Decoder::Events(decoder) => decoder.get().needs(),
        }
    }

    /// What drives the next read.
    pub(crate) fn next<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        let awaitable = self.anext.bind(py).call1((&self.reads,))?;
        if self.from_generator {
            return Ok(awaitable.cast_into()?);
        }
        driver(&awaitable).or_else(|error| {
            if !error.is_instance_of::<PyAttributeError>(py) || awaitable.hasattr(intern!(py, "__await__"))? {
                return Err(error);
            }
            // A generator that stands for a coroutine; or what cannot be awaited, which the interpreter says.
            driver(&self.awaited.bind(py).call1((awaitable,))?)
        })
    }

    /// Hand a read to the decoder.
    pub(crate) fn feed(&self, read: &Bound<'_, PyAny>) -> PyResult<()> {
        match &self.decoder {
            Decoder::Chunks(decoder) => ChunkDecoder::feed(decoder.bind(read.py()).clone(), read).map(drop),
            Decoder::Events(decoder) => SSEDecoder::feed(decoder.bind(read.py()).clone(), read).map(drop),
        }
    }

    /// The reads have ended.
    pub(crate) fn finish(&self, py: Python<'_>) -> PyResult<()> {
        match &self.decoder {
            Decoder::Chunks(decoder) => ChunkDecoder::finish(decoder.bind(py).clone()).map(drop),
            Decoder::Events(decoder) => SSEDecoder::finish(decoder.bind(py).clone(), false).map(drop),
        }
    }

    /// Whoever awaited a read is gone, and the read is lost, which must not look like an end.
    pub(crate) fn abandon(&self) {
        match &self.decoder {
            Decoder::Chunks(decoder) => decoder.get().close(),
            Decoder::Events(decoder) => decoder.get().close(),
        }
        self.set_reading(false);
    }
}
