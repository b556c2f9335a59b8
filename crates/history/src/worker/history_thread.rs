//! Keeps the history in the store up to date while the engine runs, on a thread of its own.
//!
//! Files that have just grown go before files that are behind, and the thread that publishes goes before both: the
//! history holds the store for one slice at a time. Without work the thread sleeps, until it gets a task or until a
//! turn may have got stuck.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use watchbill_core::hook::HookMessage;
use watchbill_core::ids::SessionId;
use watchbill_settings::Settings;

use super::grown_files::{GrownFiles, GrownFilesReceiver};
use super::hook_queue::{HookQueue, HookQueueReceiver};
use super::model_asker::ModelAsker;
use super::model_queue::ModelQueue;
use super::task::{HistoryParts, OnRemoved, OnSettled, Task};
use super::worker_loop::Worker;
use crate::removal::request::Removal;

/// The thread. Dropping it ends the thread after its current slice.
pub struct HistoryThread {
    tasks: Option<Sender<Task>>,
    grown: Arc<GrownFiles>,
    hook_events: Arc<HookQueue>,
    thread: Option<JoinHandle<()>>,
    model: Arc<ModelQueue>,
    living: Arc<Mutex<BTreeSet<SessionId>>>,
    asker: Mutex<Asker>,
}

/// The thread that asks the model. It starts when a model is chosen.
enum Asker {
    Waits(Box<ModelAsker>),
    Runs(Option<JoinHandle<()>>),
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
        let model = Arc::new(ModelQueue::new(parts.settings.clone(), parts.memory.clone()));
        let (store, folder, clock) =
            (Arc::clone(&parts.shared_store), parts.data_dir.clone(), Arc::clone(&parts.clock));
        let asker =
            ModelAsker::new(Arc::clone(&model), store, folder, clock, None, Arc::clone(&parts.wake_engine));
        let living = Arc::clone(&parts.living);
        let is_chosen = parts.memory.model.is_chosen();
        let of_worker = Arc::clone(&model);
        let worker = move || Worker::new(parts, receivers.0, receivers.1, of_worker).run(&inbox);
        let thread = std::thread::Builder::new().name("watchbill-history".to_owned()).spawn(worker);
        if let Err(error) = &thread {
            tracing::warn!(%error, "the history's thread cannot start; `watchbill index` stores transcripts");
        }
        let asker = Mutex::new(Asker::Waits(Box::new(asker)));
        let history =
            Self { tasks: Some(tasks), grown, hook_events, thread: thread.ok(), model, living, asker };
        if is_chosen {
            history.start_asker();
        }
        history
    }

    fn start_asker(&self) {
        let mut asker = self.asker.lock().unwrap_or_else(PoisonError::into_inner);
        if let Asker::Runs(_) = *asker {
            return;
        }
        if let Asker::Waits(waiting) = std::mem::replace(&mut *asker, Asker::Runs(None)) {
            let thread = std::thread::Builder::new().name("watchbill-model".to_owned());
            let started = thread.spawn(move || waiting.run());
            if let Err(error) = &started {
                tracing::warn!(%error, "the thread that asks the model cannot start");
            }
            *asker = Asker::Runs(started.ok());
        }
    }

    /// The roster is complete: the history begins to read all files that are behind.
    pub fn begin(&self) {
        self.tell(Task::Begin);
        self.model.begin();
    }

    /// Whether any session works: the model is asked only while none does. And the sessions that a process is known
    /// to run.
    pub fn set_sessions(&self, is_busy: bool, living: BTreeSet<SessionId>) {
        self.model.set_busy(is_busy);
        let mut known = self.living.lock().unwrap_or_else(PoisonError::into_inner);
        if *known != living {
            *known = living;
            // A session may have ended.
            self.model.wake();
        }
    }

    /// Another thread has changed jobs or the pause.
    pub fn memory_changed(&self) {
        self.model.wake();
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
        if self.model.follow(&settings.history, &settings.memory) {
            self.start_asker();
        }
    }

    fn tell(&self, task: Task) {
        // A thread that has ended needs no tasks.
        let _ = self.tasks.as_ref().map(|tasks| tasks.send(task));
    }
}

impl Drop for HistoryThread {
    fn drop(&mut self) {
        self.tasks = None;
        self.model.end();
        let asker = self.asker.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Asker::Runs(Some(thread)) = std::mem::replace(asker, Asker::Runs(None)) {
            let _ = thread.join();
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
