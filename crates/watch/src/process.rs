//! Whether the process behind a registry file still runs.
//!
//! A killed agent leaves its registry file with its last words, and the system gives its process id to somebody
//! else. So three things must agree: the id, the start time, and the world in which the id means anything.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use watchbill_core::evidence::registry::Liveness;
use watchbill_core::ids::Instance;

use crate::proc_stat::parse_stat;

pub use crate::children::{Child, Parent};

/// Becomes readable when a process ends.
#[cfg(unix)]
pub type ExitFd = std::os::fd::OwnedFd;
/// Becomes readable when a process ends; there is none on this system.
#[cfg(not(unix))]
pub type ExitFd = std::convert::Infallible;

/// What we ask of the system's processes; tests and the demo answer for themselves.
pub trait Processes: Send + Sync {
    /// Whether the process of a registry file runs. `pid_domain` is that file's `pidDomain`.
    fn probe(&self, instance: &Instance, pid_domain: Option<&str>) -> Liveness;

    /// Whether process ids of that `pidDomain` mean the same processes here.
    fn shares_ids(&self, pid_domain: &str) -> bool {
        let _ = pid_domain;
        true
    }

    /// Whether these are processes of this machine, and not made up.
    fn are_real(&self) -> bool {
        true
    }

    /// Something to wait on for the end of a process. Open it, then probe: the id may have changed hands just
    /// before. `None` when there is no such thing, and probing now and then must do.
    fn exit_fd(&self, pid: u32) -> Option<ExitFd>;

    /// The children of `pid` that run, newest first; `None` when the system does not tell. Not for asking by the
    /// clock: some kernels answer only by their whole process table.
    fn children(&self, pid: u32) -> Option<Vec<Child>> {
        let _ = pid;
        None
    }

    /// Who stands behind `pid`.
    fn parent(&self, pid: u32) -> Parent {
        let _ = pid;
        Parent::Unknown
    }
}

/// The real processes.
#[derive(Debug, Clone)]
pub struct SystemProcesses {
    domain: PidDomain,
}

impl SystemProcesses {
    /// Finds out which world of process ids this program lives in.
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
        exit_fd(pid)
    }

    fn children(&self, pid: u32) -> Option<Vec<Child>> {
        crate::children::children(pid)
    }

    fn parent(&self, pid: u32) -> Parent {
        crate::children::parent(pid)
    }
}

/// Whether the process of a registry file runs; see [`SystemProcesses`], which remembers the domain.
pub fn probe(instance: &Instance, pid_domain: Option<&str>) -> Liveness {
    SystemProcesses::new().probe(instance, pid_domain)
}

/// The `pidDomain` that a client on this machine writes, for registry files that stand in for its own.
pub fn pid_domain() -> Option<String> {
    let own = PidDomain::own();
    Some(format!("linux:{}:{}", own.machine.first()?, own.namespace?))
}

/// The world in which a process id has its meaning: one machine and one namespace on it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct PidDomain {
    /// The names under which this machine may be known.
    machine: Vec<String>,
    /// `pid:[4026531836]`; the first namespace has this number on every machine, so that it proves little alone.
    namespace: Option<String>,
}

impl PidDomain {
    /// Measured with client 2.1.329 on Linux: `linux:<machine-id>:pid:[<namespace>]`. Where there is no machine id
    /// the client must write something else; the boot id and the host's name are our guesses.
    #[cfg(target_os = "linux")]
    fn own() -> Self {
        let read = |path: &str| std::fs::read_to_string(path).ok().map(|text| text.trim().to_owned());
        let boot = read("/proc/sys/kernel/random/boot_id");
        let machine = [
            read("/etc/machine-id"),
            read("/var/lib/dbus/machine-id"),
            boot.as_deref().map(|id| id.replace('-', "")),
            boot,
            read("/proc/sys/kernel/hostname"),
        ];
        let namespace = std::fs::read_link("/proc/self/ns/pid").ok();
        Self {
            machine: machine.into_iter().flatten().filter(|name| !name.is_empty()).collect(),
            namespace: namespace.map(|link| link.to_string_lossy().into_owned()),
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn own() -> Self {
        Self::default()
    }

    /// Whether a `pidDomain` names this very world. A form that we don't know names another one: calling a
    /// running process dead is worse than not knowing.
    fn is_the_same(&self, domain: &str) -> bool {
        let Some(rest) = domain.strip_prefix("linux:") else { return false };
        let Some((machine, namespace)) = rest.split_once(':') else { return false };
        self.namespace.as_deref() == Some(namespace) && self.machine.iter().any(|own| own == machine)
    }
}

/// Field 22 of `/proc/<pid>/stat`, the client's `procStart`; `None` when there is no such process.
pub fn proc_start(pid: u32) -> Option<Arc<str>> {
    let stat = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
    parse_stat(&stat).map(|(_, start)| start.into())
}

#[cfg(target_os = "linux")]
fn probe_here(instance: &Instance) -> Liveness {
    let stat = match std::fs::read(format!("/proc/{}/stat", instance.pid)) {
        Ok(stat) => stat,
        // Gone, or hidden from us (`hidepid`), or there is no /proc at all.
        Err(_) => {
            return match process_exists(instance.pid) {
                Some(false) => Liveness::Dead,
                _ => Liveness::Unknown,
            };
        }
    };
    let Some((state, start)) = parse_stat(&stat) else { return Liveness::Unknown };
    if matches!(state, b'Z' | b'X' | b'x') {
        return Liveness::Dead;
    }
    match instance.proc_start.as_deref() {
        Some(expected) if expected == start => Liveness::Alive,
        Some(_) => Liveness::Dead,
        // Old clients don't write their start: something has this id, and it may be anything.
        None => Liveness::Unknown,
    }
}

/// Untried: there is no portable start time to compare, so that an id in use proves nothing more than that.
#[cfg(all(unix, not(target_os = "linux")))]
fn probe_here(instance: &Instance) -> Liveness {
    match process_exists(instance.pid) {
        Some(true) => Liveness::Alive,
        Some(false) => Liveness::Dead,
        None => Liveness::Unknown,
    }
}

#[cfg(not(unix))]
fn probe_here(_instance: &Instance) -> Liveness {
    Liveness::Unknown
}

/// Whether any process has this id, asked with a signal that is not sent.
#[cfg(unix)]
fn process_exists(pid: u32) -> Option<bool> {
    use rustix::io::Errno;
    let Some(pid) = i32::try_from(pid).ok().and_then(rustix::process::Pid::from_raw) else {
        return Some(false);
    };
    match rustix::process::test_kill_process(pid) {
        // No right to signal it means that it is there.
        Ok(()) | Err(Errno::PERM) => Some(true),
        Err(Errno::SRCH) => Some(false),
        Err(_) => None,
    }
}

#[cfg(target_os = "linux")]
fn exit_fd(pid: u32) -> Option<ExitFd> {
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid).ok()?)?;
    rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::NONBLOCK)
        .or_else(|_| rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()))
        .ok()
}

#[cfg(not(target_os = "linux"))]
fn exit_fd(_pid: u32) -> Option<ExitFd> {
    None
}

/// Processes that live and die as told.
#[derive(Debug, Clone, Default)]
pub struct FakeProcesses {
    known: Arc<Mutex<HashMap<Instance, Liveness>>>,
    children: Arc<Mutex<HashMap<u32, Vec<Child>>>>,
    orphans: Arc<Mutex<HashSet<u32>>>,
}

impl FakeProcesses {
    /// No process is known: every answer is [`Liveness::Unknown`].
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets what is answered for a process from now on.
    pub fn set(&self, instance: Instance, liveness: Liveness) {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(instance, liveness);
    }

    /// Sets the children of `pid`, newest first.
    pub fn set_children(&self, pid: u32, children: Vec<Child>) {
        self.children.lock().unwrap_or_else(PoisonError::into_inner).insert(pid, children);
    }

    /// Whoever started `pid` is gone from now on.
    pub fn orphan(&self, pid: u32) {
        self.orphans.lock().unwrap_or_else(PoisonError::into_inner).insert(pid);
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
        let orphans = self.orphans.lock().unwrap_or_else(PoisonError::into_inner);
        if orphans.contains(&pid) { Parent::Gone } else { Parent::Unknown }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_machine_and_namespace_are_our_world() {
        let own = PidDomain {
            machine: vec!["3d1219c7".into(), "workstation".into()],
            namespace: Some("pid:[4026531836]".into()),
        };
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
