//! Registry files: torn, wrong, reused, gone.

use watchbill_core::hook::TerminalContext;
use watchbill_core::ids::SessionId;
use watchbill_core::own::resume::Holder;
use watchbill_core::time::Millis;
use watchbill_engine::input::{Input, Output};
use watchbill_engine::witnesses::registry::Registry;
use watchbill_engine::world::problems::Problems;

use crate::house::{House, instance, registry_file, transcript};
use crate::records::{SessionWriter, registry, session};

fn author(n: usize) -> SessionWriter {
    SessionWriter::new(&session(n), "/repo")
}

/// A house with one session that works, as its registry file reports.
fn busy() -> House {
    let mut house = House::new();
    house.run(7, "1");
    let line = author(1).prompt(house.number(), house.now);
    house.append(&author(1), &line);
    write(&house, "1", 1, "busy");
    house.catch_up();
    assert_eq!(house.row(author(1)).state_reason.source, "registry");
    house
}

fn write(house: &House, start: &str, n: usize, status: &str) {
    let text = registry(7, start, &author(n), status, house.now, house.now);
    house.stage.fs.write(registry_file(7), text.as_bytes());
}

#[test]
fn a_registry_file_that_stays_torn_is_no_evidence() {
    let mut house = busy();
    house.stage.fs.write(registry_file(7), b"{\"pid\":7,");
    house.catch_up();
    assert_eq!(house.row(author(1)).state_reason.source, "registry", "it is being written");
    assert_eq!(house.problems(), []);
    house.wait(Millis::from_secs(5));
    assert!(house.problem(registry_file(7), "malformed_registry").is_some());
    let reason = house.row(author(1)).state_reason;
    assert!(!reason.detail.contains("says"), "{reason:?}");
    assert!(house.out.contains(&Output::ForgetProcess(7)));
    // A program that starts now reports the same, and does not wait for the rest of the file.
    let cold = house.cold();
    assert_eq!(watchbill_engine::model::publish::snapshot(&cold.current(true)).problems, house.problems());
    write(&house, "1", 1, "busy");
    house.catch_up();
    assert_eq!(house.row(author(1)).state_reason.source, "registry");
    assert_eq!(house.problems(), []);
}

#[test]
fn a_registry_file_completed_in_time_is_no_problem() {
    let mut house = busy();
    house.stage.fs.write(registry_file(7), b"");
    house.catch_up();
    write(&house, "1", 1, "idle");
    // The hint is lost; the retry finds it.
    house.stage.hints.take();
    house.wait(Millis(200));
    assert_eq!(house.row(author(1)).state, "waiting_for_input");
    assert_eq!(house.problems(), []);
}

#[test]
fn a_reused_process_id_is_another_process() {
    let mut house = busy();
    house.kill(7, "1");
    assert_eq!(house.row(author(1)).state_kind.as_deref(), Some("crashed"));
    house.run(7, "2");
    house.out.clear();
    let line = author(2).prompt(house.number(), house.now);
    house.append(&author(2), &line);
    write(&house, "2", 2, "busy");
    house.catch_up();
    let watched: Vec<_> = house
        .out
        .iter()
        .filter(|output| matches!(output, Output::WatchProcess(_) | Output::ForgetProcess(_)))
        .collect();
    assert_eq!(watched, [&Output::ForgetProcess(7), &Output::WatchProcess(7)], "the old one first");
    assert_eq!(house.row(author(1)).state, "ended");
    assert_eq!(house.row(author(2)).state, "working");
    assert_eq!(house.engine.chains().iter().count(), 2, "and no link is made of it");
}

#[test]
fn a_process_named_by_two_files_is_watched_while_one_of_them_stays() {
    let mut house = busy();
    let copy = registry(7, "1", &author(2), "idle", house.now, house.now);
    house.stage.fs.write(registry_file(8), copy.as_bytes());
    house.catch_up();
    house.stage.fs.remove(registry_file(8));
    house.catch_up();
    assert!(!house.out.contains(&Output::ForgetProcess(7)));
    house.stage.fs.remove(registry_file(7));
    house.catch_up();
    assert!(house.out.contains(&Output::ForgetProcess(7)));
}

#[test]
fn every_process_that_died_during_a_suspend_is_no_longer_watched() {
    let mut house = House::new();
    for pid in [7, 8, 9] {
        house.run(pid, "1");
        let text = registry(pid, "1", &author(pid as usize), "busy", house.now, house.now);
        house.stage.fs.write(registry_file(pid), text.as_bytes());
    }
    house.catch_up();
    for pid in [7, 8, 9] {
        let dead = watchbill_core::evidence::registry::Liveness::Dead;
        house.stage.processes.set(crate::house::instance(pid, "1"), dead);
    }
    house.look_again();
    for pid in [7, 8, 9] {
        assert!(house.out.contains(&Output::ForgetProcess(pid)), "{pid}");
    }
}

#[test]
fn without_a_registry_folder_the_transcript_decides() {
    let mut house = House::new();
    house.stage.fs.remove(format!("{}/sessions", crate::house::ROOT));
    let line = author(1).prompt(house.number(), house.now);
    house.append(&author(1), &line);
    house.look_again();
    house.wait(Millis::from_secs(30));
    let row = house.row(author(1));
    assert_eq!((row.state.as_str(), row.state_reason.source.as_str()), ("working", "transcript"));
    assert_eq!(house.problems(), []);
    // The folder appears: now a missing registry file is evidence.
    house.stage.fs.mkdir(format!("{}/sessions", crate::house::ROOT));
    house.catch_up();
    house.wait(Millis::from_secs(1));
    assert_eq!(house.row(author(1)).state, "ended");
    assert!(
        house.engine.main_file(&watchbill_core::ids::SessionId::new(&session(1))).unwrap().0
            == transcript("p", &session(1))
    );
}

#[test]
fn a_file_under_another_processes_name_is_no_evidence() {
    let mut house = House::new();
    house.run(7, "1");
    let line = author(1).prompt(house.number(), house.now);
    house.append(&author(1), &line);
    // A copy of the file of process 7, restored or synchronised under another name.
    let text = registry(7, "1", &author(1), "waiting", house.now, house.now);
    house.stage.fs.write(registry_file(8), text.as_bytes());
    house.catch_up();
    assert_eq!(house.row(author(1)).state_reason.source, "transcript");
    let problem = house.problem(registry_file(8), "malformed_registry").expect("told");
    assert!(problem.detail.contains("process 7"), "{}", problem.detail);
    house.stage.fs.remove(registry_file(8));
    write(&house, "1", 1, "busy");
    house.catch_up();
    assert_eq!(house.row(author(1)).state_reason.source, "registry");
    assert_eq!(house.problems(), []);
}

#[test]
fn registry_moves_and_ended_sessions_are_bounded() {
    let mut house = House::new();
    let (mut registry, mut problems) = (Registry::default(), Problems::default());
    house.run(7, "1");
    for n in 0..20_000 {
        write(&house, "1", n, "idle");
        let (fs, processes) = (&house.stage.fs, &house.stage.processes);
        registry.read(&registry_file(7), house.now, fs, processes, &mut problems);
    }
    assert!(registry.moves().len() <= 4096, "{}", registry.moves().len());
    assert_eq!(registry.moves().last().unwrap().to.as_str(), session(19_999), "the oldest gave way");
    let left = (0..20_000).filter(|n| registry.gone(&SessionId::new(&session(*n))).is_some());
    let left: Vec<usize> = left.collect();
    assert!(left.len() <= 16_384 && left.contains(&19_998), "{}", left.len());
}

#[test]
fn the_agent_that_is_asked_as_a_model_is_no_session() {
    let house = House::new();
    let mut registry = Registry::default();
    let mut problems = Problems::default();
    let (fs, processes) = (&house.stage.fs, &house.stage.processes);
    let own = SessionWriter::new(&session(3), "/data/memory-agent");
    house.stage.fs.write(registry_file(7), registry_text(&own, &house).as_bytes());
    let shown = registry.read(&registry_file(7), house.now, fs, processes, &mut problems);
    assert_eq!(shown.sessions, [SessionId::new(&session(3))], "without a data folder nothing is ours");
    registry.hide(Some("/data/memory-agent".into()));
    registry.read(&registry_file(7), house.now, fs, processes, &mut problems);
    let again = registry.read(&registry_file(7), house.now, fs, processes, &mut problems);
    assert_eq!(again.sessions, []);
    let other = SessionWriter::new(&session(4), "/srv/memory-agent");
    house.stage.fs.write(registry_file(7), registry_text(&other, &house).as_bytes());
    let shown = registry.read(&registry_file(7), house.now, fs, processes, &mut problems);
    assert_eq!(shown.sessions, [SessionId::new(&session(4))]);
}

fn registry_text(writer: &SessionWriter, house: &House) -> String {
    crate::records::registry(7, "1", writer, "busy", house.now, house.now)
}

/// The entry of a process with more fields, which replace others.
fn entry(house: &mut House, pid: u32, session: &SessionWriter, more: serde_json::Value) {
    house.run(pid, "1");
    let text = registry(pid, "1", session, "idle", house.now, house.now);
    let mut entry: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    entry.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    house.registry_text(pid, &entry.to_string());
}

fn turn(house: &mut House, of: &SessionWriter) {
    let line = of.prompt(house.number(), house.now);
    house.append(of, &line);
    house.catch_up();
}

#[test]
fn a_parked_session_goes_on_in_its_job_and_the_pane_follows() {
    // In any order: the job's process, its state file, the parked entry. Recorded from client 2.1.332.
    for (worker_first, state_file) in [(true, false), (false, false), (false, true)] {
        let mut house = House::new();
        let (old, new) = (author(1), author(2));
        turn(&mut house, &old);
        let pane = serde_json::json!({"tmux": "main:@1.%2"});
        entry(&mut house, 7, &old, pane);
        house.wait(Millis(5_000));
        let worker = serde_json::json!({"kind": "bg", "jobId": "a1c5a82b", "status": "busy"});
        let parked = serde_json::json!({"tmux": "main:@1.%2", "parkedJobId": "a1c5a82b", "updatedAt": house.now.as_millis()});
        if state_file {
            let state = serde_json::json!({"sessionId": &new.session, "state": "working"}).to_string();
            house.stage.fs.write("/home/dev/.claude/jobs/a1c5a82b/state.json", state.as_bytes());
        }
        if worker_first {
            entry(&mut house, 8, &new, worker.clone());
        }
        entry(&mut house, 7, &old, parked);
        if !worker_first {
            entry(&mut house, 8, &new, worker);
        }
        house.wait(Millis(2_000));
        let row = house.row(&new);
        assert_eq!(house.row(&old).superseded_by, Some(new.session.clone()));
        assert_eq!((row.state.as_str(), row.superseded), ("working", None));
        assert_eq!(row.terminal.and_then(|terminal| terminal.target), Some("main:@1.%2".to_owned()));
        assert_eq!(house.problems(), []);
    }
}

#[test]
fn a_background_session_is_attached_to_while_it_runs_and_resumed_after_that() {
    let mut house = House::new();
    let (of, id) = (author(1), SessionId::new(&session(1)));
    turn(&mut house, &of);
    let asks = serde_json::json!({"kind": "bg", "jobId": "43eb2880", "status": "waiting", "waitingFor": "permission prompt"});
    let mut prompted =
        house.hook_message(8, &of.session, serde_json::json!({"hook_event_name": "UserPromptSubmit"}));
    prompted.origin.agent = Some(instance(8, "1"));
    // The agent's daemon keeps a terminal that no window shows.
    let ids = [("tty".into(), "/dev/pts/9".into())].into();
    prompted.origin.terminal = Some(TerminalContext { kind: "tty".into(), ids });
    house.run(8, "1").step(Input::Hooks(vec![prompted]));
    house.wait(Millis(1_000));
    entry(&mut house, 8, &of, asks);
    house.wait(Millis(2_000));
    let row = house.row(&of);
    let attach = "claude attach 43eb2880";
    assert_eq!((row.state.as_str(), row.attach_command.as_deref()), ("waiting_for_approval", Some(attach)));
    assert!(row.terminal.is_none(), "{:?}", row.terminal);
    let command = |house: &House| house.engine.session_location(&of.session).expect("it is known").command();
    assert_eq!(command(&house), attach);
    assert_eq!(house.engine.resume_guard(&id), Err(Holder::Background));
    house.stage.fs.remove(registry_file(8));
    house.catch_up().kill(8, "1");
    assert_eq!((house.row(&of).state.as_str(), house.row(&of).attach_command), ("ended", None));
    assert!(command(&house).contains("claude --resume"));
    assert_eq!(house.engine.resume_guard(&id), Ok(()));
}

#[test]
fn a_process_that_runs_no_session_gives_no_row() {
    let mut house = House::new();
    for (pid, more) in
        [(7, serde_json::json!({"spare": true, "kind": "bg"})), (8, serde_json::json!({"kind": "daemon"}))]
    {
        entry(&mut house, pid, &author(pid as usize), more);
        house.wait(Millis(5_000));
        assert!(house.find(author(pid as usize)).is_none(), "{pid}");
    }
    // A prompt takes the spare process.
    entry(&mut house, 7, &author(7), serde_json::json!({"kind": "bg"}));
    house.wait(Millis(5_000));
    assert!(house.find(author(7)).is_some());
}
