//! Ways to read a chat stream other than one item after another: in batches, or handing out nothing.

use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyList;

use super::Chat;
use crate::chunks::Want;
use crate::told::Outside;

impl Chat {
    /// The chunks that need no further read, at least one and not more than `most`; nothing at the end. What comes
    /// behind them, an error, the sentinel or a read, waits for the next batch.
    pub(crate) fn batch(&mut self, py: Python<'_>, most: usize, outside: &Outside<'_>) -> PyResult<Option<Py<PyAny>>> {
        let Some(first) = self.next(py, Want::Chunk, outside)? else { return Ok(None) };
        let batch = PyList::new(py, [first])?;
        self.batching = true;
        self.reads.resting = true;
        let filled = self.fill(&batch, most, outside);
        self.batching = false;
        self.reads.resting = false;
        if let Err(error) = filled {
            // Ctrl-C does not wait.
            if !error.is_instance_of::<PyException>(py) {
                return Err(error);
            }
            self.waiting.push_front(error.into_value(py).into_any());
        }
        Ok(Some(batch.into_any().unbind()))
    }

    fn fill(&mut self, batch: &Bound<'_, PyList>, most: usize, outside: &Outside<'_>) -> PyResult<()> {
        while batch.len() < most {
            let Some(chunk) = self.next(batch.py(), Want::Chunk, outside)? else { break };
            batch.append(chunk)?;
        }
        Ok(())
    }

    /// Follow what was fed, for a while, without handing it out; gives whether there is more. What is raised is raised
    /// in its place.
    pub(crate) fn follow_along(&mut self, py: Python<'_>, outside: &Outside<'_>) -> PyResult<bool> {
        let before = self.reads.turn.limit();
        self.reads.resting = true;
        let followed = self.next(py, Want::Nothing, outside);
        self.reads.resting = false;
        // Behind an error the stretch goes on where it is.
        let more = followed.is_ok() && self.reads.turn.take();
        self.reads.turn.restore(before);
        followed?;
        Ok(more)
    }
}
