//! What the agents' processes have started, looked at only where nobody else tells whether a call runs or asks.
//!
//! A look is due when a call has been without a result for the approval time, and again after twice as long each
//! time; a child that was found is waited for as a process is. Nothing is asked by the clock beyond that.

use std::collections::BTreeMap;
use std::sync::Arc;

use watchbill_core::evidence::witness::{CHILD_LASTS, ChildWitness};
use watchbill_core::ids::SessionId;
use watchbill_core::time::{Millis, Timestamp};
use watchbill_watch::process::Processes;

/// The looks that were taken, by session.
#[derive(Debug, Default)]
pub struct Children {
    looked: BTreeMap<SessionId, Looked>,
}

/// What a look is about: the newest call that nobody has answered, and whose it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// The agent's process.
    pub agent: u32,
    /// `tool_use_id` of the newest open call.
    pub call: Arc<str>,
    /// When it was made.
    pub since: Timestamp,
}

#[derive(Debug)]
struct Looked {
    question: Question,
    child: Option<ChildWitness>,
    next: Timestamp,
}

/// What has to be done after a look.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ChildChange {
    /// Tell when this process ends.
    pub watch: Option<u32>,
    /// This process needs no watching any more.
    pub forget: Option<u32>,
    /// Look again at this time.
    pub next: Option<Timestamp>,
}

impl Children {
    /// Looks if it is time to: `approval` after the call at the earliest. Without a question everything about the
    /// session is forgotten.
    pub fn look(
        &mut self,
        session: &SessionId,
        question: Option<Question>,
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
        let before = self.looked.get(session).and_then(Looked::child_pid);
        let first = question.since + approval;
        let due = known.map_or(first, |looked| looked.next);
        // A child that was found may have ended: that is looked at whenever something is new.
        let gone = known.and_then(|looked| looked.child).is_some();
        let mut next = due;
        let mut child = known.and_then(|looked| looked.child);
        if now >= due || gone {
            child = newest(&question, now, processes);
            if now >= due {
                // Twice as long after the call as this look came.
                next = now + Millis(now.since(question.since).0.max(approval.0));
            }
        }
        let after = child.map(|child| child.pid);
        let waits = child.is_none().then_some(next);
        self.looked.insert(session.clone(), Looked { question, child, next });
        ChildChange {
            watch: after.filter(|pid| before != Some(*pid)),
            forget: before.filter(|pid| after != Some(*pid)),
            next: waits,
        }
    }

    /// The newest child of the session's agent that a call may have started, as it was last seen.
    pub fn of(&self, session: &SessionId) -> Option<ChildWitness> {
        self.looked.get(session)?.child
    }

    /// The sessions for which a child is waited for.
    pub fn concerned(&self, pid: Option<u32>) -> Vec<SessionId> {
        let of_child = self.looked.iter().filter(|(_, looked)| match (pid, looked.child_pid()) {
            (None, child) => child.is_some(),
            (pid, child) => pid == child,
        });
        of_child.map(|(session, _)| session.clone()).collect()
    }
}

impl Looked {
    fn child_pid(&self) -> Option<u32> {
        self.child.map(|child| child.pid)
    }
}

/// The newest child that lasts: hooks and status lines are children as well, and are gone at once.
fn newest(question: &Question, now: Timestamp, processes: &dyn Processes) -> Option<ChildWitness> {
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

    fn question() -> Option<Question> {
        Some(Question { agent: 7, call: "t1".into(), since: at(0) })
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
        // What comes in between asks nobody.
        assert_eq!(children.look(&a, question(), APPROVAL, at(30), &processes).next, Some(at(40)));
        let another = Some(Question { call: "t2".into(), since: at(31), ..question().unwrap() });
        assert_eq!(children.look(&a, another, APPROVAL, at(32), &processes).next, Some(at(36)));
    }

    #[test]
    fn a_child_begun_after_the_call_is_a_witness_until_it_ends() {
        let (mut children, processes) = (Children::default(), FakeProcesses::new());
        let a = SessionId::new("a");
        let child = |pid: u32, age: i64| Child { pid, age: Millis(age) };
        // A server from before, a hook that has just begun, and the tool.
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
    fn where_the_system_does_not_tell_nothing_is_said() {
        let (mut children, processes) = (Children::default(), FakeProcesses::new());
        let a = SessionId::new("a");
        children.look(&a, question(), APPROVAL, at(5), &processes);
        assert_eq!(children.of(&a), None);
    }
}
