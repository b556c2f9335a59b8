//! Search: full text over everything that is stored, newest and most telling first.

use std::ops::Range;

use watchbill_core::time::Timestamp;

use crate::tables::texts::Role;
use crate::tables::{SessionKey, time, uncount};
use crate::text::query::Terms;
use crate::text::tags;
use crate::{Store, StoreError};

/// What is looked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// What the person typed: words, phrases in quotes, a star at the end of a word.
    pub text: String,
    /// The person is still typing: the last word may go on.
    pub typing: bool,
    /// Only these sessions (of a project, of a chain); `None`: all.
    pub sessions: Option<Vec<SessionKey>>,
    /// Only this role.
    pub role: Option<Role>,
    /// Only this tool, in whatever case.
    pub tool: Option<String>,
    /// Only texts at or after this time.
    pub since: Option<Timestamp>,
    /// Only texts before this time.
    pub until: Option<Timestamp>,
    /// How many hits at most.
    pub limit: u32,
    /// How many of the best hits to leave out: those of earlier pages.
    pub skip: u32,
}

impl Query {
    /// Looks for what was typed, everywhere.
    pub fn new(text: &str, limit: u32) -> Self {
        Self {
            text: text.to_owned(),
            typing: false,
            sessions: None,
            role: None,
            tool: None,
            since: None,
            until: None,
            limit,
            skip: 0,
        }
    }
}

/// A text in which everything was found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// The session.
    pub session_id: String,
    /// Its work chain.
    pub chain_id: Option<String>,
    /// Its project: name of the folder in which the transcript lies.
    pub project: Option<String>,
    /// Its title.
    pub title: Option<String>,
    /// The subagent, if it is a subagent's text.
    pub subagent: Option<String>,
    /// Time of the record.
    pub at: Option<Timestamp>,
    /// Word of the role.
    pub role: String,
    /// The tool, of a tool's input or result.
    pub tool: Option<String>,
    /// A piece of the text around what was found, on one line.
    pub snippet: String,
    /// Where in the snippet it stands, as byte ranges, in order, without overlaps.
    pub marks: Vec<Range<usize>>,
    /// The file that holds the record.
    pub path: String,
    /// Byte offset of the record in the file.
    pub offset: u64,
    /// The larger the better; comparable within one answer.
    pub score: f64,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Answer {
    /// The hits, best first.
    pub hits: Vec<Hit>,
    /// There are more than these.
    pub more: bool,
}

impl Store {
    /// Looks for texts.
    ///
    /// # Errors
    /// When the database cannot be read. Nothing that is typed is an error.
    pub fn search(&self, query: &Query) -> Result<Answer, StoreError> {
        let Some(mut fts) = Terms::parse(&query.text, query.typing).to_fts() else {
            return Ok(Answer::default());
        };
        if let Some(role) = query.role {
            fts.push_str(&format!(" AND tags : {}", tags::role_tag(role.word())));
        }
        let limit = query.limit as usize;
        let mut hits = self.asked(|sql| {
            sql.prepare_cached(
                "SELECT s.session_id, s.chain_id, s.project, s.title, f.subagent, t.at, t.role, t.tool, t.text,
                        f.path, t.byte
                 FROM texts_fts x JOIN texts t ON t.id = x.rowid JOIN files f ON f.id = t.file
                    JOIN sessions s ON s.id = t.session
                 WHERE texts_fts MATCH ?1 ORDER BY x.rowid DESC LIMIT ?2 OFFSET ?3",
            )?
            .query_map((&fts, query.limit.saturating_add(1), query.skip), |row| {
                Ok(Hit {
                    session_id: row.get(0)?,
                    chain_id: row.get(1)?,
                    project: row.get(2)?,
                    title: row.get(3)?,
                    subagent: row.get(4)?,
                    at: time(row, 5)?,
                    role: row.get(6)?,
                    tool: row.get(7)?,
                    snippet: row.get(8)?,
                    marks: Vec::new(),
                    path: row.get(9)?,
                    offset: uncount(row.get(10)?),
                    score: 0.0,
                })
            })?
            .collect::<rusqlite::Result<Vec<Hit>>>()
        })?;
        let more = hits.len() > limit;
        hits.truncate(limit);
        Ok(Answer { hits, more })
    }
}
