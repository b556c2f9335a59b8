//! Catches up with writes between the first read of a file and the watch of its folder: no event reports them. The
//! watches are installed during the first scan. Among thousands of folders, that takes longer than to read the recent
//! files.

use watchbill_watch::hints::Hint;

use super::Loop;
use crate::input::Input;
use crate::run::message::LookStart;
use crate::run::rescans::ScanStart;

impl Loop {
    /// When all watches stand, looks again at the shown transcripts and at the registry. A working session must not
    /// wait for the end of the scan or for its next record.
    pub(super) fn catch_up(&mut self) {
        if self.startup.caught_up() || !self.source.stands() {
            return;
        }
        self.startup.catch_up();
        self.again.extend(self.engine.shown_files().map(Hint::File));
        // Registry files also tell that a client waits for the user.
        let mut out = Vec::new();
        self.engine.read_registries(&mut out);
        self.carry_out(out);
        self.step(Input::Deadline);
        // Another look, for example after lost events, may have ended the scan already.
        if self.startup.has_read_all() {
            self.rescan();
        }
    }

    /// The first scan has read everything. A file that grew meanwhile gave a hint before the engine knew it, or none.
    /// One look at everything, as soon as the watches stand, makes up for both.
    pub(super) fn look_at_all_once_more(&mut self) {
        if self.startup.caught_up() {
            self.rescan();
        } else {
            self.catch_up();
        }
    }

    /// Scans everything on another thread, or on this one if there is no other.
    pub(super) fn rescan(&mut self) {
        let look = self.startup.look(self.clock.now());
        match self.rescans.ask(&self.engine.settings().roots, look) {
            // A file behind the running scan's position may have changed, so another scan may follow.
            ScanStart::Begun | ScanStart::Later => {}
            ScanStart::Here(found) => self.take_rescan(found, LookStart { had_read_all: true, ..look }),
        }
    }
}
