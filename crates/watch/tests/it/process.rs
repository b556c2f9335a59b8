//! Real processes: running, ended, not yet reaped, and an id that belongs to another process.
#![cfg(target_os = "linux")]

use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use watchbill_core::evidence::registry::Liveness;
use watchbill_core::ids::Instance;
use watchbill_platform::process;
use watchbill_watch::process::{FakeProcesses, Parent, pid_domain};
use watchbill_watch::{Processes, SystemProcesses};

fn probe(instance: &Instance, pid_domain: Option<&str>) -> Liveness {
    SystemProcesses::new().probe(instance, pid_domain)
}

fn instance(pid: u32) -> Instance {
    Instance { pid, proc_start: process::look(pid).map(|found| found.start.into()) }
}

/// A sleeping process, which ends with the test.
struct Sleeper(Child);

impl Sleeper {
    fn start() -> Self {
        let mut command = Command::new("sleep");
        command.arg("600").stdin(Stdio::null()).stdout(Stdio::null());
        Self(command.spawn().expect("started"))
    }

    fn instance(&self) -> Instance {
        instance(self.0.id())
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        // Both calls fail if the test has ended the process itself.
        self.0.kill().unwrap_or_default();
        self.0.wait().ok();
    }
}

#[test]
fn a_process_is_dead_once_it_ends_even_if_it_is_not_reaped() {
    let mut sleeper = Sleeper::start();
    let instance = sleeper.instance();
    assert!(instance.proc_start.is_some());
    let processes = SystemProcesses::new();
    let exit = processes.exit_fd(instance.pid).expect("this kernel has pidfds");
    assert_eq!(processes.probe(&instance, None), Liveness::Alive);

    sleeper.0.kill().expect("ended");
    let mut fds = [PollFd::new(&exit, PollFlags::IN)];
    let deadline = Timespec::try_from(Duration::from_secs(60)).expect("representable");
    assert_eq!(poll(&mut fds, Some(&deadline)).expect("waited"), 1, "the end of a process can be waited for");
    assert_eq!(processes.probe(&instance, None), Liveness::Dead, "a zombie is dead");

    sleeper.0.wait().expect("buried");
    assert_eq!(processes.probe(&instance, None), Liveness::Dead);
}

#[test]
fn a_reused_process_id_is_a_dead_process() {
    let sleeper = Sleeper::start();
    let mut instance = sleeper.instance();
    instance.proc_start = Some("1".into());
    assert_eq!(probe(&instance, None), Liveness::Dead);
    instance.proc_start = None;
    assert_eq!(probe(&instance, None), Liveness::Unknown, "an unknown process has this id");
}

#[test]
fn ids_of_another_domain_are_unknown() {
    let sleeper = Sleeper::start();
    let instance = sleeper.instance();
    let own = pid_domain().expect("linux");
    assert_eq!(probe(&instance, Some(&own)), Liveness::Alive);
    let gone = Instance { pid: 4_000_000, proc_start: Some("1".into()) };
    assert_eq!(probe(&gone, Some(&own)), Liveness::Dead);
    for foreign in ["linux:ffffffffffffffffffffffffffffffff:pid:[4026531836]", "linux:x:pid:[1]", "wsl", ""] {
        assert_eq!(probe(&instance, Some(foreign)), Liveness::Unknown, "{foreign}");
        assert_eq!(probe(&gone, Some(foreign)), Liveness::Unknown, "{foreign}");
    }
}

#[test]
fn impossible_ids_are_dead() {
    for pid in [0, u32::MAX, i32::MAX as u32] {
        assert_eq!(probe(&Instance { pid, proc_start: Some("1".into()) }, None), Liveness::Dead, "{pid}");
    }
    assert!(SystemProcesses::new().exit_fd(u32::MAX).is_none());
}

#[test]
fn fake_processes_give_the_answers_that_were_set() {
    let fakes = FakeProcesses::new();
    let instance = Instance { pid: 7, proc_start: Some("1".into()) };
    assert_eq!(fakes.probe(&instance, None), Liveness::Unknown);
    fakes.set(instance.clone(), Liveness::Alive);
    assert_eq!(fakes.clone().probe(&instance, None), Liveness::Alive);
}

#[test]
fn edge_44_a_process_that_lost_its_parent_runs_on_and_children_are_known_with_their_age() {
    // A shell that starts one child and waits. The children of this test process also belong to other tests.
    let mut command = Command::new("sh");
    command.args(["-c", "sleep 600 & echo started; wait"]).stdin(Stdio::null()).stdout(Stdio::piped());
    let mut shell = Sleeper(command.spawn().expect("started"));
    let mut word = [0; 7];
    std::io::Read::read_exact(shell.0.stdout.as_mut().expect("piped"), &mut word).expect("told");

    let processes = SystemProcesses::new();
    let children = processes.children(shell.0.id()).expect("linux tells");
    let [child] = children.as_slice() else { panic!("one child: {children:?}") };
    assert!(child.age.0 >= 0 && child.age.0 < 60_000, "{child:?}");
    assert_eq!(processes.parent(child.pid), Parent::Runs(shell.0.id()));
    assert_eq!(processes.parent(shell.0.id()), Parent::Runs(std::process::id()));
    assert_eq!(processes.children(child.pid), Some(Vec::new()));

    let orphan = child.pid;
    shell.0.kill().expect("ended");
    shell.0.wait().expect("buried");
    // A process above may have asked to adopt orphans. It is then the parent.
    assert_ne!(processes.parent(orphan), Parent::Runs(shell.0.id()));
    assert_eq!(probe(&instance(orphan), None), Liveness::Alive, "what lost its parent runs on");
    let pid = rustix::process::Pid::from_raw(orphan.cast_signed()).expect("an id");
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("ended");
    assert_eq!(processes.parent(4_000_000), Parent::Unknown);
}
