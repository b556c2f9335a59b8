//! Memories, lines that agents were told, and summaries as text.

use watchbill_protocol::memory::{
    MemoryDetail, MemoryEntry, MemoryList, MemoryPreview, SaidList, SessionSummary,
};
use watchbill_protocol::model::{ModelTrial, TriedTurn};

use super::local_date;
use crate::terminal_text::{Paint, Tone, cut, one_line};

/// Digits of an id that are shown.
const SHORT: usize = 8;

fn short(id: &str) -> &str {
    id.get(..SHORT).unwrap_or(id)
}

/// One memory for each line.
pub fn list(list: &MemoryList, width: usize, paint: Paint) -> String {
    if list.memories.is_empty() {
        return format!("nothing was learned in {} so far\n", one_line(&list.project));
    }
    list.memories.iter().map(|memory| line(memory, width, paint)).collect()
}

fn line(memory: &MemoryEntry, width: usize, paint: Paint) -> String {
    let id = paint.tone(Tone::Dim, short(&memory.id));
    let state = if memory.standing == "active" {
        memory.kind.clone()
    } else {
        format!("{} {}", memory.standing, memory.kind)
    };
    let about = memory.path.as_deref().map(|path| format!("{}: ", one_line(path))).unwrap_or_default();
    let day = local_date(&memory.last_seen);
    let text = format!("{about}{}", one_line(&memory.text));
    let room = width.saturating_sub(SHORT + state.len() + 16).max(40);
    let text = cut(&text, room);
    format!("{id}  {day}  {state}  {text}\n")
}

/// A memory with its evidence.
pub fn detail(detail: &MemoryDetail, _width: usize, paint: Paint) -> String {
    let memory = &detail.memory;
    let mut out = format!("{}\n", one_line(&memory.text));
    let mut fact = |name: &str, value: String| {
        out.push_str(&format!("{} {value}\n", paint.tone(Tone::Dim, &format!("{name:<11}"))))
    };
    fact("id", memory.id.clone());
    fact("kind", memory.kind.clone());
    if let Some(path) = &memory.path {
        fact("file", one_line(path));
    }
    let by = memory.superseded_by.as_deref().map(|by| format!(" by {}", short(by))).unwrap_or_default();
    fact("standing", format!("{}{by}", memory.standing));
    fact("confidence", format!("{:.2}", memory.confidence));
    if memory.suspect {
        fact("note", "it may hold text that you did not write".to_owned());
    }
    if let Some(decision) = &memory.decision {
        fact("decision", decision.clone());
    }
    fact("shown", format!("{} times in {} sessions", memory.times, memory.sessions));
    fact("said", format!("{} times to {} sessions", detail.times_said, detail.sessions_told));
    for evidence in &detail.evidence {
        let byte = evidence.byte.map(|byte| format!(" at byte {byte}")).unwrap_or_default();
        let at = evidence.at.get(..16).unwrap_or_default();
        out.push_str(&format!(
            "  {at}  session {}{byte}  {}\n",
            one_line(&evidence.session_id),
            one_line(&evidence.text)
        ));
    }
    out
}

/// A turn that a model was asked about.
pub fn tried_turn(turn: &TriedTurn, paint: Paint) -> String {
    let head = format!(
        "session {}  {} + {} tokens{}  {:.1} s",
        one_line(short(&turn.session_id)),
        turn.tokens_in,
        turn.tokens_out,
        money(turn.micro_usd),
        turn.millis as f64 / 1_000.0
    );
    let mut out = format!("{}\n", paint.tone(Tone::Dim, &head));
    for found in &turn.found {
        let about = found.path.as_deref().map(|path| format!("{}: ", one_line(path))).unwrap_or_default();
        let warning = if found.suspect { " (it may hold an order, or text of others)" } else { "" };
        out.push_str(&format!("  {}  {about}{}{warning}\n", found.kind, one_line(&found.text)));
    }
    turn.refused.iter().for_each(|why| out.push_str(&format!("  refused: {why}\n")));
    match &turn.error {
        Some(error) => out.push_str(&format!("  no answer: {}\n", one_line(error))),
        None if turn.found.is_empty() && turn.refused.is_empty() => out.push_str("  nothing\n"),
        None => {}
    }
    out
}

/// The sum of a trial.
pub fn trial(trial: &ModelTrial) -> String {
    let found: usize = trial.turns.iter().map(|turn| turn.found.len()).sum();
    let refused: usize = trial.turns.iter().map(|turn| turn.refused.len()).sum();
    let seconds = trial.turns.iter().map(|turn| turn.millis).sum::<u64>() as f64 / 1_000.0;
    let mut out = format!(
        "{} turns, {found} proposals, {refused} refused; {} + {} tokens{}, {seconds:.1} s; nothing was stored\n",
        trial.turns.len(),
        trial.tokens_in,
        trial.tokens_out,
        money(trial.micro_usd)
    );
    out.push_str(&format!("today: {} tokens{}\n", trial.tokens_today, money(trial.micro_usd_today)));
    if let Some(limit) = &trial.stopped_by {
        out.push_str(&format!("it stopped at the limit of {limit}\n"));
    }
    if trial.left_out > 0 {
        out.push_str(&format!("{} older turns of these sessions were left out\n", trial.left_out));
    }
    out
}

pub(super) fn money(micro_usd: u64) -> String {
    if micro_usd == 0 { String::new() } else { format!(", ${:.4}", micro_usd as f64 / 1e6) }
}

/// The lines that an agent was told in a session.
pub fn said(said: &SaidList, paint: Paint) -> String {
    if said.lines.is_empty() {
        return format!("nothing was said to session {}\n", one_line(&said.session_id));
    }
    let mut out = String::new();
    for line in &said.lines {
        let at = line.at.get(..19).unwrap_or_default();
        let late = if line.printed { "" } else { "  came too late" };
        let lost = if line.lost { "  lost at a compaction" } else { "" };
        let head =
            format!("{at}  {}  {}  {} tokens{late}{lost}", line.event, short(&line.memory), line.tokens);
        out.push_str(&format!("{}\n  {}\n", paint.tone(Tone::Dim, &head), one_line(&line.line)));
    }
    out.push_str(&format!("{} tokens in all\n", said.tokens));
    out
}

/// The lines that an agent would be told.
pub fn preview(preview: &MemoryPreview, paint: Paint) -> String {
    let mut out = String::new();
    if preview.context == "off" {
        out.push_str("`memory.context` is off, so agents are told nothing. With it:\n");
    }
    let mut place = |title: &str, lines: &[String]| {
        if !lines.is_empty() {
            out.push_str(&format!("{}\n", paint.tone(Tone::Dim, &one_line(title))));
            lines.iter().for_each(|line| out.push_str(&format!("  {}\n", one_line(line))));
        }
    };
    let only_all = if preview.context == "all" { "" } else { " (with `all`)" };
    place(&format!("at the start of a session{only_all}"), &preview.start);
    place(&format!("with the prompt{only_all}"), preview.prompt.as_deref().unwrap_or_default());
    for file in &preview.files {
        place(&format!("when it reads or changes {}", file.path), &file.lines);
    }
    if preview.more_files > 0 {
        out.push_str(&format!("{} more files have memories\n", preview.more_files));
    }
    let is_empty = preview.start.is_empty()
        && preview.files.is_empty()
        && preview.prompt.as_ref().is_none_or(Vec::is_empty);
    if is_empty {
        out.push_str("nothing would be told\n");
    }
    out
}

/// The five fields.
pub fn summary(summary: &SessionSummary) -> String {
    let mut out = String::new();
    let mut part = |name: &str, lines: &[&str]| {
        for (n, line) in lines.iter().filter(|line| !line.is_empty()).enumerate() {
            let name = if n == 0 { name } else { "" };
            out.push_str(&format!("{name:<13} {}\n", one_line(line)));
        }
    };
    let title = summary.title.as_deref().unwrap_or_default();
    let proposed = format!("{title} (proposed by the model)");
    part("title", &[if summary.title_proposed { &proposed } else { title }]);
    part("made by", &[if summary.by_model { "the model" } else { "" }]);
    part("request", &[&summary.request]);
    part("investigated", &[&summary.investigated]);
    part("learned", &summary.learned.iter().map(String::as_str).collect::<Vec<_>>());
    part("completed", &[&summary.completed]);
    part("next steps", &summary.next_steps.iter().map(String::as_str).collect::<Vec<_>>());
    if out.is_empty() { "nothing is stored of this session\n".to_owned() } else { out }
}

/// A hand-over: Markdown, each line cleaned.
pub fn hand_over(text: &str) -> String {
    text.lines().map(|line| one_line(line) + "\n").collect()
}

/// The memories in force, as lines for a document of the agent.
pub fn markdown(list: &MemoryList) -> String {
    let line = |memory: &MemoryEntry| {
        let about = memory.path.as_deref().map(|path| format!("`{}`: ", one_line(path))).unwrap_or_default();
        let day = local_date(&memory.last_seen);
        format!("- {about}{} ({}, {day})\n", one_line(&memory.text), memory.kind)
    };
    format!("# What was learned\n\n{}", list.memories.iter().map(line).collect::<String>())
}
