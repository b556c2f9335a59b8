//! The transcript of an agent that writes none that Watchbill reads.

use watchbill_core::time::Timestamp;
use watchbill_drive::folder::Folder;
use watchbill_drive::transcript::TranscriptWriter;
use watchbill_protocol::own::event::OwnWhat;
use watchbill_protocol::own::spec::{OwnAgent, OwnKind, OwnSpec};

#[test]
fn a_transcript_that_lost_its_end_is_made_whole_by_the_next_host() {
    let data = tempfile::tempdir().unwrap();
    let spec = OwnSpec {
        session: "00000000-0000-4000-8000-000000000001".to_owned(),
        agent: OwnAgent::Codex,
        kind: OwnKind::Stream,
        cwd: "/srv/app".to_owned(),
        model: None,
        mode: None,
        resume: None,
        command: Vec::new(),
        size: None,
        created_at: "2026-11-25T04:00:00.000Z".to_owned(),
        root: None,
        switched_from: None,
        started_by_agent: false,
    };
    let folder = Folder::of(data.path(), &spec.session).unwrap();
    folder.create(&spec).unwrap();
    let events: Vec<OwnWhat> = ["one", "two", "three"]
        .map(|text| OwnWhat::Block {
            block: text.to_owned(),
            text: text.to_owned(),
            thinking: false,
            record: None,
        })
        .into();
    let write = || {
        let mut writer = TranscriptWriter::open(&folder, &spec).unwrap().unwrap();
        for (n, event) in events.iter().enumerate() {
            writer.take(n as u64, Timestamp::from_millis(1_795_188_000_000), std::slice::from_ref(event));
        }
    };
    write();
    let whole = std::fs::read_to_string(folder.transcript()).unwrap();
    assert_eq!(whole.lines().count(), 3);
    for length in [0, 1, whole.len() / 2, whole.len() - 1, whole.len()] {
        std::fs::write(folder.transcript(), &whole[..length]).unwrap();
        write();
        assert_eq!(std::fs::read_to_string(folder.transcript()).unwrap(), whole, "cut at {length}");
    }
    let of_claude = OwnSpec { agent: OwnAgent::Claude, ..spec.clone() };
    assert!(TranscriptWriter::open(&folder, &of_claude).unwrap().is_none(), "Claude Code writes its own");
}
