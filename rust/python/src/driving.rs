//! Driving an awaitable, as `await` in a coroutine does it.

use pyo3::exceptions::{PyBaseException, PyGeneratorExit, PyStopIteration};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::iterator::PySendResult;
use pyo3::types::{PyIterator, PyTuple};

/// The iterator by which an awaitable is driven.
pub(crate) fn driver<'py>(awaitable: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyIterator>> {
    Ok(awaitable.call_method0(intern!(awaitable.py(), "__await__"))?.cast_into()?)
}

/// What came of it.
pub(crate) enum Came<'py> {
    /// It waits, and gave this for the event loop.
    Waits(Bound<'py, PyIterator>, Bound<'py, PyAny>),
    Returned(Bound<'py, PyAny>),
    Raised(PyErr),
}

impl<'py> Came<'py> {
    /// Go on with what the event loop has sent.
    pub(crate) fn sent(driver: Bound<'py, PyIterator>, value: &Bound<'py, PyAny>) -> Self {
        match driver.send(value) {
            Ok(PySendResult::Next(given)) => Self::Waits(driver, given),
            Ok(PySendResult::Return(value)) => Self::Returned(value),
            Err(error) => Self::Raised(error),
        }
    }

    /// Begin, or fail because there was nothing to be driven.
    pub(crate) fn begun(driver: PyResult<Bound<'py, PyIterator>>) -> Self {
        match driver {
            Ok(driver) => {
                let none = driver.py().None().into_bound(driver.py());
                Self::sent(driver, &none)
            }
            Err(error) => Self::Raised(error),
        }
    }

    /// Go on with an exception. A coroutine that is closed closes what it awaits; an iterator need not have `throw`.
    pub(crate) fn thrown(driver: Bound<'py, PyIterator>, error: PyErr) -> Self {
        let py = driver.py();
        if error.is_instance_of::<PyGeneratorExit>(py) {
            return Self::closed(&driver, error);
        }
        let throw = match driver.getattr_opt(intern!(py, "throw")) {
            Ok(Some(throw)) => throw,
            Ok(None) => return Self::Raised(error),
            Err(error) => return Self::Raised(error),
        };
        match throw.call1((error.into_value(py),)) {
            Ok(given) => Self::Waits(driver, given),
            Err(error) if error.is_instance_of::<PyStopIteration>(py) => {
                error.value(py).getattr(intern!(py, "value")).map_or_else(Self::Raised, Self::Returned)
            }
            Err(error) => Self::Raised(error),
        }
    }

    /// Close it; what closing raises takes the place of `error`.
    pub(crate) fn closed(driver: &Bound<'py, PyIterator>, error: PyErr) -> Self {
        let close = driver.getattr_opt(intern!(driver.py(), "close"));
        let closed = close.and_then(|close| close.map_or(Ok(()), |close| close.call0().map(drop)));
        Self::Raised(closed.err().unwrap_or(error))
    }
}

/// How an awaitable returns. A tuple would be taken as the arguments, and an exception as the one to raise.
pub(crate) fn returning(value: Bound<'_, PyAny>) -> PyErr {
    if value.is_instance_of::<PyTuple>() || value.is_instance_of::<PyBaseException>() {
        PyStopIteration::new_err((value.unbind(),))
    } else {
        PyStopIteration::new_err(value.unbind())
    }
}

/// What `throw` is given: an exception, or its class and perhaps its value, and perhaps its traceback.
pub(crate) fn exception(
    kind: &Bound<'_, PyAny>,
    value: Option<&Bound<'_, PyAny>>,
    traceback: Option<&Bound<'_, PyAny>>,
) -> PyResult<PyErr> {
    let error = match value {
        _ if kind.is_instance_of::<PyBaseException>() => kind.clone(),
        Some(value) if value.is_instance_of::<PyBaseException>() => value.clone(),
        Some(value) => kind.call1((value,))?,
        None => kind.call0()?,
    };
    if let Some(traceback) = traceback {
        error.setattr(intern!(kind.py(), "__traceback__"), traceback)?;
    }
    Ok(PyErr::from_value(error))
}
