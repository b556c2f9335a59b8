//! The chains of the last resolution, and the changes since then.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use rustc_hash::FxHashSet;
use watchbill_core::chain::chains::{Chain, Chains};
use watchbill_core::chain::lineage::{ActiveTime, BeganBy, Lineage, Marker};
use watchbill_core::chain::link::{Link, LinkConfidence, LinkReason};
use watchbill_core::chain::resolve::LineageFacts;
use watchbill_core::chain::ties::SessionGroups;
use watchbill_core::ids::SessionId;
use watchbill_core::session::lazy::LazyFold;

use crate::model::sessions::Sessions;

/// For up to this many sessions, tie without counting all sessions: that takes no longer than to read some of them.
const FEW: usize = 256;
/// If more than one in so many sessions is due, a part takes as long as the whole.
const PART_WORTH: usize = 4;

/// See the module.
#[derive(Default)]
pub(crate) struct ChainState {
    chains: Chains,
    /// For each session with copied history, the session that it was copied from.
    origins: HashMap<SessionId, SessionId>,
    /// All sessions must be tied anew.
    all_due: bool,
    /// Sessions with new facts.
    due: BTreeSet<SessionId>,
    /// Number of sessions when all were last tied.
    tied: usize,
    /// `None` until a caller asks for a part: a start that finds everything unchanged ties all sessions once.
    ties: Option<SessionGroups>,
    /// The working folders of all sessions. Filled together with `ties`.
    cwds: FxHashSet<Arc<str>>,
    /// The markers that counted when all sessions were last tied.
    markers: Vec<Marker>,
    /// Sessions whose transcript was removed or emptied. A new transcript of that name may void stored links.
    gone: BTreeSet<SessionId>,
}

/// The links that a part's new chains add and remove.
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

    /// The sessions that were copied from this one.
    pub fn copies_of(&self, id: &SessionId) -> Vec<SessionId> {
        self.origins.iter().filter(|(_, origin)| *origin == id).map(|(copy, _)| copy.clone()).collect()
    }

    /// All sessions must be tied anew.
    pub fn mark_all(&mut self) {
        self.all_due = true;
    }

    /// Whether all sessions must be tied anew.
    pub fn all_due(&self) -> bool {
        self.all_due
    }

    /// Clears the mark on all sessions. Says whether it was set.
    pub fn take_all_due(&mut self) -> bool {
        std::mem::take(&mut self.all_due)
    }

    /// A session has new facts.
    pub fn mark(&mut self, id: SessionId) {
        self.due.insert(id);
    }

    /// Whether any session has new facts.
    pub fn any_due(&self) -> bool {
        !self.due.is_empty()
    }

    /// The transcript of a session was removed or emptied.
    pub fn mark_gone(&mut self, id: SessionId) {
        self.gone.insert(id);
    }

    /// The session has a transcript again. Says whether it was removed or emptied before.
    pub fn take_gone(&mut self, id: &SessionId) -> bool {
        self.gone.remove(id)
    }

    /// The processes of these sessions, or their terminals, changed. If there are markers, all sessions are due: a
    /// terminal that a session has left may tie others.
    pub fn processes_differ(&mut self, sessions: &[SessionId]) {
        match self.markers.is_empty() {
            true => self.due.extend(sessions.iter().cloned()),
            false => self.all_due = true,
        }
    }

    /// Whether fewer than half as many sessions have come since the last full tying. During the first scan, tying all
    /// is not worth its time before that.
    pub fn are_few_new(&self, sessions: &Sessions) -> bool {
        sessions.len() < self.tied + self.tied / 2
    }

    /// The caller now ties all sessions.
    pub fn begin_all(&mut self, sessions: &Sessions) {
        self.all_due = false;
        self.tied = sessions.len();
        self.note_ties(sessions);
    }

    /// Replaces all chains. `markers`: the markers that counted, if the caller resolved any chains.
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

    /// The markers that counted when all sessions were last tied.
    pub fn markers(&self) -> &[Marker] {
        &self.markers
    }

    /// The working folders of all sessions, after `note_all_ties`.
    pub fn cwds(&self) -> impl Iterator<Item = &Arc<str>> {
        self.cwds.iter()
    }

    /// The largest allowed size of a part. `None` if more sessions are due: then all must be tied.
    pub fn part_limit(&self, sessions: &Sessions) -> Option<usize> {
        let most = FEW.max(sessions.len() / PART_WORTH);
        (self.due.len() <= most).then_some(most)
    }

    /// Takes the due sessions, and gives all sessions whose chains they may concern. `None` if these are more than
    /// `most`.
    pub fn take_part(&mut self, facts: &LineageFacts<'_>, most: usize) -> Option<Vec<SessionId>> {
        let due = std::mem::take(&mut self.due);
        let mut ties = self.ties.take().unwrap_or_default();
        ties.add_facts(facts);
        // Include old ties: they may no longer hold.
        let before = due.iter().filter_map(|id| self.chains.of(id));
        let ends = before.clone().flat_map(|chain| &chain.links).flat_map(|link| [&link.from, &link.to]);
        let seeds = due.iter().chain(before.flat_map(|chain| &chain.sessions)).chain(ends);
        let group = ties.groups_of(seeds, most);
        self.ties = Some(ties);
        group
    }

    /// Whether a session's chain or origin would change with these chains.
    pub fn is_other(&self, chains: &Chains, origins: &HashMap<SessionId, SessionId>, id: &SessionId) -> bool {
        differs(&self.chains, chains, id) || self.origins.get(id) != origins.get(id)
    }

    /// Replaces the chains of the group with these.
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
        self.chains.replace_chains_of(group, part);
        LinkChange { new, old }
    }

    /// Whether newer activity of the session may change its chains. `before` is the activity known so far. Activity decides whether a superseded session comes back, whether a guessed
    /// link holds, and which session is the head. It also decides the chain's name, and whether a later session comes
    /// from this one.
    pub fn depends_on_activity(
        &mut self,
        sessions: &Sessions,
        id: &SessionId,
        before: Option<ActiveTime>,
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
        let are_merged = before.oldest.is_some_and(|oldest| now.oldest != Some(oldest));
        let may_end = |marker: &Marker| are_merged || before.last.is_none_or(|last| marker.may_end(last));
        if self.markers.iter().any(may_end) {
            return true;
        }
        if self.ties.is_none() {
            self.note_all_ties(sessions);
        }
        let last = before.last.filter(|_| !are_merged);
        self.ties.as_mut().is_some_and(|ties| ties.may_precede(id, last))
    }

    /// Whether the sessions are tied differently now than by this stored link.
    pub fn has_untied(&self, sessions: &Sessions, link: &Link) -> bool {
        unties(sessions, &self.chains, link)
    }

    /// Adds the due sessions to the ties, if ties exist. The next chains include them.
    pub fn note_ties(&mut self, sessions: &Sessions) {
        let due = std::mem::take(&mut self.due);
        let Some(ties) = &mut self.ties else { return };
        // A removed session stays in its group until the ties are built anew.
        if ties.len() > 4 * sessions.len() + FEW {
            self.ties = None;
            return;
        }
        for lineage in due.iter().filter_map(|id| Some(sessions.fold(id)?.lineage())) {
            ties.add(lineage);
            self.cwds.extend(lineage.cwds.iter().cloned());
        }
    }

    /// Like [`Self::note_ties`], but builds the ties if there are none. The due sessions stay due.
    pub fn note_all_ties(&mut self, sessions: &Sessions) {
        let due = self.due.clone();
        if self.ties.is_some() {
            self.note_ties(sessions);
        }
        if self.ties.is_none() {
            let mut ties = SessionGroups::default();
            let lineages: Vec<&Lineage> = sessions.folds().into_iter().map(LazyFold::lineage).collect();
            lineages.iter().for_each(|lineage| ties.add(lineage));
            self.cwds = lineages.iter().flat_map(|lineage| &lineage.cwds).cloned().collect();
            self.ties = Some(ties);
        }
        self.due = due;
    }
}

/// Whether the chain has the title of another session, and this session has a title too. The chain takes the title of
/// the session that was active last; that need not be the head.
fn may_name(sessions: &Sessions, id: &SessionId, chain: &Chain) -> bool {
    let title = |id: &SessionId| sessions.fold(id)?.lineage().custom_title.as_ref();
    let is_called = |other: &SessionId| title(other).is_some_and(|title| chain.name.as_ref() == Some(title));
    title(id).is_some() && !is_called(id) && chain.sessions.iter().any(is_called)
}

/// Whether these chains refute such a link. Either both its ends have transcripts that no longer tell of it. Or the
/// later end is proven to come from a third session, or has a new transcript.
fn unties(sessions: &Sessions, chains: &Chains, new_link: &Link) -> bool {
    let Link { from: earlier, to: later, reason, .. } = new_link;
    let tells = |id: &SessionId| sessions.fold(id).and_then(|_| chains.of(id));
    let (before, Some(chain)) = (tells(earlier), tells(later)) else { return false };
    let is_it = |link: &Link| link.from == *earlier && link.to == *later && link.reason == *reason;
    if before.iter().chain(&[chain]).any(|chain| chain.links.iter().any(is_it)) {
        return false;
    }
    if has_begun_anew(sessions, new_link) {
        return true;
    }
    let is_of_another = |link: &Link| {
        link.to == *later
            && ![earlier, later].contains(&&link.from)
            && link.confidence == LinkConfidence::Proven
    };
    before.is_some()
        && (LinkReason::FROM_TRANSCRIPTS.contains(reason) || chain.links.iter().any(is_of_another))
}

/// Whether a session that began by `/clear` now has a new transcript that tells of no `/clear`.
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

/// For each session with copied history, the session that it was copied from.
pub(crate) fn origins_in(chains: &Chains) -> HashMap<SessionId, SessionId> {
    chains.iter().flat_map(|chain| &chain.links).filter_map(copied_from).collect()
}

/// The copy and its origin, if the link says that history was copied.
fn copied_from(link: &Link) -> Option<(SessionId, SessionId)> {
    let copied =
        matches!(link.reason, LinkReason::ForkedFrom | LinkReason::SharedRecords | LinkReason::ContinuedIn);
    (copied && link.from != link.to).then(|| (link.to.clone(), link.from.clone()))
}
