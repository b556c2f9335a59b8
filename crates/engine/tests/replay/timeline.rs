//! Writes a replay as a text that a reviewer can check: each line has a sign for its source, then the text.
//!
//! | sign | line |
//! |---|---|
//! | `#` | an action or observation of the recording's driver: the ground truth |
//! | `~` | a hook event with its tool or reason: ground truth too, and a witness in timelines with hooks |
//! | `@` | a registry file as it was written |
//! | `+` | records that reached a transcript; only those that concern a turn, a title or a queue |
//! | `>` | the state that the roster shows from here on; `!` instead of `>`: the state needs the user |
//! | `.` | other facts of the row, where one of them changed |
//! | `-` | the row left the list, or came back to it |

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write as _;

use serde_json::Value;
use watchbill_agents::claude::records::parse_line;
use watchbill_core::time::Timestamp;
use watchbill_core::transcript::record::{Attachment, Block, Body, PromptOrigin, QueueOperation, System};
use watchbill_engine::demo::replay::Operation;
use watchbill_engine::engine::Engine;
use watchbill_protocol::roster::TrackedSession;

use crate::play::{NamedRecording, Player, Witnesses};

/// Plays a recording and writes its timeline.
pub fn timeline(named: &NamedRecording, witnesses: Witnesses) -> String {
    let mut page = Page { begin: named.recording.begin, ..Page::default() };
    let mut hooks = hooks(&named.text);
    let mut player = Player::new(&named.recording, witnesses);
    for (at, operation) in &named.recording.operations {
        let now = named.recording.begin + *at;
        player.run_to(now, &mut |engine, now, _| page.look(engine, now));
        match operation {
            Operation::Mark(text) => page.line(now, '#', text),
            Operation::Hook(_) => {
                if let Some(hook) = hooks.pop_front().filter(|hook| !hook.is_empty()) {
                    page.line(now, '~', &hook);
                }
            }
            Operation::Write { path, text } if path.starts_with("sessions") => {
                let file = path.file_stem().unwrap_or_default().to_string_lossy();
                page.line(now, '@', &format!("{file} {}", registry_words(text)));
            }
            Operation::Remove { path } => page.line(now, '@', &format!("{} removed", path.display())),
            Operation::Append { path, text } => {
                let file = path.file_stem().unwrap_or_default().to_string_lossy();
                let records = records(text);
                if !records.is_empty() {
                    let file = file.strip_prefix("agent-").map_or(short(&file), |_| &file);
                    page.line(now, '+', &format!("{file} {}", records.join(" | ")));
                }
            }
            Operation::Write { .. } | Operation::Exit { .. } => {}
        }
        player.act(*at, operation, &mut |engine, now, _| page.look(engine, now));
    }
    player.run_out(&mut |engine, now, _| page.look(engine, now));
    page.text
}

/// Whether its state needs the user once it has lasted.
fn needs_user(row: &TrackedSession) -> bool {
    let kind = row.state_kind.as_deref();
    row.state == "waiting_for_approval"
        || (row.state == "waiting_for_input" && matches!(kind, Some("error" | "limit")))
}

/// The page under construction, and the last written lines of each session.
#[derive(Default)]
struct Page {
    /// The revision of the last look.
    revision: Option<u64>,
    begin: Timestamp,
    text: String,
    states: BTreeMap<String, String>,
    facts: BTreeMap<String, String>,
    listed: BTreeSet<String>,
    seen: BTreeSet<String>,
}

impl Page {
    fn line(&mut self, now: Timestamp, sign: char, text: &str) {
        let text: String = text.chars().take(260).collect();
        let _ = writeln!(
            self.text,
            "{:>8.1} {sign} {}",
            now.since(self.begin).0 as f64 / 1000.0,
            text.trim_end()
        );
    }

    /// Writes the differences from the last written lines.
    fn look(&mut self, engine: &Engine, now: Timestamp) {
        let revision = Some(engine.current(true).revision);
        if std::mem::replace(&mut self.revision, revision) == revision {
            return;
        }
        let listed: BTreeSet<String> =
            engine.current(false).rows.iter().map(|row| row.session().session_id.clone()).collect();
        let rows: Vec<_> = engine.current(true).rows.iter().map(|row| row.session()).collect();
        for row in &rows {
            let id = &row.session_id;
            let state = state_words(row);
            // The sign comes at once, before the need counts: the page shows a state when it begins.
            let alarm = needs_user(row);
            if self.states.get(id) != Some(&state) {
                let sign = if alarm { '!' } else { '>' };
                self.line(now, sign, &format!("{} {state}", short(id)));
                self.states.insert(id.clone(), state);
            }
            let facts = facts_words(row);
            if self.facts.get(id) != Some(&facts) {
                self.line(now, '.', &format!("{} {facts}", short(id)));
                self.facts.insert(id.clone(), facts);
            }
        }
        let known: BTreeSet<String> = rows.iter().map(|row| row.session_id.clone()).collect();
        let gone: Vec<String> = self.states.keys().filter(|id| !known.contains(*id)).cloned().collect();
        for id in gone {
            self.line(now, '-', &format!("{} has no row any more", short(&id)));
            self.states.remove(&id);
            self.facts.remove(&id);
        }
        for id in &known {
            // A new row that is shown is the usual case and gets no line of its own.
            match (listed.contains(id), self.listed.contains(id)) {
                (false, true) => self.line(now, '-', &format!("{} left the list", short(id))),
                (true, false) if self.seen.contains(id) => {
                    self.line(now, '-', &format!("{} is listed again", short(id)))
                }
                _ => {}
            }
        }
        self.seen.extend(known);
        self.listed = listed;
    }
}

fn short(id: &str) -> &str {
    id.get(..8).unwrap_or(id)
}

fn state_words(row: &TrackedSession) -> String {
    let kind = row.state_kind.as_ref().map(|kind| format!("/{kind}")).unwrap_or_default();
    let reason = &row.state_reason;
    let pending: Vec<String> =
        row.pending_tools.iter().map(|tool| format!("{} {}", tool.tool, cut(&tool.target, 40))).collect();
    let pending = if pending.is_empty() { String::new() } else { format!("  [{}]", pending.join("; ")) };
    format!(
        "{}{kind}  {} ({}, {}){pending}",
        row.state,
        cut(&reason.detail, 90),
        reason.source,
        reason.confidence
    )
}

fn facts_words(row: &TrackedSession) -> String {
    let mut words = format!("chain {}", short(&row.work_chain_id));
    if let Some(title) = &row.title {
        let _ = write!(words, ", title {:?}", cut(title, 50));
    }
    if row.compaction_count > 0 || row.segment_count > 1 {
        let _ = write!(words, ", {} compactions in {} segments", row.compaction_count, row.segment_count);
    }
    if let Some(subagents) = &row.subagents {
        let _ = write!(words, ", subagents {}/{}", subagents.running, subagents.total);
    }
    if let Some(tasks) = row.background_tasks {
        let _ = write!(words, ", {tasks} in the background");
    }
    if let Some(queued) = row.queued_prompts {
        let _ = write!(words, ", {queued} queued");
    }
    if let Some(mode) = &row.permission_mode {
        let _ = write!(words, ", mode {mode}");
    }
    if let Some(attach) = &row.attach_command {
        let _ = write!(words, ", shown by `{attach}`");
    }
    if let Some(by) = &row.superseded_by {
        let _ = write!(words, ", superseded by {}", short(by));
    }
    words
}

fn cut(text: &str, most: usize) -> String {
    let mut cut: String = text.chars().take(most).collect();
    if text.chars().count() > most {
        cut.push('…');
    }
    cut
}

/// One line for each hook event of the recording; empty if the event reports no state.
fn hooks(text: &str) -> VecDeque<String> {
    let lines = text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
    lines.filter(|line| line["op"] == "hook").map(|line| hook_words(&line["payload"])).collect()
}

fn hook_words(payload: &Value) -> String {
    let event = payload["hook_event_name"].as_str().unwrap_or_default();
    if matches!(event, "MessageDisplay" | "PostToolBatch" | "InstructionsLoaded") {
        return String::new();
    }
    let mut words = format!("{event} {}", short(payload["session_id"].as_str().unwrap_or_default()));
    for key in
        ["source", "reason", "trigger", "tool_name", "notification_type", "error", "agent_type", "agent_id"]
    {
        if let Some(value) = payload[key].as_str().filter(|value| !value.is_empty()) {
            let _ = write!(words, " {}", cut(value, 40));
        }
    }
    let tasks = payload["background_tasks"].as_array().map_or(0, Vec::len);
    if tasks > 0 {
        let _ = write!(words, " with {tasks} in the background");
    }
    words
}

fn registry_words(text: &str) -> String {
    let Ok(entry) = serde_json::from_str::<Value>(text) else { return format!("torn, {} bytes", text.len()) };
    let word = |key: &str| entry[key].as_str().unwrap_or_default().to_owned();
    let mut words = format!("{} {}", short(&word("sessionId")), word("status"));
    for key in ["waitingFor", "kind", "entrypoint"] {
        if !matches!(&*word(key), "" | "interactive" | "cli") {
            let _ = write!(words, " ({})", word(key));
        }
    }
    words
}

/// The records in `text` that concern a turn, a title or a queue, a few words each.
fn records(text: &str) -> Vec<String> {
    let mut all: Vec<String> = Vec::new();
    for line in text.lines() {
        parse_line(line.as_bytes(), &mut |record, _| {
            let Some(mut words) = record_words(&record.body) else { return };
            if record.envelope.sidechain {
                words.insert_str(0, "side: ");
            }
            if all.last() != Some(&words) {
                all.push(words);
            }
        });
    }
    all
}

fn record_words(body: &Body<'_>) -> Option<String> {
    Some(match body {
        Body::Prompt(prompt) => match prompt.origin {
            PromptOrigin::Human => format!("prompt {:?}", cut(&prompt.text, 30)),
            PromptOrigin::TaskNotification => "prompt of a notification".into(),
            PromptOrigin::Peer => "prompt of a peer".into(),
        },
        Body::ToolResults(results) => {
            let words = results.iter().map(|result| {
                match (result.denied, &result.background_task, &result.async_agent) {
                    (Some(denied), ..) => format!("result, denied by {denied:?}"),
                    (_, Some(_), _) => "result, goes on in the background".into(),
                    (_, _, Some(_)) => "result, subagent launched".into(),
                    _ if result.is_error => "result, error".into(),
                    _ => "result".into(),
                }
            });
            words.collect::<Vec<_>>().join(", ")
        }
        Body::Interrupt => "interrupt".into(),
        Body::CompactSummary => "compact summary".into(),
        Body::LocalCommand { name } => format!("command {}", name.as_deref().unwrap_or("output")),
        Body::Assistant(answer) => {
            let blocks = answer.blocks.iter().map(|block| match block {
                Block::Thinking => "thinking".to_owned(),
                Block::Text(_) => "text".to_owned(),
                Block::ToolUse { tool, .. } => format!("call {tool}"),
                Block::Other => "other".to_owned(),
            });
            let stop = answer.stop.map_or("null".to_owned(), |stop| format!("{stop:?}"));
            let aborted = if answer.aborted { ", aborted" } else { "" };
            format!("{} ({stop}{aborted})", blocks.collect::<Vec<_>>().join(", "))
        }
        Body::ApiError { kind, .. } => format!("API error {kind:?}"),
        Body::System(System::TurnDuration { pending_agents: 0 }) => "turn_duration".into(),
        Body::System(System::TurnDuration { pending_agents }) => {
            format!("turn_duration, {pending_agents} subagents")
        }
        Body::System(System::CompactBoundary(boundary)) => format!("compact boundary {:?}", boundary.trigger),
        Body::System(System::Retry { attempt, .. }) => format!("retry {attempt:?}"),
        Body::System(System::StopHookSummary { prevented: true }) => "stop hook blocks".into(),
        Body::System(System::AwaySummary) => "away summary".into(),
        Body::Attachment(Attachment::QueuedCommand { .. }) => "queued prompt taken in".into(),
        Body::Attachment(Attachment::SessionStart { source }) => format!("SessionStart:{source}"),
        Body::Queue(QueueOperation::Enqueue { .. }) => "enqueue".into(),
        Body::Queue(operation) => format!("{operation:?}").to_lowercase(),
        Body::Title { kind, text } => format!("title {kind:?} {:?}", cut(text, 30)),
        Body::PermissionMode(mode) => format!("mode {mode}"),
        Body::PullRequest { number, .. } => format!("pull request {number}"),
        _ => return None,
    })
}
