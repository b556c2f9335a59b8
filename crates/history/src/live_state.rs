//! The live engine's state in the store, beside the history. The history does not know its form, but removals include it.

use watchbill_core::history::Exclude;
use watchbill_store::{Store, StoreError};
use watchbill_watch::layout::Place;

/// The engine's part in a removal.
pub trait LiveState: Send + Sync {
    /// Its facts without the sessions that are `gone`, under their name; `None` where none of them is named.
    ///
    /// # Errors
    /// When the store cannot be read.
    fn facts_without(
        &self,
        store: &Store,
        gone: &dyn Fn(&str) -> bool,
    ) -> Result<Option<(&'static str, Vec<u8>)>, StoreError>;

    /// Looks into what is kept of one transcript, as the store has it.
    fn look_into(&self, place: Place, state: &[u8], exclude: &Exclude) -> Finding;
}

/// The effect of the rules on the kept state of a transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Finding {
    /// Nothing, or it is kept in another form and will be read anew.
    Nothing,
    /// All of it: this session has worked in an excluded folder.
    WorkedIn(String),
    /// A part. This is the rest.
    Rest(Vec<u8>),
}
