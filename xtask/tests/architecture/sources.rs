//! Rules for every source file.

use std::path::Path;

use crate::{metadata, no_complaints, text, tracked};

/// The most lines of a file, not counting tests at its end.
const LONG: usize = 400;

/// A file of tests may be longer, since its parts do not depend on each other.
const LONG_FOR_TESTS: usize = 600;

/// The one file of the window that imports Tauri.
const KNOWS_TAURI: &str = "ui/src/lib/host/tauri.ts";

fn has_extension(file: &Path, extensions: &[&str]) -> bool {
    file.extension().and_then(|extension| extension.to_str()).is_some_and(|found| extensions.contains(&found))
}

/// The window's own files without its tests, which may name forbidden things.
fn window_files() -> impl Iterator<Item = &'static Path> {
    tracked()
        .iter()
        .map(std::path::PathBuf::as_path)
        .filter(|file| file.starts_with("ui/src") && has_extension(file, &["svelte", "ts"]))
        .filter(|file| !file.to_string_lossy().ends_with(".test.ts"))
}

/// All Rust files with their text.
fn rust_files() -> Vec<(&'static Path, String)> {
    let files = tracked().iter().filter(|file| has_extension(file, &["rs"]));
    let files: Vec<_> = files.map(|file| (file.as_path(), text(file).expect("Rust is UTF-8"))).collect();
    assert!(files.len() > 20, "only {} Rust files were found", files.len());
    files
}

#[test]
fn every_crate_root_forbids_unsafe_code() {
    let mut complaints = Vec::new();
    for package in metadata().workspace_packages() {
        for target in package.targets.iter().filter(|target| target.is_shipped()) {
            let source = std::fs::read_to_string(&target.src_path).expect("a target's source can be read");
            if !source.lines().any(|line| line == "#![forbid(unsafe_code)]") {
                complaints.push(format!("{} lacks #![forbid(unsafe_code)]", target.src_path.display()));
            }
        }
    }
    no_complaints(complaints);
}

#[test]
fn no_test_uses_unsafe_code_either() {
    let marks = ["{", "fn", "impl", "extern"].map(|word| format!("{} {word}", ["un", "safe"].concat()));
    let mut complaints = Vec::new();
    for (file, text) in rust_files() {
        for (number, line) in text.lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            if marks.iter().any(|mark| code.contains(mark.as_str())) {
                complaints.push(format!("{}:{}: use safe code", file.display(), number + 1));
            }
        }
    }
    no_complaints(complaints);
}

#[test]
fn every_rust_file_begins_with_a_module_comment() {
    let complaints = rust_files()
        .iter()
        .filter(|(_, text)| !text.starts_with("//! "))
        .map(|(file, _)| format!("{} does not begin with `//! `", file.display()))
        .collect();
    no_complaints(complaints);
}

#[test]
fn no_comment_has_an_untested_example() {
    let mut complaints = Vec::new();
    for (file, text) in rust_files() {
        for (number, line) in text.lines().enumerate() {
            let comment = line.trim_start();
            let is_doc = comment.starts_with("///") || comment.starts_with("//!");
            if is_doc && comment[3..].trim_start().starts_with("```") && !comment.ends_with("```text") {
                complaints.push(format!(
                    "{}:{}: examples in comments are not run; make it a test, or write it as `text`",
                    file.display(),
                    number + 1
                ));
            }
        }
    }
    no_complaints(complaints);
}

#[test]
fn no_file_is_too_long() {
    let mut complaints = Vec::new();
    let written = |file: &&std::path::PathBuf| {
        has_extension(file, &["rs", "svelte", "ts"]) && !file.starts_with("ui/src/lib/bindings")
    };
    for file in tracked().iter().filter(written) {
        let text = text(file).expect("sources are UTF-8");
        let is_test = file.components().any(|part| part.as_os_str() == "tests")
            || file.to_string_lossy().ends_with(".test.ts");
        let lines = own_lines(&text);
        let limit = if is_test { LONG_FOR_TESTS } else { LONG };
        let name = file.to_string_lossy();
        if lines > limit {
            complaints.push(format!("{name} has {lines} lines: split it"));
        }
    }
    no_complaints(complaints);
}

/// The number of lines before the tests at the end of a file.
fn own_lines(text: &str) -> usize {
    let lines: Vec<&str> = text.lines().collect();
    let tests =
        lines.windows(2).position(|two| two[0] == "#[cfg(test)]" && two[1].starts_with("mod tests {"));
    tests.unwrap_or(lines.len())
}

#[test]
fn tests_at_the_end_of_a_file_do_not_make_it_long() {
    assert_eq!(own_lines("one\ntwo\n#[cfg(test)]\nmod tests {\n    three\n}\n"), 2);
    assert_eq!(own_lines("one\n#[cfg(test)]\nmod tests;\n"), 3);
}

#[test]
fn no_test_is_switched_off() {
    // In pieces, since this test reads this file too.
    let marks = [["#[", "ignore"].concat(), ["cfg(", "any())"].concat()];
    let mut complaints = Vec::new();
    for (file, text) in rust_files() {
        for (number, line) in text.lines().enumerate() {
            complaints.extend(
                marks
                    .iter()
                    .filter(|mark| {
                        line.trim_start().starts_with(mark.as_str()) || line.contains(&format!("#[{mark}"))
                    })
                    .map(|_| format!("{}:{}: a disabled test proves nothing", file.display(), number + 1)),
            );
        }
    }
    let marks = ["it", "test", "describe"]
        .map(|word| [[word, ".skip("].concat(), [word, ".only("].concat()])
        .concat();
    for file in tracked().iter().filter(|file| has_extension(file, &["ts", "js", "mjs", "svelte"])) {
        let text = text(file).expect("sources are UTF-8");
        complaints.extend(
            marks
                .iter()
                .filter(|mark| text.contains(mark.as_str()))
                .map(|mark| format!("{}: {mark}…)", file.display())),
        );
    }
    no_complaints(complaints);
}

#[test]
fn only_one_file_of_the_window_imports_tauri() {
    let scope = ["@tauri-apps", "/"].concat();
    let complaints = window_files()
        .filter(|file| *file != Path::new(KNOWS_TAURI))
        .filter(|file| text(file).is_some_and(|text| text.contains(&scope)))
        .map(|file| format!("{} names {scope}: ask the host in ui/src/lib/host instead", file.display()))
        .collect();
    no_complaints(complaints);
}

#[test]
fn no_untrusted_text_becomes_markup() {
    let marks = [["{@", "html"].concat(), ["inner", "HTML"].concat()];
    let mut complaints = Vec::new();
    for file in window_files() {
        let text = text(file).expect("sources are UTF-8");
        complaints.extend(
            marks
                .iter()
                .filter(|mark| text.contains(mark.as_str()))
                .map(|mark| format!("{}: {mark}", file.display())),
        );
    }
    no_complaints(complaints);
}

#[test]
fn no_file_names_a_path_of_one_machine() {
    let mut complaints = Vec::new();
    for file in tracked().iter().filter(|file| !has_extension(file, &["png", "ico", "icns"])) {
        let Some(text) = text(file) else { continue };
        for (number, line) in text.lines().enumerate() {
            if let Some(place) = machine_path(line, file.starts_with("tests/fixtures")) {
                complaints.push(format!("{}:{}: {place}", file.display(), number + 1));
            }
        }
    }
    no_complaints(complaints);
}

/// A path that exists only on the machine where it was written. The recordings' own home, `dev`, is allowed, and so
/// are a client's temporary files in a recording.
fn machine_path(line: &str, is_fixture: bool) -> Option<String> {
    let homes = ["ho", "me/"].concat();
    let places =
        [["ro", "ot/"].concat(), ["wo", "rk/"].concat(), ["Us", "ers/"].concat(), ["t", "mp/"].concat()];
    let starts_here = |at: usize| {
        let before = line[..at].chars().next_back();
        !before.is_some_and(|c| c.is_alphanumeric() || "_-.~/}>)*]%$".contains(c))
    };
    for (at, _) in line.match_indices('/').filter(|(at, _)| starts_here(*at)) {
        let rest = &line[at + 1..];
        let whole = || rest.split([' ', '"', '\'', '`', ',', ')']).next().map(|path| format!("/{path}"));
        if let Some(inside) = rest.strip_prefix(&homes) {
            let user: String =
                inside.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '-').collect();
            if !["", "dev", "user", "you"].contains(&user.as_str()) {
                return whole();
            }
        }
        for place in places.iter().filter(|place| rest.starts_with(place.as_str())) {
            let after = &rest[place.len()..];
            let made_up = place.starts_with("Us") && after.starts_with("dev");
            let general = after.is_empty() || after.starts_with(['<', '{', '…', '`', '"', '\'', ' ', '*']);
            let clients = place.starts_with("tm") && (is_fixture || after.starts_with("claude-"));
            if !made_up && !general && !clients {
                return whole();
            }
        }
    }
    None
}

#[test]
fn machine_paths_are_distinguished_from_others() {
    let tmp = ["/t", "mp"].concat();
    let root = ["/ro", "ot"].concat();
    let work = ["/wo", "rk"].concat();
    let home = ["/ho", "me"].concat();
    for (line, found) in [
        (format!("let x = \"{root}/.claude\";"), true),
        (format!("see {work}/shared"), true),
        (format!("{tmp}/x.sock"), true),
        (format!("cd {home}/alice"), true),
        (format!("cd {home}/dev/work/x"), false),
        (format!("under {home}/<user>/"), false),
        ("crates/work/src and a/tmp/b".to_owned(), false),
        (format!("{tmp}/claude-<uid>/tasks"), false),
        ("https://example.test/root/x".to_owned(), false),
    ] {
        assert_eq!(machine_path(&line, false).is_some(), found, "{line}");
    }
}
