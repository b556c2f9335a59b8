//! The child processes of agents. The engine looks at them only if no other witness tells whether a call runs or asks.
//!
//! A look is due when a call has had no result for the approval time, and again after twice as long each time. The
//! engine waits for the end of a found child as for that of a client. No other timer is used.

use std::collections::BTreeMap;
use std::sync::Arc;

use watchbill_core::evidence::witness::{CHILD_LASTS, ChildWitness};
use watchbill_core::ids::SessionId;
use watchbill_core::time::{Millis, Timestamp};
use watchbill_watch::process::Processes;

/// The looks so far, by session.
#[derive(Debug, Default)]
pub struct Children {
    looked: BTreeMap<SessionId, ChildLook>,
}

/// The subject of a look: the newest open call, and its client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChildQuestion {
    /// The agent's process.
    pub agent: u32,
    /// `tool_use_id` of the newest open call.
    pub call: Arc<str>,
    /// The time of the call.
    pub since: Timestamp,
}

#[derive(Debug)]
struct ChildLook {
    question: ChildQuestion,
    child: Option<ChildWitness>,
    next: Timestamp,
}

/// The actions to take after a look.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ChildChange {
    /// Watch the end of this process.
    pub watch: Option<u32>,
    /// Stop watching this process.
    pub forget: Option<u32>,
    /// Look again at this time.
    pub next: Option<Timestamp>,
}

impl Children {
    /// Looks if a look is due: `approval` after the call at the earliest. Without a question, forgets the session.
    pub fn look(
        &mut self,
        session: &SessionId,
        question: Option<ChildQuestion>,
        approval: Millis,
        now: Timestamp,
        processes: &dyn Processes,
    ) -> ChildChange {
        let Some(question) = question else {
            let before = self.looked.remove(session);
            return ChildChange {
                forget: before.and_then(|looked| looked.child_pid()),
                ..ChildChange::default()
            };
        };
        let known = self.looked.get(session).filter(|looked| looked.question == question);
        let before = self.looked.get(session).and_then(ChildLook::child_pid);
        let first = question.since + approval;
        let due = known.map_or(first, |looked| looked.next);
        // A found child may have ended, so check it whenever the session has news.
        let gone = known.and_then(|looked| looked.child).is_some();
        let mut next = due;
        let mut child = known.and_then(|looked| looked.child);
        if now >= due || gone {
            child = newest(&question, now, processes);
            if now >= due {
                // The next look comes twice as long after the call as this one.
                next = now + Millis(now.since(question.since).0.max(approval.0));
            }
        }
        let after = child.map(|child| child.pid);
        let waits = child.is_none().then_some(next);
        self.looked.insert(session.clone(), ChildLook { question, child, next });
        ChildChange {
            watch: after.filter(|pid| before != Some(*pid)),
            forget: before.filter(|pid| after != Some(*pid)),
            next: waits,
        }
    }

    /// The newest child of the session's client, if a call may have started it, at its last sighting.
    pub fn of(&self, session: &SessionId) -> Option<ChildWitness> {
        self.looked.get(session)?.child
    }

    /// The sessions that wait for the end of this child.
    pub fn concerned(&self, pid: Option<u32>) -> Vec<SessionId> {
        let of_child = self.looked.iter().filter(|(_, looked)| match (pid, looked.child_pid()) {
            (None, child) => child.is_some(),
            (pid, child) => pid == child,
        });
        of_child.map(|(session, _)| session.clone()).collect()
    }
}

impl ChildLook {
    fn child_pid(&self) -> Option<u32> {
        self.child.map(|child| child.pid)
    }
}

/// The newest child that lasts. Hooks and status lines are children too, but end at once.
fn newest(question: &ChildQuestion, now: Timestamp, processes: &dyn Processes) -> Option<ChildWitness> {
    let children = processes.children(question.agent)?;
    let child = children.into_iter().find(|child| child.age >= CHILD_LASTS)?;
    let began = now - child.age;
    (began >= question.since).then_some(ChildWitness { pid: child.pid, began })
}

#[cfg(test)]
mod tests {
    use watchbill_watch::process::{Child, FakeProcesses};

    use super::*;

    const APPROVAL: Millis = Millis::from_secs(5);

    fn at(secs: i64) -> Timestamp {
        Timestamp::from_millis(1_795_000_000_000 + secs * 1000)
    }

    fn question() -> Option<ChildQuestion> {
        Some(ChildQuestion { agent: 7, call: "t1".into(), since: at(0) })
    }

    #[test]
    fn a_look_is_taken_at_the_approval_time_and_ever_more_rarely() {
        let (mut children, processes) = (Children::default(), FakeProcesses::new());
        processes.set_children(7, Vec::new());
        let a = SessionId::new("a");
        let mut next = Vec::new();
        let mut now = at(1);
        for _ in 0..4 {
            let change = children.look(&a, question(), APPROVAL, now, &processes);
            now = change.next.expect("nothing was found yet");
            next.push(now.since(at(0)).0 / 1000);
        }
        assert_eq!(next, [5, 10, 20, 40]);
        // An input between two looks asks the system nothing.
        assert_eq!(children.look(&a, question(), APPROVAL, at(30), &processes).next, Some(at(40)));
        let another = Some(ChildQuestion { call: "t2".into(), since: at(31), ..question().unwrap() });
        assert_eq!(children.look(&a, another, APPROVAL, at(32), &processes).next, Some(at(36)));
    }

    #[test]
    fn a_child_begun_after_the_call_is_a_witness_until_it_ends() {
        let (mut children, processes) = (Children::default(), FakeProcesses::new());
        let a = SessionId::new("a");
        let child = |pid: u32, age: i64| Child { pid, age: Millis(age) };
        // An older server, a hook that has just begun, and the tool.
        processes.set_children(7, vec![child(90, 40), child(80, 4_000), child(70, 60_000)]);
        let change = children.look(&a, question(), APPROVAL, at(5), &processes);
        assert_eq!(change, ChildChange { watch: Some(80), forget: None, next: None });
        assert_eq!(children.of(&a), Some(ChildWitness { pid: 80, began: at(1) }));
        assert_eq!(children.concerned(Some(80)), std::slice::from_ref(&a));
        processes.set_children(7, vec![child(70, 63_000)]);
        let change = children.look(&a, question(), APPROVAL, at(8), &processes);
        assert_eq!((change.forget, children.of(&a)), (Some(80), None));
        assert_eq!(children.look(&a, None, APPROVAL, at(9), &processes), ChildChange::default());
    }

    #[test]
    fn a_system_that_lists_no_children_gives_no_witness() {
        let (mut children, processes) = (Children::default(), FakeProcesses::new());
        let a = SessionId::new("a");
        children.look(&a, question(), APPROVAL, at(5), &processes);
        assert_eq!(children.of(&a), None);
    }
}
