//! The words in a message, without what editors and the agent put before them.

use std::borrow::Cow;

use watchbill_core::history::is_wholly_private;
use watchbill_core::history::private::rest_closes_block;
use watchbill_core::own::CONTEXT;
use watchbill_core::transcript::json::{Raw, head, unescape};
use watchbill_core::transcript::payloads::Content;
use watchbill_core::transcript::record::TEXT_LIMIT;

/// The text of a message: its string, or its text blocks without those that the editor added.
pub(crate) fn content_text<'a>(content: &Content<'a>, limit: usize) -> Cow<'a, str> {
    if let Content::Text(raw) = content {
        return raw.word().map(own_words).map_or(Cow::Borrowed(""), |words| head(words, limit));
    }
    join_texts(content.blocks().filter_map(|b| b.text.word()), limit)
}

/// The text of a field that is a string or an array of text blocks.
pub(crate) fn joined_text<'a>(raw: Raw<'a>, limit: usize) -> Cow<'a, str> {
    if let Some(text) = raw.word() {
        return head(own_words(text), limit);
    }
    let mut texts = Vec::new();
    raw.elements(|cursor| {
        let element = cursor.value()?;
        texts.extend(element.word().or_else(|| element.get("text").word()));
        Some(())
    });
    join_texts(texts.into_iter(), limit)
}

/// Whether nothing of a prompt but private parts is the user's own. `text`: it, cut; `whole`: not cut.
pub(crate) fn is_private<'w>(text: &str, whole: impl FnOnce() -> Cow<'w, str>) -> bool {
    // A character may lie across the limit.
    if text.len() + 4 <= TEXT_LIMIT { is_wholly_private(text) } else { is_wholly_private(&whole()) }
}

/// What editors, the agent and a change of the agent put before the user's words.
const ADDED: [(&str, &str); 4] = [
    ("<ide_opened_file>", "</ide_opened_file>"),
    ("<ide_selection>", "</ide_selection>"),
    ("<system-reminder>", "</system-reminder>"),
    CONTEXT,
];

fn join_texts<'a>(texts: impl Iterator<Item = &'a str> + Clone, limit: usize) -> Cow<'a, str> {
    let added = |text: &&str| ADDED.iter().any(|(open, _)| text.starts_with(open));
    let own = texts.clone().map(own_words).filter(|text| !added(text));
    if own.clone().next().is_some() { join(own, limit) } else { join(texts, limit) }
}

/// An undecoded text without the blocks before the user's words. A text that is nothing else stays as it is.
fn own_words(raw: &str) -> &str {
    let mut rest = raw;
    loop {
        let text = trim_escaped(rest);
        let Some((open, close)) = ADDED.iter().find(|(open, _)| text.starts_with(open)) else {
            return if rest.len() < raw.len() && !text.is_empty() { text } else { raw };
        };
        match text[open.len()..].find(close) {
            Some(end) => rest = &text[open.len() + end + close.len()..],
            None => return if rest.len() < raw.len() { text } else { raw },
        }
    }
}

/// An undecoded text without white space at its beginning.
fn trim_escaped(raw: &str) -> &str {
    let blank = |text: &str| ["\\n", "\\r", "\\t"].iter().any(|escape| text.starts_with(escape));
    let mut rest = raw.trim_start();
    while blank(rest) {
        rest = rest[2..].trim_start();
    }
    rest
}

fn join<'a>(mut texts: impl Iterator<Item = &'a str>, limit: usize) -> Cow<'a, str> {
    let Some(first) = texts.next() else { return Cow::Borrowed("") };
    let mut joined = head(first, limit);
    for text in texts {
        let room = limit.saturating_sub(joined.len() + 1);
        if rest_closes_block(&joined, &text[text.floor_char_boundary(room)..]) {
            return Cow::Borrowed("");
        }
        if room > 0 {
            let joined = joined.to_mut();
            joined.push('\n');
            joined.push_str(&unescape(text, room));
        }
    }
    joined
}
