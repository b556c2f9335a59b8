//! What an agent reports about itself.

use watchbill_protocol::own::event::OwnWhat;

/// The facts, for `OwnWhat::Init`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    pub(crate) session: String,
    pub(crate) model: Option<String>,
    pub(crate) mode: Option<String>,
    pub(crate) version: Option<String>,
    pub(crate) pid: Option<u32>,
    pub(crate) models: Vec<String>,
    pub(crate) modes: Vec<String>,
    pub(crate) commands: Vec<String>,
}

impl Facts {
    /// All facts.
    pub(crate) fn init(&self) -> OwnWhat {
        let Self { session, model, mode, version, pid, models, modes, commands } = self.clone();
        OwnWhat::Init { session, model, mode, version, pid, models, modes, commands }
    }

    /// What is said now of the model and the mode. `None`: it was known.
    pub(crate) fn changed(&mut self, model: Option<String>, mode: Option<String>) -> Option<OwnWhat> {
        let model = model.filter(|model| self.model.as_ref() != Some(model));
        let mode = mode.filter(|mode| self.mode.as_ref() != Some(mode));
        if model.is_none() && mode.is_none() {
            return None;
        }
        self.model = model.clone().or(self.model.take());
        self.mode = mode.clone().or(self.mode.take());
        Some(OwnWhat::Changed { model, mode })
    }
}
