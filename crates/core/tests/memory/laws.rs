//! Laws of choosing: the same bytes for the same memories, never over a budget, nothing rejected, nothing of others.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use watchbill_core::memory::choose::Around;
use watchbill_core::memory::evidence::standings;
use watchbill_core::memory::{
    AcceptRule, Budget, Edit, EditKind, Evidence, Importance, Memory, MemoryKind, Place, Standing, choose,
    gather, render,
};
use watchbill_core::time::Timestamp;

const DAY: i64 = 86_400_000;
const NOW: Timestamp = Timestamp::from_millis(1_000 * DAY);

fn evidence() -> impl Strategy<Value = Evidence> {
    let text = prop_oneof![
        "[a-z]{3,8}( [a-z]{3,8}){2,9}",
        ".{1,300}",
        Just("never use the fixture of the old parser here".to_owned()),
        Just("never use the fixture of the new parser here".to_owned()),
    ];
    let path = prop_oneof![Just(None), "[a-c]\\.rs".prop_map(Some)];
    let kind = prop::sample::select(MemoryKind::ALL.to_vec());
    (0..12u64, 0..6u8, text, path, kind, 900..1_000i64, 1..5u64, any::<bool>(), any::<bool>()).prop_map(
        |(memory, session, text, path, kind, day, times, suspect, high)| Evidence {
            memory,
            session: format!("s{session}").into(),
            batch: "b".into(),
            byte: None,
            at: Timestamp::from_millis(day * DAY),
            times,
            kind,
            text,
            path,
            symptom: None,
            importance: if high { Importance::High } else { Importance::Medium },
            suspect,
        },
    )
}

/// At most one row for each memory and session, of one kind and file for each memory.
fn several() -> impl Strategy<Value = Vec<Evidence>> {
    prop::collection::vec(evidence(), 0..30).prop_map(|all| {
        let mut known: BTreeMap<(u64, String), Evidence> = BTreeMap::new();
        let mut first: BTreeMap<u64, (MemoryKind, Option<String>)> = BTreeMap::new();
        for mut one in all {
            let (kind, path) = first.entry(one.memory).or_insert((one.kind, one.path.clone())).clone();
            (one.kind, one.path) = (kind, path);
            known.insert((one.memory, one.session.to_string()), one);
        }
        known.into_values().collect()
    })
}

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let kinds =
        [EditKind::Accepted, EditKind::Rejected, EditKind::Edited, EditKind::Forgotten, EditKind::Added];
    let edit =
        (0..14u64, prop::sample::select(kinds.to_vec()), "[a-z ]{4,40}").prop_map(|(memory, what, text)| {
            Edit {
                memory,
                what,
                at: NOW,
                text: matches!(what, EditKind::Edited | EditKind::Added).then_some(text),
                path: None,
                mark: None,
            }
        });
    prop::collection::btree_map(0..14u64, edit, 0..6)
        .prop_map(|edits| edits.into_iter().map(|(memory, edit)| Edit { memory, ..edit }).collect())
}

fn around<'a>(frequency: &'a BTreeMap<String, u64>, documents: &'a [String]) -> Around<'a> {
    Around { frequency, memories: 12, documents, accept: AcceptRule::Rules, now: NOW }
}

fn budget() -> Budget {
    Budget { session: 12_000, soft: 6_000, ..Budget::default() }
}

const PLACES: [Place<'_>; 4] = [
    Place::Start,
    Place::Compacted,
    Place::Prompt("never use the fixture of the parser"),
    Place::File("a.rs"),
];

/// Found by a law: the memory was there twice, and the replaced one was told.
#[test]
fn a_memory_that_is_added_and_has_evidence_is_one_memory() {
    let shown = Evidence {
        memory: 7,
        session: "s0".into(),
        batch: "b".into(),
        byte: None,
        at: NOW,
        times: 1,
        kind: MemoryKind::Note,
        text: "times are in UTC".into(),
        path: None,
        symptom: None,
        importance: Importance::Medium,
        suspect: false,
    };
    let text = Some("times are in UTC".to_owned());
    let added = Edit { memory: 7, what: EditKind::Added, at: NOW, text, path: None, mark: None };
    let memories = gather(&[shown], &[added]);
    assert_eq!(memories.len(), 1);
    assert_eq!((memories[0].sessions, memories[0].decision), (1, Some(EditKind::Added)));
}

proptest! {
    #[test]
    fn the_order_of_the_rows_changes_no_byte(all in several(), edits in edits(), turn in 0..30usize) {
        let mut turned = all.clone();
        if !turned.is_empty() {
            let by = turn % turned.len();
            turned.rotate_left(by);
        }
        let (a, b) = (gather(&all, &edits), gather(&turned, &edits));
        prop_assert_eq!(&a, &b);
        prop_assert!(a.is_sorted_by(|one, next| one.id < next.id), "each id once");
        let none = BTreeMap::new();
        let budget = Budget { lost: (0..14).collect(), ..budget() };
        for place in PLACES {
            let text = |memories: &[Memory]| render(&choose(place, memories, &budget, around(&none, &[])));
            let reversed: Vec<Memory> = a.iter().rev().cloned().collect();
            prop_assert_eq!(text(&a), text(&b));
            prop_assert_eq!(text(&a), text(&reversed));
        }
    }

    #[test]
    fn a_budget_is_never_passed(all in several(), spent in 0..13_000usize) {
        let memories = gather(&all, &[]);
        let none = BTreeMap::new();
        let budget = Budget { spent, lost: (0..14).collect(), ..budget() };
        for place in PLACES {
            let chosen = choose(place, &memories, &budget, around(&none, &[]));
            let len = render(&chosen).chars().count();
            prop_assert!(len <= place.characters() && (len == 0 || spent + len <= budget.session), "{} {}", len, spent);
            for line in render(&chosen).lines().filter(|line| line.starts_with("- ")) {
                prop_assert!(!line[2..].contains(['<', '>']) && line.chars().count() < 400);
            }
            prop_assert_eq!(render(&chosen).lines().count(), if len == 0 { 0 } else { chosen.len() + 2 });
        }
    }

    #[test]
    fn only_what_is_active_is_told_and_each_once(all in several(), edits in edits(), told in prop::collection::btree_set(0..14u64, 0..6)) {
        let memories = gather(&all, &edits);
        let standing: BTreeMap<u64, Standing> =
            memories.iter().map(|m| m.id).zip(standings(&memories, AcceptRule::Rules, NOW)).collect();
        let none = BTreeMap::new();
        let budget = Budget { told: told.clone(), lost: (0..14).collect(), ..budget() };
        for place in PLACES {
            for chosen in choose(place, &memories, &budget, around(&none, &[])) {
                prop_assert_eq!(standing[&chosen.memory], Standing::Active);
                prop_assert!(!told.contains(&chosen.memory));
                let edit = edits.iter().find(|edit| edit.memory == chosen.memory).map(|edit| edit.what);
                prop_assert!(!matches!(edit, Some(EditKind::Rejected | EditKind::Forgotten)));
            }
        }
    }

    #[test]
    fn an_unrelated_memory_changes_nothing_of_a_files_answer(all in several(), more in evidence()) {
        let none = BTreeMap::new();
        let text = |all: &[Evidence]| {
            render(&choose(Place::File("a.rs"), &gather(all, &[]), &budget(), around(&none, &[])))
        };
        let mut grown = all.clone();
        grown.push(Evidence { memory: 99, path: Some("z.rs".to_owned()), ..more });
        prop_assert_eq!(text(&all), text(&grown));
    }

    #[test]
    fn of_what_the_user_rejected_no_later_evidence_is_told(all in several(), id in 0..12u64) {
        let rejected = Edit { memory: id, what: EditKind::Rejected, at: NOW, text: None, path: None, mark: None };
        let memories = gather(&all, &[rejected]);
        let none = BTreeMap::new();
        for place in PLACES {
            let told: BTreeSet<u64> =
                choose(place, &memories, &budget(), around(&none, &[])).iter().map(|c| c.memory).collect();
            prop_assert!(!told.contains(&id));
        }
    }
}

#[test]
fn what_the_agents_documents_say_is_not_said_again() {
    let one = Evidence {
        memory: 1,
        session: "s".into(),
        batch: "b".into(),
        byte: None,
        at: NOW,
        times: 1,
        kind: MemoryKind::Correction,
        text: "dates are always stored as UTC milliseconds".to_owned(),
        path: None,
        symptom: None,
        importance: Importance::High,
        suspect: false,
    };
    let (memories, none) = (gather(&[one], &[]), BTreeMap::new());
    let told = |document: &str| {
        choose(Place::Start, &memories, &budget(), around(&none, &[document.to_owned()])).len()
    };
    assert_eq!(told("# Rules\n\nUse tabs.\n"), 1);
    assert_eq!(told("# Rules\n\nAll dates are stored as UTC milliseconds.\n\nUse tabs."), 0);
}

#[test]
fn a_newer_text_of_the_same_file_and_kind_replaces_an_alike_one() {
    let one = |memory, day: i64, text: &str| Evidence {
        memory,
        session: format!("s{memory}").into(),
        batch: "b".into(),
        byte: None,
        at: Timestamp::from_millis(day * DAY),
        times: 1,
        kind: MemoryKind::Correction,
        text: text.to_owned(),
        path: Some("a.rs".to_owned()),
        symptom: None,
        importance: Importance::High,
        suspect: false,
    };
    let all = [
        one(1, 998, "no, always use the postgres fixture in these tests"),
        one(2, 999, "no, never use the postgres fixture in these tests"),
        one(3, 997, "no, the timeout is in seconds"),
    ];
    let memories = gather(&all, &[]);
    assert_eq!(
        standings(&memories, AcceptRule::Rules, NOW),
        [Standing::Superseded(2), Standing::Active, Standing::Active]
    );
    assert_eq!(standings(&memories, AcceptRule::Person, NOW), [Standing::Proposed; 3]);
    let of_others =
        Evidence { kind: MemoryKind::Note, suspect: true, ..one(4, 999, "the proxy holds port 8080") };
    for accept in [AcceptRule::Person, AcceptRule::Rules] {
        let note = gather(std::slice::from_ref(&of_others), &[]);
        assert_eq!(
            standings(&note, accept, NOW),
            [Standing::Proposed],
            "text of others is no note of the user"
        );
    }
}
