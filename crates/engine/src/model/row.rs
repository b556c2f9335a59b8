//! Builds the row of a session.

use std::sync::Arc;

use watchbill_agents::files::project_of;
use watchbill_agents::resume::attach_command;
use watchbill_agents::traits;
use watchbill_core::chain::lineage::Segment;
use watchbill_core::evidence::registry::{Liveness, RegistryEntry};
use watchbill_core::evidence::witness::{InstanceWitness, Verdict};
use watchbill_core::hook::{StatusLine, TerminalContext};
use watchbill_core::ids::{ChainId, SessionId};
use watchbill_core::roster::row::{PendingTool, Row, Source, Subagents};
use watchbill_core::session::facts::TranscriptFacts;
use watchbill_core::session::fold::SessionFold;
use watchbill_core::session::refusals::RefusedRow;
use watchbill_core::session::state::{State, StateKind};
use watchbill_core::time::{Millis, Timestamp};
use watchbill_core::transcript::record::{CompactTrigger, SUBAGENT};
use watchbill_drive::fold::OwnFold;

use crate::model::parts::Joined;
use crate::model::session::{minus, plus};
use crate::model::verdict::{RowInputs, joined_verdict, open_calls};
use crate::witnesses::hooks::HookSession;
use crate::witnesses::own::OwnWitness;

/// A session that has only a registry file gets a row when it is this old. With `--continue`, the registry names a
/// throw-away session for up to 400 ms (client 2.1.329).
pub const NEW_SESSION_DWELL: Millis = Millis::from_secs(1);

/// The client draws its status line after each answer. Records that are so much newer come from a client that no longer tells.
const SAID_LASTS: Millis = Millis::from_secs(60);

/// The open calls to show. If a better witness says that the turn is over, there are none.
fn shown_calls(verdict: &Verdict, calls: Vec<PendingTool>) -> Vec<PendingTool> {
    match (verdict.state, verdict.kind) {
        (State::Working | State::WaitingForApproval, _)
        | (State::WaitingForInput, Some(StateKind::Dialog)) => calls,
        // An unanswered question is still open, even when silence has made the session idle.
        (State::Idle, _) if verdict.reason.source == Source::Timeout => calls,
        _ => Vec::new(),
    }
}

/// The registry file that represents a session. A running process's file goes before a dead one's.
fn entry<'a>(inputs: &RowInputs<'a>) -> Option<&'a InstanceWitness> {
    inputs.registry.all().filter(|witness| witness.entry.session == *inputs.id).max_by_key(|witness| {
        // Compare the file's own times, not our read times: another program must choose the same file.
        let entry = &witness.entry;
        (witness.liveness != Liveness::Dead, entry.status_at, entry.started_at, &entry.instance)
    })
}

/// The time when a session that only a registry file knows gets its row.
pub fn row_due_at(witness: &InstanceWitness) -> Timestamp {
    witness.entry.started_at.unwrap_or(witness.seen_at) + NEW_SESSION_DWELL
}

/// The session's place on the screen. A hook's sender saw the innermost terminal; the registry knows tmux.
fn terminal(hooks: Option<&HookSession>, tmux: Option<&Arc<str>>) -> Option<Arc<TerminalContext>> {
    let terminal = hooks.and_then(HookSession::terminal);
    match (terminal, tmux) {
        (Some(terminal), Some(target)) if &*terminal.kind == "tmux" => {
            let mut both = TerminalContext::clone(terminal);
            both.ids.insert(TerminalContext::TMUX_TARGET.into(), Arc::clone(target));
            Some(Arc::new(both))
        }
        (Some(terminal), _) => Some(Arc::clone(terminal)),
        (None, target) => target.map(|target| Arc::new(TerminalContext::of_tmux(target))),
    }
}

/// The pane of the process that parked the session. The process that runs it has none.
fn parked_in<'a>(inputs: &RowInputs<'a>) -> Option<&'a Arc<str>> {
    inputs.registry.parked(inputs.id).filter(|_| inputs.live)?.entry.tmux.as_ref()
}

/// What the session's status file says of its work. Only such a file calls a session blocked or completed.
fn told_by_file(inputs: &RowInputs<'_>, kind: Option<StateKind>) -> Option<Arc<str>> {
    let file = &inputs.status_file?.file;
    let counts = matches!(kind, Some(StateKind::Blocked | StateKind::Completed));
    file.summary.as_ref().or(file.task.as_ref()).filter(|_| counts).cloned()
}

/// The title. What the user, the agent or its client gave goes before what the model proposes, and that before the first prompt.
fn title(
    inputs: &RowInputs<'_>,
    entry: Option<&RegistryEntry>,
    hooks: Option<&HookSession>,
) -> Option<Arc<str>> {
    let facts = inputs.fold.map(|(_, fold)| fold.facts());
    inputs
        .given_name
        .or_else(|| facts.and_then(TranscriptFacts::given_title))
        .or_else(|| entry.and_then(|entry| entry.user_name.as_ref()))
        .or_else(|| hooks.and_then(HookSession::title))
        .or(inputs.proposed_title)
        .cloned()
        .or_else(|| facts.and_then(TranscriptFacts::title))
        .or_else(|| inputs.own.and_then(OwnWitness::title))
}

/// The calls that the agent's reviewer refused, by the transcripts and by hooks that are ahead of them.
fn refused(inputs: &RowInputs<'_>, hooks: Option<&HookSession>) -> Option<Arc<RefusedRow>> {
    let fold = inputs.fold.map(|(_, fold)| fold);
    let mut refusals = fold.map(|fold| fold.facts().refusals.clone()).unwrap_or_default();
    let of_agents = inputs.session.into_iter().flat_map(|session| session.agent_refusals.values());
    of_agents.for_each(|more| refusals.join(more));
    if let Some(hooks) = hooks {
        hooks.add_refused(&mut refusals, fold.and_then(SessionFold::clock));
    }
    let refused = refusals.shown()?.clone();
    let allow = (traits(inputs.agent()).allow_rule)(&refused.last.tool, &refused.last.target);
    Some(Arc::new(RefusedRow { refused, allow }))
}

/// The agent's word for how a program started the session. Own sessions are answered here, and what the process says
/// goes before what an earlier one wrote.
fn started_by(inputs: &RowInputs<'_>, entry: Option<&RegistryEntry>) -> Option<Arc<str>> {
    let word = entry
        .filter(|_| inputs.live)
        .and_then(|entry| entry.entrypoint.as_ref())
        .or_else(|| inputs.fold?.1.facts().entrypoint.as_ref())?;
    let is_program = inputs.own.is_none() && traits(inputs.agent()).is_of_program(word);
    is_program.then(|| Arc::clone(word))
}

/// The command that shows a background session of the agent.
fn attach(inputs: &RowInputs<'_>, witness: Option<&InstanceWitness>) -> Option<Arc<str>> {
    // One in a container or on another machine cannot be shown from here.
    let here = witness.filter(|witness| witness.liveness == Liveness::Alive)?;
    attach_command(inputs.agent(), here.entry.job.as_ref()?).map(Arc::from)
}

/// The client's newest word, if it is not behind the session. It is when its status line is no longer ours.
fn said_now<'a>(inputs: &RowInputs<'a>, recorded_at: Option<Timestamp>) -> Option<&'a StatusLine> {
    let is_behind = |at: Timestamp| recorded_at.is_some_and(|recorded| recorded.since(at) >= SAID_LASTS);
    inputs.said.filter(|said| !is_behind(said.heard)).map(|said| &*said.word)
}

/// The row of one session, and the time to check it again. `None` if it has no row (yet).
pub fn row(inputs: &RowInputs<'_>) -> Option<(Row, Option<Timestamp>)> {
    let facts = inputs.fold.map(|(_, fold)| fold.facts());
    let is_part = facts.is_some_and(|facts| facts.entrypoint.as_deref() == Some(SUBAGENT));
    if is_part || inputs.is_shown_by_host {
        return None;
    }
    let Joined { verdict, asking, running } = joined_verdict(inputs)?;
    let witness = entry(inputs);
    let entry = witness.map(|witness| &witness.entry);
    let hooks = inputs.hooks.filter(|_| inputs.live);
    let started = entry.and_then(|entry| entry.started_at).or_else(|| hooks.and_then(HookSession::first_at));
    // A session that sends hooks keeps its id; a registry file alone may name a temporary session. A lock alone names no folder,
    // and may be of a thread that is no session of the user.
    let tells = |witness: &InstanceWitness| !witness.entry.is_bare() && row_due_at(witness) <= inputs.now;
    let ripe = hooks.is_some() || witness.is_some_and(tells);
    let own = inputs.own;
    if inputs.fold.is_none() && own.is_none() && !(verdict.live && ripe) {
        return None;
    }
    // Only modes and titles, without a time: nothing has happened in this session, and no process runs it.
    let begun = inputs
        .fold
        .is_some_and(|(_, fold)| fold.facts().created_at.is_some() || fold.reading().state != State::Idle);
    if !begun && !verdict.live && own.is_none() {
        return None;
    }
    let chain = inputs.chains.of(inputs.id);
    let hosted = own.map(|own| &own.fold);
    let last_activity = facts.and_then(|facts| facts.last_activity_at).or(started);
    let last_activity = last_activity.max(hosted.map(OwnFold::last_at)).max(inputs.parts.last_activity_at);
    let last_activity = last_activity.unwrap_or(verdict.since);
    // While it runs, its host is ahead of the transcript.
    let ahead = hosted.filter(|fold| fold.is_live());
    let session = inputs.session;
    let tokens = inputs.fold.map(|(_, fold)| {
        let agents = session.map(|session| session.agent_tokens).unwrap_or_default();
        let agents = plus(agents, inputs.parts.deeper_tokens);
        let inherited = session.map(|session| session.inherited).unwrap_or_default();
        plus(minus(fold.ledger().total(), inherited), agents)
    });
    let tokens = tokens.or(hosted.and_then(|fold| fold.tokens));
    let subagents = session
        .into_iter()
        .flat_map(|session| session.agents.keys().filter(|path| !session.aside.contains(*path)));
    let agents_total = subagents.count() + inputs.parts.deeper;
    let launched = inputs.fold.map_or(0, |(_, fold)| fold.facts().subagents_running);
    let working = session.map_or(0, |session| session.agents_running.len());
    let launched = launched.max(u32::try_from(working).unwrap_or(u32::MAX));
    let launched = if verdict.live || !inputs.live { launched } else { 0 };
    let calls = asking.map(|part| part.calls.clone());
    let pending_tools =
        calls.unwrap_or_else(|| shown_calls(&verdict, open_calls(inputs, &inputs.instances())));
    let (hosted_used, hosted_size) =
        hosted.and_then(|fold| fold.context).map_or((None, None), |(used, size)| (Some(used), size));
    let context_used = hosted_used
        .filter(|_| ahead.is_some())
        .or(facts.and_then(|facts| facts.context_used))
        .or(hosted_used);
    let said = said_now(inputs, facts.and_then(|facts| facts.last_activity_at));
    let said_context = said.and_then(|said| said.context);
    let (said_used, context_percent) = said_context.and_then(|context| context.used).unzip();
    let context_used = said_used.or(context_used);
    let carried_on = facts.filter(|_| verdict.live || !inputs.live);
    let repository = session.and_then(|session| session.repository.as_ref());
    let attach = attach(inputs, witness.filter(|_| verdict.live));
    let mut row = Row {
        session_id: inputs.id.clone(),
        agent: inputs.agent(),
        state: verdict.state,
        state_kind: verdict.kind,
        state_since: verdict.since,
        state_reason: verdict.reason,
        limit_resets_at: None,
        outcome: facts
            .filter(|_| verdict.kind == Some(StateKind::TurnEnded))
            .and_then(|facts| facts.work.outcome(facts.last_activity_at)),
        needs: None,
        request: None,
        snoozed_until: None,
        snooze_ended_at: None,
        put_away: false,
        unseen: false,
        pending_tools,
        goal: facts
            .and_then(|facts| facts.goal.clone())
            .or_else(|| hosted.and_then(|fold| fold.goal.clone())),
        summary: told_by_file(inputs, verdict.kind).or_else(|| facts.and_then(|facts| facts.summary.clone())),
        title: title(inputs, entry, hooks),
        // The agent writes `HEAD` for a folder without a repository and for a detached head. Neither is a branch.
        branch: facts.and_then(|facts| facts.branch.clone()).filter(|branch| **branch != *"HEAD"),
        repo_root: repository.map(|found| found.top.clone()),
        worktree_of: repository.and_then(|found| found.main.clone()),
        project_id: inputs
            .fold
            .and_then(|(path, fold)| project_of(path, fold.cwd().map(|cwd| &**cwd)))
            .map(Arc::from),
        cwd: inputs
            .fold
            .and_then(|(_, fold)| fold.cwd().cloned())
            .or_else(|| entry.and_then(|entry| entry.cwd.clone()))
            .or_else(|| hooks.and_then(|hooks| hooks.cwd().cloned()))
            .or_else(|| own.map(|own| own.spec.cwd.as_str().into())),
        transcript_path: inputs.fold.map(|(path, _)| Arc::from(path.to_string_lossy())),
        last_activity_at: last_activity,
        created_at: facts.and_then(|facts| facts.created_at).or(started).or(own.map(|own| own.created_at)),
        superseded: chain.and_then(|chain| chain.superseded.get(inputs.id).cloned()),
        work_chain_id: chain.map_or_else(|| ChainId::derive(inputs.id), |chain| chain.id.clone()),
        work_chain_name: chain.and_then(|chain| chain.name.clone()),
        compaction_count: chain.map_or(0, |chain| chain.compaction_count),
        segment_count: chain.map_or(1, |chain| chain.segment_count),
        // Hooks report a new mode at once, the transcript only with the next prompt.
        permission_mode: ahead
            .and_then(|fold| fold.mode.clone())
            .or_else(|| hooks.and_then(|hooks| hooks.mode().cloned()))
            .or_else(|| facts.and_then(|facts| facts.permission_mode.clone()))
            .or_else(|| hosted.and_then(|fold| fold.mode.clone())),
        model: ahead
            .and_then(|fold| fold.model.clone())
            .or_else(|| said?.model.clone())
            .or_else(|| facts.and_then(|facts| facts.model.clone()))
            .or_else(|| hooks.and_then(|hooks| hooks.model().cloned()))
            .or_else(|| hosted.and_then(|fold| fold.model.clone())),
        agent_version: facts
            .and_then(|facts| facts.version.clone())
            .or_else(|| entry.and_then(|entry| entry.version.clone()))
            .or_else(|| hosted.and_then(|fold| fold.version.clone())),
        pid: verdict.pid,
        // Hooks of a background session see the terminal of the process that keeps it. No window shows that one.
        terminal: terminal(
            hooks.filter(|_| attach.is_none()),
            verdict.tmux.as_ref().or_else(|| parked_in(inputs)),
        ),
        attach,
        tokens,
        context_used,
        context_size: hosted_size
            .or_else(|| Some(inputs.said?.word.context?.size))
            .or_else(|| chain.and_then(|chain| full_at(&chain.segments)))
            .filter(|size| context_used <= Some(*size)),
        context_percent,
        subagents: Subagents {
            running: launched.saturating_add(u32::try_from(running).unwrap_or(u32::MAX)),
            total: u32::try_from(agents_total).unwrap_or(u32::MAX).max(launched),
        },
        // When the process has ended, its background tasks and queued prompts are void. The transcript does not tell.
        background_tasks: carried_on.map_or(0, |facts| facts.background_tasks),
        queued_prompts: ahead
            .map(OwnFold::queued)
            .unwrap_or_else(|| carried_on.map_or(0, |facts| facts.queued_prompts)),
        refused: refused(inputs, hooks),
        started_by: started_by(inputs, entry),
        pull_request: inputs
            .said
            .and_then(|said| said.word.pull_request.as_ref())
            .map(|found| (found.number, Arc::clone(&found.url)))
            .or_else(|| facts.and_then(|facts| facts.pull_request.clone())),
        said: inputs.said.map(|said| (Arc::clone(&said.word), said.at)),
        live: verdict.live,
        own: own.map(|own| Arc::new(own.row())),
    };
    let rouses = inputs.set_aside.and_then(|aside| aside.apply_to_row(&mut row, inputs.now));
    Some((row, verdict.next.into_iter().chain(rouses).min()))
}

/// The context size in tokens at the last automatic compaction. There is no other source: neither transcripts nor hooks
/// name the size (client 2.1.329), and one model comes in several sizes.
fn full_at(segments: &[(SessionId, Segment)]) -> Option<u64> {
    let boundaries = segments.iter().rev().filter_map(|(_, segment)| segment.boundary);
    boundaries
        .filter(|boundary| boundary.trigger == CompactTrigger::Auto)
        .find_map(|boundary| boundary.pre_tokens)
}
