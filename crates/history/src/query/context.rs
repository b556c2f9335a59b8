//! The stored words of a session, for a session of another agent that goes on with its work.

use std::collections::VecDeque;

use watchbill_core::history::rows::Role;
use watchbill_core::memory::secrets::has_secret;
use watchbill_protocol::error::{ApiError, ErrorCode};
use watchbill_settings::Settings;
use watchbill_store::{OpenMode, Store, StoreError};

use super::named::find_stored;
use crate::errors::{data_dir, store_api_error};

/// Texts that are read at once.
const PAGE: u32 = 512;

/// Something that was said in a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Words {
    /// Whose words they are.
    pub speaker: Speaker,
    /// The text.
    pub text: String,
}

/// The source of words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Speaker {
    /// The user.
    User,
    /// The agent.
    Agent,
    /// A call of this tool: the words are its input.
    Tool(String),
    /// A compaction: the words stand for everything before them.
    Summary,
}

/// The newest words of a session that has this id, oldest first, of at least `most` bytes where there are so many. A summary
/// of a compaction comes in place of what it replaced. A text that may hold a secret is left out.
///
/// # Errors
/// When nothing is stored of the session, or the store cannot be read.
pub fn words(settings: &Settings, session: &str, most: usize) -> Result<Vec<Words>, ApiError> {
    let store = Store::open(data_dir(settings)?, OpenMode::Read).map_err(|error| store_api_error(&error))?;
    let nothing = || ApiError::new(ErrorCode::NotFound, "nothing is stored of this session");
    let id = find_stored(settings, session).ok_or_else(nothing)?;
    words_of(&store, &id, most).map_err(|error| store_api_error(&error))
}

fn words_of(
    store: &Store,
    session: &watchbill_core::ids::SessionId,
    most: usize,
) -> Result<Vec<Words>, StoreError> {
    let mut kept: VecDeque<Words> = VecDeque::new();
    let mut bytes = 0;
    let Some(key) = store.session_key(session)? else { return Ok(Vec::new()) };
    for (file, row) in store.files_of(key)? {
        if row.subagent.is_some() {
            continue;
        }
        let mut compacted: VecDeque<u64> =
            store.segments(file)?.into_iter().skip(1).map(|segment| segment.offset).collect();
        let mut from = 0;
        loop {
            let mut page = store.texts(file, from, PAGE)?;
            let is_last = page.len() < PAGE as usize;
            let Some(end) = page.last().map(|text| text.offset) else { break };
            // The texts of one record may lie on both sides of a page's end.
            if !is_last && page[0].offset < end {
                page.retain(|text| text.offset < end);
                from = end;
            } else {
                from = end + 1;
            }
            for text in page {
                let Ok(role) = text.role.parse::<Role>() else { continue };
                if text.subagent.is_some() {
                    continue;
                }
                let speaker = match role {
                    Role::Prompt => Speaker::User,
                    Role::Answer => Speaker::Agent,
                    Role::ToolInput => Speaker::Tool(text.tool.unwrap_or_default()),
                    // The summary of a compaction is the first text after it. Others are for a user who was away.
                    Role::Summary if compacted.front().is_some_and(|begin| *begin <= text.offset) => {
                        compacted.retain(|begin| *begin > text.offset);
                        (bytes, kept) = (0, VecDeque::new());
                        Speaker::Summary
                    }
                    _ => continue,
                };
                // The other agent may be of another provider.
                if has_secret(&text.text) {
                    continue;
                }
                bytes += text.text.len();
                kept.push_back(Words { speaker, text: text.text });
                while kept.front().is_some_and(|first| bytes - first.text.len() > most) {
                    bytes -= kept.pop_front().map_or(0, |first| first.text.len());
                }
            }
            if is_last {
                break;
            }
        }
    }
    Ok(kept.into())
}
