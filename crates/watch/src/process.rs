//! Whether the process behind a registry file still runs.
//!
//! A killed client leaves its registry file with its last state, and the system gives its process id to another
//! process. So three things must agree: the id, the start time, and the domain in which the id is valid.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use watchbill_core::evidence::registry::Liveness;
use watchbill_core::ids::Instance;
use watchbill_core::time::Millis;
use watchbill_platform::{clock, process};

use crate::fs::FileId;

pub use crate::children::{Child, Parent};
pub use watchbill_platform::process::ExitFd;

/// Queries about processes. Tests and the demo have their own answers.
pub trait Processes: Send + Sync {
    /// Whether the process of a registry file runs. `pid_domain` is that file's `pidDomain`.
    fn probe(&self, instance: &Instance, pid_domain: Option<&str>) -> Liveness;

    /// Whether process ids of that `pidDomain` mean the same processes here.
    fn shares_ids(&self, pid_domain: &str) -> bool {
        let _ = pid_domain;
        true
    }

    /// Whether these are processes of this machine, and not invented ones.
    fn are_real(&self) -> bool {
        true
    }

    /// A handle to wait on for the end of a process. Open it first, then probe: the id may have passed to another
    /// process just before. `None` if the system has none, so that the caller must probe from time to time.
    fn exit_fd(&self, pid: u32) -> Option<ExitFd>;

    /// The running children of `pid`, newest first; `None` if the system does not tell. Do not call this
    /// periodically: some kernels need a search through the whole process table.
    fn children(&self, pid: u32) -> Option<Vec<Child>> {
        let _ = pid;
        None
    }

    /// The parent of `pid`.
    fn parent(&self, pid: u32) -> Parent {
        let _ = pid;
        Parent::Unknown
    }

    /// Who holds the lock on a file; the process `named`, if the file says so itself. Never locks or opens it.
    fn lock_holder(&self, file: FileId, named: Option<u32>) -> LockHolder {
        let _ = (file, named);
        LockHolder::Unknown
    }
}

/// Who holds the lock on a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LockHolder {
    /// The system does not tell. Only Linux does, unless a container hides all locks.
    Unknown,
    /// No process that is seen from here. A process of another machine, or of an outer container, is not.
    Free,
    /// This process.
    Process {
        /// The process.
        instance: Instance,
        /// Time since its start, as in [`Child`].
        age: Millis,
        /// Whether a terminal controls it.
        in_terminal: bool,
    },
}

/// The real processes.
#[derive(Debug, Clone)]
pub struct SystemProcesses {
    domain: PidDomain,
}

impl SystemProcesses {
    /// Finds the domain of process ids in which this program runs.
    pub fn new() -> Self {
        Self { domain: PidDomain::own() }
    }
}

impl Default for SystemProcesses {
    fn default() -> Self {
        Self::new()
    }
}

impl Processes for SystemProcesses {
    fn probe(&self, instance: &Instance, pid_domain: Option<&str>) -> Liveness {
        if pid_domain.is_some_and(|domain| !self.domain.is_the_same(domain)) {
            return Liveness::Unknown;
        }
        probe_here(instance)
    }

    fn shares_ids(&self, pid_domain: &str) -> bool {
        self.domain.is_the_same(pid_domain)
    }

    fn exit_fd(&self, pid: u32) -> Option<ExitFd> {
        process::exit_fd(pid)
    }

    fn children(&self, pid: u32) -> Option<Vec<Child>> {
        crate::children::children(pid)
    }

    fn parent(&self, pid: u32) -> Parent {
        crate::children::parent(pid)
    }

    fn lock_holder(&self, file: FileId, named: Option<u32>) -> LockHolder {
        let found = || process::lock_holder(file.dev, file.ino);
        let pid = match named.map_or_else(found, process::LockHolder::Process) {
            process::LockHolder::Unknown => return LockHolder::Unknown,
            process::LockHolder::Free => return LockHolder::Free,
            process::LockHolder::Process(pid) => pid,
        };
        let Some(found) = process::look(pid).filter(|found| !found.has_ended) else {
            return LockHolder::Free;
        };
        let age = process::age(&found, clock::since_boot()).unwrap_or_default().as_millis();
        LockHolder::Process {
            instance: Instance { pid, proc_start: Some(found.start.into()) },
            age: Millis(age.try_into().unwrap_or(i64::MAX)),
            in_terminal: found.tty.is_some(),
        }
    }
}

/// The `pidDomain` that an agent on this machine writes, for registry files that imitate the agent's.
pub fn pid_domain() -> Option<String> {
    PidDomain::own().0.into_iter().next()
}

/// The domain in which a process id is valid: one machine and one namespace on it, in all the ways in which an agent may name it.
///
/// Claude Code 2.1.329 writes `linux:<machine-id>:pid:[<namespace>]`, `darwin`, and `win32:<host name>`. The first namespace of a
/// machine has the same number everywhere, so the machine must agree too.
#[derive(Debug, Clone, PartialEq, Eq)]
struct PidDomain(Vec<String>);

impl PidDomain {
    /// Without a machine id the agent must write something else; the boot id and the host's name are guesses.
    #[cfg(target_os = "linux")]
    fn own() -> Self {
        let read = |path: &str| std::fs::read_to_string(path).ok().map(|text| text.trim().to_owned());
        let Ok(namespace) = std::fs::read_link("/proc/self/ns/pid") else { return Self(Vec::new()) };
        let boot = clock::boot().map(|id| id.to_string());
        let machine = [
            read("/etc/machine-id"),
            read("/var/lib/dbus/machine-id"),
            boot.as_deref().map(|id| id.replace('-', "")),
            boot,
            read("/proc/sys/kernel/hostname"),
        ];
        let machine = machine.into_iter().flatten().filter(|name| !name.is_empty());
        Self(machine.map(|name| format!("linux:{name}:{}", namespace.to_string_lossy())).collect())
    }

    #[cfg(target_os = "macos")]
    fn own() -> Self {
        Self(vec!["darwin".to_owned()])
    }

    /// Windows cuts this name at 15 characters: the domain of a machine with a longer name is unknown.
    #[cfg(not(any(target_os = "linux", target_os = "macos")))]
    fn own() -> Self {
        let name = std::env::var("COMPUTERNAME").ok();
        Self(name.into_iter().map(|name| format!("win32:{}", name.to_lowercase())).collect())
    }

    /// Whether a `pidDomain` names this same domain. An unknown form counts as another domain: calling a running
    /// process dead is worse than not knowing.
    fn is_the_same(&self, domain: &str) -> bool {
        self.0.iter().any(|own| own == domain)
    }
}

fn probe_here(instance: &Instance) -> Liveness {
    match (process::look(instance.pid), instance.proc_start.as_deref()) {
        // The process is gone, or hidden from this user (`hidepid`), or there is no `/proc`.
        (None, _) if process::exists(instance.pid) == Some(false) => Liveness::Dead,
        (None, _) => Liveness::Unknown,
        (Some(process), _) if process.has_ended => Liveness::Dead,
        (Some(process), Some(expected)) if expected == process.start => Liveness::Alive,
        (Some(_), Some(_)) => Liveness::Dead,
        // Old agents do not write their start time. The process with this id may be any process.
        (Some(_), None) => Liveness::Unknown,
    }
}

/// Invented processes for tests, with settable answers.
#[derive(Debug, Clone, Default)]
pub struct FakeProcesses {
    known: Arc<Mutex<HashMap<Instance, Liveness>>>,
    children: Arc<Mutex<HashMap<u32, Vec<Child>>>>,
    locks: Arc<Mutex<HashMap<FileId, LockHolder>>>,
    parents: Arc<Mutex<HashMap<u32, u32>>>,
}

impl FakeProcesses {
    /// No process is known; every answer is [`Liveness::Unknown`].
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the answer for a process from now on.
    pub fn set(&self, instance: Instance, liveness: Liveness) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(instance, liveness);
    }

    /// Sets the children of `pid`, newest first.
    pub fn set_children(&self, pid: u32, children: Vec<Child>) {
        self.children.lock().unwrap_or_else(PoisonError::into_inner).insert(pid, children);
    }

    /// Sets the parent of `pid`.
    pub fn set_parent(&self, pid: u32, parent: u32) {
        self.parents.lock().unwrap_or_else(PoisonError::into_inner).insert(pid, parent);
    }

    /// Sets who holds the lock on a file.
    pub fn set_lock(&self, file: FileId, holder: LockHolder) {
        self.locks.lock().unwrap_or_else(PoisonError::into_inner).insert(file, holder);
    }
}

impl Processes for FakeProcesses {
    fn probe(&self, instance: &Instance, _pid_domain: Option<&str>) -> Liveness {
        let known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        known.get(instance).copied().unwrap_or(Liveness::Unknown)
    }

    fn are_real(&self) -> bool {
        false
    }

    fn exit_fd(&self, _pid: u32) -> Option<ExitFd> {
        None
    }

    fn children(&self, pid: u32) -> Option<Vec<Child>> {
        self.children.lock().unwrap_or_else(PoisonError::into_inner).get(&pid).cloned()
    }

    fn parent(&self, pid: u32) -> Parent {
        let parents = self.parents.lock().unwrap_or_else(PoisonError::into_inner);
        parents.get(&pid).copied().map_or(Parent::Unknown, Parent::Runs)
    }

    fn lock_holder(&self, file: FileId, _named: Option<u32>) -> LockHolder {
        let locks = self.locks.lock().unwrap_or_else(PoisonError::into_inner);
        locks.get(&file).cloned().unwrap_or(LockHolder::Free)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_machine_and_namespace_are_the_same_domain() {
        let name = |machine| format!("linux:{machine}:pid:[4026531836]");
        let own = PidDomain(vec![name("3d1219c7"), name("workstation")]);
        assert!(own.is_the_same("linux:3d1219c7:pid:[4026531836]"));
        assert!(own.is_the_same("linux:workstation:pid:[4026531836]"));
        for other in [
            "linux:ffffffff:pid:[4026531836]",
            "linux:3d1219c7:pid:[4026532999]",
            "darwin:3d1219c7:pid:[4026531836]",
            "linux:3d1219c7",
            "",
        ] {
            assert!(!own.is_the_same(other), "{other}");
        }
    }
}
