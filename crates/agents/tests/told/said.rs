//! What each session says in the end, and at each step of a recording.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use watchbill_core::history::{HistoryFold, HistorySettings, Item};
use watchbill_core::session::effect::Effect;
use watchbill_core::session::fold::SessionFold;
use watchbill_core::time::Millis;
use watchbill_core::transcript::record::Usage;

use crate::files::{File, Step, end, files, fold_lines, new_fold, recordings, session_of};

fn describe(fold: &SessionFold) -> String {
    let (reading, facts, lineage, total) =
        (fold.reading(), fold.facts(), fold.lineage(), fold.ledger().total());
    let word = |text: Option<&str>| text.unwrap_or("-").to_owned();
    let mut out = format!("{} {}", reading.state.as_str(), reading.kind.map_or("-", |kind| kind.as_str()));
    let (title, cwd, model) =
        (facts.title(), fold.cwd().map(|cwd| word(Some(&**cwd))), facts.model.as_deref());
    write!(
        out,
        "\n  title {} | cwd {} | model {}\n  tokens {} + {} cached, {} out in {} requests, context {:?}, segments {}",
        word(title.as_deref()),
        word(cwd.as_deref()),
        word(model),
        total.input,
        total.cache_read + total.cache_write,
        total.output,
        fold.ledger().len(),
        facts.context_used,
        lineage.segments.len(),
    )
    .unwrap();
    if let Some(id) = &lineage.forked_from {
        write!(out, "\n  fork of {id}").unwrap();
    }
    for call in fold.pending_tools() {
        write!(out, "\n  open {} [{}]", call.tool, call.target).unwrap();
    }
    out
}

/// The prompts of the history, how many texts and calls it has, and the tokens of all requests.
fn rows(file: &File) -> (Vec<String>, Usage) {
    let mut fold = HistoryFold::new(file.session(), None);
    let (mut prompts, mut calls, mut counts) = (Vec::new(), BTreeMap::new(), BTreeMap::new());
    let mut tokens = Usage::default();
    let mut sink = |item: Item<'_>| match item {
        Item::Text(text) => {
            *counts.entry(format!("text {}", text.role.as_str())).or_insert(0) += 1;
            if text.role.as_str() == "prompt" {
                prompts.push(text.text.chars().take(40).collect::<String>());
            }
        }
        Item::Request(request) => tokens.add(request.usage),
        Item::Activity(call) => {
            let outcome = call.outcome.map_or("-", |outcome| outcome.as_str());
            let known: &mut (Option<String>, &str) = calls.entry(call.id.to_string()).or_default();
            known.0 = call.tool.map(|tool| tool.to_string()).or(known.0.take());
            known.1 = outcome;
        }
        _ => {}
    };
    for (offset, line) in (0..).zip(&file.lines) {
        file.parser()(line.as_bytes(), &mut |record, full| {
            fold.apply(offset, &record, full, &HistorySettings::default(), &mut sink);
        });
    }
    fold.settle(&mut sink);
    for (tool, outcome) in calls.into_values() {
        *counts.entry(format!("{} {outcome}", tool.unwrap_or_default())).or_insert(0) += 1;
    }
    prompts.push(counts.iter().map(|(what, count)| format!("{count} {what}")).collect::<Vec<_>>().join(", "));
    (prompts, tokens)
}

#[test]
fn each_line_is_read_without_a_problem() {
    for file in files() {
        for line in &file.lines {
            let report = file.parser()(line.as_bytes(), &mut |_, _| {});
            assert_eq!(report.problems().count(), 0, "{}: {report:?} {line}", file.name);
        }
    }
}

#[test]
fn each_session_says_this_in_the_end() {
    let mut out = String::new();
    for file in files() {
        let (fold, (prompts, tokens)) = (file.fold(), rows(&file));
        assert_eq!(tokens, fold.ledger().total(), "{}: the history counts the same", file.name);
        writeln!(out, "{}: {}", file.name, describe(&fold)).unwrap();
        for prompt in prompts {
            writeln!(out, "  {prompt}").unwrap();
        }
    }
    insta::assert_snapshot!(out);
}

#[test]
fn a_recording_tells_these_states() {
    let mut out = String::new();
    for (name, steps) in recordings("pi") {
        writeln!(out, "# {name}").unwrap();
        let mut folds = BTreeMap::new();
        let write_states = |out: &mut String, session: &str, effects: &[Effect]| {
            for Effect::Transition { to, kind, .. } in effects {
                let kind = kind.map_or("", |kind| kind.as_str());
                writeln!(out, "{} {} {kind}", end(session), to.as_str()).unwrap();
            }
        };
        for step in steps {
            match step {
                Step::Mark(text) => writeln!(out, "        {text}").unwrap(),
                Step::Write(..) => unreachable!("pi writes no file anew"),
                Step::Append(path, text) => {
                    let session = session_of(&path);
                    let parse = watchbill_agents::files::parser_of(&path);
                    // A resume may begin a second file.
                    let fold =
                        folds.entry((session.clone(), path)).or_insert_with(|| new_fold(session.clone()));
                    write_states(&mut out, session.as_str(), &fold_lines(fold, parse, text.lines()));
                }
            }
        }
        writeln!(out, "        ten seconds of silence").unwrap();
        for ((session, _), mut fold) in folds {
            let mut effects = Vec::new();
            fold.advance(fold.clock().unwrap_or_default() + Millis::from_secs(10), &mut effects);
            write_states(&mut out, session.as_str(), &effects);
        }
    }
    insta::assert_snapshot!(out);
}
