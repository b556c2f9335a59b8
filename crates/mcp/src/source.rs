//! The source of the answers, as a trait: the running Watchbill, or the store.

use watchbill_protocol::chain::WorkChain;
use watchbill_protocol::memory::MemoryList;
use watchbill_protocol::roster::{RosterSnapshot, TrackedSession};
use watchbill_protocol::search::{SearchAnswer, SearchQuery};
use watchbill_protocol::timeline::Timeline;

/// The queries of the tools. The errors are sentences for the agent: the fault, and the remedy.
pub trait Records: Send + 'static {
    /// The sessions of the default roster.
    ///
    /// # Errors
    /// When the sessions cannot be read.
    fn roster(&mut self) -> Result<RosterSnapshot, String>;

    /// Searches the stored texts.
    ///
    /// # Errors
    /// When a filter makes no sense, or the store cannot be read.
    fn search(&mut self, query: &SearchQuery) -> Result<SearchAnswer, String>;

    /// Items of the timeline of a session's work chain, from an index on; without one, the last items.
    ///
    /// # Errors
    /// When no session matches, or it belongs to an excluded folder.
    fn timeline(&mut self, session: &str, from: Option<u64>, limit: u64) -> Result<Timeline, String>;

    /// A session with its work chain.
    ///
    /// # Errors
    /// When no session matches, or it belongs to an excluded folder.
    fn session(&mut self, session: &str) -> Result<(Option<TrackedSession>, WorkChain), String>;

    /// The memories that count in the project of a folder; with a file, those about it.
    ///
    /// # Errors
    /// When the folder is excluded, the file is outside of the project, or the store cannot be read.
    fn memories(&mut self, folder: Option<&str>, file: Option<&str>) -> Result<MemoryList, String>;
}
