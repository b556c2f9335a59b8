//! The checks for systems that no machine here runs: clippy for Windows and macOS, with all targets, window included.
//!
//! Debian's second compiler does it, because the source of its standard library is a package. Its programs are called by
//! their paths: the toolchain of the other steps has no library for these systems.

use std::fs;

use anyhow::{Context, Result};

use crate::call::Call;
use crate::packages;
use crate::steps::Outcome;
use crate::tree::Tree;

/// The libraries of a test program, too.
const STD: &str = "-Zbuild-std=std,panic_abort,panic_unwind,test";

/// Windows, as the compiler names it.
pub const WINDOWS: &str = "x86_64-pc-windows-gnu";

/// Stands for a C compiler. A check links nothing, so each object may be an empty file; the C code of dependencies for
/// macOS needs headers that only a Mac has.
const NO_C_COMPILER: &str = r#"#!/bin/sh
# The first calls ask which compiler it is.
case $1 in -E) echo '"clang"' ;; '-?') exit 1 ;; esac
out=
while [ $# -gt 0 ]; do
  [ "$1" = -o ] && out=$2
  shift
done
[ -z "$out" ] || : > "$out"
"#;

/// Gives a program only the processor time that others leave, the programs of other terminals too (sched(7), autogroups). It
/// ends with this process, although it has a session of its own.
const IDLE: [&str; 7] = [
    "--pdeathsig",
    "TERM",
    "setsid",
    "sh",
    "-c",
    "{ echo 19 >/proc/self/autogroup; } 2>/dev/null; exec chrt --idle 0 \"$@\"",
    "sh",
];

/// A system, as the compiler names it, and the folder of its build below the build folder.
const SYSTEMS: [(&str, &str); 2] = [(WINDOWS, "windows"), ("aarch64-apple-darwin", "macos")];

/// Runs clippy for each system. It takes only the processor time that other programs leave.
pub fn step(tree: &Tree) -> Result<Outcome> {
    if !packages::offers_cross() {
        return Ok(Outcome::NotRun("this system has no package of a compiler for other systems".to_owned()));
    }
    let no_compiler = tree.target("no-c-compiler");
    write_program(&no_compiler).with_context(|| format!("could not write {}", no_compiler.display()))?;
    for (target, folder) in SYSTEMS {
        second_compiler(Call::new(tree.root(), "setpriv"))
            .env("CC_aarch64_apple_darwin", &no_compiler)
            .env("AR_aarch64_apple_darwin", "/usr/bin/ar")
            .args(IDLE)
            .args(["/usr/bin/cargo-clippy", "clippy", "--quiet", STD])
            .args(["--locked", "--workspace", "--all-targets", "--target", target, "--target-dir"])
            .args([tree.target(folder)])
            .args(["--", "-D", "warnings"])
            .run()?;
    }
    Ok(Outcome::Done)
}

/// A call of cargo with Debian's second compiler.
pub fn second_compiler(call: Call) -> Call {
    call.without_own_settings()
        .env("CARGO", "/usr/bin/cargo")
        .env("RUSTC", "/usr/bin/rustc")
        // Building the standard library is unstable.
        .env("RUSTC_BOOTSTRAP", "1")
}

fn write_program(path: &std::path::Path) -> std::io::Result<()> {
    fs::write(path, NO_C_COMPILER)?;
    #[cfg(unix)]
    fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
    Ok(())
}
