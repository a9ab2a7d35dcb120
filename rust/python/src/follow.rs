//! What a chat stream has told so far: usage, finish reasons, which choices were seen.
//!
//! Each chunk is looked at once, as it is handed out. Chunks of the built-in type are read by attribute here; for any
//! other type a Python function names the facts.

use std::collections::HashMap;
use std::sync::LazyLock;
use std::time::Duration;

use memchr::memmem::Finder;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString, PyTuple};
use pyo3::{PyTraverseError, PyVisit};

use crate::member::Members;
use crate::told::Told;

/// So many choices are remembered; a stream that numbers more is told from its first ones. (Early TGI counts tokens in
/// the index, so a long answer has thousands; a hostile stream has no end of them.)
const MOST_CHOICES: usize = 65_536;

/// So many finish reasons are kept of choices that have no small number. Numbers can be chosen so that a dict finds all of
/// them in one place, and then takes as long as a list; of small ones there are too few for that.
const MOST_ODD_CHOICES: usize = 1024;

/// What stands elsewhere than in its place has these somewhere.
static USAGE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"usage\""));
static MESSAGE: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new(b"\"message\""));

/// How the facts are read from a chunk.
pub(crate) enum Facts {
    /// It is of the built-in type.
    BuiltIn(&'static Members),
    /// It is of another: a function gives `(usage, copy of the usage, [(index, finish_reason)], whether it has text)`; it is
    /// told whether the last is asked for.
    Function(Option<Py<PyAny>>),
}

impl Facts {
    /// The text of a chunk, where it has any.
    pub(crate) fn text(&self, chunk: &Bound<'_, PyAny>) -> PyResult<Option<Py<PyAny>>> {
        let py = chunk.py();
        if let Self::BuiltIn(members) = self {
            let choices = members.choices.get(chunk)?.cast_into::<PyList>()?;
            if choices.len() == 1 {
                let content = members.content.get(&members.delta.get(&choices.get_item(0)?)?)?;
                if content.is_none() {
                    return Ok(None);
                }
                if let Ok(content) = content.cast_into_exact::<PyString>() {
                    return Ok(content.is_truthy()?.then(|| content.into_any().unbind()));
                }
            }
        }
        let text = chunk.getattr(intern!(py, "text"))?;
        Ok(text.is_truthy()?.then(|| text.unbind()))
    }
}

/// Whether a payload has a usage somewhere that is an object: in most it is null.
fn has_usage_object(payload: &[u8]) -> bool {
    let behind = |at: usize| payload.get(at + USAGE.needle().len()..).unwrap_or_default().trim_ascii_start();
    let is_object = |value: &[u8]| value.trim_ascii_start().starts_with(b"{");
    USAGE.find_iter(payload).any(|at| behind(at).strip_prefix(b":").is_some_and(is_object))
}

/// Whether a usage says anything; an empty object is none, and must not wipe an earlier one.
fn has_counts(usage: &Bound<'_, PyAny>) -> PyResult<bool> {
    let py = usage.py();
    for count in [intern!(py, "total_tokens"), intern!(py, "completion_tokens"), intern!(py, "prompt_tokens")] {
        if !usage.getattr(count)?.is_none() {
            return Ok(true);
        }
    }
    Ok(false)
}

pub(crate) struct Follow {
    pub(crate) facts: Facts,
    /// So many chunks were looked at.
    followed: u64,
    /// A choice that was seen in more than one chunk, the last one looked at: most often the only one there is.
    repeated: Option<i64>,
    /// The chunk in which each choice was seen first; 0 when it was seen in another one too.
    first_seen: HashMap<i64, u64>,
    /// A usage came where it belongs, so that copies elsewhere no longer count.
    has_usage: bool,
}

impl Follow {
    pub(crate) fn new(facts: Facts) -> Self {
        Self { facts, followed: 0, repeated: None, first_seen: HashMap::new(), has_usage: false }
    }

    pub(crate) fn reset(&mut self) {
        self.followed = 0;
        self.repeated = None;
        self.first_seen = HashMap::new();
        self.has_usage = false;
    }

    /// Look at a chunk, and at its payload where there is one and the chunk does not tell all. `came` is when its read came, until text
    /// is found in it.
    #[inline(always)]
    pub(crate) fn chunk(
        &mut self,
        payload: Option<&Bound<'_, PyBytes>>,
        chunk: &Bound<'_, PyAny>,
        came: &mut Option<Duration>,
        told: &Told,
    ) -> PyResult<()> {
        self.followed += 1;
        let Facts::BuiltIn(members) = self.facts else { return self.chunk_of_another_type(chunk, came, told) };
        let usage = members.usage.get(chunk)?;
        if !usage.is_none() {
            self.usage(usage, told)?;
        }
        let choices = members.choices.get(chunk)?.cast_into::<PyList>()?;
        // What stands elsewhere than in its place does so at the end of an answer only.
        let mut at_end = choices.is_empty();
        for at in 0..choices.len() {
            let choice = choices.get_item(at)?;
            let reason = members.finish_reason.get(&choice)?;
            self.see(Self::key(&members.index.get(&choice)?));
            if came.is_some() {
                self.take_time(members, chunk, &choice, came, told)?;
            }
            if !reason.is_none() {
                at_end |= Self::reason(&members.index.get(&choice)?, &reason, told)?;
            }
        }
        match payload {
            Some(payload) if at_end => self.look_elsewhere(members, payload, chunk, told),
            _ => Ok(()),
        }
    }

    /// The same for a chunk that need not be built, since it is known what it says: it has choices of these indexes, no
    /// usage and no finish reason.
    #[inline(always)]
    pub(crate) fn known_chunk(&mut self, choices: &[i64], has_text: bool, came: &mut Option<Duration>, told: &Told) {
        self.followed += 1;
        for key in choices {
            self.see(*key);
        }
        if has_text && let Some(came) = came.take() {
            told.times.text(came);
        }
    }

    /// Take note of when text came, where a choice has some: once a read, so this is kept out of the way.
    #[inline(never)]
    fn take_time(
        &self,
        members: &Members,
        chunk: &Bound<'_, PyAny>,
        choice: &Bound<'_, PyAny>,
        came: &mut Option<Duration>,
        told: &Told,
    ) -> PyResult<()> {
        let content = members.content.get(&members.delta.get(choice)?)?;
        let has_text = match content.cast_exact::<PyString>() {
            Ok(content) => content.is_truthy()?,
            // Of typed parts only some are text.
            Err(_) => !content.is_none() && self.facts.text(chunk)?.is_some(),
        };
        if has_text && let Some(came) = came.take() {
            told.times.text(came);
        }
        Ok(())
    }

    #[inline(never)]
    fn chunk_of_another_type(
        &mut self,
        chunk: &Bound<'_, PyAny>,
        came: &mut Option<Duration>,
        told: &Told,
    ) -> PyResult<()> {
        let Facts::Function(Some(ref facts)) = self.facts else { return Ok(()) };
        let facts = facts.bind(chunk.py()).call1((chunk, came.is_some()))?;
        let (usage, copy, choices, has_text) =
            facts.extract::<(Bound<'_, PyAny>, Bound<'_, PyAny>, Bound<'_, PyList>, bool)>()?;
        if has_text && let Some(came) = came.take() {
            told.times.text(came);
        }
        if !usage.is_none() {
            self.has_usage = true;
            told.set_usage(usage);
        } else if !copy.is_none() && !self.has_usage {
            told.set_usage(copy);
        }
        for choice in choices.iter() {
            let choice = choice.cast_into::<PyTuple>()?;
            let (index, reason) = (choice.get_item(0)?, choice.get_item(1)?);
            self.see(Self::key(&index));
            Self::reason(&index, &reason, told)?;
        }
        Ok(())
    }

    #[inline(never)]
    fn usage(&mut self, usage: Bound<'_, PyAny>, told: &Told) -> PyResult<()> {
        if has_counts(&usage)? {
            self.has_usage = true;
            told.set_usage(usage);
        }
        Ok(())
    }

    /// At the end of an answer: usage that stands elsewhere in the payload, and an answer that is there all at once.
    #[inline(never)]
    fn look_elsewhere(
        &self,
        members: &Members,
        payload: &Bound<'_, PyBytes>,
        chunk: &Bound<'_, PyAny>,
        told: &Told,
    ) -> PyResult<()> {
        let py = payload.py();
        if !self.has_usage && has_usage_object(payload.as_bytes()) {
            let usage = members.copied_usage.bind(py).call1(PyTuple::new(py, [payload])?)?;
            if !usage.is_none() {
                told.set_usage(usage);
            }
        }
        if self.followed == 1 && MESSAGE.find(payload.as_bytes()).is_some() {
            members.take_message.bind(py).call1((payload, chunk))?;
        }
        Ok(())
    }

    /// Take a finish reason; gives whether it is one.
    #[inline(never)]
    fn reason(index: &Bound<'_, PyAny>, reason: &Bound<'_, PyAny>, told: &Told) -> PyResult<bool> {
        if reason.is_none() || !reason.is_truthy()? {
            return Ok(false);
        }
        if let Some(reasons) = told.finish_reasons(index.py()).map(|reasons| reasons.into_bound(index.py())) {
            // `stop` says the least: one that comes late does not replace `tool_calls`.
            let known = reasons.contains(index)?;
            let replaces = known && !reason.eq(intern!(index.py(), "stop"))?;
            let most = if index.extract::<u16>().is_ok() { MOST_CHOICES } else { MOST_ODD_CHOICES };
            if replaces || (!known && reasons.len() < most) {
                reasons.set_item(index, reason)?;
            }
        }
        Ok(true)
    }

    /// By what a choice is known. An index that is no number of 64 bits shares one with all others of its kind.
    #[inline(always)]
    pub(crate) fn key(index: &Bound<'_, PyAny>) -> i64 {
        index.extract::<i64>().unwrap_or(i64::MIN)
    }

    /// A choice is in the chunk.
    #[inline(always)]
    fn see(&mut self, key: i64) {
        if self.repeated != Some(key) {
            self.see_another(key);
        }
    }

    #[inline(never)]
    fn see_another(&mut self, key: i64) {
        let number = self.followed;
        let room = self.first_seen.len() < MOST_CHOICES;
        match self.first_seen.get_mut(&key) {
            Some(first) if *first != number => {
                *first = 0;
                self.repeated = Some(key);
            }
            None if room => {
                self.first_seen.insert(key, number);
            }
            Some(_) | None => {}
        }
    }

    /// Whether the answer is whole although no sentinel came: every choice that was seen in more than one chunk has a
    /// finish reason, and at least one has.
    pub(crate) fn finished(&self, py: Python<'_>, told: &Told) -> PyResult<bool> {
        let Some(reasons) = told.finish_reasons(py).map(|reasons| reasons.into_bound(py)) else { return Ok(false) };
        if reasons.is_empty() {
            return Ok(false);
        }
        for (key, first) in &self.first_seen {
            if *first == 0 && *key != i64::MIN && !reasons.contains(*key)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    pub(crate) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        if let Facts::Function(facts) = &self.facts { visit.call(facts) } else { Ok(()) }
    }

    pub(crate) fn clear(&mut self) {
        self.facts = Facts::Function(None);
    }
}
