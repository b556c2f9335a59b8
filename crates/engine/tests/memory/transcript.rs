//! Writes the transcript of one session as the agent does (2.1.329), without an agent.

use std::path::Path;

use serde_json::{Value, json};
use watchbill_engine::Timestamp;

/// A session that is being written.
pub struct Session {
    pub id: String,
    cwd: String,
    at: i64,
    lines: Vec<Value>,
}

impl Session {
    pub fn new(id: String, cwd: &str, at: Timestamp) -> Self {
        Self { id, cwd: cwd.to_owned(), at: at.as_millis(), lines: Vec::new() }
    }

    fn line(&mut self, mut value: Value) {
        self.at += 1_000;
        let envelope = json!({ "uuid": format!("{}-{}", self.id, self.lines.len()), "sessionId": self.id,
            "timestamp": Timestamp::from_millis(self.at).to_string(), "cwd": self.cwd, "version": "2.1.329" });
        value.as_object_mut().unwrap().extend(envelope.as_object().unwrap().clone());
        self.lines.push(value);
    }

    pub fn prompt(&mut self, text: &str) -> &mut Self {
        self.line(json!({ "type": "user", "message": { "role": "user", "content": text } }));
        self
    }

    pub fn answer(&mut self, text: &str) -> &mut Self {
        let id = format!("msg-{}-{}", self.id, self.lines.len());
        self.line(json!({ "type": "assistant", "message": { "id": id, "role": "assistant", "model": "m",
            "stop_reason": "end_turn", "content": [{ "type": "text", "text": text }] } }));
        self
    }

    pub fn call(&mut self, tool: &str, input: Value, output: &str, is_error: bool) -> &mut Self {
        let call = format!("toolu-{}-{}", self.id, self.lines.len());
        let id = format!("msg-{call}");
        self.line(json!({ "type": "assistant", "message": { "id": id, "role": "assistant", "model": "m",
            "stop_reason": "tool_use", "content": [{ "type": "tool_use", "id": call, "name": tool, "input": input }] } }));
        self.line(json!({ "type": "user", "message": { "role": "user", "content": [
            { "type": "tool_result", "tool_use_id": call, "content": output, "is_error": is_error }] } }));
        self
    }

    pub fn edit(&mut self, file: &str) -> &mut Self {
        let path = format!("{}/{file}", self.cwd);
        self.call("Edit", json!({ "file_path": path, "old_string": "a", "new_string": "b" }), "done", false)
    }

    pub fn read(&mut self, file: &str) -> &mut Self {
        let path = format!("{}/{file}", self.cwd);
        self.call("Read", json!({ "file_path": path }), "content", false)
    }

    pub fn bash(&mut self, command: &str, error: Option<&str>) -> &mut Self {
        self.call("Bash", json!({ "command": command }), error.unwrap_or("ok"), error.is_some())
    }

    /// What the agent writes when a hook has told the agent something.
    pub fn told(&mut self, text: &str) -> &mut Self {
        let attachment = json!({ "type": "hook_additional_context", "content": [text], "hookEvent": "PostToolUse",
            "hookName": "PostToolUse:Read", "toolUseID": "t" });
        self.line(json!({ "type": "attachment", "attachment": attachment }));
        self
    }

    pub fn write(&self, root: &Path) {
        let folder = root.join("projects").join(self.cwd.replace('/', "-"));
        std::fs::create_dir_all(&folder).unwrap();
        let text: String = self.lines.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(folder.join(format!("{}.jsonl", self.id)), text).unwrap();
    }
}
