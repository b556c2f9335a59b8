//! goose. It keeps its sessions in a database; [`rows`] shows each as a transcript.

pub mod layout;
pub mod rows;

use crate::opencode::rows::parse_line;
use crate::traits::Database;
use crate::{Layout, Traits};

/// What goose is.
pub const TRAITS: Traits = Traits {
    title: "goose",
    program: "goose",
    folder: ".local/share/goose/sessions",
    folder_variable: Some(("XDG_DATA_HOME", "goose/sessions")),
    resume: "goose session --resume --session-id",
    layout: &LAYOUT,
    ..Traits::OF_FILES
};

/// How goose's files lie.
pub const LAYOUT: Layout = Layout {
    database: Some(&DATABASE),
    classify: layout::classify,
    find: layout::find,
    parse_line,
    ..Layout::OF_FILES
};

/// Its database, by its public source. A message has no time of its last change, so its length stands for that. Times are whole seconds;
/// the ids of messages, which only grow, tell two within one second apart.
pub const DATABASE: Database = Database {
    file: layout::DATABASE,
    sessions: "SELECT id, NULL, ifnull(CAST(strftime('%s', updated_at) AS INTEGER), 0) * 1000
                      + (SELECT ifnull(max(m.id), 0) % 1000 FROM messages m WHERE m.session_id = sessions.id)
               FROM sessions WHERE session_type IN ('user', 'scheduled')",
    session: "SELECT id, ifnull(CAST(strftime('%s', updated_at) AS INTEGER), 0) * 1000
                     + (SELECT ifnull(max(m.id), 0) % 1000 FROM messages m WHERE m.session_id = sessions.id),
                     (SELECT count(*) FROM messages WHERE session_id = ?1)
              FROM sessions WHERE id = ?1",
    units: "SELECT 'm' || id, created_timestamp * 1000 + id % 1000, length(content_json),
                   CASE WHEN role = 'user' OR content_json LIKE '%\"toolRequest\"%' THEN 2 ELSE 0 END
            FROM messages WHERE session_id = ?1 ORDER BY id DESC LIMIT ?2",
    rows: "SELECT 'session', id, ifnull(CAST(strftime('%s', created_at) AS INTEGER), 0) * 1000,
                  json_object('directory', working_dir, 'title', name)
           FROM sessions WHERE id = ?1
           UNION ALL SELECT 'message', 'm' || id, created_timestamp * 1000 + id % 1000,
                  json_object('role', role, 'content', CASE WHEN json_valid(content_json) THEN json(content_json) END,
                              'shown', CASE WHEN json_valid(metadata_json) THEN json_extract(metadata_json, '$.userVisible') END)
           FROM messages WHERE ?1 LIKE 'm%' AND id = CAST(substr(?1, 2) AS INTEGER)",
    quiet: 0,
    path_of: layout::path_of,
    session_of: layout::session_of,
    lines: rows::lines,
};
