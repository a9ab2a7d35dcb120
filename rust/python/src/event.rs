//! What `EventStream` and `SSEDecoder` give: an event, or a line without effect on any.

use std::sync::OnceLock;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString, PyType};
use pyo3::{IntoPyObjectExt, intern};

/// Bytes as text; what is no UTF-8 becomes U+FFFD, as the standard decodes an event stream.
fn text_of<'py>(py: Python<'py>, bytes: &Py<PyBytes>) -> PyResult<Bound<'py, PyString>> {
    PyString::from_encoded_object(bytes.bind(py).as_any(), None, Some(c"replace"))
}

fn encoded(text: &Bound<'_, PyString>) -> PyResult<Py<PyBytes>> {
    Ok(text.call_method1(intern!(text.py(), "encode"), ("utf-8", "replace"))?.cast_into::<PyBytes>()?.unbind())
}

/// One server-sent event: event, data, id, retry.
#[pyclass(frozen, module = "ssewire", weakref)]
pub(crate) struct ServerSentEvent {
    /// None is "message", which nearly all events are.
    name: Option<Py<PyString>>,
    #[pyo3(get)]
    payload: Py<PyBytes>,
    id: Option<Py<PyString>>,
    #[pyo3(get)]
    retry: Option<u64>,
    text: OnceLock<Py<PyString>>,
}

impl ServerSentEvent {
    pub(crate) fn new(payload: Bound<'_, PyBytes>, name: &[u8], id: &[u8], retry: Option<u64>) -> Self {
        let py = payload.py();
        let string =
            |bytes: &[u8]| (!bytes.is_empty()).then(|| PyString::new(py, &String::from_utf8_lossy(bytes)).unbind());
        Self { name: string(name), payload: payload.unbind(), id: string(id), retry, text: OnceLock::new() }
    }

    fn key<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        (self.event(py), self.data(py)?, self.id(py), self.retry).into_bound_py_any(py)
    }
}

#[pymethods]
impl ServerSentEvent {
    #[classattr]
    fn __match_args__() -> (&'static str, &'static str, &'static str, &'static str) {
        ("event", "data", "id", "retry")
    }

    #[new]
    #[pyo3(signature = (event = None, data = None, id = None, retry = None))]
    fn py_new(
        py: Python<'_>,
        event: Option<Py<PyString>>,
        data: Option<Bound<'_, PyString>>,
        id: Option<Py<PyString>>,
        retry: Option<u64>,
    ) -> PyResult<Self> {
        let payload = match data {
            Some(data) => encoded(&data)?,
            None => PyBytes::new(py, b"").unbind(),
        };
        Ok(Self { name: event, payload, id, retry, text: OnceLock::new() })
    }

    #[getter]
    fn event<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> {
        self.name.as_ref().map_or_else(|| intern!(py, "message").clone(), |name| name.bind(py).clone())
    }

    #[getter]
    fn data<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        // Not `PyOnceLock`, which releases the interpreter. Two threads may both decode; the first text stays.
        if let Some(text) = self.text.get() {
            return Ok(text.bind(py).clone());
        }
        let text = text_of(py, &self.payload)?;
        Ok(self.text.get_or_init(|| text.unbind()).bind(py).clone())
    }

    #[getter]
    fn id<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> {
        self.id.as_ref().map_or_else(|| intern!(py, "").clone(), |id| id.bind(py).clone())
    }

    #[pyo3(signature = (r#type = None))]
    fn json<'py>(&self, py: Python<'py>, r#type: Option<Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        let decode = py.import(intern!(py, "msgspec.json"))?.getattr(intern!(py, "decode"))?;
        let Some(target) = r#type else { return decode.call1((&self.payload,)) };
        let options = pyo3::types::PyDict::new(py);
        options.set_item(intern!(py, "type"), target)?;
        decode.call((&self.payload,), Some(&options))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let mut members = vec![format!("event={}", self.event(py).repr()?), format!("data={}", self.data(py)?.repr()?)];
        if self.id.is_some() {
            members.push(format!("id={}", self.id(py).repr()?));
        }
        if let Some(retry) = self.retry {
            members.push(format!("retry={retry}"));
        }
        Ok(format!("ServerSentEvent({})", members.join(", ")))
    }

    fn __eq__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        match other.cast::<Self>() {
            Ok(other) => {
                self.key(py)?.rich_compare(other.get().key(py)?, pyo3::pyclass::CompareOp::Eq)?.into_py_any(py)
            }
            Err(_) => Ok(py.NotImplemented()),
        }
    }

    fn __hash__(&self, py: Python<'_>) -> PyResult<isize> {
        self.key(py)?.hash()
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<(Bound<'py, PyType>, Bound<'py, PyAny>)> {
        Ok((slf.get_type(), slf.get().key(slf.py())?))
    }
}

/// A line without effect on any event: a comment, or one of an unknown field.
#[pyclass(frozen, module = "ssewire", eq, hash)]
#[derive(PartialEq, Eq, Hash)]
pub(crate) struct IgnoredLine {
    line: Vec<u8>,
    #[pyo3(get)]
    comment: bool,
    #[pyo3(get)]
    in_event: bool,
}

impl IgnoredLine {
    pub(crate) fn new(line: &[u8], comment: bool, in_event: bool) -> Self {
        Self { line: line.to_vec(), comment, in_event }
    }
}

#[pymethods]
impl IgnoredLine {
    #[new]
    #[pyo3(signature = (payload, *, in_event = false))]
    fn py_new(payload: Vec<u8>, in_event: bool) -> PyResult<Self> {
        if payload.iter().any(|byte| matches!(byte, b'\n' | b'\r')) {
            return Err(PyTypeError::new_err("a line holds no line end"));
        }
        Ok(Self { comment: payload.starts_with(b":"), line: payload, in_event })
    }

    #[getter]
    fn payload<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.line)
    }

    #[getter]
    fn text<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyString>> {
        text_of(py, &self.payload(py).unbind())
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        Ok(format!(
            "IgnoredLine({}, in_event={})",
            self.payload(py).repr()?,
            if self.in_event { "True" } else { "False" }
        ))
    }
}
