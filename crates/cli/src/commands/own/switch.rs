//! `resume --agent` and `fork --agent`: another agent goes on with the work of a session.

use anyhow::{bail, ensure};
use watchbill_drive::client::send;
use watchbill_drive::context;
use watchbill_engine::engine::Outlook;
use watchbill_engine::router::own::{Start, root_of};
use watchbill_engine::router::switch::plan;
use watchbill_protocol::own::command::{OwnCommand, PromptWhen};
use watchbill_protocol::own::spec::{OwnSwitch, OwnSwitchCall};
use watchbill_protocol::roster::TrackedSession;

use super::run::{may_prompt, started};
use super::target::{first_prompt_id, guard, new_id};
use crate::args::{Agent, Global, Resume, Switch};
use crate::commands::history::{bring_up_to_date_anywhere, reading_settings};
use crate::commands::{emit, engine};

/// Starts a new session of another agent. Its first prompt holds what was said in this one.
///
/// # Errors
/// When nothing is stored of the session, a process has it, or the agent cannot be started.
pub fn switch(global: &Global, wanted: &Resume, row: &TrackedSession) -> anyhow::Result<()> {
    let Switch { agent: Some(agent), budget, preview, prompt: Some(prompt) } = &wanted.of.switch else {
        bail!("name the agent and its first prompt");
    };
    ensure!(*agent != Agent::Shell, "a shell takes no prompts: name an agent");
    ensure!(!prompt.trim().is_empty(), "the prompt is empty");
    let settings = reading_settings(global)?;
    if let Err(error) = bring_up_to_date_anywhere(&settings) {
        tracing::warn!(
            "new records could not be read into the history, so the newest words may be missing: {error}"
        );
    }
    let call = OwnSwitchCall {
        id: new_id(),
        session_id: row.session_id.clone(),
        agent: (*agent).into(),
        fork: wanted.fork,
        any_branch: wanted.of.any_branch,
        budget: *budget,
    };
    let look = engine(global, Outlook::LIVE)?;
    let OwnSwitch { mut spec, context } = plan(&settings, &call, row, &|session| look.chain(session))?;
    let text = context::prompt(&context, prompt);
    if *preview {
        return emit(&(crate::terminal_text::lines(&text).collect::<Vec<_>>().join("\n") + "\n"));
    }
    if !wanted.fork {
        guard(global, row)?;
    }
    may_prompt()?;
    spec.root = root_of(&settings, row);
    let (folder, spec) = Start::new(spec).begin(&settings)?;
    let id = first_prompt_id(&spec.session);
    let prompt = OwnCommand::Prompt { id: id.clone(), text, images: Vec::new(), when: PromptWhen::Queue };
    send(&folder, &format!("prompt-{id}"), &prompt)?;
    started(global, &folder, &spec, true, wanted.of.json)
}
