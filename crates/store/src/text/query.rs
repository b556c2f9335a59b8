//! A person's words as a query of the index. Whatever is typed is text: no sign of it is syntax but quotes around a
//! phrase and a star at the end of a word.

use super::parts;

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
        Self(terms)
    }

    /// The query in the index's own language; `None` when there is nothing to look for.
    pub(crate) fn to_fts(&self) -> Option<String> {
        let terms: Vec<String> = self.0.iter().map(Term::to_fts).collect();
        (!terms.is_empty()).then(|| terms.join(" AND "))
    }
}

impl Term {
    fn to_fts(&self) -> String {
        let star = if self.prefix { "*" } else { "" };
        let plain = format!("{{text parts}} : {}{star}", quoted(&self.text));
        match parts::of(&self.text) {
            Some(parts) => {
                let words: Vec<&str> = parts.split_whitespace().filter(|word| *word != "0x").collect();
                format!("({plain} OR {{text parts}} : {}{star})", quoted(&words.join(" ")))
            }
            None => format!("({plain})"),
        }
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

    #[test]
    fn what_is_typed_is_text() {
        assert_eq!(
            fts("NOT (foo OR"),
            Some("({text parts} : \"NOT\") AND ({text parts} : \"(foo\") AND ({text parts} : \"OR\")".into())
        );
        assert_eq!(fts("-> \" * ^"), None);
        assert_eq!(fts("conf*"), Some("({text parts} : \"conf*\"*)".into()));
    }
}
