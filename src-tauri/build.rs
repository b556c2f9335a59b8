//! Generates the permissions of our own commands, and a placeholder page if the window has not been built yet.

#![forbid(unsafe_code)]

use std::path::Path;

/// Every command of `src/commands.rs`. Tauri allows no other command, and each of these only where a
/// capability grants it.
const COMMANDS: &[&str] = &["ask", "subscribe", "unsubscribe", "looking_at"];

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
