//! Laws that hold for every driver and every order of lines.

use std::sync::LazyLock;

use proptest::prelude::*;
use watchbill_agents::driver::LogLine;
use watchbill_protocol::own::event::OwnWhat;
use watchbill_protocol::own::spec::OwnAgent;

use crate::fuzzed::body::check_once;
use crate::talk::{Line, at, driver, fold, talks};

const TALKS: [(OwnAgent, &str); 7] = [
    (OwnAgent::Claude, "stream-life"),
    (OwnAgent::Claude, "stream-queue-interrupt"),
    (OwnAgent::Claude, "stream-permissions"),
    (OwnAgent::Claude, "stream-parallel-elicit"),
    (OwnAgent::Claude, "errors"),
    (OwnAgent::Codex, "codex-app-server"),
    (OwnAgent::Gemini, "gemini-acp"),
];

static LINES: LazyLock<Vec<(OwnAgent, Vec<Line>)>> = LazyLock::new(|| {
    let lines = |name| talks(name).into_iter().flat_map(|talk| talk.lines).collect();
    TALKS.iter().map(|(agent, name)| (*agent, lines(name))).collect()
});

/// Lines of a talk in another order, some of them several times, some cut.
fn disordered() -> impl Strategy<Value = (OwnAgent, Vec<Line>)> {
    (0..LINES.len()).prop_flat_map(|talk| {
        let (agent, lines) = &LINES[talk];
        let one = (0..lines.len(), prop_oneof![9 => Just(None), 1 => (0_usize..400).prop_map(Some)]);
        prop::collection::vec(one, 0..60).prop_map(move |picked| {
            let pick = |(at, cut): (usize, Option<usize>)| {
                let mut line: Line = lines[at].clone();
                if let Some(end) = cut.and_then(|cut| line.text.char_indices().nth(cut)) {
                    line.text.truncate(end.0);
                }
                line
            };
            (*agent, picked.into_iter().map(pick).collect())
        })
    })
}

proptest! {
    #[test]
    fn any_order_of_lines_is_folded_the_same_way_twice((agent, lines) in disordered()) {
        let events = fold(&mut *driver(agent), &lines);
        check_once(&events);
        prop_assert_eq!(events, fold(&mut *driver(agent), &lines));
    }

    #[test]
    fn a_line_that_is_no_json_gives_one_error_and_changes_nothing(
        (agent, lines) in disordered(),
        broken in "[^{ \t\r\n][^\r\n]{0,80}",
        place in any::<prop::sample::Index>(),
    ) {
        let mut disturbed = driver(agent);
        let mut events = Vec::new();
        let place = place.index(lines.len() + 1);
        for (number, line) in lines.iter().enumerate() {
            if number == place {
                let told = disturbed.fold(at(number), LogLine::Out(&broken));
                prop_assert!(matches!(&told[..], [OwnWhat::Error { cause, .. }] if cause == "protocol"), "{:?}", told);
            }
            events.extend(disturbed.fold(at(number), line.log()));
        }
        prop_assert_eq!(events, fold(&mut *driver(agent), &lines));
    }
}

#[test]
fn recorded_talks_keep_the_laws() {
    for (agent, name) in TALKS {
        for talk in talks(name) {
            check_once(&fold(&mut *driver(agent), &talk.lines));
        }
    }
}
