//! Work chains: the names that the person gave.

use crate::{Step, Store, StoreError};

pub(crate) const V1: &str = "
-- The person's name for a work chain. Which sessions belong to it: sessions.chain_id.
CREATE TABLE chains (
    chain_id TEXT PRIMARY KEY,
    name     TEXT NOT NULL
) STRICT, WITHOUT ROWID;
";

impl Step<'_> {
    /// Names a work chain; no name takes the name away.
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
}

impl Store {
    /// All named chains: id and name.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn chain_names(&self) -> Result<Vec<(String, String)>, StoreError> {
        self.asked(|sql| {
            sql.prepare_cached("SELECT chain_id, name FROM chains ORDER BY chain_id")?
                .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect()
        })
    }
}
