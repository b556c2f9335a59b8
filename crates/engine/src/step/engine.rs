//! The one loop's body: `Engine::step(now, Input) -> Vec<Output>`, synchronous, without a runtime.
//!
//! A step takes in one input, works off everything due, and gives its requests. `rooms.rs` has the engine's state.
//! `questions.rs` and `user_commands.rs` have more of its methods.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use watchbill_agents::Root;
use watchbill_core::attention::{AttentionEvent, Counts};
use watchbill_core::chain::chains::Chains;
use watchbill_core::chain::link::Link;
use watchbill_core::ids::SessionId;
use watchbill_core::problem::Problem;
use watchbill_core::requests::open::Asked;
use watchbill_core::roster::row::Row;
use watchbill_core::time::Timestamp;
use watchbill_core::user::UserEdits;
use watchbill_watch::fs::Fs;

use super::compare_states::ShownStates;
use super::restore::Restoring;
use super::rooms::Rooms;
use super::{
    attention, changes, clock, first_scan, own, processes, reconcile, requests, settings, settle, user_edits,
    verdicts, waking, working_folders,
};
use crate::model::distant::Distant;
use crate::model::paths::Paths;
use crate::model::publish::Current;
use crate::model::sessions::Sessions;
pub use crate::model::work::WorkCount;
use crate::persist::changes::Changes;
pub use crate::persist::evict::StoredStates;
use crate::step::input::{Input, Output};
use crate::transcripts::{Loaded, TrackedFile};
use crate::witnesses::hooks::Hooks;
use crate::witnesses::registry::Registry;
pub use crate::world::environment::{Outlook, Sources};
use watchbill_settings::Settings;

/// The engine's state, and the functions on it.
pub struct Engine {
    pub(super) rooms: Rooms,
}

impl Engine {
    /// An engine without any data.
    pub fn new(settings: Settings, world: Sources, outlook: Outlook, now: Timestamp) -> Self {
        Self { rooms: Rooms::new(settings, world, outlook, now) }
    }

    /// Takes in one input. Ignores a small step back of `now`, and follows a larger one.
    pub fn step(&mut self, now: Timestamp, input: Input) -> Vec<Output> {
        let rooms = &mut self.rooms;
        let mut out = Vec::new();
        let mut chains_may_wait = false;
        clock::tell_time(rooms, now);
        match input {
            Input::Hints(hints) => reconcile::take_hints(rooms, hints, &mut out),
            Input::Loaded(batch) => chains_may_wait = first_scan::take_batch(rooms, batch, &mut out),
            Input::Found(found) => reconcile::reconcile(rooms, found, &mut out),
            Input::ScanEnded(problems) => first_scan::end(rooms, problems, &mut out),
            Input::Wake(most) => waking::wake(rooms, most, &mut out),
            Input::Rescanned(found) => reconcile::take_rescan(rooms, found, &mut out),
            Input::ProcessEnded(pid) => processes::recheck(rooms, pid, &mut out),
            Input::Hooks(mut messages) => {
                // What a program says over HTTP enters the history and changes no state.
                messages.retain(|message| !message.over_http);
                reconcile::take_hooks(rooms, &messages, &mut out);
            }
            Input::Settings(settings) => settings::take_settings(rooms, *settings),
            Input::Deadline => {}
            Input::Folders(looks) => working_folders::take_looks(rooms, looks),
            Input::Attention(attention) => attention::take_attention(rooms, attention),
            Input::Ask(request, message) => requests::ask(rooms, *request, &message, &mut out),
            Input::Printed(id) => requests::printed(rooms, &id, &mut out),
            Input::HookGone(id) => requests::hook_gone(rooms, &id, &mut out),
            Input::Undelivered(id) => requests::undelivered(rooms, &id, &mut out),
            Input::Own(news) => own::apply_own_inputs(rooms, news, &mut out),
            Input::Server(news) => processes::take_server_news(rooms, news, &mut out),
            Input::HolderRequests(asked) => requests::take_holders(rooms, asked),
            Input::ReleaseAll => requests::release_all(rooms, &mut out),
            Input::Watching(problems) => rooms.problems.set_watching(problems),
        }
        settle::work_off_deadlines(rooms, &mut out);
        settle::settle(rooms, chains_may_wait, &mut out);
        rooms.startup.end_step();
        out
    }

    /// From now on, other threads look at working folders, and the results come as inputs. In a step, a folder on a
    /// dead mount would block the loop.
    pub fn look_on_other_threads(&mut self) {
        self.rooms.env.look_elsewhere();
    }

    /// Reads every registry file, and notes which registry folders are readable. Every start does this first.
    pub fn read_registries(&mut self, out: &mut Vec<Output>) {
        processes::read_registries(&mut self.rooms, out);
    }

    /// Takes files in. The next step works off their effects.
    pub(crate) fn take_first(&mut self, batch: impl IntoIterator<Item = Loaded>) {
        first_scan::take_all(&mut self.rooms, batch);
    }

    /// Takes the remaining facts of sessions that it does not hold. Only for a look at the default roster, before the
    /// first step.
    pub(crate) fn take_distant(&mut self, distant: Distant) {
        first_scan::take_distant(&mut self.rooms, distant);
    }

    /// Whether the first scan still runs.
    pub fn is_reading(&self) -> bool {
        self.rooms.startup.is_reading()
    }

    /// When a half-written registry or marker file is to be read again.
    pub(crate) fn next_retry(&self) -> Option<Timestamp> {
        self.rooms.schedule.next_retry()
    }

    /// When the caller must step the engine with [`Input::Deadline`], if nothing happens before.
    pub fn next_deadline(&self) -> Option<Timestamp> {
        self.rooms.schedule.next()
    }

    /// The work so far.
    pub fn work(&self) -> WorkCount {
        self.rooms.work
    }

    /// The engine's time.
    pub fn now(&self) -> Timestamp {
        self.rooms.env.now()
    }

    /// The user's settings.
    pub fn settings(&self) -> &Settings {
        self.rooms.env.settings()
    }

    /// The file system that the engine reads.
    pub fn fs(&self) -> &dyn Fs {
        self.rooms.env.fs()
    }

    /// The file system, shared with other threads.
    pub(crate) fn shared_fs(&self) -> Arc<dyn Fs> {
        Arc::clone(self.rooms.env.shared_fs())
    }

    /// The canonical roots.
    pub fn roots(&self) -> &[Root] {
        self.rooms.env.roots()
    }

    /// The roots that count now, as the settings spell them.
    pub(crate) fn roots_now(&self) -> Vec<Root> {
        self.rooms.env.roots_now()
    }

    /// Whether a file lies below this engine's roots. Another run may have had other roots.
    pub(crate) fn is_below_roots(&self, path: &Path) -> bool {
        self.rooms.env.place_of(path).is_some()
    }

    /// The registry as it was read.
    pub fn registry(&self) -> &Registry {
        self.rooms.witnesses.registry()
    }

    /// All facts from hooks.
    pub fn hooks(&self) -> &Hooks {
        self.rooms.witnesses.hooks()
    }

    /// Whether a registry file or a hook names a process of this id, and it runs.
    pub fn is_known_process(&self, pid: u32) -> bool {
        self.rooms.witnesses.is_heard(pid)
    }

    /// The processes of sessions that run, as the registry and the hooks name them.
    pub(crate) fn running_processes(&self) -> Vec<u32> {
        let mut running = self.rooms.witnesses.running_processes();
        running.extend(self.rooms.own.agents());
        running
    }

    /// The sessions that a process or a host is known to run.
    pub(crate) fn living_sessions(&self) -> BTreeSet<SessionId> {
        let mut living = self.rooms.witnesses.live_sessions(true);
        let runs = |id: &&SessionId| self.rooms.own.of(id).is_some_and(|own| own.fold.is_live());
        living.extend(self.rooms.own.sessions().filter(runs).cloned());
        living
    }

    /// The running processes of a session, as the registry names them.
    pub(crate) fn processes_of(&self, session: &SessionId) -> Vec<u32> {
        self.rooms.witnesses.alive_processes_of(session)
    }

    /// The numbers of own sessions whose hosts run, and of all others.
    pub(crate) fn count_own(&self) -> (usize, usize) {
        self.rooms.own.counts()
    }

    /// All sessions and their transcripts.
    pub(crate) fn sessions(&self) -> &Sessions {
        &self.rooms.sessions
    }

    /// The transcript that represents a session: of several, the one that was active last.
    pub fn main_file(&self, session: &SessionId) -> Option<(&Path, &TrackedFile)> {
        self.rooms.sessions.main_file(session)
    }

    /// The paths of all known transcripts.
    pub fn known_files(&self) -> Paths {
        self.rooms.sessions.files().paths().map(|path| path.as_os_str().to_owned()).collect()
    }

    /// The transcripts of all sessions that the default roster shows, and of their subagents.
    pub(crate) fn shown_files(&self) -> impl Iterator<Item = PathBuf> {
        let shown = self.rooms.rows.published(false).iter().map(|row| &row.id);
        self.rooms.sessions.transcripts_of(shown)
    }

    /// One view for subscribers. `all` includes superseded, ended and long idle sessions. That view is complete when
    /// the first look is over and no session [is waking](Engine::is_waking), or after [`Engine::wake_all`].
    pub fn current(&self, all: bool) -> Current<'_> {
        Current {
            revision: self.rooms.rows.revision(),
            now: self.now(),
            rows: self.rooms.rows.published(all),
            problems: self.rooms.problems.published(),
            reading: self.is_reading(),
            muted_until: self.rooms.alerting.muted_until(),
            limits: self.rooms.status_lines.published(),
        }
    }

    /// The row of a session, shown or not.
    pub fn row(&self, session: &SessionId) -> Option<Row> {
        verdicts::row_of(&self.rooms, session)
    }

    /// All chains; in default-roster mode, only those of sessions it can show.
    pub fn chains(&self) -> &Chains {
        self.rooms.chains.chains()
    }

    /// Whether the sessions are tied differently now than by this stored link.
    pub fn has_untied(&self, link: &Link) -> bool {
        self.rooms.chains.has_untied(&self.rooms.sessions, link)
    }

    /// The number of sessions in the default roster that need the user now, by kind of need.
    pub fn needs(&self) -> Counts {
        self.rooms.alerting.counts(self.now())
    }

    /// The present needs, for a subscriber that begins to listen now; `None` during the first scan.
    pub(crate) fn present_needs(&mut self) -> Option<AttentionEvent> {
        attention::already_so(&mut self.rooms)
    }

    /// The caller will ask only for the default roster, so sessions at rest get no rows.
    pub fn only_default_roster(&mut self) {
        self.rooms.rows.resting_mut().never_make_rows();
    }

    /// Makes the rows of sessions at rest, so that [`Engine::current`] gives all rows. Also ties the sessions that the
    /// first scan has read so far.
    pub fn wake_all(&mut self) -> Vec<Output> {
        waking::wake_all(&mut self.rooms)
    }

    /// Whether sessions wait to get their rows by [`Input::Wake`], when there is time.
    pub fn is_waking(&self) -> bool {
        self.rooms.rows.resting().is_waking()
    }

    /// The number of all rows, made or not.
    pub fn count_all(&self) -> usize {
        let Rooms { rows, distant, .. } = &self.rooms;
        rows.count() + distant.count(|id| rows.resting().contains(id))
    }

    /// Whether rows are due. The next step makes them.
    pub fn has_due_rows(&self) -> bool {
        !self.rooms.rows.due().is_empty()
    }

    /// The user edits in force.
    pub fn user_edits(&self) -> &UserEdits {
        &self.rooms.user_edits
    }

    /// Requests and the answers to them.
    pub(crate) fn requests(&mut self) -> requests::UserAnswers<'_> {
        requests::UserAnswers(&mut self.rooms)
    }

    /// The request of a session to show.
    pub fn asked(&self, session: &SessionId) -> Option<Asked> {
        requests::asked(&self.rooms, session)
    }

    /// Replaces all user edits with the stored ones.
    pub fn restore_user_edits(&mut self, user_edits: UserEdits) {
        user_edits::restore(&mut self.rooms, user_edits);
    }

    /// Restores the stored state at a start.
    pub(crate) fn restoring(&mut self) -> Restoring<'_> {
        Restoring(&mut self.rooms)
    }

    /// From now on, notes all changes for [`Engine::take_changes`], and the data that is known already.
    pub fn keep(&mut self) {
        changes::keep(&mut self.rooms);
    }

    /// Changes are only stored, and no caller sees rows. So the rows and folds of thousands of sessions do not stay in
    /// memory.
    pub fn only_store(&mut self) {
        self.rooms.pending.keep_alone();
        self.only_default_roster();
    }

    /// Queues everything again, because another process was the writer.
    pub fn requeue_everything(&mut self) {
        changes::keep_everything(&mut self.rooms);
    }

    /// Queues everything of these sessions: the store has nothing of them, and may store them again.
    pub fn requeue_sessions(&mut self, sessions: &[SessionId]) {
        changes::keep_anew(&mut self.rooms, sessions);
    }

    /// Whether changes are noted, to store them.
    pub fn collects_changes(&self) -> bool {
        self.rooms.pending.is_on()
    }

    /// Takes the changes since the last call.
    pub fn take_changes(&mut self) -> Changes {
        changes::take_changes(&mut self.rooms)
    }

    /// Notes the sessions of these changes that the present rules exclude.
    pub(crate) fn leave_out(&self, changes: &mut Changes) {
        changes::leave_out(&self.rooms, changes);
    }

    /// Sets the source of evicted files.
    pub fn set_recall(&mut self, recall: Arc<dyn StoredStates>) {
        self.rooms.evicted.set_recall(recall);
    }

    /// Evicts the record memory of quiet files. `kept`: files of this save, and whether the store now holds their
    /// record memory (not so for excluded files).
    pub fn evict(&mut self, kept: impl IntoIterator<Item = (PathBuf, bool)>) {
        let Rooms { env, sessions, evicted, .. } = &mut self.rooms;
        evicted.evict(kept, sessions.files_mut(), env.now());
    }

    /// Sets the store's problem. The next step publishes it with the others.
    pub fn note_store(&mut self, trouble: Option<Problem>) {
        self.rooms.problems.set_store(trouble);
    }

    /// The present states of sessions, to compare them with the store.
    pub(crate) fn shown_states(&mut self) -> ShownStates<'_> {
        ShownStates(&mut self.rooms)
    }
}
