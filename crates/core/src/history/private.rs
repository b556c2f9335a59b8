//! Strips text that the user marked as private, and context that other programs put into prompts.
//!
//! The tags come from the source document on hooks. The user writes `<private>`. Memory programs put in
//! `<…-context>`, which would otherwise be remembered as the user's words. In doubt more is stripped, never less.

use std::borrow::Cow;

use super::boilerplate::{without_quotes, without_reminders};

use memchr::memchr;

/// How many tags are processed in one text. From the next tag on, the text is dropped. No user writes so many by
/// hand, and too many tags must not cause private text to be stored.
pub const TAG_LIMIT: usize = 100;

/// Names of tags whose blocks are stripped, in lower case. The comparison ignores case.
const NAMES: [&str; 5] =
    ["private", "claude-recall-context", "claude-mem-context", "watchbill-context", "memory-context"];

/// The text without private and context blocks. Blocks nest. An unclosed block reaches to the end of the text. A
/// closing tag without an opening tag belongs to a block that began in another text; everything before it is
/// stripped.
///
/// The cost is linear in the length of the text. A text without such a tag is borrowed.
pub fn strip_private(text: &str) -> Cow<'_, str> {
    let mut tags = 0;
    let Some(mut stripped) = strip_once(text, &mut tags) else { return Cow::Borrowed(text) };
    // When a block is gone, the text around it may form a tag.
    while let Some(again) = strip_once(&stripped, &mut tags) {
        stripped = again;
    }
    Cow::Owned(stripped)
}

/// The same for a prompt: `None` if it held nothing but private text.
pub fn keep_public(text: &str) -> Option<Cow<'_, str>> {
    match strip_private(text) {
        Cow::Owned(stripped) if stripped.trim().is_empty() => None,
        kept => Some(kept),
    }
}

/// Whether nothing of a prompt but private text is the user's own.
pub fn is_wholly_private(prompt: &str) -> bool {
    keep_public(&without_reminders(&without_quotes(prompt), false)).is_none()
}

/// Whether the text may hold a tag that is stripped, as itself or with JSON escapes. The check is cheap.
pub fn may_hold_private(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_tag = |at: usize| {
        let name = at + bytes[at.min(bytes.len())..].iter().take_while(|b| matches!(b, b'/' | b'\\')).count();
        NAMES.iter().any(|tag| named(text, name, tag).is_some())
    };
    memchr::memchr_iter(b'<', bytes).any(|at| is_tag(at + 1))
        || memchr::memmem::find_iter(bytes, b"\\u003").any(|at| is_tag(at + 6))
}

/// How many of the first `len` bytes of a text may be removed, for example the title of a terminal. A block that
/// begins in them and does not end there also hides the text that follows, so it must stay.
pub(crate) fn removable_prefix(text: &str, len: usize) -> usize {
    let within = &text[..len];
    let mut at = 0;
    while let Some(found) = memchr(b'<', &within.as_bytes()[at..]) {
        at += found;
        let begin = at;
        if let Some(open) = NAMES.iter().find_map(|name| open_at(within, at, name)) {
            at = if open.closed { open.end } else { block_end(within, open.end, open.name, &mut 0) };
            if at == len {
                return begin;
            }
        } else if NAMES.iter().any(|name| named(text, at + 1, name).or(close_at(text, at, name)).is_some()) {
            return begin;
        } else {
            at += 1;
        }
    }
    len
}

/// A text was cut into `head` and `rest`, and only the head is kept. Whether the rest closes a block that neither
/// of them opens: then all of the head is private. Both may hold JSON escapes.
pub fn rest_closes_block(head: &str, rest: &str) -> bool {
    if rest.is_empty() || !may_close(rest) {
        return false;
    }
    !ends_in_block(&unescape_tags(head))
        && matches!(first_unbalanced(&unescape_tags(rest)), Unbalanced::Closes(_))
}

/// Whether the text may hold a closing tag. The check is cheap, because most texts are long and hold none.
fn may_close(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_close = |at: usize| {
        let slash = at + usize::from(bytes.get(at) == Some(&b'\\'));
        bytes.get(slash) == Some(&b'/') && NAMES.iter().any(|name| named(text, slash + 1, name).is_some())
    };
    memchr::memchr_iter(b'<', bytes).any(|at| is_close(at + 1))
        || memchr::memmem::find_iter(bytes, b"\\u003").any(|at| is_close(at + 6))
}

/// Replaces the JSON escapes of the characters in a tag.
fn unescape_tags(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut plain = text.replace("\\/", "/");
    for (escape, sign) in [("\\u003c", "<"), ("\\u003C", "<"), ("\\u003e", ">"), ("\\u003E", ">")] {
        plain = plain.replace(escape, sign);
    }
    Cow::Owned(plain)
}

/// The first unbalanced tag of a text.
enum Unbalanced {
    /// A closing tag without an opening one; the offset after it.
    Closes(usize),
    /// An opening tag without a closing one.
    StaysOpen,
    Neither,
}

fn first_unbalanced(text: &str) -> Unbalanced {
    let mut at = 0;
    while let Some((_, tag)) = next_tag(text, at) {
        at = match tag {
            Tag::Close(end) => return Unbalanced::Closes(end),
            Tag::Open(open) if open.closed => open.end,
            Tag::Open(open) => match closing(text, open.end, open.name, &mut 0) {
                Some(end) => end,
                None => return Unbalanced::StaysOpen,
            },
        };
    }
    Unbalanced::Neither
}

fn ends_in_block(mut text: &str) -> bool {
    loop {
        match first_unbalanced(text) {
            Unbalanced::StaysOpen => return true,
            Unbalanced::Closes(end) => text = &text[end..],
            Unbalanced::Neither => return false,
        }
    }
}

/// One pass; `None` if there is no tag.
fn strip_once(text: &str, tags: &mut usize) -> Option<String> {
    let (mut at, mut tag) = next_tag(text, 0)?;
    let mut out = String::with_capacity(text.len());
    let mut kept_to = 0;
    loop {
        kept_to = match tag {
            Tag::Open(open) => {
                out.push_str(&text[kept_to..at]);
                *tags += 1;
                if *tags > TAG_LIMIT {
                    return Some(out);
                }
                if open.closed { open.end } else { block_end(text, open.end, open.name, tags) }
            }
            Tag::Close(end) => {
                out.clear();
                end
            }
        };
        match next_tag(text, kept_to) {
            Some(next) => (at, tag) = next,
            None => break,
        }
    }
    out.push_str(&text[kept_to..]);
    Some(out)
}

/// A tag outside of any block.
enum Tag {
    /// A block begins.
    Open(Open),
    /// The end of a block that began in another text; the offset after it.
    Close(usize),
}

/// An opening tag of one of [`NAMES`].
#[derive(Clone, Copy)]
struct Open {
    name: &'static str,
    /// Offset after its `>`.
    end: usize,
    /// It closes itself: `<private/>`.
    closed: bool,
}

fn next_tag(text: &str, from: usize) -> Option<(usize, Tag)> {
    let mut at = from;
    while let Some(found) = memchr(b'<', &text.as_bytes()[at..]) {
        at += found;
        let tag = NAMES.iter().find_map(|name| {
            open_at(text, at, name).map(Tag::Open).or_else(|| close_at(text, at, name).map(Tag::Close))
        });
        if let Some(tag) = tag {
            return Some((at, tag));
        }
        at += 1;
    }
    None
}

/// The opening tag at `at`, with attributes or without.
fn open_at(text: &str, at: usize, name: &'static str) -> Option<Open> {
    let inside = named(text, at + 1, name)?;
    match text.as_bytes().get(inside) {
        Some(b'>') => Some(Open { name, end: inside + 1, closed: false }),
        Some(b'/' | b' ' | b'\t' | b'\n' | b'\r') => {
            // A tag without `>` hides all text after it, as an unclosed block does.
            let Some(len) = memchr(b'>', &text.as_bytes()[inside..]) else {
                return Some(Open { name, end: text.len(), closed: false });
            };
            let end = inside + len + 1;
            Some(Open { name, end, closed: text.as_bytes()[end - 2] == b'/' })
        }
        _ => None,
    }
}

/// Offset after the closing tag of the block that begins at `from`; the end of the text if there is none.
fn block_end(text: &str, from: usize, name: &'static str, tags: &mut usize) -> usize {
    closing(text, from, name, tags).unwrap_or(text.len())
}

/// Offset after the closing tag of the block that begins at `from`.
fn closing(text: &str, from: usize, name: &'static str, tags: &mut usize) -> Option<usize> {
    let (mut at, mut depth) = (from, 1usize);
    while let Some(found) = memchr(b'<', &text.as_bytes()[at..]) {
        at += found;
        if let Some(open) = open_at(text, at, name) {
            *tags += 1;
            depth += usize::from(!open.closed);
            at = open.end;
        } else if let Some(end) = close_at(text, at, name) {
            depth -= 1;
            at = end;
            if depth == 0 {
                return Some(at);
            }
        } else {
            at += 1;
        }
    }
    None
}

/// Offset after the closing tag at `at`.
fn close_at(text: &str, at: usize, name: &str) -> Option<usize> {
    if text.as_bytes().get(at + 1) != Some(&b'/') {
        return None;
    }
    let mut end = named(text, at + 2, name)?;
    while text.as_bytes().get(end).is_some_and(u8::is_ascii_whitespace) {
        end += 1;
    }
    (text.as_bytes().get(end) == Some(&b'>')).then_some(end + 1)
}

/// Offset after `name`, if it stands at `at`.
fn named(text: &str, at: usize, name: &str) -> Option<usize> {
    let end = at + name.len();
    text.as_bytes().get(at..end)?.eq_ignore_ascii_case(name.as_bytes()).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_stripped_in_every_spelling() {
        for (text, want) in [
            ("plain < text > of </ private> a shell", "plain < text > of </ private> a shell"),
            ("of the block before</private> after", " after"),
            ("a<private>b</private>c</PRIVATE >d<private>e", "d"),
            ("a<private>b</private></private></private>", ""),
            ("a</memory-context>b", "b"),
            ("</privateer>a", "</privateer>a"),
            ("a<private>b</private>c", "ac"),
            ("a<PRIVATE>b</Private >c", "ac"),
            ("a<private>b<private>c</private>d</private>e", "ae"),
            ("a<private>b", "a"),
            ("a<private>b<private>c</private>d", "a"),
            ("a<private why=\"no\">b</private>c", "ac"),
            ("a<private/>b", "ab"),
            ("a<private", "a<private"),
            ("a<private b", "a"),
            ("a<privateer>b</privateer>", "a<privateer>b</privateer>"),
            ("a<claude-recall-context>b<private>c</claude-recall-context>d", "ad"),
            ("<pri<private>x</private>vate>secret", ""),
            ("é<private>ü</private>😀", "é😀"),
        ] {
            assert_eq!(strip_private(text), want, "{text}");
        }
    }

    #[test]
    fn a_prompt_of_private_text_alone_gives_none() {
        assert_eq!(keep_public(" <private>all of it</private>\n"), None);
        assert_eq!(keep_public("<private>all of it"), None);
        assert_eq!(keep_public("do <private>x</private>").as_deref(), Some("do "));
        assert_eq!(keep_public("").as_deref(), Some(""), "an empty prompt hides nothing");
    }

    #[test]
    fn a_head_is_private_if_the_rest_closes_an_unopened_block() {
        for (head, rest, hidden) in [
            ("a", "b</private>c", true),
            ("a", r"b<\/private>c", true),
            ("a", r"b\u003c/private\u003ec", true),
            ("a", "b</PRIVATE\n>", true),
            ("a", "b<private>c</private></private>", true),
            ("a<private>x</private>", "b</private>", true),
            ("a", "b<private>c</private>d", false),
            ("a<private>", "b</private>d", false),
            ("x</private>a<private>", "b</private>d", false),
            ("a", "b<private>c", false),
            ("a", "b</privateer>", false),
            ("a", "", false),
        ] {
            assert_eq!(rest_closes_block(head, rest), hidden, "{head} {rest}");
        }
    }

    #[test]
    fn text_after_the_tag_limit_is_dropped() {
        let blocks = |n: usize| "k<private>s</private>".repeat(n) + "end";
        assert_eq!(strip_private(&blocks(TAG_LIMIT)), "k".repeat(TAG_LIMIT) + "end");
        let beyond = strip_private(&blocks(TAG_LIMIT + 1)).into_owned();
        assert_eq!(beyond, "k".repeat(TAG_LIMIT + 1));
    }
}
