//! What `EventStream` and `SSEDecoder` give: an event, or a line without effect on any.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyString, PyType};
use pyo3::{IntoPyObjectExt, intern};

/// Bytes as text; what is no UTF-8 becomes U+FFFD, as the standard decodes an event stream.
fn lossy<'py>(bytes: &Bound<'py, PyBytes>) -> PyResult<Bound<'py, PyString>> {
    PyString::from_encoded_object(bytes, None, Some(c"replace"))
}

/// A short text; nothing for the one that nearly every event has, which then need not be held.
fn unusual(py: Python<'_>, bytes: &[u8]) -> Option<Py<PyString>> {
    (!bytes.is_empty()).then(|| PyString::new(py, &String::from_utf8_lossy(bytes)).unbind())
}

/// A text, or the one that nearly every event has.
fn text_or(text: Option<&Py<PyString>>, usual: &Bound<'_, PyString>) -> Py<PyString> {
    text.map_or_else(|| usual.clone().unbind(), |text| text.clone_ref(usual.py()))
}

/// One server-sent event: event, data, id, retry.
#[pyclass(frozen, module = "ssewire", weakref)]
pub(crate) struct ServerSentEvent {
    /// Nothing stands for "message".
    event: Option<Py<PyString>>,
    // Made at once: it is what nearly all users ask for, and costs no more than keeping the bytes would.
    /// The values of its data lines, joined by line feeds.
    #[pyo3(get)]
    data: Py<PyString>,
    /// Nothing stands for "".
    id: Option<Py<PyString>>,
    /// The reconnection time in milliseconds, where this event's block carried one.
    #[pyo3(get)]
    retry: Option<u64>,
    /// The data as it was sent, where the text does not tell it, being no UTF-8.
    raw: Option<Py<PyBytes>>,
}

impl ServerSentEvent {
    pub(crate) fn new(py: Python<'_>, data: &[u8], name: &[u8], id: &[u8], retry: Option<u64>) -> PyResult<Self> {
        let (data, raw) = if let Ok(text) = PyString::from_bytes(py, data) {
            (text.unbind(), None)
        } else {
            let raw = PyBytes::new(py, data);
            (lossy(&raw)?.unbind(), Some(raw.unbind()))
        };
        Ok(Self { event: unusual(py, name), data, id: unusual(py, id), retry, raw })
    }

    fn key<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        (self.event(py), &self.data, self.id(py), self.retry).into_bound_py_any(py)
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
        data: Option<Py<PyString>>,
        id: Option<Py<PyString>>,
        retry: Option<u64>,
    ) -> Self {
        let data = data.unwrap_or_else(|| intern!(py, "").clone().unbind());
        Self { event, data, id, retry, raw: None }
    }

    /// The event's name; "message" where the stream gave none.
    #[getter]
    fn event(&self, py: Python<'_>) -> Py<PyString> {
        text_or(self.event.as_ref(), intern!(py, "message"))
    }

    /// The last event id of the stream at this event; "" for none.
    #[getter]
    fn id(&self, py: Python<'_>) -> Py<PyString> {
        text_or(self.id.as_ref(), intern!(py, ""))
    }

    #[getter]
    fn payload<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let data = self.data.bind(py);
        match (&self.raw, data.to_str()) {
            (Some(raw), _) => Ok(raw.bind(py).clone().into_any()),
            (None, Ok(text)) => Ok(PyBytes::new(py, text.as_bytes()).into_any()),
            // A lone surrogate, in a text of the user's own.
            (None, Err(_)) => data.call_method1(intern!(py, "encode"), ("utf-8", "replace")),
        }
    }

    #[pyo3(signature = (r#type = None))]
    fn json<'py>(&self, py: Python<'py>, r#type: Option<Bound<'py, PyAny>>) -> PyResult<Bound<'py, PyAny>> {
        let decode = py.import(intern!(py, "msgspec.json"))?.getattr(intern!(py, "decode"))?;
        let Some(target) = r#type else { return decode.call1((&self.data,)) };
        let options = PyDict::new(py);
        options.set_item(intern!(py, "type"), target)?;
        decode.call((&self.data,), Some(&options))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let mut members =
            vec![format!("event={}", self.event(py).bind(py).repr()?), format!("data={}", self.data.bind(py).repr()?)];
        if self.id(py).is_truthy(py)? {
            members.push(format!("id={}", self.id(py).bind(py).repr()?));
        }
        if let Some(retry) = self.retry {
            members.push(format!("retry={retry}"));
        }
        Ok(format!("ServerSentEvent({})", members.join(", ")))
    }

    fn __eq__(&self, py: Python<'_>, other: &Bound<'_, PyAny>) -> PyResult<Py<PyAny>> {
        match other.cast::<Self>() {
            Ok(other) => self.key(py)?.eq(other.get().key(py)?)?.into_py_any(py),
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
        lossy(&self.payload(py))
    }

    fn __getnewargs_ex__<'py>(&self, py: Python<'py>) -> PyResult<((Bound<'py, PyBytes>,), Bound<'py, PyDict>)> {
        let options = PyDict::new(py);
        options.set_item(intern!(py, "in_event"), self.in_event)?;
        Ok(((self.payload(py),), options))
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        let in_event = if self.in_event { "True" } else { "False" };
        Ok(format!("IgnoredLine({}, in_event={in_event})", self.payload(py).repr()?))
    }
}
