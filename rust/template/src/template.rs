//! An earlier payload with holes in it, and how the next one is matched against it.

use crate::{Kind, Leaf, Leaves, Scan, number, text};

/// So many holes a template has at the most. The recorded streams need up to four; a payload in which more changes is
/// decoded about as fast.
pub const MOST_HOLES: usize = 16;

/// A place in which something else may stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hole {
    kind: Kind,
    /// Where the fixed bytes before it end.
    before: u32,
}

/// What was found in a hole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Value {
    /// Where it starts in the data.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
    /// It is a text with escapes.
    pub escaped: bool,
}

/// Whether data begins with a payload like the template's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Match {
    /// It does, with one of so many bytes.
    Hit(usize),
    /// It does not.
    Miss,
    /// It does as far as was looked, but something in a hole is for a decoder to judge.
    Doubt,
}

/// A payload with holes.
#[derive(Debug, Clone)]
pub struct Template {
    /// All that stands outside the holes.
    fixed: Box<[u8]>,
    holes: Box<[Hole]>,
}

impl Template {
    /// Cut holes into a payload: those of its leaves whose bits are set. Gives nothing where these are too many.
    #[must_use]
    pub fn new(payload: &[u8], leaves: &Leaves, mask: u64) -> Option<Self> {
        let (mut fixed, mut holes) = (Vec::with_capacity(payload.len()), Vec::new());
        let mut at = 0;
        for leaf in cut(leaves, mask) {
            fixed.extend_from_slice(payload.get(at..leaf.start as usize)?);
            holes.push(Hole { kind: leaf.kind, before: u32::try_from(fixed.len()).ok()? });
            at = leaf.end as usize;
        }
        fixed.extend_from_slice(payload.get(at..)?);
        (holes.len() <= MOST_HOLES).then(|| Self { fixed: fixed.into_boxed_slice(), holes: holes.into_boxed_slice() })
    }

    /// So many holes it has.
    #[must_use]
    pub fn holes(&self) -> usize {
        self.holes.len()
    }

    /// What kind of value stands in each hole.
    pub fn kinds(&self) -> impl Iterator<Item = Kind> {
        self.holes.iter().map(|hole| hole.kind)
    }

    /// Match what the data begins with. With a hit, `values` says what stands in each hole; there is no line end in any
    /// of it.
    #[inline]
    pub fn find(&self, data: &[u8], values: &mut [Value; MOST_HOLES]) -> Match {
        let (mut rest, mut from) = (data, 0);
        for (hole, value) in self.holes.iter().zip(values) {
            let before = self.fixed.get(from..hole.before as usize).unwrap_or_default();
            let Some(behind) = rest.strip_prefix(before) else { return Match::Miss };
            let scanned = match hole.kind {
                Kind::Text => text::scan(behind),
                kind => number::scan(behind, kind),
            };
            let (length, escaped) = match scanned {
                Scan::Value { length, escaped } => (length, escaped),
                Scan::Other => return Match::Miss,
                Scan::Doubt => return Match::Doubt,
            };
            let start = data.len() - behind.len();
            *value = Value { start, end: start + length, escaped };
            rest = behind.get(length..).unwrap_or_default();
            from = hole.before as usize;
        }
        match rest.strip_prefix(self.fixed.get(from..).unwrap_or_default()) {
            Some(behind) => Match::Hit(data.len() - behind.len()),
            None => Match::Miss,
        }
    }
}

/// The leaves whose bits are set.
fn cut(leaves: &Leaves, mask: u64) -> impl Iterator<Item = &Leaf> {
    leaves.iter().enumerate().filter(move |(number, _)| mask >> number & 1 == 1).map(|(_, leaf)| leaf)
}
