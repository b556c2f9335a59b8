//! What was written between the first reading of a file and the watch of its folder, which no event tells: watches are
//! installed while the first scan runs, and among thousands of folders that takes longer than to read what is recent.

use watchbill_watch::hints::Hint;

use super::Loop;
use crate::input::Input;
use crate::run::message::LookStart;
use crate::run::rescans::Asked;

impl Loop {
    /// Once all watches stand, whatever the roster shows is looked at again, and what processes say of themselves: who is at
    /// work must not wait for the end of the scan, nor for their next line.
    pub(super) fn catch_up(&mut self) {
        if self.startup.caught_up() || !self.source.stands() {
            return;
        }
        self.startup.catch_up();
        self.again.extend(self.engine.shown_files().map(Hint::File));
        // Among these words is that somebody is waited for.
        let mut out = Vec::new();
        self.engine.read_registries(&mut out);
        self.carry_out(out);
        self.step(Input::Deadline);
        // Another look, as for lost events, may have ended the scan already.
        if self.startup.has_read_all() {
            self.rescan();
        }
    }

    /// The first scan has read everything. A file that was appended to meanwhile has told us so by a hint before we knew
    /// it, or by none: one look at everything makes up for all of them, as soon as nothing can be missed any more.
    pub(super) fn look_at_all_once_more(&mut self) {
        if self.startup.caught_up() {
            self.rescan();
        } else {
            self.catch_up();
        }
    }

    /// Has everything scanned on another thread; where there is none, here.
    pub(super) fn rescan(&mut self) {
        let look = self.startup.look(self.clock.now());
        match self.rescans.ask(&self.engine.settings().roots, look) {
            // What the one under way has passed already may have changed.
            Asked::Begun | Asked::Later => {}
            Asked::Here(found) => self.take_rescan(found, LookStart { had_read_all: true, ..look }),
        }
    }
}
