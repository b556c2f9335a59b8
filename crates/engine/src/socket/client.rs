//! The typed client: a connection to the program that holds the store.

use std::io;
use std::path::Path;
use std::time::Duration;

use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use watchbill_core::person::Word;
use watchbill_core::time::Timestamp;
use watchbill_history::removal::Removal;
use watchbill_protocol::chain::WorkChain;
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::request::{AnswerCall, AnswerGiven, AnswerRecord};
use watchbill_protocol::roster::{RosterMessage, RosterSnapshot};
use watchbill_protocol::search::{SearchAnswer, SearchQuery};
use watchbill_protocol::socket::{AskCall, Call, Hello, IndexProgress, Received, Request, VERSION};
use watchbill_protocol::store::{ForgetReport, IndexReport};
use watchbill_protocol::why::Why;

use super::access::{Access, AccessError, CommandId};
use super::address::Address;
use super::connection::{Reader, Writer, halves};

/// The hello is sent at once; a program that does not say it in this time hangs.
const GREETING: Duration = Duration::from_secs(2);
/// An answer from memory, or from a search. Then the request is answered by looking at the files.
const SOON: Duration = Duration::from_secs(10);
/// A command waits for the store, which may be busy.
const STORED: Duration = Duration::from_secs(40);

/// A connection to the program that holds the store. Requests are answered one after another.
pub struct Client {
    hello: Hello,
    reader: Reader,
    writer: Writer,
}

impl Client {
    /// Connects to the program that holds the store of this data folder; `None` when nobody listens, or a program of
    /// another protocol does.
    pub fn connect(data_dir: &Path) -> Option<Self> {
        match Self::greeted(&Address::of(data_dir)) {
            Ok(client) if client.hello.protocol == VERSION => Some(client),
            Ok(client) => {
                tracing::debug!(protocol = client.hello.protocol, "another protocol is spoken there");
                None
            }
            Err(error) => {
                tracing::debug!(%error, "no running Watchbill answers");
                None
            }
        }
    }

    fn greeted(address: &Address) -> io::Result<Self> {
        let (mut reader, writer) = halves(address.connect()?);
        reader.wait_at_most(Some(GREETING))?;
        let hello = reader.line(u64::MAX)?.ok_or(io::ErrorKind::UnexpectedEof)?;
        Ok(Self { hello: serde_json::from_slice(hello)?, reader, writer })
    }

    /// What the other end has said of itself.
    pub fn hello(&self) -> &Hello {
        &self.hello
    }

    /// Has the window raised, with a session selected.
    ///
    /// # Errors
    /// When the program has no window any more.
    pub fn open(&mut self, session: Option<&str>) -> Result<(), AccessError> {
        self.call(Request::Open { session: session.map(str::to_owned) }, SOON)
    }

    /// Calls `stored` each time that a command of the person was stored, until it returns `false` or the connection ends.
    pub fn follow_commands(&mut self, stored: &mut dyn FnMut() -> bool) {
        let ended: Result<(), _> =
            self.call_with(&CommandId::new(), Request::FollowCommands, None, &mut |_| stored());
        tracing::debug!(?ended, "commands are followed no longer");
    }

    /// Asks the user, for a hook process, and waits without end. Gives the text to print, if any.
    ///
    /// # Errors
    /// When the connection breaks: nothing is to be printed then.
    pub fn ask(&mut self, call: AskCall) -> Result<Option<String>, AccessError> {
        self.call_with(&CommandId::new(), Request::Ask(call), None, &mut |_| true)
    }

    /// Tells that the hook process has printed the reply to its [`Client::ask`].
    ///
    /// # Errors
    /// When the connection breaks.
    pub fn printed(&mut self, request: &str) -> Result<(), AccessError> {
        self.call(Request::Printed { request_id: request.to_owned() }, SOON)
    }

    fn call<T: DeserializeOwned>(&mut self, request: Request, at_most: Duration) -> Result<T, AccessError> {
        self.call_with(&CommandId::new(), request, Some(at_most), &mut |_| true)
    }

    /// Sends a request and waits for its reply. `event` ends the waiting with `false`; the connection is of no use then.
    fn call_with<T: DeserializeOwned>(
        &mut self,
        id: &CommandId,
        request: Request,
        at_most: Option<Duration>,
        event: &mut dyn FnMut(&RawValue) -> bool,
    ) -> Result<T, AccessError> {
        let broken = |what: &dyn std::fmt::Display| {
            AccessError::Broken(format!("process {} gives no answer: {what}", self.hello.pid))
        };
        let call = Call { id: id.to_string(), request };
        self.reader.wait_at_most(at_most).and_then(|()| self.writer.send(&call)).map_err(|e| broken(&e))?;
        loop {
            let line = self.reader.line(u64::MAX).map_err(|error| broken(&error))?;
            let line = line.ok_or_else(|| broken(&"the connection has ended"))?;
            let received: Received<'_> = serde_json::from_slice(line).map_err(|error| broken(&error))?;
            if received.id != call.id {
                continue;
            }
            match received {
                Received { error: Some(error), .. } => return Err(AccessError::Refused(error)),
                Received { event: Some(told), .. } if !event(told) => {
                    return Err(AccessError::Broken("it is not waited for any longer".to_owned()));
                }
                Received { event: Some(_), .. } => {}
                Received { reply, .. } => {
                    let reply = reply.map_or("null", RawValue::get);
                    return serde_json::from_str(reply).map_err(|error| broken(&error));
                }
            }
        }
    }
}

impl Access for Client {
    fn roster(&mut self, all: bool) -> Result<RosterSnapshot, AccessError> {
        self.call(Request::Roster { all }, SOON)
    }

    fn why(&mut self, session: &str) -> Result<Why, AccessError> {
        self.call(Request::Why { session: session.to_owned() }, SOON)
    }

    fn chain(&mut self, session: &str) -> Result<WorkChain, AccessError> {
        self.call(Request::Chain { session: session.to_owned() }, SOON)
    }

    fn search(&mut self, query: &SearchQuery) -> Result<SearchAnswer, AccessError> {
        self.call(Request::Search { query: query.clone() }, SOON)
    }

    fn subscribe(
        &mut self,
        all: bool,
        sink: &mut dyn FnMut(RosterMessage) -> bool,
    ) -> Result<(), AccessError> {
        let mut wanted = true;
        let mut event = |told: &RawValue| {
            // A message of a newer version that makes no sense here changes nothing of what was said.
            wanted = serde_json::from_str(told.get()).map_or(true, &mut *sink);
            wanted
        };
        let ended = self.call_with(&CommandId::new(), Request::Subscribe { all }, None, &mut event);
        if wanted { ended } else { Ok(()) }
    }

    fn command(&mut self, id: &CommandId, command: &Word) -> Result<String, AccessError> {
        self.call_with(id, Request::Command { command: command.into() }, Some(STORED), &mut |_| true)
    }

    fn answer(&mut self, call: &AnswerCall) -> Result<AnswerGiven, AccessError> {
        self.call(Request::Answer(call.clone()), STORED)
    }

    fn answers(&mut self, since: Option<Timestamp>) -> Result<Vec<AnswerRecord>, AccessError> {
        self.call(Request::Answers { since: since.map(|at| at.to_string()) }, SOON)
    }

    fn forget(&mut self, removal: &Removal) -> Result<Option<ForgetReport>, AccessError> {
        // Gigabytes take minutes to be wiped; the end of the process ends the waiting.
        self.call_with(&CommandId::new(), removal.request(), None, &mut |_| true)
    }

    fn index(&mut self, progress: &mut dyn FnMut(IndexProgress) -> bool) -> Result<IndexReport, AccessError> {
        let mut event = |told: &RawValue| serde_json::from_str(told.get()).map_or(true, &mut *progress);
        self.call_with(&CommandId::new(), Request::Index, None, &mut event)
    }
}

/// A client of another version may ask for what nobody knows here.
pub(super) fn unknown_request(error: &serde_json::Error) -> ApiError {
    ApiError::new(
        ErrorCode::Invalid,
        format!("the request makes no sense to this version of Watchbill: {error}"),
    )
}
