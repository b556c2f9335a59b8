//! Hook events as inputs, and what hangs on the processes that they come from.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use watchbill_core::evidence::registry::Liveness;
use watchbill_core::hook::{HookMessage, TerminalContext};
use watchbill_core::ids::SessionId;
use watchbill_core::problem::ProblemKind;
use watchbill_core::time::Timestamp;

use super::Engine;
use crate::children::Question;
use crate::input::Output;

/// The place that problems with hook events are noted at.
const HOOKS: &str = "hooks";

impl Engine {
    /// Takes hook events in, in whatever order they came.
    pub(super) fn take_hooks(&mut self, messages: Vec<HookMessage>, out: &mut Vec<Output>) {
        if !self.outlook.live {
            return;
        }
        for message in messages {
            self.take_hook(&message, out);
        }
    }

    fn take_hook(&mut self, message: &HookMessage, out: &mut Vec<Output>) {
        let payload = match message.parsed() {
            Ok(parsed) => {
                let mut payload = parsed.clone();
                self.settings.history.exclude.hide_in_event(&mut payload, &message.payload);
                payload
            }
            Err(error) => {
                let detail = format!("{error}; it was passed over");
                self.problems.add(&Arc::from(HOOKS), ProblemKind::MalformedHook, 1, &detail);
                self.problems_dirty = true;
                return;
            }
        };
        let late = |engine: &Self| engine.hooks.of(&payload.session).map_or(0, |told| told.too_late());
        let too_late = late(self);
        let change = self.hooks.take(&message.origin, &payload, message.replayed, &*self.world.processes);
        if late(self) > too_late {
            let detail = "a hook event came too late to be put into order; it was passed over";
            self.problems.add(&Arc::from(HOOKS), ProblemKind::LostHooks, 1, detail);
            self.problems_dirty = true;
        }
        if !change.new {
            return;
        }
        out.extend(change.watch.map(Output::WatchProcess));
        self.chains_dirty |= change.lives;
        // The agent writes around the time of its hooks; whichever is first leads to the other.
        if let Some(path) = &payload.transcript_path {
            self.look_at_file(Path::new(&**path), out);
        }
        self.dirty.insert(payload.session);
    }

    /// A process may have ended: one that hooks came from, or a child that was taken for a running tool.
    pub(super) fn recheck_heard(&mut self, pid: Option<u32>) {
        let heard = self.hooks.recheck(pid, &*self.world.processes);
        // Whoever took over from a session that nobody runs any more supersedes it.
        if !heard.is_empty() {
            self.processes_differ(&heard);
        }
        self.dirty.extend(heard);
        self.dirty.extend(self.children.concerned(pid));
    }

    /// Whether a registry file or a hook speaks for a process of this id, and it runs.
    pub fn is_heard(&self, pid: u32) -> bool {
        self.registry.runs(pid) || self.hooks.runs(pid)
    }

    /// Looks at what the session's process has started, if a call is open and nobody better tells whether it runs;
    /// says when to look again.
    pub(super) fn look_at_children(&mut self, id: &SessionId, out: &mut Vec<Output>) -> Option<Timestamp> {
        let question = self.outlook.live.then(|| self.open_question(id)).flatten();
        let (approval, now) = (self.settings.timeouts.approval, self.now);
        let change = self.children.look(id, question, approval, now, &*self.world.processes);
        // A tool call may have started an agent, which has a say of its own.
        let unheard = |pid: &u32| !self.is_heard(*pid);
        out.extend(change.forget.filter(unheard).map(Output::ForgetProcess));
        out.extend(change.watch.map(Output::WatchProcess));
        change.next
    }

    /// The newest open call of a session of which one process runs that no status of its own speaks for.
    fn open_question(&self, id: &SessionId) -> Option<Question> {
        let call = self.fold(id)?.pending_tools().into_iter().max_by_key(|call| call.since)?;
        let makings = self.makings(id);
        let instances = makings.instances();
        let [one] = instances.as_slice() else { return None };
        let silent = one.entry.status.is_none();
        let alive = one.liveness == Liveness::Alive;
        (silent && alive).then_some(Question {
            agent: one.entry.instance.pid,
            call: call.id,
            since: call.since,
        })
    }

    /// The terminal of each session that one is known of: any two keys are equal where the terminal is the same.
    pub(super) fn terminals(&self) -> BTreeMap<SessionId, Arc<str>> {
        let heard =
            self.hooks.sessions().filter_map(|(id, told)| Some((id.clone(), told.terminal()?.identity()?)));
        let mut terminals: BTreeMap<SessionId, Arc<str>> = heard.collect();
        for witness in self.registry.all() {
            // Where both speak, a hook's sender saw the innermost terminal, and the registry speaks of the present.
            let tmux = witness.entry.tmux.as_ref().map(TerminalContext::of_tmux);
            if let Some(terminal) = tmux.and_then(|tmux| tmux.identity()) {
                terminals.entry(witness.entry.session.clone()).or_insert(terminal);
            }
        }
        terminals
    }
}
