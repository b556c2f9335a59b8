//! The hosts of own sessions as witnesses: their reports, and the agent's session that each one runs now.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rustc_hash::FxHashMap;
use watchbill_agents::files::session_of;
use watchbill_agents::traits;
use watchbill_core::chain::lineage::{Lineage, Segment, Switch};
use watchbill_core::ids::SessionId;
use watchbill_core::own::OwnWay;
use watchbill_core::requests::request::{Request, RequestId};
use watchbill_core::roster::row::OwnRow;
use watchbill_core::session::facts::one_line;
use watchbill_core::time::{Millis, Timestamp};
use watchbill_drive::fold::{HostState, OwnFold};
use watchbill_protocol::own::event::{OwnEvent, OwnWhat};
use watchbill_protocol::own::facts::{asked, request_id};
use watchbill_protocol::own::spec::{OwnAgent, OwnResume, OwnSpec};

/// News of own sessions.
pub enum OwnInput {
    /// A session was found, and its host runs or not. Its events follow from the first one on.
    Found(Box<OwnSpec>, HostState),
    /// A session with all that its events add up to. Nothing in it can be answered.
    Summary(Box<OwnSpec>, Box<OwnFold>),
    /// New events of one session, oldest first.
    Events(Arc<str>, Vec<OwnEvent>),
    /// The host of a session has ended, or has begun anew.
    Host(Arc<str>, HostState),
    /// Nothing is left of a session.
    Removed(Arc<str>),
}

/// All own sessions, by the ids of their hosts.
#[derive(Default)]
pub struct OwnSessions {
    by_id: BTreeMap<Arc<str>, OwnWitness>,
    /// The own session that each row shows.
    rows: FxHashMap<SessionId, Arc<str>>,
    /// The own sessions by what agents that name their sessions themselves call them.
    named: FxHashMap<SessionId, Arc<str>>,
}

/// One session of your own.
pub struct OwnWitness {
    /// What started it.
    pub spec: OwnSpec,
    /// What its events add up to.
    pub fold: OwnFold,
    /// When it was announced.
    pub created_at: Timestamp,
    /// The session of its terminal's process, by the registry.
    registered: Option<SessionId>,
}

/// An agent writes a record up to this long after its host had the same words.
const LAG: Millis = Millis::from_secs(5);

/// What work chains depend on: the sessions where the agent was changed.
#[derive(Debug, Default, PartialEq)]
pub struct SwitchedSessions {
    /// The changes, by the session where the work goes on.
    pub switches: BTreeMap<SessionId, Switch>,
    /// Those of the sessions that hosts run.
    pub live: BTreeSet<SessionId>,
}

/// The effects of news.
#[derive(Default)]
pub struct OwnChange {
    /// Sessions whose rows may differ.
    pub sessions: Vec<SessionId>,
    /// New requests.
    pub asked: Vec<Request>,
    /// Requests that are over.
    pub closed: Vec<RequestId>,
    /// Requests that were open when the session ended.
    pub expired: Vec<RequestId>,
}

impl OwnWitness {
    /// What the row says about it.
    pub fn row(&self) -> OwnRow {
        OwnRow {
            id: self.spec.session.as_str().into(),
            way: self.spec.kind.into(),
            agent: self.spec.agent.as_str().into(),
            held: self.fold.held.clone(),
            by_agent: self.spec.started_by_agent,
        }
    }

    /// The command of a shell. Nothing else names it.
    pub fn title(&self) -> Option<Arc<str>> {
        let is_shell = self.spec.agent == OwnAgent::Shell && !self.spec.command.is_empty();
        is_shell.then(|| one_line(&self.spec.command.join(" ")).into())
    }

    /// The session of its terminal's process, by the registry.
    pub fn registered(&self) -> Option<&SessionId> {
        self.registered.as_ref()
    }

    /// Whether its agent names its sessions itself.
    pub fn names_itself(&self) -> bool {
        self.spec.agent.agent().is_some_and(|agent| !traits(agent).takes_session_id)
    }

    /// A session of its agent, as the agent's files name it.
    fn session_of(&self, id: &str) -> SessionId {
        self.spec.agent.agent().map_or_else(|| SessionId::new(id), |agent| session_of(agent, id))
    }

    /// Answers to its requests go through its host.
    pub fn is_stream(&self) -> bool {
        OwnWay::from(self.spec.kind) == OwnWay::Stream
    }
}

impl OwnSessions {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    /// The own session that a row shows.
    pub fn of(&self, session: &SessionId) -> Option<&OwnWitness> {
        self.by_id.get(self.rows.get(session)?)
    }

    /// Whether the row of an own session stands for one that its agent writes under another id, and that was last `active` then.
    /// After its host has ended, the user may go on with it in a terminal. `None` if no own session has this name.
    pub fn stands_for(&self, session: &SessionId, active: Option<Timestamp>) -> Option<bool> {
        let fold = &self.by_id.get(self.named.get(session)?)?.fold;
        Some(fold.is_live() || active <= Some(fold.last_at() + LAG))
    }

    /// The own session whose agent is this process.
    pub fn of_process(&self, pid: u32) -> Option<&OwnWitness> {
        self.by_id.values().find(|own| own.fold.pid() == Some(pid))
    }

    /// The sessions where the agent was changed.
    pub fn switched(&self) -> SwitchedSessions {
        let switches: BTreeMap<_, _> = self
            .by_id
            .values()
            .filter_map(|own| {
                let OwnResume { session, fork } = own.spec.switched.as_ref()?;
                let switch = Switch { from: SessionId::new(session), at: own.created_at, fork: *fork };
                Some((SessionId::new(&own.spec.session), switch))
            })
            .collect();
        let ends = switches.iter().flat_map(|(to, switch)| [&switch.from, to]);
        let live = ends.filter(|id| self.of(id).is_some_and(|own| own.fold.is_live())).cloned().collect();
        SwitchedSessions { switches, live }
    }

    /// What a chain shows of a session that has no transcript. No folder: a marker ties transcripts alone.
    pub fn lineage_of(&self, session: &SessionId) -> Option<Lineage> {
        let own = self.of(session)?;
        let (start, last) = (own.created_at, own.fold.since.max(own.created_at));
        Some(Lineage {
            started_at: Some(start),
            spans: vec![(start, last)],
            segments: vec![Segment { started_at: Some(start), ended_at: Some(last), boundary: None }],
            ..Lineage::unknown(session.clone())
        })
    }

    /// How many run, and how many do not.
    pub fn counts(&self) -> (usize, usize) {
        let running = self.by_id.values().filter(|own| own.fold.is_live()).count();
        (running, self.by_id.len() - running)
    }

    /// The sessions of all rows.
    pub fn sessions(&self) -> impl Iterator<Item = &SessionId> {
        self.rows.keys()
    }

    /// The processes of agents that run. A shell is none.
    pub fn agents(&self) -> impl Iterator<Item = u32> {
        let agents = self.by_id.values().filter(|own| own.spec.agent != OwnAgent::Shell);
        agents.filter_map(|own| own.fold.pid())
    }

    /// Takes news in.
    pub fn take(&mut self, news: Vec<OwnInput>, now: Timestamp) -> OwnChange {
        let mut change = OwnChange::default();
        for input in news {
            self.take_one(input, &mut change, now);
        }
        change.sessions.extend(self.map_rows());
        change
    }

    fn take_one(&mut self, input: OwnInput, change: &mut OwnChange, now: Timestamp) {
        match input {
            OwnInput::Found(spec, host) => {
                let created_at = created_at(&spec, now);
                let mut fold = OwnFold::new(spec.kind.into(), created_at);
                fold.set_host(host);
                self.found(*spec, fold, now);
            }
            OwnInput::Summary(spec, mut fold) => {
                let id = spec.session.clone();
                fold.not_after(now);
                self.found(*spec, *fold, now);
                change.sessions.extend(self.row_of(&id));
            }
            OwnInput::Host(id, host) => {
                if let Some(own) = self.by_id.get_mut(&id) {
                    own.fold.set_host(host);
                }
                change.sessions.extend(self.row_of(&id));
            }
            OwnInput::Events(id, events) => self.events(&id, &events, change, now),
            OwnInput::Removed(id) => {
                change.sessions.extend(self.row_of(&id));
                self.by_id.remove(&id);
            }
        }
    }

    /// Takes in which session each process is on, by the registry. In a terminal, `/clear` shows there alone.
    pub fn follow(&mut self, session_of: &dyn Fn(u32, &OwnWitness) -> Option<SessionId>) -> Vec<SessionId> {
        let mut moved = false;
        for own in self.by_id.values_mut().filter(|own| !own.is_stream()) {
            let session = own.fold.pid().and_then(|pid| session_of(pid, own));
            if session.is_some() && own.registered != session {
                own.registered = session;
                moved = true;
            }
        }
        if moved { self.map_rows() } else { Vec::new() }
    }

    fn found(&mut self, spec: OwnSpec, fold: OwnFold, now: Timestamp) {
        let created_at = created_at(&spec, now);
        let id: Arc<str> = spec.session.as_str().into();
        let registered = self.by_id.get(&id).and_then(|own| own.registered.clone());
        self.by_id.insert(id, OwnWitness { spec, fold, created_at, registered });
    }

    fn events(&mut self, id: &Arc<str>, events: &[OwnEvent], change: &mut OwnChange, now: Timestamp) {
        let Some(own) = self.by_id.get_mut(id) else { return };
        let before: Vec<Arc<str>> = own.fold.ask_ids().cloned().collect();
        for event in events {
            let at = Timestamp::parse(&event.at).unwrap_or(now).min(now);
            own.fold.take(at, &event.what);
        }
        let Some(session) = self.row_of(id) else { return };
        let Some(own) = self.by_id.get(id) else { return };
        for event in events {
            if let OwnWhat::Request { request } = &event.what
                && own.fold.asks(&request.id)
            {
                let at = Timestamp::parse(&event.at).unwrap_or(now).min(now);
                change.asked.push(asked(&own.spec, &session, at, request));
            }
        }
        let over = before.into_iter().filter(|request| !own.fold.asks(request));
        for request in over {
            let by = events.iter().find_map(|event| match &event.what {
                OwnWhat::RequestClosed { request: closed, by } if **closed == *request => Some(by.as_str()),
                _ => None,
            });
            // While it is being ended, the agent withdraws what it asks.
            let is_expired = by == Some("ended") || by != Some("answered") && own.fold.is_ending();
            let over = if is_expired { &mut change.expired } else { &mut change.closed };
            over.push(request_id(id, &request));
        }
        change.sessions.push(session);
    }

    /// The session whose row shows an own session.
    pub fn row_of(&self, id: &str) -> Option<SessionId> {
        let own = self.by_id.get(id)?;
        if own.spec.agent.agent().is_some_and(|agent| traits(agent).takes_session_id) {
            let named = own.registered.clone().or_else(|| own.fold.session.clone());
            return Some(named.unwrap_or_else(|| first_session(&own.spec)));
        }
        // The other agents name their sessions themselves. An own session that resumes such a session is shown in the row of
        // that session.
        let resumed = own.spec.resume.as_ref().filter(|resume| !resume.fork);
        let earlier = resumed.and_then(|resume| {
            let is_it = |other: &&OwnWitness| {
                other.created_at < own.created_at
                    && (other.spec.session == resume.session
                        || other.fold.session.as_ref().is_some_and(|id| id.as_str() == resume.session))
            };
            self.by_id.values().filter(is_it).min_by_key(|other| other.created_at)
        });
        // Of a terminal, the rollout and its process say what it does, under the agent's own name.
        if earlier.is_none() && !own.is_stream() && own.names_itself() {
            let takes_id =
                own.spec.agent.agent().is_some_and(|agent| traits(agent).terminal_takes_session_id);
            let given = takes_id.then_some(&own.spec.session);
            let told = || Some(own.session_of(resumed.map(|resume| &resume.session).or(given)?));
            if let Some(named) = own.registered.clone().or_else(told) {
                return Some(named);
            }
        }
        Some(SessionId::new(earlier.map_or(&own.spec.session, |earlier| &earlier.spec.session)))
    }

    /// Maps the rows anew. Gives the sessions of all rows that are of another own session now.
    fn map_rows(&mut self) -> Vec<SessionId> {
        let mut order: Vec<(bool, Timestamp, &Arc<str>)> =
            self.by_id.iter().map(|(id, own)| (own.fold.is_live(), own.created_at, id)).collect();
        // Of several, the one that runs shows, then the newest.
        order.sort_unstable();
        let rows: FxHashMap<SessionId, Arc<str>> =
            order.into_iter().filter_map(|(.., id)| Some((self.row_of(id)?, Arc::clone(id)))).collect();
        let other = |id: &&SessionId| rows.get(*id) != self.rows.get(*id);
        let mut changed: Vec<_> = rows.keys().chain(self.rows.keys()).filter(other).cloned().collect();
        let own = self.by_id.iter().filter(|(_, own)| own.names_itself());
        let named = own.filter_map(|(id, own)| {
            Some((own.session_of(own.fold.session.as_ref()?.as_str()), Arc::clone(id)))
        });
        let named: FxHashMap<_, _> = named.filter(|(session, _)| !rows.contains_key(session)).collect();
        // A host that began or ended may make the difference.
        changed.extend(named.keys().chain(self.named.keys()).cloned());
        (self.rows, self.named) = (rows, named);
        changed
    }
}

fn created_at(spec: &OwnSpec, now: Timestamp) -> Timestamp {
    Timestamp::parse(&spec.created_at).unwrap_or(now).min(now)
}

/// The session that Claude begins with: it takes the id that it is given, or the one that it resumes.
fn first_session(spec: &OwnSpec) -> SessionId {
    let resumed = spec.resume.as_ref().filter(|resume| !resume.fork).map(|resume| &resume.session);
    SessionId::new(resumed.unwrap_or(&spec.session))
}
