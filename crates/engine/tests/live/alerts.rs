//! The alerts that a listener gets, and a mute that survives a restart.

use std::sync::mpsc::{Receiver, channel};

use watchbill_engine::handle::{Handle, start};
use watchbill_engine::model::publish::Subscription;
use watchbill_engine::{Millis, Timestamp};
use watchbill_protocol::alert::Alert;
use watchbill_protocol::roster::RosterMessage;

use crate::subscriber::{Folder, TIMEOUT, now};

fn listen(engine: &Handle) -> Receiver<Alert> {
    let (sender, alerts) = channel();
    engine.listen(Box::new(move |alert| sender.send(alert).is_ok()));
    alerts
}

fn next(alerts: &Receiver<Alert>) -> Alert {
    alerts.recv_timeout(TIMEOUT).expect("the policy tells something")
}

#[test]
fn the_end_of_a_turn_alerts_every_listener_and_the_next_prompt_clears_the_alert() {
    let folder = Folder::new();
    // A client without a registry: with one the session would count as ended, since no process claims it.
    std::fs::remove_dir(folder.root.join("sessions")).expect("it is there");
    let engine = start(folder.settings()).expect("the engine starts");
    let (first, second) = (listen(&engine), listen(&engine));
    for alerts in [&first, &second] {
        assert_eq!(
            next(alerts),
            Alert::Counted { needs: Default::default() },
            "no session needs the user yet"
        );
    }
    while engine.roster(true).expect("it runs").reading {
        std::thread::yield_now();
    }
    let author = folder.author(1);
    folder.append(&author, &author.prompt(1, now()));
    folder.append(&author, &(author.answer(2, now()) + &author.turn_over(3, now())));
    for alerts in [&first, &second] {
        let Alert::Raised { episode, silence: None } = next(alerts) else { panic!("an alert") };
        assert_eq!((episode.session_id.as_str(), episode.need.as_str()), (&*author.session, "finished"));
    }
    // The row is marked until the user looks at its terminal or its pane.
    let is_unseen = || engine.roster(false).expect("it runs").sessions[0].unseen == Some(true);
    assert!(is_unseen());
    engine.looked_at(&author.session);
    assert!(!is_unseen(), "the engine takes its messages in order");
    drop(second);
    folder.append(&author, &author.prompt(4, now()));
    assert!(matches!(next(&first), Alert::Cleared { session_id, .. } if session_id == *author.session));
    engine.stop();
}

#[test]
fn a_mute_survives_a_restart_and_can_be_taken_back() {
    let folder = Folder::new();
    let mut settings = folder.settings();
    settings.data_dir = Some(folder.root.join("../data"));
    let until = Timestamp::from_millis(now().as_millis() / 1000 * 1000) + Millis::from_secs(3_600);
    let muted = |engine: &Handle| engine.roster(false).expect("it runs").muted_until;

    let engine = start(settings.clone()).expect("the engine starts");
    assert_eq!(muted(&engine), None);
    engine.mute(Some(until)).expect("the folder can be written");
    assert_eq!(muted(&engine), Some(until.to_string()));
    engine.stop();

    let engine = start(settings.clone()).expect("the engine starts");
    assert_eq!(muted(&engine), Some(until.to_string()));
    assert_eq!(engine.doctor().expect("it runs").muted_until, Some(until.to_string()));
    engine.mute(None).expect("the folder can be written");
    assert_eq!(muted(&engine), None);
    engine.stop();

    let engine = start(settings).expect("the engine starts");
    assert_eq!(muted(&engine), None);
    engine.stop();
}

#[test]
fn a_mute_is_stored_before_it_is_published() {
    let folder = Folder::new();
    let mut settings = folder.settings();
    let data = folder.root.join("../data");
    settings.data_dir = Some(data.clone());
    let engine = start(settings).expect("the engine starts");
    let (sender, kept) = channel();
    let wants = Subscription { all: true, pause: Millis(0), wait_for_recent: true, first: None };
    let sink = move |message| match message {
        RosterMessage::Delta(delta) if delta.muted_until.is_some() => {
            // A subscriber may end the program at once, so the file must exist at this moment.
            sender.send((delta.muted_until, std::fs::read_to_string(data.join("muted-until")).ok())).is_ok()
        }
        _ => true,
    };
    engine.subscribe(wants, Box::new(sink));
    let until = Timestamp::from_millis(now().as_millis() / 1000 * 1000) + Millis::from_secs(3_600);
    engine.mute(Some(until)).expect("the folder can be written");
    let told = kept.recv_timeout(TIMEOUT).expect("it is told");
    assert_eq!(told, (Some(until.to_string()), Some(format!("{until}\n"))));
    engine.stop();
}

#[test]
fn a_mute_that_cannot_be_stored_applies_and_returns_an_error() {
    let folder = Folder::new();
    let mut settings = folder.settings();
    let occupied = folder.root.join("occupied");
    std::fs::write(&occupied, "a file where the folder should be").expect("it can be written");
    settings.data_dir = Some(occupied.clone());
    let engine = start(settings).expect("the engine starts");
    let until = now() + Millis::from_secs(3_600);
    let error = engine.mute(Some(until)).expect_err("there is no place for it");
    assert!(error.message.contains(&occupied.display().to_string()), "{}", error.message);
    assert_eq!(engine.roster(false).expect("it runs").muted_until, Some(until.to_string()));
    engine.stop();
}
