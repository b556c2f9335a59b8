//! Derives the bundled demo from recordings of the real client, with other words, other folders and longer times.
//!
//! `crates/engine/demo/scenes.json` names the recording of each scene. Records stay unchanged except for the words
//! that the scene replaces; unused payloads are left out.

use std::collections::HashMap;
use std::fs;

use anyhow::{Context, Result, ensure};
use serde_json::{Map, Value, json};

use crate::tree::Tree;

/// Record types that do not change the demo.
const LEFT_OUT: [&str; 7] = [
    "api-request",
    "api-request-blob",
    "api-request-shape",
    "atis-latch",
    "attachment",
    "cost-state",
    "file-history-snapshot",
];
/// Traces of the recording rig that must not be left.
const LEFTOVERS: [&str; 5] = ["@@", "lorem ipsum", "stub", "127.0.0.1", "/rig/"];
/// Keys whose numbers are milliseconds since the epoch.
const STAMPS: [&str; 4] = ["startedAt", "updatedAt", "statusUpdatedAt", "nameSince"];

/// Milliseconds.
const DAY: i64 = 86_400_000;

/// Writes `crates/engine/demo/*.ndjson` anew.
pub fn refresh(tree: &Tree) -> Result<()> {
    let folder = tree.path("crates/engine/demo");
    let scenes = fs::read_to_string(folder.join("scenes.json")).context("could not read the scenes")?;
    let scenes: Vec<Value> = serde_json::from_str(&scenes).context("scenes.json is no list of scenes")?;
    let mut bytes = 0;
    for scene in &scenes {
        let name = text(scene, "name");
        let recording =
            tree.path("tests/fixtures/recordings").join(format!("{}.ndjson", text(scene, "recording")));
        let recorded = fs::read_to_string(&recording)
            .with_context(|| format!("could not read {}", recording.display()))?;
        let played = Scene::new(scene).play(&recorded).with_context(|| format!("scene {name}"))?;
        bytes += played.len();
        fs::write(folder.join(format!("{name}.ndjson")), played)?;
    }
    println!("{} scenes, {} KiB under {}", scenes.len(), bytes / 1024, folder.display());
    Ok(())
}

fn text<'a>(scene: &'a Value, key: &str) -> &'a str {
    scene[key].as_str().unwrap_or_default()
}

/// One scene, and how far its words have been replaced.
struct Scene<'a> {
    scene: &'a Value,
    /// Words to replace, in order; words that are listed several times are replaced in turn.
    words: Vec<(&'a str, Vec<&'a str>)>,
    used: HashMap<&'a str, usize>,
    /// The beginning of the recording, by the client's clock.
    begin: i64,
    from: i64,
    /// A record that was left out, and its parent.
    parents: HashMap<String, Value>,
    titled: bool,
}

impl<'a> Scene<'a> {
    fn new(scene: &'a Value) -> Self {
        let mut words: Vec<(&str, Vec<&str>)> = Vec::new();
        for pair in scene["words"].as_array().into_iter().flatten() {
            let (from, to) = (pair[0].as_str().unwrap_or_default(), pair[1].as_str().unwrap_or_default());
            match words.iter_mut().find(|(known, _)| *known == from) {
                Some((_, list)) => list.push(to),
                None => words.push((from, vec![to])),
            }
        }
        Self {
            scene,
            words,
            used: HashMap::new(),
            begin: 0,
            from: scene["from"].as_i64().unwrap_or(0),
            parents: HashMap::new(),
            titled: false,
        }
    }

    fn play(mut self, recorded: &str) -> Result<String> {
        let mut operations = recorded.lines().map(serde_json::from_str).collect::<Result<Vec<Value>, _>>()?;
        let stamp = |operation: &Value| {
            let entry: Value = serde_json::from_str(operation["text"].as_str()?).ok()?;
            Some(entry["updatedAt"].as_i64()? - operation["t"].as_i64()?)
        };
        self.begin = operations.iter().filter_map(stamp).max().context("no registry file has a time")?;
        for operation in &mut operations {
            let moved = self
                .pairs("moves")
                .find(|(from, _)| operation["t"] == json!(*from) && operation["op"] == "append");
            if let Some((_, to)) = moved {
                operation["t"] = json!(to);
            }
        }
        operations.sort_by_key(|operation| operation["t"].as_i64());
        let until = self.scene["until"].as_i64().unwrap_or(i64::MAX);
        let mut out = String::new();
        for operation in operations {
            let t = operation["t"].as_i64().unwrap_or(0);
            if t <= until
                && let Some(played) = self.operation(t, operation)?
            {
                out.push_str(&serde_json::to_string(&played)?);
                out.push('\n');
            }
        }
        for leftover in LEFTOVERS {
            ensure!(!out.contains(leftover), "{leftover:?} is left over: give words for it");
        }
        for (from, list) in &self.words {
            ensure!(self.used.contains_key(from), "{from:?} does not occur in the recording");
            ensure!(self.used[from] >= list.len(), "{from:?} occurs less often than it is replaced");
        }
        ensure!(self.titled, "no prompt is left to take the title");
        Ok(out)
    }

    fn pairs(&self, key: &str) -> impl Iterator<Item = (i64, i64)> + 'a {
        let list = self.scene[key].as_array().into_iter().flatten();
        list.filter_map(|pair| Some((pair[0].as_i64()?, pair[1].as_i64()?)))
    }

    /// The moment `t` of the recording as a moment of the scene.
    fn moment(&self, t: i64) -> i64 {
        let held: i64 = self.pairs("holds").filter(|(after, _)| t > *after).map(|(_, by)| by).sum();
        t - self.from + held
    }

    fn operation(&mut self, t: i64, operation: Value) -> Result<Option<Value>> {
        let path = operation["path"].as_str().unwrap_or_default().to_owned();
        let played = match operation["op"].as_str().unwrap_or_default() {
            "append" if path.starts_with("projects/") => {
                let lines = operation["text"].as_str().unwrap_or_default();
                let lines = self.lines(lines, t < self.from)?;
                (!lines.is_empty()).then(|| json!({ "text": lines }))
            }
            "write" if path.starts_with("sessions/") || path.ends_with(".meta.json") => {
                // A torn write is followed by the whole one; the demo leaves the torn one out.
                let whole = serde_json::from_str::<Value>(operation["text"].as_str().unwrap_or_default());
                whole.ok().map(|mut entry| {
                    self.apply_scene(&mut entry);
                    json!({ "text": entry.to_string() })
                })
            }
            "remove" if path.starts_with("sessions/") => Some(json!({})),
            "mark" => {
                let text = operation["text"].as_str().unwrap_or_default();
                return Ok(text
                    .starts_with("kill -9 ")
                    .then(|| json!({ "t": self.moment(t), "op": "mark", "text": text })));
            }
            _ => None,
        };
        let Some(Value::Object(rest)) = played.filter(|_| t >= self.from) else { return Ok(None) };
        let mut out = Map::new();
        out.insert("t".to_owned(), json!(self.moment(t)));
        out.insert("op".to_owned(), operation["op"].clone());
        out.insert("path".to_owned(), Value::String(self.replace_folder(&path)));
        out.extend(rest);
        Ok(Some(Value::Object(out)))
    }

    /// The records of one append, without those that are left out.
    fn lines(&mut self, lines: &str, skip: bool) -> Result<String> {
        let mut out = String::new();
        for line in lines.lines() {
            let mut record: Value = serde_json::from_str(line)?;
            let kind = record["type"].as_str().unwrap_or_default();
            let hooks = record["subtype"] == "stop_hook_summary";
            if skip || hooks || LEFT_OUT.contains(&kind) {
                if let Some(id) = record["uuid"].as_str() {
                    let parent = self.kept_parent(&record["parentUuid"]);
                    self.parents.insert(id.to_owned(), parent);
                }
                continue;
            }
            if record.get("parentUuid").is_some() {
                record["parentUuid"] = self.kept_parent(&record["parentUuid"]);
            }
            self.stretch(&mut record);
            self.apply_scene(&mut record);
            out.push_str(&record.to_string());
            out.push('\n');
            let prompt = record["type"] == "user" && record["isSidechain"] == false;
            if prompt && !self.titled {
                self.titled = true;
                let title = json!({ "type": "ai-title", "aiTitle": text(self.scene, "title"), "sessionId": record["sessionId"] });
                out.push_str(&title.to_string());
                out.push('\n');
            }
        }
        Ok(out)
    }

    /// A turn lasts as long as the distance of its prompt and its end in the scene.
    fn stretch(&self, record: &mut Value) {
        let ended = record["timestamp"].as_str().and_then(|at| self.millis(at));
        if let (Some(ended), Some(lasted)) = (ended, record["durationMs"].as_i64()) {
            let ended = ended - self.begin;
            record["durationMs"] = json!(self.moment(ended) - self.moment(ended - lasted));
        }
    }

    fn kept_parent(&self, parent: &Value) -> Value {
        parent.as_str().and_then(|id| self.parents.get(id)).unwrap_or(parent).clone()
    }

    /// Puts the scene's words, folders and times into a record or a registry file.
    fn apply_scene(&mut self, value: &mut Value) {
        match value {
            Value::String(text) => *text = self.replace_words(text),
            Value::Array(list) => list.iter_mut().for_each(|value| self.apply_scene(value)),
            Value::Object(fields) => {
                let old = std::mem::take(fields);
                for (key, mut value) in old {
                    self.field(&key, &mut value);
                    // Answers have their questions as keys.
                    let key = if key.contains(' ') { self.replace_words(&key) } else { key };
                    fields.insert(key, value);
                }
            }
            _ => {}
        }
    }

    fn field(&mut self, key: &str, value: &mut Value) {
        match (key, &*value) {
            ("gitBranch", _) => *value = Value::String(text(self.scene, "branch").to_owned()),
            ("name" | "tmux", Value::String(name))
                if name.starts_with("work-") || name.starts_with("s1:") =>
            {
                let project = text(self.scene, "project");
                *value = Value::String(name.replacen("work", project, 1).replacen("s1", project, 1));
            }
            ("timestamp", Value::String(at)) => {
                if let Some(at) = self.stamp(at) {
                    *value = Value::String(at);
                }
            }
            (key, Value::Number(at)) if STAMPS.contains(&key) => {
                let at = at.as_i64().unwrap_or(self.begin);
                *value = json!(self.begin + self.moment(at - self.begin));
            }
            _ => self.apply_scene(value),
        }
    }

    /// A record's time as milliseconds since the epoch. A recording lasts minutes, so the date is known.
    fn millis(&self, at: &str) -> Option<i64> {
        let (_, time) = at.strip_suffix('Z')?.split_once('T')?;
        let (clock, millis) = time.split_once('.')?;
        let mut of_day = 0;
        for part in clock.split(':') {
            of_day = of_day * 60 + part.parse::<i64>().ok()?;
        }
        Some(self.begin - self.begin % DAY + of_day * 1000 + millis.parse::<i64>().ok()?)
    }

    /// A record's time as a time of the scene.
    fn stamp(&self, at: &str) -> Option<String> {
        let moved = (self.begin + self.moment(self.millis(at)? - self.begin)) % DAY;
        let (date, _) = at.split_once('T')?;
        let (seconds, millis) = (moved / 1000, moved % 1000);
        Some(format!(
            "{date}T{:02}:{:02}:{:02}.{millis:03}Z",
            seconds / 3600,
            seconds / 60 % 60,
            seconds % 60
        ))
    }

    fn replace_words(&mut self, original: &str) -> String {
        if original.starts_with("lorem ipsum") {
            return text(self.scene, "summary").to_owned();
        }
        if let Some(output) =
            original.strip_prefix("<local-command-stdout>").filter(|output| output.contains("/rig/"))
        {
            let first = output.lines().next().unwrap_or_default();
            let end = if first.ends_with("</local-command-stdout>") { "" } else { "</local-command-stdout>" };
            return format!("<local-command-stdout>{first}{end}");
        }
        let mut out = original.to_owned();
        for (from, list) in &self.words {
            let whole = from.len() < 8;
            if if whole { out == *from } else { out.contains(from) } {
                let used = self.used.entry(from).or_insert(0);
                out = out.replace(from, list[(*used).min(list.len() - 1)]);
                *used += 1;
            }
        }
        self.replace_folder(&out)
    }

    /// Replaces the rig's folder by the scene's, also inside a folder name.
    fn replace_folder(&self, path: &str) -> String {
        let project = text(self.scene, "project");
        let path = path.replace("/home/dev/work", &format!("/home/dev/{project}"));
        path.replace("-home-dev-work", &format!("-home-dev-{project}")).replace("_stub", "_01")
    }
}
