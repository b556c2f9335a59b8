//! The tables. Each has its SQL, the struct of its rows, the functions that write them in a
//! [`WriteTransaction`](crate::WriteTransaction), and the functions that read them.
//!
//! Times are milliseconds since the epoch, UTC; the views (`v_…`) show them as text. `files` and `sessions` have
//! numbers of their own that every other table uses; [`FileKey`] and [`SessionKey`] keep the two apart. Removing a
//! session removes its files, and removing a file removes all rows that were read from it.

pub mod activities;
pub mod answers;
pub mod archive;
pub mod batches;
pub mod chains;
pub mod document_session;
pub mod engine_states;
pub mod excluded_files;
pub mod files;
pub mod folders;
pub mod forgotten;
pub mod hook_events;
pub mod links;
pub mod memories;
pub mod meta;
pub mod meta_names;
pub mod model_jobs;
pub mod plans;
pub mod recoveries;
pub mod requests;
pub mod said;
pub mod segments;
pub mod sessions;
pub mod snapshots;
pub mod snoozed_or_put_away;
pub mod summaries;
pub mod texts;
pub mod transitions;

use std::sync::Arc;

use rusqlite::types::{FromSql, FromSqlResult, ToSql, ToSqlOutput, ValueRef};
use watchbill_core::time::Timestamp;

/// The tables whose rows were read from a file, in an order in which they can be emptied.
pub(crate) const READ_FROM_FILES: [&str; 11] = [
    "texts",
    "activities",
    "plan_words",
    "plans",
    "executions",
    "batches",
    "requests",
    "segments",
    "snapshots",
    "left_out",
    "folders",
];

/// Number of a file in this store. A new store gives other numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileKey(pub(crate) i64);

/// Number of a session in this store. A new store gives other numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SessionKey(pub(crate) i64);

macro_rules! number {
    ($($name:ident),*) => {$(
        impl ToSql for $name {
            fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
                Ok(ToSqlOutput::from(self.0))
            }
        }
        impl FromSql for $name {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                i64::column_result(value).map(Self)
            }
        }
    )*};
}
number!(FileKey, SessionKey);

/// A time as a column.
pub(crate) struct At(pub Timestamp);

impl ToSql for At {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::from(self.0.as_millis()))
    }
}

impl FromSql for At {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        i64::column_result(value).map(|ms| Self(Timestamp::from_millis(ms)))
    }
}

/// A time that may be missing, as a column.
pub(crate) fn at(time: Option<Timestamp>) -> Option<i64> {
    time.map(Timestamp::as_millis)
}

/// A column that may hold a time.
pub(crate) fn time(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<Option<Timestamp>> {
    Ok(row.get::<_, Option<i64>>(column)?.map(Timestamp::from_millis))
}

/// An unsigned 64-bit number as SQLite's signed one: the same bits.
pub(crate) fn bits(n: u64) -> i64 {
    n.cast_signed()
}

/// The reverse of [`bits`].
pub(crate) fn unbits(n: i64) -> u64 {
    n.cast_unsigned()
}

/// A count as a column. A count beyond 63 bits does not occur, and would become the largest number.
pub(crate) fn count(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// The reverse of [`count`]. A negative number becomes zero.
pub(crate) fn uncount(n: i64) -> u64 {
    u64::try_from(n).unwrap_or(0)
}

/// A column that may hold a text, for a field that shares it.
pub(crate) fn shared(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<Option<Arc<str>>> {
    Ok(row.get_ref(column)?.as_str_or_null()?.map(Arc::from))
}

/// The id of a record as a column.
pub(crate) fn record_blob(id: u128) -> [u8; 16] {
    id.to_be_bytes()
}

/// The reverse of [`record_blob`].
pub(crate) fn record_of(row: &rusqlite::Row<'_>, column: usize) -> rusqlite::Result<Option<u128>> {
    Ok(row.get::<_, Option<[u8; 16]>>(column)?.map(u128::from_be_bytes))
}
