//! Members of the built-in chunk Structs, read through their descriptors.
//!
//! Following a chunk reads four members. By name that costs a seventh of what decoding the chunk costs, nearly all of it
//! for finding the same descriptor again; through the descriptor a third of that. Unsafe code stands here and in
//! `slots.rs` alone.

#![allow(unsafe_code)]

use pyo3::exceptions::PySystemError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;

/// One member of a Struct.
pub(crate) struct Member {
    descriptor: Py<PyAny>,
    get: ffi::descrgetfunc,
}

impl Member {
    fn of(class: &Bound<'_, PyAny>, name: &str) -> PyResult<Self> {
        let descriptor = class.getattr(name)?;
        // SAFETY: the type of a live object is a valid type object, and `Py_tp_descr_get` a valid slot number. The slot
        // holds null or a `descrgetfunc`, which is what the `Option` of the function pointer stands for.
        let get = unsafe {
            let slot = ffi::PyType_GetSlot(descriptor.get_type().as_type_ptr(), ffi::Py_tp_descr_get);
            std::mem::transmute::<*mut std::ffi::c_void, Option<ffi::descrgetfunc>>(slot)
        };
        let get = get.ok_or_else(|| PySystemError::new_err(format!("{name} is no descriptor")))?;
        Ok(Self { descriptor: descriptor.unbind(), get })
    }

    /// The member's value in `object`. An object of another class gives a `TypeError`, as the descriptor sees to itself.
    #[inline(always)]
    pub(crate) fn get<'py>(&self, object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        // SAFETY: `get` is the slot of the descriptor's own type, both arguments are live objects, and the interpreter
        // is attached, which `Bound` proves. It gives a new reference, or null with an exception set.
        unsafe {
            let kind = ffi::Py_TYPE(object.as_ptr()).cast::<ffi::PyObject>();
            let value = (self.get)(self.descriptor.as_ptr(), object.as_ptr(), kind);
            Bound::from_owned_ptr_or_err(object.py(), value)
        }
    }
}

/// The members that are read of each chunk.
pub(crate) struct Members {
    pub(crate) usage: Member,
    pub(crate) choices: Member,
    pub(crate) index: Member,
    pub(crate) finish_reason: Member,
    pub(crate) delta: Member,
    pub(crate) content: Member,
    /// Finds the usage of a payload that has it elsewhere than in the chunk.
    pub(crate) copied_usage: Py<PyAny>,
    /// Takes the answer out of a whole completion.
    pub(crate) take_message: Py<PyAny>,
}

impl Members {
    /// Those of the Structs in `ssewire.models`.
    pub(crate) fn built_in(py: Python<'_>) -> PyResult<&'static Self> {
        static MEMBERS: PyOnceLock<Members> = PyOnceLock::new();
        MEMBERS.get_or_try_init(py, || {
            let models = py.import("ssewire.models")?;
            let chunk = models.getattr("ChatCompletionChunk")?;
            let choice = models.getattr("ChunkChoice")?;
            let elsewhere = py.import("ssewire.elsewhere")?;
            Ok(Self {
                usage: Member::of(&chunk, "usage")?,
                choices: Member::of(&chunk, "choices")?,
                index: Member::of(&choice, "index")?,
                finish_reason: Member::of(&choice, "finish_reason")?,
                delta: Member::of(&choice, "delta")?,
                content: Member::of(&models.getattr("ChoiceDelta")?, "content")?,
                copied_usage: elsewhere.getattr("copied_usage")?.unbind(),
                take_message: elsewhere.getattr("take_message")?.unbind(),
            })
        })
    }
}
