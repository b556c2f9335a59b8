//! A file on a dead mount holds up the engine or a look at a file: an answer is refused in time, and does not count later.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::sync::Notify;
use watchbill_engine::clock::SystemClock;
use watchbill_engine::handle::pressed::Pressed;
use watchbill_engine::handle::{Handle, real_sources, start_in};
use watchbill_engine::socket::client::Client;
use watchbill_platform::clock::since_boot;
use watchbill_protocol::request::{AnswerCall, Request, RequestDecision};
use watchbill_protocol::socket::AskCall;
use watchbill_settings::Settings;
use watchbill_watch::fs::{FileKind, FileStat, Fs, Name, ReadAt, Walk, WalkChoice};

use crate::records::SessionWriter;
use crate::socket::waiting_client;
use crate::subscriber::{Folder, Subscriber, now};
use crate::until;

/// The real file system, in which one path may hang.
struct Mount {
    below: Arc<dyn Fs>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    dead: Option<PathBuf>,
    /// Calls that hang.
    hanging: usize,
    /// Paths that were opened.
    opened: Vec<PathBuf>,
}

impl Mount {
    fn dies(&self, path: Option<&Path>) {
        self.state.lock().unwrap().dead = path.map(Path::to_owned);
        self.changed.notify_all();
    }

    fn hangs(&self) -> bool {
        self.state.lock().unwrap().hanging > 0
    }

    fn was_opened(&self, path: &Path) -> bool {
        self.state.lock().unwrap().opened.iter().any(|opened| opened == path)
    }

    fn pass(&self, path: &Path) {
        let mut state = self.state.lock().unwrap();
        while state.dead.as_deref() == Some(path) {
            state.hanging += 1;
            state = self.changed.wait(state).unwrap();
            state.hanging -= 1;
        }
    }
}

impl Fs for Mount {
    fn stat(&self, path: &Path) -> io::Result<FileStat> {
        self.pass(path);
        self.below.stat(path)
    }

    fn open(&self, path: &Path) -> io::Result<Box<dyn ReadAt>> {
        self.pass(path);
        self.state.lock().unwrap().opened.push(path.to_owned());
        self.below.open(path)
    }

    fn list(&self, dir: &Path) -> io::Result<Vec<Name>> {
        self.below.list(dir)
    }

    fn walk(&self, top: &Path, want: &mut dyn FnMut(&Path, FileKind) -> WalkChoice) -> Walk {
        self.below.walk(top, want)
    }

    fn canonical(&self, path: &Path) -> io::Result<PathBuf> {
        self.below.canonical(path)
    }
}

/// Whether a thread of this process looks at files. A thread's name has 15 characters at most.
fn any_look_runs() -> bool {
    let threads = std::fs::read_dir("/proc/self/task").unwrap();
    let mut names =
        threads.filter_map(|thread| std::fs::read_to_string(thread.ok()?.path().join("comm")).ok());
    names.any(|name| name.trim_end() == "watchbill-files")
}

/// An engine on such a file system, with a session that asks to write a file.
struct Desk {
    mount: Arc<Mount>,
    folder: Folder,
    author: SessionWriter,
    subscriber: Subscriber,
    file: PathBuf,
    asks: JoinHandle<Option<String>>,
}

impl Desk {
    fn new() -> Self {
        let folder = Folder::new();
        let author = folder.author(1);
        folder.append(&author, &author.prompt(1, now()));
        let data = folder.root.parent().unwrap().join("data");
        let file = folder.root.parent().unwrap().join("script.sh");
        std::fs::write(&file, "echo harmless").unwrap();
        let mut world = real_sources();
        let mount = Arc::new(Mount {
            below: Arc::clone(&world.fs),
            state: Mutex::default(),
            changed: Condvar::new(),
        });
        world.fs = Arc::clone(&mount) as Arc<dyn Fs>;
        let settings = Settings { data_dir: Some(data.clone()), ..folder.settings() };
        let handle = start_in(settings, world, Arc::new(SystemClock), None, Arc::new(Notify::new())).unwrap();
        let mut subscriber = Subscriber::of(handle);
        waiting_client(&folder, &author);
        subscriber.until_state(&author, "waiting_for_approval");
        let payload = json!({ "session_id": author.session, "cwd": "/home/dev/work", "hook_event_name": "PermissionRequest",
            "tool_name": "Write", "tool_input": { "file_path": file, "content": "x" } });
        let call = AskCall {
            agent: Default::default(),
            ask: "ask-1".into(),
            payload: payload.to_string(),
            client: None,
            ancestors: Vec::new(),
            order: since_boot(),
            project: None,
        };
        let mut connection = None;
        until("it to listen", || {
            connection = Client::connect(&data);
            connection.is_some()
        });
        let mut connection = connection.unwrap();
        let asks = std::thread::spawn(move || connection.ask(call).ok().flatten());
        let desk = Self { mount, folder, author, subscriber, file, asks };
        until("the request to be shown", || desk.request().is_some());
        until("its file to be looked at", || desk.mount.was_opened(&desk.file));
        // The look reads a few bytes more and puts them into the loop's queue. Then its thread ends.
        until("the looks to end", || !any_look_runs());
        desk
    }

    fn handle(&self) -> &Handle {
        &self.subscriber.handle
    }

    fn request(&self) -> Option<Request> {
        self.handle().request(&self.author.session).unwrap()
    }

    fn answers(&self, decision: RequestDecision) -> Result<String, String> {
        let request = self.request().unwrap();
        let session = self.author.session.clone();
        let call = AnswerCall { session, request_id: request.id, seen: request.digest, decision };
        let asked = self.handle().asked(&call.session).unwrap();
        let given = self.handle().answer(&call, "window", Pressed::now(), asked);
        given.map(|given| given.decision).map_err(|error| error.message)
    }
}

#[test]
fn an_answer_to_a_request_whose_file_cannot_be_read_is_refused_in_time() {
    let desk = Desk::new();
    desk.mount.dies(Some(&desk.file));
    let began = Instant::now();
    let refused = desk.answers(RequestDecision::Allow).unwrap_err();
    assert!(refused.contains("script.sh cannot be read within 2 seconds"), "{refused}");
    assert!(began.elapsed() < Duration::from_secs(20), "it took {:?}", began.elapsed());
    assert_eq!(desk.request().unwrap().progress, "open");
    // What denies needs no look.
    assert_eq!(desk.answers(RequestDecision::Deny { reason: "no".into() }).unwrap(), "denied: no");
    assert!(desk.asks.join().unwrap().unwrap().contains("deny"));
    desk.mount.dies(None);
}

#[test]
fn an_answer_that_waited_for_a_loop_that_hung_counts_no_more() {
    let desk = Desk::new();
    let request = desk.request().unwrap();
    let other = desk.folder.author(2);
    desk.mount.dies(Some(&desk.folder.transcript("p", &other.session)));
    desk.folder.append(&other, &other.prompt(2, now()));
    until("the loop to hang", || desk.mount.hangs());
    let call = AnswerCall {
        session: desk.author.session.clone(),
        request_id: request.id,
        seen: request.digest,
        decision: RequestDecision::DenyAndStop,
    };
    let late = desk.handle().answer(&call, "window", Pressed::now(), None).unwrap_err().message;
    assert!(late.contains("counts no more"), "{late}");
    desk.mount.dies(None);
    // It was in the loop's queue before this question.
    assert_eq!(desk.request().unwrap().progress, "open");
    assert!(!desk.asks.is_finished());
    assert_eq!(desk.answers(RequestDecision::Allow).unwrap(), "allowed once");
    assert!(desk.asks.join().unwrap().unwrap().contains("allow"));
}
