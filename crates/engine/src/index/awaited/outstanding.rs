//! One transcript that the other process has not stored to its end, as far as is known.

use watchbill_core::ids::SessionId;
use watchbill_store::tables::files::FileCursor;
use watchbill_watch::fs::{FileId, FileKind, FileStat, Fs};
use watchbill_watch::scan::Found;
use watchbill_watch::tail::{Cursor, Fingerprint, Tail};

use crate::stored::{ForgottenSessions, Owner, owner, owner_by_path};

/// A transcript, and how much of it is stored.
pub struct Outstanding {
    /// As it stood when it was listed, or since then with fewer bytes: those are to be stored.
    found: Found,
    /// Whose it is, where that is known.
    session: Option<SessionId>,
    /// What the store says of it.
    stored: Option<FileCursor>,
    /// It was looked into for something that can be stored, while the store knew it (`true`) or not.
    looked_into: Option<bool>,
}

/// What is known of it after a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// All bytes are stored that are to be.
    Stored,
    /// The person wants nothing of it stored any more.
    Forgotten,
    /// It is gone, cannot be read, or holds no record: nobody can store it.
    Unreadable,
    /// It is still to be waited for.
    Outstanding,
}

impl Outstanding {
    pub fn new(found: Found, stored: Option<FileCursor>) -> Self {
        let session = found.place().and_then(owner_by_path);
        Self { found, session, stored, looked_into: None }
    }

    pub fn found(&self) -> &Found {
        &self.found
    }

    /// The store says this of it now. Whether that is something else than before.
    pub fn is_stored_otherwise(&mut self, stored: Option<FileCursor>) -> bool {
        std::mem::replace(&mut self.stored, stored) != stored
    }

    /// Bytes that are still to be stored.
    pub fn left(&self) -> u64 {
        let goal = self.found.stat.len;
        match self.stored {
            Some(stored) if id_of(&stored) == self.found.stat.id => {
                // Where more is stored than there is, it was written anew, and counts from its beginning.
                goal.checked_sub(stored.offset).unwrap_or(goal)
            }
            _ => goal,
        }
    }

    /// Looks at the file where the store alone does not tell, and with `again` in any case: it may have become shorter, be
    /// gone, or hold something else by now.
    pub fn fate(&mut self, fs: &dyn Fs, forgotten: &ForgottenSessions, again: bool) -> Fate {
        if self.session.as_ref().is_some_and(|session| forgotten.contains(session)) {
            return Fate::Forgotten;
        }
        if self.found.stat.len == 0 || self.is_just_as_stored() {
            return Fate::Stored;
        }
        if again || self.is_stored_beyond() {
            let stat = match fs.stat(&self.found.path) {
                Ok(stat) if stat.kind == FileKind::File => stat,
                _ => return Fate::Unreadable,
            };
            if stat.id != self.found.stat.id || stat.len < self.found.stat.len {
                self.found.stat = stat;
                self.looked_into = None;
            }
        }
        if self.found.stat.len == 0
            || self.is_just_as_stored()
            || self.is_stored_beyond() && self.is_what_was_stored(fs)
        {
            Fate::Stored
        } else {
            Fate::Outstanding
        }
    }

    /// Whether to look into it would tell anything.
    pub fn is_to_be_looked_into(&self) -> bool {
        self.looked_into != Some(self.stored.is_some())
    }

    /// Looks into it, once, for something that can be stored.
    pub fn look_into(&mut self, fs: &dyn Fs, forgotten: &ForgottenSessions) -> Fate {
        if !self.is_to_be_looked_into() {
            return Fate::Outstanding;
        }
        self.looked_into = Some(self.stored.is_some());
        // Also where the store knows it: what holds no record any more is known to the store as something that was never read.
        match owner(fs, &self.found) {
            Owner::Nobody => Fate::Unreadable,
            Owner::Session(session) if forgotten.contains(&session) => Fate::Forgotten,
            Owner::Session(session) => {
                self.session = Some(session);
                Fate::Outstanding
            }
            Owner::Unknown => Fate::Outstanding,
        }
    }

    fn is_just_as_stored(&self) -> bool {
        let FileStat { id, len, mtime, .. } = self.found.stat;
        self.stored.is_some_and(|stored| (id_of(&stored), stored.offset, stored.mtime) == (id, len, mtime))
    }

    /// As many bytes are stored as are there, or those of another file: it has grown, was touched, or written anew.
    fn is_stored_beyond(&self) -> bool {
        let stat = self.found.stat;
        self.stored.is_some_and(|stored| id_of(&stored) != stat.id || stored.offset >= stat.len)
    }

    /// Whether the bytes that are stored are those of the file, by the same comparison as whoever stores them makes.
    fn is_what_was_stored(&self, fs: &dyn Fs) -> bool {
        let Some(stored) = self.stored.filter(|stored| id_of(stored) == self.found.stat.id) else {
            return false;
        };
        let cursor = Cursor {
            id: id_of(&stored),
            fingerprint: Fingerprint::from_hashes((stored.head, stored.window)),
            offset: stored.offset,
            mtime: stored.mtime,
        };
        let mut tail = Tail { cursor: Some(cursor), again_from: None };
        // No byte is asked for.
        let compared = tail.read(fs, &self.found.path, &mut Vec::new(), 0, &mut || (), &mut |_, _| ());
        compared.is_ok_and(|outcome| outcome.restarted.is_none())
    }
}

fn id_of(stored: &FileCursor) -> FileId {
    FileId { dev: stored.dev, ino: stored.inode }
}
