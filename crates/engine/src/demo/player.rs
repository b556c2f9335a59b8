//! Plays the demo for as long as it is open: each session begins again some time after its end, and its requests can be answered.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};

use serde_json::{Value, json};
use watchbill_agents::requests::read_request;
use watchbill_core::evidence::registry::Liveness;
use watchbill_core::hook::{HookMessage, HookOrigin};
use watchbill_core::ids::Instance;
use watchbill_core::requests::request::RequestId;
use watchbill_core::time::{Millis, Timestamp};

use crate::clock::{Clock, SystemClock};
use crate::demo::replay::{Operation, Recording};
use crate::demo::stage::Stage;
use crate::handle::Handle;

/// How long a request waits for an answer, beside its time in the recording. Then the session goes on as if it was answered in its
/// terminal.
const PATIENCE: Millis = Millis::from_secs(120);
/// From the end of a session until it begins again, as another session.
const PAUSE: Millis = Millis::from_secs(90);

/// One recording on the stage.
pub struct Player<'a> {
    stage: &'a Stage,
    template: &'a Recording,
    /// The recording with the ids and times of this round.
    now: Recording,
    round: u32,
    /// The number of the next operation.
    next: usize,
    asks: Option<Asks>,
}

/// A request that waits for an answer.
struct Asks {
    id: RequestId,
    /// The call, and the record that holds it.
    call: Value,
    record: Value,
}

/// What a hook process would have printed.
pub struct Printed {
    request: RequestId,
    text: String,
}

impl<'a> Player<'a> {
    /// A recording whose first operations were carried out before `from`. What it asks since then is asked once more.
    pub fn new(stage: &'a Stage, template: &'a Recording, from: Timestamp) -> Self {
        let begin = template.begin;
        let next = template.operations.partition_point(|(at, _)| begin + *at <= from);
        let is_entry = |(_, operation): &(Millis, Operation)| matches!(operation, Operation::Write { .. });
        let entry = template.operations[..next].iter().rposition(is_entry);
        let asks = |at: &usize| matches!(&template.operations[*at].1, Operation::Write { text, .. } if is_asking(text));
        let next = entry.filter(asks).unwrap_or(next);
        Self { stage, template, now: template.clone(), round: 0, next, asks: None }
    }

    /// When something happens next.
    fn due(&self) -> Timestamp {
        match self.now.operations.get(self.next) {
            Some((at, _)) => self.now.begin + *at,
            None => self.now.begin + self.now.length() + PAUSE,
        }
    }

    /// Carries out the next operation.
    fn step(&mut self, handle: &Handle, answers: &Sender<Printed>) {
        let Some((at, operation)) = self.now.operations.get(self.next) else { return self.begin_again() };
        let at = self.now.begin + *at;
        self.stage.act(&self.now, at, operation);
        self.next += 1;
        if let Operation::Write { text, .. } = operation {
            match is_asking(text) {
                true if self.asks.is_none() => self.ask(at, handle, answers),
                true => (),
                false => self.end_request(handle),
            }
        }
    }

    /// Asks as a hook process would. The rest of the recording waits.
    fn ask(&mut self, at: Timestamp, handle: &Handle, answers: &Sender<Printed>) {
        let Some((record, call)) = self.open_call() else { return };
        let payload = json!({
            "hook_event_name": "PermissionRequest", "session_id": record["sessionId"], "cwd": record["cwd"],
            "tool_name": call["name"], "tool_input": call["input"],
        });
        let (payload, id) = (
            payload.to_string().into_bytes(),
            RequestId::new(&format!("demo-{}-{}", self.round, call["id"])),
        );
        let Some(request) = read_request(id.clone(), &payload, None, at) else { return };
        let agent = self.now.processes().into_iter().next();
        let agent = agent.map(|(pid, start)| Instance { pid, proc_start: Some(start) });
        let ancestors = agent.iter().map(|agent| agent.pid).collect();
        let origin = HookOrigin { id: id.as_str().into(), at, order: 0, agent, ancestors, terminal: None };
        let (answers, asked) = (answers.clone(), id.clone());
        let sink = move |text: Option<String>| {
            // The player has ended, and the demo with it.
            let _ = text.map(|text| answers.send(Printed { request: asked, text }));
        };
        handle.ask(request, HookMessage::new(origin, payload), Box::new(sink));
        self.asks = Some(Asks { id, call, record });
        self.now = self.retold(self.now.begin + PATIENCE);
    }

    /// The newest call that no result answers, with its record.
    fn open_call(&self) -> Option<(Value, Value)> {
        let mut open = Vec::new();
        for (_, operation) in &self.now.operations[..self.next] {
            let Operation::Append { text, .. } = operation else { continue };
            for record in text.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
                for part in record["message"]["content"].as_array().into_iter().flatten() {
                    match part["type"].as_str() {
                        Some("tool_use") => open.push((record.clone(), part.clone())),
                        Some("tool_result") => open.retain(|(_, call)| call["id"] != part["tool_use_id"]),
                        _ => (),
                    }
                }
            }
        }
        open.into_iter().next()
    }

    /// Takes an answer, if it is one to this session's request.
    fn take(&mut self, printed: &Printed, handle: &Handle) {
        let Some(asks) = self.asks.take_if(|asks| asks.id == printed.request) else { return };
        handle.printed(asks.id.clone());
        let now = SystemClock.now();
        let said: Value = serde_json::from_str(&printed.text).unwrap_or_default();
        let decision = &said["hookSpecificOutput"]["decision"];
        let answers = &decision["updatedInput"]["answers"];
        if decision["behavior"] == "allow" && answers.is_null() {
            // The recording goes on with what was allowed.
            let next = self.now.operations.get(self.next).map_or(Millis(0), |(at, _)| *at);
            self.now = self.retold(now - next);
        } else {
            self.end_otherwise(&asks, decision, now);
        }
    }

    /// The recording has another answer, so the session ends in words of its own.
    fn end_otherwise(&mut self, asks: &Asks, decision: &Value, now: Timestamp) {
        let denied = decision["behavior"] != "allow";
        let (result, words) = if denied {
            let why = decision["message"].as_str().unwrap_or("The user does not want that.");
            (why.to_owned(), "I leave that, then. What should I do instead?".to_owned())
        } else {
            let answers = decision["updatedInput"]["answers"].as_object().into_iter().flatten();
            let said: Vec<String> =
                answers.map(|(question, answer)| format!("{question} {answer}")).collect();
            (
                format!("Your questions have been answered: {}", said.join(", ")),
                "I go on with that.".to_owned(),
            )
        };
        let other = |value: &Value, n: u32| json!(other_ids(value.as_str().unwrap_or_default(), n));
        let record = |n: u32, kind: &str, message: Value| {
            let mut record = asks.record.clone();
            record["uuid"] = other(&record["uuid"], n);
            record["requestId"] = other(&record["requestId"], n);
            record["type"] = json!(kind);
            record["message"] = message;
            record["timestamp"] = json!(now.to_string());
            record
        };
        let result = json!({"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": asks.call["id"], "content": result, "is_error": denied},
        ]});
        let mut answer = asks.record["message"].clone();
        answer["id"] = other(&answer["id"], 2);
        answer["content"] = json!([{"type": "text", "text": words}]);
        answer["stop_reason"] = json!("end_turn");
        let text = format!("{}\n{}\n", record(1, "user", result), record(2, "assistant", answer));
        let is_transcript = |operation: &&Operation| match operation {
            Operation::Append { text, .. } => text.contains(asks.call["id"].as_str().unwrap_or("\0")),
            _ => false,
        };
        let mut done = self.now.operations[..self.next].iter().map(|(_, operation)| operation);
        let transcript = done.clone().find(is_transcript).cloned();
        let registry = done.rfind(|operation| matches!(operation, Operation::Write { .. })).cloned();
        if let Some(Operation::Append { path, .. }) = transcript {
            self.stage.act(&self.now, now, &Operation::Append { path, text });
        }
        if let Some(Operation::Write { path, text }) = registry {
            let mut entry: Value = serde_json::from_str(&text).unwrap_or_default();
            entry["status"] = json!("idle");
            entry["statusUpdatedAt"] = json!(now.as_millis());
            entry["updatedAt"] = json!(now.as_millis());
            let text = entry.to_string();
            self.stage.act(&self.now, now, &Operation::Write { path, text });
        }
        // Nothing of the recording is left. It begins again after the pause.
        self.next = self.now.operations.len();
        self.now.begin = now - self.now.length();
    }

    /// It was answered in the terminal.
    fn end_request(&mut self, handle: &Handle) {
        if let Some(asks) = self.asks.take() {
            handle.hook_gone(asks.id);
        }
    }

    /// The session leaves the stage, and the next round enters. What the store has of it stays.
    fn begin_again(&mut self) {
        let gone: BTreeSet<&PathBuf> = self
            .now
            .operations
            .iter()
            .filter_map(|(_, operation)| match operation {
                Operation::Append { path, .. } | Operation::Write { path, .. } => Some(path),
                _ => None,
            })
            .collect();
        gone.into_iter().for_each(|path| self.stage.fs.remove(self.stage.root.join(path)));
        for (pid, start) in self.now.processes() {
            self.stage.processes.set(Instance { pid, proc_start: Some(start) }, Liveness::Dead);
        }
        self.round += 1;
        self.now = self.retold(SystemClock.now());
        self.next = 0;
        self.stage.enter(&self.now);
    }

    fn retold(&self, begin: Timestamp) -> Recording {
        self.template.retold(begin, 1, |text| in_round(text, self.round))
    }
}

/// Plays until the engine has stopped.
pub fn play(mut players: Vec<Player<'_>>, handle: &Handle) {
    let (answers, printed): (Sender<Printed>, Receiver<Printed>) = channel();
    let stopped = handle.stopped();
    while let Some(next) = players.iter_mut().min_by_key(|player| player.due()) {
        let due = next.due();
        let answer = printed.recv_timeout(SystemClock.until(due));
        if stopped() {
            return;
        }
        match answer {
            Ok(answer) => players.iter_mut().for_each(|player| player.take(&answer, handle)),
            Err(_) => next.step(handle, &answers),
        }
    }
}

/// Whether a registry entry says that the session asks.
fn is_asking(entry: &str) -> bool {
    ["\"waitingFor\":\"permission prompt\"", "\"waitingFor\":\"input needed\""]
        .iter()
        .any(|word| entry.contains(word))
}

/// The text of another round: another session, of another process.
pub fn in_round(text: &str, round: u32) -> String {
    if round == 0 {
        return text.to_owned();
    }
    other_ids(text, round).replace("\"procStart\":\"", &format!("\"procStart\":\"{round}"))
}

/// The same text with other ids of sessions, records, answers and calls.
fn other_ids(text: &str, round: u32) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(|c: char| c.is_ascii_hexdigit() || c == '_') {
        let (before, tail) = rest.split_at(at);
        out.push_str(before);
        let run = tail.find(|c: char| !(c.is_ascii_hexdigit() || "_-".contains(c))).unwrap_or(tail.len());
        let (word, after) = tail.split_at(run);
        let begin = if word.starts_with("_01") { 3 } else { 0 };
        let is_id =
            begin > 0 && word.len() > 16 || begin == 0 && word.len() == 36 && word.matches('-').count() == 4;
        let number =
            word.get(begin..begin + 8).filter(|_| is_id).and_then(|hex| u32::from_str_radix(hex, 16).ok());
        match number {
            // An odd factor, so that each round has another number.
            Some(number) => {
                out.push_str(&word[..begin]);
                out.push_str(&format!("{:08x}", number ^ round.wrapping_mul(0x9e37_79b1)));
                out.push_str(&word[begin + 8..]);
            }
            None => out.push_str(word),
        }
        rest = after;
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;
    use watchbill_watch::process::Processes;

    #[test]
    fn a_session_leaves_the_stage_before_the_next_one_enters() {
        let text = concat!(
            r#"{"t":1,"op":"write","path":"sessions/7.json","text":"{\"pid\":7,\"procStart\":\"99\",\"updatedAt\":1795188650764}"}"#,
            "\n",
            r#"{"t":2,"op":"append","path":"projects/p/645a2f0b-cd92-4470-9c99-7c9f5295006d.jsonl","text":"{}\n"}"#,
        );
        let (stage, template) = (Stage::new(Path::new("/claude"), || {}), Recording::parse(text).unwrap());
        stage.enter(&template);
        stage.act_until(&template, template.length());
        let first = stage.root.join("projects/p/645a2f0b-cd92-4470-9c99-7c9f5295006d.jsonl");
        assert!(stage.fs.bytes(&first).is_some());
        let mut player = Player::new(&stage, &template, template.begin + template.length());
        assert_eq!(player.due(), template.begin + template.length() + PAUSE);
        player.begin_again();
        assert!(
            stage.fs.bytes(&first).is_none() && stage.fs.bytes(stage.root.join("sessions/7.json")).is_none()
        );
        let of = |start: &str| Instance { pid: 7, proc_start: Some(start.into()) };
        let alive = |start: &str| stage.processes.probe(&of(start), None);
        assert_eq!((alive("99"), alive("199")), (Liveness::Dead, Liveness::Alive));
        assert!(player.due() > template.begin + PAUSE, "it goes on now");
    }

    #[test]
    fn each_round_has_other_ids_and_nothing_else_differs() {
        let text = r#"{"sessionId":"645a2f0b-cd92-4470-9c99-7c9f5295006d","id":"toolu_0151e42d65d13e424aaeb8","x":"deadbeef é _01 645a2f0b","procStart":"120613"}"#;
        let (one, two) = (in_round(text, 1), in_round(text, 2));
        assert_eq!(in_round(text, 0), text);
        for other in [&one, &two] {
            assert_eq!(other.len(), text.len() + 1);
            assert!(!other.contains("\"645a2f0b-") && !other.contains("toolu_0151e42d"), "{other}");
            assert!(
                other.contains("deadbeef é _01 645a2f0b") && other.contains("-cd92-4470-9c99-7c9f5295006d"),
                "{other}"
            );
        }
        assert_ne!(one, two);
        assert!(two.contains("\"procStart\":\"2120613\""), "{two}");
    }
}
