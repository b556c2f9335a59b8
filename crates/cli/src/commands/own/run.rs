//! `run`: starts an own session.

use std::path::Path;

use anyhow::{Context, bail, ensure};
use serde::Serialize;
use watchbill_drive::client::send;
use watchbill_drive::folder::Folder;
use watchbill_drive::socket::caller::why_no_person_started_this;
use watchbill_engine::clock::{Clock, SystemClock};
use watchbill_engine::router::own::Start;
use watchbill_protocol::own::command::{OwnCommand, PromptWhen};
use watchbill_protocol::own::spec::{OwnAgent, OwnKind, OwnSize, OwnSpec};
use watchbill_protocol::roster::TrackedSession;

use super::attach::attach_terminal;
use super::events::{End, Printing, wait};
use super::target::{data_dir, first_prompt_id, is_uuid, new_id, row};
use crate::args::{Global, Run};
use crate::commands::{emit, settings, to_json};
use crate::render::short;
use crate::terminal_text::{Paint, one_line};

/// Starts a session, sends its first prompt, and prints its row, or what happens until the turn ends.
///
/// # Errors
/// When it cannot be started, or with `--wait` when the turn was not completed.
pub fn run(global: &Global, wanted: &Run, paint: Paint) -> anyhow::Result<()> {
    data_dir(global)?;
    let (spec, prompt) = spec(wanted)?;
    ensure!(!wanted.wait || prompt.is_some(), "there is nothing to wait for: give a prompt");
    if prompt.is_some() {
        may_prompt()?;
    }
    let (folder, spec) = Start::new(spec).begin(&settings(global)?)?;
    let has_begun = wanted.pty || prompt.is_some();
    if let Some(text) = prompt {
        let id = first_prompt_id(&spec.session);
        let prompt = OwnCommand::Prompt { id: id.clone(), text, images: Vec::new(), when: PromptWhen::Queue };
        send(&folder, &format!("prompt-{id}"), &prompt)?;
        if wanted.wait {
            return done(&wait(&folder, 0, &id, Printing { json: wanted.json, paint })?);
        }
    }
    if wanted.pty && !wanted.detach {
        return attach_terminal(&folder);
    }
    started(global, &folder, &spec, has_begun, wanted.json)
}

/// Refuses a program whose prompt the host would refuse, before anything starts.
///
/// # Errors
/// When an agent started this program.
pub fn may_prompt() -> anyhow::Result<()> {
    match why_no_person_started_this() {
        Some(why) => bail!("nothing was started: {why}"),
        None => Ok(()),
    }
}

/// The exit code of a wait.
pub fn done(end: &End) -> anyhow::Result<()> {
    match end {
        End::Completed => Ok(()),
        End::Otherwise(words) => bail!("the prompt was not completed: {words}"),
    }
}

/// `run --json`, `resume --json` and `fork --json`.
#[derive(Serialize)]
struct Started<'a> {
    #[serde(flatten)]
    row: TrackedSession,
    /// The folder in which the agent keeps the session.
    #[serde(skip_serializing_if = "Option::is_none")]
    root: Option<&'a str>,
}

/// Says that a session was started: its row, or a line. `has_begun`: its agent runs. On pipes it starts with the first prompt.
///
/// # Errors
/// When the row cannot be found.
pub fn started(
    global: &Global,
    folder: &Folder,
    spec: &OwnSpec,
    has_begun: bool,
    json: bool,
) -> anyhow::Result<()> {
    if json {
        return emit(&to_json(&Started { row: own_row(global, folder)?, root: spec.root.as_deref() })?);
    }
    let (id, cwd) = (short(&spec.session), one_line(&spec.cwd));
    let (session, agent) = (one_line(&spec.session), spec.agent.as_str());
    emit(&if has_begun {
        format!("session {session} runs {agent} in {cwd}; `watchbill attach {id}` shows it\n")
    } else {
        format!("session {session} waits in {cwd}: `watchbill prompt {id} TEXT` starts {agent}\n")
    })
}

/// The row of a session that has just been started. A running Watchbill sees it after some milliseconds.
fn own_row(global: &Global, folder: &Folder) -> anyhow::Result<TrackedSession> {
    const TRIES: u32 = 100;
    let own = folder.path().file_name().map(|name| name.to_string_lossy().into_owned());
    let own = own.context("the session has no folder")?;
    let mut last = None;
    for _ in 0..TRIES {
        match row(global, &own) {
            Ok(row) if row.own_id.as_ref() == Some(&own) => return Ok(row),
            Ok(_) => {}
            Err(error) => last = Some(error),
        }
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    Err(last.unwrap_or_else(|| anyhow::anyhow!("nothing is known of it")))
        .context("the session runs, and its row is not there yet")
}

/// What the options say, and the first prompt.
fn spec(wanted: &Run) -> anyhow::Result<(OwnSpec, Option<String>)> {
    let agent = OwnAgent::from(wanted.agent);
    let (command, prompt) = match (agent, wanted.pty) {
        (OwnAgent::Shell, false) => bail!("a shell runs in a terminal: add --pty"),
        (OwnAgent::Shell, true) => (wanted.words.clone(), None),
        (_, true) => {
            ensure!(wanted.words.is_empty(), "type the prompt into the terminal, or leave --pty out");
            (Vec::new(), None)
        }
        (_, false) => {
            ensure!(wanted.words.len() < 2, "the prompt is one argument: put it in quotes");
            (Vec::new(), wanted.words.first().cloned())
        }
    };
    if let Some(id) = &wanted.id {
        ensure!(is_uuid(id), "`{}` is not a UUID; leave --id out to get one", one_line(id));
    }
    ensure!(prompt.as_ref().is_none_or(|text| !text.trim().is_empty()), "the prompt is empty");
    let cwd = folder_to_work_in(wanted.cwd.as_deref())?;
    let spec = OwnSpec {
        session: wanted.id.clone().unwrap_or_else(new_id),
        agent,
        kind: if wanted.pty { OwnKind::Pty } else { OwnKind::Stream },
        cwd,
        model: wanted.model.clone(),
        mode: wanted.mode.clone(),
        resume: None,
        command,
        size: terminal_size::terminal_size()
            .filter(|_| wanted.pty)
            .map(|(cols, rows)| OwnSize { rows: rows.0, cols: cols.0 }),
        created_at: SystemClock.now().to_string(),
        root: None,
        switched: None,
        started_by_agent: false,
    };
    Ok((spec, prompt))
}

/// The folder as the agent gets it: absolute, and there.
fn folder_to_work_in(asked: Option<&Path>) -> anyhow::Result<String> {
    let asked = asked.unwrap_or(Path::new("."));
    let shown = || format!("the session cannot work in {}", asked.display());
    let folder = asked.canonicalize().with_context(shown)?;
    ensure!(folder.is_dir(), "{}: it is not a folder", shown());
    let text = folder.to_str().with_context(|| format!("{}: its name is not UTF-8", shown()))?;
    Ok(text.to_owned())
}
