//! `cargo xtask test`: all tests, without a desktop, the cheap ones first.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::call::Call;
use crate::cross;
use crate::model;
use crate::node;
use crate::options::TestOptions;
use crate::packages;
use crate::rig;
use crate::sandbox;
use crate::skipped_tests;
use crate::steps::{self, Need, Outcome, Step};
use crate::tree::{Tree, on_path};

/// The test program that opens real windows; it runs last.
const DESKTOP: &str = "desktop";
/// The test program that starts real terminals.
const TERMINALS: &str = "terminals";
/// The test programs that need a display.
const WITH_DISPLAY: &[&str] = &[DESKTOP, TERMINALS];

/// All steps, in order. From `clippy` on, each step selects the whole workspace (the tests exclude this package), so
/// that no dependency is built twice with different features.
const STEPS: &[Step] = &[
    Step { name: "fmt", shows: "the Rust code is formatted", needs: &[], beside: false, work: fmt },
    Step {
        name: "architecture",
        shows: "dependencies between crates, licences, and other rules of the tree",
        needs: &[],
        beside: false,
        work: architecture,
    },
    Step {
        name: "deny",
        shows: "licences, duplicates and sources, where cargo-deny is installed",
        needs: &[],
        beside: false,
        work: deny,
    },
    Step {
        name: "ui-install",
        shows: "the packages of the window, as locked",
        needs: &[Need::Node],
        beside: false,
        work: ui_install,
    },
    Step {
        name: "ui-check",
        shows: "types of the window",
        needs: &[Need::Node],
        beside: false,
        work: ui_check,
    },
    Step {
        name: "ui-unit",
        shows: "units and components of the window",
        needs: &[Need::Node],
        beside: false,
        work: ui_unit,
    },
    Step {
        name: "ui-build",
        shows: "the window can be built",
        needs: &[Need::Node],
        beside: false,
        work: ui_build,
    },
    Step {
        name: "clippy",
        shows: "no warning in any target",
        needs: &[Need::Compile],
        beside: false,
        work: clippy,
    },
    Step {
        name: "doc",
        shows: "the documentation builds without warnings",
        needs: &[Need::Compile],
        beside: false,
        work: doc,
    },
    // The tests mostly wait, so the compiler has the time beside them.
    Step {
        name: "cross",
        shows: "no warning in any target for Windows and macOS, where Debian's packages for it are",
        needs: &[Need::Cross],
        beside: true,
        work: cross::step,
    },
    Step {
        name: "rust",
        shows: "units, properties, scenarios, snapshots, and that the window has the protocol's types",
        needs: &[Need::Compile],
        beside: false,
        work: rust,
    },
    // It mostly waits for the clients.
    Step {
        name: "rig",
        shows: "the real client, driven: no false and no missed \"needs you\"",
        needs: &[Need::Compile, Need::Node, Need::Rig, Need::Headless],
        beside: true,
        work: rig::step,
    },
    Step {
        name: "model",
        shows: "a real small model, asked: nothing invented passes, no process stays",
        needs: &[Need::Compile, Need::Rig],
        beside: false,
        work: model::step,
    },
    Step {
        name: "ui-browser",
        shows: "the window's pages in a browser",
        needs: &[Need::Node, Need::Browser],
        beside: false,
        work: ui_browser,
    },
    Step {
        name: "terminals",
        shows: "real terminals on a display of their own: the tab, the pane, the window in front",
        needs: &[Need::Compile, Need::Headless, Need::Terminals],
        beside: false,
        work: terminals,
    },
    Step {
        name: "desktop",
        shows: "the real window and tray on a display and bus of their own",
        needs: &[Need::Compile, Need::Headless],
        beside: false,
        work: desktop,
    },
];

/// Runs the steps that the command line names.
pub fn test(tree: &Tree, options: &TestOptions) -> Result<ExitCode> {
    if options.list {
        for step in STEPS {
            println!("{:<14} {}", step.name, step.shows);
        }
        return Ok(ExitCode::SUCCESS);
    }
    let chosen = choose(&options.only)?;
    let needs: Vec<Need> = chosen.iter().flat_map(|step| step.needs.iter().copied()).collect();
    packages::provide(tree, &needs)?;
    sandbox::prepare_runner(tree)?;
    let tally = steps::run(tree, &chosen, options.keep_going);
    println!("{}", tally.report());
    Ok(if tally.is_good() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn choose(only: &[String]) -> Result<Vec<&'static Step>> {
    for name in only {
        if !STEPS.iter().any(|step| step.name == name) {
            let names: Vec<_> = STEPS.iter().map(|step| step.name).collect();
            bail!("`{name}` is not a step; there are: {}", names.join(", "));
        }
    }
    Ok(STEPS.iter().filter(|step| only.is_empty() || only.iter().any(|name| name == step.name)).collect())
}

fn cargo(tree: &Tree) -> Call {
    Call::new(tree.root(), "cargo").without_own_settings()
}

fn npm(tree: &Tree) -> Call {
    node::npm(tree).without_own_settings().args(["--prefix", "ui"])
}

fn fmt(tree: &Tree) -> Result<Outcome> {
    cargo(tree).args(["fmt", "--all", "--check"]).run()?;
    Ok(Outcome::Done)
}

fn architecture(tree: &Tree) -> Result<Outcome> {
    // Only this package: cargo has just built most of it to run this program.
    cargo(tree).args(["test", "--quiet", "--locked", "--package", "xtask"]).run()?;
    Ok(Outcome::Done)
}

fn deny(tree: &Tree) -> Result<Outcome> {
    if !on_path(&std::env::var_os("PATH").unwrap_or_default(), "cargo-deny") {
        let why =
            "cargo-deny is not installed (`cargo install cargo-deny --locked`); licences were checked above";
        return Ok(Outcome::NotRun(why.to_owned()));
    }
    // Without the advisories: their database is a remote git repository, and a test must not depend on it.
    cargo(tree).args(["deny", "--locked", "check", "licenses", "bans", "sources"]).run()?;
    Ok(Outcome::Done)
}

/// Installs the locked packages, unless exactly these are installed already.
pub fn ui_install(tree: &Tree) -> Result<Outcome> {
    let lock = tree.path("ui/package-lock.json");
    let wanted = fs::read(&lock).with_context(|| format!("could not read {}", lock.display()))?;
    let seen = tree.target("ui-package-lock.json");
    let modules = tree.path("ui/node_modules");
    if modules.is_dir() && fs::read(&seen).is_ok_and(|installed| installed == wanted) {
        println!("  as locked already");
        return Ok(Outcome::Done);
    }
    npm(tree).args(["ci", "--no-audit", "--no-fund"]).run()?;
    fs::create_dir_all(tree.target(""))?;
    fs::write(&seen, wanted).with_context(|| format!("could not write {}", seen.display()))?;
    Ok(Outcome::Done)
}

fn ui_check(tree: &Tree) -> Result<Outcome> {
    npm(tree).args(["run", "check"]).run()?;
    Ok(Outcome::Done)
}

fn ui_unit(tree: &Tree) -> Result<Outcome> {
    npm(tree).args(["run", "test"]).run()?;
    Ok(Outcome::Done)
}

fn ui_build(tree: &Tree) -> Result<Outcome> {
    npm(tree).args(["run", "build"]).run()?;
    Ok(Outcome::Done)
}

fn ui_browser(tree: &Tree) -> Result<Outcome> {
    let Some(chromium) = packages::chromium() else {
        let why = "there is no Chromium here, and this system offers it only as a snap; \
                   name one in the variable CHROMIUM. The same pages run in the real window in the step `desktop`";
        return Ok(Outcome::NotRun(why.to_owned()));
    };
    npm(tree).env("CHROMIUM", chromium).args(["run", "test:browser"]).run()?;
    Ok(Outcome::Done)
}

fn clippy(tree: &Tree) -> Result<Outcome> {
    cargo(tree).args(["clippy", "--workspace", "--all-targets", "--locked", "--", "-D", "warnings"]).run()?;
    Ok(Outcome::Done)
}

fn doc(tree: &Tree) -> Result<Outcome> {
    let mut call = cargo(tree).env("RUSTDOCFLAGS", "-D warnings");
    // With clippy's own settings, cargo reuses clippy's results for our crates and need not check them again.
    if let Some(driver) = clippy_driver(tree) {
        call = call
            .env("RUSTC_WORKSPACE_WRAPPER", driver)
            .env("CLIPPY_ARGS", "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__");
    }
    call.args(["doc", "--workspace", "--no-deps", "--locked"]).run()?;
    Ok(Outcome::Done)
}

/// The compiler with clippy's lints, as `cargo clippy` starts it.
fn clippy_driver(tree: &Tree) -> Option<PathBuf> {
    let sysroot = Call::new(tree.root(), "rustc").args(["--print", "sysroot"]).quiet_output()?;
    let name = format!("clippy-driver{}", std::env::consts::EXE_SUFFIX);
    Some(Path::new(sysroot.trim_end()).join("bin").join(name)).filter(|driver| driver.is_file())
}

/// A cargo call whose test programs each get a home of their own.
fn tests(tree: &Tree, words: &[&str]) -> Result<Call> {
    let host = cargo(tree)
        .args(["--version", "--verbose"])
        .quiet_output()
        .and_then(|text| text.lines().find_map(|line| line.strip_prefix("host: ").map(str::to_owned)))
        .context("`cargo --version --verbose` did not name this machine's platform")?;
    let runner = sandbox::runner(tree);
    let runner =
        runner.to_str().context("the build folder's path is not UTF-8, which cargo's settings need")?;
    let noted = skipped_tests::file(tree);
    if let Some(folder) = noted.parent() {
        fs::create_dir_all(folder).with_context(|| format!("could not create {}", folder.display()))?;
    }
    Ok(cargo(tree)
        .env(skipped_tests::SKIPPED_FILE_VARIABLE, noted)
        .env("WATCHBILL_PROGRAMS_BUILT", "1")
        .args(words)
        // Without this package, whose tests have run before: cargo would link it anew while it runs.
        .args(["--workspace", "--exclude", "xtask", "--locked"])
        .args(["--config", &sandbox::runner_setting(&host, runner)]))
}

fn has_nextest() -> bool {
    on_path(&std::env::var_os("PATH").unwrap_or_default(), "cargo-nextest")
}

fn rust(tree: &Tree) -> Result<Outcome> {
    let targets = targets(tree)?;
    let of_kind = |kind: &'static str| targets.iter().filter(move |(is, _)| is == kind).map(|(_, name)| name);
    if has_nextest() {
        // nextest fails on a filter that names a missing binary.
        let there = WITH_DISPLAY.iter().filter(|name| of_kind("test").any(|target| target == *name));
        let selection = there.fold("all()".to_owned(), |all, name| format!("{all} and not binary(={name})"));
        // The tests mostly wait for programs that they start.
        let threads = std::thread::available_parallelism().map_or(2, usize::from) + 1;
        let call = tests(tree, &["nextest", "run"])?.args(["--no-fail-fast", "-E", &selection]);
        call.args(["--test-threads", &threads.to_string()]).run()?;
    } else {
        let mut words = vec!["--no-fail-fast", "--lib"];
        words.extend(of_kind("bin").flat_map(|name| ["--bin", name]));
        let tests_without = of_kind("test").filter(|name| !WITH_DISPLAY.contains(&name.as_str()));
        words.extend(tests_without.flat_map(|name| ["--test", name]));
        tests(tree, &["test"])?.args(words).run()?;
    }
    Ok(Outcome::Done)
}

/// Kinds and names of all targets with tests, without this package's, which have run before.
fn targets(tree: &Tree) -> Result<BTreeSet<(String, String)>> {
    let metadata = cargo(tree)
        .args(["metadata", "--format-version", "1", "--no-deps", "--locked"])
        .quiet_output()
        .context("`cargo metadata` failed; `cargo metadata --locked` says why")?;
    let metadata: Value = serde_json::from_str(&metadata).context("`cargo metadata` printed no JSON")?;
    let packages = metadata["packages"].as_array().into_iter().flatten();
    let targets = packages
        .filter(|package| package["name"] != "xtask")
        .flat_map(|package| package["targets"].as_array().into_iter().flatten())
        .filter(|target| target["test"] == true);
    let named =
        |target: &Value| Some((target["kind"][0].as_str()?.to_owned(), target["name"].as_str()?.to_owned()));
    Ok(targets.filter_map(named).collect())
}

fn terminals(tree: &Tree) -> Result<Outcome> {
    tests(tree, &["test"])?.args(["--test", TERMINALS, "--", "--test-threads", "2"]).run()?;
    Ok(Outcome::Done)
}

fn desktop(tree: &Tree) -> Result<Outcome> {
    // Hook processes and `serve` are programs of another package than the window.
    let programs = ["watchbill", "watchbill-host"].map(|program| ["--bin", program]).concat();
    cargo(tree).args(["build", "--workspace", "--exclude", "xtask", "--locked"]).args(programs).run()?;
    tests(tree, &["test"])?.args(["--test", DESKTOP]).run()?;
    Ok(Outcome::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_chosen_by_name_and_keep_their_order() {
        let names = |only: &[&str]| {
            let only: Vec<String> = only.iter().map(|name| (*name).to_owned()).collect();
            choose(&only).map(|steps| steps.iter().map(|step| step.name).collect::<Vec<_>>())
        };
        assert_eq!(names(&["desktop", "fmt"]).unwrap(), ["fmt", "desktop"]);
        assert_eq!(names(&[]).unwrap().len(), STEPS.len());
        assert!(names(&["nonsense"]).unwrap_err().to_string().contains("there are: fmt, "));
    }
}
