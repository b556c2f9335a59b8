//! The server of an agent on a real socket, played with the recorded talk, and a real lock.

#![cfg(target_os = "linux")]

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;

use serde_json::{Value, json};
use tungstenite::protocol::Role;
use tungstenite::{Message, WebSocket};
use watchbill_agents::{Agent, Root};
use watchbill_settings::Settings;

use crate::subscriber::{Subscriber, now};

/// The thread of the recorded talk, and its subagent, which asks. Its third thread makes a title.
const THREAD: &str = "01a227eb-7249-7692-a9dd-d47c363b1e5e";
const SUBAGENT: &str = "01a227eb-78e6-7380-8e07-be58fb42fd68";
const METHODS: [&str; 6] =
    ["initialize", "initialized", "thread/loaded/list", "thread/read", "thread/read", "thread/read"];

/// A server for one connection. It ends, and its socket with it, when the sender is dropped.
struct Server {
    push: Sender<String>,
    thread: JoinHandle<()>,
}

impl Server {
    fn start(socket: PathBuf) -> Self {
        let (push, pushes) = channel();
        let listener = UnixListener::bind(&socket).unwrap();
        let thread = std::thread::spawn(move || {
            let (stream, _) = listener.accept().unwrap();
            talk(stream, &pushes);
            std::fs::remove_file(socket).unwrap();
        });
        Self { push, thread }
    }

    fn push(&self, thread: &str, status: &Value) {
        let params = json!({"threadId": thread, "status": status});
        self.push.send(json!({"method": "thread/status/changed", "params": params}).to_string()).unwrap();
    }

    fn end(self) {
        drop(self.push);
        self.thread.join().unwrap();
    }
}

/// Answers the questions as the real server did, and then pushes.
fn talk(mut stream: UnixStream, pushes: &Receiver<String>) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        let mut byte = [0];
        stream.read_exact(&mut byte).unwrap();
        head.push(byte[0]);
    }
    let head = String::from_utf8(head).unwrap();
    assert!(head.starts_with("GET / HTTP/1.1\r\n") && head.contains("Upgrade: websocket\r\n"), "{head}");
    let accepted = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
                    Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";
    stream.write_all(accepted.as_bytes()).unwrap();
    let mut socket = WebSocket::from_raw_socket(stream, Role::Server, None);
    let talk = include_str!("../../../../tests/fixtures/codex/app-server-talk.ndjson");
    let said: Vec<Value> = talk.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for method in METHODS {
        let question: Value = serde_json::from_str(socket.read().unwrap().to_text().unwrap()).unwrap();
        assert_eq!(question["method"], method);
        let answer = said.iter().map(|line| line["line"].as_str().unwrap()).find(|line| {
            let answer: Value = serde_json::from_str(line).unwrap();
            answer.get("id").is_some() && answer.get("id") == question.get("id")
        });
        if let Some(answer) = answer {
            socket.send(Message::text(answer)).unwrap();
        }
    }
    while let Ok(push) = pushes.recv() {
        socket.send(Message::text(push)).unwrap();
    }
    socket.get_mut().set_nonblocking(true).unwrap();
    assert!(socket.read().is_err(), "nothing else is ever sent");
}

/// A rollout with an open call.
fn write_rollout(root: &Path, thread: &str, source: &Value) {
    let folder = root.join("sessions/2026/11/23");
    std::fs::create_dir_all(&folder).unwrap();
    let mut file = File::create(folder.join(format!("rollout-2026-11-23T16-36-18-{thread}.jsonl"))).unwrap();
    for (kind, payload) in [
        (
            "session_meta",
            json!({"id": thread, "session_id": THREAD, "cwd": root, "originator": "codex-tui", "source": source,
                "cli_version": "0.169.0"}),
        ),
        ("event_msg", json!({"type": "task_started", "turn_id": "t"})),
        (
            "response_item",
            json!({"type": "function_call", "call_id": "c", "name": "exec_command", "arguments": "{}"}),
        ),
    ] {
        let line = json!({"timestamp": now().to_string(), "type": kind, "payload": payload});
        writeln!(file, "{line}").unwrap();
    }
}

#[test]
fn the_servers_word_decides_while_it_is_connected() {
    let home = tempfile::tempdir().unwrap();
    let root = home.path().canonicalize().unwrap().join(".codex");
    write_rollout(&root, THREAD, &json!("vscode"));
    write_rollout(
        &root,
        SUBAGENT,
        &json!({"subagent": {"thread_spawn": {"parent_thread_id": THREAD, "depth": 1}}}),
    );
    let folder = root.join("thread-writer-locks");
    std::fs::create_dir(&folder).unwrap();
    let locks = [THREAD, SUBAGENT].map(|thread| {
        let lock = File::create(folder.join(format!("{thread}.lock"))).unwrap();
        lock.lock().unwrap();
        lock
    });
    let settings = Settings::for_roots(vec![Root::new(Agent::Codex, &root)]);
    let mut subscriber = Subscriber::on(settings);
    let mut until = |what: &str, said: &str| {
        subscriber.until(what, |copy| {
            copy.sessions.iter().any(|row| {
                row.session_id == THREAD
                    && (row.state == what || what.is_empty())
                    && row.state_reason.detail.contains(said)
                    && row.pid == Some(std::process::id())
            })
        });
    };
    // The lock alone: its process is this one.
    until("working", "");
    std::fs::create_dir(root.join("app-server-control")).unwrap();
    let socket = root.join("app-server-control/app-server-control.sock");
    for _ in 0..2 {
        let server = Server::start(socket.clone());
        until("waiting_for_approval", "a subagent asks: registry says `permission prompt`");
        server.push(SUBAGENT, &json!({"type": "active", "activeFlags": []}));
        until("working", "registry says `busy`");
        server.push(SUBAGENT, &json!({"type": "idle"}));
        server.push(THREAD, &json!({"type": "active", "activeFlags": ["waitingOnApproval"]}));
        until("waiting_for_approval", "registry says `permission prompt`");
        server.push(THREAD, &json!({"type": "idle"}));
        until("waiting_for_input", "registry says `idle`");
        server.end();
        // Nothing is known of the server then. The rollout shows the open call.
        until("", "exec_command");
    }
    locks.iter().for_each(|lock| lock.unlock().unwrap());
}
