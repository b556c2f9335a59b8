//! Every dependency, of the programs and of the window, has a licence that allows redistribution.

use serde_json::Value;

use crate::{metadata, no_complaints, root};

/// Allowed licences for parts of this program. MPL-2.0 applies per file: an unchanged file only requires the
/// licence's text.
const ALLOWED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BlueOak-1.0.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "MPL-2.0",
    "Python-2.0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Allowed for packages of the window's tools, which are not in the window itself: licences for texts or data.
const TOOLS_ALLOWED: &[&str] = &["CC-BY-4.0", "CC-BY-3.0"];

#[test]
fn every_crate_comes_under_an_allowed_licence() {
    let mut complaints = Vec::new();
    for package in &metadata().packages {
        match &package.license {
            None => complaints.push(format!("{} {} names no licence", package.name, package.version)),
            Some(expression) if !is_allowed(expression, ALLOWED) => complaints.push(format!(
                "{} {} comes under `{expression}`, which is not on the list of licences we pass on",
                package.name, package.version
            )),
            Some(_) => {}
        }
    }
    no_complaints(complaints);
}

#[test]
fn every_package_of_the_window_comes_under_an_allowed_licence() {
    let path = root().join("ui/package-lock.json");
    let lock = std::fs::read_to_string(&path).expect("ui/package-lock.json is committed");
    let lock: Value = serde_json::from_str(&lock).expect("ui/package-lock.json is JSON");
    let packages = lock["packages"].as_object().expect("ui/package-lock.json lists packages");
    let mut complaints = Vec::new();
    for (name, package) in packages.iter().filter(|(name, _)| !name.is_empty()) {
        let mut allowed = ALLOWED.to_vec();
        if package["dev"] == true {
            allowed.extend(TOOLS_ALLOWED);
        }
        match package["license"].as_str() {
            None => complaints.push(format!("{name} names no licence")),
            Some(expression) if !is_allowed(expression, &allowed) => {
                complaints.push(format!("{name} comes under `{expression}`, which is not on the list"));
            }
            Some(_) => {}
        }
    }
    no_complaints(complaints);
}

/// Evaluates an SPDX expression: `OR` needs one side, `AND` both. An unreadable expression is not allowed.
fn is_allowed(expression: &str, allowed: &[&str]) -> bool {
    // Before SPDX, a slash meant a choice.
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut reader = Reader { words: &words, allowed };
    let verdict = reader.choice();
    reader.words.is_empty() && verdict == Some(true)
}

/// Parses an expression from the left; `None` is a syntax error.
struct Reader<'a> {
    words: &'a [&'a str],
    allowed: &'a [&'a str],
}

impl<'a> Reader<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let (first, rest) = self.words.split_first()?;
        self.words = rest;
        Some(first)
    }

    fn next_is(&mut self, word: &str) -> bool {
        let is = self.words.first() == Some(&word);
        if is {
            self.words = &self.words[1..];
        }
        is
    }

    fn choice(&mut self) -> Option<bool> {
        let mut verdict = self.together()?;
        while self.next_is("OR") {
            verdict |= self.together()?;
        }
        Some(verdict)
    }

    fn together(&mut self) -> Option<bool> {
        let mut verdict = self.one()?;
        while self.next_is("AND") {
            verdict &= self.one()?;
        }
        Some(verdict)
    }

    fn one(&mut self) -> Option<bool> {
        if self.next_is("(") {
            let verdict = self.choice()?;
            return self.next_is(")").then_some(verdict);
        }
        let name = self.next()?;
        if self.next_is("WITH") {
            let whole = format!("{name} WITH {}", self.next()?);
            return Some(self.allowed.contains(&whole.as_str()));
        }
        Some(self.allowed.contains(&name))
    }
}

#[test]
fn spdx_expressions_are_evaluated() {
    let allowed = ["MIT", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "Unicode-3.0"];
    for (expression, verdict) in [
        ("MIT", true),
        ("GPL-3.0-only", false),
        ("MIT OR GPL-3.0-only", true),
        ("MIT AND GPL-3.0-only", false),
        ("(MIT OR GPL-3.0-only) AND Unicode-3.0", true),
        ("GPL-3.0-only OR MIT AND Unicode-3.0", true),
        ("(GPL-3.0-only OR MIT) AND LGPL-2.1-or-later", false),
        ("MIT/Apache-2.0", true),
        ("Apache-2.0 WITH LLVM-exception", true),
        ("Apache-2.0 WITH Classpath-exception-2.0", false),
        ("", false),
        ("MIT OR", false),
        ("(MIT", false),
        ("MIT Apache-2.0", false),
    ] {
        assert_eq!(is_allowed(expression, &allowed), verdict, "{expression}");
    }
}
