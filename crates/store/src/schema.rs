//! The schema: its versions, how an older database becomes the newest, and its text for people.

use rusqlite::Connection;

use crate::tables::{
    activities, archive, batches, chains, files, forgotten, hook_events, links, meta, plans, recoveries,
    requests, segments, sessions, snapshots, states, texts, transitions,
};

/// What each version adds, in order. A released version is never edited: what is to be different is a new one.
const VERSIONS: &[&[&str]] = &[&[
    meta::V1,
    sessions::V1,
    files::V1,
    snapshots::V1,
    states::V1,
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
]];

/// Views for people with `sqlite3` in hand. No part of a version: they are made anew whenever the version changes.
const VIEWS: &str = include_str!("schema/views.sql");

/// The newest version, which this program reads and writes.
pub const NEWEST: u32 = VERSIONS.len() as u32;

/// The version of a database; zero for an empty one.
pub(crate) fn version(sql: &Connection) -> rusqlite::Result<u32> {
    sql.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Brings a database up to the newest version, each version in a transaction of its own.
pub(crate) fn migrate(sql: &mut Connection, found: u32) -> rusqlite::Result<()> {
    for (at, tables) in VERSIONS.iter().enumerate().skip(found as usize) {
        let transaction = sql.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
        drop_views(&transaction)?;
        for table in *tables {
            transaction.execute_batch(table)?;
        }
        transaction.execute_batch(VIEWS)?;
        transaction.pragma_update(None, "user_version", at as u32 + 1)?;
        transaction.commit()?;
    }
    Ok(())
}

/// Views may name what a version changes.
fn drop_views(sql: &Connection) -> rusqlite::Result<()> {
    let names: Vec<String> = sql
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'view' AND name GLOB 'v_*'")?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for name in names {
        sql.execute_batch(&format!("DROP VIEW \"{name}\""))?;
    }
    Ok(())
}

/// The schema as SQL with comments, for people.
pub fn text() -> String {
    let mut text = format!("-- watchbill.db, schema version {NEWEST}\n");
    for part in VERSIONS.iter().copied().flatten() {
        text.push_str(part);
    }
    text.push('\n');
    text.push_str(VIEWS);
    text
}
