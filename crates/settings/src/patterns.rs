//! Which patterns of paths can fit one.

use std::path::Path;

/// Whether a path can fit this pattern. One that never can, since it is written as elsewhere, would protect nothing.
pub(crate) fn may_fit(pattern: &str) -> bool {
    let whole = pattern.replace('\\', "/");
    // One slash at the end is taken off; more of them are names that are empty.
    let whole = whole.strip_suffix('/').unwrap_or(&whole);
    pattern.trim() == pattern
        && !pattern.contains(['{', '}', '[', ']'])
        && below_a_beginning(pattern, whole).is_some_and(|below| below.split('/').all(is_name))
}

/// What stands behind the root, the home folder, a drive or a share, or is to be found in any folder.
fn below_a_beginning<'p>(pattern: &str, whole: &'p str) -> Option<&'p str> {
    let (first, below) = whole.split_once('/').unwrap_or((whole, "**"));
    let is_drive = matches!(first.as_bytes(), [letter, b':'] if letter.is_ascii_alphabetic());
    // As a path, so that it is put in full on this system.
    let is_home = first == "~" && Path::new(pattern).starts_with("~");
    if pattern.starts_with(r"\\") {
        return below.strip_prefix('/');
    }
    let is_root = first.is_empty() && whole.contains('/');
    (is_root || is_drive || is_home || first == "**").then_some(below)
}

/// Whether a part of a path can fit this. Folders are named without detours, and two stars between other signs are one.
fn is_name(part: &str) -> bool {
    !matches!(part, "" | "." | "..") && (part == "**" || !part.contains("**"))
}

#[cfg(test)]
mod tests {
    use watchbill_core::history::Exclude;

    use super::*;

    #[test]
    fn what_can_fit_a_path_is_taken_and_does() {
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
            assert!(may_fit(pattern), "{pattern}");
            assert!(Exclude::new([pattern.to_owned()]).leaves_out(path), "{pattern} {path}");
        }
        for pattern in ["~", "~/", "~/secret/**", "~/*"] {
            assert!(may_fit(pattern), "{pattern}");
        }
        assert_eq!(may_fit(r"~\secret"), cfg!(windows));
    }

    #[test]
    fn what_never_can_and_what_would_leave_out_all_by_mistake_is_refused() {
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
            assert!(!may_fit(pattern), "{pattern:?}");
        }
    }
}
