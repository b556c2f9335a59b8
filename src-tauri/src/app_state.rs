//! The state of the running program: the engine, the channel to the window, the tray, the alerts.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, RwLock, mpsc};
use std::time::{Duration, Instant};

use tauri::ipc::Channel;
use tauri::{AppHandle, Manager, async_runtime};
use watchbill_engine::handle::Handle;
use watchbill_engine::model::publish::{AlertSink, RosterSink, Subscription};
use watchbill_engine::router::access::Face;
use watchbill_engine::router::{Router, StillWanted};
use watchbill_engine::{Millis, Timestamp};
use watchbill_protocol::api::ApiRequest;
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::request::AnswerCall;
use watchbill_protocol::roster::RosterMessage;
use watchbill_service::HttpService;
use watchbill_settings::{Configuration, Settings, TrayColours};

use crate::alerts::Alerts;
use crate::bridge::Bridge;
use crate::demo::Demo;
use crate::engine;
use crate::focused_session::FocusedSession;
use crate::tray::Tray;

/// A burst of records redraws the window no more than twenty times a second.
const WINDOW_PAUSE: Millis = Millis(50);
/// Number of rows that the window gets at first: more than a tall screen shows.
const FIRST_ROWS: usize = 64;
/// Shortest time between two restarts of an engine that ended by itself: the same cause may end it again at once.
const RESTART_PAUSE: Duration = Duration::from_secs(30);
/// How long the end of the program waits for the engine, which stores some rows or finishes a slice of the history.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(1);
/// A notification of a request that was settled goes within 300 ms.
const ALERT_PAUSE: Millis = Millis(100);
/// The tray may lag: the user only glances at it.
const TRAY_PAUSE: Millis = Millis(500);

/// Tauri's managed state.
pub struct AppState {
    engine: Arc<RwLock<Handle>>,
    bridge: Arc<Bridge>,
    tray: Arc<Tray>,
    alerts: Arc<Alerts>,
    focus: Mutex<FocusedSession>,
    demo: Demo,
    /// When an ended engine was last started again. Held while a thread decides whether another engine is needed, so
    /// that two threads do not both start one.
    restarted: Mutex<Option<Instant>>,
    http: HttpService,
    /// Raises the window when another program asks for it.
    opener: OnceLock<Opener>,
    /// Why this window may not answer.
    refusal: Option<String>,
    /// Stands for the newest search of the window.
    newest_search: Mutex<Arc<()>>,
}

/// Raises the window, with a session selected if one is given.
pub type Opener = Arc<dyn Fn(Option<String>) + Send + Sync>;

impl AppState {
    /// A app_state with a running engine.
    pub fn new(engine: Handle, demo: bool, refusal: Option<String>) -> Self {
        Self {
            engine: Arc::new(RwLock::new(engine)),
            bridge: Arc::new(Bridge::default()),
            tray: Arc::new(Tray::new()),
            alerts: Arc::new(Alerts::new()),
            focus: Mutex::default(),
            demo: Demo::new(demo),
            restarted: Mutex::default(),
            http: HttpService::default(),
            opener: OnceLock::new(),
            refusal,
            newest_search: Mutex::default(),
        }
    }

    /// Asks the engine a question that may take a while, such as one that reads a file.
    pub async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&Handle) -> Result<T, ApiError> + Send + 'static,
    ) -> Result<T, ApiError> {
        let engine = current(&self.engine);
        engine::off_thread(move || question(&engine)).await
    }

    /// What answers the pages' requests, with the engine in force.
    pub fn router(&self, app: &AppHandle) -> Router {
        Router::new(current(&self.engine), Some(Arc::clone(&app.state::<Arc<Configuration>>())))
    }

    /// Begins a search of the window. Says, at any time, whether it is still the newest one.
    pub fn begin_search(&self) -> StillWanted {
        let this = Arc::new(());
        let newest = Arc::downgrade(&this);
        *self.newest_search.lock().unwrap_or_else(PoisonError::into_inner) = this;
        Arc::new(move || newest.strong_count() > 0)
    }

    /// Why this window may not answer.
    pub fn refusal(&self) -> Option<&str> {
        self.refusal.as_deref()
    }

    /// Answers a request that a notification has shown. When it returns, the answer is stored and on its way.
    ///
    /// # Errors
    /// When this window may not answer, or as the engine says.
    pub async fn answer(&self, call: AnswerCall) -> Result<(), ApiError> {
        let router = Router::new(current(&self.engine), None);
        let face = Face::Window { refusal: self.refusal.clone() };
        let request = ApiRequest::Answer { call, surface: Some("notification".to_owned()), pressed: None };
        engine::off_thread(move || Ok(router.answer(&face, request, Arc::new(|| true)).map(drop)?)).await
    }

    /// Sends the roster to the window through this channel, and through no other, from now on. Starts an engine again
    /// that has ended: the window has shown its end, and the user tries again.
    ///
    /// # Errors
    /// When the engine cannot be started again.
    pub fn show_roster(&self, channel: Channel<RosterMessage>, all: bool) -> std::io::Result<()> {
        self.start_again()?;
        let sink = self.bridge.connect(channel, all);
        self.serve_window(all, sink);
        Ok(())
    }

    /// Called when an engine no longer sends. If it is the engine in force, it ended by itself. Without an open window
    /// the user would not notice that, so the tray says so, and a new engine starts, at once or after a pause.
    pub async fn engine_ended(&self, ended: Handle) {
        // Waits for its end. Otherwise an engine that is just ending could be taken for a running one.
        let joined = async_runtime::spawn_blocking(move || ended.stop()).await;
        if let Err(error) = joined {
            tracing::error!(%error, "an engine that has ended could not be waited for");
        }
        loop {
            let pause = {
                let restarted = self.restarted();
                if !current(&self.engine).stopped()() {
                    return;
                }
                self.tray.engine_ended();
                restarted.map_or(Duration::ZERO, |at| RESTART_PAUSE.saturating_sub(at.elapsed()))
            };
            tokio::time::sleep(pause).await;
            match self.start_again() {
                Ok(()) => return,
                Err(error) => {
                    tracing::error!(%error, "no session is watched: the engine could not start again; Watchbill will retry")
                }
            }
        }
    }

    /// Starts the engine again if it has ended, with the same settings.
    fn start_again(&self) -> std::io::Result<()> {
        let mut restarted = self.restarted();
        let before = current(&self.engine);
        if !before.stopped()() {
            return Ok(());
        }
        // A failed try counts as well, so the next one comes after the pause.
        *restarted = Some(Instant::now());
        let again =
            if self.demo.is_on() { engine::demo() } else { engine::open((*before.settings()).clone()) };
        self.exchange(again?);
        Ok(())
    }

    fn restarted(&self) -> MutexGuard<'_, Option<Instant>> {
        self.restarted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The user has turned to the window. After a suspend the clock of the deadlines is late, and a network disk may
    /// have sent no events. So the engine looks again: the window must show the present state.
    pub fn look_again(&self) {
        current(&self.engine).look_again();
    }

    /// The window is gone.
    pub fn window_closed(&self) {
        self.bridge.disconnect();
        self.look(|focus| focus.closed());
    }

    /// The window's page has ended and another will be loaded. It shows the same session again if `as_it_was`.
    #[cfg(target_os = "linux")]
    pub fn page_lost(&self, as_it_was: bool) {
        self.bridge.disconnect();
        let shown = self.focus().shown();
        self.look(|focus| focus.shows(None));
        if let Some(session) = shown.filter(|_| as_it_was) {
            self.bridge.select(session);
        }
    }

    /// The user has turned to the window, or away from it.
    pub fn window_focused(&self, focused: bool) {
        self.look(|focus| focus.focused(focused));
    }

    /// The window shows this session, or only the roster.
    pub fn window_shows(&self, session: Option<String>) {
        self.look(|focus| focus.shows(session));
    }

    fn look(&self, change: impl FnOnce(&mut FocusedSession) -> Option<Option<String>>) {
        // Calls the engine under the lock, so that it gets two changes in their order.
        let mut focus = self.focus();
        if let Some(in_front) = change(&mut focus) {
            current(&self.engine).set_in_front(in_front);
        }
    }

    fn focus(&self) -> MutexGuard<'_, FocusedSession> {
        self.focus.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Mutes alerts for this long by the engine's clock.
    ///
    /// # Errors
    /// When the mute applies now, but cannot be stored for the next start.
    pub async fn mute_for(&self, span: Millis) -> Result<(), ApiError> {
        self.ask(move |engine| {
            let generated_at = engine.roster(false)?.generated_at;
            let wrong =
                || ApiError::new(ErrorCode::Internal, format!("the engine's clock reads {generated_at}"));
            engine.mute(Some(Timestamp::parse(&generated_at).ok_or_else(wrong)? + span))
        })
        .await
    }

    /// Whether alerts make a sound.
    pub fn alerts_sound(&self) -> bool {
        current(&self.engine).alerts_sound()
    }

    /// The data folder; `None` in the demo.
    #[cfg(target_os = "linux")]
    pub fn data_dir(&self) -> Option<std::path::PathBuf> {
        current(&self.engine).settings().data_dir.clone()
    }

    /// Whether a panel shows the tray icon, as far as the shell knows.
    pub fn has_tray(&self) -> bool {
        self.tray.is_shown()
    }

    /// Selects a session in the window, once its full id is known.
    pub fn select(&self, session: String) {
        let (engine, bridge) = (current(&self.engine), Arc::clone(&self.bridge));
        async_runtime::spawn_blocking(move || {
            // The engine also accepts the beginning of an id. If it does not know the id, the window says so.
            let id = engine.why(&session).map_or(session, |why| why.session_id);
            bridge.select(id);
        });
    }

    /// Applies other settings. If a running engine cannot take them over, a new engine replaces it.
    ///
    /// # Errors
    /// When the system gives no thread. Then the old engine runs on.
    pub fn apply(&self, settings: &Settings) -> std::io::Result<()> {
        let _deciding = self.restarted();
        if self.demo.is_on() {
            return Ok(());
        }
        let handle = current(&self.engine);
        if settings.needs_new_engine(&handle.settings()) {
            self.exchange(engine::open(settings.clone())?);
        } else {
            handle.apply(settings);
            self.serve_http();
        }
        Ok(())
    }

    /// Serves HTTP if the settings want it.
    pub fn serve_http(&self) {
        self.http.follow(&current(&self.engine));
    }

    /// The service over HTTP.
    pub fn http(&self) -> &HttpService {
        &self.http
    }

    /// Whether made-up sessions are shown.
    pub fn demo(&self) -> &Demo {
        &self.demo
    }

    /// Shows this engine's sessions from now on, made up or not.
    pub fn exchange_demo(&self, engine: Handle, is_demo: bool) {
        let _deciding = self.restarted();
        self.demo.set(is_demo);
        self.exchange(engine);
    }

    /// Calls `opener` from now on when another program asks for the window.
    pub fn on_open(&self, opener: Opener) {
        // Called once, since the program has one window.
        let _ = self.opener.set(Arc::clone(&opener));
        current(&self.engine).on_open(move |session| opener(session));
    }

    /// Replaces the engine. Window and tray then follow the new one.
    fn exchange(&self, engine: Handle) {
        if let Some(opener) = self.opener.get().cloned() {
            engine.on_open(move |session| opener(session));
        }
        let before =
            std::mem::replace(&mut *self.engine.write().unwrap_or_else(PoisonError::into_inner), engine);
        {
            // The window reports only changes, so tell the new engine which session is in front now.
            let focus = self.focus();
            current(&self.engine).set_in_front(focus.in_front().cloned());
        }
        self.tray.engine_changed();
        self.alerts.engine_changed();
        // The running service asks the engine before, which is about to stop.
        self.http.stop();
        self.serve_http();
        if let Some((all, sink)) = self.bridge.reconnect() {
            self.serve_window(all, sink);
        }
        async_runtime::spawn_blocking(move || before.stop());
    }

    /// The tray, and a function that subscribes it to the engine in force.
    pub fn tray(&self) -> (Arc<Tray>, impl Fn(RosterSink) + Send + use<>) {
        let engine = Arc::clone(&self.engine);
        let wants = Subscription { pause: TRAY_PAUSE, ..Subscription::default() };
        (Arc::clone(&self.tray), move |sink: RosterSink| current(&engine).subscribe(wants, sink))
    }

    /// The alerts, and a function that makes them listen to the engine in force.
    pub fn alerts(&self) -> (Arc<Alerts>, impl Fn(AlertSink, RosterSink) -> Option<Handle> + Send + use<>) {
        let engine = Arc::clone(&self.engine);
        let wants = Subscription { pause: ALERT_PAUSE, ..Subscription::default() };
        let listen = move |sink: AlertSink, rows: RosterSink| {
            let engine = current(&engine);
            // The demo raises no alerts.
            (!engine.is_demo()).then(|| {
                engine.listen(sink);
                engine.subscribe(wants, rows);
                engine
            })
        };
        (Arc::clone(&self.alerts), listen)
    }

    /// The program ends. Removes the notifications and stores the pending changes of the engine. Waits for both, but
    /// not for long.
    pub fn quit(&self) {
        // Comes first, so that the alerts do not restart the engine when it ends.
        self.alerts.quit();
        self.http.stop();
        let engine = current(&self.engine);
        let (ended, end) = mpsc::channel();
        let stop = move || {
            engine.stop();
            // Fails if the receiver below stopped waiting.
            let _ = ended.send(());
        };
        match std::thread::Builder::new().name("watchbill-quit".into()).spawn(stop) {
            Ok(_) => drop(end.recv_timeout(SHUTDOWN_TIMEOUT)),
            Err(error) => {
                tracing::warn!(%error, "the engine ends without storing its last changes")
            }
        }
    }

    /// Sets the colours of the tray icon.
    pub fn colour_tray(&self, colours: TrayColours) {
        self.tray.colour(colours);
    }

    /// Without a window the user could no longer reach the program.
    pub fn is_unreachable(&self) -> bool {
        self.tray.is_unreachable()
    }

    fn serve_window(&self, all: bool, sink: RosterSink) {
        let wants =
            Subscription { all, pause: WINDOW_PAUSE, first: Some(FIRST_ROWS), ..Subscription::default() };
        current(&self.engine).subscribe(wants, sink);
    }
}

fn current(engine: &RwLock<Handle>) -> Handle {
    engine.read().unwrap_or_else(PoisonError::into_inner).clone()
}

#[cfg(test)]
mod tests;
