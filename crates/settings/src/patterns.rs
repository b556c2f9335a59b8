//! Checks whether a path pattern can match any path.

use std::path::Path;

/// Whether a pattern can match a path. A pattern in another program's syntax may match nothing, and so protect
/// nothing.
pub(crate) fn can_match(pattern: &str) -> bool {
    let whole = pattern.replace('\\', "/");
    // One slash at the end is removed; more of them are empty names.
    let whole = whole.strip_suffix('/').unwrap_or(&whole);
    pattern.trim() == pattern
        && !pattern.contains(['{', '}', '[', ']'])
        && below_a_beginning(pattern, whole).is_some_and(|below| below.split('/').all(is_name))
}

/// The part below the root, the home folder, a drive, a share or `**`; `None` if the pattern begins with none of
/// these.
fn below_a_beginning<'p>(pattern: &str, whole: &'p str) -> Option<&'p str> {
    let (first, below) = whole.split_once('/').unwrap_or((whole, "**"));
    let is_drive = matches!(first.as_bytes(), [letter, b':'] if letter.is_ascii_alphabetic());
    // Compared as a path, because this system expands `~` in a path.
    let is_home = first == "~" && Path::new(pattern).starts_with("~");
    if pattern.starts_with(r"\\") {
        return below.strip_prefix('/');
    }
    let is_root = first.is_empty() && whole.contains('/');
    (is_root || is_drive || is_home || first == "**").then_some(below)
}

/// Whether a part of a path can match this. Stored paths have no `.`, `..` or empty names. `**` beside other
/// characters would mean only `*`.
fn is_name(part: &str) -> bool {
    !matches!(part, "" | "." | "..") && (part == "**" || !part.contains("**"))
}

#[cfg(test)]
mod tests {
    use watchbill_core::history::Exclude;

    use super::*;

    #[test]
    fn valid_patterns_are_accepted_and_match() {
        for (pattern, path) in [
            ("/home/dev/secret", "/home/dev/secret/a"),
            ("/home/dev/secret/", "/home/dev/secret"),
            ("/home/dev/*.env", "/home/dev/.env"),
            ("/home/dev/a b?", "/home/dev/a bc/d"),
            ("/*/dev", "/home/dev"),
            ("/**/secret/**", "/home/dev/secret"),
            ("**", "/anything"),
            ("**/", "/anything"),
            ("**/secret", "/srv/secret/a"),
            ("**/*.env", "/home/dev/.env"),
            ("**/..x/.ssh", "/home/..x/.ssh"),
            (r"C:\secret", r"C:\secret\a"),
            ("c:/secret", "c:/secret"),
            (r"C:\", r"C:\anything"),
            (r"\\host\secret", r"\\host\secret\a"),
        ] {
            assert!(can_match(pattern), "{pattern}");
            assert!(Exclude::new([pattern.to_owned()]).excludes(path), "{pattern} {path}");
        }
        for pattern in ["~", "~/", "~/secret/**", "~/*"] {
            assert!(can_match(pattern), "{pattern}");
        }
        assert_eq!(can_match(r"~\secret"), cfg!(windows));
    }

    #[test]
    fn patterns_that_match_nothing_or_everything_by_mistake_are_refused() {
        for pattern in [
            "",
            "/",
            "//",
            "secret",
            "secret/**",
            "./secret",
            "../secret",
            "$HOME/secret",
            "%USERPROFILE%",
            "!/home",
            "~dev/secret",
            "~~",
            "~?",
            "~secret",
            "*",
            "?",
            "*.env",
            "*secret*",
            "*/secret",
            "?/x",
            "*/**",
            "***",
            "**secret",
            "**.env",
            "**secret/**",
            "/srv/**secret",
            "/srv/secret**",
            "/home/***",
            "**/**x",
            "/.",
            "/..",
            "/home/dev/./secret",
            "/home/dev/../x",
            "/home/dev/..",
            "~/./secret",
            "~/../x",
            "**/../x",
            "/home//dev/x",
            "//home/dev",
            "/home/dev//",
            "~//secret",
            "**//secret",
            r"\\",
            r"\\\host\x",
            r"C:\.\x",
            "C:secret",
            " /home",
            "~/secret ",
            "/srv/x\u{a0}",
            "/home/{a,b}",
            "/home/[ab]",
            "file:///home/dev",
        ] {
            assert!(!can_match(pattern), "{pattern:?}");
        }
    }
}
