//! Limits of a day, and many turns that wait.

use jiff::tz::TimeZone;
use watchbill_core::memory::model::queue::NEWEST;

use super::*;

#[test]
fn a_limit_of_the_day_stops_it_until_the_next_day() {
    let mut house = House::new();
    house.memory.model.daily_tokens = 3_000;
    house.look = look(&house.memory);
    house.session("s", 20);
    let mut asker = house.asker(&finds("Two handles share no offset in the log."));
    let next = BEGIN.next_day(&TimeZone::system());
    assert_eq!(house.run(&mut asker), Sleep::Until(next));
    let (asked, spent) = (house.asked(), house.spent());
    assert!(asked > 2 && spent.tokens_in + spent.tokens_out <= 3_000, "{asked} {spent:?}");
    house.clock.set(next);
    house.run(&mut asker);
    assert_eq!(house.asked(), 2 * asked);
}

#[test]
fn of_50_000_turns_the_newest_are_asked_about_and_the_others_when_the_user_wants_it() {
    let house = House::new();
    house.with(|store| {
        let mut step = store.step().unwrap();
        for session in 0..500 {
            let key = step.session_key(&SessionId::new(&format!("old-{session}"))).unwrap();
            for n in 0..100 {
                let at = BEGIN - Millis((session * 100 + n + 1) * 1_000);
                step.queue_model_job(key, &format!("{n}"), at).unwrap();
                // The rules see each session again after each of its turns.
                step.queue_model_job(key, &format!("{}", n / 2), at).unwrap();
            }
        }
        step.commit().unwrap();
    });
    house.session("s", i64::try_from(NEWEST).unwrap() + 10);
    let counts = house.counts();
    assert_eq!((counts.queued, counts.older), (NEWEST, 50_010), "nothing is lost or doubled");
    let mut asker = house.asker(&finds("Two handles share no offset in the log."));
    assert_eq!(house.run(&mut asker), Sleep::UntilWoken);
    assert_eq!((house.asked() as u64, house.counts().queued, house.counts().older), (NEWEST, 0, 50_010));
    assert!(
        house.with(|store| store.model_jobs_to_choose(BEGIN).unwrap().len()) <= 51,
        "what is held does not grow"
    );
    // On the same day, more turns end than may be asked about.
    house.session_from("more", BEGIN + Millis(60 * MINUTE), 5);
    house.clock.set(BEGIN + Millis(90 * MINUTE));
    assert_eq!(house.run(&mut asker), Sleep::Until(house.clock.now().next_day(&TimeZone::system())));
    assert_eq!(house.asked() as u64, NEWEST);
    // Wanted ones go beyond fifty. Only the turns of `s` and `more` are still there.
    house.with(|store| {
        let mut step = store.step().unwrap();
        assert_eq!(step.want_all_model_jobs(house.clock.now()).unwrap(), 50_015);
        step.commit().unwrap();
    });
    for _ in 0..60 {
        asker.turn(&house.look);
    }
    assert_eq!(house.asked() as u64, NEWEST + 15);
}
