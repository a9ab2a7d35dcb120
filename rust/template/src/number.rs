//! JSON numbers: where one ends, its form, and its value.

use crate::{Kind, Scan};

/// The value of a number, in the form in which it was written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// Without fraction and exponent.
    Integer(i64),
    /// With either.
    Fraction(f64),
}

/// Find the end of the number of this kind that the bytes begin with.
#[inline]
pub(crate) fn scan(bytes: &[u8], kind: Kind) -> Scan {
    let Some((length, found)) = form(bytes) else { return Scan::Other };
    if found != kind {
        return Scan::Other;
    }
    match number(bytes.get(..length).unwrap_or_default()) {
        Some(_) => Scan::Value { length, escaped: false },
        None => Scan::Doubt,
    }
}

/// The length of the number that the bytes begin with, and its form; nothing where they begin with none, or where it
/// goes on in a way that no number does (RFC 8259, section 6).
#[inline]
pub(crate) fn form(bytes: &[u8]) -> Option<(usize, Kind)> {
    let digits = |at: usize| bytes.get(at..).unwrap_or_default().iter().take_while(|b| b.is_ascii_digit()).count();
    let mut at = usize::from(bytes.first() == Some(&b'-'));
    let whole = digits(at);
    if whole == 0 || (whole > 1 && bytes.get(at) == Some(&b'0')) {
        return None;
    }
    at += whole;
    let mut kind = Kind::Integer;
    if bytes.get(at) == Some(&b'.') {
        let fraction = digits(at + 1);
        if fraction == 0 {
            return None;
        }
        at += 1 + fraction;
        kind = Kind::Fraction;
    }
    if matches!(bytes.get(at), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(bytes.get(at + 1), Some(b'+' | b'-')));
        let exponent = digits(at + 1 + sign);
        if exponent == 0 {
            return None;
        }
        at += 1 + sign + exponent;
        kind = Kind::Fraction;
    }
    Some((at, kind))
}

/// The value of a number; nothing for one that decoders may treat in ways of their own: minus zero, an integer
/// beyond 64 bits, what is beyond the range of floating point.
#[must_use]
pub fn number(token: &[u8]) -> Option<Number> {
    let (length, kind) = form(token)?;
    let token = std::str::from_utf8(token).ok().filter(|token| token.len() == length)?;
    if kind == Kind::Integer {
        return token.parse().ok().filter(|_| token != "-0").map(Number::Integer);
    }
    let value: f64 = token.parse().ok()?;
    (value.is_finite() && !(value == 0.0 && value.is_sign_negative())).then_some(Number::Fraction(value))
}
