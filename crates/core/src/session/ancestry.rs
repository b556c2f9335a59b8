//! Folds the facts of lineage: where a session comes from, where its segments lie, when it was active.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::chain::lineage::{BOUNDARY_LIMIT, BeganBy, CWD_LIMIT, Lineage, SPAN_LIMIT, Segment};
use crate::history::strip_private;
use crate::ids::SessionId;
use crate::session::facts::{keep, one_line};
use crate::time::{Millis, Timestamp};
use crate::transcript::record::{
    Attachment, Body, CompactBoundary, CompactTrigger, Envelope, Prompt, SessionRecord, System, TitleKind,
};

/// A gap of activity this long begins a new span.
const SPAN_GAP: Millis = Millis::from_secs(60);
/// How many other sessions one file may name; more than a few mean a broken file.
const SESSION_LIMIT: usize = 64;

/// The lineage of one session while its records come in.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Ancestry {
    /// Stored apart from the other fields: a start needs it of every session (see [`crate::session::lazy`]).
    #[serde(skip, default = "unknown")]
    lineage: Lineage,
    #[serde(skip)]
    revision: u64,
    /// A boundary came, and its summary has not come yet.
    summary_expected: bool,
    /// A prompt or an answer came: the head of the file is over.
    turn_seen: bool,
    /// A prompt or an answer came since the last boundary.
    segment_used: bool,
    /// Time of the first record after the last record of another process. If the file is a fork that does not mark
    /// its copies, its own part may begin there.
    own_part_at: Option<Timestamp>,
}

fn unknown() -> Lineage {
    Lineage::unknown(SessionId::new(""))
}

impl Ancestry {
    /// The lineage of a session without records.
    pub fn new(session: SessionId) -> Self {
        Self {
            lineage: Lineage::unknown(session),
            revision: 0,
            summary_expected: false,
            turn_seen: false,
            segment_used: false,
            own_part_at: None,
        }
    }

    /// Restores the facts that were stored apart.
    pub fn restore(&mut self, lineage: Lineage, revision: u64) {
        (self.lineage, self.revision) = (lineage, revision);
    }

    /// The facts as they are now.
    pub fn lineage(&self) -> &Lineage {
        &self.lineage
    }

    /// Rises when a fact other than spans and the end of the last segment has changed.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Applies one record of the session itself, not of a subagent. `now` is its effective time.
    pub fn observe(&mut self, envelope: &Envelope<'_>, body: &Body<'_>, now: Option<Timestamp>) {
        let at = envelope.at.and(now);
        self.observe_envelope(envelope, at);
        match body {
            Body::Title { kind: TitleKind::Custom, text } => {
                let changed = keep(&mut self.lineage.custom_title, Some(&one_line(text)));
                self.changed(changed);
            }
            Body::Session(session) => self.observe_origin(session),
            Body::Moved { cwd, .. } => {
                let cwd: Arc<str> = strip_private(cwd).into();
                let new = push_cwd(&mut self.lineage.cwds, &cwd);
                let moved = self.lineage.moved_to.replace(Arc::clone(&cwd)) != Some(cwd);
                self.changed(new || moved);
            }
            Body::LeftWorktree => {
                let left = self.lineage.moved_to.take().is_some();
                self.changed(left);
            }
            Body::ContinuedIn(session) if !self.is_copied(envelope) => {
                let session = SessionId::new(session);
                let known = self.lineage.continued_in.as_ref().is_some_and(|(known, _)| *known == session);
                // The agent may write the record again. Only the first one says when the work went on elsewhere.
                if !known && session != self.lineage.session {
                    self.lineage.continued_in = Some((session, now));
                    self.changed(true);
                }
            }
            Body::Prompt(_) | Body::Assistant(_) => {
                if let Body::Prompt(prompt) = body {
                    self.observe_prompt(prompt);
                }
                (self.turn_seen, self.segment_used, self.summary_expected) = (true, true, false);
            }
            Body::LocalCommand { name: Some(name) } if !self.turn_seen && name == "/clear" => {
                self.began(BeganBy::Clear);
            }
            Body::Attachment(Attachment::SessionStart { source }) => match &**source {
                "clear" if !self.turn_seen => self.began(BeganBy::Clear),
                "fork" => self.began(BeganBy::Fork),
                _ => {}
            },
            Body::System(System::CompactBoundary(boundary)) => {
                if let Some(id) = envelope.uuid {
                    if self.lineage.boundaries.len() == BOUNDARY_LIMIT {
                        self.lineage.boundaries.remove(0);
                    }
                    self.lineage.boundaries.push(id);
                }
                self.cut(*boundary, at);
                self.summary_expected = true;
            }
            Body::CompactSummary => {
                // Agents of 1.0.x wrote the summary without a boundary. At the head of a file it continues another
                // session, and there is nothing to cut.
                if !self.summary_expected && self.segment_used {
                    let trigger = CompactTrigger::Unknown;
                    self.cut(CompactBoundary { trigger, pre_tokens: None, post_tokens: None }, at);
                }
                self.summary_expected = false;
            }
            _ => {}
        }
    }

    fn observe_origin(&mut self, session: &SessionRecord<'_>) {
        let lineage = &mut self.lineage;
        lineage.tells_origin = true;
        lineage.by_host |= session.by_host;
        let before = (lineage.forked_from.clone(), lineage.subagent_of.clone());
        match (&session.subagent_of, &session.forked_from) {
            (Some(parent), _) => lineage.subagent_of = Some(SessionId::new(parent)),
            (None, Some(from)) => {
                lineage.forked_from = Some(SessionId::new(from));
                lineage.began_by = Some(BeganBy::Fork);
            }
            (None, None) => {}
        }
        let changed = before != (lineage.forked_from.clone(), lineage.subagent_of.clone());
        self.changed(changed);
    }

    fn observe_prompt(&mut self, prompt: &Prompt<'_>) {
        if let Some((_, since @ Some(_))) = &mut self.lineage.continued_in {
            *since = None;
            self.changed(true);
        }
        if let Some(other) = prompt.plan_of.as_deref().filter(|_| !self.turn_seen) {
            self.lineage.plan_of = Some(SessionId::new(other));
            self.changed(true);
        }
    }

    /// Notes that the session was active.
    pub fn active(&mut self, at: Timestamp) {
        let spans = &mut self.lineage.spans;
        match spans.last_mut() {
            Some((_, end)) if at < *end + SPAN_GAP => *end = at.max(*end),
            _ => {
                if spans.len() == SPAN_LIMIT {
                    let (_, end) = spans.remove(1);
                    spans[0].1 = end;
                }
                spans.push((at, at));
            }
        }
    }

    /// Whether the record, by its own fields, was copied from another session.
    pub fn is_copied(&self, envelope: &Envelope<'_>) -> bool {
        envelope.forked_from.is_some()
            || envelope.session_id.as_deref().is_some_and(|id| id != self.lineage.session.as_str())
    }

    fn observe_envelope(&mut self, envelope: &Envelope<'_>, at: Option<Timestamp>) {
        let mut changed = false;
        let lineage = &mut self.lineage;
        if lineage.first_record.is_none() && envelope.uuid.is_some() {
            lineage.first_record = envelope.uuid;
            changed = true;
        }
        let own = lineage.session.as_str();
        if let Some(id) = envelope.session_id.as_deref().filter(|id| *id != own) {
            changed |= push_new(&mut lineage.foreign_sessions, id);
        }
        let mut own_process_began = false;
        match envelope.process_session_id.as_deref() {
            Some(id) if id == own => {
                own_process_began = !lineage.own_process_session && !lineage.process_sessions.is_empty();
                changed |= !lineage.own_process_session;
                lineage.own_process_session = true;
            }
            Some(id) => {
                changed |= push_new(&mut lineage.process_sessions, id);
                self.own_part_at = None;
            }
            None => {}
        }
        if let (None, Some(id)) = (&lineage.forked_from, envelope.forked_from.as_deref()) {
            lineage.forked_from = Some(SessionId::new(id));
            lineage.began_by = Some(BeganBy::Fork);
            changed = true;
        }
        if let Some(cwd) = envelope.cwd.as_deref() {
            changed |= push_cwd(&mut lineage.cwds, cwd);
        }
        if let Some(at) = at {
            changed |= self.observe_time(envelope, at, own_process_began);
        }
        self.changed(changed);
    }

    fn observe_time(&mut self, envelope: &Envelope<'_>, at: Timestamp, own_process_began: bool) -> bool {
        let copied = self.is_copied(envelope);
        let lineage = &mut self.lineage;
        let mut changed = lineage.started_at.is_none();
        lineage.started_at.get_or_insert(at);
        if let Some(segment) = lineage.segments.last_mut() {
            changed |= segment.started_at.is_none();
            segment.started_at.get_or_insert(at);
            segment.ended_at = Some(at);
        }
        if !copied {
            let foreign_process =
                envelope.process_session_id.as_deref().is_some_and(|id| id != lineage.session.as_str());
            if !foreign_process {
                self.own_part_at.get_or_insert(at);
            }
            if lineage.own_started_at.is_none() {
                lineage.own_started_at = Some(at);
                changed = true;
            } else if own_process_began && lineage.began_by != Some(BeganBy::Clear) {
                // A fork that does not mark its copies: its history names the old process, and only later records
                // name this session. After /clear, a later resume looks the same, but there the whole file is the
                // session's own.
                lineage.own_started_at = self.own_part_at.or(Some(at));
                changed = true;
            }
        }
        changed
    }

    fn began(&mut self, by: BeganBy) {
        // A fork's copied head may hold the /clear that began its original.
        if self.lineage.began_by != Some(by) && self.lineage.began_by != Some(BeganBy::Fork) {
            self.lineage.began_by = Some(by);
            self.changed(true);
        }
    }

    fn cut(&mut self, boundary: CompactBoundary, at: Option<Timestamp>) {
        let mut began = at;
        if let Some(segment) = self.lineage.segments.last_mut() {
            segment.boundary = Some(boundary);
            began = began.or(segment.ended_at);
        }
        self.lineage.segments.push(Segment { started_at: began, ended_at: began, boundary: None });
        self.segment_used = false;
        self.changed(true);
    }

    fn changed(&mut self, changed: bool) {
        self.revision += u64::from(changed);
    }
}

fn push_cwd(cwds: &mut Vec<Arc<str>>, cwd: &str) -> bool {
    let new = !cwd.is_empty() && cwds.len() < CWD_LIMIT && cwds.iter().rev().all(|known| **known != *cwd);
    if new {
        cwds.push(cwd.into());
    }
    new
}

fn push_new(sessions: &mut Vec<SessionId>, id: &str) -> bool {
    let new = !id.is_empty()
        && sessions.len() < SESSION_LIMIT
        && sessions.iter().rev().all(|known| known.as_str() != id);
    if new {
        sessions.push(SessionId::new(id));
    }
    new
}
