//! Texts that wait for the full-text index, kept in memory since they were stored. Reading them back from the
//! database would cost a tenth of a first index.

use rusqlite::{Connection, params};

use crate::tables::SessionKey;
use crate::text::{letters, parts, tags};

/// Texts that are stored and not indexed, in order of their ids and without a gap.
#[derive(Debug, Default)]
pub(crate) struct CachedTexts {
    texts: Vec<UnindexedText>,
    /// Each text's words, followed by the words that stand for its session, role and tool.
    words: String,
}

#[derive(Debug)]
struct UnindexedText {
    id: i64,
    /// Where the text ends in `words`; its tags follow.
    text_end: usize,
    tags_end: usize,
}

impl CachedTexts {
    /// Adds a text that was just stored under this id.
    pub fn take(&mut self, id: i64, text: &str, session: SessionKey, role: &str, tool: Option<&str>) {
        self.words.push_str(text);
        let text_end = self.words.len();
        tags::add(session.0, role, tool, &mut self.words);
        self.texts.push(UnindexedText { id, text_end, tags_end: self.words.len() });
    }

    /// Whether all texts from this id on are in memory.
    pub fn reaches_back_to(&self, id: i64) -> bool {
        self.texts.first().is_some_and(|first| first.id == id)
    }

    /// Inserts the texts into the index, in the form of the view that the index reads.
    pub fn index(&self, sql: &Connection) -> rusqlite::Result<()> {
        let mut insert =
            sql.prepare_cached("INSERT INTO texts_fts (rowid, text, parts, tags) VALUES (?1, ?2, ?3, ?4)")?;
        let mut pieces = String::new();
        let mut start = 0;
        for text in &self.texts {
            let (words, tags) =
                (&self.words[start..text.text_end], &self.words[text.text_end..text.tags_end]);
            start = text.tags_end;
            pieces.clear();
            parts::add(words, &mut pieces);
            let pieces = (!pieces.is_empty()).then_some(&*pieces);
            insert.execute(params![text.id, letters::spelled_out(words), pieces, tags])?;
        }
        Ok(())
    }

    /// Drops the texts after they were indexed, and keeps the memory for the next ones.
    pub fn clear(&mut self) {
        self.texts.clear();
        self.words.clear();
    }
}
