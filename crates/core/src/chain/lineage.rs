//! Lineage: the facts about a session's origin in its own records. The chain resolver needs nothing else of them.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::ids::{Instance, RecordId, SessionId};
use crate::time::{Millis, Timestamp};
use crate::transcript::record::CompactBoundary;

/// Activity this soon after a successor began is the last write of the old session, not a return to it.
pub(super) const SLACK: Millis = Millis::from_secs(2);

/// Facts of lineage, folded from one main transcript.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Lineage {
    /// The session, by its file name.
    pub session: SessionId,
    /// `uuid` of the first chained record that is not a subagent's. Copied history begins with the same record.
    pub first_record: Option<RecordId>,
    /// `uuid`s of the newest compact boundaries, at most [`BOUNDARY_LIMIT`].
    pub boundaries: Vec<RecordId>,
    /// Distinct `session_id` values of records that differ from `session`, in order of appearance.
    pub process_sessions: Vec<SessionId>,
    /// Whether any record's `session_id` equals `session`: some process started or resumed with it.
    pub own_process_session: bool,
    /// `forkedFrom.sessionId`.
    pub forked_from: Option<SessionId>,
    /// The file says which session it holds, and which one that comes from.
    pub tells_origin: bool,
    /// One of our hosts began it, and shows it in a row of its own.
    pub by_host: bool,
    /// The session whose subagent this one is. Such a session is part of that one's work and no work of its own.
    pub subagent_of: Option<SessionId>,
    /// Distinct `sessionId` values that are not this file's (history copied by 1.0.x), in order.
    pub foreign_sessions: Vec<SessionId>,
    /// How the session began, by the first records of the file.
    pub began_by: Option<BeganBy>,
    /// Time of the first record.
    pub started_at: Option<Timestamp>,
    /// Time of the first record that was not copied from elsewhere, as far as the record itself shows.
    pub own_started_at: Option<Timestamp>,
    /// Activity as spans. A gap of a minute or more begins a new span. Beyond [`SPAN_LIMIT`] the oldest spans are
    /// merged.
    pub spans: Vec<(Timestamp, Timestamp)>,
    /// The segments of the file, in order; at least one.
    pub segments: Vec<Segment>,
    /// Every `cwd` met, the launch folder first; at most [`CWD_LIMIT`].
    #[serde(deserialize_with = "crate::shared_text::arc_strs")]
    pub cwds: Vec<Arc<str>>,
    /// The folder that the client moved the session to (`relocated`, `worktree-state`), until it leaves it.
    pub moved_to: Option<Arc<str>>,
    /// The user's own title, on one line.
    pub custom_title: Option<Arc<str>>,
    /// `continued-in`: the session in which the work goes on, and since when. The time is unknown if this session was
    /// active again after the record.
    pub continued_in: Option<(SessionId, Option<Timestamp>)>,
    /// The session whose plan the first prompt carries out.
    pub plan_of: Option<SessionId>,
}

impl Lineage {
    /// The lineage of a session without known records.
    pub fn unknown(session: SessionId) -> Self {
        Self {
            session,
            first_record: None,
            boundaries: Vec::new(),
            process_sessions: Vec::new(),
            own_process_session: false,
            forked_from: None,
            tells_origin: false,
            by_host: false,
            subagent_of: None,
            foreign_sessions: Vec::new(),
            began_by: None,
            started_at: None,
            own_started_at: None,
            spans: Vec::new(),
            segments: vec![Segment { started_at: None, ended_at: None, boundary: None }],
            cwds: Vec::new(),
            moved_to: None,
            custom_title: None,
            continued_in: None,
            plan_of: None,
        }
    }

    /// Every other session that the records name.
    pub fn named(&self) -> impl Iterator<Item = &SessionId> {
        let lists = self.process_sessions.iter().chain(&self.foreign_sessions);
        let continued_in = self.continued_in.as_ref().map(|(session, _)| session);
        lists.chain(&self.forked_from).chain(&self.subagent_of).chain(continued_in).chain(&self.plan_of)
    }

    /// The folder that the client moved the session to, else the one it was launched in.
    pub fn cwd(&self) -> Option<&Arc<str>> {
        self.moved_to.as_ref().or(self.cwds.first())
    }

    /// The folder of the session that belongs to a folder in `projects`: there the agent finds the transcript.
    pub fn cwd_in(&self, project: &str) -> Option<&Arc<str>> {
        self.moved_to.iter().chain(&self.cwds).find(|cwd| is_project_of(project, cwd))
    }

    /// When the session began, without the history that was copied into it.
    pub fn start(&self) -> Option<Timestamp> {
        self.own_started_at.or(self.started_at).or(self.spans.first().map(|span| span.0))
    }

    /// The latest activity up to a time, or the beginning.
    pub fn active_until(&self, until: Timestamp) -> Option<Timestamp> {
        let spans = self.spans.iter().filter(|span| span.0 <= until).map(|span| span.1.min(until));
        spans.max().or(self.start().filter(|start| *start <= until))
    }

    /// The latest activity, or the beginning, and the end of the oldest span if there are several. That end moves
    /// only when more spans are merged.
    pub fn activity(&self) -> ActiveTime {
        let oldest = self.spans.first().filter(|_| self.spans.len() > 1).map(|span| span.1);
        let latest = self.spans.iter().map(|span| span.1).max();
        ActiveTime { last: latest.or(self.start()), oldest, begun: latest.is_some() }
    }
}

/// Whether the agent gives its folder in `projects` this name for this working folder. Each UTF-16 unit that is no letter
/// or digit of ASCII becomes a hyphen. A name of more than 200 ends in a hash.
pub fn is_project_of(name: &str, cwd: &str) -> bool {
    let spelled = cwd.encode_utf16().map(|unit| u8::try_from(unit).unwrap_or(b'-'));
    let spelled = spelled.map(|byte| if byte.is_ascii_alphanumeric() { byte } else { b'-' });
    match cwd.encode_utf16().count() > 200 {
        true => name.len() > 200 && spelled.take(200).eq(name.bytes().take(200)),
        false => spelled.eq(name.bytes()),
    }
}

/// The part of a session's activity that shows whether there is more, and since when (see [`Lineage::activity`]).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ActiveTime {
    /// The latest activity; the beginning of a session that has not been active yet.
    pub last: Option<Timestamp>,
    /// The end of the oldest of several spans.
    pub oldest: Option<Timestamp>,
    /// There is a span, so another session of the same process may come from this one. The span may be a single
    /// moment, even the one at which the session began.
    pub begun: bool,
}

/// How many boundary ids are kept per session.
pub const BOUNDARY_LIMIT: usize = 63;
/// How many spans of activity are kept per session.
pub const SPAN_LIMIT: usize = 64;
/// How many working folders are kept per session.
pub const CWD_LIMIT: usize = 32;

/// How a session began, by the first records of its file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum BeganBy {
    /// `/clear` in an earlier session.
    Clear,
    /// `--fork-session`, `/branch`, `/fork`.
    Fork,
}

/// A run of records between two boundaries of one file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Segment {
    /// Time of its first record.
    pub started_at: Option<Timestamp>,
    /// Time of its last record.
    pub ended_at: Option<Timestamp>,
    /// The boundary that ended it; `None` for the last one.
    pub boundary: Option<CompactBoundary>,
}

/// The registry file of one process changed its session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RegistryMove {
    /// The process.
    pub instance: Instance,
    /// The session before.
    pub from: SessionId,
    /// The session after.
    pub to: SessionId,
    /// When it was seen.
    pub at: Timestamp,
    /// The process parked the session: its work goes on under the other id, and the process shows it.
    pub parked: bool,
}

/// Another agent goes on with the work of a session, and is told what was said there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Switch {
    /// The session before.
    pub from: SessionId,
    /// When the user asked for it.
    pub at: Timestamp,
    /// It goes on in a copy: the session before stays as it is.
    pub fork: bool,
}

/// The hooks of one process named another session than before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookMove {
    /// The process.
    pub instance: Instance,
    /// The session before.
    pub from: SessionId,
    /// The session after.
    pub to: SessionId,
    /// When the later one began, by the clock of the hook's sender.
    pub at: Timestamp,
    /// The cause that the agent gave.
    pub cause: MoveCause,
}

/// `source` of the SessionStart that named the later session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum MoveCause {
    /// A compaction into a new id: daemon and remote sessions do that, see the issues 87884 and 79830 of the agent.
    Compact,
    /// `/clear`.
    Clear,
    /// `/branch` and the like, inside a running process.
    Fork,
    /// `/resume` inside a running process: the later session existed before.
    Resume,
}

/// For each session that a compaction began: the other sessions of which was known then where they ran. `true`: in its
/// terminal; `false`: in another terminal, or in a process of their own. A later program does not see that any more.
pub type Neighbours = BTreeMap<SessionId, BTreeMap<SessionId, bool>>;

/// A marker file, as the source document defines it: it announces a compaction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marker {
    /// `newSessionId`.
    pub session: SessionId,
    /// `cwd`.
    pub cwd: Arc<str>,
    /// `compactedAt`.
    pub compacted_at: Timestamp,
}

impl Marker {
    /// Whether a session that was active last at `last` may be the one that the compaction ended.
    pub fn may_end(&self, last: Timestamp) -> bool {
        last <= self.compacted_at + SLACK
    }
}
