//! Payloads with one point each, and what a template makes of them, written down by hand.

#![expect(clippy::expect_used, reason = "tests")]
#![allow(clippy::panic, reason = "tests")]

mod common;

use common::{find, learn};
use ssewire_template::{Kind, Leaves, MOST_HOLES, Match, Number, Template, Value, number, unescape};

const HIT: &str = "hit";
const MISS: &str = "miss";
const DOUBT: &str = "doubt";

/// What is made of data by a template that was learned of two payloads.
fn made_of(one: &[u8], two: &[u8], data: &[u8]) -> &'static str {
    let (template, _) = learn(one, two).expect("the two are alike");
    match find(&template, one, data).0 {
        Match::Hit(length) if length == data.len() => HIT,
        Match::Hit(length) => panic!("only {length} bytes of it"),
        Match::Miss => MISS,
        Match::Doubt => DOUBT,
    }
}

/// What is made of the body of a string in the place of another.
fn text(body: &[u8]) -> &'static str {
    made_of(br#"{"a":"x","b":1}"#, br#"{"a":"y","b":1}"#, &[br#"{"a":""#, body, br#"","b":1}"#].concat())
}

#[rustfmt::skip]
#[test]
fn texts() {
    let cases: &[(&[u8], &str)] = &[
        (b"", HIT), (b"z", HIT), (b" ", HIT), (b"\x7f", HIT), (b"null", HIT), (b"hole 1000", HIT),
        ("é灯🐟".as_bytes(), HIT), ("\u{2028}\u{85}\u{feff}\u{10ffff}".as_bytes(), HIT),
        (br#"\"\\\/\b\f\n\r\t"#, HIT), (br"\u0000\u001f\uffff", HIT), (br"\uD83D\ude00", HIT), (br"\ud800\udc00", HIT),
        (br"\udbff\udfff", HIT), (br"a\\", HIT), (br"\u0065rror", HIT),
        // Half a pair, in every place of one.
        (br"\ud83d", DOUBT), (br"\ude00", DOUBT), (br"\ud83dx", DOUBT), (br"\ud83d\n", DOUBT), (br"\ud83d\u0041", DOUBT),
        (br"\ud83d\ud83d\ude00", DOUBT), (br"\ude00\ud83d", DOUBT), (br"\ud83d\\ude00", DOUBT),
        // No escapes.
        (br"\x41", DOUBT), (br"\'", DOUBT), (br"\u12", DOUBT), (br"\u12g4", DOUBT), (br"\u+123", DOUBT), (br"\U0041", DOUBT),
        (b"\\\n", DOUBT), (b"\\\xff", DOUBT),
        // Control characters, line ends among them.
        (b"\n", DOUBT), (b"\r", DOUBT), (b"\0", DOUBT), (b"\t", DOUBT), (b"\x1f", DOUBT), (b"12345678\x1f", DOUBT),
        // No UTF-8.
        (b"\xff", DOUBT), (b"\x80", DOUBT), (b"\xc3", DOUBT), (b"\xc0\x80", DOUBT), (b"\xed\xa0\x80", DOUBT),
        (b"\xf4\x90\x80\x80", DOUBT), (b"12345678\xf0\x9f\x90", DOUBT),
        // What says `"error"`, or would if it were looked for.
        (b"error", DOUBT), (br#"\"error"#, DOUBT), (br#"x\"error"#, DOUBT), (br#"\"error\""#, HIT), (br"\\error", HIT),
        (b"errors", HIT), (b" error", HIT), (b"error ", HIT), (b"xerror", HIT), (b"Error", HIT),
        // A quote ends it.
        (br#"z" "#, MISS), (br#"z","c":""#, MISS), (b"\"", MISS),
    ];
    for (body, expected) in cases {
        assert_eq!(text(body), *expected, "{}", body.escape_ascii());
    }
}

#[rustfmt::skip]
#[test]
fn numbers() {
    let integer = |token: &str| made_of(b"[1,0]", b"[2,0]", format!("[{token},0]").as_bytes());
    let fraction = |token: &str| made_of(b"[1.5,0]", b"[2.5,0]", format!("[{token},0]").as_bytes());
    let cases: &[(&str, &str, &str)] = &[
        ("0", HIT, MISS), ("7", HIT, MISS), ("-7", HIT, MISS), ("9007199254740993", HIT, MISS),
        ("999999999999999999", HIT, MISS), ("1000000000000000000", HIT, MISS),
        ("9223372036854775807", HIT, MISS), ("-9223372036854775808", HIT, MISS),
        ("9223372036854775808", DOUBT, MISS), ("-9223372036854775809", DOUBT, MISS), ("18446744073709551616", DOUBT, MISS),
        ("-0", DOUBT, MISS),
        ("0.0", MISS, HIT), ("1e3", MISS, HIT), ("1E+3", MISS, HIT), ("1.5e-3", MISS, HIT), ("-1.5", MISS, HIT),
        ("0e0", MISS, HIT), ("1e-400", MISS, HIT), ("5e-324", MISS, HIT), ("1.7976931348623157e308", MISS, HIT),
        ("0.30000000000000000000000000000000001", MISS, HIT),
        ("-0.0", MISS, DOUBT), ("-0e0", MISS, DOUBT), ("-1e-400", MISS, DOUBT), ("1e400", MISS, DOUBT), ("-1e400", MISS, DOUBT),
        // No numbers, or no such.
        ("", MISS, MISS), ("-", MISS, MISS), ("00", MISS, MISS), ("01", MISS, MISS), ("-01", MISS, MISS), ("+1", MISS, MISS),
        ("1.", MISS, MISS), (".5", MISS, MISS), ("1e", MISS, MISS), ("1e+", MISS, MISS), ("1.e3", MISS, MISS), ("0x1", MISS, MISS),
        ("1 ", MISS, MISS), (" 1", MISS, MISS), ("1,1", MISS, MISS), ("1.5.5", MISS, MISS), ("null", MISS, MISS), ("\"1\"", MISS, MISS),
        ("NaN", MISS, MISS), ("--1", MISS, MISS), ("1-1", MISS, MISS), ("1_0", MISS, MISS),
    ];
    for (token, as_integer, as_fraction) in cases {
        assert_eq!((integer(token), fraction(token)), (*as_integer, *as_fraction), "{token}");
    }
}

/// A text of every length, with every byte at every place of it: what is looked at eight bytes at a time.
#[test]
fn every_byte_at_every_place() {
    for length in 0..26 {
        for place in 0..length {
            for byte in 0..=255_u8 {
                let mut body = vec![b'x'; length];
                if let Some(place) = body.get_mut(place) {
                    *place = byte;
                }
                let expected = match byte {
                    b'"' => MISS,
                    // The quote behind it is no end then.
                    b'\\' if place + 1 == length => MISS,
                    b'\\' | 0..0x20 | 0x80.. => DOUBT,
                    _ => HIT,
                };
                assert_eq!(text(&body), expected, "{}", body.escape_ascii());
            }
        }
    }
}

#[test]
fn what_is_behind_the_payload_does_not_matter() {
    let (template, _) = learn(br#"["a"]"#, br#"["b"]"#).expect("alike");
    for rest in [&b""[..], b"\n\n", b"]", b"\"", b"\xff", b" trailing", b"\ndata: [\"c\"]\n\n"] {
        let data = [&br#"["c"]"#[..], rest].concat();
        assert_eq!(find(&template, br#"["a"]"#, &data).0, Match::Hit(5));
    }
    for end in 0..5 {
        assert_eq!(find(&template, br#"["a"]"#, &br#"["c"]"#[..end]).0, Match::Miss);
    }
}

/// Which leaves of a payload are known, and which are never a hole: a hole is made of all that may be one.
fn leaves(payload: &[u8]) -> Option<Vec<String>> {
    let found = Leaves::find(payload)?;
    Some(found.iter().map(|leaf| String::from_utf8_lossy(leaf.of(payload)).into_owned()).collect())
}

#[rustfmt::skip]
#[test]
fn leaves_of_payloads() {
    let cases: &[(&[u8], Option<&[&str]>)] = &[
        (b"{}", Some(&[])),
        (br#"{"a":"b"}"#, Some(&["b"])),
        (br#"{ "a" : "b" , "c"	:	1 }"#, Some(&["b", "1"])),
        (br#"["a",-1.5e3,true,false,null,{"b":[]},""]"#, Some(&["a", "-1.5e3", ""])),
        (br#"{"a\"b":"c\"d:"}"#, Some(&[r#"c\"d:"#])),
        (br#"{"a":":","b":"a\":"}"#, Some(&[":", r#"a\":"#])),
        // In doubt, or an error.
        (br#"{"a":"\ud83d"}"#, None),
        (br#"{"a\ud83d":"b"}"#, None),
        (b"{\"a\":\"\xff\"}", None),
        (br#"{"error":null}"#, None),
        (br#"{"a":"error"}"#, None),
        (br#"{"a":"\"error"}"#, None),
        (br#"{"\u0065rror":"a"}"#, Some(&["a"])),
        (br#"{"a":-0}"#, None),
        (br#"{"a":9223372036854775808}"#, None),
        (br#"{"a":1e400}"#, None),
        (br#"{"a":01}"#, None),
        (br#"{"a":"b"#, None),
        (br#"{"a":"b\"#, None),
        // A line end anywhere.
        (b"{\"a\":\n1}", None),
        (b"{\"a\"\n:1}", None),
        (b"{\"a\"\r\n:\"b\"}", None),
        (b"{\"a\" \n :\"b\"}", None),
        (b"{\n}", None),
        (b"{}\n", None),
    ];
    for (payload, expected) in cases {
        let expected = expected.map(|leaves| leaves.iter().map(ToString::to_string).collect::<Vec<_>>());
        assert_eq!(leaves(payload), expected, "{}", payload.escape_ascii());
    }
}

#[test]
fn more_leaves_than_there_are_bits_are_none() {
    let payload = |count: usize| format!("[{}]", vec!["1"; count].join(","));
    assert_eq!(leaves(payload(64).as_bytes()).map(|leaves| leaves.len()), Some(64));
    assert_eq!(leaves(payload(65).as_bytes()), None);
    let other = payload(64).replace('1', "2");
    let (all, others) =
        (Leaves::find(payload(64).as_bytes()).expect("64"), Leaves::find(other.as_bytes()).expect("64"));
    assert_eq!(all.differences(payload(64).as_bytes(), &others, other.as_bytes()), Some(u64::MAX));
    assert!(Template::new(payload(64).as_bytes(), &all, u64::MAX).is_none(), "more holes than there may be");
    assert_eq!(Template::new(payload(64).as_bytes(), &all, 0xffff).map(|template| template.holes()), Some(MOST_HOLES));
}

#[rustfmt::skip]
#[test]
fn differences() {
    let cases: &[(&[u8], &[u8], Option<u64>)] = &[
        (b"[]", b"[]", Some(0)),
        (br#"["a","b"]"#, br#"["a","c"]"#, Some(0b10)),
        (br#"["a","b"]"#, br#"["","cc"]"#, Some(0b11)),
        (b"[1,2.5]", b"[-10,2.5]", Some(0b01)),
        // Of another kind, in another place, or in what is no leaf.
        (b"[1]", b"[1.0]", None), (b"[1]", br#"["1"]"#, None), (b"[1]", b"[null]", None), (b"[null]", b"[true]", None),
        (b"[1]", b"[1,1]", None), (b"[1]", b"[1 ]", None), (br#"{"a":1}"#, br#"{"b":1}"#, None),
        (br#"{"a":"b"}"#, br#"["a","b"]"#, None),
        // What the reader of the stream looks at itself.
        (br#"{"index":0,"a":1}"#, br#"{"index":0,"a":2}"#, Some(0b10)),
        (br#"{"index":0,"a":1}"#, br#"{"index":1,"a":1}"#, None),
        (br#"{"object":"a"}"#, br#"{"object":"b"}"#, None),
        (br#"[{"finish_reason" 	: 	"a"}]"#, br#"[{"finish_reason" 	: 	"b"}]"#, None),
        (br#"{"index":[0]}"#, br#"{"index":[1]}"#, Some(0b1)),
        (br#"{"index":{"a":0}}"#, br#"{"index":{"a":1}}"#, Some(0b1)),
        (br#"{"index":null,"a":0}"#, br#"{"index":null,"a":1}"#, Some(0b1)),
        (br#"["index",0]"#, br#"["index",1]"#, Some(0b10)),
        (br#"["index"]"#, br#"["object"]"#, Some(0b1)),
        (br#"{"Index":0}"#, br#"{"Index":1}"#, Some(0b1)),
    ];
    for (one, two, expected) in cases {
        let (ones, twos) = (Leaves::find(one).expect("leaves"), Leaves::find(two).expect("leaves"));
        assert_eq!(ones.differences(one, &twos, two), *expected, "{} {}", one.escape_ascii(), two.escape_ascii());
        assert_eq!(twos.differences(two, &ones, one), *expected);
    }
}

#[test]
fn a_template_without_holes_is_its_payload() {
    let payload = br#"{"a":"b","c":1}"#;
    let (template, mask) = learn(payload, payload).expect("alike");
    assert_eq!((mask, template.holes(), template.kinds().count()), (0, 0, 0));
    assert_eq!(find(&template, payload, payload).0, Match::Hit(payload.len()));
    assert_eq!(find(&template, payload, br#"{"a":"b","c":2}"#).0, Match::Miss);
}

#[test]
fn the_places_of_values() {
    let (one, two) = (br#"{"a":"x","b":[1,1.5]}"#, br#"{"a":"y","b":[2,2.5]}"#);
    let (template, mask) = learn(one, two).expect("alike");
    assert_eq!((mask, template.kinds().collect::<Vec<_>>()), (7, vec![Kind::Text, Kind::Integer, Kind::Fraction]));
    let (_, found) = find(&template, one, br#"{"a":"\n","b":[-10,1e3]}..."#);
    let found = found.expect("a hit");
    assert_eq!(found.length, 24);
    let places = [(6, 8, true), (15, 18, false), (19, 22, false)];
    assert_eq!(found.values, places.map(|(start, end, escaped)| Value { start, end, escaped }));
}

#[test]
fn values_of_numbers() {
    assert_eq!(number(b"9223372036854775807"), Some(Number::Integer(i64::MAX)));
    assert_eq!(number(b"-9223372036854775808"), Some(Number::Integer(i64::MIN)));
    assert_eq!(number(b"0"), Some(Number::Integer(0)));
    assert_eq!(number(b"1e3"), Some(Number::Fraction(1000.0)));
    for none in
        [&b""[..], b"-0", b"-0.0", b"9223372036854775808", b"1e400", b"01", b"1 ", b"0x1", b"1.", b"\xff", b"inf"]
    {
        assert_eq!(number(none), None, "{}", none.escape_ascii());
    }
}

#[test]
fn what_escapes_say() {
    assert_eq!(unescape(br#"a\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00z"#), "a\"\\/\u{8}\u{c}\n\r\té😀z".as_bytes());
    assert_eq!(unescape("é\\n".as_bytes()), "é\n".as_bytes());
    assert_eq!(unescape(b""), "".as_bytes());
    assert_eq!(unescape(b"plain"), "plain".as_bytes());
    // Of what is not valid anything may come, but something.
    assert_eq!(unescape(br"\ud83d\x"), r"\ud83d\x".as_bytes());
    assert_eq!(unescape(b"\\\xff"), b"\\\xff");
}
