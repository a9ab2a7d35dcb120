//! Payloads that are alike: whatever a template learned of two of them takes for its own is JSON, and its tree is theirs
//! but for the values in the holes.

#![no_main]

#[path = "../../template/tests/common/mod.rs"]
mod common;

use common::{find, learn};
use libfuzzer_sys::arbitrary::{self, Arbitrary};
use libfuzzer_sys::fuzz_target;
use ssewire_template::{Leaves, MOST_HOLES, Match, Template, Value};

/// A piece of all three payloads.
#[derive(Arbitrary, Debug)]
enum Piece<'i> {
    Open(bool),
    Close(bool),
    Comma,
    Space(bool),
    Word(u8),
    Key(Key<'i>),
    Text(Values<'i>),
    Number(Values<'i>),
    Raw(&'i [u8]),
}

#[derive(Arbitrary, Debug)]
enum Key<'i> {
    Known(u8),
    Other(&'i [u8]),
}

/// A value in each of the payloads; where there is none, it is that of the first.
#[derive(Arbitrary, Debug)]
struct Values<'i> {
    first: &'i [u8],
    second: Option<&'i [u8]>,
    third: Option<&'i [u8]>,
}

#[derive(Arbitrary, Debug)]
struct Input<'i> {
    pieces: Vec<Piece<'i>>,
    rest: &'i [u8],
    /// Which leaves are holes in a template that was learned of nothing.
    mask: u64,
}

const KEYS: [&[u8]; 8] = [b"a", b"", b"error", b"index", b"object", b"finish_reason", b"err\\u006fr", b"content"];

const WORDS: [&[u8]; 4] = [b"null", b"true", b"false", b"0"];

/// One of the payloads: the first, the second or the third.
fn write(pieces: &[Piece<'_>], which: usize) -> Vec<u8> {
    let mut written = Vec::new();
    for piece in pieces {
        let values = |values: &Values<'_>| match which {
            0 => values.first.to_vec(),
            1 => values.second.unwrap_or(values.first).to_vec(),
            _ => values.third.unwrap_or(values.first).to_vec(),
        };
        match piece {
            Piece::Open(array) => written.push(if *array { b'[' } else { b'{' }),
            Piece::Close(array) => written.push(if *array { b']' } else { b'}' }),
            Piece::Comma => written.push(b','),
            Piece::Space(tab) => written.push(if *tab { b'\t' } else { b' ' }),
            Piece::Word(word) => written.extend_from_slice(WORDS[usize::from(*word) % WORDS.len()]),
            Piece::Key(key) => {
                let key = match key {
                    Key::Known(key) => KEYS[usize::from(*key) % KEYS.len()],
                    Key::Other(key) => key,
                };
                written.extend([b"\"", key, b"\":"].concat());
            }
            Piece::Text(text) => written.extend([b"\"", &*values(text), b"\""].concat()),
            Piece::Number(digits) => {
                // Half of the bytes are digits then, and the rest signs.
                let sign = |byte: &u8| {
                    if byte & 1 == 0 {
                        b"0123456789"[usize::from(byte >> 1) % 10]
                    } else {
                        b"-+.eE"[usize::from(byte >> 1) % 5]
                    }
                };
                written.extend(values(digits).iter().map(sign));
            }
            Piece::Raw(bytes) => written.extend_from_slice(bytes),
        }
    }
    written
}

fuzz_target!(|input: Input<'_>| {
    let Input { pieces, rest, mask } = input;
    // The decoder of the oracle gives up at 128 levels, and a template knows no levels.
    let depth = pieces.iter().filter(|piece| matches!(piece, Piece::Open(_) | Piece::Raw(_))).count();
    if depth > 64 {
        return;
    }
    let [one, two, three] = [0, 1, 2].map(|which| write(&pieces, which));
    let is_json = |payload: &[u8]| serde_json::from_slice::<serde_json::Value>(payload).is_ok();
    if let Some((template, _)) = learn(&one, &two) {
        // Only of what a decoder has accepted anything is learned.
        if is_json(&one) {
            assert_eq!(find(&template, &one, &two).0, Match::Hit(two.len()));
        }
        let (matched, _) = find(&template, &one, &three);
        let (again, _) = find(&template, &one, &[&three[..], rest].concat());
        if let Match::Hit(length) = matched
            && is_json(&one)
            && matches!(one.first(), Some(b'{' | b'['))
        {
            assert_eq!(again, Match::Hit(length), "what is behind it matters");
        }
    }
    if let Some(leaves) = Leaves::find(&one)
        && let Some(template) = Template::new(&one, &leaves, mask)
    {
        let mut values = [Value::default(); MOST_HOLES];
        assert_eq!(template.find(&one, &mut values), Match::Hit(one.len()));
        find(&template, &one, &three);
    }
});
