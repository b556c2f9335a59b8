//! Plays a recording through the pure parts: folds, hooks, registry, resolver. No file is watched and no time passes.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde_json::Value;
use watchbill_agents::claude::hooks::parse_payload;
use watchbill_agents::claude::records::parse_line;
use watchbill_agents::claude::registry::{expects_registry, parse_registry};
use watchbill_core::evidence::registry::Liveness;
use watchbill_core::evidence::{Evidence, InstanceWitness, TranscriptWitness, Verdict, resolve};
use watchbill_core::hook::{HookFold, HookOrigin};
use watchbill_core::ids::{Instance, SessionId};
use watchbill_core::session::SessionFold;
use watchbill_core::session::state::Timeouts;
use watchbill_core::time::{Millis, Timestamp};

/// Which witnesses the resolver gets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WitnessSet {
    pub hooks: bool,
    pub registry: bool,
    pub transcript: bool,
    /// `n` loses every nth hook; 0 loses none.
    pub lost: usize,
}

pub const ALL: WitnessSet = WitnessSet { hooks: true, registry: true, transcript: true, lost: 0 };

/// One line of a recording.
pub struct Line {
    pub t: i64,
    pub op: String,
    pub json: Value,
}

pub fn recording(name: &str) -> Vec<Line> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/recordings");
    let text = std::fs::read_to_string(folder.join(format!("{name}.ndjson"))).expect("the recording");
    let lines = text.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON"));
    lines
        .map(|json| Line {
            t: json["t"].as_i64().expect("t"),
            op: json["op"].as_str().expect("op").into(),
            json,
        })
        .collect()
}

/// Names of all recordings.
pub fn names() -> Vec<String> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures/recordings");
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .expect("the recordings")
        .filter_map(|entry| {
            entry.expect("readable").file_name().to_str()?.strip_suffix(".ndjson").map(str::to_owned)
        })
        .collect();
    names.sort();
    names
}

/// The roster's view of one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    pub t: i64,
    pub session: String,
    pub state: String,
    pub source: &'static str,
    pub detail: String,
}

#[derive(Default)]
struct Stage {
    begin: Timestamp,
    folds: BTreeMap<String, SessionFold>,
    hooks: BTreeMap<String, HookFold>,
    registry: BTreeMap<String, InstanceWitness>,
    pids: BTreeMap<String, Instance>,
    order: u64,
}

/// Plays a recording and returns the changes.
pub fn play(lines: &[Line], witnesses: WitnessSet) -> Vec<Shown> {
    let mut stage = Stage { begin: begin_of(lines), ..Stage::default() };
    let mut shown: BTreeMap<String, Shown> = BTreeMap::new();
    let mut out = Vec::new();
    let mut now = 0;
    let mut nth = 0;
    for line in lines {
        while now + 50 < line.t {
            now += 50;
            stage.evaluate(now, witnesses, &mut shown, &mut out);
        }
        now = line.t;
        let lost = line.op == "hook" && {
            nth += 1;
            witnesses.lost > 0 && nth % witnesses.lost == 0
        };
        if !lost {
            stage.act(line);
        }
        stage.evaluate(now, witnesses, &mut shown, &mut out);
    }
    out
}

/// The wall clock at `t` 0: no status is written before its own time.
fn begin_of(lines: &[Line]) -> Timestamp {
    let registry = lines.iter().filter(|line| line.op == "write").filter_map(|line| {
        let entry = parse_registry(line.json["text"].as_str()?.as_bytes()).ok()?;
        Some(entry.status_at?.as_millis() - line.t)
    });
    Timestamp::from_millis(registry.max().unwrap_or(1_795_188_000_000))
}

impl Stage {
    fn act(&mut self, line: &Line) {
        let text = |key: &str| line.json[key].as_str().unwrap_or_default();
        let at = self.begin + Millis(line.t);
        let path = text("path");
        match &*line.op {
            "append" if path.starts_with("projects/") && !path.contains("/subagents/") => {
                let id =
                    path.rsplit('/').next().and_then(|name| name.strip_suffix(".jsonl")).unwrap_or_default();
                let fold = self
                    .folds
                    .entry(id.to_owned())
                    .or_insert_with(|| SessionFold::new(SessionId::new(id), Timeouts::default()));
                let mut effects = Vec::new();
                for line in text("text").lines() {
                    parse_line(line.as_bytes(), &mut |record, _| fold.apply(&record, &mut effects));
                }
            }
            "write" if path.starts_with("sessions/") => {
                if let Ok(entry) = parse_registry(text("text").as_bytes()) {
                    let witness = InstanceWitness { entry, liveness: Liveness::Alive, seen_at: at };
                    self.registry.insert(path.to_owned(), witness);
                }
            }
            "remove" => {
                self.registry.remove(path);
            }
            "hook" => self.hook(&line.json, at),
            "mark" => {
                let pid = text("text").strip_prefix("kill -9 ").and_then(|pid| pid.trim().parse().ok());
                for witness in self.registry.values_mut().filter(|w| Some(w.entry.instance.pid) == pid) {
                    witness.liveness = Liveness::Dead;
                }
            }
            _ => {}
        }
    }

    fn hook(&mut self, json: &Value, at: Timestamp) {
        let bytes = serde_json::to_vec(&json["payload"]).expect("JSON");
        let payload = parse_payload(&bytes).expect("a payload");
        self.order += 1_000_000;
        let pid = json["env"]["CLAUDE_PID"].as_str().and_then(|pid| pid.parse().ok());
        let known = self.registry.values().find(|w| Some(w.entry.instance.pid) == pid);
        let agent = known.map(|witness| witness.entry.instance.clone()).or_else(|| {
            let pid = pid?;
            Some(self.pids.entry(pid.to_string()).or_insert(Instance { pid, proc_start: None }).clone())
        });
        let origin = HookOrigin {
            id: format!("hook {}", self.order).into(),
            at,
            order: self.order,
            agent,
            ancestors: pid.into_iter().collect(),
            terminal: None,
        };
        self.hooks.entry(payload.session.to_string()).or_default().apply(&origin, &payload);
    }

    fn evaluate(
        &mut self,
        t: i64,
        witnesses: WitnessSet,
        shown: &mut BTreeMap<String, Shown>,
        out: &mut Vec<Shown>,
    ) {
        let now = self.begin + Millis(t);
        let mut ids: Vec<String> = self.folds.keys().chain(self.hooks.keys()).cloned().collect();
        ids.extend(self.registry.values().map(|witness| witness.entry.session.to_string()));
        ids.sort();
        ids.dedup();
        for id in ids {
            let verdict = self.verdict(&id, now, witnesses);
            let kind = verdict.kind.map(|kind| format!("/{}", kind.as_str())).unwrap_or_default();
            let sure = if verdict.reason.confidence.as_str() == "observed" { "" } else { "?" };
            let new = Shown {
                t,
                session: id.clone(),
                state: format!("{}{kind}{sure}", verdict.state.as_str()),
                source: verdict.reason.source.as_str(),
                detail: verdict.reason.detail.to_string(),
            };
            if shown.get(&id).is_none_or(|old| (&old.state, old.source) != (&new.state, new.source)) {
                shown.insert(id, new.clone());
                out.push(new);
            }
        }
    }

    fn verdict(&mut self, id: &str, now: Timestamp, witnesses: WitnessSet) -> Verdict {
        if let Some(fold) = self.folds.get_mut(id) {
            fold.advance(now, &mut Vec::new());
        }
        let fold = self.folds.get(id).filter(|_| witnesses.transcript);
        let instances: Vec<InstanceWitness> = self
            .registry
            .values()
            .filter(|witness| witnesses.registry && witness.entry.session.as_str() == id)
            .cloned()
            .collect();
        let alive = instances.iter().filter(|witness| witness.liveness == Liveness::Alive);
        let running: Vec<Instance> = alive.map(|witness| witness.entry.instance.clone()).collect();
        let hooks = self.hooks.get(id).filter(|_| witnesses.hooks).and_then(|hooks| hooks.witness(&running));
        let reading = fold.map(|fold| (fold.reading(), fold.facts()));
        let pending = fold.map(|fold| fold.pending_tools()).unwrap_or_default();
        let transcript = reading.as_ref().map(|(reading, facts)| TranscriptWitness {
            state: reading.state,
            kind: reading.kind,
            since: reading.since,
            detail: &reading.detail,
            by_timeout: reading.by_timeout,
            confidence: reading.confidence,
            pending: &pending,
            last_activity_at: facts.last_activity_at.unwrap_or(reading.since),
            prompt_at: facts.prompt_at,
            follows_hooks: false,
        });
        let expects = reading.as_ref().is_some_and(|(_, facts)| {
            expects_registry(facts.version.as_deref(), facts.entrypoint.as_deref())
        });
        resolve(&Evidence {
            now,
            transcript,
            instances: &instances,
            gone: None,
            registry_readable: witnesses.registry,
            expects_registry: witnesses.registry && expects,
            hooks: hooks.as_ref(),
            own: None,
            status_file: None,
            child: None,
            live: true,
            timeouts: Timeouts::default(),
        })
    }
}
