//! Reads the timelines of work chains and keeps the last viewed ones.
//!
//! A subagent with a transcript of its own has a timeline of its own, which belongs to the call that started it. So
//! indexes of the session stay the same while the subagent's timeline grows, and hundreds of subagents are read only
//! on demand.

use watchbill_core::history::Exclude;
use watchbill_core::ids::SessionId;
use watchbill_core::transcript::timeline::Entry;
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_protocol::timeline::{AgentPlace, Subagent, Timeline, TimelineItem, TimelinePlace};
use watchbill_watch::fs::Fs;

use super::agents::AgentCalls;
use super::item_order::{TimelineSlot, index_of, item, places};
use super::part::Part;
use super::plan::{AgentFile, TimelinePlan};
use crate::index::supplement::drop_known;

/// Number of chains whose timelines are kept: the one that is shown, and the one before.
const KEPT: usize = 2;
/// Number of timelines of subagents that are kept beside them.
const KEPT_AGENTS: usize = 8;
/// Most items of one answer.
const MAX_ITEMS: u64 = 10_000;
/// Limit for subagents of subagents. The agent itself stops earlier.
const MAX_AGENT_DEPTH: usize = 8;

/// Reads timelines and keeps the last ones, so that reading a growing one again costs only its appended lines.
#[derive(Default)]
pub struct TimelineReader {
    chains: Vec<(String, Vec<Part>)>,
    agents: Vec<Part>,
    calls: AgentCalls,
    scratch: Vec<u8>,
}

/// Which items are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ItemRange {
    /// Index of the first item; `None` for the last items.
    pub from: Option<u64>,
    /// Number of items, at most.
    pub limit: u64,
    /// Items of each subagent, at most; `None` for no items of subagents.
    pub nested: Option<u64>,
}

impl ItemRange {
    /// `limit` items from `from` on, or the last ones, with only the ids of subagents.
    pub fn new(from: Option<u64>, limit: u64) -> Self {
        Self { from, limit, nested: None }
    }

    /// The same with the items of subagents.
    pub fn nested(self) -> Self {
        Self { nested: Some(self.limit), ..self }
    }

    /// Everything.
    pub fn whole() -> Self {
        Self { from: Some(0), limit: u64::MAX, nested: Some(u64::MAX) }
    }
}

impl TimelineReader {
    /// For timelines read only at their ends.
    pub(super) fn of_an_end() -> Self {
        Self { calls: AgentCalls::of_an_end(), ..Self::default() }
    }

    /// Whether the chain is kept, so that only its appended lines must be read.
    pub fn is_cached(&self, plan: &TimelinePlan) -> bool {
        self.chains.iter().any(|(chain, _)| *chain == plan.chain)
    }

    /// A stretch of the timeline of a chain.
    ///
    /// # Errors
    /// When a transcript of the chain is there and cannot be read.
    pub fn read(
        &mut self,
        fs: &dyn Fs,
        plan: &TimelinePlan,
        stretch: ItemRange,
    ) -> Result<Timeline, ApiError> {
        let parts = self.chain(fs, plan)?;
        let timeline = self.stretch(fs, plan, &parts, stretch);
        self.chains.push((plan.chain.clone(), parts));
        timeline
    }

    /// A stretch of the timeline of one subagent of the chain.
    ///
    /// # Errors
    /// When the chain has no such subagent, or its transcript cannot be read.
    pub fn read_agent(
        &mut self,
        fs: &dyn Fs,
        plan: &TimelinePlan,
        agent: &str,
        stretch: ItemRange,
    ) -> Result<Timeline, ApiError> {
        let Some(file) = plan.agents.iter().find(|file| &*file.agent == agent) else {
            return Err(ApiError::new(
                ErrorCode::NotFound,
                format!("session {} has no subagent {agent} with a transcript of its own", plan.session),
            ));
        };
        let parts = [self.agent(fs, plan, file)?];
        let timeline = self.stretch(fs, plan, &parts, stretch);
        self.agents.extend(parts);
        Ok(Timeline { agent_id: Some(agent.to_owned()), ..timeline? })
    }

    /// The index of the record that begins at `offset`, in the session's own transcript or in its subagent's.
    ///
    /// # Errors
    /// When a transcript of the chain exists and cannot be read.
    pub fn place(
        &mut self,
        fs: &dyn Fs,
        plan: &TimelinePlan,
        agent: Option<&str>,
        offset: u64,
    ) -> Result<TimelinePlace, ApiError> {
        let parts = self.chain(fs, plan)?;
        let place = self.place_in(fs, plan, &parts, agent, offset);
        self.chains.push((plan.chain.clone(), parts));
        place
    }

    fn place_in(
        &mut self,
        fs: &dyn Fs,
        plan: &TimelinePlan,
        parts: &[Part],
        agent: Option<&str>,
        offset: u64,
    ) -> Result<TimelinePlace, ApiError> {
        let all = places(parts);
        let asked = agent.and_then(|agent| plan.agents.iter().find(|file| &*file.agent == agent));
        let Some(mut file) = asked else {
            // Also for agents 1.0.x, which wrote the subagent's records into the session's transcript.
            let index = index_of(&all, parts, &plan.session, offset).unwrap_or(0);
            return Ok(TimelinePlace { index: index as u64, within: Vec::new() });
        };
        let own = [self.agent(fs, plan, file)?];
        let index = index_of(&places(&own), &own, &file.session, offset).unwrap_or(0);
        let began = own[0].entries().iter().find_map(|entry| entry.at);
        self.agents.extend(own);
        let mut within = vec![AgentPlace { agent_id: file.agent.to_string(), index: index as u64 }];
        while within.len() <= MAX_AGENT_DEPTH {
            if let Some(index) = self.call_in(fs, plan, &all, file) {
                within.reverse();
                return Ok(TimelinePlace { index: index as u64, within });
            }
            let Some((caller, index)) = self.caller_of(fs, plan, file)? else { break };
            within.push(AgentPlace { agent_id: caller.agent.to_string(), index: index as u64 });
            file = caller;
        }
        // No known call started it. The entry of the session at the time when it began is the next best place.
        let before = |place: &TimelineSlot<'_>| place.entry().and_then(|entry| entry.at) <= began;
        let index = all.iter().rposition(before).unwrap_or(0);
        Ok(TimelinePlace { index: index as u64, within: Vec::new() })
    }

    /// The subagent that has called this one, and the index of the call.
    fn caller_of<'p>(
        &mut self,
        fs: &dyn Fs,
        plan: &'p TimelinePlan,
        file: &AgentFile,
    ) -> Result<Option<(&'p AgentFile, usize)>, ApiError> {
        let others = plan.agents.iter().filter(|other| other.session == file.session && *other != file);
        for other in others {
            let parts = [self.agent(fs, plan, other)?];
            let found = self.call_in(fs, plan, &places(&parts), file);
            self.agents.extend(parts);
            if let Some(index) = found {
                return Ok(Some((other, index)));
            }
        }
        Ok(None)
    }

    fn call_in(
        &mut self,
        fs: &dyn Fs,
        plan: &TimelinePlan,
        all: &[TimelineSlot<'_>],
        file: &AgentFile,
    ) -> Option<usize> {
        let entries: Vec<&Entry> = all.iter().filter_map(|place| place.entry()).collect();
        let started = self.calls.resolve(fs, &plan.agents, &entries);
        all.iter().position(|place| place.entry().is_some_and(|entry| started.by(entry) == Some(file)))
    }

    /// The transcripts of the chain, read to their ends. This removes them from the kept ones.
    fn chain(&mut self, fs: &dyn Fs, plan: &TimelinePlan) -> Result<Vec<Part>, ApiError> {
        let mut known = match self.chains.iter().position(|(chain, _)| *chain == plan.chain) {
            Some(at) => self.chains.remove(at).1,
            None => Vec::new(),
        };
        let excess = (self.chains.len() + 1).saturating_sub(KEPT);
        self.chains.drain(..excess);
        let mut parts = Vec::with_capacity(plan.parts.len());
        for (session, path, reason) in &plan.parts {
            let mut part = take(&mut known, session, path, &plan.exclude);
            part.reason = *reason;
            part.read(fs, &mut self.scratch)?;
            for side in plan.agents.iter().filter(|file| file.session == *session && file.is_side_question())
            {
                part.read_side(fs, &side.path, false);
            }
            for (_, path) in plan.beside.iter().filter(|(of, _)| of == session) {
                drop_known(fs, path, &part.path);
                part.read_side(fs, path, true);
            }
            parts.push(part);
        }
        Ok(parts)
    }

    /// A subagent's transcript, read to its end. This removes it from the kept ones.
    fn agent(&mut self, fs: &dyn Fs, plan: &TimelinePlan, file: &AgentFile) -> Result<Part, ApiError> {
        let mut part = take(&mut self.agents, &file.session, &file.path, &plan.exclude);
        let excess = (self.agents.len() + 1).saturating_sub(KEPT_AGENTS);
        self.agents.drain(..excess);
        part.read(fs, &mut self.scratch)?;
        Ok(part)
    }

    pub(super) fn stretch(
        &mut self,
        fs: &dyn Fs,
        plan: &TimelinePlan,
        parts: &[Part],
        wanted: ItemRange,
    ) -> Result<Timeline, ApiError> {
        let (from, total, items) = self.items(fs, plan, parts, wanted, MAX_AGENT_DEPTH)?;
        Ok(Timeline {
            session_id: plan.session.to_string(),
            work_chain_id: plan.chain.clone(),
            work_chain_name: plan.name.clone(),
            agent_id: None,
            from,
            total,
            items,
        })
    }

    /// The wanted items, the index of the first one, and the number of all.
    fn items(
        &mut self,
        fs: &dyn Fs,
        plan: &TimelinePlan,
        parts: &[Part],
        wanted: ItemRange,
        depth: usize,
    ) -> Result<(u64, u64, Vec<TimelineItem>), ApiError> {
        let all = places(parts);
        let total = all.len() as u64;
        let limit = if wanted.limit == u64::MAX { total } else { wanted.limit.min(MAX_ITEMS) };
        let from = wanted.from.unwrap_or(total.saturating_sub(limit)).min(total);
        let started = if plan.agents.is_empty() {
            None
        } else {
            let entries: Vec<&Entry> = all.iter().filter_map(|place| place.entry()).collect();
            Some(self.calls.resolve(fs, &plan.agents, &entries))
        };
        let mut items = Vec::new();
        for (place, index) in all.iter().zip(0..).skip(to_index(from)).take(to_index(limit)) {
            let file = place.entry().and_then(|entry| started.as_ref()?.by(entry));
            let subagent = match file {
                Some(file) => Some(self.subagent(fs, plan, file, wanted.nested, depth)?),
                None => None,
            };
            items.push(item(*place, index, subagent));
        }
        Ok((from, total, items))
    }

    fn subagent(
        &mut self,
        fs: &dyn Fs,
        plan: &TimelinePlan,
        file: &AgentFile,
        nested: Option<u64>,
        depth: usize,
    ) -> Result<Subagent, ApiError> {
        let agent_id = file.agent.to_string();
        let (Some(limit), 1..) = (nested, depth) else {
            return Ok(Subagent { agent_id, total: None, items: Vec::new() });
        };
        let part = [self.agent(fs, plan, file)?];
        let stretch = ItemRange { from: Some(0), limit, nested };
        let (_, total, items) = self.items(fs, plan, &part, stretch, depth - 1)?;
        Ok(Subagent { agent_id, total: Some(total), items })
    }
}

/// Removes the transcript at `path` from the known ones, or begins it.
fn take(known: &mut Vec<Part>, session: &SessionId, path: &std::path::Path, exclude: &Exclude) -> Part {
    match known.iter().position(|part| part.is_of(path, exclude)) {
        Some(at) => known.remove(at),
        None => Part::new(session, path.to_path_buf(), exclude),
    }
}

fn to_index(n: u64) -> usize {
    usize::try_from(n).unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests;
