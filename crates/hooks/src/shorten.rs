//! Shortens a JSON object that is too long, while it comes. Every field stays; long texts are cut.
//!
//! A tool's output may have any length, and the agent writes the call's id after it. So the shortener cuts long
//! strings and skips the rest of their text. If that is not enough, because a list has too many items for instance,
//! it drops a field's value.

use crate::envelope::PAYLOAD_LIMIT;

/// What is kept of an object, in bytes of its JSON form.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Of a string.
    pub string: usize,
    /// Of the value of one field of the outermost object.
    pub field: usize,
    /// Of the object.
    pub whole: usize,
    /// What a cut string ends in.
    pub mark: &'static str,
}

/// The limits of a hook's payload.
const PAYLOAD: Limits = Limits { string: 64 << 10, field: 1 << 20, whole: PAYLOAD_LIMIT, mark: "" };

/// Shortens an object, piece by piece.
#[derive(Debug)]
pub struct Shortener {
    limits: Limits,
    out: Vec<u8>,
    /// The number of open brackets.
    depth: usize,
    string: Option<InString>,
    /// Where the value of the current field begins in `out`.
    value: Option<usize>,
    /// The current value is too long and is dropped.
    dropped: bool,
    /// Where the current field begins in `out`, its comma included.
    field: usize,
    /// The outermost object has ended.
    ended: bool,
}

/// The state of the current string.
#[derive(Debug, Default)]
struct InString {
    kept: usize,
    /// The state of the current escape, whose bytes must stay together.
    escape: Escape,
    cut: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Escape {
    #[default]
    None,
    /// After the backslash.
    Begun,
    /// This many digits are to come.
    Digits(u8),
}

impl Default for Shortener {
    fn default() -> Self {
        Self::within(PAYLOAD)
    }
}

impl Shortener {
    /// For other limits than those of a payload.
    pub fn within(limits: Limits) -> Self {
        Self {
            limits,
            out: Vec::new(),
            depth: 0,
            string: None,
            value: None,
            dropped: false,
            field: 0,
            ended: false,
        }
    }

    /// Takes the next piece.
    pub fn push(&mut self, piece: &[u8]) {
        let mut rest = piece;
        while let [byte, after @ ..] = rest {
            self.take(*byte);
            rest = after;
            // Most of a payload that is too long is in one string. In a cut string, only its end and its escapes
            // matter.
            if self.string.as_ref().is_some_and(|string| string.cut && string.escape == Escape::None) {
                let matters = rest.iter().position(|byte| matches!(byte, b'"' | b'\\'));
                rest = &rest[matters.unwrap_or(rest.len())..];
            }
        }
    }

    /// Whether the object is complete. Bytes after it are ignored.
    pub fn has_ended(&self) -> bool {
        self.ended
    }

    /// The shortened object. If the object has no end, it has the fields before the incomplete one.
    pub fn finish(mut self) -> Vec<u8> {
        if !self.ended && self.depth > 0 {
            self.out.truncate(self.field);
            self.out.push(b'}');
        }
        self.out
    }

    fn take(&mut self, byte: u8) {
        if self.ended {
            return;
        }
        if let Some(string) = &mut self.string {
            let was_cut = string.cut;
            let (keeps, ends) = string.take(byte, self.limits.string);
            let is_cut = string.cut && !was_cut;
            if ends {
                self.string = None;
            }
            if is_cut {
                self.limits.mark.bytes().for_each(|byte| self.keep(byte));
            }
            if keeps {
                self.keep(byte);
            }
            return;
        }
        match byte {
            b'"' => self.string = Some(InString::default()),
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => {
                self.depth = self.depth.saturating_sub(1);
                if self.depth == 0 {
                    self.end_field();
                    self.ended = true;
                    return self.out.push(byte);
                }
            }
            b',' if self.depth == 1 => {
                self.end_field();
                self.field = self.out.len();
            }
            _ => {}
        }
        self.keep(byte);
        match byte {
            b'{' if self.depth == 1 => self.field = self.out.len(),
            b':' if self.depth == 1 && !self.dropped => self.value = Some(self.out.len()),
            _ => {}
        }
    }

    fn keep(&mut self, byte: u8) {
        if self.dropped {
            return;
        }
        // An event of the agent has few fields. An object that is longer than that is not an event.
        let too_long = self.value.is_some_and(|begin| self.out.len() - begin >= self.limits.field);
        if too_long || self.out.len() >= self.limits.whole - 16 {
            self.dropped = true;
        } else {
            self.out.push(byte);
        }
    }

    /// Ends a field. A dropped value becomes `null`, the value for unknown. If the name itself had no room, the whole
    /// field is removed.
    fn end_field(&mut self) {
        let value = self.value.take();
        if std::mem::take(&mut self.dropped) {
            match value {
                Some(begin) => {
                    self.out.truncate(begin);
                    self.out.extend_from_slice(b"null");
                }
                None => self.out.truncate(self.field),
            }
        }
    }
}

impl InString {
    /// Returns whether the byte is kept, and whether it ends the string.
    fn take(&mut self, byte: u8, limit: usize) -> (bool, bool) {
        let begins = self.escape == Escape::None;
        self.escape = match (self.escape, byte) {
            (Escape::None, b'"') => return (true, true),
            (Escape::None, b'\\') => Escape::Begun,
            (Escape::Begun, b'u') => Escape::Digits(4),
            (Escape::Digits(left), _) if left > 1 => Escape::Digits(left - 1),
            _ => Escape::None,
        };
        // The string is cut before an escape or a character, never within one.
        let within_character = byte & 0xc0 == 0x80;
        self.cut |= self.kept >= limit && begins && !within_character;
        self.kept += 1;
        (!self.cut, false)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn shortened(payload: &[u8], piece: usize) -> Vec<u8> {
        let mut shortener = Shortener::default();
        payload.chunks(piece).for_each(|piece| shortener.push(piece));
        shortener.finish()
    }

    fn meaning(bytes: &[u8]) -> Value {
        serde_json::from_slice(bytes).unwrap_or_else(|error| {
            panic!("{error}: {}", String::from_utf8_lossy(&bytes[..bytes.len().min(300)]))
        })
    }

    #[test]
    fn long_texts_are_cut_and_every_field_stays() {
        let long = "ü\"\\\u{1}".repeat(200_000);
        let event = json!({
            "session_id": "s", "hook_event_name": "PostToolUse", "tool_name": "Write",
            "tool_input": {"file_path": "/a", "content": &long, "edits": [{"old": &long, "n": 1}]},
            "tool_response": &long, "tool_use_id": "toolu_1",
        });
        let short = meaning(&shortened(event.to_string().as_bytes(), 999));
        for field in ["session_id", "hook_event_name", "tool_name", "tool_use_id"] {
            assert_eq!(short[field], event[field]);
        }
        assert_eq!(short["tool_input"]["file_path"], "/a");
        assert_eq!(short["tool_input"]["edits"][0]["n"], 1);
        let kept = short["tool_response"].as_str().expect("a text");
        assert!(
            long.starts_with(kept) && kept.len() > PAYLOAD.string / 4 && kept.len() <= PAYLOAD.string + 8
        );
    }

    #[test]
    fn a_value_with_too_many_items_becomes_null_and_other_fields_stay() {
        let event = json!({"session_id": "s", "tool_input": vec![7; 900_000], "x": 1, "tool_use_id": "t"});
        let expected = json!({"session_id": "s", "tool_input": null, "x": 1, "tool_use_id": "t"});
        assert_eq!(meaning(&shortened(event.to_string().as_bytes(), 4096)), expected);
        let many: serde_json::Map<String, Value> =
            (0..900_000).map(|n| (format!("k{n}"), json!(n))).collect();
        let short = shortened(Value::from(many).to_string().as_bytes(), 65_536);
        assert!(short.len() <= PAYLOAD_LIMIT);
        assert_eq!(meaning(&short)["k1"], 1);
    }

    #[test]
    fn an_object_without_an_end_keeps_its_whole_fields() {
        let event = br#"{"session_id":"s", "list":[1,{"a":"},"}] ,"text":"it goes on"#;
        assert_eq!(meaning(&shortened(event, 3)), json!({"session_id": "s", "list": [1, {"a": "},"}]}));
        assert_eq!(meaning(&shortened(br#"{"session_id":"s","#, 1)), json!({"session_id": "s"}));
        assert_eq!(meaning(&shortened(b"{\"sess", 9)), json!({}));
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i32>().prop_map(Value::from),
            "[ -~ü日😀\"\\\\\n]{0,12}".prop_map(Value::from),
        ];
        leaf.prop_recursive(3, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::hash_map("[a-z\"\\\\{,:]{0,4}", inner, 0..4)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn short_objects_stay_unchanged_and_incomplete_ones_become_whole_objects(
            fields in prop::collection::hash_map("[a-z\"\\\\{,:]{0,4}", value(), 0..5),
            piece in 1..9usize,
            cut in any::<prop::sample::Index>(),
        ) {
            let whole = Value::Object(fields.into_iter().collect());
            for text in [whole.to_string(), format!("{whole:#}")] {
                prop_assert_eq!(&shortened(text.as_bytes(), piece), text.as_bytes());
                let at = 1 + cut.index(text.len() - 1);
                let short = meaning(&shortened(&text.as_bytes()[..at], piece));
                for (name, value) in short.as_object().expect("an object") {
                    prop_assert_eq!(value, &whole[name]);
                }
            }
        }
    }
}
