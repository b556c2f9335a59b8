//! The fault table of the questions after turns, with made-up programs that ask: nothing lost, nothing doubled, every limit holds.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use watchbill_core::history::HistorySettings;
use watchbill_core::history::rows::{Activity, Batch, BatchOrigin, BatchStatus, CallOutcome, Ended};
use watchbill_core::ids::SessionId;
use watchbill_core::memory::{AcceptRule, Standing, gather, standings};
use watchbill_store::removal::Forget;
use watchbill_store::tables::memories::ProjectPlace;
use watchbill_store::tables::model_jobs::JobCounts;
use watchbill_store::{OpenMode, SessionKey};
use watchbill_watch::clock::ManualClock;
use watchbill_watch::mem::MemFs;

use super::*;
use crate::memory::change;
use crate::memory::learn::learn_all;

mod backlog;
mod changes;
mod sessions;

const BEGIN: Timestamp = Timestamp::from_millis(1_795_262_400_000);
const PROJECT: u64 = 7;
const MINUTE: i64 = 60_000;

/// A result with one finding about the turn's file.
fn finds(text: &str) -> String {
    let reply = format!(
        r#"{{\"memories\":[{{\"type\":\"gotcha\",\"text\":\"{text}\",\"importance\":\"high\",\"file\":\"src/log.rs\",\"evidence\":[\"a1\"]}}]}}"#
    );
    format!(r#"read -r line; echo '{{"reply":"{reply}","tokensIn":300,"tokensOut":40,"millis":5}}'"#)
}

const FAILS: &str = r#"read -r line; echo '{"error":"the endpoint answers 500","millis":5}'"#;
const AWAY: &str =
    r#"read -r line; echo '{"error":"there is no server at this address","away":true,"millis":5}'"#;

struct House {
    folder: tempfile::TempDir,
    store: Arc<SharedStore>,
    clock: ManualClock,
    memory: MemorySettings,
    look: Look,
}

fn place() -> ProjectPlace {
    ProjectPlace { project: PROJECT, place: "/home/dev/app/.git".into(), root: "/home/dev/app".into() }
}

impl House {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path(), OpenMode::WriteOrRead).unwrap();
        store.set_busy_timeout(std::time::Duration::ZERO).unwrap();
        let shared = Arc::new(SharedStore::default());
        *shared.lock_urgent("test") = Some(store);
        let model = ModelSettings {
            base_url: "http://127.0.0.1:9/v1".to_owned(),
            name: "small".to_owned(),
            daily_tokens: 1_000_000,
            ..ModelSettings::default()
        };
        let memory = MemorySettings { model, ..MemorySettings::default() };
        let look = look(&memory);
        let house = Self { folder, store: shared, clock: ManualClock::new(BEGIN), memory, look };
        // The model is chosen before any turn ends.
        house.learn();
        house
    }

    fn asker(&self, script: &str) -> ModelAsker {
        self.writes_program(script);
        let history = HistorySettings::default();
        let queue = Arc::new(ModelQueue::new(history, self.memory.clone()));
        let (folder, clock) = (self.folder.path().to_owned(), Arc::new(self.clock.clone()));
        ModelAsker::new(queue, Arc::clone(&self.store), folder, clock, Some(self.program()), Arc::new(|| {}))
    }

    fn program(&self) -> PathBuf {
        self.folder.path().join("asks")
    }

    /// Each call of the program is a line of the file `asked`.
    fn writes_program(&self, script: &str) {
        let asked = self.folder.path().join("asked");
        let text = format!("#!/bin/sh\necho asked >> {}\n{script}\n", asked.display());
        let fresh = self.folder.path().join("fresh");
        std::fs::write(&fresh, text).unwrap();
        std::fs::set_permissions(&fresh, std::fs::Permissions::from_mode(0o700)).unwrap();
        std::fs::rename(fresh, self.program()).unwrap();
    }

    fn asked(&self) -> usize {
        std::fs::read_to_string(self.folder.path().join("asked")).unwrap_or_default().lines().count()
    }

    fn with<T>(&self, act: impl FnOnce(&mut Store) -> T) -> T {
        act(self.store.lock_urgent("test").as_mut().unwrap())
    }

    /// A session with this many ended turns, each with an edit, a minute apart. No one asked for them, so the model is asked about turns
    /// alone.
    fn session(&self, id: &str, turns: i64) -> SessionKey {
        self.session_from(id, BEGIN, turns)
    }

    fn session_from(&self, id: &str, begin: Timestamp, turns: i64) -> SessionKey {
        let key = self.with(|store| {
            let mut step = store.step().unwrap();
            let key = step.session_key(&SessionId::new(id)).unwrap();
            step.put_evidence(key, &place(), &[], None).unwrap();
            for n in 0..turns {
                let at = begin + Millis(n * MINUTE);
                let mut batch = Batch::new(format!("{id}-{n}").into());
                batch.prompt = Some(format!("mend the log, part {n}"));
                batch.origin = Some(BatchOrigin::TaskNotification);
                batch.started_at = Some(at);
                batch.offset = Some(n.unsigned_abs());
                batch.ended = Some(Ended { status: BatchStatus::Completed, at, error: None });
                let mut call = Activity::new(format!("{id}-{n}-c").into());
                (call.batch, call.tool) = (Some(batch.id.clone()), Some("Edit".into()));
                (call.file, call.at) = (Some("/home/dev/app/src/log.rs".into()), Some(at));
                (call.outcome, call.offset) = (Some(CallOutcome::Ok), Some(n.unsigned_abs()));
                step.merge_batch(key, None, &batch).unwrap();
                step.merge_activity(key, None, &call).unwrap();
            }
            step.commit().unwrap();
            key
        });
        self.learn();
        key
    }

    fn learn(&self) {
        let settings = HistorySettings::default();
        self.with(|store| {
            learn_all(store, &MemFs::new(), &settings, &self.memory, self.clock.now()).unwrap()
        });
    }

    fn counts(&self) -> JobCounts {
        self.with(|store| store.model_job_counts(self.clock.now()).unwrap())
    }

    fn done(&self) -> u64 {
        self.with(|store| store.model_jobs_ended_since(Timestamp::default()).unwrap())
    }

    /// The texts of what a model found, each with its standing.
    fn found(&self) -> Vec<(String, Standing)> {
        let (evidence, edits) = self.with(|store| store.memories_of_project(PROJECT).unwrap());
        let memories = gather(&evidence, &edits);
        let standing = standings(&memories, AcceptRule::Rules, self.clock.now());
        let both = memories.into_iter().zip(standing);
        both.filter(|(memory, _)| memory.kind.is_of_model()).map(|(memory, s)| (memory.text, s)).collect()
    }

    fn spent(&self) -> Spent {
        ledger::spent_on(self.folder.path(), self.clock.now()).unwrap()
    }

    /// Takes turns until the thread would sleep. Returns until when.
    fn run(&self, asker: &mut ModelAsker) -> Sleep {
        (0..500).map(|_| asker.turn(&self.look)).find(|sleep| *sleep != Sleep::Not).expect("it never sleeps")
    }

    /// Runs for a span as the thread would: from one waking to the next.
    fn run_for(&self, asker: &mut ModelAsker, span: Millis) -> usize {
        let (end, mut woken) = (self.clock.now() + span, 0);
        while let Sleep::Until(at) = self.run(asker) {
            woken += 1;
            if at >= end {
                break;
            }
            self.clock.set(at);
        }
        self.clock.set(end);
        woken
    }
}

fn look(memory: &MemorySettings) -> Look {
    let history = HistorySettings::default();
    Look { history, memory: memory.clone(), is_busy: false, settings_changed: false, has_ended: false }
}

#[test]
fn a_finding_is_stored_once_as_a_proposal_and_stays_when_the_rules_look_again() {
    let house = House::new();
    let key = house.session("s", 1);
    let mut asker = house.asker(&finds("Two handles share no offset in the log."));
    assert_eq!(house.run(&mut asker), Sleep::UntilWoken);
    let expected = [("Two handles share no offset in the log.".to_owned(), Standing::Proposed)];
    assert_eq!(house.found(), expected);
    let (evidence, _) = house.with(|store| store.memories_of_project(PROJECT).unwrap());
    assert_eq!((&*evidence[0].batch, evidence[0].byte), ("s-0", Some(0)), "a link to its record");
    // The rules look again after each turn; the turn is not asked about again.
    house.with(|store| {
        let mut step = store.step().unwrap();
        step.merge_batch(key, None, &Batch { plan: true, ..store_batch(BEGIN) }).unwrap();
        step.commit().unwrap();
    });
    house.learn();
    house.run(&mut house.asker("exit 1"));
    assert_eq!((house.found(), house.asked(), house.done()), (expected.to_vec(), 1, 1));
    let spent = house.spent();
    assert_eq!((spent.tokens_in, spent.tokens_out), (300, 40));
}

/// The only turn of the session `s`, as it is.
fn store_batch(at: Timestamp) -> Batch {
    let mut batch = Batch::new("s-0".into());
    batch.ended = Some(Ended { status: BatchStatus::Completed, at, error: None });
    batch
}

#[test]
fn without_a_model_there_is_no_job_and_turns_before_the_choice_are_not_asked_about() {
    let mut house = House::new();
    let chosen = std::mem::take(&mut house.memory.model);
    house.learn();
    house.session("before", 3);
    assert_eq!(house.counts(), JobCounts::default());
    house.clock.set(BEGIN + Millis(60 * MINUTE));
    house.memory.model = chosen;
    house.learn();
    house.session("later", 62);
    assert_eq!(house.counts().queued, 2, "of the turns that ended since");
}

#[test]
fn while_a_session_works_and_during_a_pause_nothing_is_asked() {
    let mut house = House::new();
    house.session("s", 1);
    let mut asker = house.asker(FAILS);
    house.look.is_busy = true;
    assert_eq!(house.run(&mut asker), Sleep::UntilWoken);
    house.look.is_busy = false;
    let until = BEGIN + Millis(60 * MINUTE);
    let pause = watchbill_protocol::memory::MemoryChange::Pause { until: Some(until.to_string()) };
    let settings = watchbill_settings::Settings::for_roots(Vec::<std::path::PathBuf>::new());
    house.with(|store| change::change(store, &MemFs::new(), &settings, &pause, BEGIN).unwrap());
    assert_eq!((house.run(&mut asker), house.asked()), (Sleep::Until(until), 0));
    house.clock.set(until);
    house.run(&mut asker);
    assert_eq!(house.asked(), 1);
}

#[test]
fn an_endpoint_that_is_away_for_a_week_costs_no_try_and_no_token() {
    let house = House::new();
    house.session("s", 30);
    let mut asker = house.asker(AWAY);
    house.run_for(&mut asker, Millis(7 * 24 * 60 * MINUTE));
    assert!((300..=350).contains(&house.asked()), "{} questions in a week", house.asked());
    let counts = house.counts();
    assert_eq!((counts.queued, counts.failed, house.spent()), (30, 0, Spent::default()));
    assert_eq!(counts.last_error.unwrap().1, "there is no server at this address");
    house.writes_program(&finds("Two handles share no offset in the log."));
    house.run_for(&mut asker, Millis(60 * MINUTE));
    assert_eq!((house.done(), house.counts()), (30, JobCounts::default()));
    assert_eq!(house.found().len(), 1, "the same finding is one memory");
}

#[test]
fn a_question_that_fails_three_times_is_given_up_and_the_next_one_goes_on() {
    let house = House::new();
    house.session("s", 2);
    let [fails, finds] =
        [FAILS.to_owned(), finds("Two handles share no offset.")].map(|s| s.replace("read -r line; ", ""));
    let bad = format!("read -r line; case \"$line\" in *'part 1'*) {fails};; *) {finds};; esac");
    let mut asker = house.asker(&bad);
    house.run_for(&mut asker, Millis(24 * 60 * MINUTE));
    assert_eq!((house.asked(), house.counts().failed, house.found().len()), (4, 1, 1));
    let wanted = watchbill_protocol::memory::MemoryChange::CatchUp;
    let memory = house.memory.clone();
    let settings = watchbill_settings::Settings {
        memory,
        ..watchbill_settings::Settings::for_roots(Vec::<std::path::PathBuf>::new())
    };
    let changed =
        house.with(|store| change::change(store, &MemFs::new(), &settings, &wanted, BEGIN).unwrap());
    assert_eq!((changed.turns, house.counts().queued), (Some(1), 1));
}

#[test]
fn a_program_that_is_killed_counts_as_a_try_and_stays_booked() {
    let house = House::new();
    house.session("s", 1);
    let mut asker = house.asker("read -r line; kill -9 $$");
    assert!(matches!(house.run(&mut asker), Sleep::Until(_)));
    let booked = house.spent();
    assert!(booked.tokens_in > 100 && booked.tokens_out == 600, "{booked:?}");
    house.writes_program(&finds("Two handles share no offset in the log."));
    house.run_for(&mut asker, Millis(60 * MINUTE));
    assert_eq!((house.asked(), house.done(), house.found().len()), (2, 1, 1));
    assert_eq!(house.spent().tokens_in, booked.tokens_in + 300);
}

#[test]
fn after_this_program_was_killed_the_running_job_waits_again() {
    let house = House::new();
    house.session("s", 1);
    house.with(|store| {
        let row = store.model_jobs_to_choose(BEGIN).unwrap().remove(0);
        let mut step = store.step().unwrap();
        step.begin_model_job(&row, BEGIN).unwrap();
        step.commit().unwrap();
    });
    assert!(house.counts().is_running);
    house.run(&mut house.asker(&finds("Two handles share no offset in the log.")));
    assert_eq!((house.asked(), house.done(), house.found().len()), (1, 1, 1));
}

#[test]
fn a_store_that_refuses_the_answer_gets_it_later_without_another_question() {
    let house = House::new();
    house.session("s", 1);
    let mut asker = house.asker(&finds("Two handles share no offset in the log."));
    assert_eq!(asker.turn(&house.look), Sleep::Not);
    let mut other = house.with(|store| store.second_writer().unwrap());
    let step = other.step().unwrap();
    for _ in 0..3 {
        assert_eq!(asker.turn(&house.look), Sleep::Until(house.clock.now() + RETRY));
    }
    drop(step);
    house.run(&mut asker);
    assert_eq!((house.asked(), house.done(), house.found().len()), (1, 1, 1));
}

#[test]
fn an_answer_about_a_session_that_was_removed_meanwhile_is_dropped() {
    let house = House::new();
    house.session("s", 1);
    let mut asker = house.asker(&finds("Two handles share no offset in the log."));
    assert_eq!(asker.turn(&house.look), Sleep::Not);
    house.with(|store| {
        let forgotten = Forget::Sessions(vec![SessionId::new("s")]);
        let selection = store.select_forgotten(&forgotten).unwrap();
        store.remove(&selection, BEGIN, &mut |_| {}).unwrap();
    });
    assert_eq!(house.run(&mut asker), Sleep::UntilWoken);
    assert_eq!((house.found(), house.counts()), (Vec::new(), JobCounts::default()));
    assert_eq!(house.spent().tokens_in, 300, "what it took stays");
}

#[test]
fn a_removal_ends_the_question_and_its_job_waits_again() {
    let house = House::new();
    house.session("s", 1);
    // It ends when its input closes, as the real one does.
    let mut asker = house.asker("cat > /dev/null");
    let queue = Arc::clone(&asker.queue);
    let asked = house.folder.path().join("asked");
    let ends = std::thread::spawn(move || {
        while !Path::new(&asked).exists() {
            std::thread::yield_now();
        }
        queue.cancel();
    });
    assert_eq!(asker.turn(&house.look), Sleep::Not);
    ends.join().unwrap();
    asker.store_answer(&house.look).map_err(|_| "the store refuses").unwrap();
    let row = house.with(|store| store.model_jobs_to_choose(BEGIN).unwrap().remove(0));
    assert_eq!((row.state, row.tries), (JobState::Queued, 0));
}
