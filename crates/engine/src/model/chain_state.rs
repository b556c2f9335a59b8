//! The chains as they were resolved last, and what has become known of sessions since.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use rustc_hash::FxHashSet;
use watchbill_core::chain::chains::{Chain, Chains};
use watchbill_core::chain::lineage::{Activity, BeganBy, Lineage, Marker};
use watchbill_core::chain::link::{Link, LinkConfidence, LinkReason};
use watchbill_core::chain::resolve::Facts;
use watchbill_core::chain::ties::Ties;
use watchbill_core::ids::SessionId;
use watchbill_core::session::resting::RestingFold;

use crate::model::sessions::Sessions;

/// So many sessions are tied without asking how many there are: it takes no longer than to read some of them.
const FEW: usize = 256;
/// Of more than that, a part of this size takes as long as the whole.
const PART: usize = 4;

/// See the module.
#[derive(Default)]
pub(crate) struct ChainState {
    chains: Chains,
    /// For each session with copied history, the one it was copied from.
    origins: HashMap<SessionId, SessionId>,
    /// All sessions are to be tied anew.
    all_due: bool,
    /// Sessions of which something has become known.
    due: BTreeSet<SessionId>,
    /// How many sessions there were when all were tied.
    tied: usize,
    /// Nothing before it is asked for: a start that finds everything unchanged ties all sessions once.
    ties: Option<Ties>,
    /// With the ties: the folders in which anybody has worked.
    cwds: FxHashSet<Arc<str>>,
    /// Those that counted when all sessions were tied.
    markers: Vec<Marker>,
    /// Sessions whose transcript was removed or emptied: another one of that name may tell that what is stored is not so any more.
    gone: BTreeSet<SessionId>,
}

/// What is different with the chains of a part.
pub(crate) struct LinkChange {
    pub new: Vec<Link>,
    pub old: Vec<Link>,
}

impl ChainState {
    /// The chains.
    pub fn chains(&self) -> &Chains {
        &self.chains
    }

    /// The session that another one was copied from.
    pub fn origin_of(&self, id: &SessionId) -> Option<&SessionId> {
        self.origins.get(id)
    }

    /// The sessions that were copied from another one.
    pub fn copies_of(&self, id: &SessionId) -> Vec<SessionId> {
        self.origins.iter().filter(|(_, origin)| *origin == id).map(|(copy, _)| copy.clone()).collect()
    }

    /// All sessions are to be tied anew.
    pub fn mark_all(&mut self) {
        self.all_due = true;
    }

    /// Whether all are.
    pub fn all_due(&self) -> bool {
        self.all_due
    }

    /// They need not be for now. Says whether they were to be.
    pub fn take_all_due(&mut self) -> bool {
        std::mem::take(&mut self.all_due)
    }

    /// Something has become known of a session.
    pub fn mark(&mut self, id: SessionId) {
        self.due.insert(id);
    }

    /// Whether something has become known of any.
    pub fn any_due(&self) -> bool {
        !self.due.is_empty()
    }

    /// The transcript of a session was removed or emptied.
    pub fn mark_gone(&mut self, id: SessionId) {
        self.gone.insert(id);
    }

    /// There is one again. Says whether it was removed or emptied before.
    pub fn is_back(&mut self, id: &SessionId) -> bool {
        self.gone.remove(id)
    }

    /// Other processes than before run these sessions, or elsewhere. Where there are markers, the terminal that a session has
    /// left may tie others.
    pub fn processes_differ(&mut self, sessions: &[SessionId]) {
        match self.markers.is_empty() {
            true => self.due.extend(sessions.iter().cloned()),
            false => self.all_due = true,
        }
    }

    /// While the first scan goes on, to tie all sessions is not worth while before there are half as many again.
    pub fn are_few_new(&self, sessions: &Sessions) -> bool {
        sessions.len() < self.tied + self.tied / 2
    }

    /// All sessions are tied now.
    pub fn begin_all(&mut self, sessions: &Sessions) {
        self.all_due = false;
        self.tied = sessions.len();
        self.note_ties(sessions);
    }

    /// All chains are these. `markers`: those that counted, if any chains were asked for.
    pub fn set_all(
        &mut self,
        chains: Chains,
        origins: HashMap<SessionId, SessionId>,
        markers: Option<Vec<Marker>>,
    ) {
        (self.chains, self.origins) = (chains, origins);
        if let Some(markers) = markers {
            self.markers = markers;
        }
    }

    /// The markers that counted when all sessions were tied.
    pub fn markers(&self) -> &[Marker] {
        &self.markers
    }

    /// The folders in which anybody has worked, once ties are noted.
    pub fn cwds(&self) -> impl Iterator<Item = &Arc<str>> {
        self.cwds.iter()
    }

    /// How many sessions a part may have. `None` when more are due, so that all are to be tied.
    pub fn part_limit(&self, sessions: &Sessions) -> Option<usize> {
        let most = FEW.max(sessions.len() / PART);
        (self.due.len() <= most).then_some(most)
    }

    /// The sessions that what is due may bear on, which is due no longer; `None` when these are more than `most`.
    pub fn take_part(&mut self, facts: &Facts<'_>, most: usize) -> Option<Vec<SessionId>> {
        let due = std::mem::take(&mut self.due);
        let mut ties = self.ties.take().unwrap_or_default();
        ties.add_facts(facts);
        // What tied a session before may be what is not so any more.
        let before = due.iter().filter_map(|id| self.chains.of(id));
        let ends = before.clone().flat_map(|chain| &chain.links).flat_map(|link| [&link.from, &link.to]);
        let seeds = due.iter().chain(before.flat_map(|chain| &chain.sessions)).chain(ends);
        let group = ties.groups_of(seeds, most);
        self.ties = Some(ties);
        group
    }

    /// Whether a session has another chain, or another origin, by these chains.
    pub fn is_other(&self, chains: &Chains, origins: &HashMap<SessionId, SessionId>, id: &SessionId) -> bool {
        differs(&self.chains, chains, id) || self.origins.get(id) != origins.get(id)
    }

    /// Puts these chains in place of those that the group had.
    pub fn set_part(
        &mut self,
        group: &[SessionId],
        part: Chains,
        origins: HashMap<SessionId, SessionId>,
        sessions: &Sessions,
    ) -> LinkChange {
        let before: BTreeSet<&Link> =
            group.iter().filter_map(|id| self.chains.of(id)).flat_map(|chain| &chain.links).collect();
        let now: BTreeSet<&Link> =
            part.iter().flat_map(|chain| &chain.links).filter(|link| link.from != link.to).collect();
        let new = now.difference(&before).copied().cloned().collect();
        let old = before.difference(&now).filter(|link| unties(sessions, &part, link));
        let old = old.copied().cloned().collect();
        for id in group {
            self.origins.remove(id);
        }
        self.origins.extend(origins);
        self.chains.renew(group, part);
        LinkChange { new, old }
    }

    /// Whether the chains may be others since more is known of when the session was active, which was `before`: whether a
    /// superseded one comes back, whether a guess still holds, in which one the work goes on, what it is called; and what comes
    /// late may show that another one, which began after it, comes from it. `lives`: a process runs the session.
    pub fn depends_on_activity(
        &mut self,
        sessions: &Sessions,
        id: &SessionId,
        before: Option<Activity>,
        lives: &dyn Fn() -> bool,
    ) -> bool {
        let Some(chain) = self.chains.of(id).filter(|_| !self.all_due) else { return false };
        let is_guessed = |link: &Link| {
            link.confidence == LinkConfidence::Suggested && (link.from == *id || link.to == *id)
        };
        if chain.head != *id || chain.links.iter().any(is_guessed) {
            return true;
        }
        let Some((before, now)) = before.zip(sessions.fold(id).map(|fold| fold.lineage().activity())) else {
            return false;
        };
        if before == now {
            return false;
        }
        if may_name(sessions, id, chain) {
            return true;
        }
        let ended = |last| self.markers.iter().any(|marker| marker.may_end(last));
        if now.last.is_some_and(ended) && !lives() {
            return true;
        }
        if self.ties.is_none() {
            self.note_all_ties(sessions);
        }
        let are_merged = before.oldest.is_some_and(|oldest| now.oldest != Some(oldest));
        let last = before.last.filter(|_| !are_merged);
        self.ties.as_mut().is_some_and(|ties| ties.may_precede(id, last))
    }

    /// Whether the sessions are known to be tied otherwise than by a link that the store has.
    pub fn has_untied(&self, sessions: &Sessions, link: &Link) -> bool {
        unties(sessions, &self.chains, link)
    }

    /// What is due is noted among the ties, if there are any, and is known with the next chains.
    pub fn note_ties(&mut self, sessions: &Sessions) {
        let due = std::mem::take(&mut self.due);
        let Some(ties) = &mut self.ties else { return };
        // A session that is gone stays in a group until then.
        if ties.len() > 4 * sessions.len() + FEW {
            self.ties = None;
            return;
        }
        for lineage in due.iter().filter_map(|id| Some(sessions.fold(id)?.lineage())) {
            ties.add(lineage);
            self.cwds.extend(lineage.cwds.iter().cloned());
        }
    }

    /// The same where there are to be ties; what is due stays so.
    pub fn note_all_ties(&mut self, sessions: &Sessions) {
        let due = self.due.clone();
        if self.ties.is_some() {
            self.note_ties(sessions);
        }
        if self.ties.is_none() {
            let mut ties = Ties::default();
            let lineages: Vec<&Lineage> = sessions.folds().into_iter().map(RestingFold::lineage).collect();
            lineages.iter().for_each(|lineage| ties.add(lineage));
            self.cwds = lineages.iter().flat_map(|lineage| &lineage.cwds).cloned().collect();
            self.ties = Some(ties);
        }
        self.due = due;
    }
}

/// Whether the chain is called by the title of another session than this one, which has one as well: it is called by
/// that of the one active last, and that need not be where the work goes on.
fn may_name(sessions: &Sessions, id: &SessionId, chain: &Chain) -> bool {
    let title = |id: &SessionId| sessions.fold(id)?.lineage().custom_title.as_ref();
    let is_called = |other: &SessionId| title(other).is_some_and(|title| chain.name.as_ref() == Some(title));
    title(id).is_some() && !is_called(id) && chain.sessions.iter().any(is_called)
}

/// Whether these chains tell that such a link is not so: both its ends have their transcripts, which tell of it no more, or
/// the later one is proven to come from a third, or has another transcript than the one that told of it.
fn unties(sessions: &Sessions, chains: &Chains, untold: &Link) -> bool {
    let Link { from: earlier, to: later, reason, .. } = untold;
    let tells = |id: &SessionId| sessions.fold(id).and_then(|_| chains.of(id));
    let (before, Some(chain)) = (tells(earlier), tells(later)) else { return false };
    let is_it = |link: &Link| link.from == *earlier && link.to == *later && link.reason == *reason;
    if before.iter().chain(&[chain]).any(|chain| chain.links.iter().any(is_it)) {
        return false;
    }
    if has_begun_anew(sessions, untold) {
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
fn has_begun_anew(sessions: &Sessions, link: &Link) -> bool {
    let lineage = sessions.fold(&link.to).map(|fold| fold.lineage());
    let lineage = lineage.filter(|lineage| lineage.began_by != Some(BeganBy::Clear));
    let start = lineage.and_then(Lineage::start);
    link.reason == LinkReason::Clear && link.at.zip(start).is_some_and(|(then, start)| start > then)
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
pub(crate) fn origins_in(chains: &Chains) -> HashMap<SessionId, SessionId> {
    chains.iter().flat_map(|chain| &chain.links).filter_map(copied_from).collect()
}

/// Which session copied from which, where a link says that history was copied.
fn copied_from(link: &Link) -> Option<(SessionId, SessionId)> {
    let copied = matches!(link.reason, LinkReason::ForkedFrom | LinkReason::SharedRecords);
    (copied && link.from != link.to).then(|| (link.to.clone(), link.from.clone()))
}
