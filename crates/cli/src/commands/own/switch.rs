//! `resume --agent` and `fork --agent`: another agent goes on with the work of a session.

use anyhow::{Context, bail, ensure};
use watchbill_drive::client::send;
use watchbill_drive::context::{self, Turn};
use watchbill_drive::folder::Folder;
use watchbill_engine::clock::{Clock, SystemClock};
use watchbill_engine::router::own::{Start, root_of};
use watchbill_history::query::context::{Speaker, Words, words};
use watchbill_protocol::error::ErrorCode;
use watchbill_protocol::own::command::{OwnCommand, PromptWhen};
use watchbill_protocol::own::spec::{OwnKind, OwnSpec};
use watchbill_protocol::roster::TrackedSession;

use super::run::{may_prompt, started};
use super::target::{data_dir, first_prompt_id, guard, new_id};
use crate::args::{Agent, Global, Resume, Switch};
use crate::commands::history::{bring_up_to_date_anywhere, reading_settings};
use crate::commands::{emit, settings};
use crate::terminal_text::one_line;

/// How many characters of a call of a tool the other agent is told.
const TOOL: usize = 200;

/// Starts a new session of another agent. Its first prompt holds what was said in this one.
///
/// # Errors
/// When nothing is stored of the session, a process has it, or the agent cannot be started.
pub fn switch(global: &Global, wanted: &Resume, row: &TrackedSession) -> anyhow::Result<()> {
    let Switch { agent: Some(agent), budget, preview, prompt: Some(prompt) } = &wanted.switch else {
        bail!("name the agent and its first prompt");
    };
    ensure!(*agent != Agent::Shell, "a shell takes no prompts: name an agent");
    ensure!(!prompt.trim().is_empty(), "the prompt is empty");
    let block = context::block(&turns(global, row, *budget)?, *budget);
    ensure!(!block.is_empty(), "nothing that was said in the session fits into {budget} bytes");
    let text = context::prompt(&block, prompt);
    if *preview {
        return emit(&(crate::terminal_text::lines(&text).collect::<Vec<_>>().join("\n") + "\n"));
    }
    if !wanted.fork {
        guard(global, row)?;
    }
    let spec = OwnSpec {
        session: new_id(),
        agent: (*agent).into(),
        kind: OwnKind::Stream,
        cwd: row.cwd.clone().context("the folder of the session is not known")?,
        model: None,
        mode: None,
        resume: None,
        command: Vec::new(),
        size: None,
        created_at: SystemClock.now().to_string(),
        root: root_of(&settings(global)?, row),
        switched_from: Some(row.session_id.clone()),
        started_by_agent: false,
    };
    may_prompt()?;
    let (folder, spec) = Start::new(spec).begin(&settings(global)?)?;
    let id = first_prompt_id(&spec.session);
    let prompt = OwnCommand::Prompt { id: id.clone(), text, images: Vec::new(), when: PromptWhen::Queue };
    send(&folder, &format!("prompt-{id}"), &prompt)?;
    started(global, &folder, &spec, true, wanted.json)
}

/// What was said in a session and in those before it that had other agents, by the store.
fn turns(global: &Global, row: &TrackedSession, budget: usize) -> anyhow::Result<Vec<Turn>> {
    let settings = reading_settings(global)?;
    if let Err(error) = bring_up_to_date_anywhere(&settings) {
        tracing::warn!(
            "new records could not be read into the history, so the newest words may be missing: {error}"
        );
    }
    let turn = |Words { speaker, text }: Words| match speaker {
        Speaker::User => Turn::User(context::without_block(&text).to_owned()),
        Speaker::Agent => Turn::Agent(text),
        Speaker::Summary => Turn::Summary(text),
        Speaker::Tool(tool) => Turn::Tool { tool, summary: one_line(&text).chars().take(TOOL).collect() },
    };
    let mut sessions = vec![row.session_id.clone()];
    while let Some(earlier) = sessions.last().and_then(|last| switched_from(global, last)) {
        if sessions.contains(&earlier) {
            break;
        }
        sessions.push(earlier);
    }
    let mut all = Vec::new();
    for session in sessions.iter().rev() {
        match words(&settings, session, budget) {
            Ok(words) => all.extend(words.into_iter().map(turn)),
            // An earlier session may be forgotten by now.
            Err(error) if error.code == ErrorCode::NotFound && *session != row.session_id => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(all)
}

/// The session whose work an own session goes on with.
fn switched_from(global: &Global, session: &str) -> Option<String> {
    let folders = Folder::all(&data_dir(global).ok()?);
    let specs = folders.into_iter().filter_map(|folder| folder.spec().ok());
    let is_it = |spec: &OwnSpec| match &spec.resume {
        Some(resume) if !resume.fork => resume.session == session,
        _ => spec.session == session,
    };
    specs.filter(is_it).find_map(|spec| spec.switched_from)
}
