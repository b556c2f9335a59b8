//! What goes on beside the turn: background work, queued prompts, the start of a process.

use super::SessionFold;
use super::records::RecordContext;
use crate::session::background::ended_task;
use crate::session::machine::Event;
use crate::time::Timestamp;
use crate::transcript::record::QueueOperation;

/// How many queued prompts are counted; more mean a broken file.
const QUEUE_LIMIT: usize = 1024;

impl SessionFold {
    /// A process started or resumed the session: work that an earlier process left running is gone. The record may
    /// be written after the first prompt, so only work that began before the record is forgotten.
    pub(super) fn fold_process_start(&mut self, source: &str, step: RecordContext<'_, '_>) {
        if !matches!(source, "startup" | "resume" | "fork") {
            return;
        }
        if let Some(at) = step.envelope.at {
            self.turn.pending.forget_until(at);
            self.turn.agents.forget_until(at);
            self.turn.announced_agents = 0;
            self.tasks.forget_until(at);
        }
        self.queue.clear();
        self.machine.handle(Event::Reconsider, step.now, &self.turn, step.out);
    }

    pub(super) fn fold_queue(&mut self, operation: &QueueOperation<'_>, now: Timestamp) {
        match operation {
            QueueOperation::Enqueue { text } => {
                let notice =
                    self.fold_notice(text, now) || text.trim_start().starts_with("<task-notification>");
                if !notice {
                    self.fold_goal(text);
                }
                if self.queue.len() < QUEUE_LIMIT {
                    self.queue.push(notice);
                }
            }
            QueueOperation::Dequeue | QueueOperation::Remove => {
                if !self.queue.is_empty() {
                    self.queue.remove(0);
                }
            }
            QueueOperation::PopAll => self.queue.retain(|notice| *notice),
            QueueOperation::Other => {}
        }
    }

    /// Handles a text that may be a notice of ended background work. Returns whether it was.
    pub(super) fn fold_notice(&mut self, text: &str, now: Timestamp) -> bool {
        let ended = ended_task(text).is_some_and(|id| self.end_background(id));
        if ended {
            // The turn that answers the notice begins in a moment. Until then, silence counts from now.
            self.turn.outside_activity_at = self.turn.outside_activity_at.max(Some(now));
        }
        ended
    }

    pub(super) fn end_background(&mut self, id: &str) -> bool {
        let agent = self.turn.agents.end(id);
        if agent {
            self.turn.announced_agents = self.turn.announced_agents.saturating_sub(1);
        }
        agent | self.tasks.end(id)
    }

    pub(super) fn count_background(&mut self) {
        self.facts.background_tasks = self.tasks.count();
        self.facts.subagents_running = self.turn.agents_running();
        self.facts.queued_prompts = self.queue.iter().filter(|notice| !**notice).count() as u32;
    }
}
