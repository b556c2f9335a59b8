//! A client that is killed at any moment is shown as ended at that moment, after any last report.

use std::collections::BTreeMap;

use watchbill_core::ids::SessionId;
use watchbill_engine::demo::replay::{Operation, Recording};

use crate::play::{Player, Witnesses, all};

/// The steps that change a row, so that a kill hits every state at least once.
fn steps_that_matter(recording: &Recording, witnesses: Witnesses) -> Vec<usize> {
    let mut player = Player::new(recording, witnesses);
    let mut steps = Vec::new();
    let mut revision = 0;
    for (n, (at, operation)) in recording.operations.iter().enumerate() {
        player.act(*at, operation, &mut |_, _, _| {});
        let now = player.engine.current(true).revision;
        if now != std::mem::replace(&mut revision, now) {
            steps.push(n);
        }
    }
    // The longest recordings repeat themselves.
    let every = steps.len().div_ceil(14).max(1);
    steps.into_iter().step_by(every).collect()
}

#[test]
fn a_process_killed_at_any_step_ends_its_session_within_that_step() {
    check_kill_at_each_step(Witnesses::REGISTRY);
}

#[test]
fn a_process_killed_at_any_step_ends_its_session_also_with_hooks() {
    check_kill_at_each_step(Witnesses::ALL);
}

fn check_kill_at_each_step(witnesses: Witnesses) {
    let mut killed_in: BTreeMap<String, usize> = BTreeMap::new();
    for named in all() {
        for kill in steps_that_matter(&named.recording, witnesses) {
            let mut player = Player::new(&named.recording, witnesses);
            for (at, operation) in named.recording.operations.iter().take(kill + 1) {
                player.act(*at, operation, &mut |_, _, _| {});
            }
            let at = named.recording.operations[kill].0;
            let rows = player.engine.current(true).rows;
            let running: Vec<_> = rows
                .iter()
                .filter_map(|row| {
                    Some((row.session().session_id.clone(), row.session().pid?, row.session().state.clone()))
                })
                .collect();
            for (pid, _) in named.recording.processes() {
                player.act(at, &Operation::Exit { pid }, &mut |_, _, _| {});
            }
            for (id, _, state) in running {
                let rows = player.engine.current(true).rows;
                match rows.iter().find(|row| row.session().session_id == id) {
                    Some(row) => {
                        let row = row.session();
                        let now = (&*row.state, row.state_kind.as_deref());
                        let why = &row.state_reason;
                        assert_eq!(
                            now,
                            ("ended", Some("crashed")),
                            "{}: {id} in step {kill}, {why:?}",
                            named.name
                        );
                        assert!(!row.has_pending_tool_use);
                    }
                    // Only its modes were written: there is nothing to show.
                    None => {
                        let written =
                            player.engine.main_file(&SessionId::new(&id)).and_then(|(_, file)| file.main());
                        assert!(
                            written.is_none_or(|fold| fold.facts().created_at.is_none()),
                            "{}: {id}",
                            named.name
                        );
                    }
                }
                *killed_in.entry(state).or_default() += 1;
            }
            player.run_out(&mut |_, _, _| {});
            for row in player.engine.current(true).rows {
                let state = &*row.session().state;
                assert!(
                    state == "ended" || state == "idle",
                    "{}: {state} for ever after step {kill}",
                    named.name
                );
            }
        }
    }
    for state in ["working", "waiting_for_approval", "waiting_for_input"] {
        assert!(killed_in.get(state).is_some_and(|kills| *kills > 20), "{killed_in:?}");
    }
}
