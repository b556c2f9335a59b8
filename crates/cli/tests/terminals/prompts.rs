//! `prompt` into a real kitty with remote control. A program stands in for the client; tmux is tried in `tests/it/prompts.rs`.

use std::process::Stdio;

use anyhow::{Context, Result};
use serde_json::Value;
use watchbill_testkit::{Desktop, until};

use crate::{PROGRAM, agent, is_there, output};

const SESSION: &str = "eeeeeeee-0000-4000-8000-000000000005";

/// A command line that waits, as a script that no agent started: its parent is gone, and it is older than the client.
struct Detached(tempfile::TempDir);

impl Detached {
    async fn new(desktop: &Desktop, words: &[&str]) -> Result<Self> {
        let folder = tempfile::tempdir_in(desktop.home())?;
        let script = r#"folder=$1; shift; until [ -e "$folder/go" ]; do sleep 0.05; done
            "$@" >"$folder/out" 2>&1 </dev/null; echo $? >"$folder/part"; mv "$folder/part" "$folder/code""#;
        let mut command = desktop.command("setsid");
        command.args(["--fork", "sh", "-c", script, "script"]).arg(folder.path()).args(words);
        anyhow::ensure!(command.status().await?.success(), "setsid");
        Ok(Self(folder))
    }

    /// Its exit code and output.
    async fn run(self) -> Result<(i32, String)> {
        let folder = self.0.path();
        std::fs::write(folder.join("go"), "")?;
        let code =
            until("the command to end", 60, async || std::fs::read_to_string(folder.join("code")).ok())
                .await?;
        Ok((code.trim().parse()?, std::fs::read_to_string(folder.join("out"))?))
    }
}

#[tokio::test]
async fn kitty_takes_a_prompt_as_one_paste_and_one_enter() -> Result<()> {
    if !is_there("kitty") || !is_there("python3") {
        return Ok(());
    }
    let desktop = Desktop::start().await?;
    let home = desktop.home();
    let path = |name: &str| home.join(name).display().to_string();
    let (keys, script, address) = (path("keys"), path("stand_in.py"), format!("unix:{}", path("kitty.sock")));
    let claude = agent::claude_dir(&desktop).display().to_string();
    std::fs::create_dir_all(agent::claude_dir(&desktop).join("projects"))?;
    std::fs::write(&script, include_str!("../it/stand_in.py"))?;
    std::fs::write(path("config.toml"), "[answers]\nscripts = true\n")?;
    let (data, config) = (path("data"), path("config.toml"));
    let folders = ["--claude-dir", &claude, "--data-dir", &data, "--config", &config];

    let prompt = [&[PROGRAM, "prompt", SESSION, "one\n\ttwo 日本", "--json"][..], &folders].concat();
    let prompt = Detached::new(&desktop, &prompt).await?;

    let mut kitty = desktop.command("kitty");
    kitty.env("LIBGL_ALWAYS_SOFTWARE", "1").stdout(Stdio::null()).stderr(Stdio::null());
    kitty.args([
        "-o",
        "allow_remote_control=yes",
        "--listen-on",
        &address,
        "python3",
        &script,
        &claude,
        SESSION,
    ]);
    let _kitty = kitty.args([&keys, "answers"]).spawn()?;
    // Another tab is in front.
    let launch = ["@", "--to", &address, "launch", "--type=tab", "sleep", "600"];
    until("kitty to listen", 30, async || output(&desktop, "kitty", &launch).await.ok()).await?;
    let mut serve = desktop.command(PROGRAM);
    let _serve = serve.arg("serve").args(folders).stderr(Stdio::null()).spawn()?;
    let roster = [&["roster", "--json"][..], &folders].concat();
    let is_there = async || {
        output(&desktop, PROGRAM, &roster).await.ok().filter(|roster| roster.contains(SESSION)).map(drop)
    };
    until("the session to be seen", 60, is_there).await?;
    until("the socket", 60, async || home.join("data/run/engine.sock").exists().then_some(())).await?;

    let (code, said) = prompt.run().await?;
    assert_eq!(code, 0, "{said}");
    let sent: Value = serde_json::from_str(&said).context(said)?;
    assert_eq!(
        (&sent["outcome"], &sent["whole"], &sent["by"]),
        (&"submitted".into(), &true.into(), &"kitty".into())
    );
    assert_eq!(std::fs::read_to_string(&keys)?, "\u{1b}[200~one\n\ttwo 日本\u{1b}[201~\r");
    Ok(())
}
