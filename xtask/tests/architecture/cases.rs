//! The lists of cases (`tests/rig/cases*.md`) are whole, and every test that they name is in the tree.

use std::collections::BTreeSet;
use std::path::Path;

use crate::{no_complaints, text, tracked};

const LISTS: [&str; 2] = ["tests/rig/cases.md", "tests/rig/cases-own.md"];

/// Cases have the numbers 1 to this one. None is left for later.
const CASES: usize = 90;

/// A quotation of so many words is the name of a test of the window.
const WORDS_OF_A_NAME: usize = 5;

/// A row of a list: the number of its case, and what shows it.
struct Row {
    number: usize,
    shown_by: String,
}

fn rows(list: &str) -> Vec<Row> {
    let text = text(Path::new(list)).expect("documents are UTF-8");
    let row = |line: &str| {
        let (case, shown_by) = line.strip_prefix("| A")?.split_once(" | ")?;
        let number = case.split(' ').next()?.parse().ok()?;
        Some(Row { number, shown_by: shown_by.trim_end_matches([' ', '|']).to_owned() })
    };
    text.lines().filter_map(row).collect()
}

/// The names that the tree has.
struct Names {
    files: Vec<String>,
    functions: BTreeSet<String>,
    cells: BTreeSet<String>,
    of_the_window: BTreeSet<String>,
}

impl Names {
    fn read() -> Self {
        let mut names = Self {
            files: Vec::new(),
            functions: BTreeSet::new(),
            cells: BTreeSet::new(),
            of_the_window: BTreeSet::new(),
        };
        for file in tracked() {
            let name = file.to_string_lossy().into_owned();
            let words = |before: &'static str, end: char| {
                let text = text(file).unwrap_or_default();
                let named = text.split(before).skip(1).filter_map(|rest| rest.split_once(end));
                named.map(|(name, _)| name.to_owned()).collect::<Vec<_>>()
            };
            if name.ends_with(".rs") {
                names.functions.extend(words("fn ", '('));
            } else if name.starts_with("tests/rig/") && name.ends_with(".py") {
                let cells = words("\ndef ", '(').into_iter();
                names.cells.extend(cells.map(|name| name.replace('_', "-")));
            } else if name.starts_with("ui/") && name.contains(".test.") {
                names.of_the_window.extend(words("test(\"", '"'));
            }
            names.files.push(name);
        }
        names
    }

    fn has_file(&self, wanted: &str) -> bool {
        self.files.iter().any(|file| file == wanted || file.ends_with(&format!("/{wanted}")))
            || Path::new(wanted).extension().is_none()
                && self.files.iter().any(|file| file.starts_with(&format!("{wanted}/")))
    }
}

/// The names in a row that the tree lacks.
fn missing(shown_by: &str, names: &Names) -> Vec<String> {
    let mut missing = Vec::new();
    let mut in_cells = false;
    for (part, is_code) in shown_by.split('`').zip([false, true].into_iter().cycle()) {
        if !is_code {
            // A list of cells goes on as long as only commas stand between.
            in_cells = part.trim_end().ends_with("cell")
                || part.trim_end().ends_with("cells")
                || in_cells && matches!(part.trim(), "," | "and");
            continue;
        }
        let is_name =
            part.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
        let is_file = [".rs", ".ts", ".js", ".py", ".md"].iter().any(|end| part.ends_with(end));
        let is_there = if in_cells {
            names.cells.contains(part)
        } else if is_file {
            names.has_file(part)
        } else if is_name && part.matches('_').count() >= 2 {
            names.functions.contains(part)
        } else {
            true
        };
        if !is_there {
            missing.push(part.to_owned());
        }
    }
    let quotations = shown_by.split('"').skip(1).step_by(2);
    missing.extend(
        quotations
            .filter(|said| said.split(' ').count() >= WORDS_OF_A_NAME && !names.of_the_window.contains(*said))
            .map(str::to_owned),
    );
    missing
}

#[test]
fn every_case_is_listed_once_in_a_list_and_shown_or_limited() {
    let mut complaints = Vec::new();
    let mut listed = BTreeSet::new();
    for list in LISTS {
        let mut before = BTreeSet::new();
        for Row { number, shown_by } in rows(list) {
            if !before.insert(number) {
                complaints.push(format!("{list}: A{number} stands twice"));
            }
            if shown_by.is_empty() {
                complaints.push(format!("{list}: nothing shows A{number}, and no limit is said"));
            }
        }
        listed.extend(before);
    }
    complaints.extend(
        (1..=CASES)
            .filter(|number| !listed.contains(number))
            .map(|number| format!("A{number} is in no list")),
    );
    complaints.extend(listed.range(CASES + 1..).map(|number| format!("A{number} is no case")));
    no_complaints(complaints);
}

#[test]
fn every_test_that_a_case_names_exists() {
    let names = Names::read();
    assert!(names.functions.len() > 1000 && names.cells.len() > 30 && names.of_the_window.len() > 100);
    let mut complaints = Vec::new();
    for list in LISTS {
        for row in rows(list) {
            let missing = missing(&row.shown_by, &names).into_iter();
            complaints.extend(
                missing.map(|name| format!("{list}: A{} names {name}, which is not there", row.number)),
            );
        }
    }
    no_complaints(complaints);
}

#[test]
fn names_that_are_not_there_are_found() {
    let set = |name: &str| BTreeSet::from([name.to_owned()]);
    let names = Names {
        files: vec!["ui/src/card.test.ts".to_owned()],
        functions: set("a_test_of_rust"),
        cells: set("a-cell"),
        of_the_window: set("a test of the window"),
    };
    let there =
        "cells `a-cell`, `a-cell`; `a_test_of_rust`, `card.test.ts`, \"a test of the window\", `watchbill x`";
    assert_eq!(missing(there, &names), Vec::<String>::new());
    let gone = "cell `a-cell`, `b-cell`; `no_test_of_rust` and `no.test.ts`; \"no test of the window\"";
    assert_eq!(missing(gone, &names), ["b-cell", "no_test_of_rust", "no.test.ts", "no test of the window"]);
}
