//! A title for a session without one: what its first prompt asks, without the words around it.

use crate::history::boilerplate::typed_and_quoted;
use crate::ids::Agent;

/// Longest title that is made, in characters.
const LONGEST: usize = 60;

/// Words of politeness before what is asked, and the words that tie them to it.
const BEFORE: &[&str] = &[
    "hello",
    "hi",
    "hey",
    "good morning",
    "good afternoon",
    "good evening",
    "dear",
    "there",
    "please",
    "kindly",
    "could you",
    "can you",
    "would you",
    "will you",
    "would it be possible",
    "is it possible",
    "i would like you",
    "i'd like you",
    "i would like",
    "i'd like",
    "i want you",
    "i need you",
    "we need you",
    "if at all possible",
    "if possible",
    "if you can",
    "be so kind as",
    "be so kind",
    "mind",
    "thanks",
    "thank you",
    "to",
    "and",
];
/// Words of politeness after it.
const AFTER: &[&str] = &[
    "please",
    "thanks",
    "thank you",
    "thanks in advance",
    "thank you in advance",
    "if possible",
    "thanks a lot",
];
/// Words that tie, and say nothing alone. They go only after a word of politeness.
const TIES: &[&str] = &["to", "and", "mind", "there"];

/// The title that the first prompt of a session gives.
pub(super) fn title_of(prompt: &str) -> String {
    let (typed, _) = typed_and_quoted(prompt);
    let words = typed.trim().trim_start_matches(['#', '*', ' ']).trim_end_matches('*');
    let mut rest = words;
    let names = Agent::ALL.map(Agent::as_str);
    while let Some(shorter) = BEFORE.iter().chain(&names).find_map(|phrase| {
        let is_tie = TIES.contains(phrase) || names.contains(phrase);
        without_start(rest, phrase).filter(|_| !is_tie || rest.len() < words.len())
    }) {
        rest = shorter;
    }
    let asks = rest.ends_with('?') && rest.len() < words.len();
    while let Some(shorter) = AFTER.iter().find_map(|phrase| without_end(rest, phrase)) {
        rest = shorter;
    }
    let rest = if asks { rest.trim_end_matches('?') } else { rest };
    let rest = if rest.len() < words.len() { rest.trim_end_matches(['.', ',', '!', ' ', ':']) } else { rest };
    if !rest.chars().any(char::is_alphanumeric) {
        return cut(prompt.trim());
    }
    let mut letters = rest.chars();
    let first = letters.next().filter(|_| rest.len() < words.len());
    cut(&first.map_or_else(|| rest.to_owned(), |first| first.to_uppercase().chain(letters).collect()))
}

fn without_start<'t>(text: &'t str, phrase: &str) -> Option<&'t str> {
    let start = text.get(..phrase.len()).filter(|start| start.eq_ignore_ascii_case(phrase))?;
    let rest = &text[start.len()..];
    let ends = rest.chars().next().is_none_or(|c| c.is_whitespace() || ",.!:;–—".contains(c));
    ends.then(|| rest.trim_start_matches(|c: char| c.is_whitespace() || ",.!:;–—".contains(c)))
}

fn without_end<'t>(text: &'t str, phrase: &str) -> Option<&'t str> {
    let text = text.trim_end_matches(|c: char| c.is_whitespace() || ",.!?:;".contains(c));
    let at = text.len().checked_sub(phrase.len())?;
    let is_end = text.get(at..).is_some_and(|end| end.eq_ignore_ascii_case(phrase));
    let rest = &text[..if is_end { at } else { return None }];
    rest.ends_with(|c: char| c.is_whitespace() || ",.!?:;".contains(c)).then(|| rest.trim_end())
}

/// At most [`LONGEST`] characters, cut after a word.
fn cut(text: &str) -> String {
    let Some((end, _)) = text.char_indices().nth(LONGEST) else { return text.to_owned() };
    let end = text[..end].char_indices().next_back().map_or(0, |(at, _)| at);
    let at = text[..end].rfind(char::is_whitespace).filter(|at| *at > end / 2).unwrap_or(end);
    format!("{}…", text[..at].trim_end_matches(|c: char| c.is_whitespace() || ",.;:".contains(c)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_title_says_what_is_asked() {
        for (prompt, title) in [
            ("Fix the login", "Fix the login"),
            (
                "Hello! I would like you, if at all possible, to please rename the log file",
                "Rename the log file",
            ),
            ("please fix the login, thanks!", "Fix the login"),
            ("Hi there, could you have a look at the parser?", "Have a look at the parser"),
            ("Can you please also add a test for empty lines please", "Also add a test for empty lines"),
            ("Why does the parser fail?", "Why does the parser fail?"),
            ("to be or not to be", "to be or not to be"),
            ("Hinweis im Log anzeigen", "Hinweis im Log anzeigen"),
            ("high load on the server", "high load on the server"),
            ("## Plan: rotate logs", "Plan: rotate logs"),
            ("Implement the following plan:", "Implement the following plan:"),
            ("<pasted_content id=\"1\">a lot</pasted_content id=\"1\"> explain this", "explain this"),
            ("Hello!", "Hello!"),
            ("please", "please"),
            ("", ""),
            (
                "Grüße aus Köln, bitte prüfe die Umlaute im Export",
                "Grüße aus Köln, bitte prüfe die Umlaute im Export",
            ),
            (
                "rewrite the importer so that it reads quoted newlines and keeps the order of columns",
                "rewrite the importer so that it reads quoted newlines and…",
            ),
        ] {
            assert_eq!(title_of(prompt), title, "{prompt}");
        }
        for agent in Agent::ALL.map(Agent::as_str) {
            assert_eq!(title_of(&format!("Hey {agent}, please mend it")), "Mend it");
            assert_eq!(title_of(&format!("{agent} is slow")), format!("{agent} is slow"));
        }
        let long = title_of(&"x".repeat(200));
        assert_eq!((long.chars().count(), long.ends_with('…')), (60, true));
    }
}
