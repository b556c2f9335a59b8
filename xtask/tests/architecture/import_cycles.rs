//! No two files import each other, directly or through others: each file can be read after its imports.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::imports::{Crate, Imports};
use crate::{metadata, no_complaints, root};

#[test]
fn no_files_import_each_other_in_a_circle() {
    let (mut complaints, mut read) = (Vec::new(), 0);
    for package in metadata().workspace_packages() {
        for target in package.targets.iter().filter(|target| target.is_shipped()) {
            let imports = Crate::read(&target.src_path, &|file| std::fs::read_to_string(file).ok()).imports();
            read += imports.len();
            complaints.extend(circles(&imports).iter().map(|circle| complaint(circle, &imports)));
        }
    }
    assert!(read > 500, "only {read} imports were found");
    no_complaints(complaints);
}

fn complaint(circle: &BTreeSet<&Path>, imports: &Imports) -> String {
    let short = |file: &Path| file.strip_prefix(root()).unwrap_or(file).display().to_string();
    let first = circle.first().map(|file| short(file)).unwrap_or_default();
    let inside = imports
        .iter()
        .filter(|((from, to), _)| circle.contains(from.as_path()) && circle.contains(to.as_path()));
    let arrows = inside.map(|((from, to), names)| {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        format!("  {} -> {}: {}", short(from), short(to), names.join(", "))
    });
    let head = format!(
        "{first} is in a circle of {} files: move what they share to a file that imports none of them",
        circle.len()
    );
    std::iter::once(head).chain(arrows).collect::<Vec<_>>().join("\n")
}

/// Sets of more than one file in which each file leads to all the others.
fn circles(imports: &Imports) -> Vec<BTreeSet<&Path>> {
    let mut next: BTreeMap<&Path, Vec<&Path>> = BTreeMap::new();
    for (from, to) in imports.keys() {
        next.entry(from).or_default().push(to);
    }
    let reached = |start: &Path| {
        let mut seen = BTreeSet::new();
        let mut open = next.get(start).cloned().unwrap_or_default();
        while let Some(file) = open.pop() {
            if seen.insert(file) {
                open.extend(next.get(file).into_iter().flatten());
            }
        }
        seen
    };
    let reach: BTreeMap<&Path, BTreeSet<&Path>> = next.keys().map(|file| (*file, reached(file))).collect();
    let both_ways = reach.iter().filter(|(file, seen)| seen.contains(*file)).map(|(file, seen)| {
        seen.iter()
            .copied()
            .filter(|other| reach.get(other).is_some_and(|back| back.contains(file)))
            .collect()
    });
    both_ways.collect::<BTreeSet<_>>().into_iter().collect()
}

/// The imports of a sample crate, each as `from -> to: names`.
fn arrows(files: &[(&str, &str)]) -> Vec<String> {
    let text = |file: &Path| {
        files.iter().find(|(name, _)| Path::new(name) == file).map(|(_, text)| (*text).to_owned())
    };
    let imports = Crate::read(Path::new("lib.rs"), &text).imports();
    let line = |((from, to), names): (&(PathBuf, PathBuf), &BTreeSet<String>)| {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        format!("{} -> {}: {}", from.display(), to.display(), names.join(", "))
    };
    imports.iter().map(line).collect()
}

#[test]
fn an_imported_name_is_traced_to_its_defining_file() {
    let lib = ("lib.rs", "mod a; mod b;");
    let a = ("a.rs", "pub struct One; pub const TWO: u8 = 2; pub fn three() {}");
    for (text, found) in [
        ("use crate::a::{One, TWO as Deux};", "b.rs -> a.rs: One, TWO"),
        ("use super::a::{self}; fn f() { a::three() }", "b.rs -> a.rs: three"),
        ("use crate::a; fn f() -> Vec<a::One> { vec![] }", "b.rs -> a.rs: One"),
        ("fn f() { crate::a::three::<u8>(); }", "b.rs -> a.rs: three"),
        ("fn f() { x(|| super::a::One) }", "b.rs -> a.rs: One"),
        ("mod inner { use crate::a::One; }", "b.rs -> a.rs: One"),
        ("use crate::a::One; fn f() -> &'static One { '\"' }", "b.rs -> a.rs: One"),
    ] {
        assert_eq!(arrows(&[lib, a, ("b.rs", text)]), [found], "{text}");
    }
    for text in [
        "use crate::a;",
        "// crate::a::One\nuse std::fmt;",
        "fn f() -> &'static str { \"crate::a::One\" }",
        "fn f<'a>() { let _ = ('\"', r#\"\"crate::a::One\"#); }",
        "#[cfg(test)] mod tests { use crate::a::One; }",
        "#[cfg(all(test, unix))] #[allow(x)] mod tests { use crate::a::One; }",
        "#[cfg(test)] use crate::a::{One, TWO};",
        "fn f(a: A) { a.crate_a(); other::a::One; }",
    ] {
        assert_eq!(arrows(&[lib, a, ("b.rs", text)]), [] as [&str; 0], "{text}");
    }
}

#[test]
fn a_parent_that_only_re_exports_imports_nothing() {
    let child = ("a/b.rs", "use super::Shared; pub struct B;");
    let other = ("c.rs", "use crate::a::B;");
    let lib = ("lib.rs", "mod a; mod c;");
    let arrows_of = |parent| arrows(&[lib, ("a/mod.rs", parent), child, other]);
    let passes_on = "mod b; pub use b::B; pub struct Shared;";
    assert_eq!(arrows_of(passes_on), ["a/b.rs -> a/mod.rs: Shared", "c.rs -> a/b.rs: B"]);
    let uses = "mod b; pub use b::B; pub struct Shared; fn f(b: &B) {}";
    assert_eq!(arrows_of(uses), ["a/b.rs -> a/mod.rs: Shared", "a/mod.rs -> a/b.rs: B", "c.rs -> a/b.rs: B"]);
}

#[test]
fn a_circle_is_found_once_without_the_files_that_only_lead_to_it() {
    let arrow = |(from, to): (&str, &str)| ((PathBuf::from(from), PathBuf::from(to)), BTreeSet::new());
    let imports: Imports =
        [("a", "b"), ("b", "c"), ("c", "a"), ("d", "a"), ("c", "e"), ("f", "g"), ("g", "f")]
            .map(arrow)
            .into();
    let found: Vec<Vec<&str>> = circles(&imports)
        .iter()
        .map(|circle| circle.iter().filter_map(|file| file.to_str()).collect())
        .collect();
    assert_eq!(found, [vec!["a", "b", "c"], vec!["f", "g"]]);
}
