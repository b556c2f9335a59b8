//! Properties that hold for any facts, however wrong.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::collection::{btree_map, vec};
use proptest::option::of;
use proptest::prelude::*;
use watchbill_core::chain::{
    BeganBy, Chains, HookMove, Lineage, LinkReason, ManualLink, Marker, MoveCause, RegistryMove,
    SessionGroups, Switch,
};
use watchbill_core::ids::{Instance, SessionId};
use watchbill_core::time::Timestamp;

use crate::facts::*;

/// A small number of names, so that facts collide; some names have no file.
const NAMES: usize = 9;

fn name(n: usize) -> String {
    format!("s{n}")
}

fn ids(names: Vec<usize>) -> Vec<SessionId> {
    names.into_iter().map(|n| id(&name(n))).collect()
}

/// Any lineage, with any contradiction.
fn any_lineage() -> impl Strategy<Value = Lineage> {
    let spans = vec((0i64..400, 0i64..60), 0..3);
    let origins = (vec(0..NAMES, 0..3), any::<bool>(), of(0..NAMES), vec(0..NAMES, 0..2));
    let shape = (of(prop_oneof![Just(BeganBy::Clear), Just(BeganBy::Fork)]), 0..NAMES, vec(1i64..300, 0..3));
    let named = (of((0..NAMES, of(0i64..400))), of(0..NAMES));
    (0..NAMES - 2, spans, origins, shape, of(0i64..400), 0..2usize, named).prop_map(
        |(
            n,
            spans,
            (process, own, forked, foreign),
            (began_by, first, boundaries),
            own_start,
            cwd,
            named,
        )| {
            let spans: Vec<_> = spans.into_iter().map(|(a, len)| (a, a + len)).collect();
            let mut lineage = session(&name(n), &spans).compacted(&boundaries);
            lineage.0.process_sessions = ids(process);
            lineage.0.own_process_session = own;
            lineage.0.forked_from = forked.map(|n| id(&name(n)));
            lineage.0.foreign_sessions = ids(foreign);
            lineage.0.began_by = began_by;
            lineage.0.own_started_at = own_start.map(at);
            // Mostly its own first record, sometimes another's.
            lineage.0.first_record =
                Some(record(&format!("first record of {}", if first < 3 { first } else { n + 100 })));
            lineage.0.cwds = vec![Arc::from(["/repo", "/other"][cwd])];
            lineage.0.continued_in = named.0.map(|(to, since)| (id(&name(to)), since.map(at)));
            lineage.0.plan_of = named.1.map(|n| id(&name(n)));
            lineage.0
        },
    )
}

/// Terminals by number, with the times since when.
fn any_terminals() -> impl Strategy<Value = BTreeMap<i64, usize>> {
    btree_map(0i64..400, 0..3usize, 1..3)
}

fn in_terminals(seen: BTreeMap<i64, usize>) -> Vec<(Timestamp, Arc<str>)> {
    seen.into_iter().map(|(since, n)| (at(since), Arc::from(["1", "2", "3"][n]))).collect()
}

/// Sessions whose only ties are markers.
fn any_marked_world() -> impl Strategy<Value = World> {
    any_world().prop_map(|mut world| {
        let mut met = BTreeSet::new();
        world.lineages.retain(|lineage| met.insert(lineage.session.clone()));
        for lineage in &mut world.lineages {
            let plain = Lineage::unknown(lineage.session.clone());
            lineage.first_record = None;
            lineage.boundaries.clear();
            lineage.spans.sort_unstable();
            *lineage = Lineage {
                own_started_at: lineage.own_started_at,
                spans: lineage.spans.clone(),
                segments: lineage.segments.clone(),
                cwds: lineage.cwds.clone(),
                ..plain
            };
        }
        World {
            lineages: world.lineages,
            markers: world.markers,
            terminals: world.terminals,
            live: world.live,
            held: world.held,
            ..World::default()
        }
    })
}

pub fn any_world() -> impl Strategy<Value = World> {
    let moves = vec((0..NAMES, 0..NAMES, 0i64..400, any::<bool>()), 0..5);
    let moves = (moves, vec((0..NAMES, 0..NAMES, 0i64..400, 0..4usize), 0..5));
    let markers = vec((0..NAMES, 0i64..400, 0..2usize), 0..5);
    let switches = vec((0..NAMES, 0..NAMES, 0i64..400, any::<bool>()), 0..3);
    let manual = vec((0..NAMES, 0..NAMES, 0i64..400, any::<bool>()), 0..3);
    let live = (btree_map(0..NAMES, of(0i64..400), 0..3), vec((0..NAMES, any_terminals()), 0..4));
    (vec(any_lineage(), 0..10), moves, (markers, switches), manual, live).prop_map(
        |(lineages, (moves, hooks), (markers, switches), manual, (live, terminals))| World {
            lineages,
            moves: moves
                .into_iter()
                .map(|(from, to, secs, parked)| RegistryMove {
                    instance: Instance { pid: 7, proc_start: None },
                    from: id(&name(from)),
                    to: id(&name(to)),
                    at: at(secs),
                    parked,
                })
                .collect(),
            hook_moves: hooks
                .into_iter()
                .map(|(from, to, secs, cause)| HookMove {
                    instance: Instance { pid: 7, proc_start: None },
                    from: id(&name(from)),
                    to: id(&name(to)),
                    at: at(secs),
                    cause: [MoveCause::Clear, MoveCause::Compact, MoveCause::Fork, MoveCause::Resume][cause],
                })
                .collect(),
            switches: switches
                .into_iter()
                .map(|(from, to, secs, fork)| {
                    (id(&name(to)), Switch { from: id(&name(from)), at: at(secs), fork })
                })
                .collect(),
            markers: markers
                .into_iter()
                .map(|(n, secs, cwd)| Marker {
                    session: id(&name(n)),
                    cwd: Arc::from(["/repo", "/other"][cwd]),
                    compacted_at: at(secs),
                })
                .collect(),
            manual: manual
                .into_iter()
                .map(|(from, to, secs, join)| match join {
                    true => ManualLink::Join { at: at(secs), from: id(&name(from)), to: id(&name(to)) },
                    false => ManualLink::Split { at: at(secs), session: id(&name(from)) },
                })
                .collect(),
            held: live.iter().map(|(n, since)| (id(&name(*n)), since.map(at))).collect(),
            neighbours: BTreeMap::new(),
            live: live.into_keys().map(|n| id(&name(n))).collect(),
            names: BTreeMap::new(),
            terminals: terminals.into_iter().map(|(n, seen)| (id(&name(n)), in_terminals(seen))).collect(),
        },
    )
}

/// Two worlds with the same facts in different orders.
fn shuffled_worlds() -> impl Strategy<Value = (World, World)> {
    any_world().prop_flat_map(|world| {
        let shuffled = (
            Just(world.lineages.clone()).prop_shuffle(),
            Just(world.moves.clone()).prop_shuffle(),
            Just(world.hook_moves.clone()).prop_shuffle(),
            Just(world.markers.clone()).prop_shuffle(),
            Just(world.manual.clone()).prop_shuffle(),
        );
        let rest = world.clone();
        let other = shuffled.prop_map(move |(lineages, moves, hook_moves, markers, manual)| World {
            lineages,
            moves,
            hook_moves,
            markers,
            manual,
            ..rest.clone()
        });
        (Just(world), other)
    })
}

/// Transcripts in the order in which they become known: for each session first a part of its facts, then all of them,
/// some at a time.
fn as_they_come() -> impl Strategy<Value = (World, Vec<(Lineage, bool)>)> {
    any_world().prop_flat_map(|mut world| {
        let mut met = BTreeSet::new();
        world.lineages.retain(|lineage| met.insert(lineage.session.clone()));
        let begun = |lineage: &Lineage| Lineage {
            process_sessions: lineage.process_sessions.iter().take(1).cloned().collect(),
            foreign_sessions: Vec::new(),
            forked_from: None,
            boundaries: Vec::new(),
            ..lineage.clone()
        };
        let begun: Vec<Lineage> = world.lineages.iter().map(begun).collect();
        let pauses = vec(any::<bool>(), begun.len() * 2);
        let order = (Just(begun).prop_shuffle(), Just(world.lineages.clone()).prop_shuffle());
        world.lineages.clear();
        let steps = (order, pauses).prop_map(|((begun, whole), pauses)| {
            begun.into_iter().chain(whole).zip(pauses).collect::<Vec<_>>()
        });
        (Just(world), steps)
    })
}

/// Links between different sessions, each once.
fn links(chains: &Chains) -> BTreeSet<(SessionId, SessionId)> {
    let all = chains.iter().flat_map(|c| &c.links).filter(|l| l.from != l.to);
    all.map(|l| (l.from.clone(), l.to.clone())).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn the_order_of_the_facts_does_not_matter((world, other) in shuffled_worlds()) {
        prop_assert_eq!(world.chains(), other.chains());
    }

    #[test]
    fn resolve_for_gives_the_same_chains_as_resolve(world in any_world(), wanted in vec(any::<bool>(), NAMES)) {
        let is_wanted = |session: &SessionId| (0..NAMES).any(|n| wanted[n] && *session == id(&name(n)));
        let (all, some) = (world.chains(), world.chains_for(&is_wanted));
        let expected: Vec<_> =
            all.iter().filter(|chain| chain.sessions.iter().any(is_wanted)).collect();
        prop_assert_eq!(some.iter().collect::<Vec<_>>(), expected);
        for session in all.iter().flat_map(|chain| &chain.sessions) {
            let of = all.of(session).filter(|chain| chain.sessions.iter().any(is_wanted));
            prop_assert_eq!(some.of(session), of);
        }
    }

    #[test]
    fn renewing_chains_step_by_step_equals_resolving_at_once((mut world, steps) in as_they_come()) {
        let (mut chains, mut ties, mut changed) = (world.chains(), SessionGroups::default(), Vec::new());
        for (lineage, pause) in steps {
            changed.push(lineage.session.clone());
            world.lineages.retain(|known| known.session != lineage.session);
            world.lineages.push(lineage);
            if pause {
                chains = world.renewed(chains, &mut ties, &std::mem::take(&mut changed));
                let whole = world.chains();
                prop_assert_eq!(&chains, &whole);
                for chain in &whole {
                    for session in &chain.sessions {
                        prop_assert_eq!(chains.of(session), Some(chain));
                    }
                }
            }
        }
    }

    #[test]
    fn every_session_is_in_exactly_one_chain(world in any_world()) {
        let chains = world.chains();
        let expected: BTreeSet<SessionId> =
            world.lineages.iter().map(|l| l.session.clone()).chain(world.live.iter().cloned()).collect();
        let listed: Vec<SessionId> = chains.iter().flat_map(|c| c.sessions.clone()).collect();
        prop_assert_eq!(listed.len(), expected.len());
        prop_assert_eq!(listed.into_iter().collect::<BTreeSet<_>>(), expected);
        let names: BTreeSet<_> = chains.iter().map(|c| &c.id).collect();
        prop_assert_eq!(names.len(), chains.len(), "no two chains of one name");
    }

    #[test]
    fn a_chain_is_sound(world in any_world()) {
        let chains = world.chains();
        for chain in &chains {
            let sessions: BTreeSet<_> = chain.sessions.iter().collect();
            prop_assert!(sessions.contains(&chain.head));
            prop_assert!(!chain.superseded.contains_key(&chain.head), "a chain always has a head");
            for (over, supersession) in &chain.superseded {
                prop_assert!(sessions.contains(over) && sessions.contains(&supersession.by));
                prop_assert!(!world.live.contains(over), "no session with a process is hidden");
            }
            prop_assert_eq!(chain.segment_count as usize, chain.segments.len());
            prop_assert!(chain.segments.iter().all(|(s, _)| sessions.contains(s)));
            let place = |s: &SessionId| chain.sessions.iter().position(|known| known == s);
            for link in chain.links.iter().filter(|l| l.from != l.to) {
                prop_assert!(sessions.contains(&link.from) || sessions.contains(&link.to));
                if let (Some(from), Some(to)) = (place(&link.from), place(&link.to)) {
                    prop_assert!(from < to, "a session stands after the one it comes from");
                }
            }
        }
    }

    #[test]
    fn links_form_no_cycle(world in any_world()) {
        let chains = world.chains();
        let origin: BTreeMap<_, _> = links(&chains).into_iter().map(|(from, to)| (to, from)).collect();
        prop_assert_eq!(origin.len(), links(&chains).len(), "a session comes from one session");
        for start in origin.keys() {
            let steps = std::iter::successors(Some(start), |at| origin.get(*at)).take(NAMES + 1).count();
            prop_assert!(steps <= NAMES, "a walk to the origin ends");
        }
    }

    #[test]
    fn following_successors_ends_at_a_head(world in any_world()) {
        let chains = world.chains();
        for session in chains.iter().flat_map(|c| &c.sessions) {
            let walk = std::iter::successors(Some(session), |at| chains.superseded(at).map(|s| &s.by));
            prop_assert!(walk.take(NAMES + 1).count() <= NAMES);
        }
    }

    #[test]
    fn a_marker_supersedes_only_what_began_before(world in any_world()) {
        let chains = world.chains();
        let start = |session: &SessionId| {
            world.lineages.iter().filter(|l| l.session == *session).filter_map(Lineage::start).min()
        };
        for link in chains.iter().flat_map(|chain| &chain.links).filter(|link| link.from != link.to) {
            if matches!(link.reason, LinkReason::Marker | LinkReason::CwdRecency) {
                let markers = world.markers.iter().filter(|marker| marker.session == link.to);
                let began = start(&link.from);
                prop_assert!(markers.into_iter().any(|m| began.is_some_and(|began| began < m.compacted_at)));
            }
        }
    }

    #[test]
    fn a_session_that_goes_on_keeps_its_marker_links(
        mut world in any_marked_world(),
        who in 0..NAMES,
        resumed in any::<bool>(),
        terminal in of(0..3usize),
    ) {
        let before = world.chains();
        let (who, later) = (id(&name(who)), at(1000));
        for lineage in world.lineages.iter_mut().filter(|l| l.session == who && !l.spans.is_empty()) {
            lineage.spans.push((later, later));
        }
        if resumed && !world.held.contains_key(&who) {
            world.live.insert(who.clone());
            world.held.insert(who.clone(), Some(later));
        }
        if let Some(seen) = world.terminals.get_mut(&who).filter(|_| terminal.is_some()) {
            seen.push((later, Arc::from(["1", "2", "3"][terminal.unwrap_or_default()])));
        }
        let after = world.chains();
        prop_assert_eq!(links(&after), links(&before));
        let goes_on = world.lineages.iter().any(|l| l.session == who && !l.spans.is_empty());
        prop_assert!(!goes_on || after.superseded(&who).is_none(), "it is a head again");
        for chain in &before {
            prop_assert_eq!(after.of(&chain.sessions[0]).map(|chain| &chain.id), Some(&chain.id));
        }
    }

    #[test]
    fn a_marker_link_outlives_the_programs_that_saw_it(world in any_marked_world(), ended in 0..NAMES) {
        let before = world.chains();
        let mut later = world.restarted();
        prop_assert_eq!(links(&later.chains()), links(&before));
        later = later.live(&name(ended));
        later.held.insert(id(&name(ended)), Some(at(1000)));
        prop_assert_eq!(links(&later.restarted().chains()), links(&before));
    }

    #[test]
    fn siblings_stay_apart_without_evidence(lineage in vec(any_lineage(), 0..10), live in any::<bool>()) {
        let mut world = World { lineages: lineage, ..World::default() };
        for (n, lineage) in world.lineages.iter_mut().enumerate() {
            let own = session(&format!("sibling {n}"), &[]).0;
            *lineage = Lineage {
                session: own.session,
                first_record: own.first_record,
                boundaries: Vec::new(),
                process_sessions: Vec::new(),
                forked_from: None,
                foreign_sessions: Vec::new(),
                continued_in: None,
                plan_of: None,
                custom_title: Some(Arc::from("the same title")),
                cwds: own.cwds,
                ..lineage.clone()
            };
        }
        if live {
            world.live = world.lineages.iter().map(|l| l.session.clone()).collect();
        }
        let chains = world.chains();
        prop_assert_eq!(chains.len(), world.lineages.len());
        prop_assert!(chains.iter().all(|c| c.superseded.is_empty()));
    }

    #[test]
    fn unrelated_sessions_change_no_chain(world in any_world(), spans in vec((0i64..400, 0i64..60), 1..3)) {
        let spans: Vec<_> = spans.into_iter().map(|(a, len)| (a, a + len)).collect();
        let stranger = session("a stranger", &spans).own().cwds(&["/elsewhere"]);
        let with = world.clone().and(stranger).chains();
        let without = world.chains();
        for chain in &without {
            prop_assert_eq!(with.iter().find(|other| other.id == chain.id), Some(chain));
        }
        prop_assert_eq!(with.len(), without.len() + 1);
    }

    #[test]
    fn a_forks_chain_keeps_its_id_when_the_origin_appears(
        origin in (0i64..100, 1i64..300),
        fork in (100i64..300, 1i64..60),
        named in 0..3usize,
        known_start in any::<bool>(),
    ) {
        let lineage = session("f", &[(fork.0, fork.0 + fork.1)]).copies("o", origin.0);
        let lineage = if known_start { lineage } else { lineage.own_start_unknown() };
        let lineage = match named {
            0 => lineage.forked_from("o"),
            1 => lineage.process(&["o"]).own(),
            _ => lineage.fork(),
        };
        let world = World::of([lineage]);
        let before = world.chains().chain("f").id.clone();
        let chains = world.and(session("o", &[(origin.0, origin.0 + origin.1)]).own()).chains();
        prop_assert_eq!(&chains.chain("f").id, &before);
        prop_assert_eq!(&before, &chain_id("f"));
        prop_assert_eq!(chains.over_by("o"), None);
        prop_assert!(links(&chains).contains(&(id("o"), id("f"))));
    }
}
