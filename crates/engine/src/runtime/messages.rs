//! What reaches the loop from outside: files of the first scan many at a time, everything else one by one.

use jiff::tz::TimeZone;
use watchbill_core::time::{Millis, Timestamp};
use watchbill_protocol::doctor::WatchMode;
use watchbill_watch::scan::{Scan, scan};

use super::Loop;
use crate::input::{AttentionInput, Input};
use crate::message::Message;
use crate::publish::Subscriber;

/// So many loaded files are taken in by one step of the first scan: whoever works meanwhile waits for a step at most.
const BATCH: usize = 48;

/// A dead mount keeps the first snapshot waiting for this long and no longer.
const FOLDERS_PATIENCE: Millis = Millis::from_secs(1);

/// A person who turns to the window sees nothing older than this.
const FRESH: Millis = Millis::from_secs(1);

impl Loop {
    pub(super) fn receive(&mut self, first: Message) {
        let mut loaded = Vec::new();
        let mut looks = Vec::new();
        let mut message = Some(first);
        let mut ended = None;
        while let Some(current) = message {
            match current {
                Message::Loaded(n, file) => {
                    if n < self.recent_limit {
                        self.recent_left = self.recent_left.map(|left| left.saturating_sub(1));
                        self.look_behind(&file.path);
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
                    // What was loaded before a question counts for its answer.
                    self.step(Input::Loaded(std::mem::take(&mut loaded)));
                    self.step(Input::Folders(std::mem::take(&mut looks)));
                    self.receive_one(other);
                }
            }
            message = self.inbox.try_recv().ok();
        }
        if !loaded.is_empty() {
            self.step(Input::Loaded(loaded));
        }
        if !looks.is_empty() {
            self.step(Input::Folders(looks));
        }
        if let Some(scan) = ended {
            self.recent_left = Some(0);
            self.folders_until = Some(self.clock.now() + FOLDERS_PATIENCE);
            self.step(Input::Found(scan.found));
            self.read_all = true;
            self.look_at_all_once_more();
        }
    }

    /// While the machine slept deadlines have passed, processes have ended and polled folders have changed; all of
    /// that is looked at before anybody is told anything, and so is everything for a person who turns to the window.
    fn look_again(&mut self) {
        // It may have travelled.
        self.step(Input::Attention(AttentionInput::Zone(TimeZone::system())));
        let began = self.clock.now();
        let found = scan(self.engine.fs(), &self.engine.settings.roots);
        self.take_rescan(found, true, began);
    }

    /// Compares everything with what is known. The first scan ends with this, when all its files had been read before
    /// the look was begun.
    pub(super) fn take_rescan(&mut self, found: Scan, had_read_all: bool, began: Timestamp) {
        let ends = had_read_all && std::mem::take(&mut self.read_all);
        if ends {
            self.step(Input::ScanEnded(Vec::new()));
        }
        self.looked = Some(began).filter(|_| !self.engine.reading);
        self.step(Input::Rescanned(found));
        if ends {
            self.begin_history();
        }
    }

    /// Whether another look at everything would find what the last one found, or what the first scan is about to find.
    /// A clock that went back makes nothing fresh.
    fn is_fresh(&self) -> bool {
        let now = self.clock.now();
        self.looked.is_none_or(|looked| looked <= now && now < looked + FRESH)
    }

    /// A root gives no events, so that what is known of it may be as old as the last look.
    fn is_polled(&self) -> bool {
        self.engine.roots().iter().any(|root| self.source.mode_of(root) == WatchMode::Poll)
    }

    /// Somebody wants to know of all sessions.
    pub(super) fn wake_all(&mut self) {
        let out = self.engine.wake_all();
        self.carry_out(out);
    }

    fn receive_one(&mut self, message: Message) {
        match message {
            Message::ScanBegan { recent } => {
                // What the store knew may be shown already.
                self.recent_left.get_or_insert(recent);
                self.recent_limit = recent;
            }
            Message::Rescanned(found) => {
                let again = self.rescans.ended();
                self.take_rescan(*found, self.had_read_all, self.look_began);
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
                self.subscribers.push(Subscriber::new(wants, sink));
            }
            Message::Listen(sink) => self.listeners.add(sink, &mut self.engine),
            Message::Attention(input) => self.step(Input::Attention(input)),
            Message::Tell(message) => {
                self.subscribers.retain_mut(|subscriber| subscriber.tell(message.clone()))
            }
            Message::Ask(question) => {
                self.wake_all();
                question(&self.engine, &*self.source);
            }
            Message::Settings(settings) => {
                self.wake_all();
                self.take_settings(*settings);
            }
            Message::Look { all, question } => {
                self.take_hints();
                if self.is_polled() && !self.is_fresh() {
                    self.look_again();
                }
                if all {
                    self.wake_all();
                }
                question(&self.engine);
            }
            Message::Command(id, command, told) => {
                self.wake_all();
                told(self.command(&id, &command));
            }
            Message::CommandsStored => self.read_commands(),
            Message::HolderGone => self.take_place_of_holder(),
            Message::Remove(removal, told) => self.remove(removal, told),
            Message::Removed => {
                self.untold = true;
                // What is left of the person's commands is read again with the next turn.
                self.woken.notify_one();
            }
            Message::Settle(told) => self.settle(told),
            Message::ClockJumped => self.look_again(),
            // The window gets the focus as it opens, while the first scan runs or is just over.
            Message::LookAgain if self.is_fresh() => {}
            Message::LookAgain => self.look_again(),
            Message::IndexDamaged => {
                if let Some(historian) = &self.historian {
                    historian.mend_index();
                }
            }
            Message::Loaded(..) | Message::Folder(_) | Message::ScanEnded(_) | Message::Stop => {}
        }
    }
}
