//! Chains that are resolved group by group as facts arrive equal those that are resolved from all facts at once.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use watchbill_core::chain::lineage::SPAN_LIMIT;
use watchbill_core::ids::SessionId;
use watchbill_core::time::Millis;
use watchbill_engine::engine::Engine;
use watchbill_watch::fs::Fs;
use watchbill_watch::hints::Hint;

use crate::distant::shows_what_a_look_at_everything_shows;
use crate::house::{House, registry_file, transcript};
use crate::records::{SessionWriter, marker, registry, session};

/// The sessions of a history; the first four work in one folder.
const SESSIONS: usize = 6;

#[derive(Debug, Clone)]
enum Op {
    /// Writes a line; the engine has not read it yet.
    Write {
        n: usize,
    },
    /// The user names the session.
    Title {
        n: usize,
    },
    /// A new session in the process of another one, with `/clear` or without a record of it.
    Begin {
        from: usize,
        to: usize,
        clear: bool,
    },
    /// An old client copies a session's transcript to resume it.
    Copy {
        from: usize,
        to: usize,
    },
    Mark {
        n: usize,
    },
    Run {
        n: usize,
    },
    Kill {
        n: usize,
    },
    Wait {
        secs: i64,
    },
    /// Reads one transcript; the others are read later.
    Read {
        n: usize,
    },
    ReadAll,
}

fn op() -> impl Strategy<Value = Op> {
    let n = 0..SESSIONS;
    prop_oneof![
        12 => n.clone().prop_map(|n| Op::Write { n }),
        2 => n.clone().prop_map(|n| Op::Title { n }),
        4 => (n.clone(), n.clone(), any::<bool>()).prop_map(|(from, to, clear)| Op::Begin { from, to, clear }),
        2 => (n.clone(), n.clone()).prop_map(|(from, to)| Op::Copy { from, to }),
        2 => n.clone().prop_map(|n| Op::Mark { n }),
        2 => n.clone().prop_map(|n| Op::Run { n }),
        2 => n.clone().prop_map(|n| Op::Kill { n }),
        6 => (0i64..90).prop_map(|secs| Op::Wait { secs }),
        1 => Just(Op::Wait { secs: 900 }),
        // A session that has been idle this long is not in the default roster.
        1 => Just(Op::Wait { secs: 90_000 }),
        10 => n.prop_map(|n| Op::Read { n }),
        2 => Just(Op::ReadAll),
    ]
}

struct History {
    house: House,
    /// For each session the one in which its process began.
    process: BTreeMap<usize, usize>,
    marked: BTreeSet<usize>,
    ran: BTreeSet<usize>,
}

fn author(n: usize) -> SessionWriter {
    SessionWriter::new(&session(n), if n < 4 { "/repo" } else { "/elsewhere" })
}

fn file(n: usize) -> std::path::PathBuf {
    transcript("p", &session(n))
}

impl History {
    fn new() -> Self {
        let house = House::new();
        house.stage.fs.pause();
        Self { house, process: BTreeMap::new(), marked: BTreeSet::new(), ran: BTreeSet::new() }
    }

    fn is_there(&self, n: usize) -> bool {
        self.house.stage.fs.stat(&file(n)).is_ok()
    }

    /// Appends a line as written by the session's process.
    fn write(&mut self, n: usize, line: &str) {
        let process = session(self.process.get(&n).copied().unwrap_or(n));
        let line = format!(r#"{},"session_id":"{process}"}}"#, line.trim_end().strip_suffix('}').unwrap());
        self.house.stage.fs.append(file(n), (line + "\n").as_bytes());
    }

    fn act(&mut self, op: &Op) {
        let (number, now) = (self.house.number(), self.house.now);
        match *op {
            Op::Write { n } => self.write(n, &author(n).answer(number, now)),
            Op::Title { n } => {
                let line = format!(
                    r#"{{"type":"custom-title","customTitle":"title {number}","sessionId":"{}"}}"#,
                    session(n)
                );
                self.house.stage.fs.append(file(n), (line + "\n").as_bytes());
            }
            Op::Begin { from, to, clear } => {
                // The transcript of the process's first session may be gone.
                if from == to || self.is_there(to) {
                    return;
                }
                let process = self.process.get(&from).copied().unwrap_or(from);
                self.process.insert(to, process);
                let mut line = author(to).prompt(number, now);
                if clear {
                    line = line.replace(&format!("prompt {number}"), "<command-name>/clear</command-name>");
                }
                self.write(to, &line);
            }
            Op::Copy { from, to } => {
                if from != to && !self.is_there(to) && self.is_there(from) {
                    let history = self.house.stage.fs.bytes(file(from)).unwrap_or_default();
                    let history = String::from_utf8_lossy(&history).replace(r#","session_id""#, r#","_""#);
                    let own = author(to).prompt(number, now);
                    self.house.stage.fs.append(file(to), (history + &own).as_bytes());
                }
            }
            Op::Mark { n } => {
                if self.marked.insert(n) {
                    let (id, cwd) = (session(n), author(n).cwd);
                    let path = format!("{cwd}/.claude/compacted.{id}.marker");
                    self.house.stage.fs.write(&path, marker(&id, &cwd, now).as_bytes());
                    self.house.hint(BTreeSet::from([Hint::File(path.into())]));
                    if !self.is_there(n) {
                        self.act(&Op::Write { n });
                    }
                }
            }
            Op::Run { n } => {
                if self.ran.insert(n) {
                    let pid = 200 + n as u32;
                    self.house.run(pid, "1");
                    let text = registry(pid, "1", &author(n), "busy", now, now);
                    self.house.stage.fs.write(registry_file(pid), text.as_bytes());
                    self.house.hint(BTreeSet::from([Hint::File(registry_file(pid))]));
                }
            }
            Op::Kill { n } => {
                if self.ran.contains(&n) {
                    self.house.kill(200 + n as u32, "1");
                }
            }
            Op::Wait { secs } => self.house.wait(Millis::from_secs(secs)),
            Op::Read { n } => self.house.hint(BTreeSet::from([Hint::File(file(n))])),
            Op::ReadAll => self.read_all(),
        }
    }

    fn read_all(&mut self) {
        self.house.stage.fs.drop_pending();
        self.house.look_again();
        // A registry file alone becomes a row when it is old enough.
        self.house.wait(Millis::from_secs(2));
    }
}

/// The chains, and the chain columns of the rows.
fn chain_view(engine: &Engine) -> Vec<String> {
    let told = (0..SESSIONS).map(|n| {
        let id = SessionId::new(&session(n));
        let row = engine.row(&id).map(|row| (row.work_chain_id, row.work_chain_name, row.superseded));
        let chain = engine.chains().of(&id).map(|_| engine.chain(id.as_str()));
        format!("{n}: {row:?} {chain:?}")
    });
    told.collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 160, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn chains_resolved_fact_by_fact_equal_chains_resolved_at_once(ops in prop::collection::vec(op(), 1..60)) {
        let mut history = History::new();
        for op in ops.iter().chain([&Op::ReadAll]) {
            history.act(op);
            if matches!(op, Op::ReadAll) {
                prop_assert_eq!(chain_view(&history.house.engine), chain_view(&history.house.cold()));
                shows_what_a_look_at_everything_shows(&history.house)?;
            }
        }
    }
}

/// The history after these operations.
fn after(ops: &[Op]) -> History {
    let mut history = History::new();
    ops.iter().for_each(|op| history.act(op));
    history
}

fn superseded(history: &History, n: usize) -> Option<SessionId> {
    let by = history.house.engine.chains().superseded(&SessionId::new(&session(n)))?;
    Some(by.by.clone())
}

#[test]
fn activity_read_late_corrects_the_session_that_a_process_came_from() {
    // The process began with session 5, whose transcript is gone. Session 1 was the last active one in it before 2
    // began.
    let mut ops = vec![
        Op::Begin { from: 5, to: 1, clear: false },
        Op::Read { n: 1 },
        Op::Wait { secs: 70 },
        Op::Begin { from: 5, to: 0, clear: false },
        Op::Read { n: 0 },
        Op::Wait { secs: 70 },
        Op::Write { n: 1 },
        Op::Wait { secs: 10 },
        Op::Begin { from: 5, to: 2, clear: true },
        Op::Read { n: 2 },
    ];
    let third = Some(SessionId::new(&session(2)));
    let history = after(&ops);
    assert_eq!((superseded(&history, 0), superseded(&history, 1)), (third.clone(), None));
    ops.push(Op::Read { n: 1 });
    let history = after(&ops);
    assert_eq!((superseded(&history, 0), superseded(&history, 1)), (None, third));
    assert_eq!(chain_view(&history.house.engine), chain_view(&history.house.cold()));
}

#[test]
fn activity_read_late_corrects_the_session_that_a_compaction_ended() {
    let mut ops = vec![
        Op::Write { n: 0 },
        Op::Read { n: 0 },
        Op::Wait { secs: 10 },
        Op::Write { n: 1 },
        Op::Read { n: 1 },
        Op::Wait { secs: 10 },
        Op::Write { n: 0 },
        Op::Wait { secs: 10 },
        Op::Mark { n: 3 },
        Op::Read { n: 3 },
    ];
    let new = Some(SessionId::new(&session(3)));
    let history = after(&ops);
    assert_eq!((superseded(&history, 0), superseded(&history, 1)), (None, new.clone()));
    ops.push(Op::Read { n: 0 });
    let history = after(&ops);
    assert_eq!((superseded(&history, 0), superseded(&history, 1)), (new, None));
    assert_eq!(chain_view(&history.house.engine), chain_view(&history.house.cold()));
}

#[test]
fn the_head_of_a_chain_is_the_session_that_was_active_last() {
    let history = after(&[
        Op::Write { n: 0 },
        Op::Run { n: 0 },
        Op::Begin { from: 0, to: 1, clear: false },
        Op::ReadAll,
        Op::Write { n: 0 },
        Op::Read { n: 0 },
    ]);
    assert_eq!(history.house.engine.chain(&session(1)).unwrap().head, session(0));
    assert_eq!(chain_view(&history.house.engine), chain_view(&history.house.cold()));
}

#[test]
fn an_answer_at_the_time_of_a_beginning_ties_sessions_as_a_cold_start_does() {
    let history = after(&[
        Op::Begin { from: 3, to: 2, clear: true },
        Op::Begin { from: 3, to: 5, clear: true },
        Op::Read { n: 5 },
        Op::Write { n: 5 },
        Op::Read { n: 2 },
        Op::Read { n: 5 },
    ]);
    assert_eq!(chain_view(&history.house.engine), chain_view(&history.house.cold()));
}

#[test]
fn a_chain_has_the_title_of_the_session_that_was_active_last_also_when_its_head_stays() {
    // A compaction into 1, which has no further records, ended 2, which was active last. The work continues in 4.
    let history = after(&[
        Op::Begin { from: 4, to: 2, clear: false },
        Op::Write { n: 4 },
        Op::Wait { secs: 3 },
        Op::Title { n: 1 },
        Op::Mark { n: 1 },
        Op::Write { n: 4 },
        Op::Title { n: 4 },
        Op::Title { n: 2 },
        Op::Write { n: 2 },
        Op::ReadAll,
        Op::Wait { secs: 1 },
        Op::Write { n: 4 },
        Op::Read { n: 4 },
    ]);
    assert_eq!(history.house.engine.chain(&session(2)).unwrap().head, session(4));
    assert_eq!(chain_view(&history.house.engine), chain_view(&history.house.cold()));
}

#[test]
fn chains_follow_when_the_oldest_of_very_many_spans_are_merged() {
    let mut ops = vec![
        Op::Begin { from: 5, to: 1, clear: false },
        Op::Read { n: 1 },
        Op::Wait { secs: 70 },
        Op::Begin { from: 5, to: 0, clear: false },
        Op::Read { n: 0 },
        Op::Wait { secs: 130 },
        Op::Begin { from: 5, to: 2, clear: true },
        Op::Read { n: 2 },
    ];
    for _ in 0..SPAN_LIMIT {
        ops.extend([Op::Wait { secs: 100 }, Op::Write { n: 1 }, Op::Read { n: 1 }]);
    }
    let history = after(&ops);
    assert_eq!(chain_view(&history.house.engine), chain_view(&history.house.cold()));
}
