//! Commands of the person while the loop runs, from this program and through the socket from others.
//!
//! The program that holds the store carries them out and remembers their ids in the same transaction. Any other one
//! resolves the sessions that are meant and hands the command back, for the holder; see [`crate::handle`].

use std::path::Path;

use watchbill_core::person::Word;
use watchbill_history::removal::Removal;
use watchbill_history::worker::{OnRemoved, Settled};
use watchbill_protocol::error::{ApiError, ErrorCode};

use super::Loop;
use crate::input::Input;
use crate::persist::Persist;
use crate::run::message::{Done, Message};
use crate::socket::access::CommandId;
use crate::socket::holder;
use crate::socket::server::Server;

impl Loop {
    /// Opens the socket where this engine holds the store, and follows the program that does where it does not.
    pub(super) fn open_socket(&mut self) {
        let Some(data_dir) = self.engine.settings().data_dir.clone() else { return };
        match &self.persist {
            Some(persist) if persist.writes() => {
                self.holder.let_go();
                remove_wishes(&data_dir);
                self.socket = match Server::start(&data_dir, self.own.clone()) {
                    Ok(server) => Some(server),
                    Err(error) => {
                        tracing::warn!(%error, "other programs cannot reach this one, and look for themselves");
                        None
                    }
                };
            }
            Some(_) => holder::follow(&data_dir, self.own.inbox(), &self.holder),
            None => {}
        }
    }

    /// Listens no longer, and follows the program that holds the store, if it is not followed yet.
    pub(super) fn reach_holder(&mut self) {
        self.step(Input::ReleaseAll);
        self.socket = None;
        if !self.holder.is_looked_for() {
            self.open_socket();
        }
    }

    /// Carries a command out and stores it; where another program holds the store the command is given back.
    pub(super) fn command(&mut self, id: &CommandId, command: &Word) -> Result<Done, ApiError> {
        let now = self.clock.now();
        let reading = self.engine.is_reading();
        let unknown = |error: ApiError| match error.code {
            ErrorCode::NotFound if reading => {
                let message = "it is not known yet: transcripts are still being read for the first time";
                ApiError::new(ErrorCode::NotReady, message)
            }
            _ => error,
        };
        let command = self.engine.meant(command).map_err(unknown)?;
        let session = command.session().clone();
        if let Some(persist) = self.persist.as_mut().filter(|persist| !persist.writes()) {
            // The holder may just have ended.
            persist.try_now();
            self.save(now);
        }
        match &self.persist {
            Some(persist) if !persist.writes() => {
                return match persist.trouble().filter(|_| !self.holder.is_followed()) {
                    // Nobody holds the store: it cannot be written.
                    Some(trouble) => {
                        let message = format!("that is not kept: {}", trouble.detail);
                        Err(ApiError::new(ErrorCode::Unreadable, message))
                    }
                    None => Ok(Done::Elsewhere(command)),
                };
            }
            // It was sent again, since the first answer was lost: by this program, or by the holder before it.
            Some(persist) if persist.has_carried_out(id, &command)? => {
                return if self.is_stored() { Ok(Done::Stored(session)) } else { Err(self.unstored()) };
            }
            _ => {}
        }
        let out = self.engine.say(now, &command)?;
        self.carry_out(out);
        if let Some(persist) = &mut self.persist {
            persist.note_carried_out(id, &command, now);
            self.untold = true;
            self.save(now);
            if !self.is_stored() {
                return Err(self.unstored());
            }
        }
        Ok(Done::Stored(session))
    }

    /// Takes on what the person has said, as the program that holds the store has stored it.
    pub(super) fn read_commands(&mut self) {
        if self.persist.as_ref().is_none_or(Persist::writes) {
            return;
        }
        let Some(words) = self.persist.as_mut().and_then(Persist::words) else { return };
        self.engine.restore_words(words);
        self.step(Input::Deadline);
    }

    /// The program that held the store is gone: this one tries to take its place at once.
    pub(super) fn take_place_of_holder(&mut self) {
        if let Some(persist) = self.persist.as_mut().filter(|persist| !persist.writes()) {
            persist.try_now();
            self.save(self.clock.now());
            self.read_commands();
        }
    }

    /// Has the history's thread remove something, which may take minutes.
    pub(super) fn remove(&self, removal: Removal, told: OnRemoved) {
        let inbox = self.own.inbox().clone();
        let told: OnRemoved = Box::new(move |outcome| {
            told(outcome);
            // Without a loop no other program has to be told.
            let _ = inbox.send(Message::Removed);
        });
        let untold = match &self.historian {
            Some(historian) => historian.remove(removal, told).err(),
            None => Some(told),
        };
        if let Some(told) = untold {
            told(Err(holds_no_store()));
        }
    }

    /// Tells `told` when everything is stored.
    pub(super) fn settle(&self, told: Settled) {
        match &self.historian {
            Some(historian) => historian.settle(told),
            None => told(Err(holds_no_store())),
        }
    }

    /// Tells other programs what was said here, once it is stored.
    pub(super) fn tell_followers(&mut self) {
        if self.untold && self.is_stored() {
            self.untold = false;
            self.socket.iter().for_each(Server::command_stored);
        }
    }

    /// Whether everything that was said is in the store.
    pub(super) fn is_stored(&self) -> bool {
        self.persist.as_ref().is_some_and(|persist| persist.writes() && !persist.owes())
            && self.engine.settings().doubt.is_none()
    }

    pub(super) fn unstored(&self) -> ApiError {
        let persist = self.persist.as_ref();
        let why = match persist.and_then(Persist::trouble) {
            Some(trouble) => trouble.detail,
            None if persist.is_some_and(Persist::waits_for_another_thread) => {
                "what is to be left out is being removed from it; that takes some seconds".into()
            }
            None => "it is not known why".into(),
        };
        let message =
            format!("that counts now, but is not stored yet, and would be lost with this program: {why}");
        ApiError::new(ErrorCode::Unreadable, message)
    }
}

/// Removes what earlier programs left for each other: names and ids of sessions that nothing reads any more. The data folder may
/// be one that the person keeps other things in, so that only files of that form go, and the folder when it is empty then.
fn remove_wishes(data_dir: &Path) {
    let folder = data_dir.join("wishes");
    let is_ours = |path: &Path| {
        path.file_name().is_some_and(|name| name == "heard")
            || path.extension().is_some_and(|end| end == "wish" || end == "answer" || end == "part")
    };
    for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
        if is_ours(&entry.path()) {
            // What cannot be removed now goes with a later start.
            let _ = std::fs::remove_file(entry.path());
        }
    }
    let _ = std::fs::remove_dir(folder);
}

fn holds_no_store() -> ApiError {
    ApiError::new(ErrorCode::NotReady, "this program does not hold the store now; try again")
}
