//! Other settings while the engine runs.

use watchbill_core::ids::SessionId;

use super::Engine;
use watchbill_settings::Settings;

impl Engine {
    /// From now on these count. Roots and ways of watching are the engine's for its whole life. Timeouts that have fired
    /// stay fired: a session that was taken for idle is taken for idle until it stirs, as the history says.
    pub(super) fn take_settings(&mut self, settings: Settings) {
        let before = std::mem::replace(&mut self.settings, settings);
        if before.timeouts != self.settings.timeouts {
            let timeouts = self.settings.timeouts;
            self.files.values_mut().for_each(|file| file.set_timeouts(timeouts));
        }
        for view in &mut self.views {
            view.filter.since = self.settings.recent;
        }
        if (before.timeouts, before.recent) != (self.settings.timeouts, self.settings.recent) {
            let all: Vec<SessionId> = self.sessions.keys().cloned().collect();
            self.dirty.extend(all);
        }
        if before.alerts.attention != self.settings.alerts.attention {
            self.attention.set_settings(self.settings.alerts.attention.clone());
        }
        let exclude = &self.settings.history.exclude;
        if before.history.exclude != *exclude {
            let comes_back = |id: &&SessionId| {
                self.is_left_out(id, &before.history.exclude) && !self.is_left_out(id, exclude)
            };
            let again: Vec<SessionId> = self.sessions.keys().filter(comes_back).cloned().collect();
            self.keep_anew(&again);
            self.forget_targets();
        }
        self.problems_dirty |= before.problems != self.settings.problems;
    }

    /// Other paths are left out than when open calls were taken in: what these act on is forgotten, since nothing else that
    /// they name is known any more.
    pub(crate) fn forget_targets(&mut self) {
        let exclude = &self.settings.history.exclude;
        self.files.values_mut().for_each(|file| file.leave_out(exclude));
        let all: Vec<SessionId> = self.sessions.keys().cloned().collect();
        self.dirty.extend(all);
    }
}
