//! Words that stand for the session, the role and the tool of a text, so that the index itself can filter by them.

use std::fmt::Write;

/// The words of one text.
pub fn of(session: i64, role: &str, tool: Option<&str>) -> String {
    let mut tags = String::with_capacity(40);
    add(session, role, tool, &mut tags);
    tags
}

/// Appends the words of one text.
pub(crate) fn add(session: i64, role: &str, tool: Option<&str>, tags: &mut String) {
    // Writing to a string cannot fail.
    let _ = write!(tags, "s{session} ");
    add_word('r', role, tags);
    if let Some(tool) = tool {
        tags.push(' ');
        add_word('t', tool, tags);
    }
}

/// The word for a session.
pub fn session_tag(session: i64) -> String {
    format!("s{session}")
}

/// The word for a role.
pub fn role_tag(role: &str) -> String {
    one_word('r', role)
}

/// The word for a tool, ignoring case.
pub fn tool_tag(tool: &str) -> String {
    one_word('t', tool)
}

/// Whether a phrase of these words may match added words: each begins as one of them does. A letter beyond ASCII
/// may be a form of any letter. An accent may follow its letter, and the index ends no word there.
pub(crate) fn may_match_tags(words: &str) -> bool {
    let mut words = words.split(|c: char| c.is_ascii() && !c.is_ascii_alphanumeric());
    words.all(|word| {
        let mut bytes = word.bytes().map(|byte| byte.to_ascii_lowercase());
        match (bytes.next(), bytes.next()) {
            (Some(b's'), second) => second.is_none_or(|second| !second.is_ascii_alphabetic()),
            (Some(first), _) => matches!(first, b'r' | b't' | 0x80..),
            (None, _) => true,
        }
    })
}

/// One token: letters and digits only, because any other character would end it.
fn one_word(kind: char, name: &str) -> String {
    let mut word = String::with_capacity(name.len() + 1);
    add_word(kind, name, &mut word);
    word
}

fn add_word(kind: char, name: &str, to: &mut String) {
    to.push(kind);
    to.extend(name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn possible_tags_are_recognised_by_their_beginning() {
        for word in [
            session_tag(7),
            role_tag("tool_result"),
            tool_tag("Bash"),
            "s".into(),
            "TOOL".into(),
            "r_t".into(),
            "Ťool".into(),
            "s12 rtoolresult tbash".into(),
            // The index reads these like the first one of all, and like a role.
            "s\u{301}7".into(),
            "r\u{30c}prompt".into(),
        ] {
            assert!(may_match_tags(&word), "{word}");
        }
        for word in ["session", "read_file", "parse", "S12 fox", "12"] {
            assert!(!may_match_tags(word), "{word}");
        }
    }

    #[test]
    fn every_tag_is_one_word() {
        assert_eq!(
            of(12, "tool_result", Some("mcp__github__Get-Issue")),
            "s12 rtoolresult tmcpgithubgetissue"
        );
        assert_eq!(of(1, "user", None), "s1 ruser");
    }
}
