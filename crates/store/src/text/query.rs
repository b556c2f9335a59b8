//! The user's search text as a query of the index. Everything typed is text. Only quotes around a phrase and a star
//! at the end of a word are syntax.

use super::{letters, parts, tags};

/// One term that a text must contain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    /// Its words as they were typed.
    pub text: String,
    /// Whether the last word may be incomplete.
    pub prefix: bool,
}

/// The terms of a search: a text must contain all of them.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Terms(pub Vec<Term>);

impl Terms {
    /// Parses the typed text. With `typing` the last word may be incomplete, unless something follows it.
    pub fn parse(typed: &str, typing: bool) -> Self {
        let mut terms = Vec::new();
        let mut rest = typed;
        while let Some(start) = rest.find(|c: char| !c.is_whitespace()) {
            rest = &rest[start..];
            let (text, after) = match rest.strip_prefix('"') {
                Some(quoted) => quoted.split_once('"').unwrap_or((quoted, "")),
                None => {
                    rest.split_at(rest.find(|c: char| c.is_whitespace() || c == '"').unwrap_or(rest.len()))
                }
            };
            let starred = after.starts_with('*') || text.ends_with('*');
            let prefix = starred || (typing && after.is_empty() && !rest.ends_with('"'));
            rest = after.trim_start_matches('*');
            if text.chars().any(char::is_alphanumeric) {
                terms.push(Term { text: text.to_owned(), prefix });
            }
        }
        Self(if typing { without_short_prefix(terms) } else { terms })
    }

    /// Whether the last word may be incomplete.
    pub(crate) fn is_last_incomplete(&self) -> bool {
        self.0.last().is_some_and(|last| last.prefix)
    }

    /// The query in the index's own language; `None` if there is nothing to search for.
    pub(crate) fn to_fts(&self) -> Option<String> {
        let terms: Vec<String> = self.0.iter().map(Term::to_fts).collect();
        (!terms.is_empty()).then(|| terms.join(" AND "))
    }

    /// The query for names that are spelled as they were typed; `None` if there is no name, so that it would be the
    /// whole query.
    pub(crate) fn spelled(&self) -> Option<String> {
        self.0.iter().any(Term::is_name).then(|| {
            let terms: Vec<String> = self.0.iter().map(Term::spelled).collect();
            terms.join(" AND ")
        })
    }
}

/// Half of the index begins with a word of few letters. A single word counts as complete until it has three
/// letters. After other words, it is left out until it has four.
fn without_short_prefix(mut terms: Vec<Term>) -> Vec<Term> {
    let letters = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).count();
    let alone = terms.len() == 1;
    if let Some(last) = terms.last_mut()
        && last.prefix
        && letters(&last.text) < if alone { 3 } else { 4 }
    {
        last.prefix = false;
        if !alone && last.text.is_ascii() {
            terms.pop();
        }
    }
    terms
}

impl Term {
    /// Whether the term is a name with pieces. Characters of scripts without spaces are none: the index takes them
    /// as one word between two spaces, which says nothing about them.
    fn is_name(&self) -> bool {
        !self.text.contains(parts::is_unspaced) && parts::of(&self.text).is_some()
    }

    fn to_fts(&self) -> String {
        match parts::of(&self.text) {
            Some(parts) => format!("({} OR {})", self.phrase(&self.text), self.phrase(parts.trim_start())),
            None => format!("({})", self.phrase(&self.text)),
        }
    }

    fn spelled(&self) -> String {
        if self.is_name() { format!("({})", self.phrase(&self.text)) } else { self.to_fts() }
    }

    /// No search finds tags by their words. Checking the column of each match takes a third of a phrase's time, so
    /// the columns are named only if all words may be tags.
    fn phrase(&self, words: &str) -> String {
        let columns = if tags::may_match_tags(words) { "{text parts} : " } else { "" };
        format!("{columns}{}{}", quoted(words), if self.prefix { "*" } else { "" })
    }
}

/// A phrase in quotes, where only the quote itself would be syntax.
fn quoted(text: &str) -> String {
    format!("\"{}\"", letters::spelled_out(text).replace(['"', '\0'], " "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fts(typed: &str) -> Option<String> {
        Terms::parse(typed, false).to_fts()
    }

    fn typing(typed: &str) -> Vec<(String, bool)> {
        Terms::parse(typed, true).0.into_iter().map(|term| (term.text, term.prefix)).collect()
    }

    #[test]
    fn while_typing_the_last_word_may_be_incomplete() {
        let terms = |terms: &[(&str, bool)]| -> Vec<(String, bool)> {
            terms.iter().map(|(text, prefix)| ((*text).to_owned(), *prefix)).collect()
        };
        assert_eq!(typing("fox"), terms(&[("fox", true)]));
        assert_eq!(typing("red foxe"), terms(&[("red", false), ("foxe", true)]));
        assert_eq!(typing("red foxe "), terms(&[("red", false), ("foxe", false)]));
        assert_eq!(typing("red \"fox ran\""), terms(&[("red", false), ("fox ran", false)]));
        assert_eq!(typing("red fox"), terms(&[("red", false)]));
        assert_eq!(typing("fo"), terms(&[("fo", false)]));
        assert_eq!(typing("red 本"), terms(&[("red", false), ("本", false)]));
    }

    #[test]
    fn typed_characters_are_text_and_not_syntax() {
        assert_eq!(fts("NOT (foo OR"), Some("(\"NOT\") AND (\"(foo\") AND (\"OR\")".into()));
        assert_eq!(fts("-> \" * ^"), None);
        assert_eq!(fts("parseLine").as_deref(), Some("(\"parseLine\" OR \"parse Line\")"));
        let spelled = |typed: &str| Terms::parse(typed, false).spelled();
        assert_eq!(spelled("parseLine red").as_deref(), Some("(\"parseLine\") AND ({text parts} : \"red\")"));
        assert_eq!(spelled("parse_line red"), None);
        assert_eq!(spelled("日本 useState本"), None);
        assert_eq!(
            spelled("parseLine 日本").as_deref(),
            Some("(\"parseLine\") AND ({text parts} : \"日本\" OR {text parts} : \"日 本\")")
        );
        assert_eq!(fts("conf*"), Some("(\"conf*\"*)".into()));
    }
}
