//! `watchbill serve --http`: the roster and the history over HTTP, to programs of this user alone.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Stdio};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::forget::until;
use crate::home::Home;
use crate::tree::transcript;
use crate::with_serve::Serve;

pub const PAGER: &str = "aaaaaaaa-0000-4000-8000-000000000001";

/// `watchbill serve --http`, its address and its token.
pub struct Service {
    program: Child,
    pub home: Home,
    pub address: SocketAddr,
    token: String,
}

impl Service {
    fn start() -> Self {
        Self::with("")
    }

    pub fn with(config: &str) -> Self {
        let mut service = Self::spawned(config, &["serve", "--http"]);
        service.wait();
        service
    }

    /// The program, which may not serve yet.
    fn spawned(config: &str, words: &[&str]) -> Self {
        Self::of(Home::empty().configured(config), words)
    }

    fn of(home: Home, words: &[&str]) -> Self {
        let prompt = json!({"type": "user", "uuid": "u1", "timestamp": "2026-11-20T15:00:00.000Z", "cwd": "/home/dev/api",
            "sessionId": PAGER, "promptId": "p1", "message": {"role": "user", "content": "The pager skips rows"}});
        transcript(&home.claude(), PAGER, &[prompt]);
        home.out(&["index"]);
        let program = home.command(words).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        Self { program, home, address: SocketAddr::from(([127, 0, 0, 1], 0)), token: String::new() }
    }

    /// Waits until it serves.
    fn wait(&mut self) {
        until("the service to listen", || self.read_note().is_some());
        until("the first scan to end", || self.get("/api/sessions").status == 200);
    }

    /// Kills the program and starts it again.
    pub fn restart(&mut self, between: impl FnOnce(&Home)) {
        self.program.kill().unwrap();
        self.program.wait().unwrap();
        std::fs::remove_file(self.note()).unwrap();
        between(&self.home);
        let mut command = self.home.command(&["serve", "--http"]);
        self.program = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        self.wait();
    }

    /// Edits the configuration file of the running program.
    pub fn configure(&self, config: &str) {
        std::fs::write(self.home.path().join("config.toml"), config).unwrap();
    }

    fn note(&self) -> std::path::PathBuf {
        self.home.data().join("service.json")
    }

    fn read_note(&mut self) -> Option<()> {
        let note: Value = serde_json::from_str(&std::fs::read_to_string(self.note()).ok()?).ok()?;
        self.address.set_port(u16::try_from(note["port"].as_u64()?).ok()?);
        note["token"].as_str()?.clone_into(&mut self.token);
        Some(())
    }

    /// Sends these lines, with the end of the head behind them.
    fn raw(&self, head: &[&str]) -> Answer {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.write_all(format!("{}\r\nconnection: close\r\n\r\n", head.join("\r\n")).as_bytes()).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        Answer::read(&text)
    }

    /// Posts as a client of the document does: without a type, and with the token in its base address.
    pub fn post(&self, path: &str, body: &Value) -> u16 {
        let (body, token) = (body.to_string(), &self.token);
        let length = format!("content-length: {}", body.len());
        let mut stream = TcpStream::connect(self.address).unwrap();
        let head =
            [format!("POST /t/{token}{path} HTTP/1.1"), self.host(), length, "connection: close".to_owned()];
        stream.write_all(format!("{}\r\n\r\n{body}", head.join("\r\n")).as_bytes()).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        Answer::read(&text).status
    }

    /// The id of its process.
    pub fn pid(&self) -> u32 {
        self.program.id()
    }

    pub fn get(&self, path: &str) -> Answer {
        self.raw(&[&format!("GET {path} HTTP/1.1"), &self.host(), &self.bearer()])
    }

    pub fn host(&self) -> String {
        format!("host: 127.0.0.1:{}", self.address.port())
    }

    pub fn bearer(&self) -> String {
        format!("authorization: Bearer {}", self.token)
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

pub struct Answer {
    pub status: u16,
    head: String,
    pub body: String,
}

impl Answer {
    fn read(text: &str) -> Self {
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("{text:?}"));
        let status = head.split(' ').nth(1).and_then(|word| word.parse().ok()).unwrap();
        Self { status, head: head.to_lowercase(), body: body.to_owned() }
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("{}", self.body))
    }
}

#[test]
fn a_program_with_the_token_reads_what_the_command_line_shows() {
    let service = Service::start();
    let health = service.raw(&["GET /health HTTP/1.1", &service.host()]);
    assert_eq!(health.json(), json!({"status": "ok", "version": env!("CARGO_PKG_VERSION")}));
    let rows = service.get("/api/sessions?all=true").json();
    assert_eq!(rows["sessions"][0]["sessionId"], PAGER);
    assert_eq!(service.get(&format!("/api/sessions/{PAGER}")).json()["sessionId"], PAGER);
    assert_eq!(service.get(&format!("/api/sessions/{PAGER}/chain")).json()["head"], PAGER);
    let timeline = service.get(&format!("/api/sessions/{PAGER}/timeline?limit=1")).json();
    assert_eq!(timeline["items"][0]["text"], "The pager skips rows");
    assert_eq!(service.get("/api/search?q=pager").json()["hits"][0]["sessionId"], PAGER);
    let unknown = service.get("/api/sessions/none");
    assert_eq!((unknown.status, &unknown.json()["code"]), (404, &json!("not_found")));
    assert_eq!(service.get("/api/search").status, 400, "without a query");
}

#[test]
fn a_data_folder_behind_a_link_is_served() {
    let place = tempfile::tempdir().unwrap();
    let (real, link) = (place.path().join("real"), place.path().join("link"));
    std::fs::create_dir(&real).unwrap();
    std::os::unix::fs::symlink(&real, &link).unwrap();
    let mut service = Service::of(Home::with(link, ""), &["serve", "--http"]);
    service.wait();
    assert_eq!(service.get("/api/sessions?all=true").json()["sessions"][0]["sessionId"], PAGER);
    assert!(real.join("service.json").is_file());
}

#[test]
fn pages_other_names_and_other_users_get_nothing() {
    let service = Service::start();
    let (host, token) = (service.host(), service.bearer());
    let line = "GET /api/sessions HTTP/1.1";
    let ask = |head: &[&str]| service.raw(&[&[line], head].concat());
    assert_eq!(ask(&[&host]).status, 401, "no token");
    assert_eq!(ask(&[&host, "authorization: Bearer 0000"]).status, 401);
    assert_eq!(ask(&["host: evil.example", &token]).status, 403, "a name that points here");
    for page in ["origin: http://evil.example", "origin: null", "sec-fetch-site: cross-site"] {
        let refused = ask(&[&host, &token, page]);
        assert_eq!(refused.status, 403, "{page}");
        assert!(!refused.head.contains("access-control"), "{}", refused.head);
    }
    let asked_before = service.raw(&["OPTIONS /api/sessions HTTP/1.1", &host, "origin: http://evil.example"]);
    assert_eq!(asked_before.status, 403);
    let written = service.raw(&["POST /api/sessions HTTP/1.1", &host, &token, "content-length: 0"]);
    assert_eq!(written.status, 415, "a body that a form of a page could send");
    let kind = "content-type: application/json";
    let written = service.raw(&["POST /api/sessions HTTP/1.1", &host, &token, kind, "content-length: 0"]);
    assert_eq!(written.status, 405, "it only reads");
    let mode =
        std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(service.note()).unwrap().permissions());
    assert_eq!(mode & 0o777, 0o600, "another user cannot read the token");
}

#[test]
fn the_events_begin_with_a_snapshot_and_go_on() {
    let service = Service::start();
    let mut stream = TcpStream::connect(service.address).unwrap();
    let (host, token) = (service.host(), service.bearer());
    write!(stream, "GET /events HTTP/1.1\r\n{host}\r\n{token}\r\n\r\n").unwrap();
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    let mut next = || -> Value {
        let line = lines.by_ref().find_map(|line| Some(line.strip_prefix("data: ")?.to_owned())).unwrap();
        serde_json::from_str(&line).unwrap()
    };
    assert_eq!(next()["event"], "snapshot");
    let now = crate::tree::now();
    let later = json!({"type": "user", "uuid": "u2", "timestamp": now.to_string(), "cwd": "/home/dev/api",
        "sessionId": PAGER, "promptId": "p2", "message": {"role": "user", "content": "And now the index"}});
    transcript(&service.home.claude(), PAGER, &[later]);
    let event = next();
    assert!(matches!(event["event"].as_str(), Some("discovered" | "updated")), "{event}");
}

#[test]
fn slow_clients_and_too_many_followers_do_not_stop_the_others() {
    let service = Service::start();
    // Each holds a connection with half of a head, until the service ends it.
    let _half: Vec<_> = (0..31)
        .map(|_| {
            let mut stream = TcpStream::connect(service.address).unwrap();
            stream.write_all(b"GET /health HTTP/1.1\r\n").unwrap();
            stream
        })
        .collect();
    assert_eq!(service.get("/api/sessions").status, 200, "one place is left");
    drop(_half);
    let (host, token) = (service.host(), service.bearer());
    let follow = || {
        let mut stream = TcpStream::connect(service.address).unwrap();
        write!(stream, "GET /events HTTP/1.1\r\n{host}\r\n{token}\r\n\r\n").unwrap();
        let mut line = String::new();
        let mut reader = BufReader::new(stream);
        reader.read_line(&mut line).unwrap();
        (reader, line)
    };
    let followers: Vec<_> = (0..9).map(|_| follow()).collect();
    let taken = followers.iter().filter(|(_, line)| line.contains("200")).count();
    assert_eq!(taken, 8);
    assert_eq!(service.get("/api/sessions").status, 200);
}

#[test]
fn clients_that_do_not_read_or_send_on_do_not_stop_the_others() {
    let service = Service::start();
    let (host, token) = (service.host(), service.bearer());
    let all_places = |text: &str| -> Vec<_> {
        let client = |_| {
            let mut stream = TcpStream::connect(service.address).unwrap();
            // Few answers fill a small buffer, and the service waits from then on.
            rustix::net::sockopt::set_socket_recv_buffer_size(&stream, 4 << 10).unwrap();
            stream.set_write_timeout(Some(Duration::from_millis(200))).unwrap();
            // A service that reads no more, or has ended the connection, takes only a part.
            let _ = stream.write_all(text.as_bytes());
            stream
        };
        (0..32).map(client).collect()
    };
    let head = format!("{host}\r\ncontent-type: application/json\r\ncontent-length: 1000");
    let unfinished = format!("POST /sessions/a/observations HTTP/1.1\r\n{head}\r\n{token}\r\n\r\n{{");
    let _unfinished = all_places(&unfinished);
    assert_eq!(service.get("/api/sessions").status, 200, "bodies without an end");
    let unread = format!("GET /api/sessions HTTP/1.1\r\n{host}\r\n\r\n").repeat(60_000);
    let _refused = all_places(&unread);
    assert_eq!(service.get("/api/sessions").status, 200, "answers that are refused and unread");
    let _unread = all_places(&unread.replace(&host, &format!("{host}\r\n{token}")));
    assert_eq!(service.get("/api/sessions").status, 200, "answers that are unread");
}

#[test]
fn the_note_goes_with_the_service() {
    let mut service = Service::start();
    kill_process(Pid::from_child(&service.program), Signal::TERM).unwrap();
    assert_eq!(service.program.wait().unwrap().code(), Some(0));
    assert!(!service.note().exists());
    assert!(TcpStream::connect(service.address).is_err());
}

#[test]
fn a_running_program_serves_as_long_as_the_settings_want_it() {
    let mut service = Service::spawned("[service]\nhttp = true\naccept = true\n", &["serve"]);
    service.wait();
    let end = json!({"claudeSessionId": "s", "reason": "exit"});
    assert_eq!(service.post("/api/sessions/complete", &end), 202);
    service.configure("[service]\nhttp = true\n");
    let old = service.token.clone();
    until("the new service", || service.read_note().is_some() && service.token != old);
    assert_eq!(service.post("/api/sessions/complete", &end), 403, "the user takes it back");
    service.configure("[service]\nhttp = false\n");
    // The note goes before the port is closed, so that a reader of the note finds a service.
    until("the end of the note", || !service.note().exists());
    until("the end of the service", || TcpStream::connect(service.address).is_err());
    assert!(service.program.try_wait().unwrap().is_none(), "the program keeps watch");
}

#[test]
fn a_taken_port_ends_the_program_only_if_the_command_line_wants_the_service() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let config = format!("[service]\nhttp = true\nport = {port}\n");
    let home = Home::empty().configured(&config);
    let serve = Serve::of(&home);
    let said = home.run_watchbill(&["serve", "--http"]);
    assert!(
        said.code != 0 && said.err.contains(&format!("cannot serve HTTP on port {port}")),
        "{}",
        said.err
    );
    drop(taken);
    std::fs::write(home.path().join("config.toml"), format!("{config}accept = true\n")).unwrap();
    until("the service on its port", || {
        let note = std::fs::read_to_string(home.data().join("service.json"));
        note.is_ok_and(|note| note.contains(&format!("\"port\":{port},")))
    });
    let (code, messages) = serve.end(Signal::TERM);
    assert!(code == Some(0) && messages.contains("HTTP is not served"), "{code:?} {messages}");
}

#[test]
fn what_a_program_sends_is_a_proposal_and_not_the_user_s_word() {
    let service = Service::with("[service]\naccept = true\n");
    let prompts = [
        "make the log nicer",
        "No, log lines are always in UTC, never in local time",
        "remember: pay with card 7",
    ];
    for (n, prompt) in prompts.iter().enumerate() {
        let body = json!({"claudeSessionId": "told", "userPrompt": prompt, "promptNumber": n, "cwd": "/home/dev/api"});
        assert_eq!(service.post("/sessions/init", &body), 202);
        let end = json!({"claudeSessionId": "told", "last_assistant_message": "Done."});
        assert_eq!(service.post("/sessions/summarize", &end), 202);
    }
    let mut standings = Value::Null;
    until("both findings", || {
        let said = service.home.run_watchbill(&["memory", "--project", "/home/dev/api", "list", "--json"]);
        let list: Value = serde_json::from_str(&said.out).unwrap_or_default();
        standings =
            list["memories"].as_array().into_iter().flatten().map(|one| one["standing"].clone()).collect();
        standings.as_array().is_some_and(|all| all.len() == 2)
    });
    assert_eq!(standings, json!(["proposed", "proposed"]));
}

/// The bodies are those of the claude-recall document's examples.
#[test]
fn the_document_s_own_requests_get_what_it_promises() {
    let service = Service::with("[service]\naccept = true\n[memory]\ncontext = \"all\"\n");
    service.home.out(&["memory", "--project", "/home/dev/api", "add", "the staging host sleeps at night"]);
    let under =
        |path: &str| service.raw(&[&format!("GET /t/{}{path} HTTP/1.1", service.token), &service.host()]);
    assert_eq!(under("/health").status, 200);
    let context = under("/api/context/inject?project=api");
    assert!(context.status == 200 && context.head.contains("text/markdown"), "{}", context.head);
    assert!(context.body.contains("the staging host sleeps at night"), "{}", context.body);
    assert_eq!(under("/api/context/inject?project=unknown").body, "", "an unknown project has no context");
    assert_eq!(under("/api/processing").json()["isProcessing"], false);

    let mut follower = TcpStream::connect(service.address).unwrap();
    write!(follower, "GET /t/{}/events HTTP/1.1\r\n{}\r\n\r\n", service.token, service.host()).unwrap();
    let mut lines = BufReader::new(follower).lines().map_while(Result::ok);
    let mut told = |event: &str| -> Value {
        let found = lines.by_ref().filter_map(|line| {
            let event: Value = serde_json::from_str(line.strip_prefix("data: ")?).unwrap();
            Some(event)
        });
        found.into_iter().find(|one| one["event"] == event).unwrap()
    };
    told("snapshot");

    let session = "claude-session-123";
    let prompt = json!({"claudeSessionId": session, "project": "default", "userPrompt": "Add login feature", "promptNumber": 1});
    assert_eq!(service.post("/sessions/42/init", &prompt), 202);
    assert_eq!(told("session_initialized")["sessionId"], session);
    let private = json!({"sessionId": "quiet-session", "project": "default",
        "userPrompt": "<private>the key under the mat</private>"});
    assert_eq!(service.post("/sessions/init", &private), 202);
    let read = json!({"claudeSessionId": session, "tool_name": "Read", "tool_input": {"file_path": "/src/index.ts"},
        "tool_response": "file contents...", "cwd": "/path/to/project"});
    let saved = json!({"claudeSessionId": session, "tool_name": "FileSave", "tool_input": {"path": "/src/auth.ts"},
        "tool_response": "File saved successfully"});
    for path in ["/api/sessions/observations", "/sessions/observations"] {
        assert_eq!(service.post(path, &read), 202, "sent again, it is one call");
    }
    assert_eq!(service.post("/api/sessions/observations", &saved), 202);
    let stop = json!({"claudeSessionId": session, "last_user_message": "Add login feature",
        "last_assistant_message": "The login works.\n\nNext:\n- write its tests"});
    assert_eq!(service.post("/api/sessions/summarize", &stop), 202);
    assert_eq!(service.post("/api/processing", &json!({"isProcessing": false})), 202);
    assert_eq!(
        service.post("/api/sessions/complete", &json!({"claudeSessionId": session, "reason": "exit"})),
        202
    );

    assert_eq!(told("session_completed")["sessionId"], session);

    // It enters the history, and only that.
    let mut summary = Value::Null;
    until("the summary", || {
        let said = service.home.run_watchbill(&["summary", session, "--json"]);
        summary = serde_json::from_str(&said.out).unwrap_or_default();
        summary["nextSteps"] == json!(["write its tests"])
    });
    assert_eq!(summary["request"], "Add login feature");
    let mut stored = Value::Null;
    until("the end of the session", || {
        stored = service.get(&format!("/sessions/{session}")).json();
        stored["status"] == "completed"
    });
    assert_eq!(
        (&stored["promptCounter"], &stored["firstUserPrompt"], &stored["cwd"]),
        (&json!(1), &json!("Add login feature"), &json!("/path/to/project"))
    );
    assert!(stored["createdAt"].is_string() && stored["completedAt"].is_string(), "{stored}");
    assert_eq!(service.get("/sessions/unknown").status, 404);
    assert_eq!(stored["project"], "project", "the folder goes before the name that the client gives");
    for path in [
        "/api/sessions".to_owned(),
        "/api/search?q=pager".to_owned(),
        format!("/sessions/{session}"),
        format!("/api/sessions/{PAGER}"),
        format!("/api/sessions/{PAGER}/chain"),
        format!("/api/sessions/{PAGER}/timeline"),
    ] {
        let timeless = |answer: Answer| {
            assert_eq!(answer.status, 200, "{path}");
            let mut body = answer.json();
            body.as_object_mut().map(|body| body.remove("tookMs"));
            body.to_string().len()
        };
        assert_eq!(timeless(under(&path)), timeless(service.get(&path)), "{path}");
    }
    // The document's clients know a session that they began by its number.
    let number = (1..9).find(|number| under(&format!("/sessions/{number}")).body.contains(session)).unwrap();
    let next = json!({"project": "default", "userPrompt": "And a logout", "promptNumber": 2});
    assert_eq!(service.post(&format!("/sessions/{number}/init"), &next), 202);
    until("the second prompt", || service.get(&format!("/sessions/{session}")).json()["promptCounter"] == 2);
    assert_eq!(service.post("/sessions/777/init", &next), 404, "no session has this number");
    assert_eq!(service.get("/sessions/777").status, 404);
    let rows = service.get("/api/sessions?all=true");
    assert!(!rows.body.contains(session), "what a program says over HTTP changes no state: {}", rows.body);
    let stored = std::fs::read_dir(service.home.data()).unwrap().flatten();
    let database = stored.filter(|file| file.file_name().to_string_lossy().contains("db"));
    for file in database {
        let bytes = std::fs::read(file.path()).unwrap_or_default();
        assert!(
            !bytes.windows(17).any(|run| run == b"key under the mat"),
            "private text in {:?}",
            file.path()
        );
    }
}

#[test]
fn prompts_that_are_sent_again_after_a_kill_are_stored_once() {
    let mut service = Service::with("[service]\naccept = true\n");
    let send = |service: &Service| {
        for n in 1..=20 {
            let body = json!({"claudeSessionId": "again", "userPrompt": format!("step {n}"), "promptNumber": n, "cwd": "/srv/app"});
            assert_eq!(service.post("/sessions/init", &body), 202);
        }
    };
    send(&service);
    service.restart(|_| {});
    send(&service);
    send(&service);
    until("all prompts, each once", || {
        let stored = service.get("/sessions/again");
        let prompts = if stored.status == 200 { stored.json()["promptCounter"].as_u64() } else { None };
        assert!(prompts.unwrap_or_default() <= 20, "{prompts:?}");
        prompts == Some(20)
    });
}

#[test]
fn events_are_taken_only_if_the_user_allows_it_and_a_bad_one_is_refused() {
    let reading = Service::start();
    let session = json!({"claudeSessionId": "s", "reason": "exit"});
    assert_eq!(reading.post("/api/sessions/complete", &session), 403);
    assert_eq!(
        reading
            .raw(&[
                &format!("GET /t/{}/api/context/inject?project=api HTTP/1.1", reading.token),
                &reading.host()
            ])
            .body,
        "",
        "nothing is told before the user chooses so"
    );
    drop(reading);
    let service = Service::with("[service]\naccept = true\n");
    for (path, body) in [
        ("/api/sessions/complete", json!([1])),
        ("/api/sessions/complete", json!({"reason": "exit"})),
        ("/sessions/init", json!({"sessionId": "s"})),
        ("/api/sessions/observations", json!({"claudeSessionId": "s", "tool_input": {}})),
    ] {
        assert_eq!(service.post(path, &body), 400, "{path} {body}");
    }
    let long = json!({"claudeSessionId": "s", "tool_name": "Read", "tool_response": "x".repeat(2 << 20)});
    assert_eq!(service.post("/api/sessions/observations", &long), 413);
    let mut stranger = TcpStream::connect(service.address).unwrap();
    write!(
        stranger,
        "POST /t/0000/sessions/init HTTP/1.1\r\n{}\r\nconnection: close\r\ncontent-length: 2\r\n\r\n{{}}",
        service.host()
    )
    .unwrap();
    let mut text = String::new();
    stranger.read_to_string(&mut text).unwrap();
    assert_eq!(Answer::read(&text).status, 401);
}
