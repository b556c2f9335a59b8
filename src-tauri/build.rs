//! Generates the permissions of our own commands, and a placeholder page if the window has not been built yet.

#![forbid(unsafe_code)]

use std::path::Path;

/// Every command of `src/commands.rs` and below it. Tauri allows no other command, and each of these only where a
/// capability grants it.
const COMMANDS: &[&str] = &[
    "roster_subscribe",
    "session_why",
    "session_chain",
    "session_head",
    "session_timeline",
    "newest_items",
    "agent_timeline",
    "timeline_place",
    "search",
    "doctor",
    "open_folder",
    "focus_terminal",
    "resume_command",
    "start_demo",
    "mute",
    "looking_at",
    "settings",
    "settings_subscribe",
    "change_settings",
    "archive_offer",
    "open_settings",
    "service_state",
    "hooks_status",
    "hooks_preview",
    "hooks_change",
    "shell_subscribe",
    "set_compact",
    "autostart",
    "set_autostart",
    "shortcut",
    "rename_chain",
    "join_chains",
    "split_chain",
    "accept_link",
    "reject_link",
    "undo_chain",
    "snooze",
    "answer_request",
    "put_away",
    "memory_page",
    "work_summary",
    "memory_detail",
    "memory_preview",
    "memory_change",
    "own_choices",
    "own_start",
    "own_resume",
    "own_attach",
    "own_detach",
    "own_command",
    "open_link",
];

/// Stands in for the window's page on a fresh clone, so that `cargo check` needs no Node.
const PLACEHOLDER: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Watchbill</title>\
    <p>The window has not been built. Run <code>cargo xtask run</code>.</p></html>\n";

fn main() {
    let page = Path::new("../ui/dist/index.html");
    if !page.exists() {
        let written = page.parent().map_or(Ok(()), std::fs::create_dir_all);
        if let Err(error) = written.and_then(|()| std::fs::write(page, PLACEHOLDER)) {
            println!("cargo::warning=cannot write the placeholder page {}: {error}", page.display());
        }
    }
    println!("cargo::rerun-if-changed=../ui/dist/index.html");
    let attributes = tauri_build::Attributes::new()
        .config_path("../tauri.conf.json")
        .app_manifest(tauri_build::AppManifest::new().commands(COMMANDS));
    if let Err(error) = tauri_build::try_build(attributes) {
        println!("cargo::error=tauri-build: {error:#}");
    }
}
