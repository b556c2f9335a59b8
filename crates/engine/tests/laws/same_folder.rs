//! Sessions that work side by side in one folder.

use proptest::prelude::*;
use watchbill_core::ids::SessionId;
use watchbill_core::time::Millis;

use crate::house::{House, instance, registry_file};
use crate::interleavings::{What, what};
use crate::records::{SessionWriter, registry, session};

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// Any number of sessions in one folder, with processes or without: a session's compaction, end or successor does
    /// not affect its neighbours.
    #[test]
    fn sessions_in_one_folder_never_affect_each_other(ops in prop::collection::vec((0..4usize, what(), 0i64..400, any::<bool>()), 1..60)) {
        let mut house = House::new();
        for (n, what, secs, registers) in ops {
            let author = SessionWriter::new(&session(n), "/repo");
            let (number, now) = (house.number(), house.now);
            let line = match what {
                What::Prompt | What::Stranger | What::Nonsense => author.prompt(number, now),
                What::Boundary => author.boundary(number, now),
                What::Call | What::Result => author.call(number, now),
                What::Answer => author.answer(number, now),
            };
            house.append(&author, &line);
            if registers {
                let pid = 200 + n as u32;
                house.stage.processes.set(instance(pid, "1"), watchbill_core::evidence::registry::Liveness::Alive);
                let text = registry(pid, "1", &author, "busy", now, now);
                house.stage.fs.write(registry_file(pid), text.as_bytes());
            }
            house.catch_up();
            house.wait(Millis::from_secs(secs));
        }
        for row in house.all().sessions {
            prop_assert_eq!(row.superseded, None);
            let id = SessionId::new(&row.session_id);
            prop_assert_eq!(row.work_chain_id, watchbill_core::ids::ChainId::derive(&id).to_string());
            prop_assert_eq!(house.engine.chains().of(&id).map(|chain| chain.sessions.len()), Some(1));
        }
    }
}
