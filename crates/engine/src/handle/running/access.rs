//! [`EngineAccess`] to the running engine of this process.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use watchbill_core::time::Timestamp;
use watchbill_core::user::SessionCommand;
use watchbill_platform::socket::Writer;
use watchbill_protocol::chain::WorkChain;
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::memory::{MemoryChange, MemoryChanged};
use watchbill_protocol::prompt::{PromptCall, PromptSent};
use watchbill_protocol::request::{AnswerCall, AnswerGiven, AnswerRecord};
use watchbill_protocol::roster::{RosterMessage, RosterSnapshot};
use watchbill_protocol::search::{SearchAnswer, SearchQuery};
use watchbill_protocol::socket::IndexProgress;
use watchbill_protocol::store::{ForgetReport, IndexReport};
use watchbill_protocol::why::Why;
use watchbill_store::{OpenMode, Store};

use super::Handle;
use crate::answers;
use crate::publish::{Subscription, snapshot};
use crate::run::message::{CommandOutcome, Message};
use crate::socket::access::{AccessError, CommandId, EngineAccess};
use crate::socket::client::Client;
use crate::socket::mailbox::{Closed, mailbox};
use watchbill_history::query::{Lag, lag};
use watchbill_history::removal::Removal;

/// Pause between two attempts to reach the holder, while another program takes over the store.
const RETRY: Duration = Duration::from_millis(20);
/// How long a command waits for a holder that does not listen. `index` is such a holder.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Interval of progress messages to a client.
const PROGRESS: Duration = Duration::from_millis(250);

impl Handle {
    /// Searches for a client of the socket, as long as it is there.
    ///
    /// # Errors
    /// As [`Handle::search_while`].
    pub(crate) fn search_for(
        &self,
        asked: &SearchQuery,
        client: &Writer,
    ) -> Result<SearchAnswer, AccessError> {
        Ok(self.search_while(asked, client.other_end())?)
    }

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

impl EngineAccess for Handle {
    fn roster(&mut self, all: bool) -> Result<RosterSnapshot, AccessError> {
        let roster = self.wait_for(|reply| {
            let question = move |engine: &crate::engine::Engine| {
                reply((!engine.is_reading()).then(|| snapshot(&engine.current(all))));
            };
            Message::Look { all, question: Box::new(question) }
        });
        roster.and_then(|roster| roster.ok_or_else(still_reading)).map_err(|error| self.broken(error))
    }

    fn why(&mut self, session: &str) -> Result<Why, AccessError> {
        Self::why(self, session).map_err(|error| self.broken(error))
    }

    fn chain(&mut self, session: &str) -> Result<WorkChain, AccessError> {
        Self::chain(self, session).map_err(|error| self.broken(error))
    }

    fn search(&mut self, query: &SearchQuery) -> Result<SearchAnswer, AccessError> {
        Ok(Self::search(self, query)?)
    }

    fn subscribe(
        &mut self,
        all: bool,
        sink: &mut dyn FnMut(RosterMessage) -> bool,
    ) -> Result<(), AccessError> {
        loop {
            let (sender, receiver) = mailbox();
            let wants = Subscription { all, wait_for_recent: true, ..Subscription::default() };
            Self::subscribe(self, wants, Box::new(move |message| sender.send(message)));
            let ended = loop {
                match receiver.receive().map(&mut *sink) {
                    Ok(true) => {}
                    Ok(false) => return Ok(()),
                    Err(ended) => break ended,
                }
            };
            if ended == Closed::Gone {
                return Err(AccessError::Broken("the engine has stopped".to_owned()));
            }
        }
    }

    fn command(&mut self, id: &CommandId, command: &SessionCommand) -> Result<String, AccessError> {
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

    fn answer(&mut self, call: &AnswerCall) -> Result<AnswerGiven, AccessError> {
        Self::answer(self, call, "window").map_err(|error| self.broken(error))
    }

    fn answers(&mut self, since: Option<Timestamp>) -> Result<Vec<AnswerRecord>, AccessError> {
        Ok(answers::list(&self.settings(), since)?)
    }

    fn prompt(&mut self, call: &PromptCall) -> Result<PromptSent, AccessError> {
        Self::prompt(self, call).map_err(|error| self.broken(error))
    }

    fn memory(&mut self, change: &MemoryChange) -> Result<MemoryChanged, AccessError> {
        Ok(self.change_memory(change)?)
    }

    fn forget(&mut self, removal: &Removal) -> Result<Option<ForgetReport>, AccessError> {
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

    fn index(&mut self, progress: &mut dyn FnMut(IndexProgress) -> bool) -> Result<IndexReport, AccessError> {
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
}

impl Handle {
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
