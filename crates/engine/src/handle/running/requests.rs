//! Passes requests and answers between other threads and the loop, through the handle of a running engine.

use std::path::Path;
use std::sync::Arc;

use watchbill_agents::caller::{Caller, RunningAgent, check};
use watchbill_core::hook::HookMessage;
use watchbill_core::ids::SessionId;
use watchbill_core::requests::decision::Decision;
use watchbill_core::requests::open::Asked;
use watchbill_core::requests::request::{NamedFile, Request, RequestId};
use watchbill_core::requests::visible::visible_line;
use watchbill_drive::client::send;
use watchbill_drive::folder::Folder;
use watchbill_drive::socket::caller::{agents, look_at_self};
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::own::command::OwnCommand;
use watchbill_protocol::own::facts::split_request_id;
use watchbill_protocol::request::{AnswerCall, AnswerGiven, RequestDecision};

use super::Handle;
use crate::engine::Engine;
use crate::handle::file_looks::AT_MOST;
use crate::handle::named_files;
use crate::handle::pressed::{self, Pressed};
use crate::run::message::{AskSink, Message};
use crate::socket::access::AccessError;
use crate::socket::client::Client;
use crate::step::requests::{RefusedCaller, UserAnswer};
use crate::world::source::HintSource;

impl Handle {
    /// Passes on the request of a hook process. `sink` gets the text for the hook process to print, or nothing.
    pub(crate) fn ask(&self, request: Request, message: HookMessage, sink: AskSink) {
        // If the loop has ended, the failed send drops the sink. This ends the connection, and then the hook process.
        let _ = self.inbox.send(Message::HookAsks(Box::new(request.clone()), message, sink));
        let (inbox, fs) = (self.inbox.clone(), Arc::clone(&self.fs));
        // The request is shown, and its process is listened to, while the look hangs on a dead mount.
        self.file_looks.begin(move || {
            let files = named_files::look(&request, &*fs);
            // If the loop has ended, the request has ended with it.
            let _ = inbox.send(Message::FilesSeen(request.session, request.id, files));
        });
    }

    /// Whether a program may ask for a session. `line`: its process and those above it. The session's process is among them,
    /// where it is known.
    pub(crate) fn may_ask(&self, session: &SessionId, line: &[u32]) -> bool {
        let session = session.clone();
        // If the loop has ended or is stuck, nothing shows a request.
        let known = self.ask_loop(move |engine, _| engine.processes_of(&session));
        known.is_ok_and(|known| known.is_empty() || known.iter().any(|pid| line.contains(pid)))
    }

    /// Reports that a hook process has printed its answer.
    pub(crate) fn printed(&self, request: RequestId) {
        let _ = self.inbox.send(Message::Printed(request));
    }

    /// Reports that a hook process has ended after it asked.
    pub(crate) fn hook_gone(&self, request: RequestId) {
        let _ = self.inbox.send(Message::HookGone(request));
    }

    /// Answers a request, which was `asked` at the check of who answers. `pressed` says when the user did. On return, the answer is
    /// stored and on its way to the hook process. If another program holds the store, that program is asked.
    ///
    /// # Errors
    /// When the request is no longer open, when the answer does not fit or cannot be stored, or when the engine does not take it
    /// in time. Then it counts no more.
    pub fn answer(
        &self,
        call: &AnswerCall,
        surface: &'static str,
        pressed: Pressed,
        asked: Option<Asked>,
    ) -> Result<AnswerGiven, ApiError> {
        let answer = UserAnswer {
            session: SessionId::new(&call.session),
            request: RequestId::new(&call.request_id),
            seen: watchbill_protocol::request::seen(&call.seen)?,
            decision: call.decision.clone().into(),
            surface,
        };
        // Of another request, the loop says why it cannot be answered.
        let asked = asked.map(|asked| asked.request).filter(|request| request.id == answer.request);
        if let Some(request) = asked
            && matches!(answer.decision, Decision::Allow | Decision::AllowAlways)
        {
            self.check_files(&request)?;
        }
        let given = self.wait_at_most(pressed.wait(), |reply| Message::Answer(answer, pressed, reply))?;
        match given.ok_or_else(pressed::too_late)?? {
            Some(given) => Ok(given),
            None => self.answer_there(call, surface, pressed),
        }
    }

    /// Sends an answer to the holder of the store, once. After a broken connection, the row shows the outcome.
    fn answer_there(
        &self,
        call: &AnswerCall,
        surface: &str,
        pressed: Pressed,
    ) -> Result<AnswerGiven, ApiError> {
        let client = self.settings().data_dir.as_deref().and_then(Client::connect);
        let gone = || {
            let message = "the Watchbill that shows this request does not answer; answer in the terminal";
            ApiError::new(ErrorCode::NotReady, message)
        };
        client.ok_or_else(gone)?.answer_from(surface, call, pressed).map_err(AccessError::into_api)
    }

    /// Gives an answer to the host of its session, on a thread of its own.
    pub(crate) fn deliver(&self, answer: &UserAnswer, data_dir: Option<&Path>) {
        let (inbox, request) = (self.inbox.clone(), answer.request.clone());
        let parts = split_request_id(request.as_str());
        let parts = parts.and_then(|(own, id)| Some((Folder::of(data_dir?, own).ok()?, id.to_owned())));
        let decision = RequestDecision::from(&answer.decision);
        let (unsent, unsent_to) = (answer.request.clone(), self.inbox.clone());
        let deliver = move || {
            let sent = parts.ok_or_else(|| "its host is not known".to_owned()).and_then(|(folder, id)| {
                let command = OwnCommand::Answer { request: id, decision };
                // The request's id names the command: however often it is sent, it is carried out once.
                send(&folder, &format!("answer-{request}"), &command).map_err(|error| error.to_string())
            });
            // If the loop has ended, the request is shown no more.
            let _ = inbox.send(match sent {
                Ok(()) => Message::Printed(request),
                Err(error) => {
                    tracing::warn!(error, "an answer did not reach its session");
                    Message::Undelivered(request)
                }
            });
        };
        if let Err(error) = std::thread::Builder::new().name("watchbill-deliver".into()).spawn(deliver) {
            tracing::warn!(%error, "no thread for an answer to a session");
            let _ = unsent_to.send(Message::Undelivered(unsent));
        }
    }

    /// Looks again at the files that an open request names. If one changed, the request must be shown again.
    fn check_files(&self, request: &Arc<Request>) -> Result<(), ApiError> {
        let Some(before) = &request.files else { return Ok(()) };
        let (looked_at, fs) = (Arc::clone(request), Arc::clone(&self.fs));
        let looked = self.file_looks.result(move || named_files::changed(&looked_at, &*fs));
        let files = match looked {
            Some(Some(files)) => files,
            Some(None) => return Ok(()),
            None if before.is_empty() => return Ok(()),
            None => return Err(unreadable(before)),
        };
        let paths: Vec<_> = files.changed_since(before).map(|file| &*file.path).collect();
        let message = format!(
            "nothing was answered: {} was changed after the session asked; look at it, and answer again",
            visible_line(&paths.join(", "), 400)
        );
        // If the loop has ended, the request has ended with it.
        let _ = self.inbox.send(Message::FilesSeen(request.session.clone(), request.id.clone(), files));
        Err(ApiError::new(ErrorCode::Conflict, message))
    }

    /// The first open request of a session, if Watchbill can answer it.
    ///
    /// # Errors
    /// When the engine has stopped.
    pub fn request(&self, session: &str) -> Result<Option<watchbill_protocol::request::Request>, ApiError> {
        Ok(self.asked(session)?.as_ref().map(Into::into))
    }

    /// The same as the core has it.
    ///
    /// # Errors
    /// When the engine has stopped.
    pub fn asked(&self, session: &str) -> Result<Option<Asked>, ApiError> {
        let session = SessionId::new(session);
        self.ask_loop(move |engine, _| engine.asked(&session))
    }

    /// Checks that a session may be resumed now. Ask right before the start.
    ///
    /// # Errors
    /// When a process has the session, with the words for the user.
    pub fn may_resume(&self, session: &str) -> Result<(), ApiError> {
        let session = SessionId::new(session);
        let guarded = self.ask_loop(move |engine, _| engine.resume_guard(&session))?;
        guarded.map_err(|holder| ApiError::new(ErrorCode::Conflict, holder.to_string()))
    }

    /// Checks that a program at the socket may do something for the user: `answer` or `prompt`. A refusal is listed with the
    /// answers. Gives what the session asks.
    /// `is_window`: it is the window of this installation.
    ///
    /// # Errors
    /// When the program may not: an agent started it, or no person uses its terminal.
    pub(crate) fn check_caller(
        &self,
        caller: &Caller,
        is_window: bool,
        session: &str,
        what: &'static str,
        pressed: Option<Pressed>,
    ) -> Result<Option<Asked>, ApiError> {
        let (agents, asked) = self.agents_and_asked(session, pressed)?;
        // A window needs no terminal either.
        let scripts = is_window || self.settings().scripts_answer;
        let checked = check(caller, &agents, scripts).map_err(|refused| refused.to_string());
        checked.map(|_| asked).map_err(|why| self.refused(session, what, "command", why))
    }

    /// Checks that the window, which is this program, may answer. A refusal is listed with the answers. Gives what the session
    /// asks.
    pub(crate) fn check_self(
        &self,
        session: &str,
        refusal: Option<String>,
        pressed: Pressed,
    ) -> Result<Option<Asked>, ApiError> {
        let refused = |why| self.refused(session, "answer", "window", why);
        if let Some(why) = refusal {
            return Err(refused(why));
        }
        let (agents, asked) = self.agents_and_asked(session, Some(pressed))?;
        if cfg!(target_os = "linux") {
            check(&look_at_self(), &agents, true).map_err(|why| refused(why.to_string()))?;
        }
        Ok(asked)
    }

    /// What the loop knows for an answer, in one question: the agents that run, and what the session asks.
    fn agents_and_asked(
        &self,
        session: &str,
        pressed: Option<Pressed>,
    ) -> Result<(Vec<RunningAgent>, Option<Asked>), ApiError> {
        let session = SessionId::new(session);
        let question =
            move |engine: &Engine, _: &dyn HintSource| (engine.running_processes(), engine.asked(&session));
        let told = match pressed {
            None => self.ask_loop(question)?,
            Some(pressed) => {
                self.ask_loop_at_most(pressed.wait(), question)?.ok_or_else(pressed::too_late)?
            }
        };
        Ok((agents(&told.0), told.1))
    }

    fn refused(&self, session: &str, what: &'static str, surface: &'static str, why: String) -> ApiError {
        self.caller_refused(session, what, surface, &why);
        ApiError::new(ErrorCode::Refused, why)
    }

    /// Lists an attempt of a program that may not answer or send prompts.
    pub(crate) fn caller_refused(&self, session: &str, what: &'static str, surface: &'static str, why: &str) {
        tracing::warn!(why, session, what, "a caller was refused");
        let attempt = RefusedCaller { session: SessionId::new(session), what, surface, why: why.to_owned() };
        // If the loop has ended, there is no list to note it in.
        let _ = self.inbox.send(Message::CallerRefused(attempt));
    }
}

/// The refusal to allow a request whose files do not show whether they were changed.
fn unreadable(files: &[NamedFile]) -> ApiError {
    let paths: Vec<_> = files.iter().map(|file| &*file.path).collect();
    let message = format!(
        "nothing was answered: {} cannot be read within {} seconds, so it may have been changed; answer in the terminal",
        visible_line(&paths.join(", "), 400),
        AT_MOST.as_secs()
    );
    ApiError::new(ErrorCode::Unreadable, message)
}
