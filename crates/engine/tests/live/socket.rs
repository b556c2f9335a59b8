//! The socket as its clients use it: greeting, answers, subscriptions, and lost connections that do not harm the
//! engine.

use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;

use serde_json::{Value, json};
use watchbill_core::ids::SessionId;
use watchbill_core::user::SessionCommand;
use watchbill_engine::handle::pressed::Pressed;
use watchbill_engine::socket::client::Client;
use watchbill_protocol::error::ErrorCode;
use watchbill_protocol::request::{AnswerCall, RequestDecision};
use watchbill_protocol::roster::{RosterMessage, RosterSnapshot};
use watchbill_settings::Settings;

use crate::processes::register;
use crate::records::SessionWriter;
use crate::subscriber::{Folder, Subscriber, TIMEOUT, now, row};
use crate::user_commands::engine_with_store;

/// The number of changes while a subscriber does not read.
const CHANGES: usize = 500;

/// The connection of another program, line by line.
struct Raw {
    lines: BufReader<UnixStream>,
    hello: Value,
}

impl Raw {
    fn connect(data: &Path) -> Self {
        let stream = UnixStream::connect(data.join("run/engine.sock")).unwrap();
        stream.set_read_timeout(Some(TIMEOUT)).unwrap();
        let mut raw = Self { lines: BufReader::new(stream), hello: Value::Null };
        raw.hello = raw.line();
        raw
    }

    fn send(&mut self, line: &str) {
        writeln!(self.lines.get_mut(), "{line}").unwrap();
    }

    fn line(&mut self) -> Value {
        let mut line = String::new();
        assert_ne!(self.lines.read_line(&mut line).unwrap(), 0, "the connection has ended");
        serde_json::from_str(&line).unwrap()
    }

    fn request(&mut self, call: &Value) -> Value {
        self.send(&call.to_string());
        self.line()
    }
}

#[test]
fn a_client_is_greeted_and_answered_in_order() {
    let (folder, author, data, _ear) = engine_with_store();
    let mode = |path: PathBuf| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(data.join("run")), 0o700, "only the owner reaches the socket");
    let mut raw = Raw::connect(&data);
    assert_eq!((&raw.hello["protocol"], &raw.hello["pid"]), (&json!(1), &json!(std::process::id())));
    let settings = Settings { data_dir: Some(data.clone()), ..folder.settings() };
    assert_eq!(raw.hello["view"], json!(settings.view()));
    assert_eq!(raw.hello["window"], json!(false));
    let roster = raw.request(&json!({"id": "a", "request": "roster"}));
    assert_eq!(roster["id"], "a");
    assert_eq!(roster["reply"]["sessions"][0]["sessionId"], json!(author.session));
    let why = raw.request(&json!({"id": "b", "request": "why", "session": author.session[..8]}));
    assert_eq!((&why["id"], &why["reply"]["sessionId"]), (&json!("b"), &json!(author.session)));
    let opened = raw.request(&json!({"id": "c", "request": "open"}));
    assert_eq!(opened["error"]["code"], "unsupported", "there is no window");
    let asked = json!({"id": "d", "request": "timeline", "session": author.session, "limit": u64::MAX});
    assert_eq!(raw.request(&asked)["reply"]["sessionId"], json!(author.session));
}

#[test]
fn requests_of_the_window_and_of_the_service_are_refused_at_the_socket() {
    let (_folder, author, data, _ear) = engine_with_store();
    let mut raw = Raw::connect(&data);
    for asked in [
        json!({"request": "doctor"}),
        json!({"request": "settings"}),
        json!({"request": "change_settings", "changes": []}),
        json!({"request": "hooks_change", "root": "/", "step": "install", "token": ""}),
        json!({"request": "own_command", "session": author.session, "command": {"do": "stop"}}),
        json!({"request": "mute"}),
        json!({"request": "service_state"}),
        json!({"request": "open_link", "address": "https://example.com"}),
        json!({"request": "document_session", "session": author.session}),
    ] {
        let mut call = asked.clone();
        call["id"] = json!("x");
        assert_eq!(raw.request(&call)["error"]["code"], "refused", "{asked}");
    }
}

#[test]
fn invalid_requests_are_refused_and_the_connection_goes_on() {
    let (_folder, author, data, _ear) = engine_with_store();
    let mut raw = Raw::connect(&data);
    for (line, id) in [
        ("", ""),
        ("[1", ""),
        ("{\"id\":\"x\"}", "x"),
        ("{\"id\":\"y\",\"request\":\"no such\"}", "y"),
        (
            "{\"id\":\"z\",\"request\":\"command\",\"command\":{\"do\":\"snooze\",\"session\":\"s\",\"until\":\"soon\"}}",
            "z",
        ),
        ("{\"id\":\"\",\"request\":\"roster\"}", ""),
    ] {
        raw.send(line);
        let answer = raw.line();
        assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(id), &json!("invalid")), "{line}");
    }
    let unknown = raw.request(&json!({"id": "1", "request": "why", "session": "ffffffff"}));
    assert_eq!(unknown["error"]["code"], "not_found");
    let name = json!({"do": "rename", "session": author.session, "name": "the leak"});
    let named = raw.request(&json!({"id": "2", "request": "command", "command": name}));
    assert_eq!(named, json!({"id": "2", "reply": author.session}));
    // An endless line is not collected without a limit.
    let mut endless = Raw::connect(&data);
    let stream = endless.lines.get_mut();
    while stream.write_all(&[b' '; 64 << 10]).is_ok() {}
    let mut rest = String::new();
    let ended = endless.lines.read_line(&mut rest);
    assert!(ended.is_err() || ended.is_ok_and(|n| n == 0), "{rest}");
    assert!(Client::connect(&data).unwrap().roster(true).is_ok());
}

#[test]
fn subscriptions_per_connection_are_limited() {
    let (_folder, _author, data, _ear) = engine_with_store();
    let mut raw = Raw::connect(&data);
    for n in 0..12 {
        raw.send(&json!({"id": format!("s{n}"), "request": "subscribe"}).to_string());
    }
    let mut refused = 0;
    while refused < 4 {
        refused += u32::from(raw.line()["error"]["code"] == "invalid");
    }
}

#[test]
fn a_subscriber_gets_the_snapshot_and_then_each_change() {
    let (folder, author, data, _ear) = engine_with_store();
    let (sender, messages) = channel();
    let mut client = Client::connect(&data).unwrap();
    let follows =
        std::thread::spawn(move || client.subscribe(true, &mut |message| sender.send(message).is_ok()));
    let next = || messages.recv_timeout(TIMEOUT).unwrap();
    let RosterMessage::Snapshot(first) = next() else { panic!("the snapshot comes first") };
    assert_eq!(first.sessions.len(), 1);
    let other = folder.author(2);
    folder.append(&other, &other.prompt(1, now()));
    let mut revision = first.revision;
    loop {
        let RosterMessage::Delta(delta) = next() else { panic!("deltas follow") };
        assert_eq!(delta.base, revision, "no change is missing");
        revision = delta.revision;
        if delta.upserts.iter().any(|upsert| upsert.session.session_id == other.session) {
            break;
        }
    }
    drop(messages);
    // No receiver is left for its next message.
    folder.append(&author, &author.prompt(2, now()));
    assert_eq!(follows.join().unwrap(), Ok(()));
}

#[test]
fn a_subscriber_that_does_not_read_delays_nothing_and_later_gets_the_current_roster() {
    let (_folder, author, data, mut subscriber) = engine_with_store();
    let mut asleep = Raw::connect(&data);
    asleep.send(r#"{"id":"s","request":"subscribe","all":true}"#);
    // Far more messages than a socket and a mailbox hold.
    for n in 0..CHANGES {
        let name = format!("name {n} of the chain");
        subscriber
            .handle
            .carry_out_command(SessionCommand::Name {
                session: SessionId::new(&author.session),
                name: Some(name.clone()),
            })
            .unwrap();
        // Each change is a message of its own.
        subscriber.until(&name, |copy| copy.sessions[0].work_chain_name.as_ref() == Some(&name));
    }
    let last = format!("name {} of", CHANGES - 1);
    let (mut snapshots, mut messages) = (0, 0);
    loop {
        let line = asleep.line();
        messages += 1;
        snapshots += usize::from(line["event"].get("sessions").is_some());
        if line.to_string().contains(&last) {
            break;
        }
    }
    assert!(snapshots == 2 && messages < CHANGES, "{snapshots} snapshots, {messages} messages");
}

#[test]
fn the_end_of_the_engine_ends_its_connections_and_removes_the_socket() {
    let (_folder, _author, data, subscriber) = engine_with_store();
    let mut raw = Raw::connect(&data);
    raw.send(r#"{"id":"s","request":"subscribe"}"#);
    assert_eq!(raw.line()["id"], "s");
    subscriber.handle.stop();
    let mut rest = String::new();
    while raw.lines.read_line(&mut rest).is_ok_and(|n| n > 0) {}
    assert!(!data.join("run/engine.sock").exists());
    assert!(Client::connect(&data).is_none());
}

/// A killed engine leaves its socket in the folder.
#[test]
fn the_socket_of_a_killed_engine_is_replaced() {
    let folder = Folder::new();
    let data = folder.root.parent().unwrap().join("data");
    std::fs::create_dir_all(data.join("run")).unwrap();
    drop(std::os::unix::net::UnixListener::bind(data.join("run/engine.sock")).unwrap());
    assert!(Client::connect(&data).is_none());
    let _ear = Subscriber::on(Settings { data_dir: Some(data.clone()), ..folder.settings() });
    assert!(Client::connect(&data).is_some());
}

/// The address of a socket has room for about a hundred bytes.
#[cfg(target_os = "linux")]
#[test]
fn a_data_folder_deep_in_a_tree_has_a_socket_too() {
    let folder = Folder::new();
    let data = folder.root.parent().unwrap().join("deep/".repeat(40)).join("data");
    let _ear = Subscriber::on(Settings { data_dir: Some(data.clone()), ..folder.settings() });
    let mut client = Client::connect(&data).unwrap();
    crate::until("the first scan to end", || client.roster(false).is_ok());
}

/// More connections than are allowed at once: each one is released at its end.
#[test]
fn a_connection_ends_with_its_client() {
    let (_folder, _author, data, _ear) = engine_with_store();
    for _ in 0..300 {
        let mut raw = Raw::connect(&data);
        assert_eq!(raw.request(&json!({"id": "1", "request": "roster"}))["id"], "1");
    }
}

/// This process is a client whose dialog is open, so it may ask.
pub fn waiting_client(folder: &Folder, author: &SessionWriter) {
    let file = register(folder, author, "waiting", std::process::id());
    let text = std::fs::read_to_string(&file).unwrap();
    let waiting = r#""status":"waiting","waitingFor":"permission prompt""#;
    std::fs::write(&file, text.replace(r#""status":"waiting""#, waiting)).unwrap();
}

#[test]
fn an_engine_that_does_not_hold_the_store_shows_the_holders_requests_and_lets_it_answer() {
    let (folder, author, data, mut holder) = engine_with_store();
    waiting_client(&folder, &author);
    let mut other = Subscriber::on(Settings { data_dir: Some(data.clone()), ..folder.settings() });
    holder.until_state(&author, "waiting_for_approval");
    other.until_state(&author, "waiting_for_approval");
    let payload = json!({ "session_id": author.session, "hook_event_name": "PermissionRequest", "cwd": author.cwd,
        "tool_name": "Bash", "tool_input": { "command": "npm publish" }, "permission_mode": "default" });
    let mut hook = Raw::connect(&data);
    hook.send(
        &json!({"id": "h", "request": "ask", "ask": "ask-1", "payload": payload.to_string()}).to_string(),
    );
    let request = |copy: &RosterSnapshot| row(copy, &author).and_then(|row| row.request.clone());
    holder.until("the request", |copy| request(copy).is_some());
    other.until("the request of the holder", |copy| request(copy).is_some());
    let (here, there) = (request(&holder.copy).unwrap(), request(&other.copy).unwrap());
    assert_eq!(here, there, "all that is shown is the same");
    assert_eq!(
        other.handle.request(&author.session).unwrap(),
        Some(there.clone()),
        "also for a notification"
    );

    let decision = RequestDecision::Allow;
    let call = AnswerCall {
        session: author.session.clone(),
        request_id: there.id.clone(),
        seen: there.digest,
        decision,
    };
    // This program is no window, so the holder refuses it, and nothing is answered.
    let refused = other.handle.answer(&call, "window", Pressed::now(), None).unwrap_err();
    assert_eq!(refused.code, ErrorCode::Refused);
    assert!(refused.message.contains("the window of the same installation"), "{}", refused.message);
    assert_eq!(request(&holder.copy).map(|request| request.progress), Some("open".to_owned()));

    // The user answers at the holder.
    let given = holder.handle.answer(&call, "window", Pressed::now(), None).unwrap();
    assert_eq!((given.request_id, given.delivered), (there.id, true));
    assert_eq!(hook.line()["reply"].as_str().map(|text| text.contains("allow")), Some(true));
    other.until("the answer of the holder", |copy| {
        request(copy).is_none_or(|request| request.progress != "open")
    });
    drop(holder);
    other.until("no request without its holder", |copy| request(copy).is_none());
}
