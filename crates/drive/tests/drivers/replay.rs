//! What a later process of an own session starts with.

use serde_json::json;
use watchbill_agents::launch::launch;
use watchbill_core::time::Timestamp;
use watchbill_drive::log::Direction;
use watchbill_drive::replay::Replay;
use watchbill_protocol::own::spec::{OwnAgent, OwnKind, OwnSpec};

#[test]
fn a_later_process_has_the_powers_of_the_end_and_not_those_of_the_start() {
    let first = OwnSpec {
        session: "5e55a000-0000-4000-8000-000000000001".into(),
        agent: OwnAgent::Claude,
        kind: OwnKind::Stream,
        cwd: "/home/dev/work".into(),
        model: None,
        mode: Some("bypassPermissions".into()),
        resume: None,
        command: Vec::new(),
        size: None,
        created_at: "2026-11-23T16:00:00Z".into(),
        root: None,
        switched: None,
        started_by_agent: false,
    };
    let mut replay = Replay::new(&first);
    let lower = json!({ "type": "system", "subtype": "status", "status": null, "permissionMode": "plan" });
    replay.fold(Timestamp::from_millis(1_795_000_000_000), Direction::Out, lower.to_string().as_bytes());
    assert_eq!(replay.spec().mode.as_deref(), Some("plan"));
    let launch = launch(replay.spec()).unwrap();
    assert!(!launch.args.iter().any(|word| word.contains("bypass")), "{launch:?}");
}
