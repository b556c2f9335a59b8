//! Facts about the store itself, by name.

use crate::{Store, StoreError, WriteTransaction};

pub(crate) const V1: &str = "
-- Facts about the store itself, by name: settings that what is stored depends on.
CREATE TABLE meta (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
";

impl WriteTransaction<'_> {
    /// Notes a fact about the store.
    ///
    /// # Errors
    /// When the database cannot be written.
    pub fn set_meta(&mut self, name: &str, value: &str) -> Result<(), StoreError> {
        self.run("INSERT OR REPLACE INTO meta (name, value) VALUES (?1, ?2)", (name, value))?;
        Ok(())
    }
}

impl Store {
    /// A fact about the store.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn meta(&self, name: &str) -> Result<Option<String>, StoreError> {
        self.row("SELECT value FROM meta WHERE name = ?1", [name], |row| row.get(0))
    }
}
