//! `resume` and `fork`: starts a host that continues an ended session, or a copy of one.

use anyhow::{Context as _, bail};
use watchbill_agents::{Agent, resume::resume_command, traits};
use watchbill_drive::folder::Folder;
use watchbill_engine::engine::Outlook;
use watchbill_engine::router::own::Start;
use watchbill_engine::router::worktree;
use watchbill_protocol::own::spec::{OwnAgent, OwnKind, OwnResumeCall, OwnSpec};
use watchbill_protocol::roster::TrackedSession;

use super::attach::attach_terminal;
use super::run::started;
use super::switch::switch;
use super::target::{self, guard, new_id};
use crate::args::{Fork, Global, Resume};
use crate::commands::settings;
use crate::terminal_text::one_line;

/// Goes on in a copy.
///
/// # Errors
/// As [`resume`].
pub fn fork(global: &Global, wanted: &Fork) -> anyhow::Result<()> {
    resume(global, &Resume { fork: true, of: wanted.clone() })
}

/// Goes on with a session, unless a process has it.
///
/// # Errors
/// When no session matches, a process has it, or the agent cannot go on with it.
pub fn resume(global: &Global, wanted: &Resume) -> anyhow::Result<()> {
    let Fork { session, pty, any_branch, switch: other, json } = &wanted.of;
    let row = target::row(global, session)?;
    if other.agent.is_some() {
        check_branch(&row, *any_branch)?;
        return switch(global, wanted, &row);
    }
    let kind = if *pty { OwnKind::Pty } else { OwnKind::Stream };
    let (folder, spec) = go_on(global, &row, kind, wanted.fork, *any_branch)?;
    if *pty {
        return attach_terminal(&folder);
    }
    started(global, &folder, &spec, false, *json)
}

/// Starts the host of a session that goes on.
///
/// # Errors
/// As [`resume`].
pub fn go_on(
    global: &Global,
    row: &TrackedSession,
    kind: OwnKind,
    fork: bool,
    any_branch: bool,
) -> anyhow::Result<(Folder, OwnSpec)> {
    check_branch(row, any_branch)?;
    let settings = settings(global)?;
    let agent = Agent::of(&row.agent).context("a command in a terminal cannot be resumed: run it again")?;
    let Some(program) = OwnAgent::of(agent) else {
        let command = resume_command(agent, &row.session_id, row.cwd.as_deref());
        bail!("{} goes on in a terminal: {command}", traits(agent).title);
    };
    let call = OwnResumeCall {
        id: new_id(),
        session_id: row.session_id.clone(),
        agent: program,
        kind,
        fork,
        any_branch,
    };
    // The client may have moved the session. It finds the file from the folder in which the session began.
    let place = crate::commands::engine(global, Outlook::LIVE)?.session_location(&row.session_id)?;
    let start = Start::going_on(&settings, &call, row, &place)?;
    if !fork {
        guard(global, row)?;
    }
    Ok(start.begin(&settings)?)
}

fn check_branch(row: &TrackedSession, any_branch: bool) -> anyhow::Result<()> {
    match worktree::check(row) {
        Err(other) if !any_branch => {
            let (other, id) = (one_line(&other.to_string()), one_line(&row.session_id));
            bail!(
                "nothing was started: {other}. Switch it back, or add --any-branch to `watchbill resume {id}`"
            )
        }
        _ => Ok(()),
    }
}
