//! A session's fold that is decoded only when a caller needs it.
//!
//! A start restores thousands of sessions and shows a few. Of the others, the chains need the lineage, and the
//! roster needs the time of the last activity. These facts are the front of the stored bytes and are decoded at
//! once. The body stays undecoded until a caller needs it. Callers see no difference but time and memory.

use std::cell::OnceCell;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use crate::chain::lineage::Lineage;
use crate::ids::SessionId;
use crate::session::effect::Effect;
use crate::session::fold::SessionFold;
use crate::session::snapshot::{Front, SnapshotError};
use crate::session::state::Timeouts;
use crate::time::Timestamp;

/// A fold, or the stored bytes that it is made from. It dereferences to a [`SessionFold`], which decodes the body.
#[derive(Debug, Clone)]
pub enum LazyFold {
    /// As it was stored.
    Kept(Box<StoredFold>),
    /// Changed since it was stored, or never stored.
    Whole(Box<SessionFold>),
}

/// A stored fold, and the calls to repeat on it when it is decoded.
#[derive(Debug, Clone)]
pub struct StoredFold {
    front: Front<'static>,
    body: Box<[u8]>,
    timeouts: Timeouts,
    notes_new: bool,
    outside_activity_at: Option<Timestamp>,
    /// The newest time of [`LazyFold::advance`].
    advanced_to: Option<Timestamp>,
    /// The targets of open calls are to be cleared.
    without_targets: bool,
    /// The decoded fold, once a caller needed it.
    fold: OnceCell<Box<SessionFold>>,
}

impl StoredFold {
    fn unfold(&self) -> Box<SessionFold> {
        let fold = self.front.clone().unfold(&self.body, self.timeouts);
        // The seal was whole and of this version, so only a program that broke its own form comes here.
        let mut fold = fold
            .unwrap_or_else(|_| SessionFold::unreadable(self.front.lineage.session.clone(), self.timeouts));
        if self.notes_new {
            fold.note_new();
        }
        if self.without_targets {
            fold.forget_targets();
        }
        if let Some(at) = self.outside_activity_at {
            fold.subagent_active(at, &mut Vec::new());
        }
        if let Some(to) = self.advanced_to {
            fold.advance(to, &mut Vec::new());
        }
        Box::new(fold)
    }

    fn is_resting(&self) -> bool {
        self.fold.get().is_none()
    }

    /// Whether nothing was done with it that depends on the order of calls.
    fn is_untouched(&self) -> bool {
        self.is_resting() && self.advanced_to.is_none()
    }
}

impl LazyFold {
    /// The fold of the session `id` from the bytes of [`SessionFold::snapshot`].
    ///
    /// # Errors
    /// As for [`SessionFold::restore`].
    pub fn restore(bytes: &[u8], id: &SessionId, timeouts: Timeouts) -> Result<Self, SnapshotError> {
        let (front, body) = Front::read(bytes, id)?;
        let (outside_activity_at, advanced_to, fold) = (None, None, OnceCell::new());
        let body = body.into();
        let (noting, without_targets) = (false, false);
        let kept = StoredFold {
            front,
            body,
            timeouts,
            notes_new: noting,
            outside_activity_at,
            advanced_to,
            without_targets,
            fold,
        };
        Ok(Self::Kept(Box::new(kept)))
    }

    /// [`SessionFold::lineage`].
    pub fn lineage(&self) -> &Lineage {
        match self {
            Self::Kept(kept) => &kept.front.lineage,
            Self::Whole(fold) => fold.lineage(),
        }
    }

    /// [`SessionFold::lineage_revision`].
    pub fn lineage_revision(&self) -> u64 {
        match self {
            Self::Kept(kept) => kept.front.revision,
            Self::Whole(fold) => fold.lineage_revision(),
        }
    }

    /// [`SessionFold::cwd`].
    pub fn cwd(&self) -> Option<&Arc<str>> {
        self.lineage().cwd()
    }

    /// How many requests its transcript holds.
    pub fn requests(&self) -> usize {
        match self {
            Self::Kept(kept) => kept.front.requests,
            Self::Whole(fold) => fold.ledger().len(),
        }
    }

    /// [`TranscriptFacts::created_at`](crate::session::TranscriptFacts::created_at).
    pub fn created_at(&self) -> Option<Timestamp> {
        match self {
            Self::Kept(kept) => kept.front.created_at,
            Self::Whole(fold) => fold.facts().created_at,
        }
    }

    /// [`TranscriptFacts::last_activity_at`](crate::session::TranscriptFacts::last_activity_at).
    pub fn last_activity_at(&self) -> Option<Timestamp> {
        match self {
            Self::Kept(kept) => kept.front.last_activity_at,
            Self::Whole(fold) => fold.facts().last_activity_at,
        }
    }

    /// [`SessionFold::note_new`].
    pub fn note_new(&mut self) {
        match self {
            Self::Kept(kept) if kept.is_resting() => kept.notes_new = true,
            _ => self.whole_mut().note_new(),
        }
    }

    /// [`SessionFold::forget_targets`], without its result.
    pub fn forget_targets(&mut self) {
        match self {
            Self::Kept(kept) if kept.is_untouched() => kept.without_targets = true,
            _ => drop(self.whole_mut().forget_targets()),
        }
    }

    /// [`SessionFold::set_timeouts`].
    pub fn set_timeouts(&mut self, timeouts: Timeouts) {
        match self {
            Self::Kept(kept) if kept.is_untouched() => kept.timeouts = timeouts,
            _ => self.whole_mut().set_timeouts(timeouts),
        }
    }

    /// [`SessionFold::subagent_active`].
    pub fn subagent_active(&mut self, at: Timestamp, out: &mut Vec<Effect>) {
        match self {
            Self::Kept(kept) if kept.is_untouched() => {
                kept.outside_activity_at = kept.outside_activity_at.max(Some(at))
            }
            _ => self.whole_mut().subagent_active(at, out),
        }
    }

    /// [`SessionFold::advance`]. A resting fold goes on resting. The time takes effect when the body is decoded.
    pub fn advance(&mut self, now: Timestamp, out: &mut Vec<Effect>) {
        match self {
            Self::Kept(kept) => {
                kept.advanced_to = kept.advanced_to.max(Some(now));
                if let Some(fold) = kept.fold.get_mut() {
                    fold.advance(now, out);
                }
            }
            Self::Whole(fold) => fold.advance(now, out),
        }
    }

    /// [`SessionFold::correct_clock`]. It does nothing to an untouched fold, because no time has moved it.
    pub fn turn_back(&mut self, now: Timestamp) {
        if !matches!(self, Self::Kept(kept) if kept.is_untouched()) {
            self.whole_mut().correct_clock(now);
        }
    }

    /// Frees the memory of the decoded body, if nothing has changed since the fold was stored.
    pub fn rest(&mut self) {
        if let Self::Kept(kept) = self {
            kept.fold.take();
        }
    }

    /// Whether the stored body cannot be decoded; the call decodes it. Then the transcript must be read from its
    /// beginning.
    pub fn is_unreadable(&self) -> bool {
        let fold: &SessionFold = self;
        fold.is_unreadable()
    }

    /// [`SessionFold::put_aside`]. A stored and unchanged fold is already aside.
    pub fn put_aside(&mut self) {
        if let Self::Whole(fold) = self {
            fold.put_aside();
        }
    }

    /// [`SessionFold::is_aside`]; also `true` for a fold that cannot be read.
    pub fn is_aside(&self) -> bool {
        self.is_unreadable() || SessionFold::is_aside(self)
    }

    /// [`SessionFold::take_up`].
    ///
    /// # Errors
    /// As for [`SessionFold::take_up`], and if the stored body cannot be decoded.
    pub fn take_up(&mut self, all: &[u8]) -> Result<(), SnapshotError> {
        if self.is_unreadable() { Err(SnapshotError::Damaged) } else { self.whole_mut().take_up(all) }
    }

    fn whole_mut(&mut self) -> &mut SessionFold {
        match self {
            Self::Whole(fold) => fold,
            Self::Kept(kept) => {
                let fold = kept.fold.take().unwrap_or_else(|| kept.unfold());
                *self = Self::Whole(fold);
                self.whole_mut()
            }
        }
    }
}

impl From<SessionFold> for LazyFold {
    fn from(fold: SessionFold) -> Self {
        Self::Whole(Box::new(fold))
    }
}

impl Deref for LazyFold {
    type Target = SessionFold;
    fn deref(&self) -> &SessionFold {
        match self {
            Self::Kept(kept) => kept.fold.get_or_init(|| kept.unfold()),
            Self::Whole(fold) => fold,
        }
    }
}

impl DerefMut for LazyFold {
    fn deref_mut(&mut self) -> &mut SessionFold {
        self.whole_mut()
    }
}
