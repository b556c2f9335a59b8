//! Keeps the history in the store up to date while the engine runs, on a thread of its own.
//!
//! Files that have just grown go before files that are behind, and the thread that publishes goes before both: the
//! history holds the store for one slice at a time. Without work the thread sleeps, until it gets a task or until a
//! turn may have got stuck.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

use watchbill_core::hook::HookMessage;
use watchbill_settings::Settings;

use super::grown_files::{GrownFiles, GrownFilesReceiver};
use super::hook_queue::{HookQueue, HookQueueReceiver};
use super::task::{HistoryParts, OnRemoved, OnSettled, Task};
use super::worker_loop::Worker;
use crate::removal::request::Removal;

/// The thread. Dropping it ends the thread after its current slice.
pub struct HistoryThread {
    tasks: Option<Sender<Task>>,
    grown: Arc<GrownFiles>,
    hook_events: Arc<HookQueue>,
    thread: Option<JoinHandle<()>>,
}

impl HistoryThread {
    /// Starts the thread. Until [`begin`](Self::begin) it copies the store's log and does the tasks that it gets, and
    /// looks for no files. If the thread cannot start there is no history, and everything else goes on.
    pub fn start(parts: HistoryParts) -> Self {
        let (tasks, inbox) = channel();
        let grown = Arc::<GrownFiles>::default();
        let hook_events = Arc::new(HookQueue::new(Arc::clone(&parts.reach)));
        let receivers =
            (GrownFilesReceiver::new(Arc::clone(&grown)), HookQueueReceiver::new(Arc::clone(&hook_events)));
        let worker = move || Worker::new(parts, receivers.0, receivers.1).run(&inbox);
        let thread = std::thread::Builder::new().name("watchbill-history".to_owned()).spawn(worker);
        if let Err(error) = &thread {
            tracing::warn!(%error, "the history's thread cannot start; `watchbill index` stores transcripts");
        }
        Self { tasks: Some(tasks), grown, hook_events, thread: thread.ok() }
    }

    /// The roster is complete: the history begins to read all files that are behind.
    pub fn begin(&self) {
        self.tell(Task::Begin);
    }

    /// The engine has stored something, so the store's log may be due for copying.
    pub fn stored(&self) {
        self.tell(Task::Stored);
    }

    /// These files have changed.
    pub fn files_grew(&self, paths: Vec<PathBuf>) {
        if self.grown.add(paths) {
            self.tell(Task::FilesGrew);
        }
    }

    /// Hooks have sent these messages. If too many wait, the thread reads them from the journal later.
    pub fn add_hook_events(&self, messages: Vec<HookMessage>) {
        if !messages.is_empty() && self.hook_events.add(messages) {
            self.tell(Task::HookEvents);
        }
    }

    /// Carries out a removal, and gives its outcome to `reply`.
    ///
    /// # Errors
    /// When there is no thread; returns `reply`.
    pub fn remove(&self, removal: Removal, reply: OnRemoved) -> Result<(), OnRemoved> {
        let task = Task::Remove(removal, reply);
        let Err(unsent) = self.tasks.as_ref().map_or(Ok(()), |tasks| tasks.send(task)) else { return Ok(()) };
        if let Task::Remove(_, reply) = unsent.0 { Err(reply) } else { Ok(()) }
    }

    /// Calls `reply` when everything that the thread knows by now is stored.
    pub fn when_stored(&self, reply: OnSettled) {
        self.tell(Task::WaitUntilStored(reply));
    }

    /// The thread checks the index, and rebuilds it if it is damaged.
    pub fn check_index(&self) {
        self.tell(Task::Damaged);
    }

    /// These settings apply from now on. Call [`begin`](Self::begin) after it, if the history has begun. The thread
    /// may still work for seconds under the old settings; the caller does not wait for that.
    pub fn follow(&self, settings: &Settings) {
        self.tell(Task::Settings(Box::new(settings.clone())));
    }

    fn tell(&self, task: Task) {
        // A thread that has ended needs no tasks.
        let _ = self.tasks.as_ref().map(|tasks| tasks.send(task));
    }
}

impl Drop for HistoryThread {
    fn drop(&mut self) {
        self.tasks = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
