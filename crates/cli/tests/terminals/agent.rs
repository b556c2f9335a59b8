//! A stand-in for the agent: a process that sleeps in a terminal, and its registry file.

use std::path::PathBuf;

use anyhow::{Context, Result};
use serde_json::json;
use watchbill_testkit::{Desktop, until};

/// A process in a terminal, which stands in for a client.
pub struct Agent {
    pub session: String,
    pub pid: u32,
}

/// The agent's folder of a test.
pub fn claude_dir(desktop: &Desktop) -> PathBuf {
    desktop.home().join("claude")
}

/// Writes a script that a terminal runs in place of the agent `name`. It writes its process id to a file and sleeps.
pub fn script(desktop: &Desktop, name: &str) -> Result<String> {
    let note = note(desktop, name);
    let path = desktop.home().join(format!("{name}.sh"));
    // The file appears complete or not at all.
    let text = format!("echo $$ > '{0}.part'; mv '{0}.part' '{0}'; exec sleep 600\n", note.display());
    std::fs::write(&path, text)?;
    Ok(path.display().to_string())
}

fn note(desktop: &Desktop, name: &str) -> PathBuf {
    desktop.home().join(format!("{name}.pid"))
}

/// Waits until the process `name` runs, and writes its registry file.
pub async fn agent(desktop: &Desktop, name: &str) -> Result<Agent> {
    let note = note(desktop, name);
    let read = async || std::fs::read_to_string(&note).ok()?.trim().parse::<u32>().ok();
    let pid = until(&format!("the agent {name} to run"), 30, read).await?;
    // `sleep` replaces the script in the same process, so the start time is the same.
    let start = proc_start(pid)?;
    register(desktop, name, pid, &start)
}

/// Writes the registry file of a process.
pub fn register(desktop: &Desktop, name: &str, pid: u32, start: &str) -> Result<Agent> {
    let session = format!("{:0>8}-0000-4000-8000-{pid:012}", hex(name));
    let cwd = desktop.home().join(name);
    std::fs::create_dir_all(&cwd)?;
    let now = jiff::Timestamp::now().as_millisecond();
    let entry = json!({
        "pid": pid, "sessionId": session, "cwd": cwd, "startedAt": now - 10_000, "procStart": start,
        "version": "2.1.329", "kind": "interactive", "entrypoint": "cli", "status": "busy",
        "updatedAt": now, "statusUpdatedAt": now,
    });
    let folder = claude_dir(desktop).join("sessions");
    std::fs::create_dir_all(&folder)?;
    std::fs::create_dir_all(claude_dir(desktop).join("projects"))?;
    std::fs::write(folder.join(format!("{pid}.json")), entry.to_string())?;
    Ok(Agent { session, pid })
}

/// The start of a process, as the agent writes it.
pub fn proc_start(pid: u32) -> Result<String> {
    Ok(watchbill_platform::process::look(pid).context("it runs")?.start)
}

fn hex(name: &str) -> String {
    name.bytes().take(4).map(|byte| format!("{byte:02x}")).collect()
}
