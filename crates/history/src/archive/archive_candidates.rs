//! Transcripts that may be archived: their sessions, and when the agent removes them.

use std::path::Path;

use watchbill_agents::Root;
use watchbill_agents::files::parser_of;
use watchbill_agents::layout::ClientPath;
use watchbill_watch::fs::Fs;
use watchbill_watch::scan::{Found, scan};

use crate::lines::first_lines;

/// The records in this many first bytes of a file name its session.
pub(super) const FIRST_RECORDS: usize = 256 << 10;
/// Suffix of the file beside a subagent's transcript that names the call that started the subagent.
pub(super) const META: &str = ".meta.json";
/// Size limit for the agent's settings, which have a few kilobytes.
const AGENT_SETTINGS_LIMIT: u64 = 1 << 20;
/// Age at which the agent removes transcripts, unless the user sets another one (`cleanupPeriodDays`).
pub(super) const CLEANUP_DAYS: i64 = 30;
pub(super) const DAY: i64 = 86_400_000;

/// The user's setting for the agent's clean-up. Watchbill reads the agent's settings for this alone.
pub(super) fn cleanup_days(fs: &dyn Fs, root: &Path) -> i64 {
    let read = |name: &str| {
        let bytes = fs.read_small(&root.join(name), AGENT_SETTINGS_LIMIT).ok()?;
        serde_json::from_slice::<serde_json::Value>(&bytes).ok()?.get("cleanupPeriodDays")?.as_i64()
    };
    read("settings.json").filter(|days| *days > 0).unwrap_or(CLEANUP_DAYS)
}

/// All transcripts on disk that their agents will remove.
pub(super) fn transcripts(fs: &dyn Fs, roots: &[Root]) -> Vec<Found> {
    let roots: Vec<Root> = roots.iter().filter(|root| root.removes_old()).cloned().collect();
    scan(fs, &roots).found.into_iter().filter(|found| found.kind.is_transcript()).collect()
}

/// The session of a transcript, and the subagent if it is one's. Forgetting the session forgets this transcript too.
pub fn owner(fs: &dyn Fs, found: &Found) -> Option<(String, Option<String>)> {
    match found.place()? {
        ClientPath::Transcript { session, .. } => Some((session.to_string(), None)),
        ClientPath::Subagent { session, agent, .. } => Some((session.to_string(), Some(agent.to_string()))),
        ClientPath::FlatSubagent { agent, .. } => {
            Some((named_session(fs, &found.path)?, Some(agent.to_string())))
        }
        _ => None,
    }
}

/// The session that the first records of a file name.
fn named_session(fs: &dyn Fs, path: &Path) -> Option<String> {
    let (mut named, parse) = (None, parser_of(path));
    first_lines(&*fs.open(path).ok()?, FIRST_RECORDS, &mut |line| {
        if named.is_none() {
            parse(line, &mut |record, _| {
                named = record.envelope.session_id.as_deref().filter(|id| !id.is_empty()).map(str::to_owned);
            });
        }
    })
    .ok()?;
    named
}
