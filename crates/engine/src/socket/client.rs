//! The typed socket client: a connection to the holder of the store.

use std::io;
use std::path::Path;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use watchbill_core::time::Timestamp;
use watchbill_core::user::SessionCommand;
use watchbill_drive::socket::caller::processes;
use watchbill_drive::socket::engine::holder;
use watchbill_history::removal::Removal;
use watchbill_platform::socket::{Reader, Writer, halves};
use watchbill_protocol::api::ApiRequest;
use watchbill_protocol::chain::WorkChain;
use watchbill_protocol::memory::{ContextCall, ContextText, MemoryChange, MemoryChanged};
use watchbill_protocol::prompt::{PromptCall, PromptSent};
use watchbill_protocol::request::{AnswerCall, AnswerGiven, AnswerRecord};
use watchbill_protocol::roster::{RosterMessage, RosterSnapshot};
use watchbill_protocol::search::{SearchAnswer, SearchQuery};
use watchbill_protocol::socket::{AskCall, Hello, IndexProgress, RawReply, SocketCall, VERSION};
use watchbill_protocol::store::{ForgetReport, IndexReport};
use watchbill_protocol::why::Why;

use super::access::{AccessError, CommandId};
use super::address_of;
use crate::pressed::Pressed;

/// The holder sends its hello at once. A holder that takes longer hangs.
const GREETING: Duration = Duration::from_secs(2);
/// Limit for answers from memory or from a search. After it, the caller reads the files itself.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
/// Limit for a command, which waits for the store. The store may be busy.
const STORED: Duration = Duration::from_secs(40);

/// A connection to the holder of the store. It handles one request at a time.
pub struct Client {
    hello: Hello,
    reader: Reader,
    writer: Writer,
}

impl Client {
    /// Connects to the holder of this data folder's store. `None` if it does not listen, or speaks another protocol. A program
    /// that took the place of its socket is no holder.
    pub fn connect(data_dir: &Path) -> Option<Self> {
        match Self::greeted(data_dir) {
            Ok(client) if client.hello.protocol == VERSION => Some(client),
            Ok(client) => {
                tracing::debug!(
                    protocol = client.hello.protocol,
                    "the program that holds the store speaks another protocol"
                );
                None
            }
            Err(error) => {
                tracing::debug!(%error, "no running Watchbill answers");
                None
            }
        }
    }

    fn greeted(data_dir: &Path) -> io::Result<Self> {
        let stream = address_of(data_dir).connect()?;
        if holder(&stream, data_dir).is_none() {
            return Err(io::Error::other(
                "the program that listens does not hold the lock of the data folder",
            ));
        }
        let (mut reader, writer) = halves(stream);
        reader.wait_at_most(Some(GREETING))?;
        let hello = reader.line(u64::MAX)?.ok_or(io::ErrorKind::UnexpectedEof)?;
        Ok(Self { hello: serde_json::from_slice(hello)?, reader, writer })
    }

    /// The hello of the holder.
    pub fn hello(&self) -> &Hello {
        &self.hello
    }

    /// Whether a process has started the holder, or is above the one that did.
    pub fn descends_from(&self, pid: u32) -> bool {
        processes(self.reader.stream()).contains(&pid)
    }

    /// Raises the holder's window, with a session selected.
    ///
    /// # Errors
    /// When the program has no window any more.
    pub fn open(&mut self, session: Option<&str>) -> Result<(), AccessError> {
        self.call(ApiRequest::Open { session: session.map(str::to_owned) }, ANSWER_TIMEOUT)
    }

    /// Calls `stored` after each stored user command, until `stored` returns `false` or the connection ends.
    pub fn follow_commands(&mut self, stored: &mut dyn FnMut() -> bool) {
        let ended: Result<(), _> =
            self.call_with(&CommandId::new(), ApiRequest::FollowCommands, None, &mut |_| stored());
        tracing::debug!(?ended, "commands are followed no longer");
    }

    /// Asks the user, for a hook process, and waits without end. Gives the text to print, if any.
    ///
    /// # Errors
    /// When the connection breaks: nothing is to be printed then.
    pub fn ask(&mut self, call: AskCall) -> Result<Option<String>, AccessError> {
        self.call_with(&CommandId::new(), ApiRequest::Ask(call), None, &mut |_| true)
    }

    /// Tells that the hook process has printed the reply to its [`Client::ask`], and waits for no reply: the agent waits for the
    /// process.
    pub fn send_printed(&mut self, request: &str) {
        let request = ApiRequest::Printed { request_id: request.to_owned() };
        // Without it, the answer is listed as lost.
        let _ = self.writer.send(&SocketCall { id: CommandId::new().to_string(), request });
    }

    /// Asks what to tell the agent, for a hook process.
    ///
    /// # Errors
    /// When the connection breaks, or the store cannot be used: nothing is to be printed then.
    pub fn context(&mut self, call: ContextCall) -> Result<Option<ContextText>, AccessError> {
        self.call(ApiRequest::Context(call), ANSWER_TIMEOUT)
    }

    /// Tells that the hook process has printed the reply to its [`Client::context`], and waits for no reply: the agent waits for the
    /// process.
    pub fn send_context_printed(&mut self, answer: &str) {
        let request = ApiRequest::ContextPrinted { answer: answer.to_owned() };
        // Without it, the text is shown as one that came too late.
        let _ = self.writer.send(&SocketCall { id: CommandId::new().to_string(), request });
    }

    /// Answers a request that a window of this program has shown. It is not sent again after a broken connection.
    ///
    /// # Errors
    /// As [`Client::answer`].
    pub(crate) fn answer_from(
        &mut self,
        surface: &str,
        call: &AnswerCall,
        pressed: Pressed,
    ) -> Result<AnswerGiven, AccessError> {
        self.send_answer(call, Some(surface.to_owned()), pressed)
    }

    fn send_answer(
        &mut self,
        call: &AnswerCall,
        surface: Option<String>,
        pressed: Pressed,
    ) -> Result<AnswerGiven, AccessError> {
        let pressed = Some(pressed.nanoseconds());
        self.call(ApiRequest::Answer { call: call.clone(), surface, pressed }, STORED)
    }

    fn call<T: DeserializeOwned>(
        &mut self,
        request: ApiRequest,
        at_most: Duration,
    ) -> Result<T, AccessError> {
        self.call_with(&CommandId::new(), request, Some(at_most), &mut |_| true)
    }

    /// Sends a request and waits for its reply. `event` returns `false` to end the wait; then the connection is
    /// unusable.
    fn call_with<T: DeserializeOwned>(
        &mut self,
        id: &CommandId,
        request: ApiRequest,
        at_most: Option<Duration>,
        event: &mut dyn FnMut(&RawValue) -> bool,
    ) -> Result<T, AccessError> {
        let broken = |what: &dyn std::fmt::Display| {
            AccessError::Broken(format!("process {} gives no answer: {what}", self.hello.pid))
        };
        let call = SocketCall { id: id.to_string(), request };
        self.reader.wait_at_most(at_most).and_then(|()| self.writer.send(&call)).map_err(|e| broken(&e))?;
        loop {
            let line = self.reader.line(u64::MAX).map_err(|error| broken(&error))?;
            let line = line.ok_or_else(|| broken(&"the connection has ended"))?;
            let received: RawReply<'_> = serde_json::from_slice(line).map_err(|error| broken(&error))?;
            if received.id != call.id {
                continue;
            }
            match received {
                RawReply { error: Some(error), .. } => return Err(AccessError::Refused(error)),
                RawReply { event: Some(raw_event), .. } if !event(raw_event) => {
                    return Err(AccessError::Broken("the caller ended the wait".to_owned()));
                }
                RawReply { event: Some(_), .. } => {}
                RawReply { reply, .. } => {
                    let reply = reply.map_or("null", RawValue::get);
                    return serde_json::from_str(reply).map_err(|error| broken(&error));
                }
            }
        }
    }
}

impl Client {
    /// The present roster.
    ///
    /// # Errors
    /// While the holder reads transcripts for the first time.
    pub fn roster(&mut self, all: bool) -> Result<RosterSnapshot, AccessError> {
        self.call(ApiRequest::Roster { all }, ANSWER_TIMEOUT)
    }

    /// Why a session is in its state.
    ///
    /// # Errors
    /// When no session matches, or more than one does.
    pub fn why(&mut self, session: &str) -> Result<Why, AccessError> {
        self.call(ApiRequest::Why { session: session.to_owned() }, ANSWER_TIMEOUT)
    }

    /// The work chain of a session.
    ///
    /// # Errors
    /// When no session matches, or more than one does.
    pub fn chain(&mut self, session: &str) -> Result<WorkChain, AccessError> {
        self.call(ApiRequest::Chain { session: session.to_owned() }, ANSWER_TIMEOUT)
    }

    /// Searches the stored texts for words.
    ///
    /// # Errors
    /// When a filter makes no sense, or the store cannot be read.
    pub fn search(&mut self, query: &SearchQuery) -> Result<SearchAnswer, AccessError> {
        self.call(ApiRequest::Search { query: query.clone() }, ANSWER_TIMEOUT)
    }

    /// Passes the roster, and then each change, to `sink`, until `sink` returns `false` or the holder ends.
    ///
    /// # Errors
    /// When the holder has ended. An end by `sink` is no error.
    pub fn subscribe(
        &mut self,
        all: bool,
        sink: &mut dyn FnMut(RosterMessage) -> bool,
    ) -> Result<(), AccessError> {
        let mut wanted = true;
        let mut event = |raw_event: &RawValue| {
            // Skip a message of a newer version that cannot be parsed.
            wanted = serde_json::from_str(raw_event.get()).map_or(true, &mut *sink);
            wanted
        };
        let ended = self.call_with(&CommandId::new(), ApiRequest::Subscribe { all }, None, &mut event);
        if wanted { ended } else { Ok(()) }
    }

    /// Carries out and stores a user command. Gives the whole id of its session. A command that is sent again with its
    /// id runs once.
    ///
    /// # Errors
    /// When no session matches, the command does not fit the current state, or it cannot be stored.
    pub fn command(&mut self, id: &CommandId, command: &SessionCommand) -> Result<String, AccessError> {
        self.call_with(id, ApiRequest::Command { command: command.into() }, Some(STORED), &mut |_| true)
    }

    /// Answers a request that was shown.
    ///
    /// # Errors
    /// When it is not open any more, the answer does not fit or cannot be stored, or this program may not answer.
    pub fn answer(&mut self, call: &AnswerCall) -> Result<AnswerGiven, AccessError> {
        self.send_answer(call, None, Pressed::now())
    }

    /// The answers that were given since a time, oldest first.
    ///
    /// # Errors
    /// When the store cannot be read.
    pub fn answers(&mut self, since: Option<Timestamp>) -> Result<Vec<AnswerRecord>, AccessError> {
        self.call(ApiRequest::Answers { since: since.map(|at| at.to_string()) }, ANSWER_TIMEOUT)
    }

    /// Sends a prompt to a session.
    ///
    /// # Errors
    /// When it was not sent, or this program may not send it. A broken connection leaves it unknown; do not send it again.
    pub fn prompt(&mut self, call: &PromptCall) -> Result<PromptSent, AccessError> {
        self.call(ApiRequest::Prompt(call.clone()), STORED)
    }

    /// Changes memories.
    ///
    /// # Errors
    /// When no memory fits the id, the text cannot be kept, or the store cannot be written.
    pub fn memory(&mut self, change: &MemoryChange) -> Result<MemoryChanged, AccessError> {
        // A first look at a long history takes minutes. The end of the holder ends the wait.
        let at_most = if *change == MemoryChange::Learn { None } else { Some(STORED) };
        let request = ApiRequest::Memory { change: change.clone() };
        self.call_with(&CommandId::new(), request, at_most, &mut |_| true)
    }

    /// Removes data from the stored history for good. Gives the report, if the removal has one.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn forget(&mut self, removal: &Removal) -> Result<Option<ForgetReport>, AccessError> {
        // Wiping gigabytes takes minutes. The end of the holder ends the wait.
        self.call_with(&CommandId::new(), removal.request(), None, &mut |_| true)
    }

    /// Waits until the present content of all transcripts is stored. `progress` returns `false` to end the wait.
    ///
    /// # Errors
    /// When the store cannot be written.
    pub fn index(
        &mut self,
        progress: &mut dyn FnMut(IndexProgress) -> bool,
    ) -> Result<IndexReport, AccessError> {
        let mut event =
            |raw_event: &RawValue| serde_json::from_str(raw_event.get()).map_or(true, &mut *progress);
        self.call_with(&CommandId::new(), ApiRequest::Index, None, &mut event)
    }
}
