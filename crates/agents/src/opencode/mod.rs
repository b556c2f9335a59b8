//! opencode. It keeps its sessions in a database; [`rows`] shows each as a transcript.

pub mod hooks;
pub mod install;
pub mod layout;
pub mod rows;

use crate::traits::Database;
use crate::{HookTraits, Layout, Traits};

/// What opencode is.
pub const TRAITS: Traits = Traits {
    title: "opencode",
    program: "opencode",
    folder: ".local/share/opencode",
    folder_variable: Some(("XDG_DATA_HOME", "opencode")),
    resume: "opencode --session",
    layout: &LAYOUT,
    hooks: Some(&HOOKS),
    ..Traits::OF_FILES
};

/// How opencode runs hooks: by a plugin of ours.
pub const HOOKS: HookTraits = HookTraits {
    alone_tell: Some("requests for permission"),
    parse: hooks::parse_payload,
    settings: install::SETTINGS,
    settings_folder: Some((".config/opencode", ("XDG_CONFIG_HOME", "opencode"))),
    project_folder: ".opencode",
    plugin: Some(install::PLUGIN),
    events: install::EVENTS,
    answer_event: Some(&install::ANSWER_EVENT),
    takes_choices: true,
    note: Some(install::NOTE),
    ..HookTraits::OF_SETTINGS
};

/// How opencode's files lie.
pub const LAYOUT: Layout = Layout {
    database: Some(&DATABASE),
    classify: layout::classify,
    find: layout::find,
    parse_line: rows::parse_line,
    ..Layout::OF_FILES
};

/// Its database (1.2 to 1.18). The tables `account`, `credential` and `control_account` hold secrets and are never asked.
pub const DATABASE: Database = Database {
    file: layout::DATABASE,
    // A compaction begins with a message, and the row of its session changes when it is over. So the newest messages count too.
    sessions: "SELECT id, max(parent_id), max(at) FROM (
                   SELECT id, parent_id, time_updated AS at, 1 AS is_row FROM session
                   UNION ALL SELECT session_id, NULL, time_created, 0
                   FROM (SELECT session_id, time_created FROM message ORDER BY id DESC LIMIT 100)
               ) GROUP BY id HAVING max(is_row)",
    session: "SELECT s.id, max(s.time_updated, ifnull((
                         SELECT max(n.time_created)
                         FROM (SELECT session_id, time_created FROM message ORDER BY id DESC LIMIT 100) n
                         WHERE n.session_id = ?1), 0)),
                     (SELECT count(*) FROM message WHERE session_id = ?1)
              FROM session s WHERE s.id = ?1",
    units: "SELECT m.id, max(m.time_updated, ifnull((SELECT max(p.time_updated) FROM part p WHERE p.message_id = m.id), 0)),
                   (SELECT count(*) FROM part p WHERE p.message_id = m.id),
                   CASE WHEN NOT json_valid(m.data) THEN 0
                        WHEN json_extract(m.data, '$.role') = 'user' OR json_extract(m.data, '$.finish') = 'tool-calls' THEN 2
                        ELSE json_extract(m.data, '$.time.completed') IS NULL END
            FROM message m WHERE m.session_id = ?1 ORDER BY m.time_created DESC, m.id DESC LIMIT ?2",
    rows: "SELECT 'session', id, time_created, json_object('directory', directory, 'title', title, 'version', version)
           FROM session WHERE id = ?1
           UNION ALL SELECT 'message', id, time_created, data FROM message WHERE id = ?1
           UNION ALL SELECT * FROM (
               SELECT 'part', id, time_created, data FROM part WHERE message_id = ?1 ORDER BY id)",
    quiet: 2_000,
    path_of: layout::path_of,
    session_of: layout::session_of,
    lines: rows::lines,
};
