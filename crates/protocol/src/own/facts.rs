//! Turns what an own session says into the words of the core.

use std::sync::Arc;

use watchbill_core::ids::SessionId;
use watchbill_core::own::OwnWay;
use watchbill_core::requests::request::{Request as CoreRequest, RequestId, Via};
use watchbill_core::time::Timestamp;

use super::spec::{OwnKind, OwnSpec};
use crate::request::Request;

impl From<OwnKind> for OwnWay {
    fn from(kind: OwnKind) -> Self {
        match kind {
            OwnKind::Stream => Self::Stream,
            OwnKind::Pty => Self::Pty,
        }
    }
}

/// The id of a request among all sessions. An agent numbers its requests for itself.
pub fn request_id(own: &str, request: &str) -> RequestId {
    RequestId::new(&format!("{own}/{request}"))
}

/// The own session of such an id, and the agent's id of the request.
pub fn split_request_id(id: &str) -> Option<(&str, &str)> {
    id.split_once('/')
}

/// A request of an own session, as the core decides it. `session`: whose row asks.
pub fn asked(spec: &OwnSpec, session: &SessionId, at: Timestamp, request: &Request) -> CoreRequest {
    CoreRequest {
        id: request_id(&spec.session, &request.id),
        cwd: Some(spec.cwd.as_str()).filter(|cwd| !cwd.is_empty()).map(Arc::from),
        ..request.shown_by(session, Via::Host, at)
    }
}
