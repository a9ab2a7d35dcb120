//! The values in a payload that could be holes: its strings and numbers, keys not among them.

use crate::text;
use crate::{Kind, Scan, number};

/// The keys whose values the reader of the stream looks at itself: they are never a hole.
pub const FIXED: [&[u8]; 4] = [b"error", b"object", b"finish_reason", b"index"];

/// So many a payload has at the most that is worth a template: one bit of a mask stands for each.
const MOST: usize = 64;

/// A string's body, or a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leaf {
    pub(crate) start: u32,
    pub(crate) end: u32,
    pub(crate) kind: Kind,
    /// It is never a hole.
    pub(crate) fixed: bool,
}

impl Leaf {
    /// What it is.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Its bytes in the payload.
    #[must_use]
    pub fn of<'p>(&self, payload: &'p [u8]) -> &'p [u8] {
        payload.get(self.start as usize..self.end as usize).unwrap_or_default()
    }
}

/// All leaves of a payload, in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leaves(Box<[Leaf]>);

impl Leaves {
    /// Those of a payload that a decoder has accepted.
    ///
    /// Gives nothing where no template can be made of it: too many of them, one that is in doubt, a line end among the
    /// white space, or the bytes `"error"`.
    #[must_use]
    pub fn find(payload: &[u8]) -> Option<Self> {
        let mut leaves = Vec::new();
        let mut fixed = false;
        let mut at = 0;
        while let Some(byte) = payload.get(at) {
            let rest = payload.get(at..)?;
            match byte {
                b'"' => {
                    let Scan::Value { length, .. } = text::scan(rest.get(1..)?) else { return None };
                    let (start, end) = (at + 1, at + 1 + length);
                    at = end + 1;
                    if let Some(value) = behind_colon(payload.get(at..)?) {
                        fixed = FIXED.contains(&payload.get(start..end)?);
                        at = payload.len() - value.len();
                        continue;
                    }
                    leaves.push(Leaf::new(start, end, Kind::Text, fixed)?);
                }
                b'-' | b'0'..=b'9' => {
                    let (length, kind) = number::form(rest)?;
                    number::number(rest.get(..length)?)?;
                    leaves.push(Leaf::new(at, at + length, kind, fixed)?);
                    at += length;
                }
                b'\n' | b'\r' => return None,
                _ => {
                    at += 1;
                    // The key stands right before its value. What it names otherwise is an object or an array, and
                    // inside it other keys, or none, count.
                    fixed &= *byte == b' ' || *byte == b'\t';
                    continue;
                }
            }
            fixed = false;
            if leaves.len() > MOST {
                return None;
            }
        }
        Some(Self(leaves.into_boxed_slice()))
    }

    /// Each leaf, in their order.
    pub fn iter(&self) -> impl Iterator<Item = &Leaf> {
        self.0.iter()
    }

    /// Where two payloads differ in leaves only, in the same places and of the same kinds, the mask of those which do;
    /// nothing where they differ in anything else, or in a leaf that is fixed.
    #[must_use]
    pub fn differences(&self, payload: &[u8], other: &Self, other_payload: &[u8]) -> Option<u64> {
        if self.0.len() != other.0.len() {
            return None;
        }
        let (mut at, mut other_at, mut mask) = (0, 0, 0);
        for (number, (one, two)) in self.0.iter().zip(&other.0).enumerate() {
            let between = payload.get(at..one.start as usize)?;
            if one.kind != two.kind || between != other_payload.get(other_at..two.start as usize)? {
                return None;
            }
            if one.of(payload) != two.of(other_payload) {
                if one.fixed {
                    return None;
                }
                mask |= 1 << number;
            }
            (at, other_at) = (one.end as usize, two.end as usize);
        }
        (payload.get(at..)? == other_payload.get(other_at..)?).then_some(mask)
    }
}

impl Leaf {
    fn new(start: usize, end: usize, kind: Kind, fixed: bool) -> Option<Self> {
        Some(Self { start: u32::try_from(start).ok()?, end: u32::try_from(end).ok()?, kind, fixed })
    }
}

/// What stands behind a colon, where one comes next: then the string before it is a key. A line end before the colon is
/// left to be found as such.
fn behind_colon(rest: &[u8]) -> Option<&[u8]> {
    let spaces = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    rest.get(spaces..)?.strip_prefix(b":")
}
