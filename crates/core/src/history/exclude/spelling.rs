//! Brings all spellings of a path to one form.

use std::borrow::Cow;

/// How shells and tools name the home folder.
const HOMES: [&str; 5] = ["${HOME}", "$HOME", "%USERPROFILE%", "$env:USERPROFILE", "$Env:USERPROFILE"];
/// How shells name the current folder.
const HERE: [&str; 4] = ["${PWD}", "$PWD", "$(pwd)", "%CD%"];

/// The path made absolute, as far as `cwd` and `home` allow. `.` and `..` stay.
pub(super) fn absolute(path: &str, cwd: Option<&str>, home: Option<&str>) -> String {
    let path = of_uri(path);
    let under = |folder: &str, rest: &str| format!("{folder}/{rest}");
    let starts = |names: &[&str]| {
        let rest = names.iter().find_map(|name| path.strip_prefix(name))?;
        (rest.is_empty() || rest.starts_with(['/', '\\'])).then(|| rest.to_owned())
    };
    if let Some(home) = home {
        let name = home.rsplit(['/', '\\']).next().unwrap_or_default();
        if let Some(rest) = starts(&[&format!("~{name}"), "~"]).or_else(|| starts(&HOMES)) {
            return under(home, &rest);
        }
    }
    match cwd {
        Some(cwd) => match starts(&HERE) {
            Some(rest) => under(cwd, &rest),
            None if is_absolute(&path) => path.into_owned(),
            None => under(cwd, &path),
        },
        None => path.into_owned(),
    }
}

/// The path with one slash between names, without `.`, and with `..` resolved by names alone.
pub(super) fn normal(path: &str) -> String {
    let slashes = path.replace('\\', "/");
    // Windows puts this before paths that it has resolved.
    let path = slashes.strip_prefix("//?/").unwrap_or(&slashes);
    let mut names: Vec<&str> = Vec::new();
    for name in path.split('/') {
        match name {
            "" | "." => {}
            ".." => drop(names.pop()),
            name => names.push(name),
        }
    }
    let mut normal = String::with_capacity(path.len() + 1);
    if path.starts_with('/') {
        normal.push('/');
    }
    normal.push_str(&names.join("/"));
    if is_drive(&normal) {
        normal[..1].make_ascii_lowercase();
    }
    normal
}

/// Whether the path begins at a root or a drive.
pub(super) fn is_absolute(path: &str) -> bool {
    path.starts_with(['/', '\\']) || is_drive(path)
}

fn is_drive(path: &str) -> bool {
    matches!(path.as_bytes(), [letter, b':', ..] if letter.is_ascii_alphabetic())
}

/// The path of a `file:` address. Any other text stays as it is.
fn of_uri(path: &str) -> Cow<'_, str> {
    let Some(rest) = path.get(..5).filter(|scheme| scheme.eq_ignore_ascii_case("file:")).map(|_| &path[5..])
    else {
        return Cow::Borrowed(path);
    };
    let rest = rest.strip_prefix("//localhost").unwrap_or(rest);
    let mut bytes = Vec::with_capacity(rest.len());
    let mut left = rest.as_bytes();
    while let Some((&first, behind)) = left.split_first() {
        let digits = behind.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        match digits.filter(|_| first == b'%').and_then(|two| u8::from_str_radix(two, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                left = &behind[2..];
            }
            None => {
                bytes.push(first);
                left = behind;
            }
        }
    }
    let path = String::from_utf8_lossy(&bytes).into_owned();
    // `file:///C:/x`.
    let bare = path.trim_start_matches('/');
    Cow::Owned(if is_drive(bare) { bare.to_owned() } else { path })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_a_path_has_one_form() {
        for path in [
            "/home/dev/secret/a",
            "//home//dev/./secret/a/",
            "/home/dev/app/../secret/a",
            "../secret/a",
            "./../secret//a",
            "~/secret/a",
            "~dev/secret/a",
            "$HOME/secret/a",
            "${HOME}/secret/a",
            "$PWD/../secret/a",
            "file:///home/dev/secret/a",
            "FILE://localhost/home/dev/%73ecret/a",
            "/../home/dev/secret/a",
        ] {
            assert_eq!(
                normal(&absolute(path, Some("/home/dev/app"), Some("/home/dev"))),
                "/home/dev/secret/a",
                "{path}"
            );
        }
        assert_eq!(normal(r"C:\secret\.\a"), "c:/secret/a");
        assert_eq!(normal(&absolute("file:///C:/secret/a", None, None)), "c:/secret/a");
        assert_eq!(normal(r"\\?\C:\secret"), "c:/secret");
        assert_eq!(
            normal(&absolute("~other/secret", Some("/home/dev/app"), Some("/home/dev"))),
            "/home/dev/app/~other/secret"
        );
        assert_eq!(normal(&absolute("%", None, None)), "%");
    }
}
