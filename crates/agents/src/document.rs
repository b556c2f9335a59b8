//! Shows a session that its agent keeps as one JSON document as lines. The first ones have what stands around the list `messages`; then
//! each message is a line.
//!
//! The text of a line stays as it is. What is between two lines becomes blanks and newlines, so the length only grows by the last one.

use std::ops::Range;
use std::path::{Path, PathBuf};

use crate::files::place_of;
use crate::paths::ClientPath;

/// The list that has the session's messages.
const MESSAGES: &[u8] = b"messages";

/// Where the transcript of a document is shown. `None`: the path is that of no document.
pub fn shown_at(path: &Path) -> Option<PathBuf> {
    // Few files are JSON, and most layouts are asked for each of them.
    let is_json = path.extension().is_some_and(|extension| extension == "json");
    let place = is_json.then(|| place_of(path))?;
    matches!(place, Some(ClientPath::Document { .. })).then(|| path.with_extension("jsonl"))
}

/// The lines of a document. `None`: it is not whole, because it is being written or was cut off.
pub fn lines(mut document: Vec<u8>) -> Option<Vec<u8>> {
    let (mut depth, mut begin, mut string, mut escaped) = (0_u32, None, None, false);
    // Of the first level: the last string, and the last comma before the list.
    let (mut key, mut comma) = (0..0, None);
    let (mut list, mut follows) = (None::<Range<usize>>, false);
    for at in 0..document.len() {
        let byte = document[at];
        if matches!(byte, b'\n' | b'\r') {
            document[at] = b' ';
        }
        if let Some(from) = string {
            match byte {
                _ if escaped => escaped = false,
                b'\\' => escaped = true,
                b'"' => {
                    string = None;
                    if depth == 1 {
                        key = from + 1..at;
                    }
                }
                _ => {}
            }
            continue;
        }
        let is_inside = list.as_ref().is_some_and(|list| list.end == 0);
        match byte {
            b'"' => string = Some(at),
            b'[' if depth == 1 && list.is_none() && document[key.clone()] == *MESSAGES => {
                let from = comma.or(begin.map(|begin| begin + 1))?;
                document[from..at].fill(b' ');
                document[from] = b'}';
                document[at] = b'\n';
                list = Some(at + 1..0);
                depth += 1;
            }
            b'{' | b'[' => {
                begin.get_or_insert(at);
                depth += 1;
            }
            b']' | b'}' => {
                depth = depth.checked_sub(1)?;
                match &mut list {
                    Some(list) if is_inside && depth == 1 => {
                        document[at] = b'\n';
                        list.end = at + 1;
                    }
                    Some(_) if depth == 0 && !follows => document[at] = b' ',
                    _ => {}
                }
                if depth == 0 {
                    let rest = document[at + 1..].trim_ascii().is_empty();
                    return (rest && begin.is_some()).then(|| arranged(document, list));
                }
            }
            b',' if depth == 2 && is_inside => document[at] = b'\n',
            b',' if depth == 1 && list.is_none() => comma = Some(at),
            b',' if depth == 1 && !follows => {
                document[at] = b'{';
                follows = true;
            }
            _ => {}
        }
    }
    None
}

/// Puts what follows the list before it, and ends the last line.
fn arranged(mut document: Vec<u8>, list: Option<Range<usize>>) -> Vec<u8> {
    for byte in document.iter_mut().rev().take_while(|byte| matches!(byte, b'\n' | b'\r')) {
        *byte = b' ';
    }
    document.push(b'\n');
    if let Some(list) = list {
        document[list.start..].rotate_left(list.len());
    }
    document
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn of(text: &str) -> Option<Vec<Value>> {
        let lines = lines(text.as_bytes().to_vec())?;
        assert_eq!(lines.len(), text.len() + 1, "{text}");
        let lines = String::from_utf8(lines).unwrap();
        let lines = lines.strip_suffix('\n').unwrap().lines().filter(|line| !line.trim().is_empty());
        Some(lines.map(|line| serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"))).collect())
    }

    #[test]
    fn each_message_is_a_line_behind_what_stands_around_them() {
        let (head, tail) = (json!({ "id": "a", "n": [1, { "messages": [2] }] }), json!({ "title": "b,]}" }));
        let messages = [json!({ "t": "x, \"y\" ]}\n{", "l": [[], {}] }), json!({ "t": "\\\\" }), json!(3)];
        let list = json!({ "messages": messages });
        let fields = |value: &Value| value.to_string()[1..value.to_string().len() - 1].to_owned();
        for (before, after) in
            [(&head, &tail), (&head, &json!({})), (&json!({}), &tail), (&json!({}), &json!({}))]
        {
            let parts = [before, &list, after].map(fields);
            let text = parts.iter().filter(|part| !part.is_empty()).cloned().collect::<Vec<_>>().join(",");
            let whole: Value = serde_json::from_str(&format!("{{{text}}}")).unwrap();
            let around = [before, after].into_iter().enumerate();
            let around =
                around.filter(|(n, part)| *n == 0 || **part != json!({})).map(|(_, part)| part.clone());
            let wanted: Vec<Value> = around.chain(messages.clone()).collect();
            assert_eq!(of(&format!("{{{text}}}")), Some(wanted.clone()));
            if before != &json!({}) && after == &json!({}) {
                let pretty = serde_json::to_string_pretty(&whole).unwrap() + "\r\n";
                assert_eq!(of(&pretty).map(|lines| lines.len()), Some(wanted.len()), "{pretty}");
            }
        }
        assert_eq!(of(r#"{ "messages": [] }"#), Some(vec![json!({})]));
        assert_eq!(of(r#"{ "messages": null, "a": 1 }"#), Some(vec![json!({ "messages": null, "a": 1 })]));
    }

    #[test]
    fn a_document_that_is_cut_off_has_no_lines() {
        let whole = r#"{"id":"a","messages":[{"t":"b\"]}"}],"title":"c"}"#;
        for end in 0..whole.len() {
            assert_eq!(lines(whole.as_bytes()[..end].to_vec()), None, "{}", &whole[..end]);
        }
        for other in ["", "  ", "}", "1", "{}{}", "[", "{\"messages\":[}"] {
            assert_eq!(lines(other.as_bytes().to_vec()), None, "{other}");
        }
    }
}
