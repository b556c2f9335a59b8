//! `resume` and `fork`: starts a host that continues an ended session, or a copy of one.

use std::path::Path;

use anyhow::{Context, bail, ensure};
use watchbill_agents::{Agent, traits};
use watchbill_drive::folder::Folder;
use watchbill_drive::start::{resume as start_again, start};
use watchbill_engine::alone::forget::mark_unwanted_own;
use watchbill_engine::clock::{Clock, SystemClock};
use watchbill_engine::engine::Outlook;
use watchbill_engine::router::worktree;
use watchbill_protocol::own::event::OwnWhat;
use watchbill_protocol::own::spec::{OwnKind, OwnResume, OwnSpec};
use watchbill_protocol::roster::TrackedSession;

use super::attach::attach_terminal;
use super::run::started;
use super::switch::switch;
use super::target::{self, guard, new_id, program};
use crate::args::{Fork, Global, Resume};
use crate::commands::settings;
use crate::terminal_text::one_line;

/// Goes on in a copy.
///
/// # Errors
/// As [`resume`].
pub fn fork(global: &Global, wanted: &Fork) -> anyhow::Result<()> {
    let Fork { session, pty, any_branch, switch, json } = wanted.clone();
    resume(global, &Resume { session, fork: true, pty, any_branch, switch, json })
}

/// Goes on with a session, unless a process has it.
///
/// # Errors
/// When no session matches, a process has it, or the agent cannot go on with it.
pub fn resume(global: &Global, wanted: &Resume) -> anyhow::Result<()> {
    let data_dir = target::data_dir(global)?;
    let row = target::row(global, &wanted.session)?;
    if !wanted.any_branch
        && let Err(other) = worktree::check(&row)
    {
        let other = one_line(&other.to_string());
        bail!("nothing was started: {other}. Switch it back, or add --any-branch");
    }
    if wanted.switch.agent.is_some() {
        return switch(global, wanted, &row);
    }
    let kind = if wanted.pty { OwnKind::Pty } else { OwnKind::Stream };
    let earlier = row.own_id.as_deref().map(|own| Folder::of(&data_dir, own)).transpose()?;
    let of_kind = earlier.as_ref().filter(|folder| folder.spec().is_ok_and(|spec| spec.kind == kind));
    let spec = match of_kind.filter(|_| !wanted.fork) {
        Some(folder) => folder.spec()?,
        None => new_spec(global, &row, earlier.as_ref(), wanted.fork, kind)?,
    };
    ensure!(
        Path::new(&spec.cwd).is_dir(),
        "the session worked in {}, which is not a folder any more: make it again, or start a new session",
        one_line(&spec.cwd)
    );
    if !wanted.fork {
        guard(global, &row)?;
    }
    let folder = match of_kind.filter(|_| !wanted.fork) {
        Some(_) => start_again(&data_dir, &program()?, &spec.session)?,
        None => start(&data_dir, &program()?, &spec)?,
    };
    mark_unwanted_own(&settings(global)?, &folder, &spec);
    if wanted.pty {
        return attach_terminal(&folder);
    }
    started(global, &folder, &spec, false, wanted.json)
}

/// A start that goes on with a session under a new id of its own. It has no permissions but those of the agent's settings: a resume
/// brings no mode back.
fn new_spec(
    global: &Global,
    row: &TrackedSession,
    earlier: Option<&Folder>,
    fork: bool,
    kind: OwnKind,
) -> anyhow::Result<OwnSpec> {
    let Some(agent) = Agent::of(&row.agent) else {
        bail!("a command in a terminal cannot be resumed: run it again");
    };
    let session = if traits(agent).takes_session_id {
        row.session_id.clone()
    } else {
        let folder = earlier.context("its agent's id of the session is not known")?;
        agents_id(folder)?.context("the session has not begun: there is nothing to go on with")?
    };
    // The client may have moved the session. It finds the file from the folder in which the session began.
    let engine = crate::commands::engine(global, Outlook::LIVE)?;
    let found = engine.session_location(&row.session_id)?;
    let cwd = found.cwd.context("the folder of the session is not known")?.to_string();
    Ok(OwnSpec {
        session: new_id(),
        agent: agent.into(),
        kind,
        cwd,
        model: None,
        mode: None,
        resume: Some(OwnResume { session, fork }),
        command: Vec::new(),
        size: None,
        created_at: SystemClock.now().to_string(),
        started_by_agent: false,
    })
}

/// The id that the agent gave the session.
fn agents_id(folder: &Folder) -> anyhow::Result<Option<String>> {
    let mut last = None;
    watchbill_drive::replay::read(folder, &folder.spec()?, 0, &mut |events| {
        for event in events {
            if let OwnWhat::Init { session, .. } | OwnWhat::Moved { session } = event.what {
                last = Some(session);
            }
        }
        true
    })?;
    Ok(last)
}
