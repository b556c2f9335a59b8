//! Keeps the history in the store up to date while the engine runs, on a thread of its own.
//!
//! What has just grown goes before what is behind, and whoever publishes goes before both: the store is held for a
//! slice at a time. Nothing to do costs nothing: the thread sleeps until it is told of something, or until a turn may
//! have got stuck.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

use watchbill_core::hook::HookMessage;
use watchbill_settings::Settings;

use super::grown::{Grown, Takes};
use super::task::{HistorianParts, OnRemoved, Settled, Task};
use super::turns::Worker;
use crate::removal::request::Removal;

/// The thread. Dropping it ends it after the slice that it is at.
pub struct Historian {
    tasks: Option<Sender<Task>>,
    grown: Arc<Grown>,
    thread: Option<JoinHandle<()>>,
}

impl Historian {
    /// Starts the thread. Until it is told to [begin](Self::begin) it copies the store's log and stores what it is told of,
    /// and looks for nothing. Without a thread there is no history, and everything else goes on.
    pub fn start(parts: HistorianParts) -> Self {
        let (tasks, told) = channel();
        let grown = Arc::<Grown>::default();
        let takes = Takes::new(Arc::clone(&grown));
        let worker = move || Worker::new(parts, takes).run(&told);
        let thread = std::thread::Builder::new().name("watchbill-history".to_owned()).spawn(worker);
        if let Err(error) = &thread {
            tracing::warn!(%error, "no thread for the history; `watchbill index` stores it");
        }
        Self { tasks: Some(tasks), grown, thread: thread.ok() }
    }

    /// The roster is there: the history begins with all that is behind.
    pub fn begin(&self) {
        self.tell(Task::Begin);
    }

    /// Something was stored, whose log may be due to be copied.
    pub fn stored(&self) {
        self.tell(Task::Stored);
    }

    /// These files have changed.
    pub fn grown(&self, paths: Vec<PathBuf>) {
        if self.grown.add(paths) {
            self.tell(Task::Grown);
        }
    }

    /// Hooks have told this.
    pub fn heard(&self, messages: Vec<HookMessage>) {
        if !messages.is_empty() {
            self.tell(Task::Heard(messages));
        }
    }

    /// This is to be forgotten, or stored again. Who waits for it is given back where there is no thread to do it.
    ///
    /// # Errors
    /// When there is no thread; gives the receiver of the outcome back.
    pub fn remove(&self, removal: Removal, told: OnRemoved) -> Result<(), OnRemoved> {
        let task = Task::Remove(removal, told);
        let Err(untold) = self.tasks.as_ref().map_or(Ok(()), |tasks| tasks.send(task)) else { return Ok(()) };
        if let Task::Remove(_, told) = untold.0 { Err(told) } else { Ok(()) }
    }

    /// Tells `told` when everything is stored that the thread knows of by now.
    pub fn settle(&self, told: Settled) {
        self.tell(Task::Settle(told));
    }

    /// The index is to be looked through, and made anew if it is damaged.
    pub fn mend_index(&self) {
        self.tell(Task::Damaged);
    }

    /// From now on these settings count; to be followed by [begin](Self::begin), if that was said before. The thread may
    /// be at work for seconds that the old ones ask for, and nobody waits for it.
    pub fn follow(&self, settings: &Settings) {
        self.tell(Task::Settings(Box::new(settings.clone())));
    }

    fn tell(&self, task: Task) {
        // A thread that has ended wants to know nothing.
        let _ = self.tasks.as_ref().map(|tasks| tasks.send(task));
    }
}

impl Drop for Historian {
    fn drop(&mut self) {
        self.tasks = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
