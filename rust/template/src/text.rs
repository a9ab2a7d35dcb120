//! Bodies of JSON strings: where one ends, and what it says.

use crate::Scan;

const ONES: u64 = u64::from_le_bytes([1; 8]);
const HIGH: u64 = u64::from_le_bytes([0x80; 8]);

/// Find the end of the string body that the bytes begin with: the quote behind it is no part of it.
#[inline]
pub(crate) fn scan(bytes: &[u8]) -> Scan {
    let mut at = 0;
    let (mut escaped, mut seen) = (false, 0);
    loop {
        at += plain(bytes.get(at..).unwrap_or_default(), &mut seen);
        match bytes.get(at) {
            Some(b'"') => break,
            Some(b'\\') => {
                escaped = true;
                let first = at;
                // They like company, in source code and in JSON as a text.
                while short(bytes.get(at..).unwrap_or_default()).is_some() {
                    at += 2;
                }
                if at == first {
                    match escape(bytes.get(at..).unwrap_or_default()) {
                        Some((_, length)) => at += length,
                        None => return Scan::Doubt,
                    }
                }
            }
            Some(_) => return Scan::Doubt,
            None => return Scan::Other,
        }
    }
    let body = bytes.get(..at).unwrap_or_default();
    if says_error(body) || !(seen & HIGH == 0 || std::str::from_utf8(body).is_ok()) {
        return Scan::Doubt;
    }
    Scan::Value { length: at, escaped }
}

/// How many bytes come before the next that is a quote, a backslash or a control character; a high bit in `seen` says that
/// some may be no ASCII. Eight at a time where there are as many: texts are short, so a search that has to be prepared
/// takes longer.
#[inline]
fn plain(bytes: &[u8], seen: &mut u64) -> usize {
    let mut at = 0;
    while let Some(eight) = bytes.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let eight = u64::from_le_bytes(*eight);
        let below = |value: u64, limit: u8| value.wrapping_sub(ONES * u64::from(limit)) & !value & HIGH;
        let equal = |byte: u8| below(eight ^ (ONES * u64::from(byte)), 1);
        // The lowest of the bits set is right; a borrow may set higher ones in vain.
        let special = below(eight, 0x20) | equal(b'"') | equal(b'\\');
        *seen |= eight;
        if special != 0 {
            return at + special.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    let rest = bytes.get(at..).unwrap_or_default();
    *seen |= rest.iter().fold(0, |seen, byte| seen | u64::from(*byte));
    at + rest.iter().position(|byte| matches!(byte, ..0x20 | b'"' | b'\\')).unwrap_or(rest.len())
}

/// Whether the body and the quote behind it, or the quotes around it, make `"error"`.
#[inline]
fn says_error(body: &[u8]) -> bool {
    body.strip_suffix(b"error").is_some_and(|before| matches!(before.last(), None | Some(b'"')))
}

/// The character that the escape of one letter at the start of the bytes stands for; nothing where there is none.
#[inline]
fn short(bytes: &[u8]) -> Option<u8> {
    let [b'\\', letter, ..] = bytes else { return None };
    Some(match letter {
        b'"' => b'"',
        b'\\' => b'\\',
        b'/' => b'/',
        b'b' => 0x8,
        b'f' => 0xc,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        _ => return None,
    })
}

/// The character that the escape by number at the start of the bytes stands for, and its length; nothing where it is
/// none, or half a surrogate pair.
fn escape(bytes: &[u8]) -> Option<(char, usize)> {
    let first = hexadecimal(bytes.strip_prefix(b"\\u")?.get(..4)?)?;
    if !(0xd800..0xe000).contains(&first) {
        return Some((char::from_u32(first)?, 6));
    }
    let second = hexadecimal(bytes.get(6..12)?.strip_prefix(b"\\u")?)?;
    let pair = first < 0xdc00 && (0xdc00..0xe000).contains(&second);
    let code = 0x1_0000 + ((first & 0x3ff) << 10) + (second & 0x3ff);
    Some((char::from_u32(code).filter(|_| pair)?, 12))
}

fn hexadecimal(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0, |code, digit| Some(code << 4 | char::from(*digit).to_digit(16)?))
}

/// What a body with escapes says, in UTF-8. It was found by [`crate::Template::find`], so that it is valid; of any other,
/// what is no escape is left as it is.
#[must_use]
pub fn unescape(body: &[u8]) -> Vec<u8> {
    let mut said = Vec::with_capacity(body.len());
    let mut rest = body;
    while let Some(first) = rest.first() {
        let used = if let Some(character) = short(rest) {
            said.push(character);
            2
        } else if *first == b'\\' {
            let (character, length) = escape(rest).unwrap_or(('\\', 1));
            said.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            length
        } else {
            let before = rest.split(|byte| *byte == b'\\').next().unwrap_or_default();
            said.extend_from_slice(before);
            before.len()
        };
        rest = rest.get(used..).unwrap_or_default();
    }
    said
}
