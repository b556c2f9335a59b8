//! The loop on its thread. It waits for hints, process exits, deadlines and messages. It steps the engine, stores the
//! changes and serves the subscribers.

mod alert_subscribers;
mod catch_up;
mod clock_jump;
mod exits;
mod first_scan_thread;
mod folder_looks;
mod hints;
mod history;
pub(crate) mod hook_listener;
pub(crate) mod message;
mod messages;
mod own_hosts;
mod parts;
mod requests;
mod rescans;
mod startup;
mod status_servers;
mod user_commands;
mod wait;
mod waiting_hooks;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{Notify, mpsc};
use watchbill_core::time::Timestamp;
use watchbill_store::OpenMode;
use watchbill_watch::hints::Hint;

use crate::clock::Clock;
use crate::engine::Engine;
use crate::handle::Handle;
use crate::model::publish::Served;
use crate::persist::{NewStore, Persist};
use crate::run::exits::{Exits, Noticed};
use crate::run::folder_looks::FolderLooks;
use crate::run::message::Message;
use crate::run::rescans::Rescans;
use crate::run::status_servers::StatusServers;
use crate::step::input::{AttentionInput, Input, Output};
use crate::world::environment::{Outlook, Sources};
use crate::world::mute::MuteFile;
use crate::world::source::{self, HintSource};
use parts::{Faces, Inlets, Stored};
use startup::LoopStartup;
use wait::{Waits, Woken};
use watchbill_history::HistoryProgress;
use watchbill_history::stall::StallTimer;
use watchbill_settings::Settings;

/// Number of sessions at rest that get their rows between two checks for hints. A batch takes some milliseconds.
const WAKE: usize = 128;

/// If the settings are in doubt, the loop does not know which data it may store. So it stores nothing.
fn mode_for(settings: &Settings) -> OpenMode {
    if settings.doubt.is_some() { OpenMode::Read } else { OpenMode::WriteOrRead }
}

/// The loop's state beside the engine.
pub(crate) struct Loop {
    engine: Engine,
    clock: Arc<dyn Clock>,
    inlets: Inlets,
    startup: LoopStartup,
    /// Its socket is dropped before the store, because the next holder listens at the same place.
    faces: Faces,
    stored: Stored,
    stopped: bool,
}

/// The parts of a loop.
pub(crate) struct Parts {
    pub settings: Settings,
    pub world: Sources,
    pub clock: Arc<dyn Clock>,
    pub inbox: mpsc::UnboundedReceiver<Message>,
    /// The engine's own handle. It does not keep the engine running.
    pub own: Handle,
    /// The source of hints. It replaces the watcher of the system if the file system is in memory.
    pub source: Option<Box<dyn HintSource>>,
    pub woken: Arc<Notify>,
    /// The progress of the history, shared with its readers.
    pub reach: Arc<HistoryProgress>,
}

impl Loop {
    /// Starts the watches and the first scan at the same time. When the watches are installed, the loop catches up with
    /// earlier changes.
    pub fn begin(parts: Parts) -> Self {
        let Parts { settings, world, clock, inbox, own, source, woken, reach } = parts;
        let sender = own.inbox().clone();
        let mut source = source.unwrap_or_else(|| {
            let woken = Arc::clone(&woken);
            Box::new(source::watch(&settings, move || woken.notify_one()))
        });
        let mut engine = Engine::new(settings, world.clone(), Outlook::LIVE, clock.now());
        engine.look_on_other_threads();
        let hook_listener = hook_listener::open(engine.settings(), &mut *source, &woken);
        let own_hosts = own_hosts::start(engine.settings(), &mut *source, &sender);
        let mut status_servers = StatusServers::new(Arc::clone(&world.fs), &sender);
        status_servers.follow(engine.roots(), &mut *source);
        let first_look = crate::run::first_scan_thread::spawn(&engine, &world, &sender);
        // Without a data folder, store nothing.
        let mut persist = engine
            .settings()
            .data_dir
            .clone()
            .map(|folder| Persist::open(&folder, mode_for(engine.settings())));
        let known = persist.as_mut().map_or(0, |persist| persist.load(&mut engine));
        let looked = sender.clone();
        let folder_looks = FolderLooks::new(Arc::clone(&world.fs), move |look| {
            looked.send(Message::Folder(Box::new(look))).is_ok()
        });
        let rescans = Rescans::new(Arc::clone(&world.fs), sender.clone());
        first_look.go_on(&engine);
        let ended = sender.clone();
        // A failed send means that the loop has stopped.
        let exits = Exits::start(move |noticed| {
            let message = match noticed {
                Noticed::Ended(pid) => Message::ProcessEnded(pid),
                Noticed::ClockJumped => Message::ClockJumped,
            };
            ended.send(message).is_ok()
        });
        Self {
            engine,
            clock,
            inlets: Inlets {
                source,
                woken,
                inbox,
                exits,
                folder_looks,
                rescans,
                hook_listener,
                own_hosts,
                status_servers,
                processes: world.processes,
                again: BTreeSet::new(),
                watch_problems: Vec::new(),
            },
            // If the store knew sessions, there are rows to show before any read.
            startup: LoopStartup::new(known > 0),
            faces: Faces::new(own),
            stored: Stored { persist, history_thread: None, reach, trouble: None },
            stopped: false,
        }
    }

    /// Runs until a stop message, or until the last handle is gone.
    pub fn run(mut self) {
        let mut out = Vec::new();
        self.engine.read_registries(&mut out);
        self.carry_out(out);
        self.open_socket();
        self.begin_history();
        let muted = self.engine.settings().data_dir.as_deref().and_then(|folder| MuteFile::of(folder).read());
        self.step(Input::Attention(AttentionInput::Mute(muted)));
        self.inlets.watch_problems = self.problems();
        self.step(Input::Watching(self.inlets.watch_problems.clone()));
        let waits = Waits::here();
        loop {
            let at_most = self.time_until_work();
            match waits.wait(&mut self.inlets.inbox, &self.inlets.woken, at_most) {
                Woken::Message(None) => return self.end(),
                Woken::Message(Some(message)) => {
                    self.receive(message);
                    if self.stopped {
                        return self.end();
                    }
                    if self.engine.is_reading() {
                        // The first scan sends one file after another, and messages go before hints. Without this call,
                        // a working session would wait for the last file.
                        self.take_hints();
                    }
                }
                Woken::Bell => self.take_hints(),
                Woken::Time if !self.inlets.again.is_empty() => self.take_hints(),
                Woken::Time if self.engine.is_waking() => self.step(Input::Wake(WAKE)),
                Woken::Time => self.step(Input::Deadline),
            }
            self.serve();
        }
    }

    /// The time until the next work; `None` if only a message or a hint can bring work.
    fn time_until_work(&self) -> Option<Duration> {
        if !self.inlets.again.is_empty() || self.engine.is_waking() {
            return Some(Duration::ZERO);
        }
        // If the settings are in doubt, the loop stores nothing, so it does not wait for the store.
        let certain = self.engine.settings().doubt.is_none();
        // If the loop follows a holder, the end of the holder comes as a message. So do not poll for it.
        let asks = |persist: &&Persist| certain && (persist.writes() || !self.faces.holder.is_following());
        let owed = self.stored.persist.as_ref().filter(asks).and_then(Persist::again_at);
        let next = self.engine.next_deadline().into_iter().chain(self.faces.serve_at).chain(owed).min();
        next.map(|at| self.clock.until(at))
    }

    /// Ends the loop. Stores the pending changes, if that is possible now.
    fn end(mut self) {
        self.step(Input::ReleaseAll);
        // The history may write through its own connection. Dropping it waits for that.
        self.stored.history_thread = None;
        let (certain, now) = (self.engine.settings().doubt.is_none(), self.clock.now());
        // A process that has only read the store must not take it over at its end.
        if let Some(persist) = self.stored.persist.as_mut().filter(|persist| certain && persist.writes()) {
            persist.try_now();
            persist.save(&mut self.engine, now);
            self.tell_followers();
        }
        // Close the socket before the store releases its lock, because the next holder listens at the same place.
        self.faces.socket = None;
    }

    /// Applies new settings, except the watched folders: a change of these needs another engine.
    fn take_settings(&mut self, settings: Settings) {
        let other_history = settings.changes_history_settings(self.engine.settings());
        // Exclude the new paths before the journal is searched for them, so that no more excluded text arrives.
        if let Ok(Some(hook_listener)) = &self.inlets.hook_listener {
            hook_listener.leave_out(settings.history.exclude.clone());
        }
        if let Some(hosts) = &self.inlets.own_hosts {
            hosts.exclude(settings.history.exclude.clone());
        }
        self.step(Input::Settings(Box::new(settings)));
        if let Some(history_thread) = self.stored.history_thread.as_ref().filter(|_| other_history) {
            history_thread.follow(self.engine.settings());
            self.begin_history();
        }
    }

    fn save(&mut self, now: Timestamp) {
        let certain = self.engine.settings().doubt.is_none();
        let Some(persist) = self.stored.persist.as_mut().filter(|_| certain) else { return };
        let tries_at = persist.again_at();
        let read = persist.save(&mut self.engine, now);
        let in_vain = !persist.writes() && persist.again_at() != tries_at;
        // The problem may come from the thread of the history.
        let trouble = persist.trouble();
        let changed = trouble != self.stored.trouble;
        if changed {
            self.engine.note_store(trouble.clone());
            self.stored.trouble = trouble;
        }
        let began = persist.take_new_store();
        let edits_left = persist.remaining_user_edits();
        self.stored.reach.set_paths_pending(persist.has_unstored());
        match &self.stored.history_thread {
            Some(history_thread) if self.engine.is_reading() && !read.is_empty() => history_thread.stored(),
            Some(history_thread) => history_thread.files_grew(read),
            None => {}
        }
        let less_said = edits_left.is_some();
        if let Some(user_edits) = edits_left {
            self.engine.restore_user_edits(user_edits);
            self.faces.followers_pending = true;
            // If a session may be stored again, the next turn of the loop stores it.
            self.inlets.woken.notify_one();
        }
        if changed || less_said {
            self.step(Input::Deadline);
        }
        self.tell_followers();
        if in_vain {
            // Another program holds the store, and may listen at the socket by now.
            self.reach_holder();
        }
        if let Some(begun) = began {
            self.reopen_data_folder(begun);
            self.begin_history();
            self.replay_recent_hook_events(now);
        }
    }

    /// Opens the hook listener and the socket again, because the data folder has become writable. If the store was
    /// removed, files beside it may be gone too.
    fn reopen_data_folder(&mut self, begun: NewStore) {
        if begun == NewStore::Recreated {
            // Drop the old listener and the old socket first, because the drop removes their files.
            self.inlets.hook_listener = Ok(None);
            self.faces.socket = None;
        }
        if self.inlets.hook_listener.is_err() || begun == NewStore::Recreated {
            self.inlets.hook_listener =
                hook_listener::open(self.engine.settings(), &mut *self.inlets.source, &self.inlets.woken);
            // The loop reports problems of the listener with the hints.
            self.inlets.woken.notify_one();
        }
        self.open_socket();
    }

    fn step(&mut self, input: Input) {
        let watched = StallTimer::begin("step", input.name());
        let out = self.engine.step(self.clock.now(), input);
        drop(watched);
        self.carry_out(out);
    }

    fn carry_out(&mut self, out: Vec<Output>) {
        for output in out {
            match output {
                Output::Attention(outcome) => self.faces.alert_subscribers.queue(outcome),
                Output::WatchProcess(pid) => {
                    let descriptor = self.inlets.processes.exit_fd(pid);
                    let opened = descriptor.is_some();
                    // If the process is not visible from here, a look every two seconds would find nothing.
                    if descriptor.is_some() || self.engine.is_known_process(pid) {
                        self.inlets.exits.watch(pid, descriptor);
                    }
                    if opened {
                        // The process may have ended before this watch began, and its id may belong to another process
                        // now.
                        self.step(Input::ProcessEnded(Some(pid)));
                    }
                }
                Output::ForgetProcess(pid) => self.inlets.exits.forget(pid),
                Output::WatchFolder(folder) => self.inlets.source.watch_folder(&folder),
                Output::UnwatchFolder(folder) => self.inlets.source.unwatch_folder(&folder),
                Output::Release(id) => self.faces.waiting_hooks.tell(&id, None),
                Output::Rescan => self.rescan(),
                Output::LookAtFolder(folder) => self.inlets.folder_looks.ask(folder),
                Output::Again(paths) => self.inlets.again.extend(paths.into_iter().map(Hint::File)),
            }
        }
    }

    /// Stores the changes, then sends them to the subscribers.
    fn serve(&mut self) {
        let now = self.clock.now();
        self.save(now);
        self.tell_history_who_works();
        self.faces.alert_subscribers.tell();
        // A marker in a working folder may say that a session continues in another one. Without the marker, the first
        // snapshot would show one row too many.
        let patient = self.startup.waits_for_folders(now, || self.inlets.folder_looks.outstanding());
        let ready = self.startup.has_recent() && patient.is_none();
        let mut next = patient;
        let engine = &self.engine;
        let _watched = StallTimer::begin("step", "subscribers");
        self.faces.subscribers.retain_mut(|subscriber| {
            if subscriber.wants.wait_for_recent && !ready {
                return true;
            }
            match subscriber.serve(&engine.current(subscriber.wants.all), now) {
                Served::UpToDate => true,
                Served::Later(at) => {
                    next = next.into_iter().chain(Some(at)).min();
                    true
                }
                Served::Gone => false,
            }
        });
        self.faces.serve_at = next;
    }
}
