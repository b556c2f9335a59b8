//! Pieces of Markdown that every program reads the same way.

use pulldown_cmark::LinkType;

use crate::terminal_text::is_steering;

/// Text without any markup, for one line.
pub fn plain(text: &str, begins_line: bool) -> String {
    let text = if begins_line { text.trim_start() } else { text };
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let mut out = String::with_capacity(text.len() + text.len() / 16);
    for (at, c) in text.char_indices() {
        match c {
            // Programs differ about these characters after a backslash.
            '<' => out.push_str("&lt;"),
            '&' => out.push_str("&amp;"),
            '`' => out.push_str("&#96;"),
            // The last two are no markup here, but other programs read them as attributes and formulas.
            '\\' | '*' | '[' | ']' | '|' | '~' | '{' | '$' => out.extend(['\\', c]),
            '_' if is_word(text[..at].chars().next_back()) && is_word(text[at + 1..].chars().next()) => {
                out.push(c)
            }
            '_' => out.push_str("\\_"),
            '#' | '>' | '-' | '+' | '=' | ':' | '%' if begins_line && at == 0 => out.extend(['\\', c]),
            '.' | ')' if begins_line && at > 0 && at == digits => out.extend(['\\', c]),
            // An entity may stand for any character.
            c if c.is_whitespace() => out.push(' '),
            c if is_steering(c) => {}
            c => out.push(c),
        }
    }
    out
}

/// Text as inline code.
pub fn code(text: &str) -> String {
    let fence = "`".repeat(longest_run(text) + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// The length of the longest run of backticks.
pub fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

/// The link's address, escaped, if it leads to the web or to mail.
pub fn address(kind: LinkType, to: &str) -> Option<String> {
    let to = if kind == LinkType::Email { format!("mailto:{to}") } else { to.to_owned() };
    let (scheme, rest) = to.split_once(':')?;
    let known = match &*scheme.to_ascii_lowercase() {
        "http" | "https" => rest.starts_with("//") && rest.len() > 2,
        "mailto" => !rest.is_empty(),
        _ => false,
    };
    let mut out = String::with_capacity(to.len());
    for c in to.chars() {
        if c.is_alphanumeric() || "-._~:/?#@!$&*+,=%".contains(c) {
            out.push(c);
        } else {
            let mut bytes = [0; 4];
            out.extend(c.encode_utf8(&mut bytes).bytes().map(|byte| format!("%{byte:02X}")));
        }
    }
    known.then_some(out)
}
