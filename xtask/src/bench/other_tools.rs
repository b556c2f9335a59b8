//! Other programs that read the same files, for comparison.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::Result;

use super::Bench;
use crate::call::Call;
use crate::node;
use crate::tree::on_path;

/// Adds up the tokens of all transcripts; an exact version, so that its next release changes no number here.
const CCUSAGE: &str = "20.0.24";

/// A program to compare with.
pub struct Rival {
    /// Its name and version, for the table.
    pub name: String,
    /// Its command line.
    pub call: Call,
    /// Exit codes that mean success.
    pub good_ends: &'static [i32],
    /// The home with its index: made anew before each run, so that each run is complete.
    pub fresh_home: Option<Home>,
}

/// A home in which a program finds the histories at their usual place.
pub struct Home {
    folder: PathBuf,
    claude_dir: PathBuf,
}

/// The programs that this machine has. The missing ones are reported.
pub fn present(bench: &Bench, claude_dir: &Path) -> Vec<Rival> {
    let mut rivals = Vec::new();
    if on_path(&std::env::var_os("PATH").unwrap_or_default(), "rg") {
        let call = Call::new(bench.tree.root(), "rg")
            .args(["--no-ignore", "--hidden", "-c", "compact_boundary"])
            .args([claude_dir.join("projects")]);
        // ripgrep exits with 1 when it finds nothing.
        rivals.push(Rival {
            name: "rg -c compact_boundary".to_owned(),
            call,
            good_ends: &[0, 1],
            fresh_home: None,
        });
    } else {
        println!("  NOT COMPARED with ripgrep: there is no `rg` here");
    }
    match ccusage(bench, claude_dir) {
        Ok(rival) => rivals.push(rival),
        Err(error) => println!("  NOT COMPARED with ccusage: {error:#}"),
    }
    rivals
}

fn ccusage(bench: &Bench, claude_dir: &Path) -> Result<Rival> {
    let folder = bench.tree.target("bench-tools");
    let program = folder.join("node_modules/.bin/ccusage");
    if !program.exists() {
        fs::create_dir_all(&folder)?;
        fs::write(folder.join("package.json"), "{ \"private\": true }\n")?;
        node::npm(bench.tree)
            .args(["install", "--no-audit", "--no-fund", "--no-save", "--prefix"])
            .args([&folder])
            .args([format!("ccusage@{CCUSAGE}")])
            .run()?;
    }
    let home = bench.tree.target("bench-home");
    fs::create_dir_all(&home)?;
    let call = Call::new(bench.tree.root(), native(&folder)?.unwrap_or(program))
        .env("PATH", crate::node::search_path(bench.tree))
        .env("HOME", &home)
        .env("XDG_CONFIG_HOME", home.join(".config"))
        .env("CLAUDE_CONFIG_DIR", claude_dir)
        .args(["daily", "--json", "--offline"]);
    Ok(Rival { name: format!("ccusage {CCUSAGE}"), call, good_ends: &[0], fresh_home: None })
}

/// The program itself, without the script that searches for it: the comparison is about reading alone.
fn native(folder: &Path) -> Result<Option<PathBuf>> {
    let Ok(packages) = fs::read_dir(folder.join("node_modules/@ccusage")) else { return Ok(None) };
    let programs = packages.flatten().map(|package| package.path().join("bin/ccusage"));
    let program = programs.into_iter().find(|program| program.is_file());
    if let Some(program) = &program {
        // npm unpacks it without the executable bit, which the script would set.
        fs::set_permissions(program, fs::Permissions::from_mode(0o755))?;
    }
    Ok(program)
}

/// Programs from PyPI that index the same texts, also in exact versions. Each is called as its help describes one run
/// without a server that stays.
const INDEXERS: [(&str, &str, &str, &[&str]); 2] = [
    ("agentsview", "0.46.1", "agentsview", &["sync", "--full"]),
    ("claude-session-search", "0.2.0", "cc-search", &["--reindex"]),
];

/// The indexers that can be installed, into a folder of their own in the build folder.
pub fn indexers(bench: &Bench, claude_dir: &Path) -> Vec<Rival> {
    let mut rivals = Vec::new();
    for (package, version, program, words) in INDEXERS {
        match indexer(bench, claude_dir, package, version, program, words) {
            Ok(rival) => rivals.push(rival),
            Err(error) => println!("  NOT COMPARED with {package}: {error:#}"),
        }
    }
    rivals
}

fn indexer(
    bench: &Bench,
    claude_dir: &Path,
    package: &str,
    version: &str,
    program: &str,
    words: &[&str],
) -> Result<Rival> {
    let folder = bench.tree.target("bench-tools").join("python");
    let path = folder.join("bin").join(program);
    if !path.exists() {
        Call::new(bench.tree.root(), "python3").args(["-m", "venv"]).args([&folder]).run()?;
        Call::new(bench.tree.root(), folder.join("bin/pip"))
            .args(["install".to_owned(), "--quiet".to_owned(), format!("{package}=={version}")])
            .run()?;
    }
    let home =
        Home { folder: bench.tree.target("bench-home").join(package), claude_dir: claude_dir.to_owned() };
    let call = Call::new(bench.tree.root(), path)
        .without_own_settings()
        .env("HOME", &home.folder)
        .env("XDG_CONFIG_HOME", home.folder.join(".config"))
        .env("XDG_DATA_HOME", home.folder.join(".local/share"))
        .env("AGENTSVIEW_NO_DAEMON", "1")
        .env("DO_NOT_TRACK", "1")
        .args(words.iter().copied());
    Ok(Rival { name: format!("{package} {version}"), call, good_ends: &[0], fresh_home: Some(home) })
}

/// Makes the home anew, with only a link to the histories in it.
pub fn make_afresh(home: &Home) -> Result<()> {
    if home.folder.exists() {
        fs::remove_dir_all(&home.folder)?;
    }
    fs::create_dir_all(&home.folder)?;
    std::os::unix::fs::symlink(&home.claude_dir, home.folder.join(".claude"))?;
    Ok(())
}
