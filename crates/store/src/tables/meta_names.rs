//! The names of facts about the store itself.
/// Removed rows have left their bytes in the file: see `removal`.
pub(crate) const CLEANING_DUE: &str = "cleaning_due";
/// A hash of the exclusion rules that were applied to the stored rows.
pub(crate) const EXCLUDE_MARK: &str = "left_out";
/// The report of that removal, for the user.
pub(crate) const EXCLUDE_REPORT: &str = "left_out_said";
/// The databases that were set aside and completely copied into this one, one per line: see `salvage`.
pub(crate) const SALVAGED: &str = "salvaged";
/// The id of the first text that is not in the index.
pub(crate) const UNINDEXED: &str = "unindexed";
/// Sessions of `states` after this number may lack complete rows: see `states`.
pub(crate) const ROWS_BEHIND: &str = "rows_behind";
/// The version of the program's functions that made the index.
pub(crate) const INDEX_VERSION: &str = "index_version";
/// The archived transcripts that were in the folder when the database was made are in the table: see
/// `archive::tidy`.
pub(crate) const ARCHIVE_TAKEN_UP: &str = "archive_taken_up";
