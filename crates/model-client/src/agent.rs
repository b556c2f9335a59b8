//! Asks the user's own agent in print mode: without tools, settings, servers of tools and a transcript.

use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Instant;

use serde_json::Value;
use watchbill_protocol::model::{ModelQuestion, ModelResult, ReplyForm};

use crate::failure::Failure;
use crate::group;
use crate::limits::MOST;

/// The model, if the user names none.
const SMALL: &str = "haiku";
/// The variable by which hooks of Watchbill know that this is no session of the user.
const MARK: (&str, &str) = ("WATCHBILL_MEMORY", "own");
/// Variables that say "you run inside an agent".
const OF_AGENT: &[&str] =
    &["CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_PID", "CLAUDE_PROJECT_DIR", "AI_AGENT"];

/// Asks the agent. Its process is in this one's group and dies with it.
///
/// # Errors
/// When it cannot be started, fails, or takes too long.
pub fn ask(
    program: &str,
    name: &str,
    folder: &str,
    most_micro_usd: u64,
    question: &ModelQuestion,
    until: Instant,
) -> Result<ModelResult, Failure> {
    if !cfg!(target_os = "linux") {
        return Err(Failure::away("the agent as a model works on Linux only, so far"));
    }
    let unstarted = |error| Failure::away(format!("the agent cannot be started: {error}"));
    let own = std::env::current_exe().map_err(unstarted)?;
    let model = if name.is_empty() { SMALL } else { name };
    if model.starts_with('-') || program.starts_with('-') {
        return Err(Failure::away(format!("`{model}` is no name of a model")));
    }
    let usd = format!("{:.6}", most_micro_usd as f64 / 1e6);
    let schema = question.schema.to_string();
    let mut command = Command::new(own);
    command.args([group::EXEC, &std::process::id().to_string(), program]);
    command.args(["-p", "--model", model, "--tools", "", "--setting-sources", "", "--strict-mcp-config"]);
    command.args(["--no-session-persistence", "--system-prompt", &question.system, "--json-schema", &schema]);
    command.args(["--max-budget-usd", &usd, "--output-format", "json"]);
    command.current_dir(folder).env(MARK.0, MARK.1);
    OF_AGENT.iter().for_each(|variable| _ = command.env_remove(variable));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(unstarted)?;
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    let text = question.user.clone();
    std::thread::spawn(move || stdin.map(|mut stdin| stdin.write_all(text.as_bytes())));
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = stdout.map_or(Ok(0), |stdout| stdout.take(MOST + 1).read_to_end(&mut bytes));
        let _ = sender.send(read.map(|_| bytes));
    });
    let read = receiver.recv_timeout(until.saturating_duration_since(Instant::now()));
    let _ = child.kill();
    let status = child.wait().map_err(|error| error.to_string())?;
    match read {
        Err(_) => Err("the agent took too long".into()),
        Ok(Err(error)) => Err(format!("the agent's answer cannot be read: {error}").into()),
        Ok(Ok(bytes)) if bytes.len() as u64 > MOST => {
            Err(format!("the agent's answer is longer than {MOST} bytes").into())
        }
        Ok(Ok(bytes)) => result(&bytes, status.code()),
    }
}

fn result(bytes: &[u8], code: Option<i32>) -> Result<ModelResult, Failure> {
    let Ok(value) = serde_json::from_slice::<Value>(bytes) else {
        let how = code.map_or_else(String::new, |code| format!(" with code {code}"));
        let words = format!("the agent ended{how} and gave no JSON; does `claude -p` work in a terminal?");
        // It may have used tokens before.
        return Err(words.into());
    };
    let usage = &value["usage"];
    let count = |name: &str| usage[name].as_u64().unwrap_or_default();
    let tokens_in =
        count("input_tokens") + count("cache_read_input_tokens") + count("cache_creation_input_tokens");
    let reply = match &value["structured_output"] {
        Value::Null => value["result"].as_str().map(str::to_owned),
        object => Some(object.to_string()),
    };
    let failed = value["is_error"].as_bool() == Some(true) || reply.is_none();
    let said: String = value["result"].as_str().unwrap_or("it gave no text").chars().take(200).collect();
    Ok(ModelResult {
        reply: reply.filter(|_| !failed),
        tokens_in: usage.is_object().then_some(tokens_in),
        tokens_out: usage["output_tokens"].as_u64(),
        micro_usd: value["total_cost_usd"].as_f64().map(|usd| (usd * 1e6).ceil() as u64),
        form: ReplyForm::Schema,
        error: failed.then(|| format!("the agent failed: {said}")),
        ..ModelResult::default()
    })
}
