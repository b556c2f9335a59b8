//! Sessions at their end: the model gives one a title and a summary, once, and only of what it may see.

use watchbill_store::tables::summaries::ModelSummary;

use super::*;

/// A result with a title and the five fields.
fn says(title: &str) -> String {
    let reply = format!(
        r#"{{\"title\":\"{title}\",\"request\":\"Mend the log\",\"investigated\":\"\",\"learned\":\"It was the flag\",\"completed\":\"Mended\",\"next_steps\":\"\"}}"#
    );
    format!(r#"read -r line; echo '{{"reply":"{reply}","tokensIn":300,"tokensOut":40,"millis":5}}'"#)
}

impl House {
    /// The user asks, and the turn ends; `None`: it goes on.
    fn asks(&self, id: &str, n: i64, ended_at: Option<Timestamp>) -> SessionKey {
        let key = self.with(|store| {
            let mut step = store.step().unwrap();
            let key = step.session_key(&SessionId::new(id)).unwrap();
            step.put_evidence(key, &place(), &[], None).unwrap();
            let mut batch = Batch::new(format!("{id}-{n}").into());
            batch.origin = Some(BatchOrigin::Human);
            batch.prompt = Some(format!("mend the log, part {n}"));
            batch.started_at = Some(BEGIN + Millis(n * MINUTE));
            batch.offset = Some(n.unsigned_abs());
            batch.last_activity_at = ended_at.or(batch.started_at);
            batch.ended = ended_at.map(|at| Ended { status: BatchStatus::Completed, at, error: None });
            step.merge_batch(key, None, &batch).unwrap();
            step.commit().unwrap();
            key
        });
        self.learn();
        key
    }

    fn ends(&self, key: SessionKey) {
        self.with(|store| {
            let mut step = store.step().unwrap();
            step.complete_session(key, self.clock.now() + Millis(60 * MINUTE)).unwrap();
            step.commit().unwrap();
        });
    }

    fn said(&self, key: SessionKey) -> Option<ModelSummary> {
        self.with(|store| store.model_summary(key).unwrap())
    }

    fn titles(&self) -> Vec<String> {
        let titles = self.with(|store| store.proposed_titles().unwrap());
        titles.into_iter().map(|(id, title)| format!("{id}: {title}")).collect()
    }
}

#[test]
fn a_session_is_asked_about_at_its_end_and_again_only_after_it_went_on() {
    let house = House::new();
    let key = house.asks("s", 0, Some(BEGIN));
    let mut asker = house.asker(&says("Log in one file"));
    let hour = BEGIN + Millis(60 * MINUTE);
    assert_eq!((house.run(&mut asker), house.asked()), (Sleep::Until(hour), 0), "it runs");
    assert_eq!(house.counts().queued, 0, "it does not wait yet");
    house.ends(key);
    assert_eq!(house.counts().queued, 1);
    assert_eq!((house.run(&mut asker), house.asked()), (Sleep::UntilWoken, 1));
    let said = house.said(key).unwrap();
    assert_eq!((&*said.title, said.is_current), ("Log in one file", true));
    assert_eq!((&*said.summary.completed, said.summary.learned.len()), ("Mended", 1));
    assert_eq!(house.titles(), ["s: Log in one file"]);
    assert!(house.store.forgotten_changed(), "the engine hears of it");

    house.learn();
    house.run(&mut asker);
    house.run(&mut house.asker("exit 1"));
    assert_eq!(house.asked(), 1, "asked once, after a start too");
    house.writes_program(&says("Log in two files"));
    house.asks("s", 1, None);
    assert!(!house.said(key).unwrap().is_current, "it goes on");
    house.clock.set(BEGIN + Millis(5 * 60 * MINUTE));
    assert_eq!((house.run(&mut asker), house.asked()), (Sleep::UntilWoken, 1), "a turn runs, however long");
    house.asks("s", 1, Some(house.clock.now()));
    let hour = house.clock.now() + Millis(60 * MINUTE);
    assert_eq!((house.run(&mut asker), house.asked()), (Sleep::Until(hour), 1));
    house.clock.set(hour);
    house.run(&mut asker);
    assert_eq!(
        (house.asked(), house.titles()),
        (2, vec!["s: Log in two files".to_owned()]),
        "quiet for an hour"
    );
    let counted = house.with(|store| store.model_jobs_ended_since(BEGIN).unwrap());
    assert_eq!(counted, 2, "the limit of a day counts each question");
    // A fork that repeats the turns says nothing new.
    let fork = house.asks("fork", 1, Some(BEGIN + Millis(5 * 60 * MINUTE)));
    house.ends(fork);
    house.run(&mut asker);
    assert_eq!(house.asked(), 2);
}

#[test]
fn caps_pauses_and_bad_replies_change_nothing() {
    let mut house = House::new();
    let key = house.asks("s", 0, Some(BEGIN));
    house.ends(key);
    house.look.is_busy = true;
    let mut asker = house.asker(&says("Log in one file"));
    assert_eq!((house.run(&mut asker), house.asked()), (Sleep::UntilWoken, 0), "a session works");
    house.look.is_busy = false;
    house.look.memory.model.daily_tokens = 700;
    house.run(&mut asker);
    assert_eq!(house.asked(), 0, "it may take more than the limit of the day");
    house.look.memory.model.daily_tokens = 1_000_000;
    house.look.settings_changed = true;
    house.run(&mut asker);
    house.look.settings_changed = false;
    let said = house.said(key);
    assert_eq!((said.is_some(), house.asked()), (true, 1));
    let token = "ghp_0123456789abcdefghijklmnopqrstuvwxyz";
    let bad = [
        finds("Two handles share no offset in the log."),
        says("x").replace("next_steps", "later"),
        says("x").replace("Mended", token),
    ];
    for (n, bad) in (1..).zip(bad) {
        house.writes_program(&bad);
        house.asks("s", n, Some(BEGIN + Millis(n * MINUTE)));
        house.run(&mut asker);
        assert_eq!((house.asked(), house.titles()), (1 + n as usize, vec!["s: Log in one file".to_owned()]));
        assert_eq!(house.counts(), JobCounts::default(), "as with any reply, it is not asked again");
        assert_eq!(house.said(key).map(|said| said.summary), said.clone().map(|said| said.summary));
    }
}

#[test]
fn private_excluded_and_removed_sessions_are_not_asked_about() {
    let mut house = House::new();
    let [left_out, shown] = [("out", 1), ("in", 2)].map(|(id, n)| house.asks(id, n, Some(BEGIN + Millis(n))));
    house.with(|store| {
        let mut step = store.step().unwrap();
        let private = step.session_key(&SessionId::new("private")).unwrap();
        let place = ProjectPlace { project: PROJECT, place: "/p".into(), root: "/p".into() };
        step.put_evidence(private, &place, &[], None).unwrap();
        let ended = Some(Ended { status: BatchStatus::Completed, at: BEGIN, error: None });
        step.merge_batch(private, None, &Batch { private: true, ended, ..Batch::new("p".into()) }).unwrap();
        step.put_session(&watchbill_store::tables::sessions::SessionRow {
            session_id: "out".into(),
            cwd: Some("/home/dev/hidden".into()),
            ..Default::default()
        })
        .unwrap();
        step.complete_session(private, BEGIN + Millis(MINUTE)).unwrap();
        step.commit().unwrap();
    });
    house.learn();
    house.ends(left_out);
    house.ends(shown);
    let mut asker = house.asker(&says("Log in one file"));
    house.look.history.exclude = watchbill_core::history::Exclude::new(["/home/dev/hidden/**".to_owned()]);
    let rules = house.look.history.exclude.clone();
    assert!(matches!(house.run(&mut asker), Sleep::Until(_)), "the removal of what is excluded comes first");
    assert_eq!(house.asked(), 0);
    house.with(|store| {
        let selection = store.select_excluded(&rules, Default::default(), Default::default()).unwrap();
        store.remove(&selection, BEGIN, &mut |_| {}).unwrap();
    });
    house.clock.set(BEGIN + Millis(2 * 60 * MINUTE));
    house.run(&mut asker);
    assert_eq!((house.asked(), house.titles()), (1, vec!["in: Log in one file".to_owned()]));
    house.with(|store| {
        let selection = store.select_forgotten(&Forget::Session(SessionId::new("in"))).unwrap();
        store.remove(&selection, BEGIN, &mut |_| {}).unwrap();
    });
    assert_eq!((house.titles(), house.said(shown)), (Vec::new(), None));
}
