//! A handle of a running engine, for code outside its thread: subscribe, ask, stop.

mod access;
mod timelines;

use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, mpsc};
use std::thread::JoinHandle;
use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;
use watchbill_core::hook::HookMessage;
use watchbill_core::ids::SessionId;
use watchbill_core::person::Word;
use watchbill_core::requests::caller::{Caller, check};
use watchbill_core::requests::request::{Request, RequestId};
use watchbill_core::time::Timestamp;
use watchbill_hooks::ancestors::terminal_of;
use watchbill_protocol::chain::WorkChain;
use watchbill_protocol::doctor::{Doctor, HookSettings};
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::focus::FocusAnswer;
use watchbill_protocol::request::{AnswerCall, AnswerGiven};
use watchbill_protocol::roster::{RosterMessage, RosterSnapshot};
use watchbill_protocol::search::{SearchAnswer, SearchQuery};
use watchbill_protocol::settings::ArchiveOffer;
use watchbill_protocol::why::Why;
use watchbill_terminal::Seat;
use watchbill_watch::fs::Fs;

use crate::clock::{Clock, SystemClock};
use crate::doctor::{self, scopes_in_time};
use crate::engine::Engine;
use crate::focus;
use crate::hook_setup::Judge;
use crate::input::AttentionInput;
use crate::mute::MuteFile;
use crate::publish::{AlertSink, Sink, Subscription, snapshot};
use crate::run::message::{Message, apply};
use crate::run::requests::AskSink;
use crate::socket::access::{Access, AccessError, CommandId};
use crate::source::Source;
use crate::step::requests::Answer;
use watchbill_history::Reach;
use watchbill_history::query::timeline::TimelineReader;
use watchbill_history::query::{self, Searcher};
use watchbill_settings::{Configuration, Settings};

/// An answer that takes longer than this means that the engine is stuck, and the person should know.
const PATIENCE: Duration = Duration::from_secs(30);

/// A running engine. Clones share it; it stops when [`Handle::stop`] is called or the last clone is gone.
#[derive(Clone)]
pub struct Handle {
    inbox: UnboundedSender<Message>,
    fs: Arc<dyn Fs>,
    timelines: Arc<Mutex<TimelineReader>>,
    searcher: Arc<Searcher>,
    made_up: bool,
    settings: Arc<RwLock<Arc<Settings>>>,
    thread: Arc<Mutex<Option<JoinHandle<()>>>>,
    /// Raises the window of this program, with a session selected.
    opens: Opener,
    /// Stops the engine when the last clone is dropped. The engine's own handle, which its socket uses, has none.
    _stopper: Option<Arc<Stopper>>,
}

/// Set once, by a program that has a window.
type Opener = Arc<OnceLock<Box<dyn Fn(Option<String>) + Send + Sync>>>;

/// The loop keeps a sender of its own, so that it cannot see the last handle go: this tells it.
struct Stopper(UnboundedSender<Message>);

impl Drop for Stopper {
    fn drop(&mut self) {
        // When the loop has ended already there is nobody to tell.
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
            made_up: false,
            settings: Arc::new(RwLock::new(settings)),
            thread: Arc::default(),
            opens: Opener::default(),
            _stopper: None,
        }
    }

    /// A handle whose last clone stops the engine.
    pub(super) fn owning(&self, thread: JoinHandle<()>) -> Self {
        *self.thread.lock().unwrap_or_else(PoisonError::into_inner) = Some(thread);
        Self { _stopper: Some(Arc::new(Stopper(self.inbox.clone()))), ..self.clone() }
    }

    /// How far the history goes, for searches.
    pub(super) fn reach(&self) -> &Arc<Reach> {
        self.searcher.reach()
    }

    /// Subscribes: the snapshot first, then deltas without a gap. The sink says `false` to be dropped.
    pub fn subscribe(&self, wants: Subscription, sink: Sink) {
        // Without a loop there is nothing to be told; the sink is dropped and its owner notices.
        let _ = self.inbox.send(Message::Subscribe(wants, sink));
    }

    /// Subscribes to what the attention policy tells: what is already so, if anything, then each change, and the counts.
    pub fn listen(&self, sink: AlertSink) {
        let _ = self.inbox.send(Message::Listen(sink));
    }

    /// No alerts until then; without a time, alerts again. Kept over a restart.
    ///
    /// # Errors
    /// When it is so now, but cannot be kept over a restart.
    pub fn mute(&self, until: Option<Timestamp>) -> Result<(), ApiError> {
        // Kept first: whoever has been shown that it is so may end the program at once.
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
                "that holds until Watchbill ends and no longer, because {} cannot be written: {error}",
                file.path().display()
            );
            ApiError::new(ErrorCode::Unreadable, message)
        })
    }

    /// The person looks at these sessions, so that nothing has to be told of them.
    pub fn set_in_front(&self, sessions: impl IntoIterator<Item = String>) {
        let sessions = sessions.into_iter().map(|session| SessionId::new(&session)).collect();
        let _ = self.inbox.send(Message::Attention(AttentionInput::InFront(sessions)));
    }

    /// Whether alerts are to make a sound.
    pub fn alerts_sound(&self) -> bool {
        self.settings().alerts.sound
    }

    /// The sessions are those of the demo.
    pub(crate) fn of_the_demo(self) -> Self {
        Self { made_up: true, ..self }
    }

    /// Whether the sessions are those of the demo, which nobody has to be called to.
    pub fn is_made_up(&self) -> bool {
        self.made_up
    }

    /// Asks every window to select a session.
    ///
    /// # Errors
    /// When the session is not known.
    pub fn select(&self, asked: &str) -> Result<(), ApiError> {
        let asked = asked.to_owned();
        let id = self.ask_loop(move |engine, _| engine.find(&asked))??;
        let _ = self.inbox.send(Message::Tell(RosterMessage::Select { session_id: id.to_string() }));
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

    /// Carries out a command of the person, about a session named as for every question. When this returns it is in force
    /// and stored: by this engine, or by the program that holds the store.
    ///
    /// # Errors
    /// When a session is not known, the command makes no sense as things are, or the engine has stopped. When it cannot be
    /// stored, too: then it is in force, and stored as soon as that is possible.
    pub fn say(&self, word: Word) -> Result<(), ApiError> {
        self.clone().command(&CommandId::new(), &word).map(drop).map_err(AccessError::into_api)
    }

    /// A hook process asks. `sink` gets the text that it is to print, or nothing.
    pub(crate) fn ask(&self, request: Request, message: HookMessage, sink: AskSink) {
        // Without a loop the sink is dropped: the connection ends, and the hook process with it.
        let _ = self.inbox.send(Message::HookAsks(Box::new(request), message, sink));
    }

    /// A hook process has printed its answer.
    pub(crate) fn printed(&self, request: RequestId) {
        let _ = self.inbox.send(Message::Printed(request));
    }

    /// A hook process that asked has ended.
    pub(crate) fn hook_gone(&self, request: RequestId) {
        let _ = self.inbox.send(Message::HookGone(request));
    }

    /// Answers a request that a surface of this program or the socket has shown. When this returns, the answer is stored and
    /// on its way to the hook process.
    ///
    /// # Errors
    /// When the request is not open any more, the answer does not fit or cannot be stored.
    pub fn answer(&self, call: &AnswerCall, surface: &'static str) -> Result<AnswerGiven, ApiError> {
        let answer = Answer {
            session: SessionId::new(&call.session),
            request: RequestId::new(&call.request_id),
            seen: watchbill_protocol::request::seen(&call.seen)?,
            decision: call.decision.clone().into(),
            surface,
        };
        self.wait_for(|told| Message::Answer(answer, told))?
    }

    /// Whether a program at the socket may answer requests.
    ///
    /// # Errors
    /// When it may not: an agent started it, or no person uses its terminal.
    pub(crate) fn check_caller(&self, caller: &Caller) -> Result<(), ApiError> {
        let scripts = self.settings().scripts_answer;
        let agents = self.ask_loop(|engine, _| engine.running_processes())?;
        let is_agents =
            |terminal: &str| agents.iter().any(|pid| terminal_of(*pid).as_deref() == Some(terminal));
        check(caller, &|pid| agents.contains(&pid), &is_agents, scripts).map_err(|refused| {
            tracing::warn!(%refused, "an answer was refused");
            ApiError::new(ErrorCode::Refused, refused.to_string())
        })
    }

    /// Where the engine's messages go.
    pub(crate) fn inbox(&self) -> &UnboundedSender<Message> {
        &self.inbox
    }

    /// Has `open` raise the window, with a session selected, when another program asks for that.
    pub fn on_open(&self, open: impl Fn(Option<String>) + Send + Sync + 'static) {
        // A program has one window.
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

    /// Brings the terminal of a session to the front. On the caller's thread, for some seconds at most.
    ///
    /// # Errors
    /// When the session is not known or the engine has stopped. A terminal that cannot be shown is an answer.
    pub fn focus_terminal(&self, session: &str) -> Result<FocusAnswer, ApiError> {
        Ok(focus::focus(&self.seat(session)?))
    }

    /// Whether the person looks at the terminal of a session; `None` when that cannot be told. On the caller's thread, for
    /// some seconds at most.
    ///
    /// # Errors
    /// When the session is not known or the engine has stopped.
    pub fn is_terminal_in_front(&self, session: &str) -> Result<Option<bool>, ApiError> {
        Ok(focus::in_front(&self.seat(session)?))
    }

    /// The line for a shell that takes a session up again.
    ///
    /// # Errors
    /// When the session is not known or the engine has stopped.
    pub fn resume_command(&self, session: &str) -> Result<String, ApiError> {
        let seat = self.seat(session)?;
        Ok(watchbill_terminal::resume_command(&seat.session, seat.cwd.as_deref()))
    }

    fn seat(&self, session: &str) -> Result<Seat, ApiError> {
        let session = session.to_owned();
        self.ask_loop(move |engine, _| engine.seat(&session))?
    }

    /// What is found and how it is watched.
    ///
    /// # Errors
    /// When the engine has stopped.
    pub fn doctor(&self) -> Result<Doctor, ApiError> {
        let doctor =
            self.ask_loop(|engine, source| doctor::doctor(engine, &|root: &Path| source.mode_of(root)))?;
        // The store is looked at here: the loop has better things to do than to wait for a disk.
        let settings = self.settings();
        let mut doctor = Doctor { store: query::health(&settings, &*self.fs), ..doctor };
        if let Some(hooks) = &mut doctor.hooks {
            hooks.settings = self.hooks()?;
        }
        Ok(doctor)
    }

    /// How the hooks are, scope by scope.
    ///
    /// # Errors
    /// When the engine has stopped.
    pub fn hooks(&self) -> Result<Vec<HookSettings>, ApiError> {
        let projects = self.ask_loop(|engine, _| doctor::working_folders(engine))?;
        Ok(scopes_in_time(Judge::unasked(&self.settings()), projects))
    }

    /// What archiving would take and save.
    pub fn archive_offer(&self) -> ArchiveOffer {
        watchbill_history::archive::offer_at(&self.settings(), &*self.fs, SystemClock.now())
    }

    /// What it runs by now.
    pub fn settings(&self) -> Arc<Settings> {
        Arc::clone(&self.settings.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// From now on these count. Which folders are watched, and how, stays: see [`Settings::needs_another_engine`].
    pub fn apply(&self, settings: &Settings) {
        apply(&self.settings, &self.inbox, settings);
    }

    /// Has the engine follow a configuration for as long as it runs, as far as a running engine can.
    pub fn follow(&self, configuration: &Configuration) {
        let (stopped, settings) = (self.stopped(), Arc::downgrade(&self.settings));
        let inbox = self.inbox.downgrade();
        configuration.subscribe(Box::new(move |changed| {
            let (Some(kept), Some(inbox)) = (settings.upgrade(), inbox.upgrade()) else { return false };
            apply(&kept, &inbox, &changed.settings);
            !stopped()
        }));
    }

    /// Looks for words in all that is stored. On the caller's thread, not in the loop.
    ///
    /// # Errors
    /// When a filter makes no sense, or the store cannot be read.
    pub fn search(&self, asked: &SearchQuery) -> Result<SearchAnswer, ApiError> {
        let answer = self.searcher.search(&*self.fs, &self.settings().history, asked);
        if self.searcher.has_met_damage() {
            let _ = self.inbox.send(Message::IndexDamaged);
        }
        answer
    }

    /// Looks at everything again: after a long sleep, or because the person asked.
    pub fn look_again(&self) {
        let _ = self.inbox.send(Message::LookAgain);
    }

    /// Tells whether the engine has stopped, without keeping it running.
    pub fn stopped(&self) -> impl Fn() -> bool + Send + 'static {
        let inbox = self.inbox.downgrade();
        move || inbox.upgrade().is_none_or(|inbox| inbox.is_closed())
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

    fn ask_loop<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Engine, &dyn Source) -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        self.wait_for(|told| {
            Message::Ask(Box::new(move |engine: &Engine, source: &dyn Source| told(question(engine, source))))
        })
    }

    /// Sends a message that `told` answers, and waits for the answer.
    fn wait_for<T: Send + 'static>(
        &self,
        message: impl FnOnce(Box<dyn FnOnce(T) + Send>) -> Message,
    ) -> Result<T, ApiError> {
        let (sender, receiver) = mpsc::sync_channel(1);
        let told = Box::new(move |answer| {
            // The caller may have given up waiting.
            let _ = sender.send(answer);
        });
        self.inbox.send(message(told)).map_err(|_| stopped())?;
        receiver.recv_timeout(PATIENCE).map_err(|_| stopped())
    }
}

fn stopped() -> ApiError {
    ApiError::new(ErrorCode::Internal, "the engine has stopped; start Watchbill again")
}
