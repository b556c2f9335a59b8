//! User commands while the loop runs: from this program, and through the socket from others.
//!
//! The holder of the store carries them out, and stores their ids in the same transaction. Another program resolves the
//! session names and hands the command back, to be sent to the holder. See [`crate::handle`].

use watchbill_core::user::SessionCommand;
use watchbill_history::removal::Removal;
use watchbill_history::worker::{OnRemoved, OnSettled};
use watchbill_protocol::error::{ApiError, ErrorCode};

use super::Loop;
use crate::persist::Persist;
use crate::run::message::{CommandOutcome, Message};
use crate::socket::access::CommandId;
use crate::socket::holder;
use crate::socket::server::Server;
use crate::step::input::Input;

impl Loop {
    /// Opens the socket if this engine holds the store. Otherwise follows the holder.
    pub(super) fn open_socket(&mut self) {
        let Some(data_dir) = self.engine.settings().data_dir.clone() else { return };
        match &self.stored.persist {
            Some(persist) if persist.writes() => {
                self.faces.holder.stop_following();
                self.faces.socket = match Server::start(&data_dir, self.faces.own.clone()) {
                    Ok(server) => Some(server),
                    Err(error) => {
                        tracing::warn!(%error, "other programs cannot reach this one, and read the files themselves");
                        None
                    }
                };
            }
            Some(_) => holder::follow(&data_dir, self.faces.own.inbox(), &self.faces.holder),
            None => {}
        }
    }

    /// Closes the socket, and follows the holder of the store unless that is so already.
    pub(super) fn reach_holder(&mut self) {
        self.step(Input::ReleaseAll);
        self.faces.socket = None;
        if !self.faces.holder.is_following() {
            self.open_socket();
        }
    }

    /// Carries a command out and stores it. If another program holds the store, gives the command back.
    pub(super) fn command(
        &mut self,
        id: &CommandId,
        command: &SessionCommand,
    ) -> Result<CommandOutcome, ApiError> {
        let now = self.clock.now();
        let reading = self.engine.is_reading();
        let unknown = |error: ApiError| match error.code {
            ErrorCode::NotFound if reading => {
                let message = "it is not known yet: transcripts are still being read for the first time";
                ApiError::new(ErrorCode::NotReady, message)
            }
            _ => error,
        };
        let command = self.engine.with_whole_ids(command).map_err(unknown)?;
        let session = command.session().clone();
        if let Some(persist) = self.stored.persist.as_mut().filter(|persist| !persist.writes()) {
            // The holder may have just ended.
            persist.try_now();
            self.save(now);
        }
        match &self.stored.persist {
            Some(persist) if !persist.writes() => {
                return match persist.trouble().filter(|_| !self.faces.holder.is_connected()) {
                    // No program holds the store: it cannot be written.
                    Some(trouble) => {
                        let message = format!("the command is not stored: {}", trouble.detail);
                        Err(ApiError::new(ErrorCode::Unreadable, message))
                    }
                    None => Ok(CommandOutcome::Elsewhere(command)),
                };
            }
            // The command was sent again because the first answer was lost. This program carried it out, or the holder
            // before it.
            Some(persist) if persist.has_carried_out(id, &command)? => {
                return if self.is_stored() {
                    Ok(CommandOutcome::Stored(session))
                } else {
                    Err(self.unstored())
                };
            }
            _ => {}
        }
        let out = self.engine.apply_command(now, &command)?;
        self.carry_out(out);
        if let Some(persist) = &mut self.stored.persist {
            persist.note_carried_out(id, &command, now);
            self.faces.followers_pending = true;
            self.save(now);
            if !self.is_stored() {
                return Err(self.unstored());
            }
        }
        Ok(CommandOutcome::Stored(session))
    }

    /// Reads the user edits that the holder has stored.
    pub(super) fn read_commands(&mut self) {
        if self.stored.persist.as_ref().is_none_or(Persist::writes) {
            return;
        }
        let Some(user_edits) = self.stored.persist.as_mut().and_then(Persist::user_edits) else { return };
        self.engine.restore_user_edits(user_edits);
        self.step(Input::Deadline);
    }

    /// The holder has ended: this program tries to take over at once.
    pub(super) fn take_place_of_holder(&mut self) {
        if let Some(persist) = self.stored.persist.as_mut().filter(|persist| !persist.writes()) {
            persist.try_now();
            self.save(self.clock.now());
            self.read_commands();
        }
    }

    /// Lets the history's thread remove something. This may take minutes.
    pub(super) fn remove(&self, removal: Removal, reply: OnRemoved) {
        let inbox = self.faces.own.inbox().clone();
        let reply: OnRemoved = Box::new(move |outcome| {
            reply(outcome);
            // Without a loop, no other program needs the news.
            let _ = inbox.send(Message::Removed);
        });
        let unsent = match &self.stored.history_thread {
            Some(history_thread) => history_thread.remove(removal, reply).err(),
            None => Some(reply),
        };
        if let Some(reply) = unsent {
            reply(Err(holds_no_store()));
        }
    }

    /// Calls `reply` when everything is stored.
    pub(super) fn settle(&self, reply: OnSettled) {
        match &self.stored.history_thread {
            Some(history_thread) => history_thread.when_stored(reply),
            None => reply(Err(holds_no_store())),
        }
    }

    /// Tells other programs that a user command was stored here.
    pub(super) fn tell_followers(&mut self) {
        if self.faces.followers_pending && self.is_stored() {
            self.faces.followers_pending = false;
            self.faces.socket.iter().for_each(Server::command_stored);
        }
    }

    /// Whether all user commands are stored.
    pub(super) fn is_stored(&self) -> bool {
        self.stored.persist.as_ref().is_some_and(|persist| persist.writes() && !persist.has_unstored())
            && self.engine.settings().doubt.is_none()
    }

    pub(super) fn unstored(&self) -> ApiError {
        let persist = self.stored.persist.as_ref();
        let why = match persist.and_then(Persist::trouble) {
            Some(trouble) => trouble.detail,
            None if persist.is_some_and(Persist::waits_for_another_thread) => {
                "excluded data is being removed from it; that takes some seconds".into()
            }
            None => "the reason is unknown".into(),
        };
        let message = format!("done, but not stored yet; it is lost if this program ends first: {why}");
        ApiError::new(ErrorCode::Unreadable, message)
    }
}

fn holds_no_store() -> ApiError {
    ApiError::new(ErrorCode::NotReady, "this program does not hold the store now; try again")
}
