//! A simulated client: a live process, its registry file and its transcripts, in the real client's format.

use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result};
use serde_json::{Value, json};
use watchbill_testkit::{Desktop, until};

/// A client that works in a folder of its own. Its process ends when it is dropped.
pub struct Agent {
    claude_dir: PathBuf,
    cwd: PathBuf,
    process: Child,
    /// The id of the process that the registry names.
    pid: u32,
    /// The start time of the process, by the wall clock: the real client writes the same time in every rewrite.
    started_at: i64,
    session: String,
    records: u32,
}

impl Agent {
    /// Starts a client that keeps its files below `home`, with a working folder called `name`.
    pub fn start(home: &Path, name: &str, session: &str) -> Result<Self> {
        // Without an environment: the test must not find, ask or raise the developer's terminal.
        let mut shell = Command::new("sh");
        shell.args(["-c", "while read -r line; do sh -c \"$line\" & done"]).env_clear();
        let process =
            shell.env("PATH", std::env::var_os("PATH").unwrap_or_default()).stdin(Stdio::piped()).spawn()?;
        let pid = process.id();
        Self::of(home, name, session, process, pid)
    }

    /// Starts a client in a terminal of its own on this desktop; the window's title is the client's name.
    pub async fn start_in_terminal(desktop: &Desktop, name: &str, session: &str) -> Result<Self> {
        let told = desktop.home().join(format!("{name}.pid"));
        let mut xterm = desktop.command("xterm").into_std();
        xterm.args(["-T", name, "-e", "sh", "-c", "echo $$ >\"$1\"; exec sleep 600", "sh"]).arg(&told);
        let process =
            xterm.spawn().context("xterm is missing; on Debian and Ubuntu: apt-get install xterm")?;
        let pid = until("the agent in its terminal", 60, async || {
            // A line that is not complete yet has no newline at its end.
            std::fs::read_to_string(&told).ok()?.strip_suffix('\n')?.parse().ok()
        })
        .await?;
        Self::of(desktop.home(), name, session, process, pid)
    }

    fn of(home: &Path, name: &str, session: &str, process: Child, pid: u32) -> Result<Self> {
        let cwd = home.join(name);
        std::fs::create_dir_all(&cwd)?;
        let claude_dir = home.join(".claude");
        let started_at = jiff::Timestamp::now().as_millisecond();
        let agent = Self { claude_dir, cwd, process, pid, started_at, session: session.into(), records: 0 };
        agent.write_registry("idle", None)?;
        Ok(agent)
    }

    /// The working folder.
    pub fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// The id of the process that the registry names.
    pub const fn pid(&self) -> u32 {
        self.pid
    }

    /// The client starts a process, which this line for a shell names.
    pub fn starts(&mut self, line: &str) -> Result<()> {
        Ok(writeln!(self.process.stdin.as_mut().context("a client in a terminal starts nothing")?, "{line}")?)
    }

    /// The user sends a prompt; a turn begins.
    pub fn is_asked(&mut self, prompt: &str) -> Result<()> {
        let message = json!({ "role": "user", "content": prompt });
        self.append("user", &json!({ "message": message, "origin": { "kind": "human" } }))?;
        self.write_registry("busy", None)
    }

    /// The client calls a tool that needs the user's permission.
    pub fn wants_to_run(&mut self, command: &str) -> Result<()> {
        let id = format!("toolu_{}", self.records);
        let call = json!({ "type": "tool_use", "id": id, "name": "Bash", "input": { "command": command } });
        self.answer(&call, "tool_use")?;
        self.write_registry("waiting", Some("permission prompt"))
    }

    /// The turn ends with this answer.
    pub fn answers(&mut self, text: &str) -> Result<()> {
        self.answer(&json!({ "type": "text", "text": text }), "end_turn")?;
        self.write_registry("idle", None)
    }

    /// A tool has run, with this output.
    pub fn has_run(&mut self, command: &str, output: &str) -> Result<()> {
        let id = format!("toolu_{}", self.records);
        let call = json!({ "type": "tool_use", "id": id, "name": "Bash", "input": { "command": command } });
        self.answer(&call, "tool_use")?;
        let result = json!({ "type": "tool_result", "tool_use_id": id, "content": output });
        self.append("user", &json!({ "message": { "role": "user", "content": [result] } }))
    }

    /// The user clears the conversation: the same process continues in another session.
    pub fn clear_into(&mut self, session: &str) -> Result<()> {
        let before = std::mem::replace(&mut self.session, session.to_owned());
        let command = "<command-name>/clear</command-name>\n            \
            <command-message>clear</command-message>\n            <command-args></command-args>";
        let message = json!({ "role": "user", "content": command });
        self.write_registry("idle", None)?;
        self.append("user", &json!({ "message": message, "session_id": before }))
    }

    fn answer(&mut self, content: &Value, stop_reason: &str) -> Result<()> {
        let message = json!({
            "id": format!("msg_{}", self.records), "type": "message", "role": "assistant",
            "model": "claude-opus-5-5", "content": [content], "stop_reason": stop_reason,
            "usage": { "input_tokens": 12, "output_tokens": 40 },
        });
        self.append("assistant", &json!({ "message": message }))
    }

    fn append(&mut self, kind: &str, record: &Value) -> Result<()> {
        self.records += 1;
        let parent = (self.records > 1).then(|| self.uuid(self.records - 1));
        let mut line = json!({
            "parentUuid": parent, "isSidechain": false, "type": kind, "uuid": self.uuid(self.records),
            "timestamp": format!("{:.3}", jiff::Timestamp::now()), "userType": "external", "entrypoint": "cli",
            "cwd": self.cwd, "sessionId": self.session, "version": "2.1.329", "gitBranch": "main",
        });
        let fields = line.as_object_mut().context("an object")?;
        fields.extend(record.as_object().context("an object")?.clone());
        let folder: String = self.cwd.display().to_string();
        let folder = folder.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        let folder = self.claude_dir.join("projects").join(folder);
        std::fs::create_dir_all(&folder)?;
        let path = folder.join(format!("{}.jsonl", self.session));
        let mut file = OpenOptions::new().create(true).append(true).open(path)?;
        writeln!(file, "{line}")?;
        Ok(())
    }

    /// Rewrites the registry file.
    fn write_registry(&self, status: &str, waiting_for: Option<&str>) -> Result<()> {
        let now = jiff::Timestamp::now().as_millisecond();
        let pid = self.pid;
        let mut entry = json!({
            "pid": pid, "sessionId": self.session, "cwd": self.cwd, "startedAt": self.started_at,
            "procStart": process_start(pid)?, "version": "2.1.329", "kind": "interactive", "entrypoint": "cli",
            "status": status, "updatedAt": now, "statusUpdatedAt": now,
        });
        if let Some(what) = waiting_for {
            entry["waitingFor"] = what.into();
        }
        let folder = self.claude_dir.join("sessions");
        std::fs::create_dir_all(&folder)?;
        write!(File::create(folder.join(format!("{pid}.json")))?, "{entry}")?;
        Ok(())
    }

    fn uuid(&self, record: u32) -> String {
        format!("{}-0000-4000-8000-{record:012}", &self.session[..8])
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        // This fails only if it has ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Field 22 of the process's stat line: together with the process id it identifies a process for good.
fn process_start(pid: u32) -> Result<String> {
    let line = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let (_, fields) = line.rsplit_once(") ").context("a line of fields")?;
    Ok(fields.split(' ').nth(19).context("a start time")?.to_owned())
}
