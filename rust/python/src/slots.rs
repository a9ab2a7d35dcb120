//! Structs as rows of slots: how templates build chunks, and how they take back those that nobody holds any more.
//!
//! Making a Struct by calling its class, and dropping it, takes as long as msgspec takes to decode it. A Struct is a row
//! of pointers behind the head of an object, so it can be made by filling these in; and one that nobody else holds can
//! be filled anew. Where the members stand is not documented, so it is looked for: an instance is made with a marker in
//! each member, and unless the markers fill the row exactly, one to a slot, nothing here is used.

#![allow(unsafe_code)]

use pyo3::Borrowed;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyTuple, PyType};

const SLOT: usize = size_of::<*mut ffi::PyObject>();

/// `Py_TPFLAGS_HAVE_GC`: an instance begins with what the collector needs, and has to be told to it.
const COLLECTED: u64 = 1 << 14;

/// Where the members of one Struct class stand.
pub(crate) struct Layout {
    class: Py<PyType>,
    names: Box<[String]>,
    /// Where each member stands, counted in slots from the object's start.
    places: Box<[usize]>,
}

impl Layout {
    /// Look for the members of a Struct class; gives nothing where they are not found.
    pub(crate) fn of(class: &Bound<'_, PyType>) -> PyResult<Option<Self>> {
        let py = class.py();
        let names: Vec<String> = class.getattr("__struct_fields__")?.extract()?;
        let markers: Vec<_> = names.iter().map(|_| PyList::empty(py).into_any()).collect();
        let size: usize = class.getattr("__basicsize__")?.extract()?;
        let more: usize = class.getattr("__itemsize__")?.extract()?;
        let flags: u64 = class.getattr("__flags__")?.extract()?;
        let head = size.checked_sub(markers.len() * SLOT).filter(|head| *head >= size_of::<usize>() * 2);
        let Some(head) = head.filter(|head| more == 0 && flags & COLLECTED == 0 && head.is_multiple_of(SLOT)) else {
            return Ok(None);
        };
        let Ok(probe) = class.call1(PyTuple::new(py, &markers)?) else { return Ok(None) };
        if !probe.get_type().is(class) {
            return Ok(None);
        }
        let row: Vec<_> = (head / SLOT..size / SLOT)
            .map(|place| {
                // SAFETY: an instance of this very class has `__basicsize__` bytes, all of them set when it was made,
                // and each place of the row lies within them, aligned like the object itself. What stands there is
                // compared as a number, not followed.
                (place, unsafe { probe.as_ptr().cast::<usize>().add(place).read() })
            })
            .collect();
        let places: Option<Box<[usize]>> = markers
            .iter()
            .map(|marker| row.iter().find(|(_, word)| *word == marker.as_ptr().addr()).map(|(place, _)| *place))
            .collect();
        // Each marker is an object of its own, so that as many places were found as there are.
        Ok(places.map(|places| Self { class: class.clone().unbind(), names: names.into(), places }))
    }

    /// The number of a member.
    pub(crate) fn member(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| known == name)
    }

    pub(crate) fn is_of(&self, class: &Bound<'_, PyType>) -> bool {
        self.class.as_ptr() == class.as_ptr()
    }

    /// A new instance, all of whose members are still to be set.
    #[inline]
    pub(crate) fn make<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        // SAFETY: the class is a live type object whose instances have no items and are not told to the collector, as
        // was seen above. It gives a new reference to an instance whose row is null, which msgspec takes for members
        // that were deleted; or null with an exception set.
        unsafe { Bound::from_owned_ptr_or_err(py, ffi::PyType_GenericAlloc(self.class.as_ptr().cast(), 0)) }
    }

    /// The row of an object, where it is an instance of this very class.
    #[inline]
    pub(crate) fn row<'a, 'py>(&'a self, object: Borrowed<'a, 'py, PyAny>) -> Option<Row<'a, 'py>> {
        // SAFETY: the object is live, and so has a type.
        let class = unsafe { ffi::Py_TYPE(object.as_ptr()) };
        (class.cast() == self.class.as_ptr()).then_some(Row { object, places: &self.places })
    }
}

/// The members of one Struct.
pub(crate) struct Row<'a, 'py> {
    object: Borrowed<'a, 'py, PyAny>,
    places: &'a [usize],
}

impl<'a, 'py> Row<'a, 'py> {
    #[inline]
    fn slot(&self, member: usize) -> Option<*mut *mut ffi::PyObject> {
        let place = *self.places.get(member)?;
        // SAFETY: the place is one that was found in another instance of the class, so it lies within this one.
        Some(unsafe { self.object.as_ptr().cast::<*mut ffi::PyObject>().add(place) })
    }

    /// A member; nothing where it was deleted, or is still to be set. It is not held: it lives until it is set anew.
    #[inline]
    pub(crate) fn get(&self, member: usize) -> Option<Borrowed<'a, 'py, PyAny>> {
        let slot = self.slot(member)?;
        // SAFETY: a slot holds null or a pointer to an object that the Struct holds. Nobody sets it meanwhile: the
        // interpreter is attached, and without its lock only objects are looked at that no other thread can know.
        unsafe { Borrowed::from_ptr_or_opt(self.object.py(), slot.read()) }
    }

    /// All members.
    pub(crate) fn members(&self) -> impl Iterator<Item = Option<Borrowed<'a, 'py, PyAny>>> {
        (0..self.places.len()).map(|member| self.get(member))
    }

    /// Whether a member is this very object.
    #[inline]
    pub(crate) fn is(&self, member: usize, value: &Py<PyAny>) -> bool {
        // SAFETY: as in `get`.
        self.slot(member).is_some_and(|slot| unsafe { slot.read() } == value.as_ptr())
    }

    /// Set a member. What was there is dropped behind that, since it may run code of the user's.
    #[inline]
    pub(crate) fn set(&self, member: usize, value: Bound<'py, PyAny>) {
        let Some(slot) = self.slot(member) else { return };
        // SAFETY: as in `get`; the Struct takes over the reference to the value, and gives up the one to what was there.
        let earlier = unsafe { Bound::from_owned_ptr_or_opt(self.object.py(), slot.replace(value.into_ptr())) };
        drop(earlier);
    }
}

/// Whether an object has no other holder than whoever asks.
#[inline]
pub(crate) fn is_held_once(object: Borrowed<'_, '_, PyAny>) -> bool {
    // SAFETY: the object is live.
    unsafe { ffi::Py_REFCNT(object.as_ptr()) == 1 }
}

/// An item of a list, not held: it lives until the list changes.
#[inline]
pub(crate) fn item<'a, 'py>(list: Borrowed<'a, 'py, PyList>, at: usize) -> Option<Borrowed<'a, 'py, PyAny>> {
    let at = ffi::Py_ssize_t::try_from(at).ok().filter(|at| (*at).cast_unsigned() < list.len())?;
    // SAFETY: the list is live and has such an item, so a borrowed reference to it comes back.
    unsafe { Borrowed::from_ptr_or_opt(list.py(), ffi::PyList_GetItem(list.as_ptr(), at)) }
}
