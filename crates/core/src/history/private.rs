//! Stripping what the person marked as private, and context that other programs put into prompts.
//!
//! Tags as in the source document on hooks: `<private>` is the person's, `<…-context>` is put in by memory programs
//! and would otherwise be remembered as if the person had said it. In doubt more is stripped, never less.

use std::borrow::Cow;

use memchr::memchr;

/// Tags that are processed in one text. From the next one on the text is dropped: nobody writes so many by hand,
/// and what is private must not be stored because there was too much of it.
pub const TAG_LIMIT: usize = 100;

/// Names whose blocks are stripped, in lower case; tags are compared without regard to case.
const NAMES: [&str; 5] =
    ["private", "claude-recall-context", "claude-mem-context", "watchbill-context", "memory-context"];

/// The text without private and context blocks. An unclosed block reaches to the end, and one that is closed here and was
/// opened in another text begins with this one; blocks nest.
///
/// Linear in the length of the text; a text without such a tag is borrowed.
pub fn strip_private(text: &str) -> Cow<'_, str> {
    let mut tags = 0;
    let Some(mut stripped) = strip_once(text, &mut tags) else { return Cow::Borrowed(text) };
    // What stood around a block may form a tag itself once the block is gone.
    while let Some(again) = strip_once(&stripped, &mut tags) {
        stripped = again;
    }
    Cow::Owned(stripped)
}

/// The same for a prompt: `None` when nothing but private words was in it.
pub fn keep_public(text: &str) -> Option<Cow<'_, str>> {
    match strip_private(text) {
        Cow::Owned(stripped) if stripped.trim().is_empty() => None,
        kept => Some(kept),
    }
}

/// How many of the first `len` bytes of a text, such as a title for a terminal, may be taken out of it: a block that begins in
/// them and does not end there hides what follows as well, and so stays.
pub(crate) fn may_go(text: &str, len: usize) -> usize {
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

/// Whether the rest of a text, of which only the head is kept, closes a block that neither has opened: then all of the head
/// is private. Both may be written as JSON is.
pub(crate) fn closes_before(head: &str, rest: &str) -> bool {
    if rest.is_empty() || !may_close(rest) {
        return false;
    }
    !ends_in_block(&plainly(head)) && matches!(walk(&plainly(rest)), Walk::Closes(_))
}

/// Whether a closing tag may stand there: cheap, since most texts are long and hold none.
fn may_close(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_close = |at: usize| {
        let slash = at + usize::from(bytes.get(at) == Some(&b'\\'));
        bytes.get(slash) == Some(&b'/') && NAMES.iter().any(|name| named(text, slash + 1, name).is_some())
    };
    memchr::memchr_iter(b'<', bytes).any(|at| is_close(at + 1))
        || memchr::memmem::find_iter(bytes, b"\\u003").any(|at| is_close(at + 6))
}

/// Signs of tags as what they are, where JSON writes them as escapes.
fn plainly(text: &str) -> Cow<'_, str> {
    if !text.contains('\\') {
        return Cow::Borrowed(text);
    }
    let mut plain = text.replace("\\/", "/");
    for (escape, sign) in [("\\u003c", "<"), ("\\u003C", "<"), ("\\u003e", ">"), ("\\u003E", ">")] {
        plain = plain.replace(escape, sign);
    }
    Cow::Owned(plain)
}

/// What comes first in a text.
enum Walk {
    /// The end of a block that it has not opened, which is over here.
    Closes(usize),
    /// A block that it does not close.
    StaysOpen,
    Neither,
}

fn walk(text: &str) -> Walk {
    let mut at = 0;
    while let Some((_, tag)) = next_tag(text, at) {
        at = match tag {
            Tag::Close(end) => return Walk::Closes(end),
            Tag::Open(open) if open.closed => open.end,
            Tag::Open(open) => match closing(text, open.end, open.name, &mut 0) {
                Some(end) => end,
                None => return Walk::StaysOpen,
            },
        };
    }
    Walk::Neither
}

fn ends_in_block(mut text: &str) -> bool {
    loop {
        match walk(text) {
            Walk::StaysOpen => return true,
            Walk::Closes(end) => text = &text[end..],
            Walk::Neither => return false,
        }
    }
}

/// One pass; `None` when there is no tag.
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
    /// The end of a block that began in another text, and where it is over.
    Close(usize),
}

/// An opening tag of one of [`NAMES`].
#[derive(Clone, Copy)]
struct Open {
    name: &'static str,
    /// Behind its `>`.
    end: usize,
    /// `<private/>`.
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
            // A tag that is never closed hides all that follows, as an unclosed block does.
            let Some(len) = memchr(b'>', &text.as_bytes()[inside..]) else {
                return Some(Open { name, end: text.len(), closed: false });
            };
            let end = inside + len + 1;
            Some(Open { name, end, closed: text.as_bytes()[end - 2] == b'/' })
        }
        _ => None,
    }
}

/// Behind the closing tag that belongs to a block which begins at `from`; the end of the text when there is none.
fn block_end(text: &str, from: usize, name: &'static str, tags: &mut usize) -> usize {
    closing(text, from, name, tags).unwrap_or(text.len())
}

/// Behind the closing tag that belongs to a block which begins at `from`.
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

/// Behind the closing tag at `at`.
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

/// Behind `name`, when it stands at `at`.
fn named(text: &str, at: usize, name: &str) -> Option<usize> {
    let end = at + name.len();
    text.as_bytes().get(at..end)?.eq_ignore_ascii_case(name.as_bytes()).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_stripped_however_they_are_written() {
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
    fn a_prompt_of_private_words_alone_is_nothing() {
        assert_eq!(keep_public(" <private>all of it</private>\n"), None);
        assert_eq!(keep_public("<private>all of it"), None);
        assert_eq!(keep_public("do <private>x</private>").as_deref(), Some("do "));
        assert_eq!(keep_public("").as_deref(), Some(""), "an empty prompt hides nothing");
    }

    #[test]
    fn a_head_is_private_when_the_rest_closes_what_another_text_has_opened() {
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
            assert_eq!(closes_before(head, rest), hidden, "{head} {rest}");
        }
    }

    #[test]
    fn beyond_the_limit_nothing_is_kept() {
        let blocks = |n: usize| "k<private>s</private>".repeat(n) + "end";
        assert_eq!(strip_private(&blocks(TAG_LIMIT)), "k".repeat(TAG_LIMIT) + "end");
        let beyond = strip_private(&blocks(TAG_LIMIT + 1)).into_owned();
        assert_eq!(beyond, "k".repeat(TAG_LIMIT + 1));
    }
}
