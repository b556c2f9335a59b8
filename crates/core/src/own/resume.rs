//! Decides whether a session may be resumed. The agents themselves do not prevent two agents on one session.

use crate::evidence::registry::Liveness;
use crate::evidence::witness::InstanceWitness;

/// The process that has a session now.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Holder {
    /// A host of ours runs it.
    #[error("the session runs already as a session of your own: send it a prompt, or attach to it")]
    Own,
    /// Its agent runs it in the background.
    #[error(
        "its agent runs the session in the background: attach to it with the command that `watchbill focus` prints, or go on in a \
         copy with --fork"
    )]
    Background,
    /// A process runs it.
    #[error(
        "process {0} has the session open: answer there, wait until it ends, or go on in a copy with --fork; two agents on one \
         session lose each other's turns"
    )]
    Process(u32),
    /// A process may run it, and the system does not tell from here.
    #[error(
        "process {0} may have the session open, and cannot be seen from here, in a container say: end it there, or go on in a copy \
         with --fork"
    )]
    OutOfSight(u32),
}

/// Whether a session may be resumed now, by the processes that its registry files name and by its own host.
///
/// `hosted`: a host of ours runs the session. A fork goes on in a copy, so it needs no guard.
///
/// # Errors
/// The process that has the session. Two agents would write into one transcript, and each turn of one of them would be
/// lost for the other (client 2.1.329).
pub fn may_resume(instances: &[InstanceWitness], hosted: bool) -> Result<(), Holder> {
    if hosted {
        return Err(Holder::Own);
    }
    let holder = |liveness: Liveness| {
        instances.iter().filter(|one| one.liveness == liveness).map(|one| one.entry.instance.pid).max()
    };
    let is_background = |one: &InstanceWitness| one.entry.job.is_some() && one.liveness == Liveness::Alive;
    // A process that cannot be seen may run. A registry file of a dead one says nothing.
    match (holder(Liveness::Alive), holder(Liveness::Unknown)) {
        _ if instances.iter().any(is_background) => Err(Holder::Background),
        (Some(pid), _) => Err(Holder::Process(pid)),
        (None, Some(pid)) => Err(Holder::OutOfSight(pid)),
        (None, None) => Ok(()),
    }
}
