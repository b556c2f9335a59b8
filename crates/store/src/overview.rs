//! How much is stored, and which sessions match a project, a chain or the prefix of an id.

use crate::tables::{SessionKey, uncount};
use crate::{Store, StoreError, folder, schema};

/// How much is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Totals {
    /// The version of the schema.
    pub schema: u32,
    /// Bytes of the database and its companions.
    pub bytes: u64,
    /// Sessions.
    pub sessions: u64,
    /// Files that have been read.
    pub files: u64,
    /// Searchable texts.
    pub texts: u64,
    /// Bytes of texts that were not stored, because the texts were longer than the cut.
    pub cut_bytes: u64,
    /// Lines that could not be read.
    pub problems: u64,
    /// Archived transcripts.
    pub archived: u64,
    /// Bytes that they take.
    pub archive_bytes: u64,
}

impl Store {
    /// How much is stored. The cost grows with the number of files, not with their texts.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn totals(&self) -> Result<Totals, StoreError> {
        let companion = |ending: &str| {
            let mut name = self.path().as_os_str().to_owned();
            name.push(ending);
            folder::size(name.as_ref())
        };
        let bytes = ["", "-wal", "-shm"].into_iter().map(companion).sum();
        self.with_sql(|sql| {
            let schema = schema::version(sql)?;
            sql.prepare_cached(
                "SELECT (SELECT count(*) FROM sessions), count(*), coalesce(sum(texts), 0),
                        coalesce(sum(cut_bytes), 0), coalesce(sum(problems), 0),
                        (SELECT count(*) FROM archive), (SELECT coalesce(sum(stored), 0) FROM archive)
                 FROM files",
            )?
            .query_row([], |row| {
                Ok(Totals {
                    schema,
                    bytes,
                    sessions: uncount(row.get(0)?),
                    files: uncount(row.get(1)?),
                    texts: uncount(row.get(2)?),
                    cut_bytes: uncount(row.get(3)?),
                    problems: uncount(row.get(4)?),
                    archived: uncount(row.get(5)?),
                    archive_bytes: uncount(row.get(6)?),
                })
            })
        })
    }

    /// The sessions whose folder or project name contains the words, ignoring case. The words may end with a slash,
    /// as shells complete a folder. Then longer names that begin the same do not match.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn sessions_of(
        &self,
        project: Option<&str>,
        agent: Option<&str>,
    ) -> Result<Vec<SessionKey>, StoreError> {
        self.rows(
            "SELECT id FROM sessions
                 WHERE (?1 IS NULL OR instr(lower(coalesce(cwd || '/', '')), lower(?1))
                        OR instr(lower(coalesce(project, '')), lower(?1)))
                   AND (?2 IS NULL OR agent = lower(?2))
                 ORDER BY id",
            (project, agent),
            |row| row.get(0),
        )
    }

    /// The sessions of a work chain, which is named by its id or by one of its sessions.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn sessions_in_chain(&self, chain_or_session: &str) -> Result<Vec<SessionKey>, StoreError> {
        self.rows(
            "SELECT id FROM sessions WHERE chain_id = ?1 OR session_id = ?1
                    OR chain_id = (SELECT chain_id FROM sessions WHERE session_id = ?1)
                 ORDER BY id",
            [chain_or_session],
            |row| row.get(0),
        )
    }

    /// The ids of the sessions of a work chain.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn session_ids_of_chain(&self, chain: &str) -> Result<Vec<String>, StoreError> {
        self.rows("SELECT session_id FROM sessions WHERE chain_id = ?1 ORDER BY session_id", [chain], |row| {
            row.get(0)
        })
    }

    /// The session ids with this prefix, at most `limit`. It includes sessions that only the archive knows, because
    /// a database made anew has not read them yet. A session whose files have the first eight characters of its id alone is found by
    /// the whole id too.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn session_ids(&self, begin: &str, limit: u32) -> Result<Vec<String>, StoreError> {
        self.rows(
            "SELECT session_id FROM (SELECT session_id FROM sessions UNION SELECT session_id FROM archive)
                 WHERE substr(session_id, 1, length(?1)) = ?1
                    OR (length(session_id) = 8 AND session_id = substr(?1, 1, 8))
                 ORDER BY session_id LIMIT ?2",
            (begin, limit),
            |row| row.get(0),
        )
    }

    /// The ids of work chains with this prefix, at most `limit`.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn chain_ids(&self, begin: &str, limit: u32) -> Result<Vec<String>, StoreError> {
        self.rows(
            "SELECT DISTINCT chain_id FROM sessions WHERE substr(chain_id, 1, length(?1)) = ?1
                 ORDER BY chain_id LIMIT ?2",
            (begin, limit),
            |row| row.get(0),
        )
    }

    /// The folder in which a session worked, or else the name of its transcript folder.
    ///
    /// # Errors
    /// When the database cannot be read.
    pub fn folder_of_session(&self, session: &str) -> Result<Option<String>, StoreError> {
        self.row("SELECT coalesce(cwd, project) FROM sessions WHERE session_id = ?1", [session], |row| {
            row.get(0)
        })
        .map(Option::flatten)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a store that cannot be opened is a failure")]

    use watchbill_core::ids::SessionId;
    use watchbill_core::time::Timestamp;

    use super::*;
    use crate::OpenMode;
    use crate::tables::archive::ArchiveRow;
    use crate::tables::sessions::SessionRow;

    #[test]
    fn sessions_are_found_by_project_chain_and_id_prefix() {
        let folder = tempfile::tempdir().unwrap();
        let mut store = Store::open(folder.path(), OpenMode::WriteOrRead).unwrap();
        let mut step = store.step().unwrap();
        for (id, cwd, project, chain) in [
            ("aa1", Some("/home/dev/Api-Server"), "-home-dev-Api-Server", "c1"),
            ("aa2", None, "-home-dev-api-server", "c1"),
            ("ab3", Some("/home/dev/site"), "-home-dev-site", "c2"),
        ] {
            step.put_session(&SessionRow {
                session_id: id.into(),
                cwd: cwd.map(Into::into),
                project: Some(project.into()),
                chain_id: Some(chain.into()),
                ..SessionRow::default()
            })
            .unwrap();
        }
        step.put_archived(&ArchiveRow {
            path: "/p/aa0.jsonl".into(),
            session_id: "aa0".into(),
            subagent: None,
            file: "aa0.zst".into(),
            bytes: 1,
            stored: 1,
            hash: String::new(),
            mtime: Timestamp::default(),
            archived_at: Timestamp::default(),
            dev: 0,
            inode: 0,
        })
        .unwrap();
        step.commit().unwrap();
        let key = |id: &str| store.session_key(&SessionId::new(id)).unwrap().unwrap();
        assert_eq!(store.sessions_of(Some("api-server"), None).unwrap(), [key("aa1"), key("aa2")]);
        assert_eq!(store.sessions_of(Some("/home/dev/api-server/"), None).unwrap(), [key("aa1")]);
        assert_eq!(store.sessions_of(Some("/home/dev/api/"), None).unwrap(), []);
        assert_eq!(store.sessions_of(Some("100%"), None).unwrap(), [], "nothing in it is a pattern");
        for chain in ["c1", "aa1", "aa2"] {
            assert_eq!(store.sessions_in_chain(chain).unwrap(), [key("aa1"), key("aa2")], "{chain}");
        }
        assert_eq!(store.sessions_in_chain("aa").unwrap(), []);
        assert_eq!(store.session_ids("aa", 9).unwrap(), ["aa0", "aa1", "aa2"]);
        assert_eq!(store.session_ids("aa1", 9).unwrap(), ["aa1"]);
        assert_eq!(store.session_ids("a", 1).unwrap(), ["aa0"]);
        assert_eq!(store.session_ids("aa0-and-more", 9).unwrap(), Vec::<String>::new());
        assert_eq!(store.session_ids_of_chain("c1").unwrap(), ["aa1", "aa2"]);
        assert_eq!(store.session_ids_of_chain("c").unwrap(), [""; 0]);
        assert_eq!(store.chain_ids("c", 9).unwrap(), ["c1", "c2"]);
        assert_eq!(store.chain_ids("c", 1).unwrap(), ["c1"]);
        assert_eq!(store.chain_ids("aa", 9).unwrap(), [""; 0]);
        assert_eq!(store.folder_of_session("aa2").unwrap().as_deref(), Some("-home-dev-api-server"));
        assert_eq!(store.folder_of_session("zz").unwrap(), None);
        let totals = store.totals().unwrap();
        assert_eq!((totals.sessions, totals.files, totals.texts), (3, 0, 0));
        assert!(totals.bytes > 0 && totals.schema > 0);
    }
}
