//! The one place where trouble on this side becomes an exception of the Python package.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};

use pyo3::prelude::*;
use ssewire_core::TooLarge;
use try_lock::{Locked, TryLock};

/// `ssewire.errors.SSEWireError(message)`.
fn ssewire_error(py: Python<'_>, message: &str) -> PyErr {
    build(py, "SSEWireError", (message,))
}

pub(crate) fn finished(py: Python<'_>, class: &str) -> PyErr {
    ssewire_error(py, &format!("this {class} was told the end of its input: call reset() before it is fed another"))
}

#[cold]
pub(crate) fn relayed(py: Python<'_>) -> PyErr {
    ssewire_error(
        py,
        "this stream hands out its bytes since iter_bytes() was begun, and no chunks; accumulate=True merges them",
    )
}

#[cold]
pub(crate) fn closed(py: Python<'_>) -> PyErr {
    ssewire_error(
        py,
        "the stream is closed: it was closed before its end, by close(), by leaving its with block or by a cancelled read",
    )
}

pub(crate) fn event_too_large(py: Python<'_>, found: TooLarge) -> PyErr {
    build(py, "EventTooLargeError", (found.limit, found.offset))
}

fn build<'py>(py: Python<'py>, name: &str, arguments: impl pyo3::call::PyCallArgs<'py>) -> PyErr {
    match py.import("ssewire.errors").and_then(|errors| errors.getattr(name)).and_then(|class| class.call1(arguments)) {
        Ok(error) => PyErr::from_value(error),
        Err(error) => error,
    }
}

/// Take the state of a decoder, which one thread at a time may have. Never waits: the thread that has it may be
/// waiting for the network.
#[inline(always)]
pub(crate) fn enter<'a, T>(
    py: Python<'_>,
    state: &'a TryLock<T>,
    closed: &AtomicBool,
    class: &str,
) -> PyResult<Locked<'a, T>> {
    if closed.load(Ordering::Acquire) {
        return Err(self::closed(py));
    }
    state.try_lock().ok_or_else(|| {
        ssewire_error(
            py,
            &format!("this {class} is being read already: a stream belongs to one thread or task at a time"),
        )
    })
}

/// Run a step; a panic becomes an error that names a bug of ours, and closes the decoder. (The trampoline would raise
/// a `BaseException`, which passes every `except Exception` around a worker's step.)
#[inline]
pub(crate) fn guarded<T>(py: Python<'_>, closed: &AtomicBool, step: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    catch_unwind(AssertUnwindSafe(step)).unwrap_or_else(|panic| {
        closed.store(true, Ordering::Release);
        let what = panic
            .downcast_ref::<&str>()
            .map(ToString::to_string)
            .or_else(|| panic.downcast_ref::<String>().cloned())
            .unwrap_or_default();
        Err(ssewire_error(py, &format!("a bug in ssewire, please report it: {what}")))
    })
}
