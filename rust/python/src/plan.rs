//! How a chunk is built from what a template has found: a tree in which some leaves are holes.
//!
//! What never changes and is immutable is shared by all chunks of the template. Lists, dicts and Structs are made anew
//! for each, except those of an earlier chunk that nobody else holds any more: these are filled anew.

use pyo3::Borrowed;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyBool, PyDict, PyFloat, PyInt, PyList, PyString, PyType};
use ssewire_template::{Kind, Number, Value, number, unescape};

use crate::slots::{Layout, is_held_once, item};

/// So deep a tree is built; the recorded streams need eight.
const MOST_DEPTH: usize = 32;

/// The Structs that a chunk consists of.
pub(crate) struct Layouts {
    structs: Vec<Layout>,
    /// Whether what nobody else holds can be told: on a free-threaded build, counting references does not.
    reuses: bool,
}

impl Layouts {
    /// Those of `ssewire.models`; nothing where Structs are not what this module takes them for.
    pub(crate) fn built_in(py: Python<'_>) -> PyResult<Option<&'static Self>> {
        static LAYOUTS: PyOnceLock<Option<Layouts>> = PyOnceLock::new();
        let layouts = LAYOUTS.get_or_try_init(py, || -> PyResult<_> {
            let models = py.import("ssewire.models")?;
            let names = [
                "ChatCompletionChunk",
                "ChunkChoice",
                "ChoiceDelta",
                "CompletionUsage",
                "ChoiceDeltaToolCall",
                "ChoiceDeltaToolCallFunction",
            ];
            let mut structs = Vec::new();
            for name in names {
                let Some(layout) = Layout::of(&models.getattr(name)?.cast_into::<PyType>()?)? else { return Ok(None) };
                structs.push(layout);
            }
            // Of the build, not of this moment: such a build has the lock while it imports, for one.
            let version: String = py.import("sys")?.getattr("version")?.extract()?;
            Ok(Some(Self { structs, reuses: !version.contains("free-threading") }))
        })?;
        Ok(layouts.as_ref())
    }

    pub(crate) fn reuses(&self) -> bool {
        self.reuses
    }

    fn of(&self, class: &Bound<'_, PyType>) -> Option<&Layout> {
        self.structs.iter().find(|layout| layout.is_of(class))
    }
}

/// One value of a chunk.
pub(crate) enum Plan {
    /// The same in all chunks.
    Shared(Py<PyAny>),
    /// What stands in the hole of this number.
    Hole(usize),
    Struct(&'static Layout, Box<[Plan]>),
    List(Box<[Plan]>),
    Dict(Box<[(Py<PyAny>, Plan)]>),
}

/// What was found in the holes.
#[derive(Clone, Copy)]
pub(crate) struct Filling<'a> {
    pub(crate) data: &'a [u8],
    pub(crate) values: &'a [Value],
    pub(crate) kinds: &'a [Kind],
}

impl Filling<'_> {
    /// Whether there is anything in a hole.
    #[inline]
    pub(crate) fn has(&self, hole: usize) -> bool {
        self.values.get(hole).is_some_and(|value| value.end > value.start)
    }

    /// Whether an object is the integer that stands in a hole.
    #[inline]
    fn is_integer(&self, hole: usize, object: Borrowed<'_, '_, PyAny>) -> bool {
        let (Some(value), Some(Kind::Integer)) = (self.values.get(hole), self.kinds.get(hole)) else { return false };
        let sent = number(self.data.get(value.start..value.end).unwrap_or_default());
        object.is_exact_instance_of::<PyInt>()
            && object.extract().is_ok_and(|object| sent == Some(Number::Integer(object)))
    }

    /// The value in a hole as a decoder gives it.
    #[inline]
    pub(crate) fn value<'py>(&self, py: Python<'py>, hole: usize) -> PyResult<Bound<'py, PyAny>> {
        let (Some(value), Some(kind)) = (self.values.get(hole), self.kinds.get(hole)) else {
            return Ok(py.None().into_bound(py));
        };
        value_of(py, self.data.get(value.start..value.end).unwrap_or_default(), *kind, value.escaped)
    }
}

/// The value that a leaf stands for.
#[inline]
pub(crate) fn value_of<'py>(py: Python<'py>, leaf: &[u8], kind: Kind, escaped: bool) -> PyResult<Bound<'py, PyAny>> {
    if kind == Kind::Text {
        let text = if escaped { PyString::from_bytes(py, &unescape(leaf))? } else { PyString::from_bytes(py, leaf)? };
        return Ok(text.into_any());
    }
    Ok(match number(leaf) {
        Some(Number::Integer(value)) => value.into_pyobject(py)?.into_any(),
        Some(Number::Fraction(value)) => PyFloat::new(py, value).into_any(),
        None => py.None().into_bound(py),
    })
}

impl Plan {
    /// Compare two trees that a decoder has made of the same payload with other values in the holes: `one` and `two` say
    /// which. Gives nothing where they differ in anything but these values, found again unchanged. That one is found so
    /// holds for any other in its place, since the members of the built-in Structs are of plain types and have no limits
    /// (`tests/unit/test_plain_members.py` sees to that).
    pub(crate) fn of(
        layouts: &'static Layouts,
        (one, ones): (&Bound<'_, PyAny>, &[Bound<'_, PyAny>]),
        (two, twos): (&Bound<'_, PyAny>, &[Bound<'_, PyAny>]),
        depth: usize,
    ) -> PyResult<Option<Self>> {
        let of =
            |one: &Bound<'_, PyAny>, two: &Bound<'_, PyAny>| Self::of(layouts, (one, ones), (two, twos), depth + 1);
        let class = one.get_type();
        if !class.is(two.get_type()) || depth > MOST_DEPTH {
            return Ok(None);
        }
        if one.is_exact_instance_of::<PyString>()
            || one.is_exact_instance_of::<PyInt>()
            || one.is_exact_instance_of::<PyFloat>()
        {
            if one.eq(two)? {
                return Ok(Some(Self::Shared(one.clone().unbind())));
            }
            for (hole, (value, other)) in ones.iter().zip(twos).enumerate() {
                if value.get_type().is(&class) && one.eq(value)? && two.eq(other)? {
                    return Ok(Some(Self::Hole(hole)));
                }
            }
            return Ok(None);
        }
        if one.is_none() || one.is_exact_instance_of::<PyBool>() {
            return Ok(one.is(two).then(|| Self::Shared(one.clone().unbind())));
        }
        if let (Ok(one), Ok(two)) = (one.cast_exact::<PyList>(), two.cast_exact::<PyList>()) {
            let items = one.iter().zip(two.iter()).map(|(one, two)| of(&one, &two));
            let items: Option<_> = items.collect::<PyResult<_>>()?;
            return Ok(items.filter(|_| one.len() == two.len()).map(Self::List));
        }
        if let (Ok(one), Ok(two)) = (one.cast_exact::<PyDict>(), two.cast_exact::<PyDict>()) {
            let mut members = Vec::with_capacity(one.len());
            for ((key, one), (other_key, two)) in one.iter().zip(two.iter()) {
                let Some(plan) = of(&one, &two)?.filter(|_| key.is_exact_instance_of::<PyString>()) else {
                    return Ok(None);
                };
                if !key.eq(other_key)? {
                    return Ok(None);
                }
                members.push((key.unbind(), plan));
            }
            return Ok((one.len() == two.len()).then(|| Self::Dict(members.into_boxed_slice())));
        }
        let Some(layout) = layouts.of(&class) else { return Ok(None) };
        let (Some(one), Some(two)) = (layout.row(one.as_borrowed()), layout.row(two.as_borrowed())) else {
            return Ok(None);
        };
        let members = one.members().zip(two.members()).map(|members| match members {
            (Some(one), Some(two)) => of(&one, &two),
            _ => Ok(None),
        });
        Ok(members.collect::<PyResult<Option<_>>>()?.map(|members| Self::Struct(layout, members)))
    }

    /// A member of a Struct, by its name.
    pub(crate) fn member(&self, name: &str) -> Option<&Self> {
        let Self::Struct(layout, members) = self else { return None };
        members.get(layout.member(name)?)
    }

    pub(crate) fn is_none(&self, py: Python<'_>) -> bool {
        matches!(self, Self::Shared(value) if value.is_none(py))
    }

    /// Make the value.
    pub(crate) fn make<'py>(&self, py: Python<'py>, found: Filling<'_>) -> PyResult<Bound<'py, PyAny>> {
        Ok(match self {
            Self::Shared(value) => value.bind(py).clone(),
            Self::Hole(hole) => found.value(py, *hole)?,
            Self::Struct(layout, members) => {
                let made = layout.make(py)?;
                if let Some(row) = layout.row(made.as_borrowed()) {
                    for (member, plan) in members.iter().enumerate() {
                        row.set(member, plan.make(py, found)?);
                    }
                }
                made
            }
            Self::List(items) => {
                let list = PyList::empty(py);
                for plan in items {
                    list.append(plan.make(py, found)?)?;
                }
                list.into_any()
            }
            Self::Dict(members) => {
                let dict = PyDict::new(py);
                for (key, plan) in members {
                    dict.set_item(key, plan.make(py, found)?)?;
                }
                dict.into_any()
            }
        })
    }

    /// Make an earlier value into this one, where it is of the same kind and has no other holder than ours, or find that
    /// it is this one; gives whether it now is.
    #[inline]
    pub(crate) fn renew(&self, py: Python<'_>, found: Filling<'_>, earlier: Borrowed<'_, '_, PyAny>) -> PyResult<bool> {
        match self {
            Self::Struct(layout, members) => {
                let Some(row) = layout.row(earlier).filter(|_| is_held_once(earlier)) else { return Ok(false) };
                // Held, since what is dropped below may run code of the user's.
                let _held = earlier.to_owned();
                for (member, plan) in members.iter().enumerate() {
                    if let Self::Shared(value) = plan {
                        if !row.is(member, value) {
                            row.set(member, value.bind(py).clone());
                        }
                    } else if !row.get(member).map_or(Ok(false), |earlier| plan.renew(py, found, earlier))? {
                        row.set(member, plan.make(py, found)?);
                    }
                }
                Ok(true)
            }
            Self::List(items) => {
                let Ok(list) = earlier.cast_exact::<PyList>() else { return Ok(false) };
                if list.len() != items.len() || !is_held_once(earlier) {
                    return Ok(false);
                }
                let _held = earlier.to_owned();
                for (at, plan) in items.iter().enumerate() {
                    if !item(list, at).map_or(Ok(false), |earlier| plan.renew(py, found, earlier))? {
                        list.set_item(at, plan.make(py, found)?)?;
                    }
                }
                Ok(true)
            }
            // A time or a count is often the same as it was, and need not be made anew.
            Self::Hole(hole) => Ok(found.is_integer(*hole, earlier)),
            Self::Shared(_) | Self::Dict(_) => Ok(false),
        }
    }
}
