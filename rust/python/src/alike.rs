//! The templates of one stream: learned from its events, tried on the next ones.
//!
//! An event that no template matches goes through msgspec, and is then looked at here. The first of its shape is kept.
//! When another differs from it in leaves only, these become holes: msgspec decodes the payload once more, with a
//! marker in each hole, and the two chunks say which members the holes are (see [`Plan::of`]). When a later one differs
//! in yet another leaf, that becomes a hole, too.
//!
//! All this is worth its time only where streams resemble themselves. Where they do not, [`Luck`] runs out, and the
//! stream is read as if there were no templates, but for a look now and then.

use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use ssewire_template::{Kind, Leaves, MOST_HOLES, Match, Template, Value};

use crate::follow::Follow;
use crate::luck::{A_LESSON, A_LOOK, Luck};
use crate::plan::{Filling, Layouts, Plan, value_of};

/// So many shapes of events a stream has at the most that are kept, the least recently seen ones dropped.
const MOST_SHAPES: usize = 8;

/// So many bytes the payload of one shape has at the most, and those of all shapes together.
const MOST_BYTES: usize = 4096;
const MOST_BYTES_TOGETHER: usize = 16_384;

/// How the text of a chunk is found.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextOf {
    /// It has none.
    Nothing,
    Hole(usize),
    /// The chunk has to be asked.
    Chunk,
}

/// What is known of all events of one shape.
pub(crate) struct Known {
    template: Template,
    kinds: Box<[Kind]>,
    plan: Plan,
    pub(crate) text: TextOf,
    pub(crate) has_usage: bool,
    /// The indexes of its choices.
    choices: Box<[i64]>,
}

/// One shape: the payload that was seen last when something was learned of it.
struct Shape {
    payload: Box<[u8]>,
    leaves: Leaves,
    /// The leaves that have changed.
    changing: u64,
    known: Option<Box<Known>>,
    /// Learning was tried; where nothing is known all the same, no template can be made of it.
    tried: bool,
    /// Its number among the events that were looked at, when it was seen last.
    seen: u64,
}

pub(crate) struct Alike {
    layouts: &'static Layouts,
    shapes: Vec<Shape>,
    /// Which of them matched last.
    hit: usize,
    values: [Value; MOST_HOLES],
    luck: Luck,
    /// Something in a hole of the event that was tried last is for msgspec to judge: nothing is learned from that.
    doubt: bool,
    /// It was not looked at.
    resting: bool,
    looked_at: u64,
    /// The chunks that were built last. The one before the last is often held by nobody else any more.
    built: [Option<Py<PyAny>>; 2],
}

impl Alike {
    pub(crate) fn new(layouts: &'static Layouts) -> Self {
        Self {
            layouts,
            shapes: Vec::new(),
            hit: 0,
            values: [Value::default(); MOST_HOLES],
            luck: Luck::default(),
            doubt: false,
            resting: false,
            looked_at: 0,
            built: [None, None],
        }
    }

    /// Let go of all that was learned.
    pub(crate) fn forget(&mut self) {
        *self = Self::new(self.layouts);
    }

    /// Match what the data begins with; gives the length of the payload that is like an earlier one.
    #[inline]
    pub(crate) fn find(&mut self, data: &[u8]) -> Option<usize> {
        self.doubt = false;
        self.resting = self.luck.rests();
        if self.resting {
            return None;
        }
        // The shape that was hit last is tried first.
        let (behind, first) = self.shapes.split_at(self.hit.min(self.shapes.len()));
        for (at, shape) in (behind.len()..).zip(first).chain((0..).zip(behind)) {
            let Some(known) = &shape.known else { continue };
            match known.template.find(data, &mut self.values) {
                Match::Hit(length) => {
                    self.hit = at;
                    return Some(length);
                }
                Match::Miss => {}
                Match::Doubt => self.doubt = true,
            }
        }
        None
    }

    /// The payload that was found is taken: what is known of it, and what stands in its holes.
    #[inline]
    pub(crate) fn take<'a>(&'a mut self, data: &'a [u8]) -> Option<(&'a Known, Filling<'a>)> {
        self.looked_at += 1;
        self.luck.hit();
        let shape = self.shapes.get_mut(self.hit)?;
        shape.seen = self.looked_at;
        let known = shape.known.as_deref()?;
        Some((known, Filling { data, values: &self.values, kinds: &known.kinds }))
    }

    /// The indexes of the choices of the payload that was taken.
    #[inline]
    pub(crate) fn choices(&self) -> &[i64] {
        self.shapes.get(self.hit).and_then(|shape| shape.known.as_deref()).map_or(&[], |known| &*known.choices)
    }

    /// Build the chunk of the payload that was taken.
    #[inline]
    pub(crate) fn build<'py>(&mut self, py: Python<'py>, data: &[u8]) -> PyResult<Bound<'py, PyAny>> {
        let Some(known) = self.shapes.get(self.hit).and_then(|shape| shape.known.as_deref()) else {
            return Ok(py.None().into_bound(py));
        };
        let found = Filling { data, values: &self.values, kinds: &known.kinds };
        // Large texts are not held on to.
        if !self.layouts.reuses() || data.len() > MOST_BYTES {
            return known.plan.make(py, found);
        }
        let [last, other] = &mut self.built;
        std::mem::swap(last, other);
        if let Some(earlier) = last
            && known.plan.renew(py, found, earlier.bind_borrowed(py))?
        {
            return Ok(earlier.bind(py).clone());
        }
        let made = known.plan.make(py, found)?;
        *last = Some(made.clone().unbind());
        Ok(made)
    }

    /// Look at an event that was decoded, to know the next ones by it.
    #[inline(never)]
    pub(crate) fn learn(
        &mut self,
        payload: &[u8],
        chunk: &Bound<'_, PyAny>,
        decode: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        if self.resting {
            return Ok(());
        }
        self.luck.spend(A_LOOK);
        if self.doubt {
            return Ok(());
        }
        self.looked_at += 1;
        if payload.len() > MOST_BYTES {
            return Ok(());
        }
        let Some(leaves) = Leaves::find(payload) else { return Ok(()) };
        let like = self.shapes.iter_mut().find_map(|shape| {
            let differences = shape.leaves.differences(&shape.payload, &leaves, payload)?;
            Some((shape, differences))
        });
        let Some((shape, differences)) = like else {
            self.keep(payload, leaves);
            return Ok(());
        };
        shape.seen = self.looked_at;
        let changing = shape.changing | differences;
        if shape.tried && changing == shape.changing {
            return Ok(());
        }
        self.luck.spend(A_LESSON);
        shape.tried = true;
        shape.changing = changing;
        shape.payload = payload.into();
        shape.leaves = leaves;
        shape.known = Known::learn(self.layouts, shape, chunk, decode)?.map(Box::new);
        Ok(())
    }

    /// Keep the first payload of a shape.
    fn keep(&mut self, payload: &[u8], leaves: Leaves) {
        let bytes = |shapes: &[Shape]| shapes.iter().map(|shape| shape.payload.len()).sum::<usize>();
        while self.shapes.len() >= MOST_SHAPES || bytes(&self.shapes) + payload.len() > MOST_BYTES_TOGETHER {
            let Some((at, _)) = self.shapes.iter().enumerate().min_by_key(|(_, shape)| shape.seen) else { break };
            self.shapes.swap_remove(at);
        }
        let seen = self.looked_at;
        self.shapes.push(Shape { payload: payload.into(), leaves, changing: 0, known: None, tried: false, seen });
    }
}

impl Known {
    /// Find out which members of the chunk the changing leaves of a payload are. Gives nothing where that cannot be told,
    /// or where the chunk is one at the end of an answer, of which the payload may have to say more.
    fn learn(
        layouts: &'static Layouts,
        shape: &Shape,
        chunk: &Bound<'_, PyAny>,
        decode: &Bound<'_, PyAny>,
    ) -> PyResult<Option<Self>> {
        let py = chunk.py();
        let Some(template) = Template::new(&shape.payload, &shape.leaves, shape.changing) else { return Ok(None) };
        let mut values = [Value::default(); MOST_HOLES];
        if template.find(&shape.payload, &mut values) != Match::Hit(shape.payload.len()) {
            return Ok(None);
        }
        let kinds: Box<[Kind]> = template.kinds().collect();
        let (mut marked, mut at) = (Vec::with_capacity(shape.payload.len() * 2), 0);
        let (mut sent, mut markers) = (Vec::new(), Vec::new());
        for (hole, (kind, value)) in kinds.iter().zip(&values).enumerate() {
            let leaf = shape.payload.get(value.start..value.end).unwrap_or_default();
            let said = value_of(py, leaf, *kind, value.escaped)?;
            let (mut put, mut says) = marker_of(py, *kind, 1000 + hole)?;
            // What was sent may say the same in other bytes: an escape, a trailing zero.
            if says.eq(&said)? {
                (put, says) = marker_of(py, *kind, 2000 + hole)?;
            }
            marked.extend_from_slice(shape.payload.get(at..value.start).unwrap_or_default());
            marked.extend_from_slice(put.as_bytes());
            at = value.end;
            sent.push(said);
            markers.push(says);
        }
        marked.extend_from_slice(shape.payload.get(at..).unwrap_or_default());
        let other = match decode.call1((PyBytes::new(py, &marked),)) {
            Ok(other) => other,
            Err(error) if error.is_instance_of::<PyException>(py) => return Ok(None),
            Err(error) => return Err(error),
        };
        let Some(plan) = Plan::of(layouts, (chunk, &sent), (&other, &markers), 0)? else { return Ok(None) };
        Self::of(py, template, kinds, plan)
    }

    fn of(py: Python<'_>, template: Template, kinds: Box<[Kind]>, plan: Plan) -> PyResult<Option<Self>> {
        let usage = plan.member("usage");
        let has_usage = !usage.is_some_and(|usage| usage.is_none(py));
        let (Some(Plan::Shared(_)), Some(Plan::List(items))) = (plan.member("object"), plan.member("choices")) else {
            return Ok(None);
        };
        let mut choices = Vec::with_capacity(items.len());
        for choice in items {
            let (Some(Plan::Shared(index)), Some(Plan::Shared(reason))) =
                (choice.member("index"), choice.member("finish_reason"))
            else {
                return Ok(None);
            };
            if reason.bind(py).is_truthy()? {
                return Ok(None);
            }
            choices.push(Follow::key(index.bind(py)));
        }
        if choices.is_empty() {
            return Ok(None);
        }
        let delta = if let [choice] = &**items { choice.member("delta") } else { None };
        let text = match delta.and_then(|delta| delta.member("content")) {
            Some(Plan::Hole(hole)) => TextOf::Hole(*hole),
            Some(Plan::Shared(content)) if !content.bind(py).is_truthy()? => TextOf::Nothing,
            _ => TextOf::Chunk,
        };
        Ok(Some(Self { template, kinds, plan, text, has_usage, choices: choices.into_boxed_slice() }))
    }
}

/// What stands in a hole while a chunk is decoded to find out which member it is, and what it says: another for each
/// number.
fn marker_of(py: Python<'_>, kind: Kind, number: usize) -> PyResult<(String, Bound<'_, PyAny>)> {
    let marker = match kind {
        Kind::Text => format!("hole {number}"),
        Kind::Integer => format!("{number}"),
        Kind::Fraction => format!("{number}.5"),
    };
    let says = value_of(py, marker.as_bytes(), kind, false)?;
    Ok((marker, says))
}
