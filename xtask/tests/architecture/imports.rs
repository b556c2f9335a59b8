//! The imports between the files of a crate, by name: modules, `use` trees and paths, as far as they can be read
//! without a compiler. Tests inside the crate are skipped.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// From file to file: the names that the first imports from the second.
pub type Imports = BTreeMap<(PathBuf, PathBuf), BTreeSet<String>>;

/// The contents of one module.
#[derive(Default)]
struct Module {
    file: PathBuf,
    /// Its definitions, without child modules.
    items: BTreeSet<String>,
    /// Names that `use` brings in, and their paths.
    bound: BTreeMap<String, Vec<Segments>>,
    /// Names that this module only re-exports.
    passed_on: BTreeSet<String>,
    /// Paths in the code.
    paths: Vec<Segments>,
}

/// The segments of a path.
type Segments = Vec<String>;

/// All modules of one crate, each under its path from the root.
pub struct Crate(BTreeMap<Segments, Module>);

impl Crate {
    /// Reads a crate from its root file. `text` reads a file, and returns nothing if there is none.
    pub fn read(root: &Path, text: &dyn Fn(&Path) -> Option<String>) -> Self {
        let mut modules = Self(BTreeMap::new());
        modules.read_file(root, root.parent().unwrap_or(root), &[], text);
        modules
    }

    fn read_file(
        &mut self,
        file: &Path,
        folder: &Path,
        path: &[String],
        text: &dyn Fn(&Path) -> Option<String>,
    ) {
        let tokens = without_tests(tokens(&text(file).unwrap_or_default()));
        for child in self.read_module(file, path, &tokens) {
            // The folder of a module inside a file has the module's name.
            let folder =
                child[path.len()..child.len() - 1].iter().fold(folder.to_owned(), |at, part| at.join(part));
            let name = &child[child.len() - 1];
            let inside = folder.join(name);
            for candidate in [folder.join(format!("{name}.rs")), inside.join("mod.rs")] {
                if text(&candidate).is_some() {
                    self.read_file(&candidate, &inside, &child, text);
                }
            }
        }
    }

    /// Reads one module's tokens; returns its child modules with files of their own.
    fn read_module(&mut self, file: &Path, path: &[String], tokens: &[String]) -> Vec<Segments> {
        let mut module = Module { file: file.to_owned(), ..Module::default() };
        let mut passed_on = Vec::new();
        let mut elsewhere = Vec::new();
        let mut named = BTreeSet::new();
        let (mut at, mut depth) = (0, 0);
        while at < tokens.len() {
            let next = tokens.get(at + 1).map_or("", String::as_str);
            match tokens[at].as_str() {
                "{" => depth += 1,
                "}" => depth -= 1,
                "mod" if is_name(next) => {
                    let child = [path, &[next.to_owned()]].concat();
                    if tokens.get(at + 2).is_some_and(|token| token == "{") {
                        let end = end_of_item(tokens, at);
                        elsewhere.extend(self.read_module(file, &child, &tokens[at + 3..end - 1]));
                        at = end;
                        continue;
                    }
                    elsewhere.push(child);
                    at += 2;
                    continue;
                }
                "use" => {
                    let end = at + tokens[at..].iter().position(|token| token == ";").unwrap_or(1);
                    let is_public = at > 0 && (tokens[at - 1] == "pub" || tokens[at - 1] == ")");
                    for (name, target) in use_tree(&tokens[at + 1..end]) {
                        if is_public {
                            passed_on.push(name.clone());
                        }
                        module.bound.entry(name).or_default().push(target);
                    }
                    at = end;
                    continue;
                }
                "fn" | "struct" | "enum" | "union" | "trait" | "type" | "const" | "static" if depth == 0 => {
                    module.items.insert(next.to_owned());
                }
                token
                    if is_name(token)
                        && next == "::"
                        && (at == 0 || !["::", "."].contains(&tokens[at - 1].as_str())) =>
                {
                    let (path, _) = path_at(tokens, at);
                    named.insert(path[0].clone());
                    at += 2 * path.len() - 1;
                    module.paths.push(path);
                    continue;
                }
                token => _ = named.insert(token.to_owned()),
            }
            at += 1;
        }
        module.passed_on = passed_on.into_iter().filter(|name| !named.contains(name)).collect();
        self.0.insert(path.to_owned(), module);
        elsewhere
    }

    /// All imports of the crate.
    pub fn imports(&self) -> Imports {
        let mut imports = Imports::new();
        for (path, module) in &self.0 {
            let bound = module.bound.iter().filter(|(name, _)| !module.passed_on.contains(*name));
            for target in bound.flat_map(|(_, targets)| targets).chain(&module.paths) {
                for (file, name) in
                    self.defined(path, target, 0).into_iter().filter(|(file, _)| **file != module.file)
                {
                    imports.entry((module.file.clone(), file.to_owned())).or_default().insert(name);
                }
            }
        }
        imports
    }

    /// The files that define the target of a path in a module; none for a target outside the crate, or a module.
    fn defined(&self, from: &[String], path: &[String], depth: usize) -> Vec<(&Path, String)> {
        // Two modules may re-export each other's names.
        let (true, Some(mut module)) = (depth < 16, self.0.get_key_value(from)) else { return Vec::new() };
        let mut rest = path;
        while let Some((first, others)) = rest.split_first() {
            let here = module.0;
            let child = match first.as_str() {
                "crate" => Some(Vec::new()),
                "self" => Some(here.clone()),
                "super" => here.split_last().map(|(_, parent)| parent.to_vec()),
                name => Some([here.as_slice(), &[name.to_owned()]].concat()),
            };
            if let Some(child) = child.and_then(|child| self.0.get_key_value(&child)) {
                (module, rest) = (child, others);
                continue;
            }
            if module.1.items.contains(first) {
                return vec![(&module.1.file, first.clone())];
            }
            let bound =
                module.1.bound.get(first).into_iter().flatten().map(|target| [target, others].concat());
            return bound
                .filter(|target| *target != path)
                .flat_map(|target| self.defined(here, &target, depth + 1))
                .collect();
        }
        Vec::new()
    }
}

/// The words and signs of a source text, without comments; a literal becomes a quotation mark.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let word = word(rest);
        let taken = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            block_comment(rest)
        } else if let Some(length) = string(rest) {
            tokens.push("\"".to_owned());
            length
        } else if first == '\'' {
            quoted(rest)
        } else if word > 0 {
            tokens.push(rest[..word].to_owned());
            word
        } else {
            let sign = if rest.starts_with("::") { 2 } else { first.len_utf8() };
            if !first.is_whitespace() {
                tokens.push(rest[..sign].to_owned());
            }
            sign
        };
        rest = &rest[taken..];
    }
    tokens
}

fn block_comment(text: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < text.len() {
        match &text.as_bytes()[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] if depth == 1 => return at + 2,
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
    }
    text.len()
}

/// The length of the string literal at the start, if there is one: plain or raw, of characters or bytes.
fn string(text: &str) -> Option<usize> {
    let prefix = text.find(|c: char| !"bcr".contains(c))?;
    let hashes = text[prefix..].find(|c| c != '#')?;
    let start = prefix + hashes + 1;
    if prefix > 2 || !text[start - 1..].starts_with('"') {
        return None;
    }
    if text[..prefix].contains('r') {
        let end = format!("\"{}", "#".repeat(hashes));
        return Some(text[start..].find(&end).map_or(text.len(), |at| start + at + end.len()));
    }
    (hashes == 0).then(|| escaped(text, start, b'"'))
}

/// The end of an escaped literal whose content begins at `at`.
fn escaped(text: &str, mut at: usize, mark: u8) -> usize {
    let bytes = text.as_bytes();
    while at < bytes.len() && bytes[at] != mark {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(bytes.len())
}

/// The length of a character literal, or of a lifetime.
fn quoted(text: &str) -> usize {
    let mut inside = text.chars().skip(1);
    if inside.next() == Some('\\') || inside.next() == Some('\'') {
        return escaped(text, 1, b'\'');
    }
    1 + word(&text[1..])
}

/// The length of the word at the start.
fn word(text: &str) -> usize {
    text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len())
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// The tokens without items that are only for tests.
fn without_tests(tokens: Vec<String>) -> Vec<String> {
    let marks = ["#[cfg(test)", "#[cfg(all(test,"];
    let mut kept = Vec::with_capacity(tokens.len());
    let mut at = 0;
    while at < tokens.len() {
        if tokens[at] == "#"
            && marks
                .iter()
                .any(|mark| tokens[at..].iter().take(8).cloned().collect::<String>().starts_with(mark))
        {
            at = end_of_item(&tokens, at);
        } else {
            kept.push(tokens[at].clone());
            at += 1;
        }
    }
    kept
}

/// The end of the item that begins at `at`: after a semicolon, or after its closing brace.
fn end_of_item(tokens: &[String], at: usize) -> usize {
    let mut depth = 0;
    for (end, token) in tokens.iter().enumerate().skip(at) {
        match token.as_str() {
            "{" | "(" | "[" => depth += 1,
            "}" | ")" | "]" => depth -= 1,
            _ => {}
        }
        let closes = token == "}" && tokens.get(end + 1).is_none_or(|next| next != ";");
        if depth == 0 && (token == ";" || closes) {
            return end + 1;
        }
    }
    tokens.len()
}

/// The path at a position, and its end.
fn path_at(tokens: &[String], start: usize) -> (Segments, usize) {
    let (mut path, mut at) = (vec![tokens[start].clone()], start + 1);
    while let [sign, name, ..] = &tokens[at..] {
        if sign != "::" || !is_name(name) {
            break;
        }
        path.push(name.clone());
        at += 2;
    }
    (path, at)
}

/// The names that a `use` brings in, each with its path.
fn use_tree(tokens: &[String]) -> Vec<(String, Segments)> {
    let Some(first) = tokens.first() else { return Vec::new() };
    if first == "{" {
        let inside = &tokens[1..tokens.len() - 1];
        return branches(inside).into_iter().flat_map(use_tree).collect();
    }
    let (path, end) = path_at(tokens, 0);
    match tokens[end..].iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["::", "{", ..] => use_tree(&tokens[end + 1..])
            .into_iter()
            .map(|(name, inner)| match inner.as_slice() {
                [word] if word == "self" => (path[path.len() - 1].clone(), path.clone()),
                _ => (name, [path.as_slice(), &inner].concat()),
            })
            .collect(),
        ["as", name] => vec![((*name).to_owned(), path)],
        _ => vec![(path[path.len() - 1].clone(), path)],
    }
}

/// The parts between commas outside inner braces.
fn branches(tokens: &[String]) -> Vec<&[String]> {
    let mut depth = 0;
    let parts = tokens.split(|token| {
        match token.as_str() {
            "{" => depth += 1,
            "}" => depth -= 1,
            _ => {}
        }
        depth == 0 && token == ","
    });
    parts.filter(|part| !part.is_empty()).collect()
}
