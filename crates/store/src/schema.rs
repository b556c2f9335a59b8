//! The schema: its versions, the migration of older databases, and its text for users.

use rusqlite::Connection;
use rusqlite::config::DbConfig;

use crate::tables::{
    activities, answers, archive, batches, chains, engine_states, excluded_files, files, folders, forgotten,
    hook_events, links, memories, meta, model_jobs, plans, recoveries, requests, said, segments, sessions,
    snapshots, snoozed_or_put_away, summaries, texts, transitions,
};

/// The statements that each version adds, in order. A released version is never edited: a change is a new version.
const VERSIONS: &[&[&str]] = &[
    &[
        meta::V1,
        sessions::V1,
        files::V1,
        snapshots::V1,
        engine_states::V1,
        segments::V1,
        links::V1,
        chains::V1,
        batches::V1,
        activities::V1,
        plans::V1,
        requests::V1,
        transitions::V1,
        hook_events::V1,
        recoveries::V1,
        texts::V1,
        archive::V1,
        forgotten::V1,
    ],
    &[snoozed_or_put_away::V2],
    &[excluded_files::V3],
    &[folders::V4],
    &[batches::V5, activities::V5],
    &[requests::V6],
    &[answers::V7],
    &[memories::V8, said::V8],
    &[memories::V9],
    &[model_jobs::V10],
    &[activities::V11],
    &[texts::V12, activities::V12, memories::V12],
    &[sessions::V13, memories::V13, texts::V13],
    &[summaries::V14],
];

/// Views for users of `sqlite3`. They belong to no version: each migration makes them anew.
const VIEWS: &str = include_str!("schema/views.sql");

/// The views among them that have the names of the claude-recall document's tables.
const DOCUMENT_VIEWS: [&str; 4] = ["sdk_sessions", "user_prompts", "observations", "session_summaries"];

/// Whether a view is one of ours.
fn is_view_of_ours(name: &str) -> bool {
    name.starts_with("v_") || DOCUMENT_VIEWS.contains(&name)
}

/// The newest version, which this program reads and writes.
pub const NEWEST: u32 = VERSIONS.len() as u32;

/// The version of a database; zero for an empty one.
pub(crate) fn version(sql: &Connection) -> rusqlite::Result<u32> {
    sql.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Brings a database up to the newest version, each version in a transaction of its own.
pub(crate) fn migrate(sql: &mut Connection, found: u32) -> rusqlite::Result<()> {
    migrate_by(VERSIONS, sql, found)
}

fn migrate_by(versions: &[&[&str]], sql: &mut Connection, found: u32) -> rusqlite::Result<()> {
    // Otherwise renaming or dropping a table would change, or fail because of, what a user has added: views and
    // triggers that name it, rows that refer to its rows. A user's own indexes and triggers on that very table are
    // still lost.
    let keys: bool = sql.pragma_query_value(None, "foreign_keys", |row| row.get(0))?;
    sql.pragma_update(None, "foreign_keys", false)?;
    sql.set_db_config(DbConfig::SQLITE_DBCONFIG_LEGACY_ALTER_TABLE, true)?;
    let migrated = make_each(versions, sql, found);
    sql.set_db_config(DbConfig::SQLITE_DBCONFIG_LEGACY_ALTER_TABLE, false)?;
    sql.pragma_update(None, "foreign_keys", keys)?;
    migrated
}

/// A new database gets all versions in one transaction: if the program is killed meanwhile, there is still no database. An
/// older one gets a transaction for each.
fn make_each(versions: &[&[&str]], sql: &mut Connection, found: u32) -> rusqlite::Result<()> {
    let (mut at, all) = (found as usize, versions.len());
    while at < all {
        let end = if found == 0 { all } else { at + 1 };
        let transaction = sql.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        for tables in &versions[at..end] {
            drop_views(&transaction)?;
            for table in *tables {
                transaction.execute_batch(table)?;
            }
            transaction.execute_batch(VIEWS)?;
        }
        transaction.pragma_update(None, "user_version", end as u32)?;
        transaction.commit()?;
        at = end;
    }
    Ok(())
}

/// The first table, index or trigger of the database's version whose SQL text is missing or different. Ignores what
/// a user has added. SQLite itself does not notice damage in that text.
pub(crate) fn first_difference(sql: &Connection) -> rusqlite::Result<Option<String>> {
    let fresh = fresh(version(sql)?)?;
    let mut made =
        fresh.prepare("SELECT type, name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY rowid")?;
    let mut rows = made.query([])?;
    while let Some(row) = rows.next()? {
        let (kind, name, text): (String, String, String) = (row.get(0)?, row.get(1)?, row.get(2)?);
        let there: i64 = sql.query_row(
            "SELECT count(*) FROM sqlite_schema WHERE type = ?1 AND name = ?2 AND sql = ?3",
            [&kind, &name, &text],
            |row| row.get(0),
        )?;
        // Views are made anew with each version, and may come from an older program.
        if there == 0 && !is_view_of_ours(&name) {
            return Ok(Some(format!("{kind} {name}")));
        }
    }
    Ok(None)
}

/// The tables of a version, including those in which the full-text index stores its data.
pub(crate) fn tables(version: u32) -> rusqlite::Result<Vec<String>> {
    fresh(version)?
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0")?
        .query_map([], |row| row.get(0))?
        .collect()
}

/// An empty database of a version, in memory.
fn fresh(version: u32) -> rusqlite::Result<Connection> {
    let mut fresh = Connection::open_in_memory()?;
    crate::text::register(&fresh)?;
    migrate_by(&VERSIONS[..VERSIONS.len().min(version as usize)], &mut fresh, 0)?;
    Ok(fresh)
}

/// Whether a database has nothing in it.
pub(crate) fn is_empty(sql: &Connection) -> rusqlite::Result<bool> {
    sql.query_row("SELECT count(*) = 0 FROM sqlite_schema", [], |row| row.get(0))
}

/// Drops our views, because they may name what a version changes.
fn drop_views(sql: &Connection) -> rusqlite::Result<()> {
    let names: Vec<String> = sql
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'view'")?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for name in names.into_iter().filter(|name| is_view_of_ours(name)) {
        sql.execute_batch(&format!("DROP VIEW \"{name}\""))?;
    }
    Ok(())
}

/// The schema as SQL with comments, for users.
pub fn text() -> String {
    let mut text = format!("-- watchbill.db, schema version {NEWEST}\n");
    for part in VERSIONS.iter().copied().flatten() {
        text.push_str(part);
    }
    text.push('\n');
    text.push_str(VIEWS);
    text
}

#[cfg(test)]
mod tests;
