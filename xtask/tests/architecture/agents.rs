//! Which production files outside `crates/agents` name an agent. The fewer, the less a second agent touches.

use crate::{no_complaints, text, tracked};

/// Files that keep a name, with the reason. Twelve at most.
const NAME_WITH_REASON: [(&str, &str); 11] = [
    ("crates/core/src/ids.rs", "the closed set: rows and the store hold it"),
    ("crates/protocol/src/own/spec.rs", "the closed set as the window and scripts write it"),
    ("crates/cli/src/args/own.rs", "the words of `--agent`"),
    (
        "crates/model-client/src/agent.rs",
        "the words of a start in print mode: it is the model, not a session",
    ),
    ("crates/hooks/src/install/rivals.rs", "names of other memory programs"),
    ("crates/core/src/history/private.rs", "tags of other memory programs"),
    ("crates/service/src/recall_api.rs", "a field of another program's interface"),
    ("crates/protocol/src/memory.rs", "a field of another program's interface"),
    ("crates/history/src/memory/query.rs", "fills that field"),
    ("crates/store/src/tables/document_session.rs", "columns of the source document's database"),
    ("crates/store/src/tables/sessions.rs", "the default of a column: rows of earlier versions"),
];

const AGENTS: [&str; 3] = ["claude", "codex", "gemini"];

/// The lines of production code that name an agent.
fn naming_lines(source: &str) -> Vec<String> {
    let is_module = |at: &usize| {
        let item = source[*at..].lines().find(|line| !line.starts_with("#["));
        item.is_some_and(|line| line.contains("mod "))
    };
    let tests = ["#[cfg(test)]", "#[cfg(all(test"].iter().flat_map(|begin| source.match_indices(begin));
    let end = tests.map(|(at, _)| at).filter(is_module).min().unwrap_or(source.len());
    let code = source[..end].lines().map(|line| line.split("//").next().unwrap_or_default().to_lowercase());
    code.filter(|line| AGENTS.iter().any(|name| line.contains(name))).collect()
}

#[test]
fn only_these_files_outside_their_folders_name_an_agent() {
    let mut complaints = Vec::new();
    for file in tracked() {
        let name = file.to_string_lossy();
        let is_production = name.ends_with(".rs")
            && (name.starts_with("src-tauri/src/")
                || (name.starts_with("crates/") && name.contains("/src/")))
            && !name.starts_with("crates/agents/")
            && !name.starts_with("crates/testkit/")
            && !name.contains("/tests/")
            && !name.ends_with("/tests.rs");
        if !is_production {
            continue;
        }
        let lines = naming_lines(&text(file).expect("Rust is UTF-8"));
        let may = NAME_WITH_REASON.iter().any(|(kept, _)| *kept == name);
        match (lines.is_empty(), may) {
            (true, true) => complaints.push(format!("{name} names no agent: take it off the list")),
            (false, false) => {
                complaints.push(format!(
                    "{name} names an agent: ask `traits` or the enum, or move that into crates/agents"
                ));
            }
            _ => {}
        }
    }
    no_complaints(complaints);
}
