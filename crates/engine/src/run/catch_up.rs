//! Catches up with writes that no event reports: those between the first read of a file and the start of the watch on
//! its folder. The watches are installed during the first scan. With thousands of folders, this takes longer than
//! reading the recent files.

use watchbill_watch::hints::Hint;

use super::Loop;
use crate::run::message::LookStart;
use crate::run::rescans::ScanStart;
use crate::step::input::Input;

impl Loop {
    /// When all watches are installed, looks again at the shown transcripts and at the registry. A working session must
    /// not wait for the end of the scan or for its next record.
    pub(super) fn catch_up(&mut self) {
        if self.startup.caught_up() || !self.inlets.source.stands() {
            return;
        }
        self.startup.catch_up();
        self.inlets.again.extend(self.engine.shown_files().map(Hint::File));
        // A registry file also says that a client waits for the user.
        let mut out = Vec::new();
        self.engine.read_registries(&mut out);
        self.carry_out(out);
        self.step(Input::Deadline);
        // The first scan may have read all its files already. Another look, for example after lost events, may even
        // have ended the scan. In both cases, one look at everything must follow.
        if self.startup.has_read_all() {
            self.rescan();
        }
    }

    /// Called when the first scan has read all its files. If a file grew during the scan, its hint may have come before
    /// the engine knew the file, or no hint came. One look at everything finds such changes. It begins when the watches
    /// are installed.
    pub(super) fn look_at_all_once_more(&mut self) {
        if self.startup.caught_up() {
            self.rescan();
        } else {
            self.catch_up();
        }
    }

    /// Scans everything on another thread, or on this one if the system gives no thread.
    pub(super) fn rescan(&mut self) {
        let look = self.startup.look(self.clock.now());
        match self.inlets.rescans.ask(&self.engine.roots_now(), look) {
            // Another scan may follow the running one, because a file that the running scan has passed may have
            // changed.
            ScanStart::Begun | ScanStart::Later => {}
            ScanStart::Here(found) => self.take_rescan(found, LookStart { had_read_all: true, ..look }),
        }
    }
}
