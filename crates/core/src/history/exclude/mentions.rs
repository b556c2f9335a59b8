//! Whether a text names an excluded path: the input of a tool call, its output, or a whole record.
//!
//! In doubt the answer is yes. A path that a shell computes, from a variable or a glob, does not stand in the text
//! and is not found.

use std::borrow::Cow;

use super::{Exclude, Pattern, Rules, spelling};
use crate::tool::{ToolKind, patch_file};
use crate::transcript::json::{Raw, each_keyed_string, unescape};
use crate::transcript::payloads::{Payloads, RawBlock};
use crate::transcript::record::{Block, Body, Record};

/// Longest path in bytes; a longer text is no path.
const PATH_LIMIT: usize = 4096;
/// How many levels of quoting are taken apart: `sh -c "sh -c '…'"`.
const DEPTH: usize = 3;
/// Characters that can stand around a path in a command, a list or a program.
const AROUND: &[char] = &[
    ' ', '\t', '\n', '\r', '\'', '"', '`', '=', ',', ';', '@', '(', ')', '[', ']', '{', '}', '<', '>', '|',
    '&', '!', '#',
];
/// Which words of a text count as paths.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PathWords {
    /// Every word.
    All,
    /// Words that look like paths.
    Paths,
    /// Words with a slash. Also each whole line, and a line's part before its first colon: a file in a list or in a
    /// search result.
    Lines,
}

impl Exclude {
    /// Whether the input of a call names an excluded path. The input is JSON and may be cut. For the agent's own
    /// file tools only fields that hold paths count, for other tools every string. Text that only says something,
    /// in a question, a plan or a to-do list, names nothing.
    pub fn call_names_excluded(&self, tool: &str, input: &str, cwd: Option<&str>) -> bool {
        let kind = ToolKind::of(tool);
        if self.is_empty() || kind.is_talk() {
            return false;
        }
        let own = self.folder_of_call(tool, input, cwd);
        if own.as_deref().is_some_and(|folder| self.excludes(folder)) {
            return true;
        }
        let cwd = own.as_deref().or(cwd);
        let searched = self.searched(kind, input, cwd);
        each_keyed_string(input, &mut |key, raw| {
            let text = unescape(raw, usize::MAX);
            match key {
                "" => looks_like_path(&text) && self.is_path(&text, cwd),
                "pattern" | "glob" if kind == ToolKind::FindFiles => {
                    self.is_path(&text, searched.as_deref().or(cwd))
                }
                "pattern" | "glob" => {
                    looks_like_path(&text) && self.is_path(&text, searched.as_deref().or(cwd))
                }
                // A patch names its files in lines of their own.
                "command" if kind.changes_file() => {
                    text.lines().filter_map(patch_file).any(|file| self.is_path(file, cwd))
                }
                _ if holds_path(key) && self.is_path(&text, cwd) => true,
                _ if kind.is_of_file() || kind.is_search() => false,
                _ => self.is_word(&text, cwd) || self.text_names(&text, cwd, words_of(key)),
            }
        })
    }

    /// The working folder that a call chooses for its command, made absolute. Paths in its output are relative to it.
    pub(crate) fn folder_of_call(&self, tool: &str, input: &str, cwd: Option<&str>) -> Option<String> {
        let runs = !self.is_empty() && ToolKind::of(tool).runs_command();
        let folder = |key| Raw::Nested(input).get(key).whole().filter(|folder| !folder.is_empty());
        let folder = runs.then(|| folder("workdir").or_else(|| folder("cwd"))).flatten()?;
        Some(self.absolute(&folder, cwd))
    }

    /// The folder that the pattern of a search is relative to.
    fn searched(&self, kind: ToolKind, input: &str, cwd: Option<&str>) -> Option<String> {
        let path = kind.is_search().then(|| Raw::Nested(input).get("path").whole()).flatten()?;
        Some(self.absolute(&path, cwd))
    }

    fn absolute(&self, path: &str, cwd: Option<&str>) -> String {
        let home = self.0.as_ref().and_then(|rules| rules.home.as_deref());
        spelling::absolute(path, cwd, home)
    }

    /// Whether the output of a tool names an excluded path; then it may hold content of that path. Output of the
    /// client's own file tools is not checked: it belongs to the file that the call names.
    pub fn output_names_excluded(&self, tool: Option<&str>, text: &str, cwd: Option<&str>) -> bool {
        !self.is_empty()
            && !tool.is_some_and(|tool| ToolKind::of(tool).is_of_file())
            && self.text_names(text, cwd, PathWords::Lines)
    }

    /// The same for the input of a call if only its text is known, not its JSON.
    pub fn input_text_names_excluded(&self, tool: &str, text: &str, cwd: Option<&str>) -> bool {
        match ToolKind::of(tool) {
            kind if kind.runs_command() => self.command_names_excluded(text, cwd),
            kind if kind.is_of_file() || kind.is_talk() => false,
            _ => self.text_names_excluded(text, cwd),
        }
    }

    /// Whether a command line names an excluded path.
    pub fn command_names_excluded(&self, command: &str, cwd: Option<&str>) -> bool {
        !self.is_empty() && self.text_names(command, cwd, PathWords::All)
    }

    /// Whether a text in plain language names an excluded path.
    pub fn text_names_excluded(&self, text: &str, cwd: Option<&str>) -> bool {
        !self.is_empty() && self.text_names(text, cwd, PathWords::Paths)
    }

    /// Whether a field that holds paths names an excluded path. The JSON may be cut anywhere.
    pub fn fields_name_excluded(&self, json: &str, cwd: Option<&str>) -> bool {
        each_keyed_string(json, &mut |key, raw| {
            let text = unescape(raw, usize::MAX);
            match key {
                "" | "pattern" | "glob" => looks_like_path(&text) && self.is_path(&text, cwd),
                "command" => self.text_names(&text, cwd, PathWords::All),
                _ => holds_path(key) && self.is_path(&text, cwd),
            }
        })
    }

    /// Clears the target of each call that names an excluded path, because the roster row with the target is
    /// stored. `folder` is that of a record that names none.
    pub fn clear_excluded_targets(
        &self,
        record: &mut Record<'_>,
        full: &dyn Payloads<'_>,
        folder: Option<&str>,
    ) {
        let Record { envelope, body: Body::Assistant(answer), .. } = record else { return };
        if self.is_empty() {
            return;
        }
        for (block, raw) in answer.blocks.iter_mut().zip(full.content().blocks()) {
            if let Block::ToolUse { target, .. } = block
                && self.block_names_excluded(raw, envelope.cwd.as_deref().or(folder))
            {
                *target = Cow::Borrowed("");
            }
        }
    }

    /// Whether a block is a call that names an excluded path.
    pub fn block_names_excluded(&self, block: &RawBlock<'_>, cwd: Option<&str>) -> bool {
        let Some((_, tool)) = block.call() else { return false };
        self.call_names_excluded(&tool, block.input_json(usize::MAX), cwd)
    }

    /// Whether a text in the place of a path is an excluded path.
    fn is_path(&self, text: &str, cwd: Option<&str>) -> bool {
        let text = text.trim();
        text.len() <= PATH_LIMIT && !is_remote_address(text) && self.excludes_in(cwd, text)
    }

    /// The same for a string that may be a path, with no other words beside it.
    fn is_word(&self, text: &str, cwd: Option<&str>) -> bool {
        (looks_like_path(text) || !text.contains(char::is_whitespace)) && self.is_path(text, cwd)
    }

    /// Whether a text with other words contains an excluded path.
    fn text_names(&self, text: &str, cwd: Option<&str>, words: PathWords) -> bool {
        let Some(rules) = self.0.as_deref() else { return false };
        if rules.patterns.iter().any(|pattern| pattern.stands_in(text, rules)) {
            return true;
        }
        // Links are not followed for each word of a program's output. So a part of the pattern's last name must
        // stand in the text.
        let may_be =
            words != PathWords::Lines || rules.patterns.iter().any(|pattern| pattern.may_stand_in(text));
        let found = Found { exclude: self, cwd, words };
        let text = plain_variables(text);
        may_be && ((words == PathWords::Lines && found.in_lines(&text)) || found.in_words(&text, DEPTH))
    }
}

/// The search for excluded paths in one text.
struct Found<'f> {
    exclude: &'f Exclude,
    cwd: Option<&'f str>,
    words: PathWords,
}

impl Found<'_> {
    fn is_named_by(&self, word: &str) -> bool {
        let word = word.trim();
        let follow = self.words != PathWords::Lines;
        word.len() <= PATH_LIMIT
            && !is_remote_address(word)
            && self.exclude.excludes_as(self.cwd, word, follow)
    }

    fn in_lines(&self, text: &str) -> bool {
        text.lines().any(|line| {
            let line = line.trim();
            self.is_named_by(line) || line.split_once(':').is_some_and(|(name, _)| self.is_named_by(name))
        })
    }

    fn in_words(&self, text: &str, depth: usize) -> bool {
        // After the pieces of the raw text: words as a shell reads them, with quotes and backslashes resolved.
        self.in_pieces(text)
            || (text.contains(['\'', '"', '\\'])
                && shell_words(text).iter().any(|word| {
                    let again = depth > 0 && word.len() < text.len() && word.contains(AROUND);
                    self.is_excluded_word(word)
                        || self.in_pieces(word)
                        || (again && self.in_words(word, depth - 1))
                }))
    }

    fn in_pieces(&self, text: &str) -> bool {
        text.split(AROUND).filter(|piece| !is_remote_address(piece)).any(|piece| {
            let parts = || piece.split(':').filter(|part| part.len() < piece.len());
            self.is_excluded_word(piece)
                || parts().any(|part| self.is_excluded_word(part))
                || parts().chain([piece]).flat_map(behind_flag).any(|path| self.is_excluded_word(path))
        })
    }

    fn is_excluded_word(&self, word: &str) -> bool {
        let is_meant = match self.words {
            PathWords::All => !word.is_empty(),
            PathWords::Paths => looks_like_path(word),
            PathWords::Lines => word.contains(['/', '\\']),
        };
        // The word may end a sentence.
        let sentence = word.trim_end_matches(['.', '?', '…']);
        is_meant && (self.is_named_by(word) || (sentence.len() < word.len() && self.is_named_by(sentence)))
    }
}

/// Possible paths right after a flag: `-f../a`, `-I/usr`, `-fa/b`.
fn behind_flag(piece: &str) -> impl Iterator<Item = &str> {
    let flag = piece.strip_prefix('-');
    let letter = |flag: &'_ str| flag.chars().next().map_or(0, char::len_utf8);
    let begins = flag.into_iter().flat_map(move |flag| {
        [flag.find('/'), flag.find(['/', '\\', '.', '~', '$', '%']), Some(letter(flag))]
            .into_iter()
            .flatten()
            .map(move |at| &flag[at..])
    });
    begins.filter(|path| !path.is_empty())
}

impl Pattern {
    /// Whether the pattern's path stands in the text, also with spaces in its names. Only an absolute pattern
    /// without wildcards is searched for.
    fn stands_in(&self, text: &str, rules: &Rules) -> bool {
        if self.literal_names < self.names.len() || !spelling::is_absolute(&self.root) {
            return false;
        }
        let home = rules.home.as_deref().and_then(|home| self.root.strip_prefix(home));
        let at_home = home.filter(|rest| rest.starts_with('/')).map(|rest| format!("~{rest}"));
        let real = rules.links.as_deref().and_then(|links| self.real_root(links));
        [Some(&self.root), at_home.as_ref(), real.as_ref()].into_iter().flatten().any(|root| {
            text.match_indices(root.as_str()).any(|(at, _)| {
                let is_of_name = |sign: char| sign.is_alphanumeric() || matches!(sign, '_' | '-');
                let mut behind = text[at + root.len()..].chars();
                let goes_on = match behind.next() {
                    Some('.') => behind.next().is_some_and(is_of_name),
                    next => next.is_some_and(is_of_name),
                };
                !goes_on && !text[..at].ends_with(|sign| is_of_name(sign) || sign == '.')
            })
        })
    }

    /// Whether the text contains the longest literal part of the pattern's last name. Without it, no path in the
    /// text fits, except through links.
    fn may_stand_in(&self, text: &str) -> bool {
        let last = self.names.last().map_or("", String::as_str);
        last.split(['*', '?']).max_by_key(|part| part.len()).is_none_or(|part| text.contains(part))
    }
}

/// Whether a field of this name holds paths.
fn holds_path(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    matches!(&*key, "cwd" | "root" | "roots" | "source" | "destination" | "target")
        || ["path", "file", "dir", "folder", "uri", "location", "notebook"]
            .iter()
            .any(|word| key.contains(word))
}

fn words_of(key: &str) -> PathWords {
    let key = key.to_ascii_lowercase();
    match ["command", "cmd", "arg", "script", "code"].iter().any(|word| key.contains(word)) {
        true => PathWords::All,
        false => PathWords::Paths,
    }
}

fn looks_like_path(word: &str) -> bool {
    word.contains(['/', '\\']) || word.starts_with(['~', '$', '%', '.'])
}

/// Whether it is an address that is not on this disk.
fn is_remote_address(word: &str) -> bool {
    word.find("://").is_some_and(|at| !word[..at].to_ascii_lowercase().ends_with("file"))
}

/// Writes the variables of known folders without brackets, because brackets would split them.
fn plain_variables(text: &str) -> Cow<'_, str> {
    let brackets = [("${HOME}", "$HOME"), ("${PWD}", "$PWD"), ("$(pwd)", "$PWD")];
    if !brackets.iter().any(|(written, _)| text.contains(written)) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(brackets.iter().fold(text.to_owned(), |text, (written, plain)| text.replace(written, plain)))
}

/// The words of a command as a shell splits them: without quotes, and with escaped characters.
fn shell_words(text: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    let mut signs = text.chars();
    while let Some(sign) = signs.next() {
        match (sign, quote) {
            ('\\', None | Some('"')) => word.extend(signs.next().filter(|next| *next != '\n')),
            ('\'' | '"', None) => quote = Some(sign),
            (sign, Some(open)) if sign == open => quote = None,
            (' ' | '\t' | '\n' | '\r' | ';' | '|' | '&' | '<' | '>' | '(' | ')', None) => {
                words.push(std::mem::take(&mut word));
            }
            _ => word.push(sign),
        }
    }
    words.push(word);
    words.retain(|word| !word.is_empty());
    words
}

#[cfg(test)]
mod tests;
