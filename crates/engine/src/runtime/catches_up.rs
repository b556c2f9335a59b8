//! What was written between the first reading of a file and the watch of its folder, which no event tells: watches are
//! installed while the first scan runs, and among thousands of folders that takes longer than to read what is recent.

use std::path::Path;

use watchbill_watch::hints::Hint;

use super::Loop;
use crate::input::Input;
use crate::rescans::Asked;

impl Loop {
    /// Once all watches stand, whatever the roster shows is looked at again, and what processes say of themselves: who is at
    /// work must not wait for the end of the scan, nor for their next line.
    pub(super) fn catch_up(&mut self) {
        if self.caught_up || !self.source.stands() {
            return;
        }
        self.caught_up = true;
        self.again.extend(self.engine.shown_files().map(Hint::File));
        // Among these words is that somebody is waited for.
        let mut out = Vec::new();
        self.engine.read_registries(&mut out);
        self.carry_out(out);
        self.step(Input::Deadline);
        // Another look, as for lost events, may have ended the scan already.
        if self.read_all || !self.engine.reading {
            self.rescan();
        }
    }

    /// The scan has read a recent file, perhaps before the watches stood.
    pub(super) fn look_behind(&mut self, path: &Path) {
        if self.caught_up {
            self.again.insert(Hint::File(path.to_path_buf()));
        }
    }

    /// The first scan has read everything. A file that was appended to meanwhile has told us so by a hint before we knew
    /// it, or by none: one look at everything makes up for all of them, as soon as nothing can be missed any more.
    pub(super) fn look_at_all_once_more(&mut self) {
        if self.caught_up {
            self.rescan();
        } else {
            self.catch_up();
        }
    }

    /// Has everything scanned on another thread; where there is none, here.
    pub(super) fn rescan(&mut self) {
        let now = self.clock.now();
        match self.rescans.ask(&self.engine.settings.roots) {
            Asked::Begun => (self.had_read_all, self.look_began) = (self.read_all, now),
            // What the one under way has passed already may have changed.
            Asked::Later => {}
            Asked::Here(found) => self.take_rescan(found, true, now),
        }
    }
}
