//! Builders for short facts in tests.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use watchbill_core::chain::{
    BeganBy, Chain, Chains, HookMove, Lineage, LineageFacts, Link, LinkConfidence, LinkReason, ManualLink,
    Marker, MoveCause, Neighbour, Neighbours, RegistryMove, Segment, SessionGroups, Switch, resolve,
    resolve_for,
};
use watchbill_core::ids::{ChainId, Instance, RecordId, SessionId};
use watchbill_core::time::Timestamp;
use watchbill_core::transcript::record::{CompactBoundary, CompactTrigger};

/// A point in time: seconds from the beginning of the test.
pub fn at(secs: i64) -> Timestamp {
    Timestamp::from_millis(1_768_154_400_000 + secs * 1000)
}

/// A session's id.
pub fn id(name: &str) -> SessionId {
    SessionId::new(name)
}

/// A session that was active in these spans, in `/repo`.
pub fn session(name: &str, spans: &[(i64, i64)]) -> LineageBuilder {
    let spans: Vec<_> = spans.iter().map(|&(a, b)| (at(a), at(b))).collect();
    let (first, last) = (spans.first().map(|s| s.0), spans.last().map(|s| s.1));
    LineageBuilder(Lineage {
        first_record: Some(record(&format!("first record of {name}"))),
        started_at: first,
        own_started_at: first,
        spans,
        segments: vec![Segment { started_at: first, ended_at: last, boundary: None }],
        cwds: vec![Arc::from("/repo")],
        ..Lineage::unknown(id(name))
    })
}

/// The id of a record, derived from any text.
pub fn record(text: &str) -> RecordId {
    let hash = text.bytes().fold(7u128, |h, b| h.wrapping_mul(1_000_003).wrapping_add(u128::from(b)));
    RecordId(hash)
}

/// A builder of a lineage.
#[derive(Debug, Clone)]
pub struct LineageBuilder(pub Lineage);

impl LineageBuilder {
    /// Some process started or resumed with this session: its own records say so.
    pub fn own(mut self) -> Self {
        self.0.own_process_session = true;
        self
    }

    /// Its records name these sessions as their process (`session_id`).
    pub fn process(mut self, names: &[&str]) -> Self {
        self.0.process_sessions = names.iter().map(|n| id(n)).collect();
        self
    }

    /// Its records carry these other `sessionId`s.
    pub fn foreign(mut self, names: &[&str]) -> Self {
        self.0.foreign_sessions = names.iter().map(|n| id(n)).collect();
        self
    }

    /// The first records of its file are those of `/clear`.
    pub fn cleared(mut self) -> Self {
        self.0.began_by = Some(BeganBy::Clear);
        self
    }

    /// Its agent's files tell the origin of a session, and the agent leaves no markers.
    pub fn of_other_agent(mut self) -> Self {
        self.0.tells_origin = true;
        self
    }

    /// The first records of its file are those of a fork.
    pub fn fork(mut self) -> Self {
        self.0.began_by = Some(BeganBy::Fork);
        self
    }

    /// `forkedFrom`.
    pub fn forked_from(mut self, name: &str) -> Self {
        self.0.forked_from = Some(id(name));
        self
    }

    /// It begins with the records of another session, which began at `since`.
    pub fn copies(mut self, name: &str, since: i64) -> Self {
        self.0.first_record = Some(record(&format!("first record of {name}")));
        self.0.started_at = Some(at(since));
        self
    }

    /// Nothing in the file distinguishes its own records from the copied ones.
    pub fn own_start_unknown(mut self) -> Self {
        self.0.own_started_at = None;
        self
    }

    /// It was compacted inside its file at these times.
    pub fn compacted(mut self, secs: &[i64]) -> Self {
        for &secs in secs {
            let boundary =
                CompactBoundary { trigger: CompactTrigger::Auto, pre_tokens: Some(1000), post_tokens: None };
            let last = self.0.segments.pop().expect("a session has a segment");
            self.0.segments.push(Segment {
                started_at: last.started_at,
                ended_at: Some(at(secs - 1)),
                boundary: Some(boundary),
            });
            self.0.segments.push(Segment {
                started_at: Some(at(secs)),
                ended_at: last.ended_at,
                boundary: None,
            });
            self.0.boundaries.push(record(&format!("boundary of {} at {secs}", self.0.session)));
        }
        self
    }

    /// Its folders.
    pub fn cwds(mut self, cwds: &[&str]) -> Self {
        self.0.cwds = cwds.iter().map(|c| Arc::from(*c)).collect();
        self
    }

    /// The user's title.
    pub fn title(mut self, title: &str) -> Self {
        self.0.custom_title = Some(Arc::from(title));
        self
    }
}

/// All facts of a test.
#[derive(Debug, Clone, Default)]
pub struct World {
    pub lineages: Vec<Lineage>,
    pub moves: Vec<RegistryMove>,
    pub hook_moves: Vec<HookMove>,
    pub switches: BTreeMap<SessionId, Switch>,
    pub markers: Vec<Marker>,
    pub terminals: BTreeMap<SessionId, Vec<(Timestamp, Arc<str>)>>,
    pub live: BTreeSet<SessionId>,
    pub held: BTreeMap<SessionId, Option<Timestamp>>,
    pub neighbours: Neighbours,
    pub manual: Vec<ManualLink>,
    pub names: BTreeMap<ChainId, Arc<str>>,
}

impl World {
    /// Only these transcripts.
    pub fn of(told: impl IntoIterator<Item = LineageBuilder>) -> Self {
        Self { lineages: told.into_iter().map(|t| t.0).collect(), ..Self::default() }
    }

    /// One more transcript.
    pub fn and(mut self, told: LineageBuilder) -> Self {
        self.lineages.push(told.0);
        self
    }

    /// A marker for `name` in `/repo`.
    pub fn marker(self, name: &str, secs: i64) -> Self {
        self.marker_in(name, secs, "/repo")
    }

    /// A marker for `name`.
    pub fn marker_in(mut self, name: &str, secs: i64, cwd: &str) -> Self {
        self.markers.push(Marker { session: id(name), cwd: Arc::from(cwd), compacted_at: at(secs) });
        self
    }

    /// The registry showed that the process `pid` changed its session.
    pub fn moved(mut self, pid: u32, from: &str, to: &str, secs: i64) -> Self {
        let instance = Instance { pid, proc_start: Some(Arc::from("1")) };
        self.moves.push(RegistryMove { instance, from: id(from), to: id(to), at: at(secs), parked: false });
        self
    }

    /// The hooks of a process name another session.
    pub fn hook_move(mut self, from: &str, to: &str, secs: i64, cause: MoveCause) -> Self {
        let instance = Instance { pid: 1, proc_start: None };
        self.hook_moves.push(HookMove { instance, from: id(from), to: id(to), at: at(secs), cause });
        self
    }

    /// Another agent goes on with `from` in `to`.
    pub fn switched(mut self, from: &str, to: &str, secs: i64, fork: bool) -> Self {
        self.switches.insert(id(to), Switch { from: id(from), at: at(secs), fork });
        self
    }

    /// A process is on the session now.
    pub fn live(mut self, name: &str) -> Self {
        self.live.insert(id(name));
        self
    }

    /// A process has been on the session since then.
    pub fn live_since(mut self, name: &str, secs: i64) -> Self {
        self.held.insert(id(name), Some(at(secs)));
        self.live(name)
    }

    /// The session's terminal since then.
    pub fn terminal_since(mut self, name: &str, key: &str, secs: i64) -> Self {
        self.terminals.entry(id(name)).or_default().push((at(secs), Arc::from(key)));
        self
    }

    /// The session's terminal.
    pub fn terminal(self, name: &str, key: &str) -> Self {
        self.terminal_since(name, key, -100_000)
    }

    /// The user joins two sessions.
    pub fn join(mut self, from: &str, to: &str, secs: i64) -> Self {
        self.manual.push(ManualLink::Join { at: at(secs), from: id(from), to: id(to) });
        self
    }

    /// The user splits a session off.
    pub fn split(mut self, name: &str, secs: i64) -> Self {
        self.manual.push(ManualLink::Split { at: at(secs), session: id(name) });
        self
    }

    /// What a program knows that starts now and has stored what an earlier one saw at compactions.
    pub fn restarted(&self) -> Self {
        let mut neighbours = self.neighbours.clone();
        for Neighbour { of, other, same, .. } in self.chains().neighbours {
            neighbours.entry(of).or_default().insert(other, same);
        }
        Self {
            neighbours,
            terminals: BTreeMap::new(),
            live: BTreeSet::new(),
            held: BTreeMap::new(),
            ..self.clone()
        }
    }

    /// The chains that follow from the facts.
    pub fn chains(&self) -> Chains {
        self.with_facts(&mut |facts| resolve(facts))
    }

    /// The chains that hold a `wanted` session.
    pub fn chains_for(&self, wanted: &dyn Fn(&SessionId) -> bool) -> Chains {
        self.with_facts(&mut |facts| resolve_for(facts, wanted))
    }

    /// The chains after a change: `chains` is the earlier result, and only `changed` sessions have a new or longer
    /// transcript since.
    pub fn renewed(&self, mut chains: Chains, ties: &mut SessionGroups, changed: &[SessionId]) -> Chains {
        self.lineages.iter().filter(|lineage| changed.contains(&lineage.session)).for_each(|l| ties.add(l));
        self.with_facts(&mut |facts| {
            ties.add_facts(facts);
            Chains::default()
        });
        let group: BTreeSet<SessionId> =
            ties.groups_of(changed, usize::MAX).expect("there is no limit").into_iter().collect();
        let mut part = self.clone();
        part.lineages.retain(|lineage| group.contains(&lineage.session));
        part.live.retain(|session| group.contains(session));
        chains.replace_chains_of(&group, part.chains());
        chains
    }

    fn with_facts(&self, to: &mut dyn FnMut(&LineageFacts<'_>) -> Chains) -> Chains {
        let lineages: Vec<&Lineage> = self.lineages.iter().collect();
        to(&LineageFacts {
            lineages: &lineages,
            moves: &self.moves,
            hook_moves: &self.hook_moves,
            switches: &self.switches,
            markers: &self.markers,
            terminals: &self.terminals,
            live: &self.live,
            held: &self.held,
            neighbours: &self.neighbours,
            manual: &self.manual,
            names: &self.names,
        })
    }
}

/// Short queries on the result.
pub trait ChainQueries {
    fn chain(&self, name: &str) -> &Chain;
    fn sessions(&self, name: &str) -> Vec<&str>;
    fn over_by(&self, name: &str) -> Option<&str>;
    fn link(&self, from: &str, to: &str) -> Option<(LinkReason, LinkConfidence)>;
}

impl ChainQueries for Chains {
    fn chain(&self, name: &str) -> &Chain {
        self.of(&id(name)).unwrap_or_else(|| panic!("{name} is in no chain"))
    }

    fn sessions(&self, name: &str) -> Vec<&str> {
        self.chain(name).sessions.iter().map(SessionId::as_str).collect()
    }

    fn over_by(&self, name: &str) -> Option<&str> {
        self.superseded(&id(name)).map(|s| s.by.as_str())
    }

    fn link(&self, from: &str, to: &str) -> Option<(LinkReason, LinkConfidence)> {
        let mut links = self.chain(to).links.iter().filter(|l| l.from == id(from) && l.to == id(to));
        let link: Option<&Link> = links.next();
        assert_eq!(links.next(), None, "one link from {from} to {to}");
        link.map(|l| (l.reason, l.confidence))
    }
}

/// The id of a chain that began with the session.
pub fn chain_id(first: &str) -> ChainId {
    ChainId::derive(&id(first))
}
