//! What a source hands over, as `bytes`.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyMemoryView, PyString};

/// `bytes` as they are; any other buffer copied, since its owner may change it once the interpreter is released.
pub(crate) fn to_bytes<'py>(data: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    if let Ok(bytes) = data.cast::<PyBytes>() {
        return Ok(bytes.clone());
    }
    if data.is_instance_of::<PyString>() {
        return Err(PyTypeError::new_err(
            "expected bytes, got str: hand over the body undecoded (for example response.iter_bytes(), not iter_text() \
             or iter_lines(); a file opened with mode 'rb')",
        ));
    }
    let Ok(view) = PyMemoryView::from(data) else {
        return Err(PyTypeError::new_err(format!("expected bytes or another buffer, got {}", data.get_type().name()?)));
    };
    Ok(view.call_method0("tobytes")?.cast_into::<PyBytes>()?)
}
