//! `why`: the verdict and every witness.

use watchbill_protocol::why::Why;

use super::{age_at, short, state_words};
use crate::paint::{Paint, Tone, one_line};

/// The answer to "why", winner first.
pub fn render(why: &Why, now: &str, paint: Paint) -> String {
    let mut out = format!(
        "{}  {} since {}{}\n",
        short(&why.session_id),
        paint.tone(Tone::Bold, state_words(&why.state, why.state_kind.as_deref())),
        why.state_since,
        match age_at(now, &why.state_since) {
            age if age.is_empty() => age,
            age => format!(" ({age})"),
        },
    );
    out.push_str(&format!(
        "because {}: {} ({})\n\n",
        source(&why.state_reason.source),
        one_line(&why.state_reason.detail),
        why.state_reason.confidence
    ));
    for witness in &why.evidence {
        let mark = if witness.winner { paint.tone(Tone::Turn, "→") } else { " ".to_owned() };
        let says = match &witness.state {
            Some(state) => state_words(state, witness.state_kind.as_deref()),
            None => "says nothing",
        };
        let pid = witness.pid.map(|pid| format!(" (pid {pid})")).unwrap_or_default();
        let at = witness.at.as_deref().map(|at| format!(", {at}")).unwrap_or_default();
        out.push_str(&format!(
            "{mark} {}{pid}: {says}, {}{at}\n    {}\n",
            source(&witness.source),
            witness.confidence,
            one_line(&witness.detail)
        ));
    }
    if let Some(next) = &why.next_check_at {
        out.push_str(&format!("\nLooked at again at {next} if nothing happens before.\n"));
    }
    out
}

fn source(word: &str) -> &str {
    match word {
        "registry" => "the registry",
        "transcript" => "the transcript",
        "process" => "the process",
        "timeout" => "silence",
        "hook" => "a hook",
        "status_file" => "the status file",
        "pty" => "the terminal",
        other => other,
    }
}
