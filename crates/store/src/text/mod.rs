//! The columns of the index for a text, and the search for the user's terms in a text.

pub(crate) mod find;
pub(crate) mod letters;
pub mod parts;
pub mod query;
pub(crate) mod snippet;
pub mod tags;
pub(crate) mod word_positions;

use rusqlite::Connection;
use rusqlite::functions::FunctionFlags;

/// Changes with every change of [`letters`], [`parts`] and [`tags`]: an index of another version is made anew.
pub(crate) const VERSION: u32 = 2;

/// Registers the functions that the index's view and trigger call.
pub(crate) fn register(sql: &Connection) -> rusqlite::Result<()> {
    let flags =
        FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC | FunctionFlags::SQLITE_INNOCUOUS;
    sql.create_scalar_function("index_words", 1, flags, |ctx| {
        Ok(letters::spelled_out(ctx.get_raw(0).as_str()?).into_owned())
    })?;
    sql.create_scalar_function("index_parts", 1, flags, |ctx| Ok(parts::of(ctx.get_raw(0).as_str()?)))?;
    sql.create_scalar_function("index_tags", 3, flags, |ctx| {
        let tool = ctx.get_raw(2).as_str_or_null()?;
        Ok(tags::of(ctx.get(0)?, ctx.get_raw(1).as_str()?, tool))
    })
}
