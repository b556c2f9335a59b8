//! An engine that watches a database, and the agent that writes it.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::Connection;
use serde_json::{Map, Value};
use tempfile::TempDir;
use watchbill_agents::{Agent, Root};
use watchbill_core::evidence::registry::Liveness;
use watchbill_core::hook::{HookMessage, HookOrigin};
use watchbill_core::ids::{Instance, SessionId};
use watchbill_core::session::state::Confidence;
use watchbill_core::time::{Millis, Timestamp};
use watchbill_engine::engine::{Engine, Outlook, Sources};
use watchbill_engine::input::Input;
use watchbill_engine::world::archive::with_archive;
use watchbill_settings::Settings;
use watchbill_watch::clock::{Clock, SystemClock};
use watchbill_watch::fs::StdFs;
use watchbill_watch::hints::Hint;
use watchbill_watch::process::FakeProcesses;

pub const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/fixtures/opencode");

/// The tables of opencode 1.18.33, with the columns that are asked for.
const TABLES: &str = "
PRAGMA journal_mode = wal;
CREATE TABLE session (id text PRIMARY KEY, parent_id text, directory text NOT NULL, title text NOT NULL, version text NOT NULL,
    time_created integer NOT NULL, time_updated integer NOT NULL);
CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer NOT NULL, time_updated integer NOT NULL,
    data text NOT NULL);
CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, time_created integer NOT NULL,
    time_updated integer NOT NULL, data text NOT NULL);
CREATE INDEX message_session_time_created_id_idx ON message (session_id, time_created, id);
CREATE INDEX part_message_id_id_idx ON part (message_id, id);
";

/// The agent's folder and database, the engine, and the time.
pub struct House {
    folder: TempDir,
    pub sql: Connection,
    pub engine: Engine,
    pub now: Timestamp,
    processes: FakeProcesses,
    heard: u64,
}

/// The process that runs the sessions.
const PID: u32 = 5922;

impl House {
    pub fn new(now: Timestamp) -> Self {
        let folder = TempDir::new().unwrap();
        let sql = Connection::open(folder.path().join("opencode.db")).unwrap();
        sql.execute_batch(TABLES).unwrap();
        let processes = FakeProcesses::new();
        processes.set(Instance { pid: PID, proc_start: Some("1".into()) }, Liveness::Alive);
        let engine = engine(folder.path(), &processes, now);
        Self { folder, sql, engine, now, processes, heard: 0 }
    }

    /// Another program, which has seen nothing yet, looks at the same rows.
    pub fn cold(&self) -> Engine {
        engine(self.folder.path(), &self.processes, self.now)
    }

    pub fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    /// Writes a row as the recording has it: a new one, or the changed columns.
    pub fn write(&self, operation: &Value) {
        let (table, row) = (operation["table"].as_str().unwrap(), operation["row"].as_object().unwrap());
        let mut columns =
            self.sql.prepare(&format!("SELECT name FROM pragma_table_info('{table}')")).unwrap();
        let columns: Vec<String> =
            columns.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        let fields: Vec<(&str, rusqlite::types::Value)> =
            columns.iter().filter_map(|name| Some((&**name, value(row.get(name)?)))).collect();
        let names: Vec<&str> = fields.iter().map(|(name, _)| *name).collect();
        let values = fields.iter().map(|(_, value)| value);
        let written = match operation["ev"].as_str().unwrap() {
            "insert" => {
                let marks = vec!["?"; names.len()].join(", ");
                let query = format!("INSERT INTO {table} ({}) VALUES ({marks})", names.join(", "));
                self.sql.execute(&query, rusqlite::params_from_iter(values))
            }
            "update" => {
                let set: Vec<String> = names.iter().map(|name| format!("{name} = ?")).collect();
                let query = format!(
                    "UPDATE {table} SET {} WHERE id = '{}'",
                    set.join(", "),
                    row["id"].as_str().unwrap()
                );
                self.sql.execute(&query, rusqlite::params_from_iter(values))
            }
            _ => {
                self.sql.execute(&format!("DELETE FROM {table} WHERE id = ?"), [row["id"].as_str().unwrap()])
            }
        };
        assert_eq!(written.unwrap(), 1, "{operation}");
    }

    /// The watcher has seen that the database was written.
    pub fn tell(&mut self) {
        let log = self.root().join("opencode.db-wal");
        self.engine.step(self.now, Input::Hints([Hint::File(log)].into()));
    }

    /// A payload of the plugin.
    pub fn hear(&mut self, payload: &Value) {
        self.heard += 1;
        let origin = HookOrigin {
            id: format!("heard-{}", self.heard).into(),
            at: self.now,
            order: self.heard,
            agent: Some(Instance { pid: PID, proc_start: Some("1".into()) }),
            ancestors: Arc::from([]),
            terminal: None,
        };
        let mut message = HookMessage::new(origin, payload.to_string().as_bytes());
        message.agent = Agent::Opencode;
        self.engine.step(self.now, Input::Hooks(vec![message]));
    }

    /// The agent's process ends.
    pub fn kill(&mut self) {
        self.processes.set(Instance { pid: PID, proc_start: Some("1".into()) }, Liveness::Dead);
        self.engine.step(self.now, Input::ProcessEnded(Some(PID)));
    }

    /// Lets time pass, each deadline at its own time.
    pub fn run_to(&mut self, until: Timestamp) {
        while let Some(due) = self.engine.next_deadline().filter(|due| *due <= until) {
            self.now = self.now.max(due);
            self.engine.step(self.now, Input::Deadline);
        }
        self.now = self.now.max(until);
    }

    pub fn wait(&mut self, seconds: i64) {
        self.run_to(self.now + Millis::from_secs(seconds));
    }
}

fn engine(root: &Path, processes: &FakeProcesses, now: Timestamp) -> Engine {
    let settings = Settings::for_roots(vec![Root::new(Agent::Opencode, root)]);
    let real = Sources { fs: Arc::new(StdFs), processes: Arc::new(processes.clone()) };
    let world = with_archive(real, &settings);
    let mut engine = Engine::new(settings, world, Outlook::LIVE, now);
    engine.step(now, Input::ScanEnded(Vec::new()));
    engine.step(now, Input::Hints([Hint::Everything].into()));
    engine
}

fn value(field: &Value) -> rusqlite::types::Value {
    match field {
        Value::Null => rusqlite::types::Value::Null,
        Value::Number(number) => number.as_i64().unwrap().into(),
        Value::String(text) => text.clone().into(),
        json => json.to_string().into(),
    }
}

/// `state/kind` of a session, with `?` if it is inferred.
pub fn state(engine: &Engine, session: &str) -> String {
    let Some(row) = engine.row(&SessionId::new(session)) else { return "-".into() };
    let kind = row.state_kind.map_or(String::new(), |kind| format!("/{}", kind.as_str()));
    let sure = row.state_reason.confidence == Confidence::Observed;
    format!("{}{kind}{}", row.state.as_str(), if sure { "" } else { "?" })
}

/// The operations of a recording, as if it began now, and the time at which it began. Changes of rows are looked at again while they
/// are new.
pub fn recording(name: &str) -> (Vec<Value>, Timestamp) {
    let text = std::fs::read_to_string(format!("{FIXTURES}/recordings/{name}.ndjson")).unwrap();
    let mut operations: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    // What the plugin told of them.
    let told = std::fs::read_to_string(format!("{FIXTURES}/payloads/{name}.ndjson")).unwrap_or_default();
    operations.extend(told.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()));
    operations.sort_by_key(|operation| operation["t"].as_i64());
    let first = operations.iter().find_map(|operation| operation["row"]["time_created"].as_i64()).unwrap();
    let later = SystemClock.now().as_millis() - first;
    operations.iter_mut().for_each(|operation| shift(operation, later));
    // Rows are seen after their own times, so the latest guess is the best one.
    let begin = operations.iter().filter_map(|operation| {
        let updated = operation["row"]["time_updated"].as_i64()?;
        Some(Timestamp::from_millis(updated - operation["t"].as_i64()?))
    });
    let begin = begin.max().unwrap();
    (operations, begin)
}

/// Moves each time in a value.
fn shift(value: &mut Value, later: i64) {
    match value {
        Value::Number(number) => {
            if let Some(time) = number.as_i64().filter(|number| *number > 1_700_000_000_000) {
                *value = (time + later).into();
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| shift(item, later)),
        Value::Object(fields) => fields.values_mut().for_each(|field| shift(field, later)),
        _ => {}
    }
}

/// Plays a recording; calls `seen` after each operation, and says whether the engine knows of it.
pub fn play(name: &str, with_plugin: bool, mut seen: impl FnMut(&House, &Value, bool)) -> House {
    let (operations, begin) = recording(name);
    let mut house = House::new(begin);
    for (n, operation) in operations.iter().enumerate() {
        let at = |operation: &Value| operation["t"].as_i64().unwrap();
        house.run_to(begin + Millis(at(operation)));
        let mut is_told = false;
        if operation["op"] == "row" {
            house.write(operation);
            // Rows of one time were found by one look.
            let is_last =
                operations.get(n + 1).is_none_or(|next| next["op"] != "row" || at(next) != at(operation));
            if is_last {
                house.tell();
            }
            is_told = is_last;
        }
        match operation["op"].as_str() {
            None if with_plugin => house.hear(&operation["payload"]),
            Some("mark") if with_plugin && operation["text"].as_str().unwrap().starts_with("kill -9") => {
                house.kill()
            }
            _ => {}
        }
        seen(&house, operation, is_told);
    }
    house
}

/// Rows of an export, as the database had them.
pub fn rows_of_export(export: &Value) -> Vec<Value> {
    let insert = |table: &str, row: Map<String, Value>| serde_json::json!({"table": table, "ev": "insert", "row": row});
    let info = &export["info"];
    let text = |value: &Value, name: &str| value[name].clone();
    let session = Map::from_iter([
        ("id".to_owned(), text(info, "id")),
        ("directory".to_owned(), text(info, "directory")),
        ("title".to_owned(), text(info, "title")),
        ("version".to_owned(), text(info, "version")),
        ("time_created".to_owned(), text(&info["time"], "created")),
        ("time_updated".to_owned(), text(&info["time"], "updated")),
    ]);
    let mut rows = vec![insert("session", session)];
    for (n, message) in (0..).zip(export["messages"].as_array().unwrap()) {
        let mut message = message.clone();
        // All times of the export are one.
        shift(&mut message, n);
        let info = &message["info"];
        let times = |id: &Value| {
            Map::from_iter([
                ("id".to_owned(), id.clone()),
                ("session_id".to_owned(), text(info, "sessionID")),
                ("time_created".to_owned(), text(&info["time"], "created")),
                ("time_updated".to_owned(), text(&info["time"], "created")),
            ])
        };
        let mut row = times(&info["id"]);
        row.insert("data".to_owned(), info.clone());
        rows.push(insert("message", row));
        for part in message["parts"].as_array().unwrap() {
            let mut row = times(&part["id"]);
            row.insert("message_id".to_owned(), info["id"].clone());
            row.insert("data".to_owned(), part.clone());
            rows.push(insert("part", row));
        }
    }
    rows
}
