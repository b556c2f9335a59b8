//! Work chains: the names that the user gave.

use std::collections::{HashMap, HashSet};

use rusqlite::Connection;
use watchbill_core::ids::{ChainId, SessionId};

use crate::{Store, StoreError, WriteTransaction};

pub(crate) const V1: &str = "
-- The person's name for a work chain. Which sessions belong to it: sessions.chain_id.
CREATE TABLE chains (
    chain_id TEXT PRIMARY KEY,
    name     TEXT NOT NULL
) STRICT, WITHOUT ROWID;
";

impl WriteTransaction<'_> {
    /// Names a work chain; `None` removes its name.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn name_chain(&mut self, chain: &str, name: Option<&str>) -> Result<(), StoreError> {
        match name {
            Some(name) => {
                self.run("INSERT OR REPLACE INTO chains (chain_id, name) VALUES (?1, ?2)", (chain, name))?
            }
            None => self.run("DELETE FROM chains WHERE chain_id = ?1", [chain])?,
        };
        Ok(())
    }

    /// Removes the names of chains that go with these sessions, which are about to be removed. A name is stored
    /// under the chain id of the session that begins the chain, even while that session is joined to another chain.
    pub(crate) fn remove_chain_names<'s>(
        &mut self,
        sessions: impl IntoIterator<Item = &'s String>,
    ) -> Result<(), StoreError> {
        let removed: HashSet<&str> = sessions.into_iter().map(String::as_str).collect();
        for chain in self.read(|sql| names_of(sql, &removed))? {
            self.name_chain(&chain, None)?;
        }
        Ok(())
    }
}

/// The named chains that keep no session when these sessions are removed.
fn names_of(sql: &Connection, removed: &HashSet<&str>) -> rusqlite::Result<Vec<String>> {
    let named = sql
        .prepare_cached("SELECT chain_id FROM chains")?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<Vec<String>>>()?;
    if named.is_empty() {
        return Ok(named);
    }
    let begun: HashMap<String, &str> =
        removed.iter().map(|id| (ChainId::derive(&SessionId::new(id)).to_string(), *id)).collect();
    let mut gone = Vec::new();
    for chain in named {
        let members = sql
            .prepare_cached("SELECT session_id FROM sessions WHERE chain_id = ?1")?
            .query_map([&chain], |row| row.get(0))?
            .collect::<rusqlite::Result<Vec<String>>>()?;
        let is_of_them = begun.contains_key(&chain) || members.iter().any(|id| removed.contains(&**id));
        let mut stay = members.iter().filter(|id| !removed.contains(&***id)).peekable();
        let stays = match begun.get(&chain) {
            // When the first session of the chain goes, sessions that the user joined to it leave the chain.
            Some(begins) if stay.peek().is_some() => {
                let tied = linked_sessions(sql, begins)?;
                stay.any(|id| tied.contains(id))
            }
            _ => stay.peek().is_some(),
        };
        if is_of_them && !stays {
            gone.push(chain);
        }
    }
    Ok(gone)
}

/// The sessions that are linked to this one for any reason but a command of the user.
fn linked_sessions(sql: &Connection, session: &str) -> rusqlite::Result<HashSet<String>> {
    sql.prepare_cached(
        "WITH RECURSIVE tied (id) AS (
            VALUES (?1)
            UNION SELECT l.later FROM tied t JOIN links l ON l.earlier = t.id WHERE l.reason <> 'manual'
            UNION SELECT l.earlier FROM tied t JOIN links l ON l.later = t.id WHERE l.reason <> 'manual'
         ) SELECT id FROM tied",
    )?
    .query_map([session], |row| row.get(0))?
    .collect()
}

impl Store {
    /// All named chains: id and name.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn chain_names(&self) -> Result<Vec<(String, String)>, StoreError> {
        self.rows("SELECT chain_id, name FROM chains ORDER BY chain_id", [], |row| {
            Ok((row.get(0)?, row.get(1)?))
        })
    }
}
