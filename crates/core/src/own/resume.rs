//! Whether a session may be resumed: the agents do not guard against two clients on one session.

use crate::evidence::registry::Liveness;
use crate::evidence::witness::InstanceWitness;

/// The process that has a session now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holder {
    /// Its process id.
    pub pid: u32,
    /// It is of a session of our own.
    pub own: bool,
    /// The system cannot tell from here whether it runs.
    pub out_of_sight: bool,
}

/// Whether a session may be resumed now, by the processes that its registry files name and by its own host.
///
/// `own_runs`: a host of ours runs the session, with its agent's process where that has begun. A fork goes on in a copy,
/// so it needs no guard.
///
/// # Errors
/// The process that has the session. Two clients would write into one transcript, and each turn of one of them would be
/// lost for the other (client 2.1.329).
pub fn may_resume(instances: &[InstanceWitness], own_runs: Option<Option<u32>>) -> Result<(), Holder> {
    if let Some(pid) = own_runs {
        return Err(Holder { pid: pid.unwrap_or_default(), own: true, out_of_sight: false });
    }
    let holder = |liveness: Liveness| {
        instances.iter().filter(|one| one.liveness == liveness).map(|one| one.entry.instance.pid).max()
    };
    // A process that cannot be seen, in a container say, may run. A registry file of a dead one says nothing.
    match (holder(Liveness::Alive), holder(Liveness::Unknown)) {
        (Some(pid), _) => Err(Holder { pid, own: false, out_of_sight: false }),
        (None, Some(pid)) => Err(Holder { pid, own: false, out_of_sight: true }),
        (None, None) => Ok(()),
    }
}
