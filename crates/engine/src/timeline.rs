//! The timeline of a work chain, read on demand and kept for the chains that were looked at last.

use std::collections::HashSet;
use std::path::PathBuf;

use watchbill_core::ids::{RecordId, SessionId};
use watchbill_core::transcript::line_splitter::{LineSplitter, Split};
use watchbill_core::transcript::timeline::{Entry, Origin, Outcome, TimelineBuilder, What as CoreWhat};
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::timeline::{Timeline, TimelineItem, What};
use watchbill_watch::fs::Fs;
use watchbill_watch::tail::{Tail, TailError};

use crate::ask::TimelinePlan;

/// Timelines of so many chains are kept: the one that is shown, and the one before.
const KEPT: usize = 2;
/// Most items of one answer.
const MOST_ITEMS: u64 = 10_000;

/// Reads timelines and keeps the newest, so that a growing one costs only what was appended.
#[derive(Default)]
pub struct TimelineReader {
    chains: Vec<(String, Vec<Part>)>,
    scratch: Vec<u8>,
}

/// One transcript of a chain.
struct Part {
    session: SessionId,
    path: PathBuf,
    reason: Option<&'static str>,
    tail: Tail,
    splitter: LineSplitter,
    builder: TimelineBuilder,
}

impl TimelineReader {
    /// A stretch of a timeline: from `from`, or its last `limit` items.
    ///
    /// # Errors
    /// When a transcript of the chain is there and cannot be read.
    pub fn read(
        &mut self,
        fs: &dyn Fs,
        plan: &TimelinePlan,
        from: Option<u64>,
        limit: u64,
    ) -> Result<Timeline, ApiError> {
        let mut parts = match self.chains.iter().position(|(chain, _)| *chain == plan.chain) {
            Some(at) => self.chains.remove(at).1,
            None => Vec::new(),
        };
        let mut next = Vec::with_capacity(plan.parts.len());
        for (session, path, reason) in &plan.parts {
            let known = parts.iter().position(|part| part.path == *path);
            let mut part = known.map_or_else(|| Part::new(session, path.clone()), |at| parts.swap_remove(at));
            part.reason = *reason;
            part.read(fs, &mut self.scratch)?;
            next.push(part);
        }
        let timeline = stretch(&next, plan, from, limit.min(MOST_ITEMS));
        self.chains.push((plan.chain.clone(), next));
        if self.chains.len() > KEPT {
            self.chains.remove(0);
        }
        Ok(timeline)
    }
}

impl Part {
    fn new(session: &SessionId, path: PathBuf) -> Self {
        Self {
            session: session.clone(),
            path,
            reason: None,
            tail: Tail::default(),
            splitter: LineSplitter::default(),
            builder: TimelineBuilder::new(),
        }
    }

    fn read(&mut self, fs: &dyn Fs, scratch: &mut Vec<u8>) -> Result<(), ApiError> {
        let Self { path, tail, splitter, builder, .. } = self;
        let restarted = std::cell::Cell::new(false);
        let read = tail.read(fs, path, scratch, u64::MAX, &mut || restarted.set(true), &mut |_, bytes| {
            if restarted.replace(false) {
                splitter.reset(0);
                *builder = TimelineBuilder::new();
            }
            splitter.push(bytes, &mut |split| {
                if let Split::Line(line) = split {
                    builder.push_line(line.offset, line.bytes);
                }
            });
        });
        if restarted.get() {
            // The file was emptied: nothing of what it held counts, although nothing new was read.
            splitter.reset(0);
            *builder = TimelineBuilder::new();
        }
        match read {
            // What was read before the file went away is still worth showing.
            Ok(_) | Err(TailError::Gone) => Ok(()),
            Err(error) => Err(ApiError::new(
                ErrorCode::Unreadable,
                format!("cannot read the transcript {}: {error}", path.display()),
            )),
        }
    }
}

/// An item before it is made: a divider between two sessions, or an entry.
enum Place<'a> {
    Continued { from: &'a Part, to: &'a Part },
    Entry { part: &'a Part, entry: &'a Entry },
}

fn stretch(parts: &[Part], plan: &TimelinePlan, from: Option<u64>, limit: u64) -> Timeline {
    let mut places = Vec::new();
    let mut seen: HashSet<RecordId> = HashSet::new();
    for (n, part) in parts.iter().enumerate() {
        if n > 0 {
            places.push(Place::Continued { from: &parts[n - 1], to: part });
        }
        // A continuation may begin with a copy of what went before: shown once, where it happened.
        let fresh =
            part.builder.entries().iter().filter(|entry| entry.uuid.is_none_or(|id| !seen.contains(&id)));
        places.extend(fresh.map(|entry| Place::Entry { part, entry }));
        if n + 1 < parts.len() {
            seen.extend(part.builder.entries().iter().filter_map(|entry| entry.uuid));
        }
    }
    let total = places.len() as u64;
    let from = from.unwrap_or(total.saturating_sub(limit)).min(total);
    let range =
        usize::try_from(from).unwrap_or(usize::MAX)..usize::try_from((from + limit).min(total)).unwrap_or(0);
    let items = places[range].iter().zip(from..).map(|(place, index)| item(place, index)).collect();
    Timeline { session_id: plan.session.to_string(), work_chain_id: plan.chain.clone(), from, total, items }
}

fn item(place: &Place<'_>, index: u64) -> TimelineItem {
    match place {
        Place::Continued { from, to } => TimelineItem {
            index,
            session_id: from.session.to_string(),
            at: to.builder.entries().iter().find_map(|entry| entry.at).map(|at| at.to_string()),
            what: What::Continued {
                to: to.session.to_string(),
                reason: to.reason.unwrap_or("process").to_owned(),
            },
            agent_id: None,
        },
        Place::Entry { part, entry } => TimelineItem {
            index,
            session_id: part.session.to_string(),
            at: entry.at.map(|at| at.to_string()),
            what: what(&entry.what),
            agent_id: entry.agent_id.as_ref().map(ToString::to_string),
        },
    }
}

fn what(what: &CoreWhat) -> What {
    match what {
        CoreWhat::Prompt { text, origin } => {
            let origin = match origin {
                Origin::Human => "human",
                Origin::Queued => "queued",
                Origin::TaskNotification => "task_notification",
                Origin::Peer => "peer",
            };
            What::Prompt { text: text.clone(), origin: origin.to_owned() }
        }
        CoreWhat::Response(text) => What::Response { text: text.clone() },
        CoreWhat::Thinking(text) => What::Thinking { text: text.clone() },
        CoreWhat::Tool(call) => What::Tool {
            id: call.id.clone(),
            tool: call.tool.clone(),
            target: call.target.clone(),
            input: call.input.clone(),
            outcome: match call.outcome {
                Outcome::Pending => "pending",
                Outcome::Ok => "ok",
                Outcome::Error => "error",
                Outcome::Denied => "denied",
                Outcome::Background => "background",
            }
            .to_owned(),
            output: call.output.clone(),
            duration_ms: call.duration.and_then(|span| u64::try_from(span.0).ok()),
        },
        CoreWhat::Boundary(boundary) => {
            let boundary = watchbill_protocol::chain::Boundary::from(boundary);
            What::Boundary {
                trigger: boundary.trigger,
                pre_tokens: boundary.pre_tokens,
                post_tokens: boundary.post_tokens,
            }
        }
        CoreWhat::Interrupted => What::Interrupted,
        CoreWhat::Error(text) => What::Error { text: text.clone() },
        CoreWhat::Command(text) => What::Command { text: text.clone() },
        CoreWhat::Note(text) => What::Note { text: text.clone() },
    }
}

#[cfg(test)]
mod tests {
    use watchbill_watch::mem::MemFs;

    use super::*;

    #[test]
    fn an_emptied_transcript_has_an_empty_timeline_and_begins_anew() {
        let fs = MemFs::new();
        let (session, path) = (SessionId::new("s"), PathBuf::from("/c/projects/p/s.jsonl"));
        let plan = TimelinePlan {
            session: session.clone(),
            chain: "c".into(),
            parts: vec![(session, path.clone(), None)],
        };
        let line = |text: &str| format!("{{\"type\":\"user\",\"message\":{{\"content\":\"{text}\"}}}}\n");
        let mut reader = TimelineReader::default();
        let mut total = || reader.read(&fs, &plan, None, 10).unwrap().total;
        fs.append(&path, (line("one") + &line("two") + "{\"torn").as_bytes());
        assert_eq!(total(), 2);
        fs.truncate(&path, 0);
        assert_eq!(total(), 0);
        fs.append(&path, line("three").as_bytes());
        assert_eq!(total(), 1);
    }
}
