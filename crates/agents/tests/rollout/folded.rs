//! What each rollout says in the end: state, facts, tokens, lineage.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::Value;
use watchbill_agents::codex::records::parse_line;
use watchbill_core::history::{HistoryFold, HistorySettings, Item};
use watchbill_core::ids::SessionId;
use watchbill_core::session::fold::SessionFold;
use watchbill_core::session::state::Timeouts;
use watchbill_core::transcript::record::Usage;

use crate::fixtures::{Rollout, fold_lines, new_fold, rollouts};

fn last_total(rollout: &Rollout) -> Usage {
    let mut total = Usage::default();
    for line in rollout.text.lines() {
        let line: Value = serde_json::from_str(line).expect("a real line");
        let usage = &line["payload"]["info"]["total_token_usage"];
        let count = |name: &str| usage[name].as_u64().unwrap_or(0);
        if usage.is_object() {
            let cache = (count("cached_input_tokens"), count("cache_write_input_tokens"));
            total = Usage {
                input: count("input_tokens") - cache.0 - cache.1,
                output: count("output_tokens"),
                cache_read: cache.0,
                cache_write: cache.1,
            };
        }
    }
    total
}

/// The rows of the history: prompts, how many calls and texts, and the tokens of all requests. The program starts anew after each so many lines.
fn rows(rollout: &Rollout, restart_after: usize) -> (Vec<String>, Usage) {
    let settings = HistorySettings::default();
    let mut fold = HistoryFold::new(SessionId::new(&rollout.session), None);
    let (mut prompts, mut tokens, mut offset) = (Vec::<(String, String)>::new(), Usage::default(), 0);
    let (mut calls, mut counts) = (BTreeMap::new(), BTreeMap::<String, u32>::new());
    let mut sink = |item: Item<'_>| match item {
        Item::Batch(batch) => {
            let id = batch.id.to_string();
            let at = prompts.iter().position(|(known, _)| *known == id).unwrap_or_else(|| {
                prompts.push((id, String::new()));
                prompts.len() - 1
            });
            let text = &mut prompts[at].1;
            if let (Some(origin), Some(prompt)) = (batch.origin, &batch.prompt) {
                *text = format!("{} {:?}", origin.as_str(), prompt.chars().take(24).collect::<String>());
            }
            if let Some(ended) = &batch.ended {
                *text = format!(
                    "{} {}",
                    text.split(" -> ").next().unwrap_or_default(),
                    format_args!("-> {} at {}", ended.status.as_str(), &ended.at.to_string()[11..23])
                );
            }
        }
        Item::Request(request) => tokens.add(request.usage),
        Item::Activity(call) => {
            calls.insert(call.id.to_string(), call.outcome.map_or("-", |outcome| outcome.as_str()));
        }
        Item::Text(text) => *counts.entry(format!("text {}", text.role.as_str())).or_insert(0) += 1,
        _ => {}
    };
    for (n, line) in rollout.text.split_inclusive('\n').enumerate() {
        if n > 0 && n % restart_after == 0 {
            fold.settle(&mut sink);
            fold = HistoryFold::restore(&fold.snapshot(), fold.session(), None).expect("ours");
        }
        parse_line(line.trim_end().as_bytes(), &mut |record, full| {
            fold.apply(offset, &record, full, &settings, &mut sink);
        });
        offset += line.len() as u64;
    }
    fold.settle(&mut sink);
    for outcome in calls.values() {
        *counts.entry(format!("call {outcome}")).or_insert(0) += 1;
    }
    let mut rows: Vec<String> = prompts.into_iter().map(|(_, text)| text).collect();
    rows.push(counts.iter().map(|(what, count)| format!("{count} {what}")).collect::<Vec<_>>().join(", "));
    (rows, tokens)
}

fn describe(fold: &SessionFold) -> String {
    let (reading, facts, lineage, total) =
        (fold.reading(), fold.facts(), fold.lineage(), fold.ledger().total());
    let word = |text: Option<&str>| text.unwrap_or("-").to_owned();
    let mut out = format!("{} {}", reading.state.as_str(), reading.kind.map_or("-", |kind| kind.as_str()));
    if reading.by_timeout {
        out.push_str(" (silence)");
    }
    write!(
        out,
        "\n  title {} | cwd {} | branch {} | model {} | mode {} | version {} | {}",
        word(facts.title().as_deref()),
        word(fold.cwd().map(|cwd| &**cwd)),
        word(facts.branch.as_deref()),
        word(facts.model.as_deref()),
        word(facts.permission_mode.as_deref()),
        word(facts.version.as_deref()),
        word(facts.entrypoint.as_deref()),
    )
    .expect("a string grows");
    write!(
        out,
        "\n  tokens {} + {} cached, {} out in {} requests, context {:?}, segments {}",
        total.input,
        total.cache_read + total.cache_write,
        total.output,
        fold.ledger().len(),
        facts.context_used,
        lineage.segments.len(),
    )
    .expect("a string grows");
    for (word, id) in [("fork of", &lineage.forked_from), ("subagent of", &lineage.subagent_of)] {
        if let Some(id) = id {
            write!(out, "\n  {word} {id}").expect("a string grows");
        }
    }
    for call in fold.pending_tools() {
        write!(out, "\n  open {} [{}]", call.tool, call.target).expect("a string grows");
    }
    out
}

#[test]
fn each_rollout_says_this_in_the_end() {
    let mut out = String::new();
    for rollout in rollouts() {
        let mut fold = new_fold(&rollout.session);
        fold_lines(&mut fold, &rollout.text);
        let (prompts, tokens) = rows(&rollout, usize::MAX);
        assert_eq!(tokens, fold.ledger().total(), "{}: the history counts the same", rollout.name);
        writeln!(out, "{}: {}", rollout.name, describe(&fold)).expect("a string grows");
        for prompt in prompts {
            writeln!(out, "  {prompt}").expect("a string grows");
        }
    }
    insta::assert_snapshot!(out);
}

#[test]
fn a_session_uses_the_tokens_that_the_client_counted() {
    let mut inherits = 0;
    for rollout in rollouts() {
        let mut fold = new_fold(&rollout.session);
        fold_lines(&mut fold, &rollout.text);
        let (total, lineage) = (fold.ledger().total(), fold.lineage());
        let told = last_total(&rollout);
        if lineage.forked_from.is_none() && lineage.subagent_of.is_none() {
            assert_eq!(total, told, "{}", rollout.name);
        } else {
            inherits += u32::from(total != told);
            assert!(total.output <= told.output && total.input <= told.input, "{}", rollout.name);
        }
    }
    assert_eq!(inherits, 3, "two old subagents and a fork go on with the total of another session");
}

/// The fold after these lines, with a restart of the program after each so many.
fn fold_with_restarts(rollout: &Rollout, restart_after: usize) -> SessionFold {
    let (mut fold, mut pieces) = (new_fold(&rollout.session), Vec::new());
    let lines: Vec<&str> = rollout.text.lines().collect();
    for chunk in lines.chunks(restart_after) {
        fold.note_new();
        fold_lines(&mut fold, &chunk.join("\n"));
        pieces.extend(fold.take_new().unwrap_or_default());
        let id = SessionId::new(&rollout.session);
        fold = SessionFold::restore(&fold.snapshot(), &id, Timeouts::default()).expect("ours");
        fold.take_up(&pieces).expect("ours");
    }
    fold
}

#[test]
fn appends_of_any_length_give_the_same_as_the_whole_file() {
    for rollout in rollouts() {
        let mut whole = new_fold(&rollout.session);
        fold_lines(&mut whole, &rollout.text);
        for lines in [1, 3, 17] {
            let parts = fold_with_restarts(&rollout, lines);
            assert_eq!(describe(&parts), describe(&whole), "{}", rollout.name);
            assert_eq!(parts.lineage(), whole.lineage(), "{}", rollout.name);
            assert_eq!(rows(&rollout, lines), rows(&rollout, usize::MAX), "{}", rollout.name);
        }
    }
}
