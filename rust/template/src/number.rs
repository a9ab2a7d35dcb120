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

/// So many digits fit into 64 bits, whatever they are.
const SAFE_DIGITS: usize = 18;

/// Find the end of the number of this kind that the bytes begin with.
#[inline]
pub(crate) fn scan(bytes: &[u8], kind: Kind) -> Scan {
    let Some((length, found)) = form(bytes) else { return Scan::Other };
    if found != kind {
        return Scan::Other;
    }
    // What is short and has neither sign nor exponent is in no doubt, and most numbers are.
    let token = bytes.get(..length).unwrap_or_default();
    let plain =
        length <= SAFE_DIGITS && token.first() != Some(&b'-') && (kind == Kind::Integer || !has_exponent(token));
    if plain || number(token).is_some() { Scan::Value { length, escaped: false } } else { Scan::Doubt }
}

fn has_exponent(token: &[u8]) -> bool {
    token.iter().any(|byte| matches!(byte, b'e' | b'E'))
}

/// The length of the number that the bytes begin with, and its form; nothing where they begin with none, or where it
/// goes on in a way that no number does (RFC 8259, section 6).
#[inline]
pub(crate) fn form(bytes: &[u8]) -> Option<(usize, Kind)> {
    let digits = |at: usize| {
        let rest = bytes.get(at..).unwrap_or_default();
        rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len())
    };
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

/// The value of a number; nothing for one that decoders may treat in ways of their own: minus zero, an integer beyond 64
/// bits, what is beyond the range of floating point.
#[must_use]
#[inline]
pub fn number(token: &[u8]) -> Option<Number> {
    if matches!(token.first(), Some(b'1'..=b'9')) && token.len() <= SAFE_DIGITS && token.iter().all(u8::is_ascii_digit)
    {
        let value = token.iter().fold(0, |value, digit| value * 10 + i64::from(digit - b'0'));
        return Some(Number::Integer(value));
    }
    any_number(token)
}

#[inline(never)]
fn any_number(token: &[u8]) -> Option<Number> {
    let (length, kind) = form(token)?;
    let token = std::str::from_utf8(token).ok().filter(|token| token.len() == length)?;
    if kind == Kind::Integer {
        return token.parse().ok().filter(|_| token != "-0").map(Number::Integer);
    }
    let value: f64 = token.parse().ok()?;
    (value.is_finite() && !(value == 0.0 && value.is_sign_negative())).then_some(Number::Fraction(value))
}
