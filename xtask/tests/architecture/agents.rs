//! Which production files outside `crates/agents` name an agent. The fewer, the less a second agent touches.

use crate::{no_complaints, text, tracked};

/// Files that keep a name, with the reason. Twelve at most.
const NAME_WITH_REASON: [(&str, &str); 12] = [
    ("crates/core/src/ids.rs", "the closed set: rows and the store hold it"),
    ("crates/protocol/src/own/spec.rs", "the closed set as the window and scripts write it"),
    ("crates/cli/src/args.rs", "the option `--claude-dir`"),
    ("crates/cli/src/args/own.rs", "the words of `--agent`"),
    ("src-tauri/src/options.rs", "the option `--claude-dir` of the window"),
    ("crates/settings/src/precedence.rs", "the variable `WATCHBILL_CLAUDE_DIR`"),
    ("crates/hooks/src/install/rivals.rs", "names of other memory programs"),
    ("crates/core/src/history/private.rs", "tags of other memory programs"),
    ("crates/service/src/recall_api.rs", "a field of another program's interface"),
    ("crates/protocol/src/memory.rs", "a field of another program's interface"),
    ("crates/history/src/memory/query.rs", "fills that field"),
    ("crates/store/src/tables/document_session.rs", "columns of the source document's database"),
];

/// Files that wait for their move. A file leaves this list, and none enters it.
const STILL_NAME: &[&str] = &[
    "crates/cli/src/commands/context.rs",
    "crates/cli/src/commands/hooks.rs",
    "crates/cli/src/commands/open.rs",
    "crates/cli/src/commands/own/run.rs",
    "crates/cli/src/commands/serve.rs",
    "crates/core/src/history/settings.rs",
    "crates/core/src/hook/payload.rs",
    "crates/core/src/requests/marks.rs",
    "crates/core/src/transcript/prompt_source.rs",
    "crates/engine/src/demo.rs",
    "crates/engine/src/hook_setup.rs",
    "crates/history/src/memory/context.rs",
    "crates/history/src/memory/model.rs",
    "crates/history/src/memory/model/state.rs",
    "crates/hooks/src/install/client.rs",
    "crates/hooks/src/install/scope.rs",
    "crates/memory/src/agent.rs",
    "crates/settings/src/settings.rs",
    "crates/settings/src/values.rs",
    "crates/store/src/tables/sessions.rs",
    "crates/watch/src/scan.rs",
    "src-tauri/src/engine.rs",
    "src-tauri/src/own.rs",
    "src-tauri/src/tray/face.rs",
];

/// Files that only import from the folder of Claude Code, because its files are the only ones that are watched.
const IMPORT: &[&str] = &[
    "crates/cli/src/commands/hook_answer.rs",
    "crates/cli/src/commands/hook_context.rs",
    "crates/engine/src/environment.rs",
    "crates/engine/src/index/states_ahead.rs",
    "crates/engine/src/live_state.rs",
    "crates/engine/src/model/sessions.rs",
    "crates/engine/src/model/verdict.rs",
    "crates/engine/src/named_files.rs",
    "crates/engine/src/prompt.rs",
    "crates/engine/src/socket/ask.rs",
    "crates/engine/src/step/ingest.rs",
    "crates/engine/src/step/processes.rs",
    "crates/engine/src/step/questions.rs",
    "crates/engine/src/step/reconcile.rs",
    "crates/engine/src/step/requests.rs",
    "crates/engine/src/transcripts.rs",
    "crates/engine/src/transcripts/beside.rs",
    "crates/engine/src/transcripts/stored_state.rs",
    "crates/engine/src/witnesses/folders.rs",
    "crates/engine/src/witnesses/markers.rs",
    "crates/engine/src/witnesses/registry.rs",
    "crates/engine/src/witnesses/status_files.rs",
    "crates/history/src/archive/archive_candidates.rs",
    "crates/history/src/archive/archive_work.rs",
    "crates/history/src/index/file.rs",
    "crates/history/src/index/files.rs",
    "crates/history/src/index/index_observer.rs",
    "crates/history/src/live_state.rs",
    "crates/history/src/query/owner.rs",
    "crates/history/src/query/timeline/agents.rs",
    "crates/history/src/removal/exclude_later.rs",
    "crates/history/src/worker/intake.rs",
    "crates/hooks/src/ancestors.rs",
    "crates/hooks/src/sender.rs",
    "crates/watch/src/plan.rs",
    "crates/watch/src/route.rs",
];

const AGENTS: [&str; 3] = ["claude", "codex", "gemini"];

/// The lines of production code that name an agent.
fn naming_lines(source: &str) -> Vec<String> {
    let production = ["#[cfg(test)]\nmod", "#[cfg(all(test"]
        .iter()
        .fold(source, |rest, begin| rest.split(begin).next().unwrap_or_default());
    let code = production.lines().map(|line| line.split("//").next().unwrap_or_default().to_lowercase());
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
        let only_imports = lines.iter().all(|line| line.contains("watchbill_agents::claude"));
        let may = NAME_WITH_REASON.iter().any(|(kept, _)| *kept == name) || STILL_NAME.contains(&&*name);
        let listed = may || IMPORT.contains(&&*name);
        match (lines.is_empty(), only_imports) {
            (true, _) if listed => complaints.push(format!("{name} names no agent: take it off the list")),
            (false, true) if !listed => {
                complaints
                    .push(format!("{name} imports from the folder of one agent: ask `traits` or the enum"));
            }
            (false, false) if !may => {
                complaints.push(format!("{name} names an agent: move that into crates/agents"));
            }
            _ => {}
        }
    }
    no_complaints(complaints);
}
