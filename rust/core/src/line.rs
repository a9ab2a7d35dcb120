//! Where lines end, in some bytes (HTML standard, 9.2.5).

use memchr::memchr2;

/// Bytes that are looked at together.
type Word = [u8; 8];

/// So many words are searched one by one before the rest is left to the vector routine.
const WORDS: usize = 2;

/// Split at the first line end: the line before it, the byte that ends it, the rest.
#[inline]
pub(crate) fn split_line(input: &[u8]) -> Option<(&[u8], u8, &[u8])> {
    let (line, rest) = input.split_at_checked(line_end(input)?)?;
    let (end, rest) = rest.split_first()?;
    Some((line, *end, rest))
}

/// Find the first line end.
///
/// The first words are searched here: most lines but those of data end within them, and so do the smallest reads, while
/// the vector routine costs more than that before it looks at anything.
#[inline]
pub(crate) fn line_end(input: &[u8]) -> Option<usize> {
    let (words, tail) = input.as_chunks();
    for (number, word) in words.iter().take(WORDS).enumerate() {
        if let Some(at) = line_end_in(*word) {
            return Some(number * size_of::<Word>() + at);
        }
    }
    let searched = words.len().min(WORDS) * size_of::<Word>();
    let found = if words.len() > WORDS {
        memchr2(b'\n', b'\r', input.get(searched..)?)
    } else {
        tail.iter().position(|byte| matches!(byte, b'\n' | b'\r'))
    };
    found.map(|at| searched + at)
}

/// Find the first line end in a word, all its bytes at once.
#[inline]
fn line_end_in(word: Word) -> Option<usize> {
    let word = u64::from_le_bytes(word);
    let found = zeros(word ^ u64::from_le_bytes([b'\n'; 8])) | zeros(word ^ u64::from_le_bytes([b'\r'; 8]));
    (found != 0).then(|| found.trailing_zeros() as usize / 8)
}

/// The highest bit of each byte that is zero. A borrow can set it in bytes above a zero, too, so only the lowest one is
/// to be believed: the first byte in memory.
#[inline]
fn zeros(word: u64) -> u64 {
    word.wrapping_sub(u64::from_le_bytes([1; 8])) & !word & u64::from_le_bytes([0x80; 8])
}
