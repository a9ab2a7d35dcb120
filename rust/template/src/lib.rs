//! Recognises JSON payloads that differ from earlier ones in a few values only, without decoding them.
//!
//! From one event of a chat stream to the next only one to three values change: the text, a counter, padding. A
//! [`Template`] is an earlier payload with those values cut out. To match the next payload against it is a comparison
//! of memory for each piece between the holes, and a search for the end of the value in each hole.
//!
//! # Why it is exact
//!
//! A template is made of a payload that a JSON decoder has accepted, so that it is well-formed. A payload matches when
//! it is the same bytes, but for the bodies of some strings and for some numbers, each of which is replaced by another
//! body or number that the grammar of JSON allows in its place (RFC 8259, sections 6 and 7). Such a payload has the
//! same tokens as the template's, one for one, and all but those few are equal. So it is well-formed, and the tree that
//! any decoder makes of it differs in nothing but what the decoder makes of those values.
//!
//! What a decoder makes of a value is for the user of this crate to find out. It holds for any other value in that
//! place only if the value is a plain one, so what decoders treat differently from the rest is no match but a
//! [`Match::Doubt`]: bytes that are no UTF-8, half a surrogate pair, minus zero, an integer beyond 64
//! bits, a number beyond the range of floating point. Raw control characters, which the
//! grammar forbids, and which are line ends in an event stream, are such a case, too. And a number keeps its form: one
//! that was an integer stays one, one with a fraction or an exponent keeps having either.
//!
//! A hole is a value, never a key: [`Leaves`] knows the difference. It is never one of those that the reader of the
//! stream itself looks at, whether the decoder knows them or not (see [`FIXED`]), and the bytes `"error"`, by which
//! that reader finds errors before decoding, are in no payload that matches.

#![forbid(unsafe_code)]

mod leaves;
mod number;
mod template;
mod text;

pub use leaves::{FIXED, Leaf, Leaves};
pub use number::{Number, number};
pub use template::{Hole, MOST_HOLES, Match, Template, Value};
pub use text::unescape;

/// What stands in a hole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The body of a string, without its quotes.
    Text,
    /// A number without fraction and exponent.
    Integer,
    /// A number with either.
    Fraction,
}

/// What stands at the start of some bytes, where a value of some kind is expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scan {
    /// A value of so many bytes; of a text, whether it has escapes.
    Value {
        /// In bytes.
        length: usize,
        /// Whether there is any.
        escaped: bool,
    },
    /// Nothing of the kind.
    Other,
    /// Something that decoders may treat in ways of their own.
    Doubt,
}
