//! Values and objects read without a tree.

use proptest::prelude::*;

use super::*;

#[test]
fn escapes_are_decoded_and_lone_surrogates_are_replaced() {
    for (raw, want) in [
        (r"plain", "plain"),
        (r#"a\nb\t\"c\" \\ \/"#, "a\nb\t\"c\" \\ /"),
        (r"caf\u00e9 \ud83d\ude00!", "café 😀!"),
        (r"cut \ud83d", "cut \u{fffd}"),
        (r"low \ude00 first", "low \u{fffd} first"),
        (r"high \ud83d\u0041", "high \u{fffd}A"),
        (r"\q \u12", "\u{fffd} \u{fffd}12"),
        ("end \\", "end \u{fffd}"),
    ] {
        assert_eq!(unescape(raw, usize::MAX), want, "{raw}");
    }
}

#[test]
fn a_cut_never_splits_a_character_and_never_exceeds_the_limit() {
    let raw = r"äöü\n😀\ud83d\ude00 the end";
    for limit in 0..40 {
        let cut = unescape(raw, limit);
        assert!(cut.len() <= limit, "{limit}");
        assert!("äöü\n😀😀 the end".starts_with(cut.as_ref()), "{limit}: {cut}");
    }
}

/// The slow model: character by character.
fn unescape_slowly(raw: &str, room: usize) -> (String, usize) {
    let (mut out, mut at) = (String::new(), 0);
    while let Some(first) = raw[at..].chars().next() {
        let (c, used) = match first {
            '\\' => escape(&raw[at + 1..]),
            plain => (plain, plain.len_utf8() - 1),
        };
        if out.len() + c.len_utf8() > room {
            break;
        }
        out.push(c);
        at += 1 + used;
    }
    (out, raw.len() - at)
}

proptest! {
    #[test]
    fn escapes_are_decoded_at_every_place(
        raw in r#"([a-z]{0,70}|é|😀|\\n|\\"|\\\\|\\u00e9|\\ud83d\\ude00|\\ud83d|\\u12){0,40}"#,
        room in prop_oneof![0usize..600, Just(usize::MAX)],
        there in "[a-c]{0,3}",
    ) {
        let mut out = there.clone();
        let left = unescape_onto(&mut out, &raw, room);
        let (text, expected) = unescape_slowly(&raw, room);
        prop_assert_eq!((out, left), (there + &text, expected));
    }
}

#[test]
fn a_text_without_escapes_is_borrowed_even_when_escapes_follow_the_cut() {
    assert!(matches!(unescape(r"abcdef\n", 6), Cow::Borrowed("abcdef")));
}

#[test]
fn keys_are_found_after_any_other_values() {
    let raw = Raw::Nested(r#"{"a":{"x":"}\"]"},"b" : [1,{"c":"\\"}], "c":-1.5e3 ,"d":"ok"}"#);
    assert_eq!(raw.get("d"), Raw::Str("ok"));
    assert_eq!(raw.get("b"), Raw::Nested(r#"[1,{"c":"\\"}]"#));
    assert_eq!(raw.get("c"), Raw::Plain("-1.5e3"));
    assert_eq!(raw.get("x"), Raw::Absent);
}

#[test]
fn malformed_json_is_refused() {
    for text in ["", "{", "{]", "[}", "nope", "{\"a\"", "\"open", "\"open\\\"", "[1,", "tru", "1x", "+1"] {
        assert_eq!(Cursor::new(text).value(), None, "{text}");
    }
    for text in ["{\"a\":}", "{\"a\" 1}", "{a:1}", "{\"a\":1,}", "{\"a\":1 \"b\":2}", "[]"] {
        assert_eq!(Cursor::new(text).object(|c, _| c.value().map(|_| ())), None, "{text}");
    }
}

#[test]
fn a_quote_is_found_at_every_distance() {
    // The slow model, byte by byte: a backslash also skips the byte after it.
    let slowly = |bytes: &[u8], start: usize| {
        let mut at = start;
        loop {
            match *bytes.get(at)? {
                b'"' => return Some(at),
                b'\\' => at += 2,
                _ => at += 1,
            }
        }
    };
    for len in 0..200 {
        for inside in ["", "\\\"", "\\\\", "\\\\\\\"", "\\n", "\"\"", "\\"] {
            for pad in
                ["", "\"", "tail \" of \\\" more bytes that fill words and vectors alike, and then some"]
            {
                let text = format!("ab\"{}{inside}\"{pad}", "\u{a2}x".repeat(len / 3) + &"!".repeat(len % 3));
                for start in [0, 1, 3] {
                    assert_eq!(
                        closing_quote(text.as_bytes(), start),
                        slowly(text.as_bytes(), start),
                        "{text}"
                    );
                }
            }
        }
        assert_eq!(closing_quote("#".repeat(len).as_bytes(), 0), None);
    }
}

#[test]
fn deep_nesting_needs_no_stack() {
    let deep = format!("{}{}", "[".repeat(1_000_000), "]".repeat(1_000_000));
    assert_eq!(Cursor::new(&deep).value(), Some(Raw::Nested(&deep)));
}
