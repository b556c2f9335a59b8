//! What a waiting hook process sends, as the engine takes it.

use watchbill_core::hook::{HookMessage, HookOrigin};
use watchbill_core::ids::Instance;
use watchbill_core::requests::request::{Request, RequestId};
use watchbill_hooks::request::read_request;
use watchbill_protocol::socket::AskCall;

use crate::clock::{Clock, SystemClock};

/// The request of a hook process, and the same as a hook message. `None`: the payload asks nothing.
pub(super) fn asked(call: AskCall) -> Option<(Request, HookMessage)> {
    let at = SystemClock.now();
    let payload = call.payload.into_bytes();
    let request = read_request(RequestId::new(&call.ask), &payload, at)?;
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
