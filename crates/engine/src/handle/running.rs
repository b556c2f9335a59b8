//! The handle of a running engine, for other threads: they subscribe, ask questions, give commands and stop the engine.

mod access;
mod changes;
mod days;
mod gate;
mod memory;
mod prompts;
mod requests;
mod timelines;
mod waiting;

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;
use watchbill_core::ids::SessionId;
use watchbill_core::time::Timestamp;
use watchbill_core::user::SessionCommand;
use watchbill_protocol::chain::WorkChain;
use watchbill_protocol::doctor::{Doctor, HookSettings};
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::focus::{FocusAnswer, FocusOutcome};
use watchbill_protocol::roster::{RosterMessage, RosterSnapshot};
use watchbill_protocol::search::{SearchAnswer, SearchQuery};
use watchbill_protocol::settings::ArchiveOffer;
use watchbill_protocol::why::Why;
use watchbill_terminal::SessionLocation;
use watchbill_watch::fs::Fs;

use crate::clock::{Clock, SystemClock};
use crate::handle::doctor::{self, scopes_with_timeout};
use crate::handle::file_looks::FileLooks;
use crate::handle::focus;
use crate::handle::hook_setup::ExpectedHooks;
use crate::model::publish::{AlertSink, RosterSink, Subscription, snapshot};
use crate::run::message::{Message, apply};
use crate::socket::access::{AccessError, CommandId};
use crate::step::input::AttentionInput;
use crate::world::mute::MuteFile;
use watchbill_history::query::search::StillWanted;
use watchbill_history::query::timeline::TimelineReader;
use watchbill_history::query::{self, Searcher};
use watchbill_history::{HistoryProgress, SharedStore};
use watchbill_settings::{Configuration, Settings};

/// The longest wait for an answer. If an answer takes longer, the engine is stuck, and the user gets an error.
const TIMEOUT: Duration = Duration::from_secs(30);

/// A running engine. Clones share it. It stops on [`Handle::stop`], or when the last clone is dropped.
#[derive(Clone)]
pub struct Handle {
    inbox: UnboundedSender<Message>,
    fs: Arc<dyn Fs>,
    timelines: Arc<Mutex<TimelineReader>>,
    searcher: Arc<Searcher>,
    is_demo: bool,
    settings: Arc<RwLock<Arc<Settings>>>,
    thread: Arc<Mutex<Option<JoinHandle<()>>>>,
    /// The sessions to which a prompt is on its way.
    prompts: Arc<Mutex<BTreeSet<SessionId>>>,
    /// The store of the engine: answers to hook processes must not wait for the loop. A handle that outlives the engine does
    /// not keep the store open.
    store: Arc<OnceLock<Weak<SharedStore>>>,
    /// Raises the window of this program, with a session selected.
    opens: Opener,
    /// Looks at the files that requests name.
    file_looks: FileLooks,
    /// Stops the engine when the last clone is dropped. The socket of the engine uses a handle without a stopper.
    _stopper: Option<Arc<Stopper>>,
}

/// The function that raises the window. A program with a window sets it once.
type Opener = Arc<OnceLock<Box<dyn Fn(Option<String>) + Send + Sync>>>;

/// Tells the loop that the last handle is gone. The loop holds a sender itself, so its channel never closes.
struct Stopper(UnboundedSender<Message>);

impl Drop for Stopper {
    fn drop(&mut self) {
        // The loop may have ended already.
        let _ = self.0.send(Message::Stop);
    }
}

impl Handle {
    /// The engine's own handle. It does not keep the engine running.
    pub(super) fn new(inbox: UnboundedSender<Message>, fs: Arc<dyn Fs>, settings: Settings) -> Self {
        let settings = Arc::new(settings);
        Self {
            inbox,
            fs,
            timelines: Arc::default(),
            searcher: Arc::new(Searcher::new(&settings)),
            is_demo: false,
            settings: Arc::new(RwLock::new(settings)),
            thread: Arc::default(),
            prompts: Arc::default(),
            store: Arc::default(),
            opens: Opener::default(),
            file_looks: FileLooks::default(),
            _stopper: None,
        }
    }

    /// A handle whose last clone stops the engine.
    pub(super) fn owning(&self, thread: JoinHandle<()>) -> Self {
        *self.thread.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread);
        Self { _stopper: Some(Arc::new(Stopper(self.inbox.clone()))), ..self.clone() }
    }

    /// The progress of the history, for searches.
    pub(super) fn reach(&self) -> &Arc<HistoryProgress> {
        self.searcher.reach()
    }

    /// Subscribes: the sink gets the snapshot first, then deltas without a gap. It returns `false` to unsubscribe.
    pub fn subscribe(&self, wants: Subscription, sink: RosterSink) {
        // If the loop has ended, the failed send drops the sink, and the owner of the sink notices.
        let _ = self.inbox.send(Message::Subscribe(wants, sink));
    }

    /// Subscribes to the attention policy's alerts and counts: first the present needs, then each change.
    pub fn listen(&self, sink: AlertSink) {
        let _ = self.inbox.send(Message::Listen(sink));
    }

    /// Mutes alerts until this time; `None` unmutes. The mute survives a restart.
    ///
    /// # Errors
    /// When muting works now, but cannot be stored for a restart.
    pub fn mute(&self, until: Option<Timestamp>) -> Result<(), ApiError> {
        // Store it first: the user may end the program as soon as the window shows it.
        let kept = self.keep_mute(until);
        let _ = self.inbox.send(Message::Attention(AttentionInput::Mute(until)));
        kept
    }

    fn keep_mute(&self, until: Option<Timestamp>) -> Result<(), ApiError> {
        let settings = self.settings();
        let Some(folder) = &settings.data_dir else { return Ok(()) };
        let file = MuteFile::of(folder);
        file.write(until).map_err(|error| {
            let message = format!(
                "this holds only until Watchbill ends, because {} cannot be written: {error}",
                file.path().display()
            );
            ApiError::new(ErrorCode::Unreadable, message)
        })
    }

    /// The user looks at these sessions, so the engine sends no alerts for them.
    pub fn set_in_front(&self, sessions: impl IntoIterator<Item = String>) {
        let sessions = sessions.into_iter().map(|session| SessionId::new(&session)).collect();
        let _ = self.inbox.send(Message::Attention(AttentionInput::InFront(sessions)));
    }

    /// The user looks at the terminal of a session.
    pub fn looked_at(&self, session: &str) {
        let _ = self.inbox.send(Message::Attention(AttentionInput::Looked(SessionId::new(session))));
    }

    /// Whether alerts make a sound.
    pub fn alerts_sound(&self) -> bool {
        self.settings().alerts.sound
    }

    /// The same engine, which this handle does not keep running.
    pub(crate) fn without_stopper(&self) -> Self {
        Self { _stopper: None, ..self.clone() }
    }

    /// Marks this handle as the demo's.
    pub(crate) fn of_the_demo(self) -> Self {
        Self { is_demo: true, ..self }
    }

    /// Whether this is the demo, which needs no alerts.
    pub fn is_demo(&self) -> bool {
        self.is_demo
    }

    /// Asks every window to select a session.
    ///
    /// # Errors
    /// When the session is not known.
    pub fn select(&self, asked: &str) -> Result<(), ApiError> {
        let asked = asked.to_owned();
        let id = self.ask_loop(move |engine, _| engine.find(&asked))??;
        let _ = self.inbox.send(Message::Broadcast(RosterMessage::Select { session_id: id.to_string() }));
        Ok(())
    }

    /// The roster now.
    ///
    /// # Errors
    /// When the engine has stopped.
    pub fn roster(&self, all: bool) -> Result<RosterSnapshot, ApiError> {
        self.ask_loop(move |engine, _| snapshot(&engine.current(all)))
    }

    /// The state of a session and every witness of it.
    ///
    /// # Errors
    /// When the session is not known or the engine has stopped.
    pub fn why(&self, session: &str) -> Result<Why, ApiError> {
        let session = session.to_owned();
        self.ask_loop(move |engine, _| engine.why(&session))?
    }

    /// The work chain of a session.
    ///
    /// # Errors
    /// When the session is not known or the engine has stopped.
    pub fn chain(&self, session: &str) -> Result<WorkChain, ApiError> {
        let session = session.to_owned();
        self.ask_loop(move |engine, _| engine.chain(&session))?
    }

    /// Carries out a user command. Sessions may be named as for [`crate::engine::Engine::find`]. On return, the command is in force
    /// and stored: by this engine, or by the holder of the store.
    ///
    /// # Errors
    /// When a session is not known, the command does not fit the current state, or the engine has stopped. Also when
    /// the command cannot be stored now. Then it is in force, and the engine stores it as soon as possible.
    pub fn carry_out_command(&self, command: SessionCommand) -> Result<(), ApiError> {
        self.command(&CommandId::new(), &command).map(drop).map_err(AccessError::into_api)
    }

    /// The sender of the engine's messages.
    pub(crate) fn inbox(&self) -> &UnboundedSender<Message> {
        &self.inbox
    }

    /// Sets the function that raises the window with a session selected, when another program asks for that.
    pub fn on_open(&self, open: impl Fn(Option<String>) + Send + Sync + 'static) {
        // A program has only one window, so a second call has no effect.
        let _ = self.opens.set(Box::new(open));
    }

    /// Whether this program has a window to raise.
    pub(crate) fn has_window(&self) -> bool {
        self.opens.get().is_some()
    }

    pub(crate) fn open_window(&self, session: Option<String>) -> Result<(), ApiError> {
        let none = || ApiError::new(ErrorCode::Unsupported, "this program has no window");
        self.opens.get().ok_or_else(none)?(session);
        Ok(())
    }

    /// Brings the terminal of a session to the front. Blocks the caller's thread for some seconds at most.
    ///
    /// # Errors
    /// When the session is not known or the engine has stopped. A terminal that cannot be shown is an answer, not an
    /// error.
    pub fn focus_terminal(&self, session: &str) -> Result<FocusAnswer, ApiError> {
        let answer = focus::focus(&self.session_location(session)?);
        if answer.outcome == FocusOutcome::Focused {
            self.looked_at(session);
        }
        Ok(answer)
    }

    /// Whether the user looks at the terminal of a session; `None` if unknown. Blocks the caller's thread for some
    /// seconds at most.
    ///
    /// # Errors
    /// When the session is not known or the engine has stopped.
    pub fn is_terminal_in_front(&self, session: &str) -> Result<Option<bool>, ApiError> {
        Ok(focus::in_front(&self.session_location(session)?))
    }

    /// The shell command that resumes a session, or shows one that runs in the background.
    ///
    /// # Errors
    /// When the session is not known or the engine has stopped.
    pub fn resume_command(&self, session: &str) -> Result<String, ApiError> {
        Ok(self.session_location(session)?.command())
    }

    /// The process, the terminal and the folder of a session: the one in which the agent finds its file.
    ///
    /// # Errors
    /// When the session is not known or the engine has stopped.
    pub fn session_location(&self, session: &str) -> Result<SessionLocation, ApiError> {
        let session = session.to_owned();
        self.ask_loop(move |engine, _| engine.session_location(&session))?
    }

    /// The report of `watchbill doctor`.
    ///
    /// # Errors
    /// When the engine has stopped.
    pub fn doctor(&self) -> Result<Doctor, ApiError> {
        let doctor =
            self.ask_loop(|engine, source| doctor::doctor(engine, &|root: &Path| source.mode_of(root)))?;
        // Read the store here: the loop must not wait for a disk.
        let settings = self.settings();
        let mut doctor = Doctor { store: query::health(&settings, &*self.fs), ..doctor };
        if doctor.store.as_ref().is_some_and(|store| store.trouble.is_some()) {
            // The index may be the trouble. The history looks, and makes it anew.
            let _ = self.inbox.send(Message::IndexDamaged);
        }
        if let Some(hooks) = &mut doctor.hooks {
            hooks.settings = self.hooks()?;
        }
        Ok(doctor)
    }

    /// The hooks, scope by scope.
    ///
    /// # Errors
    /// When the engine has stopped.
    pub fn hooks(&self) -> Result<Vec<HookSettings>, ApiError> {
        let projects = self.ask_loop(|engine, _| doctor::working_folders(engine))?;
        Ok(scopes_with_timeout(ExpectedHooks::without_client_versions(&self.settings()), projects))
    }

    /// An offer to archive: how much it would take and save.
    pub fn archive_offer(&self) -> ArchiveOffer {
        watchbill_history::archive::offer_at(&self.settings(), &*self.fs, SystemClock.now())
    }

    /// The current settings.
    pub fn settings(&self) -> Arc<Settings> {
        Arc::clone(&self.settings.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Applies new settings. Does not change the watched folders or the way of watching: see
    /// [`Settings::needs_new_engine`].
    pub fn apply(&self, settings: &Settings) {
        apply(&self.settings, &self.inbox, settings);
    }

    /// Applies each change of a configuration to the running engine, as far as a running engine can take it.
    pub fn follow(&self, configuration: &Configuration) {
        let (stopped, settings) = (self.stopped(), Arc::downgrade(&self.settings));
        let inbox = self.inbox.downgrade();
        configuration.subscribe(Box::new(move |changed| {
            let (Some(kept), Some(inbox)) = (settings.upgrade(), inbox.upgrade()) else { return false };
            apply(&kept, &inbox, &changed.settings);
            !stopped()
        }));
    }

    /// Searches the stored texts for words, as long as it is `wanted`. Runs on the caller's thread, not in the loop: any number of
    /// searches run beside each other.
    ///
    /// # Errors
    /// When a filter makes no sense, the store cannot be read, or it is wanted no more.
    pub fn search(&self, asked: &SearchQuery, wanted: StillWanted) -> Result<SearchAnswer, ApiError> {
        let answer = self.searcher.search(&*self.fs, &self.settings().history, asked, &wanted);
        if self.searcher.take_damage_met() {
            let _ = self.inbox.send(Message::IndexDamaged);
        }
        answer
    }

    /// Looks at everything again, after a long sleep or on the user's request.
    pub fn look_again(&self) {
        let _ = self.inbox.send(Message::LookAgain);
    }

    /// Returns a function that says whether the engine has stopped. The function does not keep the engine running.
    pub fn stopped(&self) -> impl Fn() -> bool + Send + 'static {
        let inbox = self.inbox.downgrade();
        move || inbox.upgrade().is_none_or(|inbox| inbox.is_closed())
    }

    /// Returns a function that says whether the history follows with hook events. The function does not keep the engine running.
    pub fn takes_more_events(&self) -> impl Fn() -> bool + Send + 'static {
        let reach = Arc::clone(self.reach());
        move || !reach.hook_events_lag()
    }

    /// Stops the engine and waits until its thread has ended.
    pub fn stop(&self) {
        let _ = self.inbox.send(Message::Stop);
        let thread = self.thread.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).take();
        if let Some(thread) = thread
            && thread.thread().id() != std::thread::current().id()
            && thread.join().is_err()
        {
            tracing::error!("the engine's thread had panicked");
        }
    }
}

fn stopped() -> ApiError {
    ApiError::new(ErrorCode::Internal, "the engine has stopped; start Watchbill again")
}
