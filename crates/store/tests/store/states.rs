//! The engine's stored states: heads are replaced, pieces are appended. And the transitions of shown states.

use proptest::prelude::*;
use watchbill_core::ids::SessionId;
use watchbill_core::time::{Millis, Timestamp};
use watchbill_store::Store;
use watchbill_store::tables::engine_states::StateRow;
use watchbill_store::tables::transitions::TransitionRow;

use crate::rig::*;

#[test]
fn pieces_are_read_in_the_order_of_writing() {
    let rig = Rig::new();
    let mut store = rig.open();
    let mut all = Vec::new();
    for n in 0..3_000u32 {
        // Bytes that are no text, some of them zero. Some pieces are longer than one row.
        let length = if n % 500 == 0 { 5_000 } else { 20 };
        let piece: Vec<u8> = (0..length).map(|at| (n.wrapping_mul(7) + at) as u8).collect();
        let mut step = store.step().unwrap();
        step.put_state("/home/dev/a.jsonl", "a", &n.to_le_bytes(), Some(&piece), n == 0).unwrap();
        step.commit().unwrap();
        all.extend(piece);
    }
    let StateRow { head, pieces } = store.state("/home/dev/a.jsonl").unwrap().unwrap();
    assert_eq!(head, 2_999u32.to_le_bytes());
    assert!(pieces == all, "{} of {} bytes", pieces.len(), all.len());
    let mut step = store.step().unwrap();
    step.put_state("/home/dev/a.jsonl", "a", b"new", Some(&[0, 1, 0]), true).unwrap();
    step.commit().unwrap();
    assert_eq!(
        store.state("/home/dev/a.jsonl").unwrap(),
        Some(StateRow { head: b"new".to_vec(), pieces: vec![0, 1, 0] })
    );
    let mut step = store.step().unwrap();
    step.put_state("/home/dev/b.jsonl", "", b"b", None, true).unwrap();
    step.remove_state("/home/dev/a.jsonl").unwrap();
    step.put_fact("moves", &[0, 255]).unwrap();
    step.commit().unwrap();
    assert_eq!(store.state("/home/dev/a.jsonl").unwrap(), None);
    assert_eq!(store.fact("moves").unwrap(), Some(vec![0, 255]));
    let mut heads = Vec::new();
    store.states(&mut |path, head| heads.push((path.to_owned(), head.to_vec()))).unwrap();
    assert_eq!(heads, [("/home/dev/b.jsonl".to_owned(), b"b".to_vec())]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn transitions_are_read_in_the_order_of_showing(
        shown in proptest::collection::vec((0i64..50, 0i64..200, prop::bool::weighted(0.1)), 1..30)
    ) {
        let rig = Rig::new();
        let mut store = rig.open();
        let mut now = Timestamp::from_millis(1_000);
        let mut expected = Vec::new();
        let mut set_back = false;
        for (n, (passed, lasted, goes_back)) in shown.into_iter().enumerate() {
            set_back |= goes_back;
            now = if goes_back { now - Millis(500) } else { now + Millis(passed) };
            let since = now - Millis(lasted);
            let word = |text: &str| text.to_owned();
            let (source, confidence) = (word("transcript"), word("inferred"));
            let row = TransitionRow { at: since, state: n.to_string(), kind: None, source, detail: word(""), confidence };
            let mut step = store.step().unwrap();
            let session = step.session_key(&SessionId::new("a")).unwrap();
            step.add_transition(session, &row, now).unwrap();
            step.commit().unwrap();
            expected.push((n.to_string(), since, now));
            let rows = store.transitions(session, 100).unwrap();
            if !set_back {
                prop_assert_eq!(&rows[0].state, &n.to_string(), "the newest row is the state that is shown");
                let order: Vec<String> = rows.iter().rev().map(|row| row.state.clone()).collect();
                prop_assert_eq!(order, expected.iter().map(|(state, ..)| state.clone()).collect::<Vec<_>>());
            }
            for row in rows {
                let (_, since, now) = &expected[row.state.parse::<usize>().unwrap()];
                prop_assert!(*since <= row.at && row.at <= *now, "never before it began, nor later than it was shown");
            }
        }
    }
}

#[test]
fn states_ahead_of_their_rows_are_known_until_the_rows_are_stored() {
    let rig = Rig::new();
    let mut store = rig.open();
    let put = |store: &mut Store, session: &str| {
        let mut step = store.step().unwrap();
        step.put_state(&format!("/{session}.jsonl"), session, b"head", None, true).unwrap();
        assert!(step.knows_state(&format!("/{session}.jsonl")).unwrap() && !step.knows_state("/x").unwrap());
        step.commit().unwrap();
    };
    let note = |store: &mut Store| {
        let mut step = store.step().unwrap();
        step.mark_rows_behind().unwrap();
        step.commit().unwrap();
    };
    put(&mut store, "before");
    assert_eq!(store.sessions_without_rows().unwrap(), None);
    note(&mut store);
    assert_eq!(store.sessions_without_rows().unwrap(), Some(Vec::new()));
    put(&mut store, "ahead");
    // The next run, after a kill, adds to it.
    note(&mut store);
    put(&mut store, "later");
    assert_eq!(store.sessions_without_rows().unwrap(), Some(vec!["ahead".to_owned(), "later".to_owned()]));
    let there = |store: &mut Store, ours: &dyn Fn(&str) -> bool| {
        let mut step = store.step().unwrap();
        step.rows_are_there(ours).unwrap();
        step.commit().unwrap();
        store.sessions_without_rows().unwrap()
    };
    assert_eq!(there(&mut store, &|path| path != "/later.jsonl"), Some(vec!["later".to_owned()]));
    assert_eq!(there(&mut store, &|_| true), None);
    assert_eq!(there(&mut store, &|_| false), None, "nothing was behind");
}

#[test]
fn a_state_with_the_reused_number_of_a_removed_one_is_ahead_too() {
    let rig = Rig::new();
    let mut store = rig.open();
    for session in ["kept", "forgotten", "gone"] {
        let mut step = store.step().unwrap();
        step.put_state(&format!("/{session}.jsonl"), session, b"head", None, true).unwrap();
        step.commit().unwrap();
    }
    let mut step = store.step().unwrap();
    step.mark_rows_behind().unwrap();
    step.commit().unwrap();
    // A run was killed, and the newest states are removed before the next one.
    let mut step = store.step().unwrap();
    step.remove_state("/forgotten.jsonl").unwrap();
    step.remove_state("/gone.jsonl").unwrap();
    step.mark_rows_behind().unwrap();
    step.put_state("/new.jsonl", "new", b"head", None, true).unwrap();
    step.commit().unwrap();
    assert_eq!(store.sessions_without_rows().unwrap(), Some(vec!["new".to_owned()]));
}
