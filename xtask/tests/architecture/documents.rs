//! The rules of the documents: they are short, their links have targets, and the things that they name exist.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::{no_complaints, root, text, tracked};

/// A page that a user reads in three minutes.
const README_LINES: usize = 130;
/// Half a page for each decision.
const DECISION_WORDS: usize = 500;
/// Only a map: reasons and numbers are in docs/decisions.
const ARCHITECTURE_WORDS: usize = 2_500;

/// The documents for people: those at the top of the tree, and in `docs`.
pub fn documents() -> Vec<(&'static Path, String)> {
    let is_document = |file: &&PathBuf| {
        file.extension().is_some_and(|extension| extension == "md")
            && (file.components().count() == 1 || file.starts_with("docs"))
    };
    let documents: Vec<_> = tracked()
        .iter()
        .filter(is_document)
        .map(|file| (file.as_path(), text(file).expect("documents are UTF-8")))
        .collect();
    assert!(documents.len() > 10, "only {} documents were found", documents.len());
    documents
}

fn document(name: &str) -> String {
    text(Path::new(name)).expect("documents are UTF-8")
}

#[test]
fn documents_keep_their_sizes() {
    let mut complaints = Vec::new();
    for (file, text) in documents() {
        let (words, lines) = (text.split_whitespace().count(), text.lines().count());
        let name = file.to_string_lossy();
        let (is, limit, unit) = match &*name {
            "README.md" => (lines, README_LINES, "lines"),
            "ARCHITECTURE.md" => (words, ARCHITECTURE_WORDS, "words"),
            // The list grows with the pages.
            "docs/decisions/README.md" => continue,
            _ if file.starts_with("docs/decisions") => (words, DECISION_WORDS, "words"),
            _ => continue,
        };
        if is > limit {
            complaints.push(format!("{name} has {is} {unit}, more than {limit}: move a part of it to docs/"));
        }
    }
    no_complaints(complaints);
}

#[test]
fn links_have_targets() {
    let anchors: BTreeMap<PathBuf, BTreeSet<String>> =
        documents().iter().map(|(file, text)| (file.to_path_buf(), anchors(text))).collect();
    let mut complaints = Vec::new();
    for (file, text) in documents() {
        for link in links(&text).into_iter().filter(|link| !link.contains(':')) {
            let (path, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = match path {
                "" => file.to_path_buf(),
                path => normal(&file.with_file_name(path)),
            };
            let is_there = root().join(&target).exists();
            let has_anchor =
                anchor.is_empty() || anchors.get(&target).is_some_and(|known| known.contains(anchor));
            if !is_there || !has_anchor {
                complaints.push(format!("{}: {link} leads nowhere", file.display()));
            }
        }
    }
    no_complaints(complaints);
}

#[test]
fn every_command_that_a_document_names_exists() {
    let (commands, hooks) = (
        variants("crates/cli/src/args.rs", "pub enum Command {"),
        variants("crates/cli/src/args/hooks.rs", "pub enum HooksCommand {"),
    );
    let tasks: BTreeSet<String> = words_after(&document("xtask/src/options.rs"), "cargo xtask ").collect();
    assert!(commands.contains("put-away") && hooks.contains("install") && tasks.contains("bench"));
    let mut complaints = Vec::new();
    for (file, text) in documents() {
        for code in code(&text) {
            let sets = [("watchbill ", &commands), ("watchbill hooks ", &hooks), ("cargo xtask ", &tasks)];
            for (before, known) in sets {
                complaints.extend(
                    words_after(&code, before)
                        .filter(|word| !known.contains(word))
                        .map(|word| format!("{}: `{before}{word}` does not exist", file.display())),
                );
            }
        }
    }
    no_complaints(complaints);
}

#[test]
fn every_command_is_documented() {
    let page = code(&document("docs/cli.md")).join("\n");
    let named: BTreeSet<String> = words_after(&page, "watchbill ").collect();
    let commands = variants("crates/cli/src/args.rs", "pub enum Command {");
    no_complaints(
        commands.difference(&named).map(|command| format!("docs/cli.md lacks `{command}`")).collect(),
    );
}

#[test]
fn the_page_of_the_settings_has_every_setting() {
    let source = document("crates/protocol/src/settings.rs");
    let keys: BTreeSet<String> = source
        .lines()
        .filter_map(|line| line.trim().split_once(" = \"")?.1.split_once("\","))
        .map(owned)
        .collect();
    assert!(keys.contains("timeouts.idle"), "{keys:?}");
    let page = document("docs/settings.md");
    let sample = page.split("```toml").nth(1).and_then(|rest| rest.split("```").next()).expect("a sample");
    let mut table = String::new();
    let mut shown = BTreeSet::new();
    for line in sample.lines() {
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.split(']').next()) {
            table = format!("{name}.");
        } else if let Some((name, _)) = line.split_once(" = ") {
            shown.insert(format!("{table}{name}"));
        }
    }
    no_complaints(
        keys.symmetric_difference(&shown)
            .map(|key| format!("`{key}` is only in one of docs/settings.md and the list of settings"))
            .collect(),
    );
}

fn owned((key, _): (&str, &str)) -> String {
    key.to_owned()
}

#[test]
fn every_path_that_contributing_names_exists() {
    let tops = ["crates/", "docs/", "fuzz/", "src-tauri/", "tests/", "ui/", "xtask/"];
    let text = document("CONTRIBUTING.md");
    let mut complaints = Vec::new();
    for word in code(&text).iter().flat_map(|code| code.split_whitespace()) {
        // A word in capitals stands for a name that the reader chooses.
        let is_example =
            word.split(['/', '.']).any(|part| part.len() > 1 && part.bytes().all(|b| b.is_ascii_uppercase()));
        if !tops.iter().any(|top| word.starts_with(top)) || is_example {
            continue;
        }
        if !root().join(word).exists() && !word.starts_with("fuzz/corpus") {
            complaints.push(format!("{word} does not exist"));
        }
    }
    no_complaints(complaints);
}

/// The path without `..`.
fn normal(path: &Path) -> PathBuf {
    let mut whole = PathBuf::new();
    for part in path.components() {
        match part {
            std::path::Component::ParentDir => drop(whole.pop()),
            part => whole.push(part),
        }
    }
    whole
}

/// The variants of an enum of the command line, in the form that users type.
fn variants(file: &str, head: &str) -> BTreeSet<String> {
    let source = document(file);
    let (_, body) = source.split_once(head).unwrap_or_else(|| panic!("{file} has no `{head}`"));
    let (body, _) = body.split_once("\n}").expect("an enum has an end");
    let names = body.lines().filter_map(|line| line.strip_prefix("    "));
    names
        .filter(|line| line.starts_with(|c: char| c.is_ascii_uppercase()))
        .map(|line| typed(line.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default()))
        .collect()
}

/// `PutAway` as `put-away`.
fn typed(variant: &str) -> String {
    let mut word = String::new();
    for (at, c) in variant.char_indices() {
        if c.is_ascii_uppercase() && at > 0 {
            word.push('-');
        }
        word.push(c.to_ascii_lowercase());
    }
    word
}

/// Each lower-case word after `before`, if `before` begins at the start of a word.
fn words_after<'t>(text: &'t str, before: &'t str) -> impl Iterator<Item = String> + 't {
    let at = text.match_indices(before).map(|(at, _)| at);
    let at = at
        .filter(|at| text[..*at].chars().next_back().is_none_or(|c| c.is_whitespace() || "(/'`".contains(c)));
    let words = at.map(move |at| &text[at + before.len()..]);
    words.filter_map(|rest| {
        let end = rest.find(|c: char| !c.is_ascii_lowercase() && c != '-').unwrap_or(rest.len());
        let word = &rest[..end];
        word.starts_with(|c: char| c.is_ascii_lowercase()).then(|| word.to_owned())
    })
}

/// A document in two parts: its prose without code, and its pieces of code.
fn split(text: &str) -> (String, Vec<String>) {
    let (mut prose, mut code) = (String::new(), Vec::new());
    let mut block: Option<String> = None;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            match block.take() {
                Some(whole) => code.push(whole),
                None => block = Some(String::new()),
            }
            continue;
        }
        let into = block.as_mut().unwrap_or(&mut prose);
        into.push_str(line);
        into.push('\n');
    }
    let mut outside = String::new();
    // A piece of code within a line contains no empty line.
    for paragraph in prose.split("\n\n") {
        for (number, piece) in paragraph.split('`').enumerate() {
            match number % 2 {
                0 => outside.push_str(piece),
                _ => code.push(piece.to_owned()),
            }
        }
        outside.push_str("\n\n");
    }
    (outside, code)
}

fn code(text: &str) -> Vec<String> {
    split(text).1
}

/// The targets of all links and pictures.
fn links(text: &str) -> Vec<String> {
    let (prose, _) = split(text);
    let targets = prose.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
    targets.map(|(target, _)| target.to_owned()).collect()
}

/// The anchors of the headings, in GitHub's form.
fn anchors(text: &str) -> BTreeSet<String> {
    let mut known = BTreeSet::new();
    let mut in_code = false;
    for line in text.lines() {
        in_code ^= line.trim_start().starts_with("```");
        let heading = line.trim_start_matches('#');
        if in_code || heading.len() == line.len() || !heading.starts_with(' ') {
            continue;
        }
        let kept = heading.trim().chars().filter(|c| c.is_alphanumeric() || "-_ ".contains(*c));
        let anchor: String = kept.map(|c| if c == ' ' { '-' } else { c }).collect::<String>().to_lowercase();
        let same = (1..).map(|number| format!("{anchor}-{number}"));
        let free = std::iter::once(anchor.clone()).chain(same).find(|anchor| !known.contains(anchor));
        known.extend(free);
    }
    known
}

#[test]
fn links_anchors_and_code_are_found() {
    let text = "# A `b`, c\n\nSee [x](y.md#z) and `[no](link)`.\n\n```sh\n# no heading\nwatchbill go\n```\n\n## A b c\n";
    assert_eq!(links(text), ["y.md#z"]);
    assert_eq!(anchors(text), BTreeSet::from(["a-b-c".to_owned(), "a-b-c-1".to_owned()]));
    assert_eq!(code(text), ["# no heading\nwatchbill go\n", "b", "[no](link)"]);
    let after = |text: &str| words_after(text, "watchbill ").collect::<Vec<_>>();
    assert_eq!(after("watchbill put-away SESSION; a/watchbill why"), ["put-away", "why"]);
    assert!(after("watchbill SESSION --x, notwatchbill why").is_empty());
    assert_eq!(normal(Path::new("docs/../CONTRIBUTING.md")), Path::new("CONTRIBUTING.md"));
}
