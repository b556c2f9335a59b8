//! Whether a text names a path that is left out: the input of a tool call, what came back, a record as a whole.
//!
//! In doubt it does. What a shell works out for itself, such as a variable or a pattern, nobody can tell from the text.

use std::borrow::Cow;

use super::{Exclude, Pattern, Rules, spelling};
use crate::hook::HookPayload;
use crate::transcript::full::{Full, FullBlock};
use crate::transcript::json::{Cursor, Raw, each_keyed_string, unescape};
use crate::transcript::parse::parse_line_in_full;
use crate::transcript::record::{Block, Body, Record};

/// No path is longer.
const PATH_LIMIT: usize = 4096;
/// So often words within words are taken apart: `sh -c "sh -c '…'"`.
const DEPTH: usize = 3;
/// What stands around a path in a command, a list, a program.
const AROUND: &[char] = &[
    ' ', '\t', '\n', '\r', '\'', '"', '`', '=', ',', ';', '@', '(', ')', '[', ']', '{', '}', '<', '>', '|',
    '&', '!', '#',
];
/// How far the words of a text are taken for paths.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Words {
    /// Each may be one.
    All,
    /// Those with a slash in them.
    Paths,
    /// The same, and what stands alone in a line, or before its first colon: a file in a list, or in what a search has found.
    Lines,
}

impl Exclude {
    /// Whether the input of a call, which is JSON and may be cut, names a path that is left out. Of the client's own tools
    /// for files the fields that hold paths are looked at, of all others every string. What the agent only says, in a
    /// question, a plan or a list of what to do, names nothing.
    pub fn is_named_in_call(&self, tool: &str, input: &str, cwd: Option<&str>) -> bool {
        if self.is_empty() || is_only_said(tool) {
            return false;
        }
        let searched = self.searched(tool, input, cwd);
        each_keyed_string(input, &mut |key, raw| {
            let text = unescape(raw, usize::MAX);
            match key {
                "" => looks_like_path(&text) && self.is_path(&text, cwd),
                "pattern" | "glob" if tool == "Glob" => self.is_path(&text, searched.as_deref().or(cwd)),
                "pattern" | "glob" => {
                    looks_like_path(&text) && self.is_path(&text, searched.as_deref().or(cwd))
                }
                _ if holds_path(key) && self.is_path(&text, cwd) => true,
                _ if names_its_file(tool) || searches(tool) => false,
                _ => self.is_word(&text, cwd) || self.is_said(&text, cwd, words_of(key)),
            }
        })
    }

    /// The folder from which the pattern of a search counts.
    fn searched(&self, tool: &str, input: &str, cwd: Option<&str>) -> Option<String> {
        let home = self.0.as_ref().and_then(|rules| rules.home.as_deref());
        let path = searches(tool).then(|| Raw::Nested(input).get("path").whole()).flatten()?;
        Some(spelling::whole(&path, cwd, home))
    }

    /// Whether what a tool has given back names such a path: then it may hold what is there. What the client's own tools for
    /// files give back is of the file that the call names.
    pub fn is_named_in_output(&self, tool: Option<&str>, text: &str, cwd: Option<&str>) -> bool {
        !self.is_empty() && !tool.is_some_and(names_its_file) && self.is_said(text, cwd, Words::Lines)
    }

    /// The same of the words of a call's input, where only these are known.
    pub fn is_named_in_words(&self, tool: &str, text: &str, cwd: Option<&str>) -> bool {
        match tool {
            "Bash" | "PowerShell" => !self.is_empty() && self.is_said(text, cwd, Words::All),
            _ if names_its_file(tool) || is_only_said(tool) => false,
            _ => self.is_named_in_text(text, cwd),
        }
    }

    /// Whether a text that a person reads names such a path.
    pub fn is_named_in_text(&self, text: &str, cwd: Option<&str>) -> bool {
        !self.is_empty() && self.is_said(text, cwd, Words::Paths)
    }

    /// Whether a line of a transcript, or the payload of a hook, names such a path: in a field that holds paths, in a tool call
    /// or in what came back. What somebody has only said is none of these. The JSON may be cut anywhere.
    pub fn is_named_in(&self, json: &str) -> bool {
        if self.is_empty() {
            return false;
        }
        let mut cwd = None;
        each_keyed_string(json, &mut |key, raw| {
            cwd = (key == "cwd").then(|| unescape(raw, PATH_LIMIT));
            cwd.is_some()
        });
        let cwd = cwd.as_deref();
        let in_field = each_keyed_string(json, &mut |key, raw| {
            let text = unescape(raw, usize::MAX);
            match key {
                "" | "pattern" | "glob" => looks_like_path(&text) && self.is_path(&text, cwd),
                "command" => self.is_said(&text, cwd, Words::All),
                _ => holds_path(key) && self.is_path(&text, cwd),
            }
        });
        in_field || self.is_named_in_event(json, cwd) || self.is_named_in_line(json, cwd)
    }

    fn is_named_in_event(&self, json: &str, cwd: Option<&str>) -> bool {
        let (mut tool, mut input, mut output) = (Raw::Absent, Raw::Absent, Vec::new());
        // What is cut is looked at as far as it goes.
        let _ = Cursor::new(json).object(|cursor, key| {
            let value = cursor.value()?;
            match key {
                "tool_name" => tool = value,
                "tool_input" => input = value,
                "tool_response" => output.push(value),
                // In a transcript these are no texts.
                "error" | "message" if value.word().is_some() => output.push(value),
                _ => {}
            }
            Some(())
        });
        let tool = tool.whole().unwrap_or_default();
        let in_output = |value: &Raw<'_>| match *value {
            Raw::Str(raw) => self.is_named_in_output(Some(&tool), &unescape(raw, usize::MAX), cwd),
            Raw::Nested(raw) => each_keyed_string(raw, &mut |_, text| {
                self.is_named_in_output(Some(&tool), &unescape(text, usize::MAX), cwd)
            }),
            Raw::Absent | Raw::Plain(_) => false,
        };
        self.is_named_in_call(&tool, json_of(input), cwd) || output.iter().any(in_output)
    }

    fn is_named_in_line(&self, json: &str, cwd: Option<&str>) -> bool {
        let mut named = false;
        parse_line_in_full(json.as_bytes(), &mut |record, full| {
            let mut buffer = String::new();
            let output = |text: &str| self.is_named_in_output(None, text, cwd);
            named |= match &record.body {
                Body::Assistant(_) => full.blocks().any(|block| self.is_called(block, cwd)),
                // The client says which file it has read or written: nothing else is in there.
                Body::ToolResults(_) if full.is_of_file() => false,
                Body::ToolResults(_) => {
                    full.blocks().any(|block| output(block.result(usize::MAX, &mut buffer).text))
                }
                // What an editor has put beside the person's words, who may name what they like.
                Body::Prompt(_) => {
                    json.contains("<ide_") && self.is_named_in_text(&unescape(json, usize::MAX), cwd)
                }
                Body::LocalCommand { .. } => output(&full.words(usize::MAX)),
                _ => false,
            };
        });
        named
    }

    /// Takes out of a record what calls act on that name such a path: a row of the roster is stored.
    pub fn hide_in(&self, record: &mut Record<'_>, full: Full<'_, '_>) {
        let Record { envelope, body: Body::Assistant(answer), .. } = record else { return };
        if self.is_empty() {
            return;
        }
        for (block, told) in answer.blocks.iter_mut().zip(full.blocks()) {
            if let Block::ToolUse { target, .. } = block
                && self.is_called(told, envelope.cwd.as_deref())
            {
                *target = Cow::Borrowed("");
            }
        }
    }

    /// The same for an event of a hook, by its payload's bytes.
    pub fn hide_in_event(&self, payload: &mut HookPayload, bytes: &[u8]) {
        if self.is_empty() || payload.event.call().is_none() {
            return;
        }
        let is_named = self.is_named_in_event(&String::from_utf8_lossy(bytes), payload.cwd.as_deref());
        if let (true, Some(call)) = (is_named, payload.event.call_mut()) {
            call.target = "".into();
        }
    }

    fn is_called(&self, block: FullBlock<'_, '_>, cwd: Option<&str>) -> bool {
        let Some((_, tool)) = block.call() else { return false };
        self.is_named_in_call(&tool, block.input_json(usize::MAX), cwd)
    }

    /// What stands where a path is expected.
    fn is_path(&self, text: &str, cwd: Option<&str>) -> bool {
        let text = text.trim();
        text.len() <= PATH_LIMIT && !is_elsewhere(text) && self.leaves_out_in(cwd, text)
    }

    /// A string that may be a path, with no other words beside it.
    fn is_word(&self, text: &str, cwd: Option<&str>) -> bool {
        (looks_like_path(text) || !text.contains(char::is_whitespace)) && self.is_path(text, cwd)
    }

    /// A text in which paths may stand.
    fn is_said(&self, text: &str, cwd: Option<&str>, words: Words) -> bool {
        let Some(rules) = self.0.as_deref() else { return false };
        if rules.patterns.iter().any(|pattern| pattern.stands_in(text, rules)) {
            return true;
        }
        // Links are not followed for each word that a program prints, so that names have to be there as they are.
        let may_be = words != Words::Lines || rules.patterns.iter().any(|pattern| pattern.may_stand_in(text));
        let found = Found { exclude: self, cwd, words };
        let text = plain_variables(text);
        may_be && ((words == Words::Lines && found.in_lines(&text)) || found.in_words(&text, DEPTH))
    }
}

/// What is looked for in a text.
struct Found<'f> {
    exclude: &'f Exclude,
    cwd: Option<&'f str>,
    words: Words,
}

impl Found<'_> {
    fn is_named_by(&self, word: &str) -> bool {
        let word = word.trim();
        let follow = self.words != Words::Lines;
        word.len() <= PATH_LIMIT && !is_elsewhere(word) && self.exclude.leaves_out_as(self.cwd, word, follow)
    }

    fn in_lines(&self, text: &str) -> bool {
        text.lines().any(|line| {
            let line = line.trim();
            self.is_named_by(line) || line.split_once(':').is_some_and(|(name, _)| self.is_named_by(name))
        })
    }

    fn in_words(&self, text: &str, depth: usize) -> bool {
        // What a shell makes of quotes and backslashes.
        self.in_pieces(text)
            || (text.contains(['\'', '"', '\\'])
                && shell_words(text).iter().any(|word| {
                    let again = depth > 0 && word.len() < text.len() && word.contains(AROUND);
                    self.is_meant(word) || self.in_pieces(word) || (again && self.in_words(word, depth - 1))
                }))
    }

    fn in_pieces(&self, text: &str) -> bool {
        text.split(AROUND).filter(|piece| !is_elsewhere(piece)).any(|piece| {
            let parts = || piece.split(':').filter(|part| part.len() < piece.len());
            self.is_meant(piece)
                || parts().any(|part| self.is_meant(part))
                || parts().chain([piece]).flat_map(behind_flag).any(|path| self.is_meant(path))
        })
    }

    fn is_meant(&self, word: &str) -> bool {
        let is_meant = match self.words {
            Words::All => !word.is_empty(),
            Words::Paths => looks_like_path(word),
            Words::Lines => word.contains(['/', '\\']),
        };
        // A sentence may end there.
        let sentence = word.trim_end_matches(['.', '?', '…']);
        is_meant && (self.is_named_by(word) || (sentence.len() < word.len() && self.is_named_by(sentence)))
    }
}

/// What may be the path of a flag that has it right behind: `-f../a`, `-I/usr`, `-fa/b`.
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
    /// Whether a whole path that fits stands in the text, with spaces in its names or without.
    fn stands_in(&self, text: &str, rules: &Rules) -> bool {
        if self.plain < self.names.len() || !spelling::is_absolute(&self.root) {
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

    /// Whether a text without a part of the last name can hold no path that fits, unless by way of links.
    fn may_stand_in(&self, text: &str) -> bool {
        let last = self.names.last().map_or("", String::as_str);
        last.split(['*', '?']).max_by_key(|part| part.len()).is_none_or(|part| text.contains(part))
    }
}

/// Whether it is a tool by which the agent says something to the person, or to itself.
fn is_only_said(tool: &str) -> bool {
    matches!(tool, "AskUserQuestion" | "ExitPlanMode" | "exit_plan_mode" | "TodoWrite")
}

/// Whether it is a tool of the client's that works on one file, which its input names.
fn names_its_file(tool: &str) -> bool {
    matches!(tool, "Read" | "Edit" | "MultiEdit" | "Write" | "NotebookEdit" | "NotebookRead")
}

/// Whether it is a tool of the client's that looks through folders.
fn searches(tool: &str) -> bool {
    matches!(tool, "LS" | "Grep" | "Glob")
}

/// Whether a field of this name holds paths.
fn holds_path(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    matches!(&*key, "cwd" | "root" | "roots" | "source" | "destination" | "target")
        || ["path", "file", "dir", "folder", "uri", "location", "notebook"]
            .iter()
            .any(|word| key.contains(word))
}

fn words_of(key: &str) -> Words {
    let key = key.to_ascii_lowercase();
    match ["command", "cmd", "arg", "script", "code"].iter().any(|word| key.contains(word)) {
        true => Words::All,
        false => Words::Paths,
    }
}

fn looks_like_path(word: &str) -> bool {
    word.contains(['/', '\\']) || word.starts_with(['~', '$', '%', '.'])
}

/// An address of somewhere else than this disk.
fn is_elsewhere(word: &str) -> bool {
    word.find("://").is_some_and(|at| !word[..at].to_ascii_lowercase().ends_with("file"))
}

fn json_of(raw: Raw<'_>) -> &str {
    match raw {
        Raw::Nested(raw) | Raw::Plain(raw) => raw,
        Raw::Absent | Raw::Str(_) => "",
    }
}

/// Folders that shells know by name, without the brackets that would take them apart.
fn plain_variables(text: &str) -> Cow<'_, str> {
    let brackets = [("${HOME}", "$HOME"), ("${PWD}", "$PWD"), ("$(pwd)", "$PWD")];
    if !brackets.iter().any(|(written, _)| text.contains(written)) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(brackets.iter().fold(text.to_owned(), |text, (written, plain)| text.replace(written, plain)))
}

/// The words of a command as a shell takes them: without quotes, and with what a backslash protects.
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
