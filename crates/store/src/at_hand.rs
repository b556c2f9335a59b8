//! Texts on their way into the full-text index, kept in memory from the moment they are stored: to read them back from
//! the database costs a tenth of a first index.

use rusqlite::{Connection, params};

use crate::tables::SessionKey;
use crate::text::{parts, tags};

/// Texts that are stored and not indexed, in order of their numbers, without a gap from the first one on.
#[derive(Debug, Default)]
pub(crate) struct AtHand {
    texts: Vec<AtHandText>,
    /// Their words and the words that stand for session, role and tool, one after the other.
    words: String,
}

#[derive(Debug)]
struct AtHandText {
    id: i64,
    /// Where its text ends in the words; its tags follow.
    text_end: usize,
    tags_end: usize,
}

impl AtHand {
    /// Takes a text that was just stored under this number.
    pub fn take(&mut self, id: i64, text: &str, session: SessionKey, role: &str, tool: Option<&str>) {
        self.words.push_str(text);
        let text_end = self.words.len();
        tags::add(session.0, role, tool, &mut self.words);
        self.texts.push(AtHandText { id, text_end, tags_end: self.words.len() });
    }

    /// Whether all texts from this number on are here.
    pub fn reaches_back_to(&self, id: i64) -> bool {
        self.texts.first().is_some_and(|first| first.id == id)
    }

    /// Puts them into the index, as its view shows them.
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
            insert.execute(params![text.id, words, pieces, tags])?;
        }
        Ok(())
    }

    /// They are indexed. The memory stays for as many more.
    pub fn clear(&mut self) {
        self.texts.clear();
        self.words.clear();
    }
}
