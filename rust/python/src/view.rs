//! One way to iterate over a decoder, asked without the interpreter in between where it is compiled.

use pyo3::prelude::*;
use pyo3::types::PyIterator;
use pyo3::{PyTraverseError, PyVisit};

use crate::chunks::{ChunkDecoder, ChunkView, Want};
use crate::events::SSEDecoder;

#[derive(FromPyObject)]
pub(crate) enum View {
    Chunks(Py<ChunkDecoder>),
    OfChunks(Py<ChunkView>),
    Events(Py<SSEDecoder>),
    Any(Py<PyIterator>),
}

impl View {
    #[inline]
    pub(crate) fn next<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let item = match self {
            Self::Chunks(decoder) => decoder.get().next(py, Want::Chunk)?,
            Self::OfChunks(view) => view.get().__next__(py)?,
            Self::Events(decoder) => decoder.get().__next__(py)?,
            Self::Any(view) => return view.bind(py).clone().next().transpose(),
        };
        Ok(item.map(|item| item.into_bound(py)))
    }

    pub(crate) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        match self {
            Self::Chunks(view) => visit.call(view),
            Self::OfChunks(view) => visit.call(view),
            Self::Events(view) => visit.call(view),
            Self::Any(view) => visit.call(view),
        }
    }
}
