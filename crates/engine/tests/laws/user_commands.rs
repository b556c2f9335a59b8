//! User commands survive every end of the program, are published at once, and hide no later activity.

use proptest::prelude::*;
use watchbill_agents::layout::classify;
use watchbill_core::ids::SessionId;
use watchbill_core::time::{Millis, Timestamp};
use watchbill_core::user::SessionCommand;
use watchbill_engine::engine::Engine;
use watchbill_engine::input::Input;
use watchbill_engine::transcripts::{LoadOptions, load};
use watchbill_protocol::roster::{Group, TrackedSession};
use watchbill_watch::scan::scan;

use crate::house::{House, ROOT, registry_file, settings, transcript};
use crate::records::{SessionWriter, marker, registry, session};

fn id(author: &SessionWriter) -> SessionId {
    SessionId::new(&author.session)
}

/// Two sessions that were active one after the other, with a store.
fn two() -> (House, SessionWriter, SessionWriter) {
    let mut house = House::new();
    house.attach_store();
    let (a, b) =
        (SessionWriter::new(&session(1), "/home/dev/a"), SessionWriter::new(&session(2), "/home/dev/a"));
    for author in [&a, &b] {
        for part in 0..2 {
            let n = house.number();
            let text = if part == 0 { author.prompt(n, house.now) } else { author.answer(n, house.now) };
            house.append(author, &text);
            house.wait(Millis::from_secs(30));
        }
    }
    house.catch_up();
    (house, a, b)
}

impl House {
    fn command(&mut self, word: SessionCommand) {
        let out = self.engine.apply_command(self.now, &word).expect("the word makes sense");
        self.out.extend(out);
        // The caller of a user command waits until it is stored.
        self.step(Input::Deadline);
    }

    fn shown(&self) -> Vec<String> {
        self.engine.current(false).rows.iter().map(|row| row.id.to_string()).collect()
    }
}

/// All effects of user commands on the rows.
fn rows_of(house: &House, authors: &[&SessionWriter]) -> Vec<Option<TrackedSession>> {
    authors.iter().map(|author| house.find(author)).collect()
}

#[test]
fn names_joins_and_snoozes_survive_a_restart() {
    let (mut house, a, b) = two();
    house.command(SessionCommand::Name { session: id(&a), name: Some("the leak".into()) });
    house.command(SessionCommand::Join { session: id(&b), with: id(&a) });
    house
        .command(SessionCommand::Snooze { session: id(&b), until: Some(house.now + Millis::from_secs(900)) });
    let before = rows_of(&house, &[&a, &b]);
    assert_eq!(before[0].as_ref().unwrap().superseded_by.as_deref(), Some(&*b.session));
    assert_eq!(before[1].as_ref().unwrap().work_chain_name.as_deref(), Some("the leak"));
    assert_eq!(before[1].as_ref().unwrap().group, Group::Idle);
    assert_eq!(house.warm().row(&id(&b)), house.engine.row(&id(&b)), "a second program sees the same");
    house.reboot();
    assert_eq!(rows_of(&house, &[&a, &b]), before, "before anything is read");
    house.step(Input::ScanEnded(Vec::new()));
    house.look_again();
    assert_eq!(rows_of(&house, &[&a, &b]), before);
    let undoable = |house: &House| house.engine.chain(&b.session).unwrap().undoable;
    assert_eq!(undoable(&house).as_deref(), Some("join"));
    house.command(SessionCommand::Split { session: id(&b) });
    house.reboot();
    assert_eq!(house.row(&a).superseded_by, None);
    assert_eq!(undoable(&house).as_deref(), Some("split"), "no link is left that could tell");
    house.command(SessionCommand::Undo { session: id(&b) });
    house.reboot();
    assert_eq!(house.row(&a).superseded_by.as_deref(), Some(&*b.session));
}

#[test]
fn a_snooze_ends_by_itself_and_is_forgotten_when_something_new_happens() {
    let (mut house, a, _) = two();
    house.run(7, "1");
    // The helper takes one status; the reason of the wait is appended to it.
    house.stage.fs.write(
        registry_file(7),
        registry(7, "1", &a, "waiting\",\"waitingFor\":\"permission prompt", house.now, house.now).as_bytes(),
    );
    house.catch_up();
    house.wait(Millis::from_secs(2));
    assert_eq!(house.row(&a).group, Group::NeedsYou);
    assert_eq!(house.engine.needs().total(), 1);
    let until = house.now + Millis::from_secs(900);
    house.command(SessionCommand::Snooze { session: id(&a), until: Some(until) });
    assert_eq!(house.row(&a).group, Group::Idle);
    assert_eq!(house.engine.needs().total(), 0);
    house.wait(Millis::from_secs(899));
    assert_eq!((house.row(&a).group, house.engine.needs().total()), (Group::Idle, 0));
    house.wait(Millis::from_secs(1));
    assert_eq!(house.row(&a).snoozed_until, None, "no event was needed for that");
    let stands = |house: &House| (house.row(&a).group, house.engine.needs().total());
    assert_eq!(stands(&house), (Group::Working, 0), "it counts anew, after the dwell");
    house.wait(Millis::from_secs(1));
    assert_eq!(stands(&house), (Group::NeedsYou, 1));
}

#[test]
fn a_snooze_moves_to_the_session_that_continues_the_work() {
    let (mut house, a, _) = two();
    house.run(7, "1");
    let at = house.now;
    house.stage.fs.write(registry_file(7), registry(7, "1", &a, "idle", at, at).as_bytes());
    house.catch_up();
    let until = at + Millis::from_secs(900);
    house.command(SessionCommand::Snooze { session: id(&a), until: Some(until) });
    // The user types `/clear`: the process continues in another session.
    let c = SessionWriter::new(&session(3), "/home/dev/a");
    house.wait(Millis::from_secs(30));
    let at = house.now;
    house.append(&c, &(c.prompt(300, at) + &c.answer(301, at)));
    house.stage.fs.write(registry_file(7), registry(7, "1", &c, "idle", at, at).as_bytes());
    house.catch_up();
    assert_eq!(house.row(&a).superseded_by.as_deref(), Some(&*c.session));
    let snoozed = |house: &House| [&a, &c].map(|author| house.row(author).snoozed_until);
    assert_eq!(snoozed(&house), [None, Some(until.to_string())]);
    house.reboot();
    assert_eq!(snoozed(&house), [None, Some(until.to_string())]);
    house.step(Input::ScanEnded(Vec::new()));
    // A command for the old session applies to the chain, too.
    house.command(SessionCommand::Snooze { session: id(&a), until: None });
    assert_eq!(snoozed(&house), [None, None]);
}

/// The process of one session continues in another session; only the new transcript shows it.
fn continue_process_in(house: &House, from: &SessionWriter, to: &SessionWriter) {
    let own = format!(r#""sessionId":"{}""#, to.session);
    let text = to.prompt(300, house.now) + &to.answer(301, house.now);
    house.append(to, &text.replace(&own, &format!(r#""session_id":"{}",{own}"#, from.session)));
}

/// A worker of the first scan has read a new transcript.
fn load_in_first_scan(house: &mut House, author: &SessionWriter) {
    let path = transcript("p", &author.session);
    let place = classify(path.strip_prefix(ROOT).unwrap()).unwrap();
    let terms = LoadOptions { keep: true, ..LoadOptions::default() };
    let loaded = load(house.engine.fs(), path, place, terms, &mut Vec::new(), &|| true);
    house.step(Input::Loaded(vec![loaded]));
}

/// The first session of [`two`] is snoozed, and continues in another session while no engine runs.
fn snoozed_and_gone_on() -> (House, SessionWriter, SessionWriter, tempfile::TempDir, Timestamp) {
    let (mut house, a, _) = two();
    let until = house.now + Millis::from_secs(3_600);
    house.command(SessionCommand::Snooze { session: id(&a), until: Some(until) });
    let folder = house.end().unwrap();
    let c = SessionWriter::new(&session(3), "/home/dev/a");
    house.wait(Millis::from_secs(60));
    continue_process_in(&house, &a, &c);
    (house, a, c, folder, until)
}

fn snoozes(engine: &Engine, authors: [&SessionWriter; 2]) -> [Option<Timestamp>; 2] {
    authors.map(|author| engine.row(&id(author)).unwrap().snoozed_until)
}

#[test]
fn a_snooze_moves_to_a_session_that_began_while_no_engine_ran() {
    let (mut house, a, c, folder, until) = snoozed_and_gone_on();
    house.boot_with(folder);
    load_in_first_scan(&mut house, &c);
    house.step(Input::ScanEnded(Vec::new()));
    assert_eq!(snoozes(&house.engine, [&a, &c]), [None, Some(until)]);
    assert_eq!(snoozes(&house.warm(), [&a, &c]), [None, Some(until)]);
}

#[test]
fn a_snooze_does_not_move_before_everything_was_read() {
    let (mut house, a, c, folder, until) = snoozed_and_gone_on();
    // The user has returned to the first session since then.
    house.wait(Millis::from_secs(60));
    house.append(&a, &(a.prompt(302, house.now) + &a.answer(303, house.now)));
    house.boot_with(folder);
    // New transcripts are read before grown ones.
    load_in_first_scan(&mut house, &c);
    assert_eq!(house.row(&a).superseded_by.as_deref(), Some(&*c.session), "as far as is known");
    let found = scan(house.engine.fs(), &settings().roots).found;
    house.step(Input::Found(found));
    house.step(Input::ScanEnded(Vec::new()));
    assert_eq!(house.row(&a).superseded_by, None);
    assert_eq!(snoozes(&house.engine, [&a, &c]), [Some(until), None]);
    house.reboot();
    assert_eq!(snoozes(&house.engine, [&a, &c]), [Some(until), None]);
}

/// A snoozed session, and another one that the engine takes for its successor: only the folder suggests that.
fn snoozed_and_guessed() -> (House, SessionWriter, SessionWriter, Timestamp) {
    let (mut house, _, b) = two();
    let until = house.now + Millis::from_secs(3_600);
    house.command(SessionCommand::Snooze { session: id(&b), until: Some(until) });
    let c = SessionWriter::new(&session(3), "/home/dev/a");
    house.wait(Millis::from_secs(60));
    let path = format!("/home/dev/a/.claude/compacted.{}.marker", c.session);
    house.stage.fs.write(&path, marker(&c.session, "/home/dev/a", house.now).as_bytes());
    house.append(&c, &(c.prompt(300, house.now) + &c.answer(301, house.now)));
    house.catch_up();
    house.look_again();
    assert_eq!(house.row(&b).superseded_by.as_deref(), Some(&*c.session));
    (house, b, c, until)
}

/// The guess is dropped: the first session continues itself.
fn drop_guess(house: &mut House, author: &SessionWriter) {
    house.wait(Millis::from_secs(60));
    house.append(author, &author.prompt(302, house.now));
    house.catch_up();
    assert_eq!(house.row(author).superseded_by, None);
}

#[test]
fn a_snooze_does_not_follow_a_guess() {
    let (mut house, b, c, until) = snoozed_and_guessed();
    assert_eq!(snoozes(&house.engine, [&b, &c])[1], None);
    drop_guess(&mut house, &b);
    assert_eq!(snoozes(&house.engine, [&b, &c]), [Some(until), None]);
}

#[test]
fn a_snooze_that_has_not_followed_a_guess_can_be_ended() {
    let (mut house, b, c, _) = snoozed_and_guessed();
    house.command(SessionCommand::Snooze { session: id(&b), until: None });
    drop_guess(&mut house, &b);
    assert_eq!(snoozes(&house.engine, [&b, &c]), [None, None]);
}

#[test]
fn a_session_that_returned_from_put_away_stays_shown_after_a_restart() {
    let (mut house, a, b) = two();
    house.command(SessionCommand::PutAway { session: id(&a), away: true });
    assert_eq!(house.shown(), [&*b.session]);
    house.reboot();
    house.step(Input::ScanEnded(Vec::new()));
    assert_eq!(house.shown(), [&*b.session]);
    house.wait(Millis::from_secs(3600));
    assert_eq!(house.shown(), [&*b.session], "an hour of silence is nothing new");
    let n = house.number();
    house.append(&a, &a.prompt(n, house.now));
    house.catch_up();
    assert_eq!(house.shown().len(), 2);
    house.wait(Millis::from_secs(3600));
    house.reboot();
    house.step(Input::ScanEnded(Vec::new()));
    assert_eq!(house.shown().len(), 2, "the word has had its time");
}

#[test]
fn an_invalid_user_command_changes_nothing() {
    let (mut house, a, b) = two();
    let before = house.all();
    for word in [
        SessionCommand::Join { session: id(&a), with: id(&a) },
        SessionCommand::Split { session: id(&b) },
        SessionCommand::Undo { session: id(&b) },
        SessionCommand::Accept { session: id(&b) },
        SessionCommand::Snooze { session: id(&b), until: Some(house.now) },
        SessionCommand::Name { session: SessionId::new("nobody"), name: None },
    ] {
        assert!(house.engine.apply_command(house.now, &word).is_err(), "{word:?}");
    }
    assert_eq!(house.all(), before);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// A program that ends between any two user commands has stored all earlier ones.
    #[test]
    fn no_user_command_is_lost(said in proptest::collection::vec((0..6usize, any::<bool>(), any::<bool>()), 1..10)) {
        let (mut house, a, b) = two();
        for (n, (what, first, ends)) in said.into_iter().enumerate() {
            let (one, other) = if first { (&a, &b) } else { (&b, &a) };
            let word = match what {
                0 => SessionCommand::Name { session: id(one), name: (n % 3 > 0).then(|| format!("name {n}")) },
                1 => SessionCommand::Join { session: id(one), with: id(other) },
                2 => SessionCommand::Split { session: id(one) },
                3 => SessionCommand::Undo { session: id(one) },
                4 => SessionCommand::Snooze { session: id(one), until: (n % 2 > 0).then(|| house.now + Millis::from_secs(900)) },
                _ => SessionCommand::PutAway { session: id(one), away: n % 3 > 0 },
            };
            if house.engine.apply_command(house.now, &word).is_ok() {
                house.step(Input::Deadline);
            }
            if ends {
                let before = (rows_of(&house, &[&a, &b]), house.shown());
                house.reboot();
                house.step(Input::ScanEnded(Vec::new()));
                prop_assert_eq!((rows_of(&house, &[&a, &b]), house.shown()), before);
            }
        }
    }
}
