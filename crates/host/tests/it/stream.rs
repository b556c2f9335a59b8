//! Sessions on pipes.

use std::time::{SystemTime, UNIX_EPOCH};

use watchbill_core::time::Timestamp;
use watchbill_drive::client::{self, HostClient, HostError};
use watchbill_drive::start::{self, StartError};
use watchbill_protocol::own::command::{OwnCommand, PromptWhen};
use watchbill_protocol::own::event::{OwnWhat, PromptPlace};
use watchbill_protocol::own::spec::{OwnAgent, OwnKind, OwnSpec};
use watchbill_protocol::request::RequestDecision;

use crate::stage::{Attached, Session, Stage, is_alive, new_id, wait_until};

/// A session of the stand-in.
pub fn spec(stage: &Stage) -> OwnSpec {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/it/agent.py");
    stage.spec(OwnAgent::Claude, OwnKind::Stream, &["python3", "-B", script])
}

fn prompt(id: &str, text: &str, when: PromptWhen) -> OwnCommand {
    OwnCommand::Prompt { id: id.to_owned(), text: text.to_owned(), images: Vec::new(), when }
}

impl Session {
    /// Sends a prompt and gives its id.
    pub fn prompt(&self, text: &str, when: PromptWhen) -> String {
        let id = new_id();
        self.send(&prompt(&id, text, when)).unwrap();
        id
    }
}

impl Attached {
    pub fn place(&self, id: &str) -> Option<PromptPlace> {
        self.events.iter().rev().find_map(|event| match &event.what {
            OwnWhat::Prompt { id: of, place, .. } if of == id => Some(*place),
            _ => None,
        })
    }

    pub fn until_at(&mut self, id: &str, place: PromptPlace) -> &mut Self {
        self.until(&format!("{id} at {place:?}"), |told| told.place(id) == Some(place))
    }

    fn turns(&self) -> Vec<&str> {
        let end = |event: &'_ watchbill_protocol::own::event::OwnEvent| match &event.what {
            OwnWhat::TurnEnd { reason, .. } => Some(reason.clone()),
            _ => None,
        };
        self.events.iter().filter_map(end).map(|reason| &*reason.leak()).collect()
    }

    pub fn is_held(&self) -> bool {
        self.events
            .iter()
            .rev()
            .find_map(|event| match event.what {
                OwnWhat::QueueHeld { held, .. } => Some(held),
                _ => None,
            })
            .unwrap_or(false)
    }
}

/// The prompts that the agent got, in order.
pub fn received(stage: &Stage) -> Vec<String> {
    let text = std::fs::read_to_string(stage.data().join("received")).unwrap_or_default();
    text.lines().map(|line| line.split(' ').next().unwrap().to_owned()).collect()
}

pub fn starts(stage: &Stage) -> Vec<String> {
    let text = std::fs::read_to_string(stage.data().join("starts")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn nothing_runs_before_the_first_prompt_and_the_log_tells_what_was_told() {
    let stage = Stage::new();
    let session = stage.start(&spec(&stage));
    let mut told = session.attach();
    told.until("the present", |told| told.caught_up);
    assert_eq!((told.events.len(), starts(&stage).len()), (0, 0));
    let (a, b) = (session.prompt("one", PromptWhen::Queue), session.prompt("two", PromptWhen::Queue));
    told.until_at(&a, PromptPlace::Done).until_at(&b, PromptPlace::Done);
    assert_eq!(received(&stage), [a.as_str(), b.as_str()]);
    let mut late = session.attach();
    late.until("the present", |told| told.caught_up);
    assert_eq!(late.events, told.events);
    let from = told.events[told.events.len() / 2].n;
    let mut half = session.attach_from(from);
    half.until("the present", |told| told.caught_up);
    let wanted: Vec<_> = told.events.iter().filter(|event| event.n >= from).cloned().collect();
    assert_eq!(half.events, wanted);
    session.send(&OwnCommand::Stop).unwrap();
    let end = told.until_end();
    assert!(matches!(end, OwnWhat::SessionEnded { code: Some(0), asked: true, .. }), "{end:?}");
    session.wait_for_end();
    assert_eq!(session.log(), told.events);
}

#[test]
fn no_mark_of_watchbill_reaches_the_agent() {
    let stage = Stage::new();
    let session = stage.start(&spec(&stage));
    let id = session.prompt("one", PromptWhen::Queue);
    session.attach().until_at(&id, PromptPlace::Done);
    let names = std::fs::read_to_string(stage.data().join("environment")).unwrap();
    assert!(names.lines().any(|name| name == "PATH"));
    assert!(!names.lines().any(|name| name.starts_with("WATCHBILL") || name == "TERM"), "{names}");
}

#[test]
fn the_same_start_twice_gives_one_session() {
    let stage = Stage::new();
    let spec = spec(&stage);
    let pids: Vec<u32> = std::thread::scope(|scope| {
        let clicks: Vec<_> = (0..4).map(|_| scope.spawn(|| stage.start(&spec).host())).collect();
        clicks.into_iter().map(|click| click.join().unwrap()).collect()
    });
    assert!(pids.iter().all(|pid| *pid == pids[0]), "{pids:?}");
    let session = stage.start(&spec);
    session.send(&OwnCommand::Stop).unwrap();
    session.wait_for_end();
    let again = start::start(stage.data(), &Stage::program(), &spec);
    assert!(matches!(again, Err(StartError::Ended)), "an ended session goes on only if the user says so");
}

#[test]
fn a_prompt_or_command_that_is_sent_twice_counts_once() {
    let stage = Stage::new();
    let session = stage.start(&spec(&stage));
    let mut told = session.attach();
    let id = new_id();
    let command = prompt(&id, "one", PromptWhen::Queue);
    for _ in 0..3 {
        // The answer was lost, and the reader sends it again; or another window does, with an id of its own.
        client::send(&session.folder, "the same call", &command).unwrap();
        session.send(&command).unwrap();
    }
    let last = session.prompt("two", PromptWhen::Queue);
    told.until_at(&last, PromptPlace::Done);
    assert_eq!(received(&stage), [id, last]);
}

#[test]
fn an_interrupt_holds_the_queue_until_the_user_lets_it_go_on() {
    let stage = Stage::new();
    let session = stage.start(&spec(&stage));
    let mut told = session.attach();
    let slow = session.prompt("slow", PromptWhen::Queue);
    told.until_at(&slow, PromptPlace::Started);
    let (next, dropped) =
        (session.prompt("next", PromptWhen::Queue), session.prompt("no", PromptWhen::Queue));
    session.send(&OwnCommand::Interrupt).unwrap();
    told.until("the end of the turn", |told| told.turns() == ["interrupted"]);
    assert!(told.is_held());
    session.send(&OwnCommand::Unqueue { id: dropped.clone() }).unwrap();
    told.until_at(&dropped, PromptPlace::Dropped);
    assert_eq!(received(&stage), [slow.as_str()], "nothing went by itself");
    session.send(&OwnCommand::ReleaseQueue).unwrap();
    told.until_at(&next, PromptPlace::Done);
    assert!(!told.is_held());
    assert_eq!(received(&stage), [slow, next]);
}

/// `GoOnAt` with a prompt of this id, so many milliseconds from now.
fn go_on_at(id: &str, text: &str, millis: i64) -> OwnCommand {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_millis();
    let until = Timestamp::from_millis(i64::try_from(now).unwrap() + millis);
    OwnCommand::GoOnAt { until: until.to_string(), id: id.to_owned(), text: text.to_owned() }
}

#[test]
fn a_queue_that_is_held_until_a_time_goes_on_then_and_at_once_if_the_user_says_so() {
    let stage = Stage::new();
    let session = stage.start(&spec(&stage));
    let mut told = session.attach();
    let first = go_on_at("first", "go on", 1_500);
    session.send(&first).unwrap();
    told.until("the hold", Attached::is_held);
    told.until_at("first", PromptPlace::Done);
    let done = told.events.last().unwrap().at.clone();
    let OwnCommand::GoOnAt { until, .. } = &first else { unreachable!() };
    assert!(done >= *until && !told.is_held(), "{done} {until}");
    session.send(&go_on_at("later", "later", 3_600_000)).unwrap();
    told.until_at("later", PromptPlace::Queued);
    assert!(told.is_held());
    session.send(&OwnCommand::ReleaseQueue).unwrap();
    told.until_at("later", PromptPlace::Done);
    assert_eq!(received(&stage), ["first", "later"]);
    for (at, text) in [(-1_000, "past"), (0, "now"), (32 * 86_400_000, "far"), (3_600_000, "")] {
        assert!(session.send(&go_on_at("refused", text, at)).is_err(), "{at} {text:?}");
    }
}

/// The user said it of a session that rests. After another turn that may be wrong, so the queue waits for the user.
#[test]
fn another_turn_or_an_interrupt_makes_a_queue_wait_for_the_user_again() {
    for interrupts in [false, true] {
        let stage = Stage::new();
        let session = stage.start(&spec(&stage));
        let mut told = session.attach();
        session.send(&go_on_at("later", "later", 3_600_000)).unwrap();
        let until = |told: &Attached| {
            told.events.iter().rev().find_map(|event| match &event.what {
                OwnWhat::QueueHeld { until, .. } => Some(until.is_some()),
                _ => None,
            })
        };
        told.until("the time", |told| until(told) == Some(true));
        if interrupts {
            session.send(&OwnCommand::Interrupt).unwrap();
        } else {
            let other = session.prompt("other", PromptWhen::Now);
            told.until_at(&other, PromptPlace::Done);
        }
        told.until("no time", |told| until(told) == Some(false));
        assert!(told.is_held() && told.place("later") == Some(PromptPlace::Queued));
    }
}

/// A host that is killed meanwhile loses no prompt, and the next one knows no time.
#[test]
fn a_prompt_for_a_time_survives_its_host_and_waits_for_the_user() {
    let stage = Stage::new();
    let spec = spec(&stage);
    let session = stage.start(&spec);
    session.send(&go_on_at("later", "later", 3_600_000)).unwrap();
    let host = session.host();
    kill(host);
    crate::stage::wait_until("the end of the host", || !crate::stage::is_alive(host));
    let session = stage.resume(&spec.session);
    let mut told = session.attach();
    told.until("the present", |told| told.caught_up);
    let other = session.prompt("other", PromptWhen::Now);
    told.until_at(&other, PromptPlace::Done);
    let held = |what: &OwnWhat| matches!(what, OwnWhat::QueueHeld { held: true, until: None, .. });
    assert!(told.events.iter().any(|event| held(&event.what)), "{:?}", told.events);
    assert!(told.is_held() && told.place("later") == Some(PromptPlace::Queued));
}

#[test]
fn a_prompt_for_now_interrupts_and_the_queue_stays_behind_it() {
    let stage = Stage::new();
    let session = stage.start(&spec(&stage));
    let mut told = session.attach();
    let slow = session.prompt("slow", PromptWhen::Queue);
    told.until_at(&slow, PromptPlace::Started);
    let later = session.prompt("later", PromptWhen::Queue);
    let now = session.prompt("now", PromptWhen::Now);
    told.until_at(&later, PromptPlace::Done);
    assert_eq!(received(&stage), [slow, now, later]);
    assert_eq!(told.turns(), ["interrupted", "completed", "completed"]);
}

#[test]
fn a_prompt_that_steers_goes_into_the_turn() {
    let stage = Stage::new();
    let session = stage.start(&spec(&stage));
    let mut told = session.attach();
    let slow = session.prompt("slow", PromptWhen::Queue);
    told.until_at(&slow, PromptPlace::Started);
    let steers = session.prompt("this too", PromptWhen::Steer);
    told.until_at(&steers, PromptPlace::Sent);
    wait_until("the agent has it", || received(&stage) == [slow.as_str(), steers.as_str()]);
}

#[test]
fn a_request_is_answered_and_closed() {
    let stage = Stage::new();
    let session = stage.start(&spec(&stage));
    let mut told = session.attach();
    let id = session.prompt("ask", PromptWhen::Queue);
    let asked = told.until_event("the request", |what| matches!(what, OwnWhat::Request { .. }));
    let OwnWhat::Request { request } = asked else { unreachable!() };
    let decision = RequestDecision::Allow;
    session.send(&OwnCommand::Answer { request: request.id.clone(), decision: decision.clone() }).unwrap();
    told.until_at(&id, PromptPlace::Done);
    let answers = std::fs::read_to_string(stage.data().join("answers")).unwrap();
    assert!(answers.contains("allow"), "{answers}");
    let again = session.send(&OwnCommand::Answer { request: request.id, decision });
    assert!(matches!(again, Err(HostError::Refused(_))), "{again:?}");
}

/// Answers each request as it is told, until the prompt is done. Gives the ids of the requests.
fn answer_all(session: &Session, told: &mut Attached, prompt: &str) -> Vec<String> {
    let mut answered: Vec<String> = Vec::new();
    while told.place(prompt) != Some(PromptPlace::Done) {
        let asked = told.events.iter().filter_map(|event| match &event.what {
            OwnWhat::Request { request } => Some(request.id.clone()),
            _ => None,
        });
        let new: Vec<String> = asked.filter(|id| !answered.contains(id)).collect();
        for request in new {
            let command = OwnCommand::Answer { request: request.clone(), decision: RequestDecision::Allow };
            // The engine names the command so: an id that comes again would have the old answer.
            watchbill_drive::client::send(&session.folder, &format!("answer-{request}"), &command).unwrap();
            answered.push(request);
        }
        assert!(told.next(), "{} were answered", answered.len());
    }
    answered
}

#[test]
fn many_requests_are_all_told_and_an_id_that_comes_again_is_another_request() {
    let stage = Stage::new();
    let session = stage.start(&spec(&stage));
    let mut told = session.attach();
    let many = session.prompt("asks 300", PromptWhen::Queue);
    assert_eq!(answer_all(&session, &mut told, &many).len(), 300);
    let open = told.events.iter().scan(0_i32, |open, event| {
        *open += match &event.what {
            OwnWhat::Request { .. } => 1,
            OwnWhat::RequestClosed { .. } => -1,
            _ => 0,
        };
        Some(*open)
    });
    assert!(open.max().unwrap() <= 32, "they are asked in turn");
    let again = session.prompt("again 5", PromptWhen::Queue);
    assert_eq!(answer_all(&session, &mut told, &again).len(), 305, "no request is told twice");
    // The next process of the agent uses the same ids.
    session.send(&OwnCommand::Stop).unwrap();
    session.wait_for_end();
    let session = stage.resume(&session.folder.spec().unwrap().session);
    let mut told = session.attach();
    told.until("the present", |told| told.caught_up);
    let earlier = told.events.len();
    let third = session.prompt("again 2", PromptWhen::Queue);
    told.events.drain(..earlier);
    let ids = answer_all(&session, &mut told, &third);
    assert_eq!(ids.len(), 2);
    assert!(ids.iter().all(|id| id.starts_with("2/")), "{ids:?}");
}

#[test]
fn a_request_is_closed_when_the_agent_dies() {
    let stage = Stage::new();
    let session = stage.start(&spec(&stage));
    let mut told = session.attach();
    session.prompt("ask", PromptWhen::Queue);
    told.until_event("the request", |what| matches!(what, OwnWhat::Request { .. }));
    let OwnWhat::Started { pid } =
        told.until_event("the start", |what| matches!(what, OwnWhat::Started { .. }))
    else {
        unreachable!()
    };
    kill(pid);
    told.until_end();
    let closed = |what: &OwnWhat| matches!(what, OwnWhat::RequestClosed { by, .. } if by == "ended");
    assert_eq!(told.events.iter().filter(|event| closed(&event.what)).count(), 1);
}

#[test]
fn an_agent_that_fails_says_its_last_words() {
    let stage = Stage::new();
    let session = stage.start(&spec(&stage));
    let mut told = session.attach();
    session.prompt("die", PromptWhen::Queue);
    let end = told.until_end();
    let OwnWhat::SessionEnded { code: Some(3), asked: false, words: Some(words), .. } = end else {
        panic!("{end:?}")
    };
    assert!(words.contains("the last words"), "{words}");
}

#[test]
fn a_program_that_does_not_exist_is_named() {
    let stage = Stage::new();
    let mut spec = spec(&stage);
    spec.command = vec!["/no/such/program".to_owned()];
    let session = stage.start(&spec);
    let mut told = session.attach();
    session.prompt("one", PromptWhen::Queue);
    let end = told.until_end();
    let OwnWhat::SessionEnded { code: Some(127), words: Some(words), .. } = end else { panic!("{end:?}") };
    assert!(words.contains("/no/such/program"), "{words}");
}

#[test]
fn a_folder_that_does_not_exist_starts_nothing() {
    let stage = Stage::new();
    let mut spec = spec(&stage);
    spec.cwd = stage.data().join("gone").display().to_string();
    let session = stage.start(&spec);
    let mut told = session.attach();
    session.prompt("one", PromptWhen::Queue);
    let error = told.until_event("the error", |what| matches!(what, OwnWhat::Error { .. }));
    assert!(
        matches!(&error, OwnWhat::Error { text, cause, .. } if cause == "start" && text.contains("gone")),
        "{error:?}"
    );
    told.until_end();
    assert_eq!(starts(&stage).len(), 0);
}

#[test]
fn a_broken_line_and_a_long_one_end_nothing() {
    let stage = Stage::new();
    let session = stage.start(&spec(&stage));
    let mut told = session.attach();
    session.prompt("broken", PromptWhen::Queue);
    told.until_event("the error", |what| matches!(what, OwnWhat::Error { cause, .. } if cause == "protocol"));
    for (length, is_whole) in [(250_000, true), (3_000_000, false)] {
        let long = session.prompt(&format!("long {length}"), PromptWhen::Queue);
        told.until_at(&long, PromptPlace::Done);
        let mut texts = told.events.iter().filter_map(|event| match &event.what {
            OwnWhat::Block { text, .. } if text.starts_with("xxx") => Some(text),
            _ => None,
        });
        let last = texts.next_back().unwrap();
        assert_eq!(last.len() == length, is_whole);
        assert_eq!(last.ends_with("[Watchbill left out the rest of this text]"), !is_whole);
    }
}

#[test]
fn what_an_agent_daemonised_ends_with_it() {
    let stage = Stage::new();
    let session = stage.start(&spec(&stage));
    let mut told = session.attach();
    session.prompt("child", PromptWhen::Queue);
    told.until_event("the child", |what| matches!(what, OwnWhat::Block { text, .. } if text == "started"));
    let child = std::fs::read_to_string(stage.data().join("child")).unwrap().trim().parse().unwrap();
    assert!(is_alive(child));
    session.send(&OwnCommand::Stop).unwrap();
    told.until_end();
    assert!(!is_alive(child));
    assert_eq!(told.ends(), 1);
}

#[test]
fn a_deaf_agent_is_killed() {
    let stage = Stage::new();
    let session = stage.start(&spec(&stage));
    let mut told = session.attach();
    session.prompt("deaf", PromptWhen::Queue);
    told.until_event("deafness", |what| matches!(what, OwnWhat::Block { text, .. } if text == "deaf"));
    session.send(&OwnCommand::Stop).unwrap();
    let end = told.until_end();
    assert!(matches!(end, OwnWhat::SessionEnded { signal: Some(9), asked: true, .. }), "{end:?}");
}

#[test]
fn a_session_that_ended_goes_on_when_the_user_says_so() {
    let stage = Stage::new();
    let spec = spec(&stage);
    let session = stage.start(&spec);
    let mut told = session.attach();
    let first = session.prompt("one", PromptWhen::Queue);
    told.until_at(&first, PromptPlace::Done);
    let slow = session.prompt("slow", PromptWhen::Queue);
    told.until_at(&slow, PromptPlace::Started);
    let vanish = session.prompt("vanish", PromptWhen::Queue);
    let waits = session.prompt("waits", PromptWhen::Queue);
    session.send(&OwnCommand::Interrupt).unwrap();
    session.send(&OwnCommand::ReleaseQueue).unwrap();
    told.until_end();
    assert_eq!(told.place(&vanish), Some(PromptPlace::Unknown));
    session.wait_for_end();
    let none = session.send(&prompt(&new_id(), "three", PromptWhen::Queue));
    assert!(matches!(none, Err(HostError::NotRunning)));
    let session = stage.resume(&spec.session);
    let mut told = session.attach();
    told.until("the present", |told| told.caught_up);
    assert!(told.is_held(), "what waited does not go by itself");
    assert_eq!(starts(&stage).len(), 1, "nothing runs before a new act");
    session.send(&vanish_again(&vanish)).unwrap();
    session.send(&OwnCommand::ReleaseQueue).unwrap();
    told.until_at(&waits, PromptPlace::Done);
    assert_eq!(received(&stage), [&*first, &*slow, &*vanish, &*waits], "no prompt goes twice");
    let starts = starts(&stage);
    assert!(starts[1].contains(&format!("--resume {}", spec.session)), "{starts:?}");
    session.send(&OwnCommand::Stop).unwrap();
    told.until("the second end", |told| told.ends() == 2);
    session.wait_for_end();
    assert_eq!(session.log(), told.events);
}

fn vanish_again(id: &str) -> OwnCommand {
    prompt(id, "vanish", PromptWhen::Queue)
}

pub fn kill(pid: u32) {
    let done = std::process::Command::new("kill").args(["-KILL", &pid.to_string()]).status().unwrap();
    assert!(done.success());
}

#[test]
fn another_version_is_refused_by_name() {
    use std::io::Write as _;
    let stage = Stage::new();
    let folder = watchbill_drive::folder::Folder::of(stage.data(), "old").unwrap();
    std::fs::create_dir_all(folder.path()).unwrap();
    let listener = std::os::unix::net::UnixListener::bind(folder.socket()).unwrap();
    let old = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(b"{\"hostProtocol\":99,\"watchbill\":\"9.9.9\",\"pid\":7,\"other\":1}\n").unwrap();
    });
    let refused = HostClient::connect(&folder).err().unwrap();
    assert!(matches!(&refused, HostError::OtherVersion { theirs: 99, .. }), "{refused}");
    assert!(refused.to_string().contains("9.9.9"));
    old.join().unwrap();
}

/// A process that the test ends.
struct Running(std::process::Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_terminal_that_an_agent_opened_unseen_types_nothing() {
    let stage = Stage::new();
    let session = stage.start(&spec(&stage));
    let folder = session.folder.path();
    // An agent of the same user: only its name counts.
    std::fs::copy("/bin/sleep", folder.join("claude")).unwrap();
    let _agent = Running(std::process::Command::new(folder.join("claude")).arg("600").spawn().unwrap());
    // Without marks, without a parent, on a terminal of its own.
    let script = "import json,os,socket\n\
        s=socket.socket(socket.AF_UNIX);s.connect('host.sock');f=s.makefile('rw')\n\
        f.readline()\n\
        f.write(json.dumps({'id':'1','request':'command','command':{'do':'type','bytes':'MQ=='}})+'\\n');f.flush()\n\
        open('said.part','w').write(f.readline())\n\
        os.rename('said.part','said')\n";
    std::fs::write(folder.join("types.py"), script).unwrap();
    let mut command = std::process::Command::new("setsid");
    command
        .args(["--fork", "script", "-qfc", "python3 types.py", "/dev/null"])
        .current_dir(folder)
        .env_clear();
    command.env("PATH", std::env::var_os("PATH").unwrap()).stdin(std::process::Stdio::null());
    assert!(command.stdout(std::process::Stdio::null()).status().unwrap().success());
    wait_until("the refusal", || folder.join("said").exists());
    let said = std::fs::read_to_string(folder.join("said")).unwrap();
    assert!(said.contains("is in the control group of an agent"), "{said}");
}

#[test]
fn what_an_agent_started_may_look_and_not_steer() {
    let stage = Stage::new();
    let session = stage.start(&spec(&stage));
    let script = "import json,os,socket,sys\n\
        os.chdir(sys.argv[1])\n\
        s=socket.socket(socket.AF_UNIX);s.connect('host.sock');f=s.makefile('rw')\n\
        f.readline()\n\
        f.write(json.dumps({'id':'1','request':'command','command':{'do':'clear_queue'}})+'\\n');f.flush()\n\
        print(f.readline().strip())\n\
        f.write(json.dumps({'id':'2','request':'attach','from':0})+'\\n');f.flush()\n\
        print(f.readline().strip())\n";
    let run = |mark: Option<&str>| {
        let mut command = std::process::Command::new("python3");
        command.args(["-c", script]).arg(session.folder.path());
        mark.map(|mark| command.env(mark, "1"));
        let output = command.output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let agent = run(Some("CLAUDECODE"));
    assert!(agent.contains(r#""code":"refused""#) && agent.contains("caught_up"), "{agent}");
    let person = run(None);
    assert!(person.contains(r#"{"id":"1","reply":null}"#), "{person}");
}
