//! What the rollout alone says at each step of a recording.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use watchbill_core::session::effect::Effect;
use watchbill_core::time::Millis;

use crate::fixtures::{Step, fold_lines, new_fold, recordings};

fn write_states(out: &mut String, session: &str, effects: &[Effect]) {
    for Effect::Transition { to, kind, .. } in effects {
        let kind = kind.map_or("", |kind| kind.as_str());
        writeln!(out, "{} {} {kind}", &session[30..], to.as_str()).expect("a string grows");
    }
}

#[test]
fn a_rollout_tells_these_states() {
    let mut out = String::new();
    for (name, steps) in recordings() {
        let wanted = ["01-", "03-", "04-", "09-", "12-", "13-", "14-"];
        if !wanted.iter().any(|begin| name.starts_with(begin)) {
            continue;
        }
        writeln!(out, "# {name}").expect("a string grows");
        let mut folds = BTreeMap::new();
        for step in steps {
            match step {
                Step::Mark(text) => writeln!(out, "        {text}").expect("a string grows"),
                Step::Append { session, text } => {
                    let fold = folds.entry(session.clone()).or_insert_with(|| new_fold(&session));
                    let effects = fold_lines(fold, &text);
                    write_states(&mut out, &session, &effects);
                }
            }
        }
        writeln!(out, "        ten seconds of silence").expect("a string grows");
        for (session, mut fold) in folds {
            let mut effects = Vec::new();
            fold.advance(fold.clock().expect("records have times") + Millis::from_secs(10), &mut effects);
            write_states(&mut out, &session, &effects);
        }
    }
    insta::assert_snapshot!(out);
}
