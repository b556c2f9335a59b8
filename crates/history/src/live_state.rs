//! The live engine's state in the store, beside the history. The history does not know its form, but removals include
//! it.

use watchbill_agents::layout::ClientPath;
use watchbill_core::history::Exclude;
use watchbill_store::{Store, StoreError};

/// The engine's part in a removal.
pub trait LiveState: Send + Sync {
    /// The engine's facts without the `gone` sessions, with the name of their entry; `None` if they mention no such
    /// session.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn facts_without(
        &self,
        store: &Store,
        gone: &dyn Fn(&str) -> bool,
    ) -> Result<Option<(&'static str, Vec<u8>)>, StoreError>;

    /// Examines the stored state of one transcript.
    fn exclude_effect(&self, place: ClientPath, state: &[u8], exclude: &Exclude) -> ExcludeEffect;
}

/// The effect of the rules on the stored state of a transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ExcludeEffect {
    /// The rules have no effect, or the state has another form and will be read anew.
    Nothing,
    /// All of the state goes: this session has worked in an excluded folder.
    WorkedIn(String),
    /// A part goes. This is the rest.
    Rest(Vec<u8>),
}
