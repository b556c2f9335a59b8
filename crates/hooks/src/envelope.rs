//! One hook event in transport: the sender's line about itself, and the agent's payload unchanged.
//!
//! The socket, the spool and the journal hold the same bytes: a line of JSON about the sender, the payload, a line
//! end. Today's agents write payloads of one line, so ordinary tools can read the journal. The code does not depend
//! on that.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use watchbill_core::hook::{HookMessage, HookOrigin, TerminalContext};
use watchbill_core::ids::{Agent, Instance};
use watchbill_core::time::Timestamp;

/// The longest payload, in bytes. The sender shortens the long texts of a longer one.
pub const PAYLOAD_LIMIT: usize = 4 * 1024 * 1024;

/// The longest line about a sender. A dozen ancestors and a terminal take some hundred bytes.
pub(crate) const HEAD_LIMIT: usize = 64 * 1024;

/// Every envelope of every version begins with this.
const MARK: &[u8] = b"{\"watchbill_hook\":";

/// The version of the format that this code writes and reads.
const VERSION: u32 = 1;

/// The sender's data about one event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope {
    /// Unique for each event: the clock since boot, the sender's process id, and a random part.
    pub id: u128,
    /// The sender's wall clock when it started.
    pub at: Timestamp,
    /// The sender's clock since boot when it started, in nanoseconds.
    pub order: u64,
    /// The id of the boot that `order` counts from, where the system has one.
    pub boot: Option<Arc<str>>,
    /// The agent that the hook was installed for.
    pub of: Agent,
    /// The agent's process, if it is among the sender's ancestors.
    pub agent: Option<Instance>,
    /// The sender's ancestors, nearest first.
    pub ancestors: Vec<Ancestor>,
    /// The terminal, for the events that need it.
    pub terminal: Option<TerminalContext>,
    /// The payload is incomplete or shortened.
    pub cut: bool,
    /// A program sent the event over HTTP, not the client's hook.
    pub over_http: bool,
}

/// One process above the sender.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ancestor {
    /// Process id.
    pub pid: u32,
    /// Start time in ticks since boot, from field 22 of `/proc/<pid>/stat`, where that file exists.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start: Option<u64>,
}

impl Envelope {
    /// A whole event of a sender of which nothing else is known.
    pub fn new(id: u128, at: Timestamp, order: u64) -> Self {
        Self {
            id,
            at,
            order,
            boot: None,
            of: Agent::default(),
            agent: None,
            ancestors: Vec::new(),
            terminal: None,
            cut: false,
            over_http: false,
        }
    }

    /// The event in the form that consumers take.
    pub fn message(&self, payload: impl Into<Arc<[u8]>>) -> HookMessage {
        let origin = HookOrigin {
            id: format!("{:032x}", self.id).into(),
            at: self.at,
            order: self.order,
            agent: self.agent.clone(),
            ancestors: self.ancestors.iter().map(|ancestor| ancestor.pid).collect(),
            terminal: self.terminal.clone(),
        };
        let mut message = HookMessage::new(origin, payload);
        message.agent = self.of;
        message.cut = self.cut;
        message.over_http = self.over_http;
        message
    }

    /// The envelope and its payload as bytes.
    pub fn encode(&self, payload: &[u8]) -> Vec<u8> {
        let head = Head {
            watchbill_hook: VERSION,
            bytes: payload.len(),
            id: format!("{:032x}", self.id),
            at: self.at.to_string(),
            order: self.order,
            boot: self.boot.as_deref().map(str::to_owned),
            of: self.of,
            agent: self
                .agent
                .as_ref()
                .map(|a| AgentHead { pid: a.pid, start: a.proc_start.as_deref().map(str::to_owned) }),
            ancestors: self.ancestors.clone(),
            terminal: self.terminal.as_ref().map(|t| TerminalHead {
                kind: t.kind.to_string(),
                ids: t.ids.iter().map(|(name, value)| (name.to_string(), value.to_string())).collect(),
            }),
            cut: self.cut,
            over_http: self.over_http,
        };
        let mut frame = Vec::with_capacity(payload.len() + 1024);
        // The head has only texts and numbers, so this cannot fail.
        let _ = serde_json::to_writer(&mut frame, &head);
        frame.push(b'\n');
        frame.extend_from_slice(payload);
        frame.push(b'\n');
        frame
    }
}

/// The result of reading the beginning of some bytes.
#[derive(Debug, PartialEq, Eq)]
pub enum Decoded {
    /// A whole event, and how many bytes it took.
    Whole {
        /// The line about the sender.
        envelope: Box<Envelope>,
        /// The range of the payload in the bytes.
        payload: std::ops::Range<usize>,
        /// The number of bytes that belong to the event.
        used: usize,
    },
    /// The event goes on after these bytes.
    Incomplete,
    /// The bytes are no event of this version.
    Malformed,
}

/// Reads the event at the beginning of `bytes`.
pub fn decode(bytes: &[u8]) -> Decoded {
    let begin = bytes.len().min(MARK.len());
    if bytes[..begin] != MARK[..begin] {
        return Decoded::Malformed;
    }
    let searched = &bytes[..bytes.len().min(HEAD_LIMIT)];
    let Some(end) = searched.iter().position(|byte| *byte == b'\n') else {
        return if bytes.len() < HEAD_LIMIT { Decoded::Incomplete } else { Decoded::Malformed };
    };
    let Some((envelope, length)) = read_head(&bytes[..end]) else { return Decoded::Malformed };
    let payload = end + 1..end + 1 + length;
    match bytes.get(payload.end) {
        Some(b'\n') => Decoded::Whole { envelope: Box::new(envelope), used: payload.end + 1, payload },
        Some(_) => Decoded::Malformed,
        None => Decoded::Incomplete,
    }
}

/// The place after damaged bytes where the next event may begin.
pub(crate) fn next_begin(bytes: &[u8]) -> Option<usize> {
    (1..bytes.len()).find(|&at| bytes[at - 1] == b'\n' && bytes[at..].starts_with(MARK))
}

fn read_head(line: &[u8]) -> Option<(Envelope, usize)> {
    let head: Head = serde_json::from_slice(line).ok()?;
    if head.watchbill_hook != VERSION || head.bytes > PAYLOAD_LIMIT || head.id.len() != 32 {
        return None;
    }
    let envelope = Envelope {
        id: u128::from_str_radix(&head.id, 16).ok()?,
        at: Timestamp::parse(&head.at)?,
        order: head.order,
        boot: head.boot.map(Into::into),
        of: head.of,
        agent: head.agent.map(|a| Instance { pid: a.pid, proc_start: a.start.map(Into::into) }),
        ancestors: head.ancestors,
        terminal: head.terminal.map(|t| TerminalContext {
            kind: t.kind.into(),
            ids: t.ids.into_iter().map(|(name, value)| (name.into(), value.into())).collect(),
        }),
        cut: head.cut,
        over_http: head.over_http,
    };
    Some((envelope, head.bytes))
}

/// The line about the sender. The line begins with the mark, so `watchbill_hook` must stay the first field.
#[derive(Serialize, Deserialize)]
struct Head {
    watchbill_hook: u32,
    bytes: usize,
    id: String,
    at: String,
    order: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    boot: Option<String>,
    #[serde(default, skip_serializing_if = "is_default")]
    of: Agent,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    agent: Option<AgentHead>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    ancestors: Vec<Ancestor>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    terminal: Option<TerminalHead>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    cut: bool,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    over_http: bool,
}

/// Earlier versions heard one agent, and wrote no name.
fn is_default(agent: &Agent) -> bool {
    *agent == Agent::default()
}

#[derive(Serialize, Deserialize)]
struct AgentHead {
    pid: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    start: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct TerminalHead {
    kind: String,
    ids: BTreeMap<String, String>,
}
