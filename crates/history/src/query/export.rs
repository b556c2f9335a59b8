//! Removes private text from exported documents, by the same rule as the store.

use std::borrow::Cow;

use watchbill_core::history::{keep_public, strip_private};
use watchbill_protocol::export::ExportChain;
use watchbill_protocol::timeline::{TimelineItem, What};

/// The chain without private text. An item that is private as a whole is left out.
pub fn without_private(mut export: ExportChain) -> ExportChain {
    export.title = export.title.and_then(public_text);
    export.chain.name = export.chain.name.and_then(public_text);
    public_items(&mut export.items);
    export
}

fn public_items(items: &mut Vec<TimelineItem>) {
    items.retain_mut(|item| match &mut item.what {
        What::Prompt { text, .. }
        | What::Response { text }
        | What::Thinking { text }
        | What::Error { text }
        | What::Command { text }
        | What::Note { text } => match public_text(std::mem::take(text)) {
            Some(public) => {
                *text = public;
                true
            }
            None => false,
        },
        What::Tool { target, input, output, subagent, .. } => {
            *target = strip_private(target).into_owned();
            *input = strip_private(&decode_escapes(input)).into_owned();
            *output = output.take().map(|output| strip_private(&output).into_owned());
            if let Some(subagent) = subagent {
                public_items(&mut subagent.items);
            }
            true
        }
        What::Boundary { .. } | What::Continued { .. } | What::Interrupted => true,
    });
}

fn public_text(text: String) -> Option<String> {
    keep_public(&text).map(Cow::into_owned)
}

/// The same JSON with no character of a tag written as an escape, such as `\u003c` for `<`.
fn decode_escapes(json: &str) -> Cow<'_, str> {
    if !json.contains("\\u00") && !json.contains("\\/") {
        return Cow::Borrowed(json);
    }
    let mut plain = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(at) = rest.find('\\') {
        plain.push_str(&rest[..at]);
        let escape = &rest[at..];
        // All other escapes stay.
        let (sign, len) = match escape.get(1..2) {
            Some("u") => (escape.get(2..6).and_then(ascii_char), 6),
            Some("/") => (Some('/'), 2),
            _ => (None, 2),
        };
        let len = match sign {
            Some(sign) => {
                plain.push(sign);
                len
            }
            None => {
                // An escape that is cut off is the last one in the text.
                let len = escape.char_indices().nth(2).map_or(escape.len(), |(at, _)| at);
                plain.push_str(&escape[..len]);
                len
            }
        };
        rest = &escape[len..];
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

/// The visible ASCII character that these four digits stand for, unless it must be escaped.
fn ascii_char(digits: &str) -> Option<char> {
    let sign = char::from(u8::from_str_radix(digits.strip_prefix("00")?, 16).ok()?);
    (sign.is_ascii_graphic() && !matches!(sign, '"' | '\\')).then_some(sign)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escaped_ascii_characters_are_decoded_and_other_escapes_stay() {
        for (json, plain) in [
            (r#"{"a":"b\n\"c\u00e9"}"#, r#"{"a":"b\n\"c\u00e9"}"#),
            (r#"{"a":"\u003cprivate\u003E<\/private>"}"#, r#"{"a":"<private></private>"}"#),
            (r#"{"a":"\\u003cprivate>"}"#, r#"{"a":"\\u003cprivate>"}"#),
            (r#"{"a":"\u0022\u005c\u000a\u007f"}"#, r#"{"a":"\u0022\u005c\u000a\u007f"}"#),
            (r#"{"a":"\u003c\u00…"#, r#"{"a":"<\u00…"#),
            (r#"{"a":"\/\…"#, r#"{"a":"/\…"#),
            (r#"{"a":"\u003c\"#, r#"{"a":"<\"#),
            (r#"{"a":"\u00+c\u003c"#, r#"{"a":"\u00+c<"#),
        ] {
            assert_eq!(decode_escapes(json), plain, "{json}");
        }
    }
}
