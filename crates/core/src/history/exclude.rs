//! Patterns of paths that the user excludes from the store.

mod mentions;
mod spelling;

use std::fmt;
use std::sync::Arc;

use crate::chain::lineage::{CWD_LIMIT, Lineage};

/// Resolves symbolic links. The core calls this trait and never reads the disk itself.
pub trait Links: fmt::Debug + Send + Sync {
    /// The path that an absolute path leads to. It is resolved as the system does it: link by link, with `..`
    /// counted from a link's target. A part that does not exist stays as it is spelled. `None` if the path cannot
    /// be resolved.
    fn real(&self, path: &str) -> Option<String>;
}

/// Patterns of paths. `*` stands for any characters within a name, `?` for one character, `**` for any number of
/// names.
#[derive(Debug, Clone, Default)]
pub struct Exclude(Option<Arc<Rules>>);

#[derive(Debug)]
struct Rules {
    /// The patterns as the settings have them, with `/` between names.
    sources: Vec<String>,
    patterns: Vec<Pattern>,
    home: Option<String>,
    links: Option<Arc<dyn Links>>,
}

#[derive(Debug)]
struct Pattern {
    /// The pattern's names, without a `**` at the end. So `~/secret/**` covers the folder itself too: a session
    /// that works right in it is no less private.
    names: Vec<String>,
    /// How many leading names hold no wildcard. `root` is the path of these names.
    literal_names: usize,
    root: String,
}

impl Pattern {
    fn new(source: &str) -> Self {
        let whole = spelling::normal(source);
        let mut names: Vec<String> = whole.split('/').map(str::to_owned).collect();
        if names.last().is_some_and(|name| name == "**") {
            names.pop();
        }
        let literal_names = names.iter().take_while(|name| !name.contains(['*', '?'])).count();
        let root = names[..literal_names].join("/");
        Self { names, literal_names, root }
    }

    fn fits(&self, path: &str) -> bool {
        path.starts_with(&self.root) && fits(&self.names, path)
    }

    /// The path that `root` leads to through links, if it differs from `root`.
    fn real_root(&self, links: &dyn Links) -> Option<String> {
        let real = spelling::is_absolute(&self.root).then(|| links.real(&self.root)).flatten()?;
        let real = spelling::normal(&real);
        (real != self.root).then_some(real)
    }

    /// Whether the pattern fits the path after the links in `root` are resolved.
    fn fits_resolved(&self, path: &str, links: &dyn Links) -> bool {
        let Some(real) = self.real_root(links).filter(|real| path.starts_with(real)) else { return false };
        let names = real.split('/').chain(self.names[self.literal_names..].iter().map(String::as_str));
        fits(&names.map(str::to_owned).collect::<Vec<_>>(), path)
    }
}

/// Compares the patterns alone: home folder and links are the same for all.
impl PartialEq for Exclude {
    fn eq(&self, other: &Self) -> bool {
        self.patterns() == other.patterns()
    }
}

impl Eq for Exclude {}

impl Exclude {
    /// Makes rules from patterns in which `~` is already expanded. A pattern without a wildcard covers its path and
    /// everything below it.
    pub fn new(patterns: impl IntoIterator<Item = String>) -> Self {
        let slashes = |pattern: String| pattern.replace('\\', "/").trim_end_matches('/').to_owned();
        let sources: Vec<String> =
            patterns.into_iter().map(slashes).filter(|source| !source.is_empty()).collect();
        let patterns = sources.iter().map(|source| Pattern::new(source)).collect();
        Self((!sources.is_empty()).then(|| Arc::new(Rules { sources, patterns, home: None, links: None })))
    }

    /// The same rules with a home folder, and with links that can be followed.
    #[must_use]
    pub fn on_disk(self, home: Option<String>, links: Arc<dyn Links>) -> Self {
        let on_disk = |rules: Arc<Rules>| {
            let sources = rules.sources.clone();
            let patterns = sources.iter().map(|source| Pattern::new(source)).collect();
            Arc::new(Rules { sources, patterns, home, links: Some(links) })
        };
        Self(self.0.map(on_disk))
    }

    /// Whether nothing is left out.
    pub fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// The patterns, with `/` between names.
    pub fn patterns(&self) -> &[String] {
        self.0.as_deref().map_or(&[], |rules| &rules.sources)
    }

    /// Whether the path, or a folder above it, fits a pattern. The spelling of the path does not matter. A folder that is named by
    /// the whole path of another one, with `%2F` for each slash, holds what belongs to that one.
    pub fn excludes(&self, path: &str) -> bool {
        let mut names = path.split('/').filter(|name| name.starts_with("%2F"));
        self.excludes_in(None, path) || names.any(|name| self.excludes_in(None, &format!("file:{name}")))
    }

    /// The same for a path that may be relative to `cwd`.
    pub fn excludes_in(&self, cwd: Option<&str>, path: &str) -> bool {
        self.excludes_as(cwd, path, true)
    }

    fn excludes_as(&self, cwd: Option<&str>, path: &str, follow: bool) -> bool {
        let Some(rules) = self.0.as_deref().filter(|_| !path.is_empty()) else { return false };
        let spelled = spelling::absolute(path, cwd, rules.home.as_deref());
        let plain = spelling::normal(&spelled);
        rules.fit(&plain) || (follow && rules.fit_resolved(&spelled, &plain))
    }

    /// Whether all data of a session is left out, because it worked in an excluded folder. A session with more
    /// folders than its lineage keeps may have worked in any folder, so it is left out too.
    pub fn excludes_session(&self, lineage: &Lineage) -> bool {
        let worked_there = || lineage.cwds.iter().any(|cwd| self.excludes(cwd));
        !self.is_empty() && (lineage.cwds.len() >= CWD_LIMIT || worked_there())
    }
}

impl Rules {
    fn fit(&self, path: &str) -> bool {
        self.patterns.iter().any(|pattern| pattern.fits(path))
    }

    /// Whether a pattern fits after links are resolved: links in the path, and links in a pattern's `root`.
    fn fit_resolved(&self, spelled: &str, plain: &str) -> bool {
        let Some(links) = self.links.as_deref().filter(|_| spelling::is_absolute(plain)) else {
            return false;
        };
        let fits = |path: &str| {
            self.fit(path) || self.patterns.iter().any(|pattern| pattern.fits_resolved(path, links))
        };
        // After a link, `..` leads to the parent of the link's target.
        let real = |path: &str| links.real(path).is_some_and(|real| fits(&spelling::normal(&real)));
        fits(plain) || real(plain) || (spelled.contains("..") && real(spelled))
    }
}

/// Whether the pattern fits the path or a folder above it.
fn fits(pattern: &[String], path: &str) -> bool {
    let names: Vec<&str> = path.split('/').collect();
    // `reached[n]`: whether the pattern so far fits exactly the first `n` names. The cost is linear in both
    // lengths, for any pattern.
    let mut reached = vec![false; names.len() + 1];
    reached[0] = true;
    for part in pattern {
        let mut next = vec![false; names.len() + 1];
        if part == "**" {
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
    fn a_pattern_excludes_its_path_and_everything_below() {
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
            ("**/?.rs", "/a/é.rs", true),
            ("**/??.rs", "/a/é.rs", false),
            ("C:\\Users\\dev\\secret\\**", "C:\\Users\\dev\\secret\\a", true),
            ("/home/dev/secret", "/home/dev/.agent/%2Fhome%2Fdev%2Fsecret%2Fa/b.jsonl", true),
            ("/home/dev/secret", "/home/dev/.agent/%2Fhome%2Fdev%2Fsecrets/b.jsonl", false),
            ("**", "/anything", true),
            ("", "/anything", false),
        ] {
            assert_eq!(exclude(pattern).excludes(path), out, "{pattern} {path}");
        }
        assert!(!exclude("**").excludes(""), "no path is no path");
    }

    #[test]
    fn a_session_with_more_folders_than_the_limit_is_left_out() {
        let exclude = Exclude::new(["/home/dev/secret".to_owned()]);
        let mut lineage = Lineage::unknown(SessionId::new("s"));
        lineage.cwds = (1..CWD_LIMIT).map(|n| format!("/home/dev/{n}").into()).collect();
        assert!(!exclude.excludes_session(&lineage));
        lineage.cwds.push("/home/dev/one more".into());
        assert!(exclude.excludes_session(&lineage));
        assert!(!Exclude::default().excludes_session(&lineage), "nothing is left out");
        lineage.cwds = vec!["/home/dev/secret/app".into()];
        assert!(exclude.excludes_session(&lineage));
    }

    #[test]
    fn a_pattern_of_many_stars_is_matched_quickly() {
        let exclude = Exclude::new(["/**/*a*".repeat(200)]);
        assert!(!exclude.excludes(&"/aaaaaaaaaaaaaaaaaaaab".repeat(100)));
    }
}
