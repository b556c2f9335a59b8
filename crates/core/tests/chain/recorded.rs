//! Facts of recorded sessions of client 2.1.329: `/clear`, then `/resume` of the first session.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;
use watchbill_core::chain::{BeganBy, Lineage, LinkConfidence, LinkReason, RegistryMove, Segment};
use watchbill_core::ids::{Instance, RecordId, SessionId};
use watchbill_core::time::{Millis, Timestamp};

use crate::facts::{ChainQueries, World};

const CLEAR: &str = include_str!("../../../../tests/fixtures/recordings/06e-clear.ndjson");
const FIRST: &str = "163d1dba-5055-4d91-bdf7-d331c4ebb9a7";
const SECOND: &str = "ae01586e-cb02-4de0-a5b8-e7e863469698";
/// When the recording began: its times are milliseconds since then.
const BEGAN: &str = "2026-11-20T15:40:44.120Z";

/// The facts of lineage in a recording up to `until` milliseconds, read straight from its records.
fn recorded(recording: &str, until: i64) -> World {
    let mut world = World::default();
    let mut lineages: BTreeMap<SessionId, Lineage> = BTreeMap::new();
    let mut on: BTreeMap<u64, SessionId> = BTreeMap::new();
    for line in recording.lines() {
        let op: Value = serde_json::from_str(line).expect("an operation");
        let ms = op["t"].as_i64().expect("a time");
        if ms > until {
            break;
        }
        let path = op["path"].as_str().unwrap_or_default();
        let text = op["text"].as_str().unwrap_or_default();
        match op["op"].as_str() {
            Some("append") if path.starts_with("projects/") => {
                let id = SessionId::new(
                    path.rsplit('/').next().and_then(|n| n.strip_suffix(".jsonl")).expect("a name"),
                );
                let lineage = lineages.entry(id.clone()).or_insert_with(|| Lineage::unknown(id));
                text.lines()
                    .filter_map(|l| serde_json::from_str(l).ok())
                    .for_each(|r: Value| fold(lineage, &r));
            }
            Some("write") => {
                // Torn contents are part of the recording, and no evidence.
                let Ok(entry) = serde_json::from_str::<Value>(text) else { continue };
                let (pid, id) =
                    (entry["pid"].as_u64().expect("a pid"), entry["sessionId"].as_str().expect("an id"));
                let to = SessionId::new(id);
                if let Some(from) = on.insert(pid, to.clone()).filter(|from| *from != to) {
                    let at = Timestamp::parse(BEGAN).expect("a time") + Millis(ms);
                    let instance = Instance { pid: u32::try_from(pid).expect("small"), proc_start: None };
                    world.moves.push(RegistryMove { instance, from, to, at, parked: false });
                }
            }
            Some("remove") => on.clear(),
            _ => {}
        }
    }
    world.lineages = lineages.into_values().collect();
    world.live = on.into_values().collect();
    world
}

fn fold(lineage: &mut Lineage, record: &Value) {
    if let Some(uuid) = record["uuid"].as_str() {
        let bits = u128::from_str_radix(&uuid.replace('-', ""), 16).expect("a UUID");
        lineage.first_record.get_or_insert(RecordId(bits));
    }
    match record["session_id"].as_str().map(SessionId::new) {
        Some(process) if process == lineage.session => lineage.own_process_session = true,
        Some(process) if !lineage.process_sessions.contains(&process) => {
            lineage.process_sessions.push(process)
        }
        _ => {}
    }
    if record["message"]["content"]
        .as_str()
        .is_some_and(|c| c.contains("<command-name>/clear</command-name>"))
    {
        lineage.began_by = Some(BeganBy::Clear);
    }
    if let Some(cwd) = record["cwd"].as_str().filter(|c| lineage.cwds.iter().all(|known| &**known != *c)) {
        lineage.cwds.push(Arc::from(cwd));
    }
    let Some(at) = record["timestamp"].as_str().and_then(Timestamp::parse) else { return };
    lineage.started_at = Some(lineage.started_at.map_or(at, |t| t.min(at)));
    lineage.own_started_at = lineage.started_at;
    lineage.segments[0] = Segment { started_at: lineage.started_at, ended_at: Some(at), boundary: None };
    match lineage.spans.last_mut() {
        Some(span) if at < span.1 + Millis::from_secs(60) => *span = (span.0.min(at), span.1.max(at)),
        _ => lineage.spans.push((at, at)),
    }
}

#[test]
fn recorded_clear_continues_the_chain() {
    // Before the /resume: the user is in the second session.
    let world = recorded(CLEAR, 10_000);
    assert_eq!(world.lineages.len(), 2);
    assert_eq!(world.moves.len(), 1);
    let chains = world.chains();
    assert_eq!(chains.sessions(FIRST), [FIRST, SECOND]);
    assert_eq!(chains.link(FIRST, SECOND), Some((LinkReason::Clear, LinkConfidence::Proven)));
    assert_eq!(chains.over_by(FIRST), Some(SECOND));
    assert_eq!(chains.chain(FIRST).head.as_str(), SECOND);
    assert_eq!(chains.chain(FIRST).compaction_count, 0);

    // The same from the files alone, as a later start sees them.
    let files = World { moves: Vec::new(), live: Default::default(), ..world };
    assert_eq!(files.chains().link(FIRST, SECOND), Some((LinkReason::Clear, LinkConfidence::Proven)));
    assert_eq!(files.chains().over_by(FIRST), Some(SECOND));
}

#[test]
fn recorded_clear_is_known_before_the_first_prompt() {
    // The new file holds only the /clear records, which do not carry `session_id` yet. The registry shows the move.
    let world = recorded(CLEAR, 5_000);
    let second = world.lineages.iter().find(|l| l.session.as_str() == SECOND).expect("its file is there");
    assert!(second.process_sessions.is_empty());
    let chains = world.chains();
    assert_eq!(chains.over_by(FIRST), Some(SECOND));
    assert_eq!(chains.link(FIRST, SECOND), Some((LinkReason::Clear, LinkConfidence::Proven)));
}

#[test]
fn recorded_resume_makes_the_cleared_session_a_head_again() {
    // The user is back in the first session and has not typed yet.
    let chains = recorded(CLEAR, 12_000).chains();
    assert_eq!(chains.over_by(FIRST), None, "its process is on it");
    assert_eq!(chains.sessions(FIRST), [FIRST, SECOND], "the way back is no link");
    assert_eq!(chains.link(SECOND, FIRST), None);

    // The user has typed there, and left.
    let chains = recorded(CLEAR, i64::MAX).chains();
    assert_eq!(chains.over_by(FIRST), None);
    assert_eq!(chains.chain(SECOND).head.as_str(), FIRST);
}
