//! `doctor`: what is found, watched, limited and wrong.

use watchbill_protocol::doctor::{Doctor, WatchMode};

use super::plural;
use crate::paint::{Paint, Tone, one_line};

/// The report.
pub fn render(doctor: &Doctor, paint: Paint) -> String {
    let mut out = format!("watchbill {}\n", doctor.versions.watchbill);
    if !doctor.versions.agents.is_empty() {
        out.push_str(&format!("clients met: {}\n", one_line(&doctor.versions.agents.join(", "))));
    }
    for root in &doctor.roots {
        out.push_str(&format!("\n{}\n", paint.tone(Tone::Bold, &one_line(&root.path))));
        if !root.exists {
            out.push_str(&paint.tone(Tone::Error, "  does not exist; it is picked up when it appears\n"));
            continue;
        }
        out.push_str(&format!(
            "  {} in {}, {}\n",
            plural(root.sessions as usize, "session"),
            plural(root.files as usize, "file"),
            size(root.bytes)
        ));
        let how = match root.watch {
            WatchMode::Native => "changes are reported by the system",
            WatchMode::Poll => "looked at every few seconds",
            WatchMode::None => "looked at once, for this report",
        };
        out.push_str(&format!("  {how}\n"));
    }
    let registry = &doctor.registry;
    out.push_str(&format!(
        "\nlive registry: {}\n",
        if registry.readable {
            let (files, live) = (registry.files as usize, registry.live as usize);
            format!("{}, of which {live} with a running process", plural(files, "file"))
        } else {
            "not there; states come from the transcripts alone".to_owned()
        }
    ));
    for limit in &doctor.limits {
        let needed = limit.needed.map(|needed| format!(", {needed} needed")).unwrap_or_default();
        let verdict = if limit.enough { "" } else { "  too low: raise it with sysctl" };
        let line = format!("{} = {}{needed}{verdict}\n", limit.name, limit.value);
        out.push_str(&if limit.enough { line } else { paint.tone(Tone::Error, &line) });
    }
    if doctor.problems.is_empty() {
        out.push_str("\nNo problems.\n");
    } else {
        out.push_str(&format!("\n{}\n", plural(doctor.problems.len(), "problem")));
    }
    for problem in &doctor.problems {
        let times = if problem.count > 1 { format!(" ({}×)", problem.count) } else { String::new() };
        out.push_str(&format!(
            "  {}{times} {}\n      {}\n",
            problem.kind,
            one_line(&problem.path),
            one_line(&problem.detail)
        ));
    }
    out
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{} kB", bytes / 1_000),
        1_000_000..1_000_000_000 => format!("{} MB", bytes / 1_000_000),
        _ => format!("{}.{} GB", bytes / 1_000_000_000, bytes % 1_000_000_000 / 100_000_000),
    }
}
