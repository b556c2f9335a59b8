//! From what became known of sessions to their chains: of all sessions at once, or of those alone that it may bear on.
//!
//! To tie all of thousands takes longer than whoever is at work should wait, and mostly one of them says something new. What
//! comes of a part is what would come of the whole, since what is known of one group says nothing of another (see [`Ties`]).

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use rustc_hash::FxHashSet;
use watchbill_core::chain::chains::{Chain, Chains};
use watchbill_core::chain::lineage::{Activity, BeganBy, HookMove, Lineage, Marker};
use watchbill_core::chain::link::{Link, LinkConfidence, LinkReason};
use watchbill_core::chain::resolve::{Facts, ManualLink, resolve_for};
use watchbill_core::chain::ties::Ties;
use watchbill_core::evidence::registry::Liveness;
use watchbill_core::evidence::witness::InstanceWitness;
use watchbill_core::ids::SessionId;
use watchbill_core::person::Words;
use watchbill_core::session::resting::RestingFold;

use super::Engine;
use crate::transcripts::TrackedFile;

/// So many sessions are tied without asking how many there are: it takes no longer than to read some of them.
const FEW: usize = 256;
/// Of more than that, a part of this size takes as long as the whole.
const PART: usize = 4;

/// What the chains do not know yet, and what it takes to tell them without looking at all sessions.
#[derive(Default)]
pub(super) struct Tying {
    /// Sessions of which something has become known.
    pub due: BTreeSet<SessionId>,
    /// How many sessions there were when all were tied.
    tied: usize,
    /// Nothing before it is asked for: a start that finds everything unchanged ties all sessions once.
    ties: Option<Ties>,
    /// With the ties: the folders in which anybody has worked.
    cwds: FxHashSet<Arc<str>>,
    /// Those that counted when all sessions were tied.
    markers: Vec<Marker>,
    /// Sessions whose transcript was removed or emptied: another one of that name may tell that what is stored is not so any more.
    pub gone: BTreeSet<SessionId>,
}

/// What chains depend on beside the transcripts.
pub(super) struct Beside<'e> {
    markers: Vec<Marker>,
    hook_moves: Vec<HookMove>,
    terminals: BTreeMap<SessionId, Arc<str>>,
    manual: Vec<ManualLink>,
    words: &'e Words,
    engine: &'e Engine,
}

impl Beside<'_> {
    /// With these transcripts, and processes on these sessions.
    pub(super) fn facts<'a>(
        &'a self,
        lineages: &'a [&'a Lineage],
        live: &'a BTreeSet<SessionId>,
    ) -> Facts<'a> {
        Facts {
            moves: self.engine.registry.moves(),
            hook_moves: &self.hook_moves,
            markers: &self.markers,
            terminals: &self.terminals,
            live,
            manual: &self.manual,
            names: self.words.names(),
            ..Facts::of(lineages)
        }
    }
}

impl Engine {
    /// Ties what has to be tied: all sessions, or those that something has become known of with those that it may bear on.
    pub(super) fn tie(&mut self, may_wait: bool) {
        if !self.chains_dirty && !self.tying.due.is_empty() && !self.tie_due() {
            if may_wait && self.are_few_new() {
                self.note_ties();
                self.startup.put_off_chains();
            } else {
                self.chains_dirty = true;
            }
        }
        if self.chains_dirty || self.wakes_unchained() {
            self.tie_all();
        }
    }

    /// While the first scan goes on, to tie all sessions is not worth while before there are half as many again.
    pub(super) fn are_few_new(&self) -> bool {
        self.sessions.len() < self.tying.tied + self.tying.tied / 2
    }

    /// Ties all sessions.
    pub(super) fn tie_all(&mut self) {
        self.chains_dirty = false;
        self.startup.take_chains_pending();
        self.tying.tied = self.sessions.len();
        self.work.chains += 1;
        self.note_ties();
        let chains = match self.all_rest_for_good() {
            // There is no row to be made, so that nobody asks.
            true => Chains::default(),
            false => {
                let (chains, markers) = self.resolved(&self.words, &|id| self.may_have_row(id));
                self.tying.markers = markers;
                chains
            }
        };
        let origins = origins_in(&chains);
        let live = self.registry.all().map(|witness| &witness.entry.session);
        let concerned = self.sessions.keys().chain(live);
        let is_other = |id: &&SessionId| {
            self.follows_its_chain(&chains, id)
                && (differs(&self.chains, &chains, id) || self.origins.get(*id) != origins.get(*id))
        };
        let others: Vec<SessionId> = concerned.filter(is_other).cloned().collect();
        others.iter().for_each(|id| self.chain_differs(id));
        self.chains = chains;
        self.origins = origins;
        self.keeping.links();
        self.carry_snoozes();
    }

    /// Ties those alone that something has become known of, and whoever that may bear on. `false` where these are too many,
    /// or something bears on all.
    fn tie_due(&mut self) -> bool {
        let most = FEW.max(self.sessions.len() / PART);
        if self.resting.for_good || self.tying.due.len() > most {
            return false;
        }
        self.note_all_ties();
        let due = std::mem::take(&mut self.tying.due);
        let mut ties = self.tying.ties.take().unwrap_or_default();
        let beside = self.beside(&self.words, &mut self.tying.cwds.iter());
        let nobody = BTreeSet::new();
        ties.add_facts(&beside.facts(&[], &nobody));
        // What tied a session before may be what is not so any more.
        let before = due.iter().filter_map(|id| self.chains.of(id));
        let ends = before.clone().flat_map(|chain| &chain.links).flat_map(|link| [&link.from, &link.to]);
        let seeds = due.iter().chain(before.flat_map(|chain| &chain.sessions)).chain(ends);
        let group = ties.groups_of(seeds, most).filter(|_| beside.markers == self.tying.markers);
        let part = group.map(|group| {
            let lineages: Vec<&Lineage> =
                group.iter().filter_map(|id| Some(self.fold(id)?.lineage())).collect();
            let live = group.iter().filter(|id| self.lives(id)).cloned().collect();
            let part = resolve_for(&beside.facts(&lineages, &live), &|_| true);
            (group, part)
        });
        self.tying.ties = Some(ties);
        let Some((group, part)) = part else { return false };
        self.work.chains += 1;
        self.take_part(&group, part);
        true
    }

    /// Whether the chains may be others since more is known of when the session was active, which was `before`: whether a
    /// superseded one comes back, whether a guess still holds, in which one the work goes on, what it is called; and what comes
    /// late may show that another one, which began after it, comes from it.
    pub(super) fn depends_on_activity(&mut self, id: &SessionId, before: Option<Activity>) -> bool {
        let Some(chain) = self.chains.of(id).filter(|_| !self.chains_dirty) else { return false };
        let is_guessed = |link: &Link| {
            link.confidence == LinkConfidence::Suggested && (link.from == *id || link.to == *id)
        };
        if chain.head != *id || chain.links.iter().any(is_guessed) {
            return true;
        }
        let Some((before, now)) = before.zip(self.fold(id).map(|fold| fold.lineage().activity())) else {
            return false;
        };
        if before == now {
            return false;
        }
        if self.may_name(id, chain) {
            return true;
        }
        let ended = |last| self.tying.markers.iter().any(|marker| marker.may_end(last));
        if now.last.is_some_and(ended) && !self.lives(id) {
            return true;
        }
        if self.tying.ties.is_none() {
            self.note_all_ties();
        }
        let are_merged = before.oldest.is_some_and(|oldest| now.oldest != Some(oldest));
        let last = before.last.filter(|_| !are_merged);
        self.tying.ties.as_mut().is_some_and(|ties| ties.may_precede(id, last))
    }

    /// Whether the chain is called by the title of another session than this one, which has one as well: it is called by
    /// that of the one active last, and that need not be where the work goes on.
    fn may_name(&self, id: &SessionId, chain: &Chain) -> bool {
        let title = |id: &SessionId| self.fold(id)?.lineage().custom_title.as_ref();
        let is_called =
            |other: &SessionId| title(other).is_some_and(|title| chain.name.as_ref() == Some(title));
        title(id).is_some() && !is_called(id) && chain.sessions.iter().any(is_called)
    }

    /// Other processes than before run these sessions, or elsewhere. Where there are markers, the terminal that a session has
    /// left may tie others.
    pub(super) fn processes_differ(&mut self, sessions: &[SessionId]) {
        match self.tying.markers.is_empty() {
            true => self.tying.due.extend(sessions.iter().cloned()),
            false => self.chains_dirty = true,
        }
    }

    /// Puts these chains in place of those that the group had.
    fn take_part(&mut self, group: &[SessionId], part: Chains) {
        let origins = origins_in(&part);
        let is_other = |id: &&SessionId| {
            self.follows_its_chain(&part, id)
                && (differs(&self.chains, &part, id) || self.origins.get(*id) != origins.get(*id))
        };
        let others: Vec<SessionId> = group.iter().filter(is_other).cloned().collect();
        let before: BTreeSet<&Link> =
            group.iter().filter_map(|id| self.chains.of(id)).flat_map(|chain| &chain.links).collect();
        let now: BTreeSet<&Link> =
            part.iter().flat_map(|chain| &chain.links).filter(|link| link.from != link.to).collect();
        let new = now.difference(&before).copied().cloned().collect();
        let old = before.difference(&now).filter(|link| self.unties(&part, link));
        let old = old.copied().cloned().collect();
        self.keeping.other_links(new, old);
        self.dirty.extend(others);
        for id in group {
            self.origins.remove(id);
        }
        self.origins.extend(origins);
        self.chains.renew(group, part);
        self.carry_snoozes();
    }

    /// Whether these chains tell that such a link is not so: both its ends have their transcripts, which tell of it no more, or
    /// the later one is proven to come from a third, or has another transcript than the one that told of it.
    fn unties(&self, chains: &Chains, untold: &Link) -> bool {
        let Link { from: earlier, to: later, reason, .. } = untold;
        let tells = |id: &SessionId| self.fold(id).and_then(|_| chains.of(id));
        let (before, Some(chain)) = (tells(earlier), tells(later)) else { return false };
        let is_it = |link: &Link| link.from == *earlier && link.to == *later && link.reason == *reason;
        if before.iter().chain(&[chain]).any(|chain| chain.links.iter().any(is_it)) {
            return false;
        }
        if self.has_begun_anew(untold) {
            return true;
        }
        let is_of_another = |link: &Link| {
            link.to == *later
                && ![earlier, later].contains(&&link.from)
                && link.confidence == LinkConfidence::Proven
        };
        before.is_some()
            && (LinkReason::TOLD_BY_TRANSCRIPTS.contains(reason) || chain.links.iter().any(is_of_another))
    }

    /// Whether the transcript of a session that began by `/clear` has been begun anew since, and tells of no `/clear`.
    fn has_begun_anew(&self, link: &Link) -> bool {
        let lineage = self.fold(&link.to).map(|fold| fold.lineage());
        let lineage = lineage.filter(|lineage| lineage.began_by != Some(BeganBy::Clear));
        let start = lineage.and_then(Lineage::start);
        link.reason == LinkReason::Clear && link.at.zip(start).is_some_and(|(then, start)| start > then)
    }

    /// Whether the sessions are known to be tied otherwise than by a link that the store has.
    pub fn has_untied(&self, link: &Link) -> bool {
        self.unties(&self.chains, link)
    }

    /// Whether the session's row is made anew with its chain. What is kept of a session at rest is not right any more where
    /// another one has joined its chain; that of which no row is kept yet gets one when it wakes.
    fn follows_its_chain(&self, chains: &Chains, id: &SessionId) -> bool {
        let rests = |id: &SessionId| self.resting.sessions.contains(id);
        let is_new = |id: &SessionId| self.keeping.lacks_row(id);
        if !rests(id) {
            return true;
        }
        let sessions = || chains.of(id).map(|chain| &chain.sessions[..]).unwrap_or_default();
        let is_known = self.keeping.on && self.sessions.contains_key(id) && !is_new(id);
        is_known && sessions().len() > 1 && sessions().iter().any(|id| !rests(id) || is_new(id))
    }

    /// What is due is noted among the ties, if there are any, and is known with the next chains.
    fn note_ties(&mut self) {
        let due = std::mem::take(&mut self.tying.due);
        let Some(mut ties) = self.tying.ties.take() else { return };
        // Whoever is gone stays in a group until then.
        if ties.len() > 4 * self.sessions.len() + FEW {
            return;
        }
        let mut cwds = std::mem::take(&mut self.tying.cwds);
        for lineage in due.iter().filter_map(|id| Some(self.fold(id)?.lineage())) {
            ties.add(lineage);
            cwds.extend(lineage.cwds.iter().cloned());
        }
        self.tying.cwds = cwds;
        self.tying.ties = Some(ties);
    }

    /// The same where there are to be ties.
    fn note_all_ties(&mut self) {
        let due = self.tying.due.clone();
        if self.tying.ties.is_some() {
            self.note_ties();
        }
        if self.tying.ties.is_none() {
            let mut ties = Ties::default();
            let lineages: Vec<&Lineage> = self.folds().into_iter().map(RestingFold::lineage).collect();
            lineages.iter().for_each(|lineage| ties.add(lineage));
            let cwds = lineages.iter().flat_map(|lineage| &lineage.cwds).cloned().collect();
            (self.tying.ties, self.tying.cwds) = (Some(ties), cwds);
        }
        self.tying.due = due;
    }

    /// The chains of these sessions, if the person had said this, with the markers that counted.
    pub(super) fn resolved(
        &self,
        words: &Words,
        wanted: &dyn Fn(&SessionId) -> bool,
    ) -> (Chains, Vec<Marker>) {
        let lineages: Vec<&Lineage> = self.folds().into_iter().map(RestingFold::lineage).collect();
        let beside = self.beside(words, &mut lineages.iter().flat_map(|lineage| &lineage.cwds));
        let live = self.live_sessions();
        let chains = resolve_for(&beside.facts(&lineages, &live), wanted);
        (chains, beside.markers)
    }

    pub(super) fn beside<'e>(
        &'e self,
        words: &'e Words,
        cwds: &mut dyn Iterator<Item = &Arc<str>>,
    ) -> Beside<'e> {
        let until = self.outlook.until;
        let mut markers = self.markers.all(cwds);
        markers.retain(|marker| until.is_none_or(|until| marker.compacted_at <= until));
        let mut hook_moves = self.hooks.moves();
        hook_moves.retain(|moved| until.is_none_or(|until| moved.at <= until));
        let manual = words.links().iter().cloned().collect();
        Beside { markers, hook_moves, terminals: self.terminals(), manual, words, engine: self }
    }

    /// The folds of all sessions, in no order. Where each has one transcript they are taken as they lie there: to look
    /// each of thousands up takes longer than what is done with it.
    pub(super) fn folds(&self) -> Vec<&RestingFold> {
        if self.sessions.values().any(|session| session.mains.len() > 1) {
            self.sessions.keys().filter_map(|id| self.fold(id)).collect()
        } else {
            self.files.values().filter_map(TrackedFile::main).collect()
        }
    }

    /// The sessions that a process runs, as far as anyone knows.
    pub(super) fn live_sessions(&self) -> BTreeSet<SessionId> {
        let named = self.registry.all().map(|witness| &witness.entry.session);
        let heard = self.hooks.sessions().map(|(id, _)| id);
        named.chain(heard).filter(|id| self.lives(id)).cloned().collect()
    }

    /// Whether a process runs the session, as far as anyone knows.
    fn lives(&self, id: &SessionId) -> bool {
        let alive = |witness: &InstanceWitness| witness.liveness == Liveness::Alive;
        let stays = |w: &InstanceWitness| !self.hooks.has_left(&w.entry.instance, &w.entry.session);
        let is_named = self.registry.all().any(|w| w.entry.session == *id && alive(w) && stays(w));
        is_named || self.hooks.of(id).is_some() && self.makings(id).instances().iter().any(alive)
    }
}

fn differs(before: &Chains, after: &Chains, id: &SessionId) -> bool {
    match (before.of(id), after.of(id)) {
        (Some(a), Some(b)) => {
            a.id != b.id
                || a.name != b.name
                || a.compaction_count != b.compaction_count
                || a.segment_count != b.segment_count
                || a.superseded.get(id) != b.superseded.get(id)
                || a.links != b.links
        }
        (None, None) => false,
        _ => true,
    }
}

/// For each session with copied history, the one it was copied from.
fn origins_in(chains: &Chains) -> HashMap<SessionId, SessionId> {
    chains.iter().flat_map(|chain| &chain.links).filter_map(copied_from).collect()
}

/// Who copied from whom, where a link says that history was copied.
fn copied_from(link: &Link) -> Option<(SessionId, SessionId)> {
    let copied = matches!(link.reason, LinkReason::ForkedFrom | LinkReason::SharedRecords);
    (copied && link.from != link.to).then(|| (link.to.clone(), link.from.clone()))
}
