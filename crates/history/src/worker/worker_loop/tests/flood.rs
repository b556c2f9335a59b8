//! More hook events than may wait, while the store refuses.

use super::*;
use crate::worker::hook_queue::MOST_EVENTS;

#[test]
fn a_flood_of_hook_events_while_the_store_refuses_is_stored_whole_and_once() {
    let house = WorkerFixture::new();
    let event = |n: u64| {
        let payload = format!(
            r#"{{"session_id":"s","hook_event_name":"PostToolUse","tool_name":"Bash","tool_use_id":"c{n}","cwd":"/home/dev/work"}}"#
        );
        let origin = hook_message("s").origin;
        let at = Timestamp::from_millis(origin.at.as_millis() + n.cast_signed());
        let id = n.to_string().into();
        HookMessage::new(HookOrigin { id, at, order: n, ..origin }, payload.as_bytes())
    };
    let all = MOST_EVENTS as u64 + 600;
    let mut worker = house.worker(&[]);
    // The journal has what had no room, and some of what is stored.
    worker.parts.journal = Box::new(move |_| (all - 1_000..all).map(event).collect());
    worker.take(Task::Begin);
    house.while_locked(|| {
        for n in 0..all {
            house.hook_events.add(vec![event(n)]);
        }
        worker.run_slice();
        assert_eq!(house.reach.hook_events_waiting() + 512, MOST_EVENTS, "and one step is under way");
    });
    house.exhaust(&mut worker);
    let stored = house.with_store(|store| {
        let key = store.session_key(&SessionId::new("s")).unwrap().unwrap();
        store.activities(key).unwrap().len() as u64
    });
    assert_eq!(stored, all);
    assert_eq!((house.reach.hook_events_waiting(), house.shared_store.trouble()), (0, None));
}
