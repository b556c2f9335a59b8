//! The requests that an agent waits for: each is closed at most once.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::claude::requests::Asking;
use serde_json::Value;
use watchbill_core::requests::decision::Decision;
use watchbill_core::requests::open::{Asked, Progress};
use watchbill_core::requests::request::{Request, RequestId, RequestKind, Via};
use watchbill_core::time::Timestamp;
use watchbill_protocol::own::event::OwnWhat;
use watchbill_protocol::request::RequestDecision;

use crate::driver::Refusal;

/// The facts of a session that a request of its agent needs.
pub(crate) struct RequestContext<'a> {
    pub(crate) session: &'a str,
    pub(crate) mode: Option<&'a str>,
    pub(crate) cwd: &'a str,
    pub(crate) at: Timestamp,
    /// The line of the call, for the digest.
    pub(crate) line: &'a str,
}

impl RequestContext<'_> {
    /// A request of the session's own turn, without rules of "allow always".
    pub(crate) fn asking<'a>(&'a self, id: &str, tool: &'a str, input: &'a Value) -> Asking<'a> {
        Asking {
            id: RequestId::new(id),
            via: Via::Host,
            session: self.session,
            subagent: None,
            subagent_id: None,
            tool,
            input,
            suggestions: &Value::Null,
            mode: self.mode,
            cwd: Some(self.cwd),
            project: Some(self.cwd),
            opened_at: self.at,
            payload: self.line.as_bytes(),
        }
    }
}

/// The open requests of one agent, each with what its answer needs.
#[derive(Debug)]
pub(crate) struct Requests<W> {
    open: BTreeMap<String, (Request, W)>,
    seen: BTreeSet<String>,
}

impl<W> Default for Requests<W> {
    fn default() -> Self {
        Self { open: BTreeMap::new(), seen: BTreeSet::new() }
    }
}

impl<W> Requests<W> {
    /// The agent asks. `None` if it asked with this id before.
    pub(crate) fn opened(&mut self, request: Request, way: W) -> Option<OwnWhat> {
        let id = request.id.to_string();
        if !self.seen.insert(id.clone()) {
            return None;
        }
        let is_known = request.kind != RequestKind::Unknown;
        let asked = Asked {
            request: Arc::new(request.clone()),
            progress: Progress::Open,
            more: 0,
            times: 1,
            refused: None,
        };
        let mut shown = watchbill_protocol::request::Request::from(&asked);
        if !is_known {
            let why = "this version of Watchbill does not know this kind of request: interrupt the turn";
            shown.why = Some(why.to_owned());
        }
        self.open.insert(id, (request, way));
        Some(OwnWhat::Request { request: Box::new(shown) })
    }

    /// A request is over: `answered` from here, or `withdrawn` by the agent. `None` if it was not open.
    pub(crate) fn closed(&mut self, id: &str, by: &str) -> Option<OwnWhat> {
        self.open.remove(id)?;
        Some(OwnWhat::RequestClosed { request: id.to_owned(), by: by.to_owned() })
    }

    /// The open request of this id with the decision on it, if the decision fits.
    ///
    /// # Errors
    /// When the request is not open, or the decision does not fit it.
    pub(crate) fn decided(
        &self,
        id: &str,
        decision: &RequestDecision,
    ) -> Result<(&Request, &W, Decision), Refusal> {
        let Some((request, way)) = self.open.get(id) else {
            return Err(Refusal::Gone("the agent asks this no longer".to_owned()));
        };
        let decision = Decision::from(decision.clone());
        decision.check(request).map_err(|mismatch| Refusal::Unsupported(mismatch.to_string()))?;
        Ok((request, way, decision))
    }

    /// The id of the open request whose answer needs what `wanted` accepts.
    pub(crate) fn find(&self, wanted: impl Fn(&W) -> bool) -> Option<String> {
        self.open.iter().find(|(_, (_, way))| wanted(way)).map(|(id, _)| id.clone())
    }

    /// What the answers of all open requests need.
    pub(crate) fn ways(&self) -> impl Iterator<Item = &W> {
        self.open.values().map(|(_, way)| way)
    }
}
