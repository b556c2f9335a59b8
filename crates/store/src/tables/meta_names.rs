//! The names of facts about the store itself.

/// How many bytes of a text are kept.
pub const TEXT_CUT: &str = "text_cut";
/// Removed rows have left their bytes in the file: see `removal`.
pub(crate) const CLEANING_DUE: &str = "cleaning_due";
/// Which rules of what is left out were carried out on what was stored before: a hash.
pub(crate) const LEFT_OUT: &str = "left_out";
/// What that removed, for people.
pub(crate) const LEFT_OUT_SAID: &str = "left_out_said";
/// From which databases that were set aside everything was taken over, one a line: see `salvage`.
pub(crate) const SALVAGED: &str = "salvaged";
/// From which text on the index is behind.
pub(crate) const UNINDEXED: &str = "unindexed";
/// Behind which number of `states` there are some whose sessions have no whole rows yet: see `states`.
pub(crate) const ROWS_BEHIND: &str = "rows_behind";
/// With which version of the program's functions the index was made.
pub(crate) const INDEX_VERSION: &str = "index_version";
/// Archived transcripts that lay there when the database was made are known: see `archive::tidy`.
pub(crate) const ARCHIVE_TAKEN_UP: &str = "archive_taken_up";
