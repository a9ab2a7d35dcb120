//! Events that are like earlier ones, so that it is known without decoding what they say.

use pyo3::IntoPyObjectExt;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::Chat;
use crate::alike::TextOf;
use crate::chunks::Want;
use crate::found::Place;
use crate::told::{Outside, count};

impl Chat {
    /// Find the next event, where it is a plain one like an earlier one.
    #[inline(always)]
    pub(super) fn find_alike(&mut self, py: Python<'_>, want: Want) -> Option<Place> {
        // A payload that is handed out as it is need not be known.
        if want == Want::Payload && self.merge.is_none() {
            return None;
        }
        self.reads.find_alike(py, self.alike.as_mut()?)
    }

    /// Whether an event that was found is like an earlier one.
    #[inline]
    pub(super) fn is_alike(&mut self, py: Python<'_>, place: Place, bare: bool, want: Want) -> bool {
        if (want == Want::Payload && self.merge.is_none()) || self.reads.is_cut(py) {
            return false;
        }
        let (name, _, _) = self.reads.fields(bare);
        let Some(alike) = self.alike.as_mut().filter(|_| name.is_empty()) else { return false };
        let data = self.reads.data(py, place);
        alike.find(data) == Some(data.len())
    }

    /// Take an event that was found to be like an earlier one: the same as decoding it, following the chunk and giving
    /// what is wanted of it, but that only what is asked for is made.
    #[inline]
    pub(super) fn take_alike(
        &mut self,
        py: Python<'_>,
        place: Place,
        want: Want,
        outside: &Outside<'_>,
    ) -> PyResult<Option<Py<PyAny>>> {
        let Some(alike) = &mut self.alike else { return Ok(None) };
        count(&outside.told.events);
        let data = self.reads.data(py, place);
        let Some((known, found)) = alike.take(data) else { return Ok(None) };
        let text = match known.text {
            TextOf::Hole(hole) => Some(hole).filter(|hole| found.has(*hole)),
            TextOf::Nothing | TextOf::Chunk => None,
        };
        // What the chunk alone tells: usage, and text that is not in one place.
        let asks_for_text = want == Want::Text || self.reads.came.is_some();
        let ask = known.has_usage || (asks_for_text && known.text == TextOf::Chunk);
        let mut given = match (want, text) {
            (Want::Text, Some(hole)) => Some(found.value(py, hole)?.unbind()),
            (Want::Payload | Want::Pair, _) => Some(PyBytes::new(py, data).into_any().unbind()),
            _ => None,
        };
        let chunk = if ask || self.merge.is_some() || matches!(want, Want::Chunk | Want::Pair) {
            Some(alike.build(py, data)?)
        } else {
            None
        };
        count(&outside.told.chunks);
        count(&outside.told.recognised);
        self.undecoded.forget();
        match &chunk {
            Some(chunk) if ask => self.follow.chunk(None, chunk, &mut self.reads.came, outside.told)?,
            _ => self.follow.known_chunk(alike.choices(), text.is_some(), &mut self.reads.came, outside.told),
        }
        if let Some(chunk) = chunk {
            if self.merge.is_some() {
                self.merge(&chunk, outside)?;
            }
            given = match want {
                Want::Chunk => Some(chunk.unbind()),
                Want::Pair => Some((given, chunk).into_py_any(py)?),
                Want::Text if text.is_none() => self.follow.facts.text(&chunk)?,
                Want::Text | Want::Payload | Want::Nothing => given,
            };
        }
        Ok(given)
    }
}
