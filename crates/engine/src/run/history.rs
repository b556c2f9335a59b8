//! Starts the history's thread when the roster is complete, and lets it look again after each look at everything.

use std::path::PathBuf;
use std::sync::Arc;

use watchbill_agents::Root;
use watchbill_core::roster::{Group, group};
use watchbill_core::time::Timestamp;
use watchbill_drive::folder::Folder;

use super::Loop;
use watchbill_platform::files::real_path;

use crate::model::publish::Published;
use crate::persist::live_state::StoredLiveState;
use crate::run::hook_listener;
use crate::witnesses::own::OwnInput;
use watchbill_history::worker::{HistoryParts, HistoryThread};
use watchbill_settings::over_http_root;

impl Loop {
    /// Starts the thread if this engine holds the store. The thread does nothing before the roster is complete.
    pub(super) fn begin_history(&mut self) {
        let writes = self.stored.persist.as_ref().filter(|persist| persist.writes());
        if let (Some(persist), None) = (writes, &self.stored.history_thread) {
            self.faces.own.set_store(&persist.shared_store());
            let woken = Arc::clone(&self.inlets.woken);
            let data_dir = self.engine.settings().data_dir.clone().unwrap_or_default();
            let journal_of = data_dir.clone();
            self.stored.history_thread = Some(HistoryThread::start(HistoryParts {
                fs: self.engine.shared_fs(),
                shared_store: persist.shared_store(),
                roots: self
                    .engine
                    .roots()
                    .iter()
                    .chain(&self.engine.settings().awaited)
                    .cloned()
                    .chain(self.own_root().map(Root::from))
                    .chain([over_http_root(&data_dir).into()])
                    .collect(),
                settings: self.engine.settings().history.clone(),
                recovery: self.engine.settings().recovery,
                archive: self.engine.settings().archive,
                memory: self.engine.settings().memory.clone(),
                data_dir,
                clock: Arc::clone(&self.clock),
                reach: Arc::clone(&self.stored.reach),
                live: Arc::new(StoredLiveState),
                living: Arc::default(),
                journal: Box::new(move |now| hook_listener::recent(&journal_of, now)),
                wake_engine: Arc::new(move || woken.notify_one()),
            }));
        }
        if let Some(history_thread) =
            self.stored.history_thread.as_ref().filter(|_| !self.engine.is_reading())
        {
            history_thread.begin();
        }
    }

    /// The model is asked only while no session works, and recovery completes no session that lives.
    pub(super) fn tell_history_who_works(&self) {
        if let Some(history_thread) = &self.stored.history_thread {
            let works = |Published { row, .. }: &Published| {
                row.superseded.is_none() && group(row.state, row.state_kind) == Group::Working
            };
            let is_busy = self.engine.current(false).rows.iter().any(works);
            history_thread.set_sessions(is_busy, self.engine.living_sessions());
        }
    }

    /// The folder of own sessions, by the name that the history stores.
    fn own_root(&self) -> Option<PathBuf> {
        let folder = Folder::parent(self.engine.settings().data_dir.as_deref()?);
        Some(real_path(&folder).unwrap_or(folder))
    }

    /// Own sessions said something: their transcripts grew, where they have one.
    pub(super) fn own_sessions_said(&self, news: &[OwnInput]) {
        let (Some(history), Some(root)) = (&self.stored.history_thread, self.own_root()) else { return };
        let said = news.iter().filter_map(|news| match news {
            OwnInput::Events(id, _) => Some(Folder::at(&root.join(&**id)).transcripts()),
            _ => None,
        });
        history.files_grew(said.flatten().collect());
    }

    /// This engine holds the store from now on. The previous holder may not have received or stored the latest hook
    /// events, so pass them to the history again.
    pub(super) fn replay_recent_hook_events(&self, now: Timestamp) {
        if let (Some(history_thread), Some(data_dir)) =
            (&self.stored.history_thread, &self.engine.settings().data_dir)
        {
            history_thread.add_hook_events(hook_listener::recent(data_dir, now));
        }
    }
}
