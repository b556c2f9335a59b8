//! The order of a timeline over all its transcripts, and the items made from its entries.

use std::collections::HashSet;

use watchbill_core::ids::{RecordId, SessionId};
use watchbill_core::transcript::timeline::{Entry, Origin, Outcome, What as CoreWhat};
use watchbill_protocol::timeline::{Subagent, TimelineItem, What};

use super::part::Part;

/// An item before it is made: a divider between two sessions, or an entry.
#[derive(Clone, Copy)]
pub enum TimelineSlot<'a> {
    /// A session of the chain goes on in the next one.
    Continued {
        /// The one that ends here.
        from: &'a Part,
        /// The one that begins here.
        to: &'a Part,
    },
    /// An entry of a transcript.
    Entry {
        /// Its transcript.
        part: &'a Part,
        /// The entry.
        entry: &'a Entry,
        /// Number of earlier entries of the same record.
        nth: usize,
    },
}

impl<'a> TimelineSlot<'a> {
    /// The entry, unless it is a divider.
    pub fn entry(self) -> Option<&'a Entry> {
        match self {
            Self::Entry { entry, .. } => Some(entry),
            Self::Continued { .. } => None,
        }
    }
}

/// All items of the parts, in order.
pub fn places(parts: &[Part]) -> Vec<TimelineSlot<'_>> {
    let mut places = Vec::new();
    let mut seen: HashSet<RecordId> = HashSet::new();
    for (n, part) in parts.iter().enumerate() {
        if n > 0 {
            places.push(TimelineSlot::Continued { from: &parts[n - 1], to: part });
        }
        // A continuation may begin with a copy of earlier records. They appear once, at their first place.
        let fresh = part.entries().iter().filter(|entry| entry.uuid.is_none_or(|id| !seen.contains(&id)));
        let (mut record, mut nth) = (None, 0);
        places.extend(fresh.map(|entry| {
            nth = if record == Some(entry.offset) { nth + 1 } else { 0 };
            record = Some(entry.offset);
            TimelineSlot::Entry { part, entry, nth }
        }));
        for side in part.sides() {
            add_side(&mut places, part, &side);
        }
        if n + 1 < parts.len() {
            seen.extend(part.entries().iter().filter_map(|entry| entry.uuid));
        }
    }
    places
}

/// Adds a question and its answer where the session was when the user asked.
fn add_side<'a>(places: &mut Vec<TimelineSlot<'a>>, part: &'a Part, side: &[&'a Entry]) {
    let asked = side.iter().find_map(|entry| entry.at);
    let is_before = |place: &TimelineSlot<'_>| match place.entry() {
        Some(entry) => entry.at.is_some() && entry.at <= asked,
        None => false,
    };
    let at = places.iter().rposition(is_before).map_or(places.len(), |at| at + 1);
    let slots = side.iter().zip(0..).map(|(entry, nth)| TimelineSlot::Entry { part, entry, nth });
    places.splice(at..at, slots);
}

/// The index of the record that begins at `offset` of a session's transcript. A result is found at its call. A record
/// without an entry of its own is found at the entry before it, and a copied one at its original.
pub fn index_of(
    places: &[TimelineSlot<'_>],
    parts: &[Part],
    session: &SessionId,
    offset: u64,
) -> Option<usize> {
    let entries = parts.iter().find(|part| part.session == *session)?.entries();
    let is_result = |entry: &&Entry| match &entry.what {
        CoreWhat::Tool(call) => call.result_offset == Some(offset),
        _ => false,
    };
    let begins = |entry: &&Entry| entry.offset == offset;
    let before = || entries.iter().rfind(|entry| entry.offset <= offset).or(entries.first());
    let wanted = entries.iter().find(begins).or_else(|| entries.iter().find(is_result)).or_else(before)?;
    let at = |fits: &dyn Fn(&Entry) -> bool| places.iter().position(|place| place.entry().is_some_and(fits));
    at(&|entry| std::ptr::eq(entry, wanted)).or_else(|| at(&|entry| entry.uuid == wanted.uuid))
}

/// Makes the item at `index`. `subagent` is the one that its call has started.
pub fn item(place: TimelineSlot<'_>, index: u64, subagent: Option<Subagent>) -> TimelineItem {
    match place {
        TimelineSlot::Continued { from, to } => TimelineItem {
            index,
            key: format!("to {}", to.session),
            session_id: from.session.to_string(),
            at: to.entries().iter().find_map(|entry| entry.at).map(|at| at.to_string()),
            what: What::Continued {
                to: to.session.to_string(),
                reason: to.reason.unwrap_or("process").to_owned(),
            },
            agent_id: None,
        },
        TimelineSlot::Entry { part, entry, nth } => TimelineItem {
            index,
            key: key(part, entry, nth),
            session_id: part.session.to_string(),
            at: entry.at.map(|at| at.to_string()),
            what: what(&entry.what, subagent),
            agent_id: entry.agent_id.as_ref().map(ToString::to_string),
        },
    }
}

/// A key that does not change. A record's own id stays when its file is rewritten or another session begins with a
/// copy of it. A record without an id is identified by its offset.
fn key(part: &Part, entry: &Entry, nth: usize) -> String {
    match entry.uuid {
        Some(RecordId(id)) => format!("{id:032x}.{nth}"),
        None => format!("{}@{}.{nth}", part.session, entry.offset),
    }
}

fn what(what: &CoreWhat, subagent: Option<Subagent>) -> What {
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
            input_cut: call.input_cut.then_some(true),
            outcome: match call.outcome {
                Outcome::Pending => "pending",
                Outcome::Ok => "ok",
                Outcome::Error => "error",
                Outcome::Denied => "denied",
                Outcome::Interrupted => "interrupted",
                Outcome::Background => "background",
            }
            .to_owned(),
            output: call.output.clone(),
            output_cut: call.output_cut.then_some(true),
            duration_ms: call.duration.and_then(|span| u64::try_from(span.0).ok()),
            subagent,
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
