//! Markdown that somebody else wrote as a part of a document: nothing that it leaves open reaches beyond its end, and nothing
//! in it ends what is open around it. What is well-formed stays as it is.

use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Parser, Tag, TagEnd};

/// So often what was made text may turn out to hold more HTML; a text that does so longer is shown as it is.
const PASSES: usize = 16;
/// A paragraph that stands for all that follows.
const NEXT: &str = "\n\nnext";
/// Elements that have no end, or whose end may be left out: those around them end them.
const UNENDED: &[&str] = &[
    "area", "base", "br", "col", "colgroup", "dd", "dt", "embed", "hr", "img", "input", "li", "link", "meta",
    "option", "p", "param", "source", "tbody", "td", "tfoot", "th", "thead", "tr", "track", "wbr",
];
/// Elements whose content is no HTML.
const RAW: &[&str] = &[
    "iframe",
    "noembed",
    "noframes",
    "noscript",
    "plaintext",
    "script",
    "style",
    "textarea",
    "title",
    "xmp",
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
        for at in loose.into_iter().rev() {
            text.replace_range(at..=at, "&lt;");
        }
    }
    verbatim(&text)
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
    /// How many are open outside of each quotation or item that is.
    outside: Vec<usize>,
    loose: Vec<usize>,
}

impl Tags {
    /// Whatever was opened since so many were open stays so.
    fn end(&mut self, outside: usize) {
        let left = self.open.split_off(outside.min(self.open.len()));
        self.loose.extend(left.into_iter().map(|(_, at)| at));
    }

    /// Reads a piece of HTML, which lies in several ranges of the text where a margin stands between them.
    fn read(&mut self, text: &str, ranges: &[Range<usize>]) {
        let html: String = ranges.iter().map(|range| &text[range.clone()]).collect();
        let place = |at: usize| {
            let mut left = at;
            for range in ranges {
                if left < range.len() {
                    return range.start + left;
                }
                left -= range.len();
            }
            text.len()
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

    /// Takes in what begins with `<` at a place of the text. Gives its length, and `None` where it has no end.
    fn element(&mut self, html: &str, place: usize) -> Option<usize> {
        for (begin, end) in [("<!--", "-->"), ("<![CDATA[", "]]>"), ("<?", "?>"), ("<!", ">")] {
            if html.starts_with(begin) {
                // A comment may end with the hyphens that it begins with.
                let from = begin.len().min(2);
                let length = from + html[from..].find(end)? + end.len();
                // Elsewhere it may be text, and then what stands in it is none of ours.
                return (html[1..length].find('<').is_none()).then_some(length);
            }
        }
        let is_end = html.starts_with("</");
        let rest = html[1..].trim_start_matches('/');
        let name: String = rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
        if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
            // A sign for "less", or what a browser takes for a comment.
            return (!is_end).then_some(1);
        }
        let name = name.to_ascii_lowercase();
        let length = tag_length(html)?;
        if UNENDED.contains(&&*name) {
            return Some(length);
        }
        if is_end {
            let outside = self.outside.last().copied().unwrap_or_default();
            let begin = self.open.iter().rposition(|(open, _)| *open == name).filter(|n| *n >= outside)?;
            self.end(begin + 1);
            self.open.pop();
            return Some(length);
        }
        if RAW.contains(&&*name) {
            let end = html[length..].to_ascii_lowercase().find(&format!("</{name}"))?;
            return Some(length + end + tag_length(&html[length + end..])?);
        }
        self.open.push((name, place));
        Some(length)
    }
}

/// How long a tag is; `None` where it, or a value in quotes in it, has no end.
fn tag_length(html: &str) -> Option<usize> {
    let mut quote = None;
    for (at, c) in html.char_indices() {
        match (quote, c) {
            (None, '>') => return Some(at + 1),
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            _ => {}
        }
    }
    None
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
            "<pre>\n```\n</pre>\n\n<script>if (a < b) {}</script>\n",
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
            ("<?php\na\n", "&lt;?php\na\n"),
            ("<![CDATA[ a\n", "&lt;![CDATA[ a\n"),
        ] {
            assert_eq!(contained(text), is, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_follows_is_a_paragraph_of_its_own(parts in prop::collection::vec(prop::sample::select(vec![
            "```", "~~~", "````", "<!--", "-->", "<details>", "</details>", "<b>", "</b>", "<pre>", "</pre>",
            "<script>", "</script>", "<?", "?>", "<![CDATA[", "]]>", "<!A", "<a b=\"", "\">", "'", "> ", "- ", "1. ",
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
