//! What the integration tests and the fuzz target share: the oracle, which decodes both payloads and compares the trees.

use serde_json::Value as Tree;
use ssewire_template::{Kind, Leaves, MOST_HOLES, Match, Number, Template, Value, number, unescape};

/// What a template has found: where the payload ends, and its values.
pub(crate) struct Found {
    pub(crate) length: usize,
    pub(crate) values: Vec<Value>,
}

/// The template of a payload that was learned from another: those of its leaves are holes which differ.
pub(crate) fn learn(payload: &[u8], other: &[u8]) -> Option<(Template, u64)> {
    let (leaves, others) = (Leaves::find(payload)?, Leaves::find(other)?);
    let mask = leaves.differences(payload, &others, other)?;
    Some((Template::new(payload, &leaves, mask)?, mask))
}

/// Match data; what is found is checked by [`check`].
pub(crate) fn find(template: &Template, payload: &[u8], data: &[u8]) -> (Match, Option<Found>) {
    let mut values = [Value::default(); MOST_HOLES];
    let matched = template.find(data, &mut values);
    let Match::Hit(length) = matched else { return (matched, None) };
    let found = Found { length, values: values.into_iter().take(template.holes()).collect() };
    check(template, payload, data, &found);
    (matched, Some(found))
}

/// A hit is JSON if the template's payload is, and the trees of both differ in nothing but the values in the holes.
fn check(template: &Template, payload: &[u8], data: &[u8], found: &Found) {
    let data = data.get(..found.length).expect("the payload that was found lies within the data");
    assert!(!data.iter().any(|byte| matches!(byte, b'\n' | b'\r')), "a line end in what was found");
    let own = find_own(template, payload);
    let Ok(tree) = serde_json::from_slice::<Tree>(payload) else { return };
    assert!(!data.windows(7).any(|word| word == b"\"error\""), "an error that was not seen");
    let other = serde_json::from_slice::<Tree>(data).expect("what was found is JSON");
    let pairs: Vec<(Tree, Tree)> = template
        .kinds()
        .zip(own.iter().zip(&found.values))
        .map(|(kind, (own, other))| (value(kind, payload, *own), value(kind, data, *other)))
        .collect();
    let mut differences = Vec::new();
    compare(&tree, &other, &mut differences);
    for difference in &differences {
        assert!(pairs.contains(difference), "{difference:?} is no hole of {pairs:?}");
    }
    if !has_duplicates(payload) {
        let changed = pairs.iter().filter(|(own, other)| own != other).count();
        assert_eq!(differences.len(), changed, "{pairs:?}");
    }
}

/// The values in the payload of which the template was made.
fn find_own(template: &Template, payload: &[u8]) -> Vec<Value> {
    let mut values = [Value::default(); MOST_HOLES];
    assert_eq!(template.find(payload, &mut values), Match::Hit(payload.len()), "a template is like its own payload");
    values.into_iter().take(template.holes()).collect()
}

/// What a value says.
fn value(kind: Kind, data: &[u8], value: Value) -> Tree {
    let token = data.get(value.start..value.end).expect("a value lies within the data");
    match (kind, number(token)) {
        (Kind::Text, _) => {
            assert_eq!(value.escaped, token.contains(&b'\\'));
            Tree::from(String::from_utf8(unescape(token)).expect("what a body says is UTF-8"))
        }
        (Kind::Integer, Some(Number::Integer(value))) => Tree::from(value),
        (Kind::Fraction, Some(Number::Fraction(value))) => Tree::from(value),
        other => panic!("{other:?} of {token:?}"),
    }
}

/// The leaves in which two trees differ. What differs otherwise is a pair that no hole has.
fn compare(one: &Tree, other: &Tree, differences: &mut Vec<(Tree, Tree)>) {
    match (one, other) {
        (Tree::Array(ones), Tree::Array(others)) if ones.len() == others.len() => {
            for (one, other) in ones.iter().zip(others) {
                compare(one, other, differences);
            }
        }
        (Tree::Object(ones), Tree::Object(others)) if ones.keys().eq(others.keys()) => {
            for (one, other) in ones.values().zip(others.values()) {
                compare(one, other, differences);
            }
        }
        _ if one != other => differences.push((one.clone(), other.clone())),
        _ => {}
    }
}

/// Whether a key may stand twice in an object, so that the value of one is in no tree: told by the keys of the payload as a
/// whole.
fn has_duplicates(payload: &[u8]) -> bool {
    fn keys(tree: &Tree) -> usize {
        match tree {
            Tree::Array(items) => items.iter().map(keys).sum(),
            Tree::Object(members) => members.len() + members.values().map(keys).sum::<usize>(),
            _ => 0,
        }
    }
    let (mut colons, mut in_text, mut escaped) = (0, false, false);
    for byte in payload {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = in_text,
            b'"' => in_text = !in_text,
            b':' if !in_text => colons += 1,
            _ => {}
        }
    }
    serde_json::from_slice::<Tree>(payload).map_or(0, |tree| keys(&tree)) != colons
}
