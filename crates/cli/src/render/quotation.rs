//! A transcript's text as a quotation in a Markdown document.
//!
//! The text is parsed as CommonMark with tables, and written anew from the parsed form. Programs may disagree about
//! where a block of code or a link ends in a difficult text, but they agree about the text written here. HTML is
//! shown as text. Links lead to the web or to mail, and other links are text. An image becomes a link, so that
//! viewing the document loads nothing. Each line begins with `>`, so that it cannot look like the document's own
//! text.

use pulldown_cmark::{
    Alignment, CodeBlockKind, Event, LinkType, Options, Parser, Tag, TagEnd, TextMergeStream,
};

use super::markup::{address, code, longest_run, plain};

/// Lists and quotations that are nested deeper are written at this depth.
const DEEPEST: usize = 32;

/// `text` as a quotation, each line ended; empty for an empty text.
pub fn quoted(text: &str) -> String {
    let mut writer = Writer::default();
    writer.enter("> ", "> ");
    let mut options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    options.set(Options::ENABLE_TABLES, !drops_cells(text, options));
    for event in TextMergeStream::new(Parser::new_ext(text, options)) {
        writer.take(event);
    }
    writer.end_line();
    writer.out
}

/// Whether a table's row has more cells than the head. The parser would drop the extra cells.
fn drops_cells(text: &str, options: Options) -> bool {
    let mut end_of_cell = 0;
    Parser::new_ext(text, options).into_offset_iter().any(|(event, range)| {
        match event {
            Event::End(TagEnd::TableCell) => end_of_cell = range.end,
            Event::End(TagEnd::TableRow) => {
                let rest = text.get(end_of_cell..range.end).unwrap_or_default();
                return rest.contains(|c: char| !c.is_whitespace() && c != '|');
            }
            _ => {}
        }
        false
    })
}

#[derive(Default)]
struct Writer {
    out: String,
    /// The text before each line.
    margin: String,
    /// Replaces the margin for the next line, where a list item or quotation begins.
    opening: Option<String>,
    line_is_open: bool,
    /// Whether an empty line must come before the next block or item.
    apart: bool,
    /// The margin's length outside of each open container.
    outside: Vec<usize>,
    /// The next number of each open list; `None` for a bulleted list.
    lists: Vec<Option<u64>>,
    /// The open block of code, with its language.
    code: Option<(String, String)>,
    /// The open links and images: the address, or an error with the address to show as text.
    links: Vec<Result<String, String>>,
    in_link: bool,
    struck: usize,
    columns: Vec<Alignment>,
    in_table: bool,
    in_heading: bool,
}

impl Writer {
    fn take(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.code {
                Some((_, code)) => code.push_str(&text),
                None => self.text(&text),
            },
            Event::Html(html) | Event::InlineHtml(html) => {
                for line in html.split_inclusive('\n') {
                    self.text(line.trim());
                    if line.ends_with('\n') {
                        self.break_line();
                    }
                }
            }
            // This character ends a table cell, even in code.
            Event::Code(text) if self.in_table && text.contains('|') => self.text(&text),
            Event::Code(text) => {
                if self.line_is_open && self.out.ends_with('`') {
                    self.out.push(' ');
                }
                self.put(&code(&text));
            }
            Event::SoftBreak => self.break_line(),
            Event::HardBreak => {
                if !self.in_heading {
                    self.put("\\");
                }
                self.break_line();
            }
            Event::Rule => {
                self.block();
                self.put("***");
                self.end_block();
            }
            Event::TaskListMarker(done) => self.put(if done { "[x] " } else { "[ ] " }),
            // These extensions are not enabled.
            Event::InlineMath(_) | Event::DisplayMath(_) | Event::FootnoteReference(_) => {}
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph | Tag::HtmlBlock => self.block(),
            Tag::Heading { level, .. } => {
                self.block();
                self.put(&format!("{} ", "#".repeat(level as usize)));
                self.in_heading = true;
            }
            Tag::BlockQuote(_) => {
                self.block();
                self.enter("> ", "> ");
            }
            Tag::CodeBlock(kind) => {
                self.block();
                let language = match kind {
                    CodeBlockKind::Fenced(language) => language.to_string(),
                    CodeBlockKind::Indented => String::new(),
                };
                self.code = Some((language, String::new()));
            }
            Tag::List(first) => self.lists.push(first),
            Tag::Item => self.item(),
            Tag::Table(columns) => {
                self.block();
                self.columns = columns;
                self.in_table = true;
            }
            Tag::TableHead | Tag::TableRow => self.put("|"),
            Tag::TableCell => self.put(" "),
            Tag::Emphasis => self.put("*"),
            Tag::Strong => self.put("**"),
            Tag::Strikethrough => self.strike(true),
            Tag::Link { link_type, dest_url, .. } | Tag::Image { link_type, dest_url, .. } => {
                self.link(link_type, &dest_url);
            }
            _ => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Paragraph | TagEnd::HtmlBlock => self.end_block(),
            TagEnd::Heading(_) => {
                // A final `#` would count as the heading's end.
                if self.out.ends_with('#') {
                    self.out.insert(self.out.len() - 1, '\\');
                }
                self.in_heading = false;
                self.end_block();
            }
            TagEnd::BlockQuote(_) => {
                self.leave();
                self.apart = true;
            }
            TagEnd::CodeBlock => self.fence(),
            TagEnd::List(_) => {
                self.lists.pop();
                self.apart |= self.lists.is_empty();
            }
            TagEnd::Item => self.leave(),
            TagEnd::Table => {
                self.in_table = false;
                self.apart = true;
            }
            TagEnd::TableHead => {
                self.end_line();
                let rule: String = self.columns.iter().map(column).collect();
                self.put(&format!("|{rule}"));
                self.end_line();
            }
            TagEnd::TableRow => self.end_line(),
            TagEnd::TableCell => self.put(" |"),
            TagEnd::Emphasis => self.put("*"),
            TagEnd::Strong => self.put("**"),
            TagEnd::Strikethrough => self.strike(false),
            TagEnd::Link | TagEnd::Image => self.end_link(),
            _ => {}
        }
    }

    fn link(&mut self, kind: LinkType, to: &str) {
        match address(kind, to) {
            // A link within a link becomes text.
            Some(leads) if !self.in_link => {
                // After `!`, it would be an image.
                if self.out.ends_with('!') {
                    self.out.insert(self.out.len() - 1, '\\');
                }
                self.put("[");
                self.in_link = true;
                self.links.push(Ok(leads));
            }
            _ => self.links.push(Err(to.to_owned())),
        }
    }

    fn end_link(&mut self) {
        match self.links.pop() {
            Some(Ok(to)) => {
                self.put(&format!("]({to})"));
                self.in_link = false;
            }
            Some(Err(to)) if !to.is_empty() => self.text(&format!(" ({to})")),
            _ => {}
        }
    }

    /// A nested one would write `~~~~`, which begins a block of code.
    fn strike(&mut self, begins: bool) {
        if begins {
            self.struck += 1;
        }
        if self.struck == 1 {
            self.put("~~");
        }
        if !begins {
            self.struck = self.struck.saturating_sub(1);
        }
    }

    /// Begins an item of the innermost list.
    fn item(&mut self) {
        self.end_line();
        if self.apart {
            self.block();
        }
        let bullet = match self.lists.last_mut() {
            Some(Some(number)) => {
                let bullet = format!("{number}. ");
                *number += 1;
                bullet
            }
            _ => "- ".to_owned(),
        };
        self.enter(&bullet, &" ".repeat(bullet.len()));
    }

    /// Writes the block of code, between fences longer than any in it.
    fn fence(&mut self) {
        let Some((language, code)) = self.code.take() else { return };
        let is_word = |c: char| c.is_ascii_alphanumeric() || "+-_.#".contains(c);
        let language = &language[..language.find(|c| !is_word(c)).unwrap_or(language.len())];
        let fence = "`".repeat(longest_run(&code).max(2) + 1);
        self.put(&format!("{fence}{language}"));
        self.end_line();
        for line in code.lines() {
            if line.is_empty() {
                self.empty_line();
            } else {
                self.put(line);
                self.end_line();
            }
        }
        self.put(&fence);
        self.end_block();
    }

    /// Begins a container: `first` comes before its first line, `others` before the rest.
    fn enter(&mut self, first: &str, others: &str) {
        self.outside.push(self.margin.len());
        if self.outside.len() <= DEEPEST {
            self.opening.get_or_insert_with(|| self.margin.clone()).push_str(first);
            self.margin.push_str(others);
        }
    }

    /// Ends the innermost container.
    fn leave(&mut self) {
        self.end_line();
        // The container was empty.
        if let Some(opening) = self.opening.take() {
            self.out.push_str(opening.trim_end());
            self.out.push('\n');
        }
        self.margin.truncate(self.outside.pop().unwrap_or_default());
    }

    /// Begins a block, after an empty line unless it is the first in its container.
    fn block(&mut self) {
        self.end_line();
        if self.opening.is_none() {
            self.empty_line();
        }
        self.apart = false;
    }

    fn end_block(&mut self) {
        self.end_line();
        self.apart = true;
    }

    fn empty_line(&mut self) {
        self.out.push_str(self.margin.trim_end());
        self.out.push('\n');
    }

    fn text(&mut self, text: &str) {
        let text = plain(text, !self.line_is_open);
        if !text.is_empty() {
            self.put(&text);
        }
    }

    /// Writes text that needs no escape.
    fn put(&mut self, text: &str) {
        if !self.line_is_open {
            if self.apart {
                self.block();
            }
            self.out.push_str(&self.opening.take().unwrap_or_else(|| self.margin.clone()));
        }
        self.line_is_open = true;
        self.out.push_str(text);
    }

    fn break_line(&mut self) {
        if self.in_heading {
            self.put(" ");
        } else {
            self.end_line();
        }
    }

    fn end_line(&mut self) {
        if std::mem::take(&mut self.line_is_open) {
            self.out.push('\n');
        }
    }
}

/// A column's mark in the line below a table's head.
fn column(column: &Alignment) -> &'static str {
    match column {
        Alignment::None => "---|",
        Alignment::Left => ":--|",
        Alignment::Center => ":-:|",
        Alignment::Right => "--:|",
    }
}

#[cfg(test)]
mod tests;
