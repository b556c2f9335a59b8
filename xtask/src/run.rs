//! `cargo xtask run`: from a fresh clone to the open window.

use std::process::ExitCode;

use anyhow::Result;

use crate::call::Call;
use crate::node;
use crate::options::RunOptions;
use crate::packages;
use crate::steps::Need;
use crate::test;
use crate::tree::Tree;

/// Options of the window that the command line has too; the next word is their value.
const SHARED_OPTIONS: &[&str] = &["--claude-dir", "--data-dir", "--config"];
/// The same, without a value.
const SHARED_SWITCHES: &[&str] = &["--demo"];

/// Installs, builds, and starts the window.
pub fn run(tree: &Tree, options: &RunOptions) -> Result<ExitCode> {
    if !has_display() {
        println!(
            "There is no display here (neither DISPLAY nor WAYLAND_DISPLAY is set), so no window can be opened.\n\
             This is the same roster, printed by the command line:\n"
        );
        return in_terminal(tree, options);
    }
    packages::provide(tree, &[Need::Compile, Need::Node])?;
    test::ui_install(tree)?;
    node::npm(tree).args(["--prefix", "ui", "run", "build"]).run()?;
    let profile = if options.debug { "debug" } else { "release" };
    if !options.debug && !tree.program(profile, "watchbill-desktop").is_file() {
        println!(
            "The first build takes some minutes (five on two cores); `--debug` halves that, for a slower program."
        );
    }
    build(
        tree,
        options.debug,
        &["watchbill-desktop", "watchbill", "watchbill-host", "watchbill-model-client"],
    )?;
    let window = Call::new(tree.root(), tree.program(profile, "watchbill-desktop")).args(&options.arguments);
    Ok(exit_code(window.status()?))
}

fn in_terminal(tree: &Tree, options: &RunOptions) -> Result<ExitCode> {
    // The command line links no web view, so it needs only a compiler, and cargo has already proved that there is
    // one.
    build(tree, options.debug, &["watchbill", "watchbill-host", "watchbill-model-client"])?;
    let profile = if options.debug { "debug" } else { "release" };
    let (arguments, dropped) = for_command_line(&options.arguments);
    if !dropped.is_empty() {
        println!("Ignored, since only the window has it: {}", dropped.join(" "));
    }
    let roster = Call::new(tree.root(), tree.program(profile, "watchbill")).args(["roster"]).args(arguments);
    Ok(exit_code(roster.status()?))
}

fn build(tree: &Tree, debug: bool, packages: &[&str]) -> Result<()> {
    let mut call = Call::new(tree.root(), "cargo").args(["build", "--locked"]);
    if !debug {
        call = call.args(["--release"]);
    }
    call.args(packages.iter().flat_map(|package| ["--package", package])).run()
}

fn has_display() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    !cfg!(target_os = "linux") || set("DISPLAY") || set("WAYLAND_DISPLAY")
}

fn exit_code(status: std::process::ExitStatus) -> ExitCode {
    status.code().and_then(|code| u8::try_from(code).ok()).map_or(ExitCode::FAILURE, ExitCode::from)
}

/// The arguments that the command line accepts too, and the others.
fn for_command_line(arguments: &[String]) -> (Vec<String>, Vec<String>) {
    let (mut kept, mut dropped) = (Vec::new(), Vec::new());
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let name = word.split('=').next().unwrap_or(word);
        if SHARED_SWITCHES.contains(&name) {
            kept.push(word.clone());
            continue;
        }
        if !SHARED_OPTIONS.contains(&name) {
            dropped.push(word.clone());
            continue;
        }
        kept.push(word.clone());
        if !word.contains('=') {
            kept.extend(words.next().cloned());
        }
    }
    (kept, dropped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_a_window_its_own_options_are_dropped_and_named() {
        let arguments =
            ["--claude-dir", "a", "--demo", "--config=b", "--hidden", "--session=c"].map(str::to_owned);
        let (kept, dropped) = for_command_line(&arguments);
        assert_eq!(kept, ["--claude-dir", "a", "--demo", "--config=b"]);
        assert_eq!(dropped, ["--hidden", "--session=c"]);
    }
}
