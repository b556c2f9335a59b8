//! Receives messages: files of the first scan in batches, everything else one by one.

use jiff::tz::TimeZone;
use watchbill_protocol::doctor::WatchMode;
use watchbill_watch::hints::Hint;
use watchbill_watch::scan::{Scan, scan};

use super::Loop;
use crate::model::publish::Subscriber;
use crate::run::message::{LookStart, Message};
use crate::step::input::{AttentionInput, Input};

/// Batch size for files of the first scan: a working session waits for one step at most.
const BATCH: usize = 48;

impl Loop {
    pub(super) fn receive(&mut self, first: Message) {
        let mut loaded = Vec::new();
        let mut looks = Vec::new();
        let mut message = Some(first);
        let mut ended = None;
        while let Some(current) = message {
            match current {
                Message::Loaded(n, file) => {
                    if self.startup.loaded(n) {
                        self.inlets.again.insert(Hint::File(file.path.clone()));
                    }
                    loaded.push(*file);
                    if loaded.len() >= BATCH {
                        break;
                    }
                }
                Message::Folder(look) => looks.push(*look),
                Message::ScanEnded(scan) => {
                    ended = Some(scan);
                    break;
                }
                Message::Stop => {
                    self.stopped = true;
                    return;
                }
                other => {
                    // Files that were loaded before a question count for its answer.
                    self.step(Input::Loaded(std::mem::take(&mut loaded)));
                    self.step(Input::Folders(std::mem::take(&mut looks)));
                    self.receive_one(other);
                }
            }
            message = self.inlets.inbox.try_recv().ok();
        }
        if !loaded.is_empty() {
            self.step(Input::Loaded(loaded));
        }
        if !looks.is_empty() {
            self.step(Input::Folders(looks));
        }
        if let Some(scan) = ended {
            let now = self.clock.now();
            self.step(Input::Found(scan.found));
            self.startup.scan_ended(now);
            self.look_at_all_once_more();
        }
    }

    /// Looks at everything again, in one go, before subscribers get any change. While the machine slept, deadlines
    /// passed, processes ended and polled folders changed. Also when the user turns to the window.
    fn look_again(&mut self) {
        // The machine may have travelled to another time zone.
        self.step(Input::Attention(AttentionInput::Zone(TimeZone::system())));
        let began = self.clock.now();
        self.inlets.source.look_again();
        let found = scan(self.engine.fs(), &self.engine.roots_now());
        self.take_rescan(found, LookStart { began, had_read_all: true });
    }

    /// Compares a scan of everything with the known files. Ends the first scan if all its files were read before the
    /// look began.
    pub(super) fn take_rescan(&mut self, found: Scan, look: LookStart) {
        let ends = self.startup.look_ended(look);
        if ends {
            self.step(Input::ScanEnded(Vec::new()));
        }
        self.step(Input::Rescanned(found));
        self.inlets.status_servers.follow(self.engine.roots(), &mut *self.inlets.source);
        if ends {
            self.begin_history();
        }
    }

    /// Whether a root gives no events. Its files may then have changed since the last look.
    fn is_polled(&self) -> bool {
        self.engine.roots().iter().any(|root| self.inlets.source.mode_of(root) == WatchMode::Poll)
    }

    /// A caller wants all sessions.
    pub(super) fn wake_all(&mut self) {
        let out = self.engine.wake_all();
        self.carry_out(out);
    }

    fn receive_one(&mut self, message: Message) {
        match message {
            Message::ScanBegan { recent } => self.startup.scan_began(recent),
            Message::Rescanned(found, look) => {
                let again = self.inlets.rescans.ended();
                self.take_rescan(*found, look);
                if again {
                    self.rescan();
                }
            }
            Message::ProcessEnded(pid) => {
                self.step(Input::ProcessEnded(Some(pid)));
            }
            Message::Subscribe(wants, sink) => {
                if wants.all {
                    self.wake_all();
                }
                self.faces.subscribers.push(Subscriber::new(wants, sink));
            }
            Message::Listen(sink) => self.faces.alert_subscribers.add(sink, &mut self.engine),
            Message::Attention(input) => self.step(Input::Attention(input)),
            Message::Broadcast(message) => {
                self.faces.subscribers.retain_mut(|subscriber| subscriber.tell(message.clone()))
            }
            Message::Ask(question) => {
                self.wake_all();
                question(&self.engine, &*self.inlets.source);
            }
            Message::Settings(settings) => {
                self.wake_all();
                self.take_settings(*settings);
            }
            Message::Look { all, question } => {
                self.take_hints();
                if self.is_polled() && !self.startup.is_fresh(self.clock.now()) {
                    self.look_again();
                }
                if all {
                    self.wake_all();
                }
                question(&self.engine);
            }
            Message::Command(id, command, reply) => {
                self.wake_all();
                reply(self.command(&id, &command));
            }
            Message::HookAsks(request, message, sink) => {
                // The host answers it: two cards would show one request.
                if self.engine.is_hosted(&request.session, &message) {
                    self.step(Input::Hooks(vec![message]));
                    return sink(None);
                }
                if self.stored.persist.as_ref().is_none_or(|persist| !persist.writes()) {
                    return sink(None);
                }
                self.faces.waiting_hooks.add(request.id.clone(), sink);
                self.step(Input::Ask(request, message));
            }
            Message::Printed(id) => self.step(Input::Printed(id)),
            Message::HookGone(id) => {
                self.faces.waiting_hooks.remove(&id);
                self.step(Input::HookGone(id));
            }
            Message::Own(news) => {
                self.own_sessions_said(&news);
                self.step(Input::Own(news));
            }
            Message::Server(news) => self.step(Input::Server(news)),
            Message::Undelivered(id) => self.step(Input::Undelivered(id)),
            Message::Answer(answer, pressed, reply) => {
                reply(self.answer(&answer, pressed));
                // Makes the row anew, and schedules the look for the effect of the answer.
                self.step(Input::Deadline);
            }
            Message::FilesSeen(session, id, files) => {
                self.engine.requests().note_files(&session, &id, files);
                // Makes the row anew, so that a card shows the change.
                self.step(Input::Deadline);
            }
            Message::CallerRefused(attempt) => {
                // The list is the holder's, which refuses the same program.
                if self.stored.persist.as_ref().is_none_or(|persist| persist.writes()) {
                    self.engine.requests().note_refused(&attempt);
                    // Makes the row anew, so that a card shows the attempt.
                    self.step(Input::Deadline);
                }
            }
            Message::CommandsStored => self.read_commands(),
            Message::HolderRequests(asked) => self.step(Input::HolderRequests(asked)),
            Message::HolderGone => self.take_place_of_holder(),
            Message::Remove(removal, reply) => self.remove(removal, reply),
            Message::Removed => {
                self.faces.followers_pending = true;
                if let Some(hosts) = &self.inlets.own_hosts {
                    hosts.exclude(self.engine.settings().history.exclude.clone());
                }
                // The next turn reads the remaining user edits again.
                self.inlets.woken.notify_one();
            }
            Message::Settle(reply) => self.settle(reply),
            Message::ClockJumped => self.look_again(),
            // The window gets the focus as it opens, during or just after the first scan.
            Message::LookAgain if self.startup.is_fresh(self.clock.now()) => {}
            Message::LookAgain => self.look_again(),
            Message::MemoryChanged => {
                if let Some(history_thread) = &self.stored.history_thread {
                    history_thread.memory_changed();
                }
            }
            Message::IndexDamaged => {
                if let Some(history_thread) = &self.stored.history_thread {
                    history_thread.check_index();
                }
            }
            Message::Loaded(..) | Message::Folder(_) | Message::ScanEnded(_) | Message::Stop => {}
        }
    }
}
