//! Work that goes on after a turn: background shells, and subagents that run by themselves.

use serde::{Deserialize, Serialize};

use crate::session::id_set::text_hash;
use crate::time::Timestamp;

/// Limit of running work, far more than any session has. A file with endless launches cannot fill the memory.
const LIMIT: usize = 4096;

/// Background work of one kind, by the hash of its id.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct BackgroundWork {
    started: Vec<(u64, Timestamp)>,
}

impl BackgroundWork {
    /// Work with this id was launched.
    pub fn start(&mut self, id: &str, at: Timestamp) {
        let hash = text_hash(id);
        if self.started.len() < LIMIT && self.started.iter().all(|(known, _)| *known != hash) {
            self.started.push((hash, at));
        }
    }

    /// Work with this id has ended; `false` if it was not counted.
    pub fn end(&mut self, id: &str) -> bool {
        let hash = text_hash(id);
        let before = self.started.len();
        self.started.retain(|(known, _)| *known != hash);
        self.started.len() < before
    }

    /// The clock was set back: start times after `at` become `at`.
    pub fn set_back(&mut self, at: Timestamp) {
        for (_, started) in &mut self.started {
            *started = (*started).min(at);
        }
    }

    /// Forgets all work launched at or before `at`: it died with its process.
    pub fn forget_until(&mut self, at: Timestamp) {
        self.started.retain(|(_, started)| *started > at);
    }

    /// Forgets all work.
    pub fn clear(&mut self) {
        self.started.clear();
    }

    /// How many run.
    pub fn count(&self) -> u32 {
        u32::try_from(self.started.len()).unwrap_or(u32::MAX)
    }
}

/// The task's id in a task notification, if the text says that the task is over.
///
/// The same text arrives up to three times: queued, taken into a running turn, and as a prompt.
pub fn ended_task(text: &str) -> Option<&str> {
    if !text.trim_start().starts_with("<task-notification>") {
        return None;
    }
    let id = between(text, "<task-id>", "</task-id>")?;
    (between(text, "<status>", "</status>") != Some("running")).then_some(id)
}

fn between<'a>(text: &'a str, open: &str, close: &str) -> Option<&'a str> {
    let from = text.find(open)? + open.len();
    let to = text[from..].find(close)? + from;
    Some(text[from..to].trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_notification_names_the_task_that_ended() {
        let text = "<task-notification>\n<task-id>bhabj33mx</task-id>\n<status>completed</status>";
        assert_eq!(ended_task(text), Some("bhabj33mx"));
        assert_eq!(ended_task(&text.replace("completed", "running")), None);
        assert_eq!(ended_task("what does <task-id>x</task-id> mean?"), None);
        assert_eq!(ended_task("<task-notification><task-id>x"), None);
    }

    #[test]
    fn work_ends_once() {
        let mut running = BackgroundWork::default();
        running.start("a", Timestamp::from_millis(1));
        running.start("a", Timestamp::from_millis(2));
        running.start("b", Timestamp::from_millis(3));
        assert_eq!(running.count(), 2);
        assert!(running.end("a"));
        assert!(!running.end("a"));
        running.forget_until(Timestamp::from_millis(3));
        assert_eq!(running.count(), 0);
    }
}
