//! The requests that an agent waits for: each is told and closed once, and has an id of its own.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use crate::claude::requests::Asking;
use serde_json::Value;
use watchbill_core::ids::stable_hash;
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
            skill: None,
            opened_at: self.at,
            payload: self.line.as_bytes(),
        }
    }
}

/// The most requests that are told as open. The others follow as these are closed.
const MAX_OPEN: usize = 32;

/// The most bytes of inputs that are kept of open requests, and of those that wait to be told.
const MAX_BYTES: usize = 2 << 20;

/// The most ids that are kept to know those that are used again. Of more, each gets another id.
const MAX_USED: usize = 10_000;

/// What an id that was used before gets at its end.
const AGAIN: char = '~';

/// A request that the agent waits for.
#[derive(Debug)]
pub(crate) struct Waiting<W> {
    /// The agent's id. Readers have the id of `request`.
    pub(crate) id: String,
    pub(crate) request: Request,
    /// What its answer needs.
    pub(crate) way: W,
}

/// The requests of one agent that it waits for.
#[derive(Debug)]
pub(crate) struct Requests<W> {
    open: Vec<Waiting<W>>,
    /// Those that are told when an open one is closed.
    next: VecDeque<Waiting<W>>,
    /// The ids that the agent has used, by their hashes, as long as they are few.
    used: BTreeSet<u64>,
    count: u64,
}

impl<W> Default for Requests<W> {
    fn default() -> Self {
        Self { open: Vec::new(), next: VecDeque::new(), used: BTreeSet::new(), count: 0 }
    }
}

impl<W> Requests<W> {
    /// The agent asks. Nothing is told if it asks the same twice, or if earlier requests wait before this one.
    pub(crate) fn opened(&mut self, mut request: Request, way: W) -> Vec<OwnWhat> {
        let id = request.id.to_string();
        let same = self.all().find(|waiting| waiting.id == id);
        if same.is_some_and(|same| same.request.tool == request.tool && same.request.input == request.input) {
            return Vec::new();
        }
        // An id that is used anew stands for another request.
        let mut events = self.closed(&id, "withdrawn");
        self.count += 1;
        let is_new = self.used.len() < MAX_USED && self.used.insert(stable_hash(id.as_bytes()));
        if !is_new || id.contains(AGAIN) {
            request.id = RequestId::new(&format!("{id}{AGAIN}{}", self.count));
        }
        let size: usize = self.all().map(|waiting| waiting.request.input.len()).sum();
        if !self.open.is_empty() && size + request.input.len() > MAX_BYTES {
            let text = "the agent asks for more at once than is kept: it waits for an answer that cannot be given; interrupt the turn";
            events.push(OwnWhat::Error { text: text.to_owned(), cause: "protocol".to_owned(), record: None });
            return events;
        }
        self.next.push_back(Waiting { id, request, way });
        events.extend(self.tell());
        events
    }

    /// A request is over: `answered` from here, or `withdrawn` by the agent. Also tells those that waited for this.
    pub(crate) fn closed(&mut self, id: &str, by: &str) -> Vec<OwnWhat> {
        self.next.retain(|waiting| waiting.id != id);
        let Some(at) = self.open.iter().position(|waiting| waiting.id == id) else { return Vec::new() };
        let request = self.open.remove(at).request.id.to_string();
        let closed = OwnWhat::RequestClosed { request, by: by.to_owned() };
        [closed].into_iter().chain(self.tell()).collect()
    }

    fn tell(&mut self) -> Vec<OwnWhat> {
        let mut events = Vec::new();
        while self.open.len() < MAX_OPEN
            && let Some(waiting) = self.next.pop_front()
        {
            events.push(told(&waiting.request));
            self.open.push(waiting);
        }
        events
    }

    fn all(&self) -> impl Iterator<Item = &Waiting<W>> {
        self.open.iter().chain(&self.next)
    }

    /// The open request of this id, as readers have it, with the decision on it, if the decision fits.
    ///
    /// # Errors
    /// When the request is not open, or the decision does not fit it.
    pub(crate) fn decided(
        &self,
        id: &str,
        decision: &RequestDecision,
    ) -> Result<(&Waiting<W>, Decision), Refusal> {
        let Some(waiting) = self.open.iter().find(|waiting| waiting.request.id.as_str() == id) else {
            return Err(Refusal::Gone("the agent asks this no longer".to_owned()));
        };
        let decision = Decision::from(decision.clone());
        decision.check(&waiting.request).map_err(|mismatch| Refusal::Unsupported(mismatch.to_string()))?;
        Ok((waiting, decision))
    }

    /// The agent's id of the request whose answer needs what `wanted` accepts.
    pub(crate) fn find(&self, wanted: impl Fn(&W) -> bool) -> Option<String> {
        self.all().find(|waiting| wanted(&waiting.way)).map(|waiting| waiting.id.clone())
    }

    /// What the answers of all requests need that the agent waits for.
    pub(crate) fn ways(&self) -> impl Iterator<Item = &W> {
        self.all().map(|waiting| &waiting.way)
    }
}

/// A request as readers get it.
fn told(request: &Request) -> OwnWhat {
    let asked = Asked {
        request: Arc::new(request.clone()),
        progress: Progress::Open,
        more: 0,
        times: 1,
        refused: None,
    };
    let mut shown = watchbill_protocol::request::Request::from(&asked);
    if request.kind == RequestKind::Unknown {
        let why = "this version of Watchbill does not know this kind of request: interrupt the turn";
        shown.why = Some(why.to_owned());
    }
    OwnWhat::Request { request: Box::new(shown) }
}
