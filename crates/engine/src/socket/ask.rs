//! What hook processes and hosts say at the socket: which program may, and its message for the engine.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use watchbill_agents::requests::{read_request, waits_for_answer};
use watchbill_core::hook::{HookMessage, HookOrigin};
use watchbill_core::ids::Instance;
use watchbill_core::requests::request::{Request, RequestId};
use watchbill_core::time::Timestamp;
use watchbill_drive::folder::Folder;
use watchbill_drive::socket::caller;
use watchbill_platform::clock::since_boot;
use watchbill_platform::socket::{Stream, Writer};
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::own::facts::split_request_id;
use watchbill_protocol::socket::{AskCall, Reply, ReplyBody};

use crate::clock::{Clock, SystemClock};
use crate::handle::Handle;
use crate::run::message::AskSink;

/// The requests of the hook processes that are connected, by their ids.
#[derive(Default)]
pub(super) struct Asking(Mutex<BTreeSet<RequestId>>);

impl Asking {
    /// The request of a hook process. `None`: it is not to wait. `before`: what its connection has asked.
    ///
    /// Only a hook process of the session may ask. Another program would close the session's request, or, with its id, take the
    /// answer.
    ///
    /// # Errors
    /// When the id is another one's.
    pub fn admit(
        &self,
        handle: &Handle,
        stream: &Stream,
        before: Option<&RequestId>,
        call: AskCall,
    ) -> Result<Option<(Request, HookMessage)>, ApiError> {
        let Some((request, message)) = asked(call) else { return Ok(None) };
        if before.is_some() {
            return Err(ApiError::new(ErrorCode::Invalid, "a connection asks once"));
        }
        if !handle.may_ask(&request.session, &caller::processes(stream)) {
            tracing::warn!(session = %request.session, "a program asked that the session did not start");
            return Ok(None);
        }
        // An id with a slash is one of an own session's host.
        let is_of_host = split_request_id(request.id.as_str()).is_some();
        if is_of_host || !self.lock().insert(request.id.clone()) {
            return Err(ApiError::new(ErrorCode::Invalid, "this id is the request of another process"));
        }
        Ok(Some((request, message)))
    }

    /// The hook process is gone.
    pub fn forget(&self, id: &RequestId) {
        self.lock().remove(id);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeSet<RequestId>> {
        // No code panics while it holds the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The request that was printed, if it is the one that the same connection has asked.
///
/// # Errors
/// When it is another one.
pub(super) fn own(asked: Option<&RequestId>, printed: &str) -> Result<RequestId, ApiError> {
    let is_own = asked.filter(|asked| asked.as_str() == printed).cloned();
    let message = "only the connection that asked has printed the answer";
    is_own.ok_or_else(|| ApiError::new(ErrorCode::Invalid, message))
}

/// Notes whom the host of an own session has refused.
///
/// # Errors
/// When the caller is not that host.
pub(super) fn note_refused(
    handle: &Handle,
    stream: &Stream,
    session: &str,
    what: &str,
    why: &str,
) -> Result<(), ApiError> {
    let data_dir = handle.settings().data_dir.clone();
    let folder = data_dir.and_then(|data_dir| Folder::of(&data_dir, session).ok());
    if !folder.is_some_and(|folder| caller::is_host_of(stream, &folder)) {
        return Err(ApiError::new(ErrorCode::Invalid, "only the host of the session tells whom it refused"));
    }
    let what = if what == "answer" { "answer" } else { "prompt" };
    handle.caller_refused(session, what, "command", why);
    Ok(())
}

/// Replies to a hook process. One that does not read must not stop the loop.
pub(super) fn sink(writer: Writer, id: &str) -> AskSink {
    let id = id.to_owned();
    Box::new(move |output: Option<String>| {
        let closing = writer.clone();
        let tell = move || writer.send(&Reply { id: &id, body: ReplyBody::Reply(&output) });
        if let Err(error) = std::thread::Builder::new().name("watchbill-answer".into()).spawn(tell) {
            tracing::warn!(%error, "the system cannot start a thread; an answer is lost");
            // So the hook process ends, and the answer is listed as lost.
            closing.close();
        }
    })
}

/// The request of a hook process, and the same as a hook message. `None`: the hook process is not to wait, as that of a
/// subagent.
fn asked(call: AskCall) -> Option<(Request, HookMessage)> {
    let at = started_at(call.order);
    let payload = call.payload.into_bytes();
    if !waits_for_answer(call.agent, &payload) {
        return None;
    }
    let request = read_request(RequestId::new(&call.ask), &payload, call.project.as_deref(), at)?;
    let client =
        call.client.map(|client| Instance { pid: client.pid, proc_start: client.start.map(Into::into) });
    let origin = HookOrigin {
        id: call.ask.into(),
        at,
        order: call.order,
        agent: client,
        ancestors: call.ancestors.into(),
        terminal: None,
    };
    let mut message = HookMessage::new(origin, payload);
    message.agent = call.agent;
    Some((request, message))
}

/// When the hook process started, by its clock since boot. This program may have slept since, or hung.
fn started_at(order: u64) -> Timestamp {
    let late = since_boot().saturating_sub(order) / 1_000_000;
    let late = if order == 0 { 0 } else { i64::try_from(late).unwrap_or(0) };
    Timestamp::from_millis(SystemClock.now().as_millis().saturating_sub(late))
}
