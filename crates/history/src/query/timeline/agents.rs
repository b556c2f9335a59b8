//! Finds the call that started each subagent: from the call's result, or from the meta file beside the transcript.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use watchbill_agents::layout::META_LIMIT;
use watchbill_core::transcript::timeline::{Entry, ToolCall, What};
use watchbill_watch::fs::Fs;

use super::plan::AgentFile;

/// The calls that meta files name, by the subagent's transcript. They are kept, because they never change.
#[derive(Default)]
pub struct AgentCalls {
    known: HashMap<PathBuf, Arc<str>>,
    /// The first entries of the timeline are missing.
    end_only: bool,
}

impl AgentCalls {
    /// For the end of a timeline: its first call that names a subagent need not be the one that started it.
    pub fn of_an_end() -> Self {
        Self { end_only: true, ..Self::default() }
    }

    /// Finds the file of `files` that each call of `entries` has started.
    pub fn resolve<'f>(
        &mut self,
        fs: &dyn Fs,
        files: &'f [AgentFile],
        entries: &[&Entry],
    ) -> StartedAgents<'f> {
        let by_id: HashMap<&str, &AgentFile> =
            files.iter().filter(|file| file.is_called()).map(|file| (&*file.agent, file)).collect();
        let mut started = HashMap::new();
        let mut claimed = HashSet::new();
        for call in entries.iter().filter_map(|entry| call(entry)) {
            // A message to a subagent names it too. The first call is the one that started it.
            let file = call.agent.as_deref().and_then(|agent| by_id.get(agent));
            if let Some(file) = file
                && self.may_start(fs, call, file)
                && claimed.insert(&*file.agent)
            {
                started.insert(call.id.clone(), *file);
            }
        }
        for file in by_id.values().filter(|file| !claimed.contains(&*file.agent)) {
            if let Some(call) = self.call_of(fs, &file.path) {
                started.insert(call.to_string(), file);
            }
        }
        StartedAgents(started)
    }

    fn may_start(&mut self, fs: &dyn Fs, call: &ToolCall, file: &AgentFile) -> bool {
        !self.end_only || self.call_of(fs, &file.path).is_none_or(|id| *id == *call.id)
    }

    /// The call that started a subagent, from its meta file. A running subagent has no result yet, but the agent
    /// writes the call at its start (`toolUseId` of the meta file, from client 2.1.221 on).
    fn call_of(&mut self, fs: &dyn Fs, transcript: &Path) -> Option<Arc<str>> {
        if let Some(known) = self.known.get(transcript) {
            return Some(Arc::clone(known));
        }
        let bytes = fs.read_small(&transcript.with_extension("meta.json"), META_LIMIT).ok()?;
        let meta: serde_json::Value = serde_json::from_slice(&bytes).ok()?;
        let id: Arc<str> = Arc::from(meta.get("toolUseId")?.as_str()?);
        self.known.insert(transcript.to_path_buf(), Arc::clone(&id));
        Some(id)
    }
}

/// The subagents, by the call that started them.
pub struct StartedAgents<'f>(HashMap<String, &'f AgentFile>);

impl<'f> StartedAgents<'f> {
    /// The subagent that this entry has started.
    pub fn by(&self, entry: &Entry) -> Option<&'f AgentFile> {
        self.0.get(&call(entry)?.id).copied()
    }
}

fn call(entry: &Entry) -> Option<&ToolCall> {
    match &entry.what {
        What::Tool(call) if !call.id.is_empty() => Some(call),
        _ => None,
    }
}
