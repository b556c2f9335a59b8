//! Hook events through real sockets and a real spool, into rows.

#![cfg(target_os = "linux")]

use std::path::Path;
use std::process::{Child, Command};
use std::time::Duration;

use watchbill_core::ids::Instance;
use watchbill_engine::alone::single_look::look;
use watchbill_engine::clock::SystemClock;
use watchbill_engine::engine::Outlook;
use watchbill_engine::handle::real_sources;
use watchbill_hooks::deliver::deliver;
use watchbill_hooks::envelope::Envelope;
use watchbill_hooks::places::HookPaths;
use watchbill_hooks::spool;
use watchbill_platform::process;
use watchbill_settings::Settings;
use watchbill_store::{Access, OpenMode, Store};

use crate::records::SessionWriter;
use crate::subscriber::{Folder, Subscriber, now, row};

/// A process that stands in for the agent.
struct Agent(Child);

impl Agent {
    fn start() -> Self {
        Self(Command::new("sleep").arg("600").spawn().unwrap())
    }

    fn instance(&self) -> Instance {
        let start = process::look(self.0.id()).map(|found| found.start.into());
        Instance { pid: self.0.id(), proc_start: start }
    }

    fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Agent {
    fn drop(&mut self) {
        // The test may have killed it.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn settings(folder: &Folder) -> Settings {
    let data_dir = folder.root.parent().unwrap().join("data");
    Settings { data_dir: Some(data_dir), ..folder.settings() }
}

fn event(
    folder: &Folder,
    author: &SessionWriter,
    agent: &Agent,
    number: u64,
    fields: &str,
) -> (Envelope, Vec<u8>) {
    let plain = Envelope::new(u128::from(number), now(), number);
    let envelope = Envelope { agent: Some(agent.instance()), ..plain };
    let path = folder.transcript("p", &author.session);
    let payload = format!(
        r#"{{"session_id":"{}","transcript_path":"{}","cwd":"/nonexistent",{fields}}}"#,
        author.session,
        path.display()
    );
    let frame = envelope.encode(payload.as_bytes());
    (envelope, frame)
}

fn send(data_dir: &Path, frame: &[u8]) {
    let delivery = deliver(&HookPaths::new(data_dir), frame, Duration::from_secs(10));
    assert!(delivery.kept, "{delivery:?}");
}

#[test]
fn a_hook_event_makes_a_row_and_its_process_is_watched() {
    let folder = Folder::new();
    let author = folder.author(1);
    let settings = settings(&folder);
    let data_dir = settings.data_dir.clone().unwrap();
    let mut agent = Agent::start();
    let mut subscriber = Subscriber::on(settings.clone());
    let (_, frame) =
        event(&folder, &author, &agent, 1, r#""hook_event_name":"SessionStart","source":"startup""#);
    send(&data_dir, &frame);
    subscriber.until("the new session", |copy| row(copy, &author).is_some_and(|row| row.pid.is_some()));
    let pid = agent.instance().pid;
    assert_eq!(row(&subscriber.copy, &author).unwrap().pid, Some(pid));
    // One look without an engine shows the same, from the stored events.
    let cold = look(settings, real_sources(), Outlook::LIVE, &SystemClock);
    let session = watchbill_core::ids::SessionId::new(&author.session);
    let once = cold.row(&session).map(|row| (row.pid, row.state.as_str().to_owned()));
    assert_eq!(once, Some((Some(pid), row(&subscriber.copy, &author).unwrap().state.clone())));
    folder.append(&author, &author.prompt(1, now()));
    subscriber.until("the prompt", |copy| row(copy, &author).is_some_and(|row| row.goal.is_some()));
    agent.kill();
    subscriber.until("its end", |copy| {
        row(copy, &author).is_some_and(|row| row.state_kind.as_deref() == Some("crashed"))
    });
}

#[test]
fn events_in_the_spool_are_read_at_the_start() {
    let folder = Folder::new();
    let author = folder.author(1);
    let settings = settings(&folder);
    let places = HookPaths::new(settings.data_dir.as_deref().unwrap());
    let agent = Agent::start();
    let (envelope, frame) =
        event(&folder, &author, &agent, 1, r#""hook_event_name":"UserPromptSubmit","prompt":"go""#);
    spool::write(&places.spool(), &envelope, &frame).unwrap();
    let once = look(settings.clone(), real_sources(), Outlook::LIVE, &SystemClock);
    let session = watchbill_core::ids::SessionId::new(&author.session);
    assert_eq!(
        once.row(&session).and_then(|row| row.pid),
        Some(agent.instance().pid),
        "it is left where it is"
    );
    let mut subscriber = Subscriber::on(settings);
    subscriber.until("the session", |copy| {
        row(copy, &author).is_some_and(|row| row.pid == Some(agent.instance().pid))
    });
}

#[test]
fn an_unusable_data_folder_is_a_problem_and_stops_no_session() {
    let folder = Folder::new();
    let author = folder.author(1);
    let settings = settings(&folder);
    // A file is in the way of the folder.
    std::fs::write(settings.data_dir.as_deref().unwrap(), "").unwrap();
    folder.append(&author, &author.prompt(1, now()));
    let mut subscriber = Subscriber::on(settings);
    subscriber.until("the problem", |copy| copy.problems.iter().any(|problem| problem.kind == "lost_hooks"));
    subscriber.until("the session", |copy| row(copy, &author).is_some());
}

#[test]
fn hook_events_during_another_programs_lock_are_stored_once() {
    let folder = Folder::new();
    let author = folder.author(1);
    let settings = settings(&folder);
    let data_dir = settings.data_dir.clone().unwrap();
    let agent = Agent::start();
    folder.append(&author, &author.prompt(1, now()));
    // Another program writes the store for seconds, as `index` does.
    let other = Store::open(&data_dir, OpenMode::WriteOrRead).unwrap();
    let mut subscriber = Subscriber::on(settings.clone());
    let told = [
        r#""hook_event_name":"SessionStart","source":"startup""#,
        r#""hook_event_name":"UserPromptSubmit","prompt":"go","prompt_id":"p1""#,
        r#""hook_event_name":"PostToolUse","tool_name":"ExitPlanMode","tool_use_id":"t1","tool_input":{},"tool_response":{"plan":"First look, then leap."}"#,
        r#""hook_event_name":"PostToolUse","tool_name":"Read","tool_use_id":"t2","prompt_id":"p1","tool_input":{"file_path":"/a"},"tool_response":{}"#,
    ];
    for (number, fields) in (1..).zip(told) {
        let (_, frame) = event(&folder, &author, &agent, number, fields);
        send(&data_dir, &frame);
    }
    subscriber.until("the session", |copy| {
        row(copy, &author).is_some_and(|row| row.pid == Some(agent.instance().pid))
    });
    drop(other);
    let id = watchbill_core::ids::SessionId::new(&author.session);
    let stored = || {
        let store = Store::open(&data_dir, OpenMode::Read).ok()?;
        let key = store.session_key(&id).ok()??;
        let events: Vec<_> = store.hook_events(key).ok()?.into_iter().map(|row| row.event).collect();
        Some((events, store.activities(key).ok()?.len(), store.plans(key).ok()?))
    };
    let until = |wanted: usize| {
        let end = std::time::Instant::now() + crate::subscriber::TIMEOUT;
        while stored().is_none_or(|(events, ..)| events.len() < wanted) {
            assert!(std::time::Instant::now() < end, "{:?}", stored());
            std::thread::sleep(Duration::from_millis(20));
        }
        stored().unwrap()
    };
    let first = until(4);
    assert_eq!((first.0.len(), first.1), (4, 2), "{first:?}");
    drop(subscriber);
    for number in 5..7 {
        let end = std::time::Instant::now() + crate::subscriber::TIMEOUT;
        while Store::open(&data_dir, OpenMode::WriteOrRead).unwrap().access() != Access::Writer {
            assert!(std::time::Instant::now() < end, "the store is never let go of");
            std::thread::sleep(Duration::from_millis(5));
        }
        let subscriber = Subscriber::on(settings.clone());
        let (_, frame) =
            event(&folder, &author, &agent, number, r#""hook_event_name":"Stop","stop_hook_active":false"#);
        send(&data_dir, &frame);
        let now = until(number as usize);
        assert_eq!((now.0.len(), now.1, &now.2), (number as usize, 2, &first.2), "{now:?}");
        drop(subscriber);
    }
}
