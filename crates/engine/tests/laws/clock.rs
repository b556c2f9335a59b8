//! The system clock jumps.

use serde_json::json;
use watchbill_agents::claude::requests::read_request;
use watchbill_core::requests::request::RequestId;
use watchbill_core::time::Millis;
use watchbill_engine::input::{Input, Output};

use crate::house::{House, snapshot, start_of};
use crate::records::{SessionWriter, registry, session};

const YEAR: Millis = Millis::from_secs(365 * 86_400);

#[test]
fn a_clock_that_was_a_year_ahead_has_no_lasting_effect() {
    let mut house = House::new();
    let author = SessionWriter::new(&session(1), "/repo");
    // Without registry files the transcript alone decides.
    house.stage.fs.remove(format!("{}/sessions", crate::house::ROOT));
    let line = author.prompt(house.number(), house.now);
    house.append(&author, &line);
    house.look_again();
    let right = house.now;
    house.now = right + YEAR;
    house.step(watchbill_engine::input::Input::Deadline);
    assert_eq!(snapshot(&house.engine.current(false)).sessions, [], "a year old");
    house.now = right + Millis::from_secs(10);
    house.step(watchbill_engine::input::Input::Deadline);
    assert_eq!(house.row(&author).state, "working", "ten seconds are no year");
    assert_eq!(snapshot(&house.engine.current(false)).sessions.len(), 1);
    let problem = house.problem("clock", "clock_went_back").expect("it is said");
    assert_eq!(problem.count, 1);
    // Later records get their usual deadlines.
    let line = author.call(house.number(), house.now);
    house.append(&author, &line);
    house.catch_up();
    assert_eq!(house.row(&author).state, "working");
    house.wait(Millis::from_secs(6));
    assert_eq!(house.row(&author).state, "waiting_for_approval");
    assert_eq!(house.problem("clock", "clock_went_back").unwrap().count, 1, "one jump is one problem");
    house.wait(YEAR);
    house.step(watchbill_engine::input::Input::Deadline);
    assert_eq!(house.problems(), [], "it has caught up");
}

const HOUR: Millis = Millis::from_secs(3600);

/// Sessions without registry files work on while the clock goes back by an hour.
#[test]
fn a_clock_that_goes_back_by_an_hour_delays_no_deadline() {
    let mut house = House::new();
    house.attach_store();
    let [before, over, after] = [1, 2, 3].map(|n| SessionWriter::new(&session(n), "/repo"));
    house.stage.fs.remove(format!("{}/sessions", crate::house::ROOT));
    let line = before.prompt(house.number(), house.now);
    house.append(&before, &line);
    let line = over.prompt(house.number(), house.now) + &over.answer(house.number(), house.now);
    house.append(&over, &line);
    house.look_again();

    house.now = house.now - HOUR;
    house.stage.fs.set_now(house.now);
    house.step(watchbill_engine::input::Input::Deadline);
    assert_eq!(house.problem("clock", "clock_went_back").expect("it is said").count, 1);
    for author in [&over, &after] {
        let line = author.prompt(house.number(), house.now) + &author.call(house.number(), house.now);
        house.append(author, &line);
    }
    house.catch_up();
    for author in [&before, &over, &after] {
        assert_eq!(house.row(author).state, "working", "{}", author.session);
    }
    house.wait(Millis::from_secs(6));
    for author in [&over, &after] {
        assert_eq!(house.row(author).state, "waiting_for_approval", "{}", author.session);
    }
    // An engine that starts now shows the same, from the store or from the transcripts alone.
    let shown = snapshot(&house.engine.current(true)).sessions;
    assert_eq!(snapshot(&house.warm().current(true)).sessions, shown);
    assert_eq!(snapshot(&house.cold().current(true)).sessions, shown);
    house.reboot();
    house.look_again();
    assert_eq!(snapshot(&house.engine.current(true)).sessions, shown);
}

/// A request is open while the clock goes back: of the machine, or of the agent alone. The person answers it in the terminal.
#[test]
fn a_request_that_was_answered_after_the_clock_went_back_is_over_at_once() {
    let day = Millis::from_secs(86_400);
    for (back, of_machine) in
        [(HOUR, true), (day, true), (Millis::from_secs(10), true), (HOUR, false), (Millis(900), false)]
    {
        let mut house = House::new();
        let author = SessionWriter::new(&session(1), "/repo");
        let line = author.prompt(house.number(), house.now);
        house.append(&author, &line);
        house.registry(7, &author.session, "busy");
        house.wait(Millis::from_secs(20));
        let payload = json!({ "hook_event_name": "PermissionRequest", "tool_name": "Bash", "permission_mode": "default",
            "tool_input": { "command": "rm -rf build" } });
        let message = house.hook_message(7, &author.session, payload);
        let id = RequestId::new("1");
        let request = read_request(id.clone(), &message.payload, None, house.now).unwrap();
        house.step(Input::Ask(Box::new(request), message));
        house.wait(Millis(30));
        house.registry(7, &author.session, "waiting:permission prompt");
        house.wait(Millis::from_secs(3));
        assert!(house.row(&author).request.is_some(), "{back:?}");

        if of_machine {
            house.now = house.now - back;
            house.stage.fs.set_now(house.now);
            house.step(Input::Deadline);
            house.wait(Millis(700));
            house.registry(7, &author.session, "busy");
        } else {
            let (at, start) = (house.now - back, start_of(7));
            house.registry_text(7, &registry(7, &start, &author, "busy", at, at));
        }
        let row = house.row(&author);
        assert_eq!((&*row.state, row.request.is_some()), ("working", false), "{back:?} {of_machine}");
        assert!(house.out.contains(&Output::Release(id)), "its hook process ends: {back:?} {of_machine}");
    }
}

#[test]
fn a_small_clock_correction_is_no_problem() {
    let mut house = House::new();
    let author = SessionWriter::new(&session(1), "/repo");
    let line = author.prompt(house.number(), house.now);
    house.append(&author, &line);
    house.catch_up();
    let before = house.engine.now();
    house.now = house.now - Millis(900);
    house.step(watchbill_engine::input::Input::Deadline);
    assert_eq!(house.engine.now(), before);
    assert_eq!(house.problems(), []);
}

#[test]
fn a_torn_file_is_read_again_after_a_clock_jump() {
    let mut house = House::new();
    house.now = house.now + YEAR;
    house.stage.fs.set_now(house.now);
    let author = SessionWriter::new(&session(1), "/repo");
    house.run(7, "1");
    let text = crate::records::registry(7, "1", &author, "busy", house.now, house.now);
    let path = crate::house::registry_file(7);
    house.stage.fs.write(&path, &text.as_bytes()[..20]);
    house.catch_up();
    house.now = house.now - YEAR;
    house.step(watchbill_engine::input::Input::Deadline);
    house.stage.fs.write(&path, text.as_bytes());
    house.stage.hints.take();
    house.wait(Millis::from_secs(1));
    assert_eq!(house.engine.registry().all().count(), 1);
}
