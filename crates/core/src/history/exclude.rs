//! Paths that the person does not want stored, as patterns.

use crate::chain::lineage::{CWD_LIMIT, Lineage};

/// Patterns of paths. `*` stands for anything within a name, `?` for one character of it, `**` for any number of names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exclude {
    patterns: Vec<String>,
}

impl Exclude {
    /// From patterns whose `~` has been put in full already. A pattern without a special sign means the path and all
    /// that lies below.
    pub fn new(patterns: impl IntoIterator<Item = String>) -> Self {
        let slashes = |pattern: String| pattern.replace('\\', "/").trim_end_matches('/').to_owned();
        Self { patterns: patterns.into_iter().map(slashes).filter(|pattern| !pattern.is_empty()).collect() }
    }

    /// Whether nothing is left out.
    pub fn is_empty(&self) -> bool {
        self.patterns.is_empty()
    }

    /// The patterns, as they count.
    pub fn patterns(&self) -> &[String] {
        &self.patterns
    }

    /// Whether the path is left out: it, or a folder that it lies in, fits a pattern.
    pub fn leaves_out(&self, path: &str) -> bool {
        if self.patterns.is_empty() || path.is_empty() {
            return false;
        }
        let path = path.replace('\\', "/");
        let names: Vec<&str> = path.trim_end_matches('/').split('/').collect();
        self.patterns.iter().any(|pattern| {
            let pattern: Vec<&str> = pattern.split('/').collect();
            // `~/secret/**` means the folder itself as well: a session that works right in it is no less private.
            let folder = pattern.strip_suffix(&["**"]).unwrap_or(&pattern);
            fits(folder, &names)
        })
    }

    /// Whether what is known of a session as a whole is left out, since it has worked in a folder that is. Of one that
    /// was in more folders than its lineage keeps nobody can say that it has not.
    pub fn leaves_out_session(&self, lineage: &Lineage) -> bool {
        let worked_there = || lineage.cwds.iter().any(|cwd| self.leaves_out(cwd));
        !self.is_empty() && (lineage.cwds.len() >= CWD_LIMIT || worked_there())
    }

    /// Whether one of the fields of a record, or of a hook's payload, that hold paths names a path that is left out. Quotes
    /// within strings have a sign before them, so that what somebody has only said is none of these. The JSON may
    /// be cut anywhere.
    pub fn is_named_in(&self, json: &str) -> bool {
        if self.patterns.is_empty() {
            return false;
        }
        let pieces: Vec<&str> = json.split('"').collect();
        pieces.windows(3).any(|piece| {
            FIELDS.contains(&piece[0])
                && piece[1].trim() == ":"
                && self.leaves_out(&piece[2].replace("\\\\", "/"))
        })
    }
}

/// The fields of the agent's records and of its hooks' payloads that hold paths.
const FIELDS: [&str; 6] =
    ["cwd", "file_path", "notebook_path", "path", "transcript_path", "agent_transcript_path"];

/// Whether the names, or the first some of them, fit the pattern.
fn fits(pattern: &[&str], names: &[&str]) -> bool {
    // For each number of names: whether the pattern so far fits just these. Linear in both, whatever is written.
    let mut reached = vec![false; names.len() + 1];
    reached[0] = true;
    for part in pattern {
        let mut next = vec![false; names.len() + 1];
        if *part == "**" {
            let first = reached.iter().position(|reached| *reached);
            if let Some(first) = first {
                next[first..].fill(true);
            }
        } else {
            for (at, name) in names.iter().enumerate() {
                next[at + 1] = reached[at] && name_fits(part, name);
            }
        }
        reached = next;
    }
    reached.contains(&true)
}

fn name_fits(pattern: &str, name: &str) -> bool {
    let name: Vec<char> = name.chars().collect();
    let mut reached = vec![false; name.len() + 1];
    reached[0] = true;
    for sign in pattern.chars() {
        let mut next = vec![false; name.len() + 1];
        match sign {
            '*' => {
                if let Some(first) = reached.iter().position(|reached| *reached) {
                    next[first..].fill(true);
                }
            }
            _ => {
                for (at, c) in name.iter().enumerate() {
                    next[at + 1] = reached[at] && (sign == '?' || sign == *c);
                }
            }
        }
        reached = next;
    }
    reached[name.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::SessionId;

    #[test]
    fn a_pattern_leaves_out_what_fits_it_and_what_lies_below() {
        let exclude = |pattern: &str| Exclude::new([pattern.to_owned()]);
        for (pattern, path, out) in [
            ("/home/dev/secret/**", "/home/dev/secret/a/b.txt", true),
            ("/home/dev/secret/**", "/home/dev/secret", true),
            ("/home/dev/secret/**", "/home/dev/secrets/a", false),
            ("/home/dev/secret", "/home/dev/secret/a/b", true),
            ("/home/dev/secret/", "/home/dev/secret/a", true),
            ("/home/*/secret", "/home/dev/secret/x", true),
            ("/home/*/secret", "/home/dev/a/secret", false),
            ("**/secret", "/home/dev/a/secret/x", true),
            ("**/*.env", "/home/dev/a/.env", true),
            ("**/*.env", "/home/dev/a/prod.env", true),
            ("**/*.env", "/home/dev/a/environment", false),
            ("**/?.rs", "/a/b.rs", true),
            ("**/?.rs", "/a/bc.rs", false),
            ("C:\\Users\\dev\\secret\\**", "C:\\Users\\dev\\secret\\a", true),
            ("**", "/anything", true),
            ("", "/anything", false),
        ] {
            assert_eq!(exclude(pattern).leaves_out(path), out, "{pattern} {path}");
        }
        assert!(!exclude("**").leaves_out(""), "no path is no path");
    }

    #[test]
    fn a_field_that_holds_a_path_names_it_and_what_is_only_said_does_not() {
        let exclude = Exclude::new(["/home/dev/secret".to_owned(), "C:/secret".to_owned()]);
        for (json, named) in [
            (r#"{"cwd":"/home/dev/secret/app"}"#, true),
            (r#"{"tool_input":{"file_path" : "/home/dev/secret/key"}}"#, true),
            (r#"{"transcript_path":"C:\\secret\\s.jsonl"}"#, true),
            (r#"{"cwd":"/home/dev/secret/ap"#, true),
            (r#"{"cwd":"/home/dev/open","prompt":"look at /home/dev/secret"}"#, false),
            (r#"{"prompt":"\"cwd\":\"/home/dev/secret\""}"#, false),
            (r#"{"cwd":"/home/dev/secrets"}"#, false),
            ("", false),
        ] {
            assert_eq!(exclude.is_named_in(json), named, "{json}");
        }
        assert!(!Exclude::default().is_named_in(r#"{"cwd":"/home/dev/secret"}"#));
    }

    #[test]
    fn a_session_that_was_in_more_folders_than_are_kept_may_have_been_in_any() {
        let exclude = Exclude::new(["/home/dev/secret".to_owned()]);
        let mut lineage = Lineage::unknown(SessionId::new("s"));
        lineage.cwds = (1..CWD_LIMIT).map(|n| format!("/home/dev/{n}").into()).collect();
        assert!(!exclude.leaves_out_session(&lineage));
        lineage.cwds.push("/home/dev/one more".into());
        assert!(exclude.leaves_out_session(&lineage));
        assert!(!Exclude::default().leaves_out_session(&lineage), "nothing is left out");
        lineage.cwds = vec!["/home/dev/secret/app".into()];
        assert!(exclude.leaves_out_session(&lineage));
    }

    #[test]
    fn a_pattern_of_stars_costs_no_more_than_its_length() {
        let exclude = Exclude::new(["/**/*a*".repeat(200)]);
        assert!(!exclude.leaves_out(&"/aaaaaaaaaaaaaaaaaaaab".repeat(100)));
    }
}
