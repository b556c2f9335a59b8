//! What programs at the socket ask of the running engine, beyond the questions of the window.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use watchbill_core::user::SessionCommand;
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::roster::RosterSnapshot;
use watchbill_protocol::socket::IndexProgress;
use watchbill_protocol::store::{ForgetReport, IndexReport};
use watchbill_store::{OpenMode, Store};

use super::Handle;
use crate::publish::snapshot;
use crate::run::message::{CommandOutcome, Message};
use crate::socket::access::{AccessError, CommandId};
use crate::socket::client::Client;
use watchbill_history::query::{Lag, lag};
use watchbill_history::removal::Removal;

/// Pause between two attempts to reach the holder, while another program takes over the store.
const RETRY: Duration = Duration::from_millis(20);
/// How long a command waits for a holder that does not listen. `index` is such a holder.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Interval of progress messages to a client.
const PROGRESS: Duration = Duration::from_millis(250);

impl Handle {
    fn broken(&self, error: ApiError) -> AccessError {
        if self.stopped()() { AccessError::Broken(error.message) } else { AccessError::Refused(error) }
    }

    /// Carries a command out in this engine, if it holds the store.
    fn command_here(&self, id: &CommandId, command: &SessionCommand) -> Result<CommandOutcome, AccessError> {
        let done = self.wait_for(|reply| Message::Command(id.clone(), command.clone(), reply));
        done.and_then(|done| done).map_err(|error| self.broken(error))
    }

    /// Asks the holder to carry a command out; `None` if no program listens, or the connection breaks.
    fn command_there(
        &self,
        id: &CommandId,
        command: &SessionCommand,
        was_sent: &mut bool,
    ) -> Option<Result<String, AccessError>> {
        let data_dir = self.settings().data_dir.clone()?;
        let mut client = Client::connect(&data_dir)?;
        match client.command(id, command) {
            Err(AccessError::Broken(what)) => {
                tracing::debug!(what, "a command is sent again");
                *was_sent = true;
                None
            }
            done => {
                // Without a loop there is no roster to update.
                let _ = self.inbox.send(Message::CommandsStored);
                Some(done)
            }
        }
    }
}

impl Handle {
    /// The roster, once the recent transcripts are read.
    ///
    /// # Errors
    /// While the engine reads transcripts for the first time.
    pub(crate) fn whole_roster(&self, all: bool) -> Result<RosterSnapshot, AccessError> {
        let roster = self.wait_for(|reply| {
            let question = move |engine: &crate::engine::Engine| {
                reply((!engine.is_reading()).then(|| snapshot(&engine.current(all))));
            };
            Message::Look { all, question: Box::new(question) }
        });
        roster.and_then(|roster| roster.ok_or_else(still_reading)).map_err(|error| self.broken(error))
    }

    /// Carries out and stores a user command, here or at the holder of the store. Gives the whole id of its session. A command
    /// that is sent again with its id runs once.
    ///
    /// # Errors
    /// When no session matches, the command does not fit the current state, or it cannot be stored.
    pub fn command(&self, id: &CommandId, command: &SessionCommand) -> Result<String, AccessError> {
        let (began, mut was_sent) = (Instant::now(), false);
        loop {
            let command = match self.command_here(id, command)? {
                CommandOutcome::Stored(session) => return Ok(session.to_string()),
                CommandOutcome::Elsewhere(command) => command,
            };
            if let Some(done) = self.command_there(id, &command, &mut was_sent) {
                return done;
            }
            if began.elapsed() >= TIMEOUT {
                let message = if was_sent {
                    "the Watchbill that holds the store has stopped answering; the roster shows whether it was done"
                } else {
                    "nothing was changed: another Watchbill holds the store and does not listen; \
                     if it is `watchbill index`, try again after its end"
                };
                return Err(ApiError::new(ErrorCode::NotReady, message).into());
            }
            std::thread::sleep(RETRY);
        }
    }

    /// Removes data from the stored history for good. Gives the report, if the removal has one.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub(crate) fn forget(&self, removal: &Removal) -> Result<Option<ForgetReport>, AccessError> {
        let (sender, receiver) = mpsc::sync_channel(1);
        let reply = Box::new(move |outcome| {
            // The client may be gone; the removal is done anyway.
            let _ = sender.send(outcome);
        });
        let sent = self.inbox.send(Message::Remove(removal.clone(), reply));
        // Wiping gigabytes takes minutes.
        let outcome = sent.ok().and_then(|()| receiver.recv().ok());
        Ok(outcome.ok_or_else(|| AccessError::Broken("the engine has stopped".to_owned()))??)
    }

    /// Waits until the present content of all transcripts is stored. `progress` returns `false` to end the wait.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub(crate) fn index(
        &self,
        progress: &mut dyn FnMut(IndexProgress) -> bool,
    ) -> Result<IndexReport, AccessError> {
        let began = Instant::now();
        let behind = self.behind();
        let before = self.searcher.reach().read();
        let read = || self.searcher.reach().read().since(before);
        let (sender, receiver) = mpsc::sync_channel(1);
        let reply = Box::new(move |stored| {
            // The client may have gone.
            let _ = sender.send(stored);
        });
        self.inbox.send(Message::Settle(reply)).map_err(|_| self.broken(super::stopped()))?;
        let interrupted = loop {
            match receiver.recv_timeout(PROGRESS) {
                Ok(stored) => break stored.map(|()| false)?,
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(AccessError::Broken("the engine has stopped".to_owned()));
                }
                Err(RecvTimeoutError::Timeout) => {
                    let bytes = read().bytes.min(behind.bytes);
                    if !progress(IndexProgress { bytes, total_bytes: behind.bytes }) {
                        break true;
                    }
                }
            }
        };
        let read = read();
        Ok(IndexReport {
            files: behind.all,
            bytes: read.bytes,
            records: read.records,
            skipped: behind.all.saturating_sub(behind.files),
            problems: behind.problems,
            texts: read.texts,
            seconds: began.elapsed().as_secs_f64(),
            interrupted,
            kept_by: Some(std::process::id()),
            ..IndexReport::default()
        })
    }

    /// The amount of data that is not stored yet; empty if unknown.
    fn behind(&self) -> Lag {
        let settings = self.settings();
        let Some(data_dir) = settings.data_dir.as_deref() else { return Lag::default() };
        let store = Store::open(data_dir, OpenMode::Read);
        let behind =
            store.and_then(|store| lag(&store, &*self.fs, &settings.stored_roots(), &settings.history));
        behind.unwrap_or_default()
    }
}

fn still_reading() -> ApiError {
    ApiError::new(ErrorCode::NotReady, "transcripts are still being read for the first time")
}
