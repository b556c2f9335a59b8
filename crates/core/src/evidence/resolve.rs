//! The resolver: which witness decides a session's state.

use crate::evidence::case::{Case, Ruling};
use crate::evidence::own;
use crate::evidence::rules;
use crate::evidence::testimony::testimony;
use crate::evidence::witness::{Evidence, Verdict};

/// Weighs the witnesses of one session.
///
/// The rules in order of rank; the first one that speaks decides. A test compares their names and their order with
/// `RULES`.
///
/// | rule | when | verdict | decays |
/// |---|---|---|---|
/// | `past` | live evidence does not count | the status file of that time, else the transcript | 5 min |
/// | `own::ended` | the host of an own session reported its end or is gone, no process names the session, and nothing followed | ended, `crashed` unless the user ended it | |
/// | `own::runs` | the host of such a session, on pipes, runs: see below | its state | the end of a turn after the idle timeout |
/// | `crashed` | every process of the session is dead and one left its registry file | ended, `crashed` | |
/// | `departed` | the last process removed its file or went on with another session, and nothing followed | ended | |
/// | `closed` | a hook said that its process left the session, no server tells of the session, and nothing followed | ended | |
/// | `unclaimed` | the agent keeps a registry, the registry is readable, no process names the session, for 2 s | ended, inferred | |
/// | `out_of_sight` | the process cannot be seen from here and has been silent for the idle timeout, and neither registry nor transcript shows an open question | idle, inferred | |
/// | `own::unprompted` | the host of a terminal of our own runs, its agent says `idle`, and no prompt has come | idle | |
/// | `hook` | a hook's event is newer than the registry's status, or, without one, than the transcript: see below | its state | below |
/// | `overtaken` | the registry says `idle` or `shell`, and a record of a running turn is newer by 1.5 s | what the transcript says | |
/// | `report_gap` | the registry has said `idle` for less than 1 s, and subagents of an ended turn have just ended, or a turn has begun since | background, or what the transcript says | 1 s |
/// | `registry` | the registry has a known status | its state; hooks and transcript give the finer kind | `idle` becomes idle after the idle timeout |
/// | `resumed` | a process without a known status began after the newest record, which shows a running turn | input, inferred: the turn died with the earlier process | |
/// | `child` | the transcript only suspects a question, and a child process began after the call | working, inferred | with the child |
/// | `status_file` | it is at most 5 min old, no live witness speaks, and no record is newer by 2 s | its state | 5 min |
/// | `transcript` | nothing better speaks | what the transcript says | the document's timeouts |
/// | `own::terminal` | the host of a terminal of our own runs, and nothing else speaks | idle | |
/// | `no_witness` | no witness has spoken, or all have decayed | idle, inferred, since the last one decayed | |
///
/// Registry and hooks report the same events, so the newer one is believed. A difference between them lasts 2 s
/// at most, unless it proves something:
///
/// | the hooks say | the registry says | believed |
/// |---|---|---|
/// | the same | the same | the registry; the hooks tell question, plan and permission apart, compacting, background |
/// | a request | `waiting` | the registry, at once; the hooks say for what |
/// | a request | something newer | the registry: it was answered |
/// | a request | `busy` of the same turn | the registry: it would say `waiting` within 150 ms, so a reviewer has answered |
/// | a request | something older | the hooks, when it has lasted 1 s or a notification confirmed it |
/// | a turn runs | an older `idle` | the hooks, for 2 s; longer if they are newer by more than 1.5 s: the registry stands still |
/// | a turn runs | a newer `idle`, and no hook reported an end | the registry: interrupted (Escape fires no hook) |
/// | the turn ended | an older `busy` | the hooks, for 2 s; then the registry: other programs' hooks keep the turn from ending |
/// | anything else | | the newer one, the hooks for 2 s |
///
/// Without a registry status the hooks are compared with the transcript in the same way. Where transcripts follow hooks, a turn that they
/// do not have within 2 s was taken back. A running turn decays after the stale timeout unless a call is open. A compaction decays after 10 min. A request never decays: a hook, a result, the
/// registry, or a child process that begins after it answers it.
///
/// The host of an own session reads the agent's messages, in their order, before the registry has them. Its request
/// is open until the host reports the end. For all else, the registry is believed in two cases: it is newer by more than
/// 2 s and differs, or it says `shell` since the end of the turn. If another process has the session, that process
/// decides, unless the host has an open request.
///
/// A status file outranks only the transcript. Beside a live witness it only adds how a turn ended: completed, blocked,
/// error. It does so even if it is older than the newest record of its turn.
///
/// The table in `registry_states.rs` gives the meaning of each registry status, and `times.rs` has every span of time. Of several
/// processes, the one that needs the user most decides, then the one with the newest status. A process that the system
/// cannot judge (another pid domain) counts, but its state is inferred.
pub fn resolve(evidence: &Evidence<'_>) -> Verdict {
    let case = Case::new(evidence);
    let ruling = RULES.iter().find_map(|rule| rule(&case)).unwrap_or_else(|| rules::no_witness(&case));
    let ruling = case.with_status_file(ruling);
    let reason = ruling.reason();
    let witnesses = testimony(&case, &ruling, &reason);
    case.verdict(&ruling, reason, witnesses)
}

/// The rules of the table above, in its order. If none of them speaks, `no_witness` does.
const RULES: [fn(&Case<'_>) -> Option<Ruling>; 18] = [
    rules::past,
    own::ended,
    own::runs,
    rules::crashed,
    rules::departed,
    rules::closed,
    rules::unclaimed,
    rules::out_of_sight,
    own::unprompted,
    rules::hook,
    rules::overtaken,
    rules::report_gap,
    rules::registry,
    rules::resumed,
    rules::child,
    rules::status_file,
    rules::transcript,
    own::terminal,
];

#[cfg(test)]
mod tests {
    #[test]
    fn the_table_names_every_rule_in_order() {
        let source = include_str!("resolve.rs");
        let between = |from: &str, to: &str| {
            let (_, rest) = source.split_once(from).unwrap_or_default();
            rest.split_once(to).unwrap_or_default().0
        };
        let table = between("/// | rule | when | verdict | decays |\n/// |---|---|---|---|\n", "\n///\n");
        let named: Vec<_> = table.lines().filter_map(|line| line.split('`').nth(1)).collect();
        let code = between("const RULES: [fn(&Case<'_>) -> Option<Ruling>; ", "\n];");
        let names = code.lines().skip(1).map(|line| line.trim().trim_end_matches(','));
        let rules: Vec<_> =
            names.map(|name| name.trim_start_matches("rules::")).chain(["no_witness"]).collect();
        assert_eq!(named, rules);
        assert_eq!(super::RULES.len() + 1, rules.len());
    }
}
