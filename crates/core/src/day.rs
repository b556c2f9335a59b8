//! The day: what each work chain did, and how long it waited for the user.
//!
//! A session's stretches come from the stored changes of its state. Where no process of ours saw a turn, its transcript tells when
//! it began and ended. The sessions of a chain make one lane.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::attention::{COUNT_DWELL, Need, need};
use crate::history::rows::BatchStatus;
use crate::session::state::{State, StateKind};
use crate::time::{Millis, Timestamp};

as_str!(Doing);

/// What a chain does in a stretch. Of two sessions of a chain, the later variant is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, strum_macros::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Doing {
    /// Nothing, for long.
    Idle,
    /// The turn is over.
    YourTurn,
    /// A turn runs.
    Working,
    /// A request failed, is tried again, or a limit was reached.
    Failed,
    /// It asks the user.
    Waiting,
}

impl Doing {
    /// What a session does in a state; `None` once it has ended.
    pub const fn of(state: State, kind: Option<StateKind>) -> Option<Self> {
        match (need(state, kind), state, kind) {
            (_, State::Ended, _) => None,
            (Some(Need::Error), ..) | (_, State::Working, Some(StateKind::Retrying)) => Some(Self::Failed),
            (Some(need), ..) if need.counts() => Some(Self::Waiting),
            (_, State::Working, _) => Some(Self::Working),
            (_, State::Idle, _) => Some(Self::Idle),
            (_, State::WaitingForApproval | State::WaitingForInput, _) => Some(Self::YourTurn),
        }
    }
}

/// A change of a session's state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Change {
    /// When.
    pub at: Timestamp,
    /// The state from then on.
    pub state: State,
    /// Its kind.
    pub kind: Option<StateKind>,
    /// It was concluded from silence.
    pub inferred: bool,
}

/// A turn as the transcript tells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    /// When it began.
    pub began: Timestamp,
    /// The newest thing that happened in it.
    pub last: Timestamp,
    /// When and how it ended.
    pub ended: Option<(Timestamp, BatchStatus)>,
}

/// A span in which the state was the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stretch {
    /// When it began, or the day.
    pub from: Timestamp,
    /// When it ended.
    pub to: Timestamp,
    /// The state.
    pub state: State,
    /// Its kind.
    pub kind: Option<StateKind>,
    /// What the chain did.
    pub doing: Doing,
    /// It was concluded from silence.
    pub inferred: bool,
    /// The session in its chain, from zero.
    pub session: usize,
}

impl Stretch {
    /// How long it lasted.
    pub fn span(&self) -> Millis {
        self.to.since(self.from)
    }

    fn is_like(&self, other: &Self) -> bool {
        (self.state, self.kind, self.doing, self.inferred, self.session)
            == (other.state, other.kind, other.doing, other.inferred, other.session)
    }
}

/// A seen change is this near to what the transcript tells.
const NEAR: Millis = Millis::from_secs(2);

/// The end of a turn is seen at most this late: by silence.
const LATE: Millis = Millis::from_secs(60);

/// After a turn that no process of ours saw, a session is idle after this time.
const IDLE: Millis = Millis::from_secs(600);

/// The stretches of one session within a span. `is_attended`: a person works in it. A program's session needs nothing of the user.
/// `turns` and `seen` are in order of their times.
pub fn session_stretches(
    seen: &[Change],
    turns: &[Turn],
    is_attended: bool,
    within: &Range<Timestamp>,
) -> Vec<Stretch> {
    let changes = with_turns(seen, turns);
    let ends = changes.iter().skip(1).map(|next| next.at).chain([within.end]);
    let mut stretches = Vec::new();
    for (change, end) in changes.iter().zip(ends) {
        let (from, to) = (change.at.max(within.start), end.min(within.end));
        let Some(doing) = Doing::of(change.state, change.kind).filter(|_| from < to) else { continue };
        // An automatic reviewer answers so soon: the request belongs to the turn.
        let is_short = doing == Doing::Waiting && end.since(change.at) < COUNT_DWELL;
        let doing = match doing {
            Doing::Waiting if is_short || !is_attended => Doing::Working,
            Doing::YourTurn if !is_attended => Doing::Idle,
            doing => doing,
        };
        let (state, kind) = if is_short { (State::Working, None) } else { (change.state, change.kind) };
        let stretch = Stretch { from, to, state, kind, doing, inferred: change.inferred, session: 0 };
        push(&mut stretches, stretch);
    }
    stretches
}

/// Adds a stretch, or makes the last one longer.
fn push(stretches: &mut Vec<Stretch>, stretch: Stretch) {
    match stretches.last_mut() {
        Some(last) if last.to == stretch.from && last.is_like(&stretch) => last.to = stretch.to,
        _ => stretches.push(stretch),
    }
}

/// The changes with those of turns that no process of ours saw begin or end.
fn with_turns(seen: &[Change], turns: &[Turn]) -> Vec<Change> {
    let mut changes = seen.to_vec();
    for (number, turn) in turns.iter().enumerate() {
        let end = turn.ended.filter(|(_, status)| *status != BatchStatus::Active);
        let until = end.map_or(turn.last, |(at, _)| at).max(turn.began);
        let change = |at, state, kind| Change { at, state, kind, inferred: false };
        let is_seen = |from: Timestamp, to: Timestamp| {
            let first = seen.partition_point(|change| change.at < from);
            seen.get(first).is_some_and(|change| change.at <= to)
        };
        // Its end shows no beginning, unless it was that short.
        let before_end = if until - NEAR > turn.began { until - NEAR } else { until };
        if !is_seen(turn.began - NEAR, before_end) {
            changes.push(change(turn.began, State::Working, None));
        }
        let Some((at, status)) = end else { continue };
        let next = turns.get(number + 1).map(|next| next.began);
        let until_next = next.map_or(at + LATE, |next| (next - NEAR).min(at + LATE));
        if is_seen(at - NEAR, until_next) || next.is_some_and(|next| next <= at) {
            continue;
        }
        let kind = match status {
            BatchStatus::Interrupted => StateKind::Interrupted,
            BatchStatus::Failed => StateKind::Error,
            BatchStatus::Completed | BatchStatus::Active => StateKind::TurnEnded,
        };
        changes.push(change(at, State::WaitingForInput, Some(kind)));
        if next.is_none_or(|next| next > at + IDLE) && !is_seen(at, at + IDLE) {
            changes.push(change(at + IDLE, State::Idle, None));
        }
    }
    changes.sort_by_key(|change| change.at);
    changes
}

/// The lane of a chain: of its sessions' stretches, at each time the one that says most.
pub fn lane(sessions: &[Vec<Stretch>]) -> Vec<Stretch> {
    if let [only] = sessions {
        return only.clone();
    }
    let all = || sessions.iter().flatten();
    let mut edges: Vec<Timestamp> = all().flat_map(|stretch| [stretch.from, stretch.to]).collect();
    edges.sort_unstable();
    edges.dedup();
    let mut lane = Vec::new();
    for edge in edges.windows(2) {
        let shown = sessions.iter().enumerate().filter_map(|(number, stretches)| {
            let at = stretches.partition_point(|stretch| stretch.to <= edge[0]);
            let stretch = stretches.get(at).filter(|stretch| stretch.from <= edge[0])?;
            Some(Stretch { from: edge[0], to: edge[1], session: number, ..*stretch })
        });
        if let Some(stretch) = shown.max_by_key(|stretch| (stretch.doing, stretch.session)) {
            push(&mut lane, stretch);
        }
    }
    lane
}

/// How many chains work and wait from a time on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Count {
    /// From then on.
    pub at: Timestamp,
    /// Chains that work.
    pub working: usize,
    /// Chains that wait for the user.
    pub waiting: usize,
}

/// How many lanes work and wait, from each time at which that changes.
pub fn counts(lanes: &[Vec<Stretch>]) -> Vec<Count> {
    let mut edges: BTreeMap<Timestamp, [isize; 2]> = BTreeMap::new();
    for stretch in lanes.iter().flatten() {
        let which = match stretch.doing {
            Doing::Working => 0,
            Doing::Waiting => 1,
            _ => continue,
        };
        edges.entry(stretch.from).or_default()[which] += 1;
        edges.entry(stretch.to).or_default()[which] -= 1;
    }
    let mut counts: Vec<Count> = Vec::new();
    let mut now = Count::default();
    for (at, [working, waiting]) in edges {
        let after = |count: usize, by: isize| count.saturating_add_signed(by);
        let next = Count { at, working: after(now.working, working), waiting: after(now.waiting, waiting) };
        if (next.working, next.waiting) != (now.working, now.waiting) {
            counts.push(next);
        }
        now = next;
    }
    counts
}

/// The figures of a day.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Figures {
    /// All waits for the user together.
    pub waited: Millis,
    /// How many there were.
    pub waits: usize,
    /// Half of them were shorter.
    pub median: Millis,
    /// The longest wait, with its lane.
    pub longest: Option<(usize, Stretch)>,
    /// How long two or more waited at once.
    pub two_or_more: Millis,
    /// The work of all lanes together.
    pub worked: Millis,
    /// How long one or more worked.
    pub one_or_more: Millis,
}

/// The figures of these lanes.
pub fn figures(lanes: &[Vec<Stretch>]) -> Figures {
    let of = |doing| {
        let numbered = lanes.iter().enumerate();
        let all = numbered.flat_map(|(lane, stretches)| stretches.iter().map(move |it| (lane, *it)));
        all.filter(move |(_, stretch)| stretch.doing == doing)
    };
    let sum = |doing| Millis(of(doing).map(|(_, stretch)| stretch.span().0).sum());
    // A wait goes on while its witness or its question changes.
    let mut waits: Vec<(usize, Stretch)> = Vec::new();
    for (lane, stretch) in of(Doing::Waiting) {
        match waits.last_mut() {
            Some((before, wait)) if *before == lane && wait.to == stretch.from => wait.to = stretch.to,
            _ => waits.push((lane, stretch)),
        }
    }
    let longest =
        waits.iter().copied().max_by_key(|(lane, it)| (it.span(), std::cmp::Reverse((it.from, *lane))));
    waits.sort_unstable_by_key(|(_, wait)| wait.span());
    let counts = counts(lanes);
    let during = |is: fn(&Count) -> bool| {
        let spans = counts.windows(2).filter(|pair| is(&pair[0])).map(|pair| pair[1].at.since(pair[0].at).0);
        Millis(spans.sum())
    };
    Figures {
        waited: sum(Doing::Waiting),
        waits: waits.len(),
        median: waits.get(waits.len() / 2).map(|(_, wait)| wait.span()).unwrap_or_default(),
        longest,
        two_or_more: during(|count| count.waiting > 1),
        worked: sum(Doing::Working),
        one_or_more: during(|count| count.working > 0),
    }
}
