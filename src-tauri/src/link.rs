//! Links into the program: `watchbill://session/<id>`, `watchbill://settings`, `watchbill://`.
//!
//! Any page or program can offer such a link, so a link only shows something. The parser accepts the forms above and
//! nothing else.

use std::fmt;

/// The beginning of every link.
const SCHEME: &str = "watchbill:";

/// Longer than any link of ours. Longer texts are not parsed.
const MAX_BYTES: usize = 512;
/// Session ids have 36 characters today.
const MAX_ID: usize = 128;

/// The target of a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Link {
    /// The window.
    Window,
    /// The window, with the settings open.
    Settings,
    /// The window, with a session selected: an id, or the unique beginning of one.
    Session(String),
}

/// Why a text is no link. The message for the user does not repeat the text, because it comes from a stranger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WrongLink {
    /// Too long.
    Long,
    /// It names no known place.
    Place,
    /// The text in place of the session id cannot be an id.
    Id,
}

impl fmt::Display for WrongLink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Long => "This link is too long to be one of Watchbill's.",
            Self::Place => {
                "This link leads nowhere in Watchbill. Links to sessions look like watchbill://session/ID."
            }
            Self::Id => "This link names no session: its text cannot be a session id.",
        })
    }
}

/// Whether a command-line argument is meant as a link, right or wrong.
pub fn wants_to_be_one(text: &str) -> bool {
    text.get(..SCHEME.len()).is_some_and(|start| start.eq_ignore_ascii_case(SCHEME))
}

/// Parses a link.
///
/// # Errors
/// When the text is no valid link.
pub fn parse(text: &str) -> Result<Link, WrongLink> {
    if text.len() > MAX_BYTES {
        return Err(WrongLink::Long);
    }
    if !wants_to_be_one(text) {
        return Err(WrongLink::Place);
    }
    let rest = text[SCHEME.len()..].strip_prefix("//").ok_or(WrongLink::Place)?;
    // Some programs add a slash after a text that looks like a host name.
    let rest = rest.strip_suffix('/').unwrap_or(rest);
    if rest.is_empty() {
        return Ok(Link::Window);
    }
    if rest.eq_ignore_ascii_case("settings") {
        return Ok(Link::Settings);
    }
    match rest.split_once('/') {
        Some((place, id)) if place.eq_ignore_ascii_case("session") => {
            let id = decoded(id).filter(|id| is_id(id)).ok_or(WrongLink::Id)?;
            Ok(Link::Session(id))
        }
        _ => Err(WrongLink::Place),
    }
}

/// Decodes percent escapes; `None` if one is no byte, or the bytes are no UTF-8.
fn decoded(text: &str) -> Option<String> {
    let mut bytes = text.bytes();
    let mut out = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        if byte == b'%' {
            let mut digit = || char::from(bytes.next()?).to_digit(16);
            let (high, low) = (digit()?, digit()?);
            out.push(u8::try_from(high * 16 + low).ok()?);
        } else {
            out.push(byte);
        }
    }
    String::from_utf8(out).ok()
}

/// The engine only compares the id with known ids. Still, only letters, digits, `-`, `_` and `.` pass: no option, path
/// or control character.
fn is_id(text: &str) -> bool {
    let begins_well = text.starts_with(|c: char| c.is_ascii_alphanumeric());
    let holds = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    begins_well && text.len() <= MAX_ID && text.chars().all(holds)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "09c2f561-3530-4e1a-b026-e91495aac3dd";

    #[test]
    fn valid_links_are_parsed() {
        let session = |id: &str| Ok(Link::Session(id.to_owned()));
        for (text, link) in [
            ("watchbill://", Ok(Link::Window)),
            ("watchbill:///", Ok(Link::Window)),
            ("WATCHBILL://Settings/", Ok(Link::Settings)),
            (&format!("watchbill://session/{ID}"), session(ID)),
            (&format!("watchbill://session/{ID}/"), session(ID)),
            ("watchbill://session/09c2", session("09c2")),
            ("watchbill://session/%30%39c2", session("09c2")),
        ] {
            assert_eq!(parse(text), link, "{text}");
        }
    }

    #[test]
    fn wrong_links_are_refused() {
        let long = format!("watchbill://session/{}", "a".repeat(600));
        let long_id = format!("watchbill://session/{}", "a".repeat(200));
        for (text, wrong) in [
            (long.as_str(), WrongLink::Long),
            (long_id.as_str(), WrongLink::Id),
            ("", WrongLink::Place),
            ("https://session/09c2", WrongLink::Place),
            ("watchbill:session/09c2", WrongLink::Place),
            ("watchbill:/session/09c2", WrongLink::Place),
            ("watchbill://sessions/09c2", WrongLink::Place),
            ("watchbill://session", WrongLink::Place),
            ("watchbill://me@session/09c2", WrongLink::Place),
            ("watchbill://session:80/09c2", WrongLink::Place),
            ("watchbill://settings/theme", WrongLink::Place),
            ("watchbill://session//", WrongLink::Id),
            ("watchbill://session/a/b", WrongLink::Id),
            ("watchbill://session/a?b", WrongLink::Id),
            ("watchbill://session/a#b", WrongLink::Id),
            ("watchbill://session/%2e%2e%2fetc", WrongLink::Id),
            ("watchbill://session/..", WrongLink::Id),
            ("watchbill://session/--data-dir", WrongLink::Id),
            ("watchbill://session/%2-", WrongLink::Id),
            ("watchbill://session/%", WrongLink::Id),
            ("watchbill://session/%ff", WrongLink::Id),
            ("watchbill://session/%00", WrongLink::Id),
            ("watchbill://session/a%0ab", WrongLink::Id),
            ("watchbill://session/ä", WrongLink::Id),
            ("watchbill://session/\u{202e}a", WrongLink::Id),
        ] {
            assert_eq!(parse(text), Err(wrong), "{text}");
        }
    }

    #[test]
    fn a_scheme_length_within_a_character_does_not_panic() {
        assert_eq!(parse("watchbilä://"), Err(WrongLink::Place));
        assert!(!wants_to_be_one("watchbil\u{1f600}"));
    }
}
