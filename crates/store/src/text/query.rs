//! A person's words as a query of the index. Whatever is typed is text: no sign of it is syntax but quotes around a
//! phrase and a star at the end of a word.

use super::{parts, tags};

/// One thing that a text must hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Term {
    /// Its words as they were typed.
    pub text: String,
    /// The last word may go on.
    pub prefix: bool,
}

/// What is looked for: every term has to be there.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Terms(pub Vec<Term>);

impl Terms {
    /// Reads what a person typed. With `typing` the last word may go on, unless something follows it.
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
        Self(if typing { without_stub(terms) } else { terms })
    }

    /// Whether the last word may go on.
    pub(crate) fn may_go_on(&self) -> bool {
        self.0.last().is_some_and(|last| last.prefix)
    }

    /// The query in the index's own language; `None` when there is nothing to look for.
    pub(crate) fn to_fts(&self) -> Option<String> {
        let terms: Vec<String> = self.0.iter().map(Term::to_fts).collect();
        (!terms.is_empty()).then(|| terms.join(" AND "))
    }

    /// The query for names that are spelled as they were typed; `None` where there is no name, and the whole query is all
    /// there is to look for.
    pub(crate) fn spelled(&self) -> Option<String> {
        self.0.iter().any(Term::is_name).then(|| {
            let terms: Vec<String> = self.0.iter().map(Term::spelled).collect();
            terms.join(" AND ")
        })
    }
}

/// While a word has few letters, half of the index begins with it: alone it is taken for the whole word until it has
/// three, after others it is left out until it has four.
fn without_stub(mut terms: Vec<Term>) -> Vec<Term> {
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
    /// A name with pieces. Signs of scripts without spaces are none: that they stand between two spaces, as what is one
    /// word to the index, says nothing about them.
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

    /// Nobody looks for tags by words. To look at the column of each place takes a third of the time of a phrase, so
    /// that it is asked for only where all of the words may be tags.
    fn phrase(&self, words: &str) -> String {
        let columns = if tags::may_be(words) { "{text parts} : " } else { "" };
        format!("{columns}{}{}", quoted(words), if self.prefix { "*" } else { "" })
    }
}

/// A phrase: in quotes no sign is syntax but the quote itself.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace(['"', '\0'], " "))
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
    fn the_last_word_may_go_on_while_it_is_typed() {
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
    fn what_is_typed_is_text() {
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
