//! Converts the message of a waiting hook process for the engine.

use watchbill_core::hook::{HookMessage, HookOrigin};
use watchbill_core::ids::Instance;
use watchbill_core::requests::request::{Request, RequestId};
use watchbill_core::time::Timestamp;
use watchbill_hooks::clock::since_boot;
use watchbill_hooks::request::read_request;
use watchbill_protocol::socket::AskCall;

use crate::clock::{Clock, SystemClock};

/// The request of a hook process, and the same as a hook message. `None`: the hook process is not to wait, as that of a
/// subagent.
pub(super) fn asked(call: AskCall) -> Option<(Request, HookMessage)> {
    let at = started_at(call.order);
    let payload = call.payload.into_bytes();
    let request = read_request(RequestId::new(&call.ask), &payload, call.project.as_deref(), at)?;
    if request.subagent_id.is_some() {
        return None;
    }
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
    Some((request, HookMessage::new(origin, payload)))
}

/// When the hook process started, by its clock since boot. This program may have slept since, or hung.
fn started_at(order: u64) -> Timestamp {
    let late = since_boot().saturating_sub(order) / 1_000_000;
    let late = if order == 0 { 0 } else { i64::try_from(late).unwrap_or(0) };
    Timestamp::from_millis(SystemClock.now().as_millis().saturating_sub(late))
}
