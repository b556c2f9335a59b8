//! All witnesses, for the question "why": each with what it alone would have said.

use std::cmp::Reverse;
use std::sync::Arc;

use crate::evidence::case::{Case, Ruling, of_process};
use crate::evidence::hook_reading;
use crate::evidence::registry_states::status_time;
use crate::evidence::sentences;
use crate::evidence::witness::Witness;
use crate::roster::row::{Reason, Source};

/// The winner, then the others by rank of the source and newest first.
pub(super) fn testimony(case: &Case<'_>, ruling: &Ruling, reason: &Reason) -> Vec<Witness> {
    let winner = Witness {
        source: ruling.source,
        state: Some(ruling.state),
        kind: ruling.kind,
        at: Some(ruling.since),
        pid: ruling.pid,
        detail: Arc::clone(&reason.detail),
        confidence: ruling.confidence,
        winner: true,
    };
    let e = case.evidence;
    let mut others = Vec::new();
    if e.live {
        for instance in e.instances {
            others.push(sentences::process_witness(instance, status_time(instance, e.now)));
            let own = case.hooks.filter(|hooks| of_process(hooks, &instance.entry.instance));
            others.extend(sentences::registry_witness(instance, e.transcript.as_ref(), own, e.now));
        }
        others.extend(e.own.map(sentences::own_witness));
        others.extend(e.gone.map(sentences::gone_witness));
        others.extend(e.hooks.map(|hooks| {
            let alone = hook_reading::read_hooks_alone(hooks, e.now, e.timeouts);
            sentences::hook_witness(hooks, alone, case.hooks.is_some())
        }));
        others.extend(e.child.map(sentences::child_witness));
    }
    others.extend(e.status_file.map(|file| sentences::status_witness(file, e.now)));
    others.extend(e.transcript.as_ref().map(sentences::transcript_witness));
    others.retain(|other| (other.source, other.pid) != (winner.source, winner.pid));
    others.sort_by_key(|w| (rank(w.source), Reverse(w.at), w.pid, Arc::clone(&w.detail)));
    others.insert(0, winner);
    others
}

const fn rank(source: Source) -> u8 {
    match source {
        Source::Process => 0,
        Source::Hook | Source::Stream | Source::Pty => 1,
        Source::Registry => 2,
        Source::StatusFile => 3,
        Source::Transcript => 4,
        Source::Timeout => 5,
    }
}
