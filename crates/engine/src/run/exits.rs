//! Reports the ends of processes: one thread that sleeps in the kernel.
//!
//! On Linux, a process descriptor becomes readable when its process ends. So nothing polls, and an idle machine sleeps
//! on. On other systems and old kernels, the thread asks the loop to look every two seconds. The same sleep ends when
//! the machine resumes from a suspend or its clock is set (`clock_jump`).

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use watchbill_watch::process::ExitFd;

use crate::run::clock_jump::ClockJumps;

/// An event that the thread noticed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Noticed {
    /// This process may have ended.
    Ended(u32),
    /// The wall clock has jumped: the machine slept, or its clock was set.
    ClockJumped,
}

/// The processes to watch for their ends.
pub struct Exits {
    shared: Arc<Shared>,
}

struct Shared {
    watched: Mutex<Watched>,
    bell: Bell,
    #[cfg_attr(not(unix), allow(dead_code, reason = "the thread compares clocks there"))]
    jumps: ClockJumps,
}

#[derive(Default)]
struct Watched {
    by_pid: BTreeMap<u32, Option<Arc<ExitFd>>>,
    over: bool,
}

impl Exits {
    /// Starts the thread. It calls `tell` with each event; `tell` returns `false` to end the thread.
    pub fn start(tell: impl Fn(Noticed) -> bool + Send + 'static) -> Self {
        let shared =
            Arc::new(Shared { watched: Mutex::default(), bell: Bell::new(), jumps: ClockJumps::new() });
        let seen = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("watchbill-exits".into())
            .spawn(move || while seen.wait().into_iter().all(&tell) && !seen.lock().over {});
        if let Err(error) = thread {
            tracing::error!(%error, "the system gives no thread; ended processes are noticed late");
        }
        Self { shared }
    }

    /// Reports the end of this process. Without a descriptor, the thread looks every two seconds.
    pub fn watch(&self, pid: u32, descriptor: Option<ExitFd>) {
        self.shared.lock().by_pid.insert(pid, descriptor.map(Arc::new));
        self.shared.bell.ring();
    }

    /// Stops watching this process.
    pub fn forget(&self, pid: u32) {
        if self.shared.lock().by_pid.remove(&pid).is_some() {
            self.shared.bell.ring();
        }
    }
}

impl Drop for Exits {
    fn drop(&mut self) {
        self.shared.lock().over = true;
        self.shared.bell.ring();
    }
}

impl Shared {
    fn lock(&self) -> std::sync::MutexGuard<'_, Watched> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How often the thread looks where no descriptor tells.
const CHECK_TIMEOUT: Duration = Duration::from_secs(2);

/// Whether a wait of [`CHECK_TIMEOUT`] that began then took far longer by the wall clock, or ended before it began.
#[cfg(not(target_os = "linux"))]
fn has_jumped(began: std::time::SystemTime) -> bool {
    began.elapsed().map_or(true, |took| took > 5 * CHECK_TIMEOUT)
}

/// Outside Linux it asks only whether the id is in use: each further question starts a program on macOS. On Linux a process that
/// has ended may still have its id, and the further question costs little.
fn may_have_ended(pid: &u32) -> bool {
    cfg!(target_os = "linux") || watchbill_platform::process::exists(*pid) != Some(true)
}

#[cfg(unix)]
use unix::Bell;

#[cfg(unix)]
mod unix {
    use std::os::fd::{AsFd, OwnedFd};
    use std::sync::Arc;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    use watchbill_watch::process::ExitFd;

    use super::{CHECK_TIMEOUT, Noticed, Shared, may_have_ended};

    /// Wakes the thread from its sleep in `poll`.
    pub struct Bell(Option<(OwnedFd, OwnedFd)>);

    impl Bell {
        pub fn new() -> Self {
            // Without a pipe, the thread looks every two seconds.
            Self(pipe().ok())
        }

        pub fn ring(&self) {
            if let Some((_, write)) = &self.0 {
                // If the pipe is full, the thread is about to wake anyway.
                let _ = rustix::io::write(write, &[1]);
            }
        }

        fn quiet(&self) {
            if let Some((read, _)) = &self.0 {
                let mut rings = [0; 64];
                while rustix::io::read(read, &mut rings).is_ok_and(|n| n == rings.len()) {}
            }
        }
    }

    /// A non-blocking pipe that no child program inherits.
    fn pipe() -> std::io::Result<(OwnedFd, OwnedFd)> {
        let (read, write) = std::io::pipe()?;
        let (read, write) = (OwnedFd::from(read), OwnedFd::from(write));
        for end in [&read, &write] {
            rustix::io::ioctl_fionbio(end, true)?;
        }
        Ok((read, write))
    }

    impl Shared {
        /// Sleeps until a process ends or must be looked at, or the clock jumps. Gives the events.
        pub(super) fn wait(&self) -> Vec<Noticed> {
            let watched: Vec<(u32, Option<Arc<ExitFd>>)> =
                self.lock().by_pid.iter().map(|(pid, descriptor)| (*pid, descriptor.clone())).collect();
            let looks = self.bell.0.is_none() || watched.iter().any(|(_, descriptor)| descriptor.is_none());
            let timeout =
                looks.then(|| Timespec { tv_sec: CHECK_TIMEOUT.as_secs().cast_signed(), tv_nsec: 0 });
            let by_descriptor: Vec<(u32, &ExitFd)> =
                watched.iter().filter_map(|(pid, descriptor)| Some((*pid, descriptor.as_deref()?))).collect();
            let mut polled: Vec<PollFd<'_>> = by_descriptor
                .iter()
                .map(|(_, fd)| PollFd::from_borrowed_fd(fd.as_fd(), PollFlags::IN))
                .collect();
            let jumps = self.jumps.descriptor();
            polled.extend(jumps.map(|timer| PollFd::new(timer, PollFlags::IN)));
            polled.extend(self.bell.0.as_ref().map(|(read, _)| PollFd::new(read, PollFlags::IN)));
            #[cfg(not(target_os = "linux"))]
            let began = std::time::SystemTime::now();
            let woken = poll(&mut polled, timeout.as_ref());
            self.bell.quiet();
            if let Err(error) = woken
                && error != rustix::io::Errno::INTR
            {
                // For example, there are more descriptors than the limit allows. A retry at once would loop for ever,
                // so ask for a look at every process each two seconds until `poll` works again.
                tracing::debug!(%error, "processes are checked every two seconds for their end");
                std::thread::sleep(CHECK_TIMEOUT);
                return watched.into_iter().map(|(pid, _)| Noticed::Ended(pid)).collect();
            }
            let has_event = |polled: &PollFd<'_>| !polled.revents().is_empty();
            #[cfg(not(target_os = "linux"))]
            let jumped = woken == Ok(0) && super::has_jumped(began);
            #[cfg(target_os = "linux")]
            let jumped = jumps.is_some() && polled.get(by_descriptor.len()).is_some_and(has_event);
            let mut ended: Vec<u32> = by_descriptor
                .iter()
                .zip(&polled)
                .filter(|(_, polled)| has_event(polled))
                .map(|((pid, _), _)| *pid)
                .collect();
            self.forget_ended(&watched, &ended);
            if woken == Ok(0) {
                let unheard = watched.iter().filter(|(_, descriptor)| descriptor.is_none());
                ended.extend(unheard.map(|(pid, _)| *pid).filter(may_have_ended));
            }
            if jumped {
                self.jumps.take();
            }
            let ended = ended.into_iter().map(Noticed::Ended);
            ended.chain(jumped.then_some(Noticed::ClockJumped)).collect()
        }

        fn forget_ended(&self, watched: &[(u32, Option<Arc<ExitFd>>)], ended: &[u32]) {
            let mut lock = self.lock();
            for (pid, descriptor) in watched.iter().filter(|(pid, _)| ended.contains(pid)) {
                // The id may already belong to another process with its own descriptor.
                let same = lock.by_pid.get(pid).is_some_and(|now| match (now, descriptor) {
                    (Some(now), Some(then)) => Arc::ptr_eq(now, then),
                    _ => false,
                });
                if same {
                    lock.by_pid.remove(pid);
                }
            }
        }
    }
}

#[cfg(not(unix))]
use elsewhere::Bell;

#[cfg(not(unix))]
mod elsewhere {
    use std::time::SystemTime;

    use super::{CHECK_TIMEOUT, Noticed, Shared, has_jumped, may_have_ended};

    /// No pipe: the thread looks every two seconds. Untested on such a system.
    pub struct Bell;

    impl Bell {
        pub fn new() -> Self {
            Self
        }

        pub fn ring(&self) {}
    }

    impl Shared {
        pub(super) fn wait(&self) -> Vec<Noticed> {
            let before = SystemTime::now();
            std::thread::sleep(CHECK_TIMEOUT);
            let watched: Vec<u32> = self.lock().by_pid.keys().copied().collect();
            let ended = watched.into_iter().filter(may_have_ended).map(Noticed::Ended);
            ended.chain(has_jumped(before).then_some(Noticed::ClockJumped)).collect()
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::sync::mpsc;
    use watchbill_watch::process::{Processes, SystemProcesses};

    use super::*;

    #[test]
    fn the_end_of_a_process_is_reported_without_polling() {
        let (sender, receiver) = mpsc::channel();
        let exits = Exits::start(move |noticed| sender.send(noticed).is_ok());
        let mut child = std::process::Command::new("sleep").arg("600").spawn().unwrap();
        let descriptor = SystemProcesses::new().exit_fd(child.id());
        assert!(descriptor.is_some(), "this kernel gives descriptors of processes");
        exits.watch(child.id(), descriptor);
        child.kill().unwrap();
        // Nothing has reaped the child yet: a zombie has ended too.
        assert_eq!(receiver.recv_timeout(Duration::from_secs(60)), Ok(Noticed::Ended(child.id())));
        child.wait().unwrap();
    }

    #[test]
    fn a_process_without_a_descriptor_is_looked_at_now_and_then() {
        let (sender, receiver) = mpsc::channel();
        let exits = Exits::start(move |noticed| sender.send(noticed).is_ok());
        exits.watch(u32::MAX, None);
        for _ in ["once", "and again"] {
            assert_eq!(receiver.recv_timeout(Duration::from_secs(60)), Ok(Noticed::Ended(u32::MAX)));
        }
    }

    #[test]
    fn no_event_is_reported_while_processes_run() {
        let (sender, receiver) = mpsc::channel();
        let exits = Exits::start(move |noticed| sender.send(noticed).is_ok());
        let mut child = std::process::Command::new("sleep").arg("600").spawn().unwrap();
        exits.watch(child.id(), SystemProcesses::new().exit_fd(child.id()));
        assert!(
            receiver.recv_timeout(Duration::from_millis(500)).is_err(),
            "no clock has jumped, no process has ended"
        );
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
