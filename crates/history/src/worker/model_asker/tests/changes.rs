//! What is excluded, forked or chosen anew while turns wait.

use super::*;

#[test]
fn what_is_excluded_meanwhile_is_not_asked_about_and_of_its_answer_nothing_is_kept() {
    let mut house = House::new();
    house.session("s", 1);
    house.look.history.exclude = watchbill_core::history::Exclude::new(["/home/dev/app/src/**".to_owned()]);
    let mut asker = house.asker(&finds("Two handles share no offset in the log."));
    // The rows of it are still there.
    let later = house.run(&mut asker);
    assert_eq!((later, house.asked()), (Sleep::Until(house.clock.now() + RETRY), 0));
    let mut house = House::new();
    let key = house.session("s", 1);
    let mut asker = house.asker(&finds("Two handles share no offset in the log."));
    assert_eq!(asker.turn(&house.look), Sleep::Not);
    // Another call of the turn is left out, or stored, after the question.
    house.with(|store| {
        let mut step = store.step().unwrap();
        let mut call = Activity::new("later".into());
        (call.batch, call.tool) = (Some("s-0".into()), Some("Edit".into()));
        (call.file, call.outcome) = (Some("/home/dev/app/src/b.rs".into()), Some(CallOutcome::Ok));
        step.merge_activity(key, None, &call).unwrap();
        step.commit().unwrap();
    });
    house.look.is_busy = true;
    house.run(&mut asker);
    assert_eq!((house.found(), house.done(), house.counts().queued), (Vec::new(), 0, 1));
}

#[test]
fn a_turn_that_changes_while_the_model_is_asked_is_asked_about_as_it_is_then() {
    let change = |what: &str, batch: &mut Batch, call: &mut Activity| match what {
        "answer" => batch.response = Some((BEGIN, "The log is mended.".into())),
        "prompt" => batch.prompt = Some("mend the log, part 0, and its test".into()),
        _ => {
            (call.batch, call.tool) = (Some("s-0".into()), Some("Edit".into()));
            (call.file, call.outcome) = (Some("/home/dev/app/src/b.rs".into()), Some(CallOutcome::Ok));
        }
    };
    for what in ["answer", "prompt", "call"] {
        let house = House::new();
        let key = house.session("s", 1);
        let mut asker = house.asker(&finds("Two handles share no offset in the log."));
        assert_eq!(asker.turn(&house.look), Sleep::Not);
        house.with(|store| {
            let (mut batch, mut call) = (store_batch(BEGIN), Activity::new("later".into()));
            change(what, &mut batch, &mut call);
            let mut step = store.step().unwrap();
            step.merge_batch(key, None, &batch).unwrap();
            if call.batch.is_some() {
                step.merge_activity(key, None, &call).unwrap();
            }
            step.commit().unwrap();
        });
        house.learn();
        assert_eq!(house.run(&mut asker), Sleep::UntilWoken, "{what}");
        assert_eq!((house.asked(), house.done(), house.found().len()), (2, 1, 1), "{what}");
    }
}

#[test]
fn a_turn_that_a_fork_repeats_is_asked_about_once() {
    let house = House::new();
    house.session("s", 1);
    house.with(|store| {
        let mut step = store.step().unwrap();
        let fork = step.session_key(&SessionId::new("fork")).unwrap();
        step.queue_model_job(fork, "s-0", BEGIN).unwrap();
        step.commit().unwrap();
        assert_eq!(store.model_jobs_to_choose(BEGIN).unwrap().len(), 1);
    });
}

#[test]
fn turns_that_waited_are_not_for_a_model_that_is_chosen_later() {
    let mut house = House::new();
    house.session("s", 2);
    let chosen = std::mem::take(&mut house.memory.model);
    house.session("without", 1);
    house.memory.model = chosen;
    house.session_from("after", house.clock.now() + Millis(MINUTE), 1);
    let mut asker = house.asker(FAILS);
    house.run_for(&mut asker, Millis(4 * 60 * MINUTE));
    assert_eq!(house.asked(), 3, "three tries for the one turn after the choice");
}
