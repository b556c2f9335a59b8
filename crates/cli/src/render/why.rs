//! `why`: the verdict and every witness.

use unicode_width::UnicodeWidthStr;
use watchbill_protocol::why::Why;

use super::{age_at, local_moment, short, state_words};
use crate::terminal_text::{Paint, Tone, one_line, wrap};

/// The answer to "why", winner first, `width` columns wide.
pub fn render(why: &Why, now: &str, width: usize, paint: Paint) -> String {
    let (session, state) = (short(&why.session_id), state_words(&why.state, why.state_kind.as_deref()));
    let age = match age_at(now, &why.state_since) {
        age if age.is_empty() => age,
        age => format!(" ({age})"),
    };
    let since = format!("since {}{age}", local_moment(&why.state_since));
    let fits = format!("{session}  {state} {since}").width() <= width;
    let apart = if fits { " " } else { "\n  " };
    let mut out = format!("{session}  {}{apart}{since}\n", paint.tone(Tone::Bold, state));
    let reason = &why.state_reason;
    let because =
        format!("because {}: {} ({})", source(&reason.source), one_line(&reason.detail), reason.confidence);
    put(&mut out, ["", ""], &because, width);
    out.push('\n');
    for witness in &why.evidence {
        let mark = if witness.winner { paint.tone(Tone::Turn, "→") } else { " ".to_owned() };
        let says = match &witness.state {
            Some(state) => state_words(state, witness.state_kind.as_deref()),
            None => "says nothing",
        };
        let pid = witness.pid.map(|pid| format!(" (pid {pid})")).unwrap_or_default();
        // A time must not be broken.
        let moment = |at| format!(", {}", local_moment(at).replace(' ', "\u{a0}"));
        let at = witness.at.as_deref().map(moment).unwrap_or_default();
        let text = format!("{}{pid}: {says}, {}{at}", source(&witness.source), witness.confidence);
        put(&mut out, [&format!("{mark} "), "  "], &text, width.saturating_sub(2));
        put(&mut out, ["    "; 2], &one_line(&witness.detail), width.saturating_sub(4));
    }
    if let Some(next) = &why.next_check_at {
        let next = format!("Next check at {}, if nothing happens before.", local_moment(next));
        out.push('\n');
        put(&mut out, ["", ""], &next, width);
    }
    out
}

/// Prints text in lines of at most `width` columns, with `first` before the first line and `others` before the rest.
fn put(out: &mut String, [first, others]: [&str; 2], text: &str, width: usize) {
    for (n, line) in wrap(text, width).iter().enumerate() {
        let line = line.replace('\u{a0}', " ");
        out.push_str(&format!("{}{line}\n", if n == 0 { first } else { others }));
    }
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
