//! What the person says: taken in at once, kept like everything that no file will tell again.

use watchbill_core::chain::chains::Chain;
use watchbill_core::chain::link::{Link, LinkConfidence};
use watchbill_core::ids::SessionId;
use watchbill_core::person::{Aside, Change, Known, Refusal, Word, Words, say};
use watchbill_core::roster::row::Row;
use watchbill_core::time::Timestamp;
use watchbill_protocol::error::{ApiError, ErrorCode};

use super::Engine;
use crate::input::Output;

impl Engine {
    /// What the person has said and not taken back.
    pub fn words(&self) -> &Words {
        &self.words
    }

    /// Takes a word in. Sessions may be named as for [`Engine::find`].
    ///
    /// # Errors
    /// When a session is not known, or the word makes no sense as things are; then nothing has changed.
    pub fn say(&mut self, now: Timestamp, word: &Word) -> Result<Vec<Output>, ApiError> {
        self.tell_time(now);
        let word = self.meant(word)?;
        let row = self.row(word.session());
        let known = Known {
            now: self.now,
            words: &self.words,
            chains: &self.chains,
            began: &|session| self.began(session),
            row: row.as_ref(),
        };
        let changes = say(&known, &word).and_then(|changes| self.holds(&word, changes)).map_err(refused)?;
        for change in changes {
            self.take_change(change);
        }
        let mut out = Vec::new();
        self.settle(false, &mut out);
        Ok(out)
    }

    /// Takes on all words as the store has them, in place of those that were known.
    pub fn restore_words(&mut self, words: Words) {
        if self.words == words {
            return;
        }
        self.chains_dirty |= self.words.names() != words.names() || self.words.links() != words.links();
        self.dirty.extend(self.words.asides().chain(words.asides()).map(|(session, _)| session.clone()));
        self.words = words;
    }

    /// The word with the sessions' whole ids.
    ///
    /// # Errors
    /// When nothing matches, or more than one session does.
    pub fn meant(&self, word: &Word) -> Result<Word, ApiError> {
        word.clone().with_sessions(|asked| self.find(asked.as_str()))
    }

    /// Whether what the person has joined is then one chain.
    fn holds(&self, word: &Word, changes: Vec<Change>) -> Result<Vec<Change>, Refusal> {
        if let Word::Join { session, with } = word {
            let mut words = self.words.clone();
            changes.iter().cloned().for_each(|change| words.apply(change));
            let (chains, _) = self.resolved(&words, &|_| true);
            let of = |session| chains.of(session).map(|chain| &chain.id);
            if of(session) != of(with) {
                return Err(Refusal::Circle(session.clone(), with.clone()));
            }
        }
        Ok(changes)
    }

    fn began(&self, session: &SessionId) -> Option<Timestamp> {
        let lineage = self.fold(session)?.lineage();
        lineage.own_started_at.or(lineage.started_at)
    }

    fn take_change(&mut self, change: Change) {
        match &change {
            Change::Aside(session, _) => {
                self.dirty.insert(session.clone());
            }
            Change::Named(..) | Change::Said(_) | Change::Unsaid(_) => self.chains_dirty = true,
        }
        self.keeping.word(&change);
        self.words.apply(change);
    }

    /// A snooze is of the work: where that goes on in another session, it goes along, and does not end with a `/clear`.
    /// For good, so that it waits until everything was read: a session that seems to be over may have gone on since.
    pub(super) fn carry_snoozes(&mut self) {
        if self.startup.is_reading() {
            return;
        }
        let moved = self.words.asides().filter_map(|(from, aside)| {
            let until = aside.snoozed_until.filter(|until| *until > self.now)?;
            let to = proven_heir(self.chains.of(from)?, from)?;
            Some((from.clone(), to.clone(), until))
        });
        for (from, to, until) in moved.collect::<Vec<_>>() {
            let before = |id| self.words.aside(id).copied().unwrap_or_default();
            let (left, taken) = (before(&from), before(&to));
            let until = taken.snoozed_until.max(Some(until));
            self.take_change(Change::Aside(from, Aside { snoozed_until: None, ..left }));
            self.take_change(Change::Aside(to, Aside { snoozed_until: until, ..taken }));
        }
    }

    /// Something new has happened in what was put away, or after a snooze: the word has had its time.
    pub(super) fn outlive(&mut self, row: &Row) {
        let Some(aside) = self.words.aside(&row.session_id).filter(|_| self.startup.is_over()) else {
            return;
        };
        let back = aside.away.is_some() && !row.put_away;
        let stale = row.roused_at.is_some_and(|at| row.state_since > at);
        if back || stale {
            let left = Aside {
                away: aside.away.filter(|_| !back),
                snoozed_until: aside.snoozed_until.filter(|_| !stale),
            };
            let change = Change::Aside(row.session_id.clone(), left);
            self.keeping.word(&change);
            self.words.apply(change);
        }
    }
}

/// The session in which the work of a superseded one goes on beyond doubt. A guess may be given up, and would have hidden
/// what has nothing to do with it.
fn proven_heir<'c>(chain: &'c Chain, from: &SessionId) -> Option<&'c SessionId> {
    let next = |session: &SessionId| {
        let by = &chain.superseded.get(session)?.by;
        let proven = |link: &&Link| link.confidence == LinkConfidence::Proven;
        let link = chain.links.iter().filter(proven).find(|link| link.from == *session && link.to == *by);
        link.map(|_| by)
    };
    std::iter::successors(next(from), |session| next(session)).last()
}

fn refused(refusal: Refusal) -> ApiError {
    let code = match refusal {
        Refusal::Unknown(_) => ErrorCode::NotFound,
        _ => ErrorCode::Invalid,
    };
    ApiError::new(code, refusal.to_string())
}
