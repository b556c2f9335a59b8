//! The rules of sentences, in documents and comments: they are short, and none is a riddle.

use std::path::Path;

use crate::documents::documents;
use crate::{no_complaints, text, tracked};

/// A sentence that a reader understands at once.
const SENTENCE_WORDS: usize = 30;

/// Words that name no subject. A sentence with one of them makes the reader guess who does what.
const RIDDLES: &[&str] = &["whoever", "nobody", "somebody", "whatever", "whichever", "wherever"];

/// The files with comments whose sentences are checked.
const COMMENTED: &[&str] = &["rs", "ts", "svelte", "js", "py"];

/// Generated, or the words of other programs.
const FOREIGN: &[&str] = &["tests/fixtures", "ui/src/lib/bindings"];

#[test]
fn sentences_are_short() {
    check(|sentence| {
        let words = sentence.split_whitespace().count();
        (words > SENTENCE_WORDS).then(|| format!("{words} words"))
    });
}

#[test]
fn sentences_are_no_riddles() {
    check(|sentence| {
        let lower = sentence.to_lowercase();
        let mut words = lower.split(|c: char| !c.is_alphanumeric());
        words.find(|word| RIDDLES.contains(word)).map(|word| format!("`{word}`: name the subject"))
    });
}

/// Checks each sentence of the documents and of the comments.
fn check(fault: impl Fn(&str) -> Option<String>) {
    let mut complaints = Vec::new();
    let mut look = |file: &Path, prose: &str| {
        for sentence in sentences(prose) {
            if let Some(fault) = fault(&sentence) {
                complaints.push(format!("{}: {fault}: {sentence}", file.display()));
            }
        }
    };
    documents().iter().for_each(|(file, text)| look(file, text));
    let mut found = 0;
    for file in tracked() {
        let is_commented = file.extension().is_some_and(|ending| COMMENTED.iter().any(|one| ending == *one));
        if is_commented && !FOREIGN.iter().any(|folder| file.starts_with(folder)) {
            let comments = comments(&text(file).unwrap_or_default());
            found += usize::from(!comments.is_empty());
            look(file, &comments);
        }
    }
    assert!(found > 100, "only {found} files with comments were found");
    no_complaints(complaints);
}

/// The comments of a file that stand on lines of their own, as text. Each other line is an empty one.
fn comments(code: &str) -> String {
    let mut kind = "";
    let mut prose = String::new();
    for line in code.lines().map(str::trim) {
        let begin =
            ["//!", "///", "//", "# ", "/**", "* ", "<!--"].into_iter().find(|begin| line.starts_with(begin));
        if begin.is_some_and(|begin| begin != kind) {
            prose.push('\n');
        }
        kind = begin.unwrap_or_default();
        let comment = begin.and_then(|begin| line.strip_prefix(begin)).unwrap_or_default();
        prose.push_str(comment.trim_end_matches("*/").trim_end_matches("-->").trim());
        prose.push('\n');
    }
    prose
}

/// The sentences of the paragraphs and list items. A piece of code within a line counts as one word.
fn sentences(text: &str) -> Vec<String> {
    let mut paragraphs = vec![String::new()];
    let mut in_code = false;
    for line in text.lines().map(str::trim) {
        in_code ^= line.starts_with("```");
        let is_other = ["#", "|", "!", "```"].iter().any(|begin| line.starts_with(begin));
        let is_prose = !(in_code || line.is_empty() || is_other);
        let number = line.trim_start_matches(|c: char| c.is_ascii_digit());
        if !is_prose || line.starts_with("- ") || number.len() < line.len() && number.starts_with(". ") {
            paragraphs.push(String::new());
        }
        if let (true, Some(paragraph)) = (is_prose, paragraphs.last_mut()) {
            paragraph.push_str(line.trim_start_matches("- "));
            paragraph.push(' ');
        }
    }
    let whole = |paragraph: &String| {
        let pieces = paragraph.split('`').enumerate();
        pieces.map(|(n, piece)| if n % 2 == 0 { piece } else { "code" }).collect::<String>()
    };
    let cut = |text: String| text.split_inclusive(". ").map(|one| one.trim().to_owned()).collect::<Vec<_>>();
    paragraphs.iter().map(whole).flat_map(cut).filter(|one| !one.is_empty()).collect()
}

#[test]
fn sentences_and_comments_are_found() {
    assert_eq!(
        sentences("One `a b`.\nTwo. Three\n\n| x |\n- four\n"),
        ["One code.", "Two.", "Three", "four"]
    );
    let code = "//! Head.\n\n/// Doc of\n/// two lines.\n// Other.\nlet x = 1; // not this\n/** One. */\n";
    assert_eq!(sentences(&comments(code)), ["Head.", "Doc of two lines.", "Other.", "One."]);
}
