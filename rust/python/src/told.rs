//! What a chat stream tells of itself at any time, to any thread, while another reads it.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use pyo3::prelude::*;
use pyo3::types::PyDict;
use pyo3::{PyTraverseError, PyVisit};

use crate::in_force::InForce;
use crate::reads::Reads;
use crate::times::Times;

/// What may be read at any time, from any thread.
pub(crate) struct Told {
    pub(crate) events: AtomicU64,
    pub(crate) chunks: AtomicU64,
    /// Those of the chunks that were recognised, and not decoded.
    pub(crate) recognised: AtomicU64,
    pub(crate) comments: AtomicU64,
    pub(crate) bytes: AtomicU64,
    pub(crate) times: Times,
    usage: Mutex<Option<Py<PyAny>>>,
    finish_reasons: Mutex<Py<PyDict>>,
    pub(crate) in_force: Mutex<InForce>,
}

impl Told {
    pub(crate) fn new(py: Python<'_>) -> Self {
        Self {
            events: AtomicU64::new(0),
            chunks: AtomicU64::new(0),
            recognised: AtomicU64::new(0),
            comments: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            times: Times::default(),
            usage: Mutex::new(None),
            finish_reasons: Mutex::new(PyDict::new(py).unbind()),
            in_force: Mutex::default(),
        }
    }

    pub(crate) fn usage(&self, py: Python<'_>) -> Option<Py<PyAny>> {
        self.usage.lock().ok()?.as_ref().map(|usage| usage.clone_ref(py))
    }

    pub(crate) fn finish_reasons(&self, py: Python<'_>) -> Option<Py<PyDict>> {
        self.finish_reasons.lock().ok().map(|reasons| reasons.clone_ref(py))
    }

    pub(crate) fn in_force(&self) -> InForce {
        self.in_force.lock().map(|in_force| in_force.clone()).unwrap_or_default()
    }

    /// The reads stand so now.
    pub(crate) fn saw(&self, reads: &Reads) {
        let before = self.bytes.load(Ordering::Relaxed);
        self.bytes.store(reads.bytes_read(), Ordering::Relaxed);
        if before == 0
            && let Some(came) = reads.first_byte()
        {
            self.times.byte(came);
        }
    }

    pub(crate) fn set_usage(&self, usage: Bound<'_, PyAny>) {
        let earlier = self.usage.lock().ok().and_then(|mut last| last.replace(usage.unbind()));
        // Dropped here, where no lock is held: it may run code of the user's.
        drop(earlier);
    }

    pub(crate) fn reset(&self, py: Python<'_>) {
        for counter in [&self.events, &self.chunks, &self.recognised, &self.comments, &self.bytes] {
            counter.store(0, Ordering::Relaxed);
        }
        self.times.reset();
        let usage = self.usage.lock().ok().and_then(|mut last| last.take());
        let reasons = PyDict::new(py).unbind();
        let reasons = self.finish_reasons.lock().map(|mut last| std::mem::replace(&mut *last, reasons));
        if let Ok(mut in_force) = self.in_force.lock() {
            *in_force = InForce::default();
        }
        drop((usage, reasons));
    }

    pub(crate) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        if let Ok(usage) = self.usage.try_lock() {
            visit.call(&*usage)?;
        }
        if let Ok(reasons) = self.finish_reasons.try_lock() {
            visit.call(&*reasons)?;
        }
        Ok(())
    }
}

/// What the state shows outside, without being entered.
pub(crate) struct Outside<'a> {
    pub(crate) told: &'a Told,
    pub(crate) closed: &'a AtomicBool,
    pub(crate) done: &'a AtomicBool,
}

/// Add one to a counter that only one thread writes.
pub(crate) fn count(counter: &AtomicU64) -> u64 {
    let number = counter.load(Ordering::Relaxed) + 1;
    counter.store(number, Ordering::Relaxed);
    number
}
