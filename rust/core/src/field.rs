//! Fields, as they lie whole in a line (HTML standard, 9.2.6).

/// The value of a data line; one space after the colon is dropped.
#[inline]
pub(crate) fn data_value(line: &[u8]) -> Option<&[u8]> {
    match line.strip_prefix(b"data")? {
        [] => Some(&[]),
        [b':', b' ', value @ ..] | [b':', value @ ..] => Some(value),
        _ => None,
    }
}

/// A field's name and value; a line without a colon is a name with an empty value.
pub(crate) fn split_field(line: &[u8]) -> (&[u8], &[u8]) {
    let mut halves = line.splitn(2, |byte| *byte == b':');
    let name = halves.next().unwrap_or_default();
    let value = halves.next().unwrap_or_default();
    (name, value.strip_prefix(b" ").unwrap_or(value))
}

/// ASCII digits only; a number beyond 64 bits stays at the largest.
pub(crate) fn parse_retry(value: &[u8]) -> Option<u64> {
    if value.is_empty() {
        return None;
    }
    value.iter().try_fold(0_u64, |number, byte| {
        byte.is_ascii_digit().then(|| number.saturating_mul(10).saturating_add(u64::from(byte - b'0')))
    })
}
