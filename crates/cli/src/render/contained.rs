//! Markdown that somebody else wrote as a part of a document: nothing that it leaves open reaches beyond its end, and nothing
//! in it ends what is open around it or counts for the whole document. What else is well-formed stays as it is.

use std::collections::HashMap;
use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};

/// So often what was made text may turn out to hold more HTML; a text that does so longer is shown as it is.
const PASSES: usize = 16;
/// A paragraph that stands for all that follows.
const NEXT: &str = "\n\nnext";
/// Elements that have no end, or whose end may be left out: those around them end them.
const UNENDED: &[&str] = &[
    "area", "br", "col", "colgroup", "dd", "dt", "embed", "hr", "img", "input", "li", "option", "p", "param",
    "source", "tbody", "td", "tfoot", "th", "thead", "tr", "track", "wbr",
];
/// Elements whose content is no HTML.
const RAW: &[&str] = &["iframe", "noembed", "noframes", "textarea", "title", "xmp"];
/// Elements that count for the whole document, or that not every browser ends at the same place.
const NEVER: &[&str] = &[
    "base",
    "body",
    "frame",
    "frameset",
    "head",
    "html",
    "link",
    "meta",
    "noscript",
    "plaintext",
    "script",
    "style",
];

/// `text`, which ends its last line, so that the document goes on behind it whatever it holds. An opening without an end, and
/// an end without an opening, are shown as text; a block of code is ended.
pub fn contained(text: &str) -> String {
    let mut text = text.to_owned();
    for _ in 0..PASSES {
        let loose = loose_html(&text);
        if loose.is_empty() {
            return ended(&text).unwrap_or_else(|| verbatim(&text));
        }
        text = as_text(&text, &loose);
    }
    verbatim(&text)
}

/// With what begins at these places shown.
fn as_text(text: &str, places: &[usize]) -> String {
    let mut out = String::with_capacity(text.len() + 3 * places.len());
    let mut from = 0;
    for at in places {
        out.push_str(&text[from..*at]);
        out.push_str("&lt;");
        from = at + 1;
    }
    out.push_str(&text[from..]);
    out
}

/// All of it as text.
fn verbatim(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}text\n{text}{fence}\n")
}

/// With the block of code ended that it leaves open; `None` where something else does not end.
fn ended(text: &str) -> Option<String> {
    let Some(fence) = open_fence(text)? else { return Some(text.to_owned()) };
    let ended = format!("{text}{fence}\n");
    matches!(open_fence(&ended), Some(None)).then_some(ended)
}

/// The fence that ends the block of code that is open at the end, if one is; `None` where something else is.
fn open_fence(text: &str) -> Option<Option<String>> {
    let probe = format!("{text}{NEXT}");
    let mut depth = 0usize;
    for (event, range) in Parser::new(&probe).into_offset_iter() {
        match event {
            Event::Start(tag) => {
                if depth == 0 && range.end == probe.len() {
                    return match tag {
                        Tag::Paragraph => (range.start == probe.len() - "next".len()).then_some(None),
                        Tag::CodeBlock(CodeBlockKind::Fenced(_)) => {
                            let opening = probe[range].trim_start();
                            let sign = opening.chars().next()?;
                            Some(Some(opening.chars().take_while(|c| *c == sign).collect()))
                        }
                        _ => None,
                    };
                }
                depth += 1;
            }
            Event::End(_) => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

/// Where something begins in HTML that has no end, or ends what did not begin: in order.
fn loose_html(text: &str) -> Vec<usize> {
    let mut tags = Tags::default();
    let mut block: Option<Vec<Range<usize>>> = None;
    for (event, range) in Parser::new(text).into_offset_iter() {
        match event {
            Event::Start(Tag::HtmlBlock) => block = Some(Vec::new()),
            Event::End(TagEnd::HtmlBlock) => tags.read(text, &block.take().unwrap_or_default()),
            Event::Html(_) => match &mut block {
                Some(block) => block.push(range),
                None => tags.read(text, &[range]),
            },
            Event::InlineHtml(_) => tags.read(text, &[range]),
            // What begins in one of these ends with it.
            Event::Start(Tag::BlockQuote(_) | Tag::Item | Tag::TableCell) => {
                tags.outside.push(tags.open.len())
            }
            Event::End(TagEnd::BlockQuote(_) | TagEnd::Item | TagEnd::TableCell) => {
                let outside = tags.outside.pop().unwrap_or_default();
                tags.end(outside);
            }
            _ => {}
        }
    }
    tags.end(0);
    tags.loose.sort_unstable();
    tags.loose.dedup();
    tags.loose
}

/// The elements of HTML in a text.
#[derive(Default)]
struct Tags {
    /// Those that are open, and where they begin.
    open: Vec<(String, usize)>,
    /// By name, which of them those are.
    named: HashMap<String, Vec<usize>>,
    /// How many are open outside of each quotation or item that is.
    outside: Vec<usize>,
    loose: Vec<usize>,
}

impl Tags {
    /// Whatever was opened since so many were open stays so.
    fn end(&mut self, outside: usize) {
        while self.open.len() > outside {
            let left = self.pop();
            self.loose.extend(left);
        }
    }

    /// Takes the innermost off, and says where it begins.
    fn pop(&mut self) -> Option<usize> {
        let (name, at) = self.open.pop()?;
        self.named.get_mut(&name).and_then(Vec::pop);
        Some(at)
    }

    /// Reads a piece of HTML, which lies in several ranges of the text where a margin stands between them.
    fn read(&mut self, text: &str, ranges: &[Range<usize>]) {
        let html: String = ranges.iter().map(|range| &text[range.clone()]).collect();
        let begins = ranges.iter().scan(0, |length, range| {
            let begin = *length;
            *length += range.len();
            Some((begin, range.start))
        });
        let begins: Vec<(usize, usize)> = begins.collect();
        let place = |at: usize| {
            let range = begins.partition_point(|(begin, _)| *begin <= at).checked_sub(1);
            range.and_then(|range| begins.get(range)).map_or(text.len(), |(begin, start)| start + at - begin)
        };
        let mut at = 0;
        while let Some(next) = html[at..].find('<').map(|found| at + found) {
            at = match self.element(&html[next..], place(next)) {
                Some(length) => next + length,
                None => {
                    self.loose.push(place(next));
                    next + 1
                }
            };
        }
    }

    /// Takes in what begins with `<` at a place of the text. Gives its length, and `None` where it has no end. Looks no
    /// further than to the next `<` that is in no quotes, so that all of a text costs no more than its length.
    fn element(&mut self, html: &str, place: usize) -> Option<usize> {
        if html.starts_with("<!") || html.starts_with("<?") {
            return declaration(html);
        }
        let tag = match tag(html) {
            Found::Tag(tag) => tag,
            Found::Sign => return Some(1),
            Found::Open => return None,
        };
        if NEVER.contains(&&*tag.name) {
            return None;
        }
        if UNENDED.contains(&&*tag.name) {
            return Some(tag.length);
        }
        if tag.is_end {
            let outside = self.outside.last().copied().unwrap_or_default();
            let begin = *self.named.get(&tag.name)?.last().filter(|begin| **begin >= outside)?;
            self.end(begin + 1);
            self.pop();
            return Some(tag.length);
        }
        if RAW.contains(&&*tag.name) {
            // Elsewhere it may be HTML, and then what stands in it is none of ours.
            let end = tag.length + html[tag.length..].find('<')?;
            let Found::Tag(last) = self::tag(&html[end..]) else { return None };
            return (last.is_end && last.name == tag.name).then_some(end + last.length);
        }
        self.named.entry(tag.name.clone()).or_default().push(self.open.len());
        self.open.push((tag.name, place));
        Some(tag.length)
    }
}

/// How long a comment or its like is; `None` where it has no end before the next one begins.
fn declaration(html: &str) -> Option<usize> {
    let whole = &html[..html[1..].find('<').map_or(html.len(), |next| next + 1)];
    let ends = [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>"), ("<!", ">")];
    let (_, end) = ends.into_iter().find(|(begin, _)| html.starts_with(begin))?;
    // A comment may end with the hyphens that it begins with.
    Some(2 + whole[2..].find(end)? + end.len())
}

/// What a `<` may be.
enum Found {
    Tag(HtmlTag),
    /// A sign for "less".
    Sign,
    /// A tag that does not end, or that browsers end elsewhere than it seems.
    Open,
}

struct HtmlTag {
    /// In small letters.
    name: String,
    is_end: bool,
    length: usize,
}

/// The tag that begins with the `<` at the beginning.
fn tag(html: &str) -> Found {
    let (is_end, inside) = match html.strip_prefix("</") {
        Some(inside) => (true, inside),
        None => (false, &html[1..]),
    };
    if !inside.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return if is_end { Found::Open } else { Found::Sign };
    }
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':' | '.');
    let (name, rest) = split(inside, is_name);
    if !rest.starts_with(|c: char| c.is_ascii_whitespace() || matches!(c, '/' | '>')) {
        return Found::Open;
    }
    match behind_attributes(rest) {
        Some(rest) => {
            Found::Tag(HtmlTag { name: name.to_ascii_lowercase(), is_end, length: html.len() - rest.len() })
        }
        None => Found::Open,
    }
}

/// What follows the `>` of a tag of which the attributes are next. Quotes stand only around a value as a whole.
fn behind_attributes(text: &str) -> Option<&str> {
    let is_space = |c: char| c.is_ascii_whitespace();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches(|c| is_space(c) || c == '/');
        if let Some(behind) = rest.strip_prefix('>') {
            return Some(behind);
        }
        let (name, value) = split(rest, |c| !is_space(c) && !matches!(c, '"' | '\'' | '<' | '>' | '/' | '='));
        if name.is_empty() {
            return None;
        }
        rest = value;
        let Some(value) = value.trim_start_matches(is_space).strip_prefix('=') else { continue };
        let value = value.trim_start_matches(is_space);
        rest = match value.chars().next()? {
            quote @ ('"' | '\'') => value[1..].split_once(quote)?.1,
            _ => split(value, |c| !is_space(c) && !matches!(c, '"' | '\'' | '<' | '>')).1,
        };
    }
}

/// What is such, and what follows.
fn split(text: &str, is_such: impl Fn(char) -> bool) -> (&str, &str) {
    text.split_at(text.find(|c| !is_such(c)).unwrap_or(text.len()))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_well_formed_stays_as_it_is() {
        for text in [
            "# a\n\n- b\n  ```sh\n  ls </details>\n  ```\n- `</div>` <https://example.org> <a@b.cd>\n",
            "<details><summary>a</summary>\n\n```\n<!--\n```\n\n</details>\n",
            "> <b>x</b><br>\n> ```\n> left open, and ended by the quotation\n",
            "<!-- a\n\nb -->\n\n<p>a<img src=\"a>b\">\n\n1 < 2 > 1, a <- b\n",
            "<pre>\n```\n</pre>\n\n<textarea rows=3>a > b</textarea>\n",
            "<table>\n<tr><td class='a \"<\"' colspan = 2 hidden>b</td></tr>\n</table>\n",
            "a <br/> b <my-tag a=b/c?d x></my-tag >\n",
            "~~~~\n~~~\n```\n~~~~\n",
            "\\<div> &lt;div>\n\n    <!-- code\n",
            "",
        ] {
            assert_eq!(contained(text), text);
        }
    }

    #[test]
    fn what_is_left_open_is_ended_or_shown_as_text() {
        for (text, is) in [
            ("```\nls\n", "```\nls\n```\n"),
            ("  ~~~~ sh\nls\n```\n~~~\n", "  ~~~~ sh\nls\n```\n~~~\n~~~~\n"),
            ("a\n\n<!-- b\n\n```\nc\n", "a\n\n&lt;!-- b\n\n```\nc\n```\n"),
            ("a </details> b\n", "a &lt;/details> b\n"),
            ("</details>\n", "&lt;/details>\n"),
            ("- <!-- a\n", "- &lt;!-- a\n"),
            ("> <details>\n\n</details>\n", "> &lt;details>\n\n&lt;/details>\n"),
            ("<div>\n\n<b>\n\n</div>\n", "<div>\n\n&lt;b>\n\n</div>\n"),
            ("a Vec<T> b\n", "a Vec&lt;T> b\n"),
            ("<div title=\"a>\nb\n", "&lt;div title=\"a>\nb\n"),
            ("<script>\nlet a;\n", "&lt;script>\nlet a;\n"),
            ("<script>if (a < b) {}</script>\n", "&lt;script>if (a < b) {}&lt;/script>\n"),
            ("<title>\n<title>a</title>\n", "&lt;title>\n<title>a</title>\n"),
            ("<style>p { color: red }</style>\n", "&lt;style>p { color: red }&lt;/style>\n"),
            ("<base href=x>\n<link a>\n<META b>\n", "&lt;base href=x>\n&lt;link a>\n&lt;META b>\n"),
            ("<div a\"=\">\n</div>\n", "&lt;div a\"=\">\n&lt;/div>\n"),
            (
                "<div>\n<a b=\"c\" \"><i \">d</a>\n</div>\n",
                "<div>\n&lt;a b=\"c\" \">&lt;i \">d&lt;/a>\n</div>\n",
            ),
            ("<div>\n<b_c></b></b_c></div>\n", "<div>\n<b_c>&lt;/b></b_c></div>\n"),
            ("<div>\n<b><//b>\n</div>\n", "<div>\n&lt;b>&lt;//b>\n</div>\n"),
            ("<plaintext>a</plaintext>\n", "&lt;plaintext>a&lt;/plaintext>\n"),
            ("<?php\na\n", "&lt;?php\na\n"),
            ("<![CDATA[ a\n", "&lt;![CDATA[ a\n"),
        ] {
            assert_eq!(contained(text), is, "{text}");
        }
    }

    #[test]
    fn a_long_text_of_anything_comes_to_its_end() {
        const LENGTH: usize = 2_000_000;
        let long = |begin: &str, line: &str| {
            let text = begin.to_owned() + &line.repeat(LENGTH / line.len());
            assert!(contained(&text).len() >= text.len(), "{line}");
        };
        std::thread::scope(|scope| {
            for (begin, line) in [
                ("", "<p>a</p>\n"),
                ("<table>\n", "<tr><td>a</td><td>b</td></tr>\n"),
                ("<div>\n", "<title>\n"),
                ("<div>\n", "<a b=\"\n"),
                ("<div>\n", "<!-- \n"),
                ("<div>\n", "<b></i>\n"),
            ] {
                scope.spawn(move || long(begin, line));
            }
        });
    }

    proptest! {
        #[test]
        fn what_follows_is_a_paragraph_of_its_own(parts in prop::collection::vec(prop::sample::select(vec![
            "```", "~~~", "````", "<!--", "-->", "<details>", "</details>", "<b>", "</b>", "<pre>", "</pre>",
            "<script>", "</script>", "<?", "?>", "<![CDATA[", "]]>", "<!A", "<a b=\"", "\">", "'", "<title>", "</title>", "<meta a", "> ", "- ", "1. ",
            "  ", "    ", "\n", "\n\n", "a", " ", "`", "<", ">", "/", "[x]: <", "# ", "| a | b |\n|--|--|\n",
        ]), 0..24)) {
            let text = parts.concat() + "\n";
            let made = contained(&text);
            prop_assert_eq!(open_fence(&made), Some(None), "{}", made);
            prop_assert_eq!(loose_html(&made), Vec::<usize>::new(), "{}", made);
            prop_assert_eq!(contained(&made), made);
        }
    }
}
