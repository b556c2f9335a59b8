//! The order of a timeline over all its transcripts, and the items made from its entries.

use std::collections::HashSet;

use watchbill_core::ids::{RecordId, SessionId};
use watchbill_core::time::{Millis, Timestamp};
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
        /// The one that begins here, or goes on.
        to: &'a Part,
        /// The time of its first entry behind the divider.
        at: Option<Timestamp>,
        /// Number of earlier dividers to it.
        nth: usize,
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

    fn at(self) -> Option<Timestamp> {
        self.entry().and_then(|entry| entry.at)
    }
}

/// The last records of a session may be this much younger than the first ones of its successor.
const SLACK: Millis = Millis::from_secs(2);

/// All items of the parts, in order of time. If a session goes on after its successor began, the rest of it follows behind
/// another divider.
pub fn places(parts: &[Part]) -> Vec<TimelineSlot<'_>> {
    let mut own = Vec::with_capacity(parts.len());
    let mut seen: HashSet<RecordId> = HashSet::new();
    for (n, part) in parts.iter().enumerate() {
        own.push(slots(part, &seen));
        if n + 1 < parts.len() {
            seen.extend(part.entries().iter().filter_map(|entry| entry.uuid));
        }
    }
    match own.as_slice() {
        [_] => own.remove(0),
        _ => merged(parts, &own),
    }
}

/// The entries of a part. A continuation may begin with a copy of earlier records. They appear once, at their first place.
fn slots<'a>(part: &'a Part, seen: &HashSet<RecordId>) -> Vec<TimelineSlot<'a>> {
    let fresh = part.entries().iter().filter(|entry| entry.uuid.is_none_or(|id| !seen.contains(&id)));
    let (mut record, mut nth) = (None, 0);
    let entries = fresh.map(|entry| {
        nth = if record == Some(entry.offset) { nth + 1 } else { 0 };
        record = Some(entry.offset);
        TimelineSlot::Entry { part, entry, nth }
    });
    let mut slots = entries.collect();
    for side in part.sides() {
        add_side(&mut slots, part, &side);
    }
    slots
}

/// Adds a question and its answer where the session was when the user asked.
fn add_side<'a>(slots: &mut Vec<TimelineSlot<'a>>, part: &'a Part, side: &[&'a Entry]) {
    let asked = side.iter().find_map(|entry| entry.at);
    let is_before = |slot: &TimelineSlot<'_>| slot.at().is_some() && slot.at() <= asked;
    let behind = slots.iter().rposition(is_before).map(|at| at + 1);
    let at = behind.unwrap_or(if asked.is_some() { 0 } else { slots.len() });
    slots.splice(at..at, side.iter().zip(0..).map(|(entry, nth)| TimelineSlot::Entry { part, entry, nth }));
}

/// The slots of all parts. A divider stands where the session changes.
fn merged<'a>(parts: &'a [Part], own: &[Vec<TimelineSlot<'a>>]) -> Vec<TimelineSlot<'a>> {
    let clocks = clocks(own);
    let mut places = Vec::with_capacity(own.iter().map(Vec::len).sum::<usize>() + own.len());
    let (mut current, mut next, mut begun) = (0, vec![0; own.len()], vec![0; own.len()]);
    let mut go_on_in = |places: &mut Vec<TimelineSlot<'a>>, from: usize, to: usize, at| {
        places.push(TimelineSlot::Continued { from: &parts[from], to: &parts[to], at, nth: begun[to] });
        begun[to] += 1;
    };
    let mut unseen = 1;
    loop {
        let waits = |part: &usize| Some((*clocks[*part].get(next[*part])?, *part));
        let oldest = (0..own.len()).filter_map(|part| waits(&part)).min();
        let until = oldest.map_or(own.len(), |(_, part)| part);
        // A part that has nothing of its own has a divider too, before the first one behind it.
        while unseen < until {
            if own[unseen].is_empty() {
                go_on_in(&mut places, current, unseen, None);
                current = unseen;
            }
            unseen += 1;
        }
        let Some((clock, oldest)) = oldest else { return places };
        let stays = waits(&current).is_some_and(|(own, _)| own <= clock.map(|clock| clock + SLACK));
        let part = if stays { current } else { oldest };
        let slot = own[part][next[part]];
        if part != current {
            go_on_in(&mut places, current, part, slot.at());
            current = part;
        }
        places.push(slot);
        next[part] += 1;
    }
}

/// The time by which each slot is sorted: that of the newest entry of its part so far. A part without times, or with earlier times
/// than the part before it, comes after that whole part.
fn clocks(own: &[Vec<TimelineSlot<'_>>]) -> Vec<Vec<Option<Timestamp>>> {
    let mut before: Option<(Option<Timestamp>, Option<Timestamp>)> = None;
    let mut all = Vec::with_capacity(own.len());
    for slots in own {
        let first = slots.iter().find_map(|slot| slot.at());
        let least = before.filter(|(began, _)| first < *began).and_then(|(_, ended)| ended);
        let mut clock = first.max(least);
        let clocks: Vec<_> = slots
            .iter()
            .map(|slot| {
                clock = clock.max(slot.at());
                clock
            })
            .collect();
        if first.is_some() {
            before = Some((clocks[0], clock));
        }
        all.push(clocks);
    }
    all
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
        TimelineSlot::Continued { from, to, at, nth } => TimelineItem {
            index,
            key: if nth == 0 { format!("to {}", to.session) } else { format!("to {}.{nth}", to.session) },
            session_id: from.session.to_string(),
            at: at.map(|at| at.to_string()),
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
            refusal: call.refusal.clone(),
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
