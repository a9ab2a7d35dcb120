//! How much is done at a stretch: an event loop, or whoever else waits, gets a turn after that.

use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// So much is done at a stretch. One is an event or a read, and a kibibyte of data, each of which takes an asynchronous
/// stream a fraction of a microsecond: so a stretch takes about a tenth of a millisecond, and as long as the user's own
/// code for so many events. An event is never divided, so a large one takes its own time.
/// Measured by `python -m benches.fairness --save fairness`, in `benches/results/fairness.json`.
const STRETCH: u64 = 256;

/// What a decoder needs to go on, when nothing is there to be handed out.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Needs {
    Read,
    Turn,
    /// Nothing more will come.
    Nothing,
}

/// Counts down what may be done until the next turn.
pub(crate) struct Turn {
    left: u64,
    most: u64,
}

impl Turn {
    /// Without end, unless [`Turn::limit`] is called.
    pub(crate) fn unlimited() -> Self {
        Self { left: u64::MAX, most: u64::MAX }
    }

    /// From now on be over after a stretch; gives what was the limit before.
    pub(crate) fn limit(&mut self) -> u64 {
        self.left = self.left.min(STRETCH);
        std::mem::replace(&mut self.most, STRETCH)
    }

    /// Go back to an earlier limit.
    pub(crate) fn restore(&mut self, most: u64) {
        self.most = most;
        self.left = if most == u64::MAX { most } else { self.left };
    }

    /// An event, a line or a read was taken, with so many bytes.
    #[inline]
    pub(crate) fn spend(&mut self, bytes: usize) {
        self.left = self.left.saturating_sub(1 + (bytes as u64 >> 10));
    }

    /// So many bytes were looked through, whatever was in them.
    #[inline]
    pub(crate) fn spend_bytes(&mut self, bytes: usize) {
        self.left = self.left.saturating_sub(bytes as u64 >> 10);
    }

    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        self.left == 0
    }

    /// What is needed by a decoder with nothing to hand out, which may be over.
    pub(crate) fn needs(&self, over: bool) -> Needs {
        match (over, self.is_over()) {
            (true, _) => Needs::Nothing,
            (false, true) => Needs::Turn,
            (false, false) => Needs::Read,
        }
    }

    /// Begin another; gives whether this one was over.
    pub(crate) fn take(&mut self) -> bool {
        let over = self.is_over();
        if over {
            self.left = self.most;
        }
        over
    }
}

/// Let the interpreter do what waits between two steps of Python code: run signal handlers, and give the lock to a thread
/// that has asked for it long enough. Letting go of the lock instead starves the others: each time it wakes them, and is
/// back before they are up, and their waiting begins anew.
pub(crate) fn interpreter_turn(py: Python<'_>) -> PyResult<()> {
    static NOTHING: PyOnceLock<Py<PyAny>> = PyOnceLock::new();
    let nothing = NOTHING.get_or_try_init(py, || py.eval(c"lambda: None", None, None).map(Bound::unbind))?;
    nothing.call0(py).map(drop)
}
