//! Notices jumps of the wall clock. It does not poll, so an idle machine sleeps on.
//!
//! The clock that measures sleeps stops while the machine is suspended. For example, the machine is suspended for a
//! night while a deadline is ten minutes away. Then the deadline fires ten minutes after the machine resumes, and
//! sessions look busy until then. On Linux, the loop's exit thread waits for a timer of the wall clock. The kernel
//! cancels this timer when the clock is set or the machine resumes (`TFD_TIMER_CANCEL_ON_SET`, timerfd_create(2)). The
//! timer itself never fires. Other systems report no jumps:
//! the exit thread compares clocks there, while it waits for the end of a process.

#[cfg(target_os = "linux")]
pub use linux::ClockJumps;

#[cfg(not(target_os = "linux"))]
pub use elsewhere::ClockJumps;

#[cfg(target_os = "linux")]
mod linux {
    use std::os::fd::OwnedFd;

    use rustix::time::{
        Itimerspec, TimerfdClockId, TimerfdFlags, TimerfdTimerFlags, Timespec, timerfd_create,
        timerfd_settime,
    };

    /// A timer that never fires; the kernel only cancels it. `None` if the system has no such timer.
    pub struct ClockJumps(Option<OwnedFd>);

    /// A time in the year 2096, so the timer never fires.
    const NEVER: i64 = 4_000_000_000;

    impl ClockJumps {
        /// Arms the timer.
        pub fn new() -> Self {
            let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
            let timer = timerfd_create(TimerfdClockId::Realtime, flags).ok();
            Self(timer.filter(|timer| arm(timer).is_ok()))
        }

        /// Becomes readable when the clock has jumped.
        pub fn descriptor(&self) -> Option<&OwnedFd> {
            self.0.as_ref()
        }

        /// Clears a jump, and arms the timer for the next one.
        pub fn take(&self) {
            if let Some(timer) = &self.0 {
                let mut count = [0; 8];
                // The read fails if the clock was set. Success and failure both clear the event.
                let _ = rustix::io::read(timer, &mut count);
                // If this fails, it will always fail. Then the loop notices no later jumps.
                let _ = arm(timer);
            }
        }
    }

    fn arm(timer: &OwnedFd) -> rustix::io::Result<()> {
        let never = Itimerspec {
            it_interval: Timespec { tv_sec: 0, tv_nsec: 0 },
            it_value: Timespec { tv_sec: NEVER, tv_nsec: 0 },
        };
        let flags = TimerfdTimerFlags::ABSTIME | TimerfdTimerFlags::CANCEL_ON_SET;
        timerfd_settime(timer, flags, &never).map(drop)
    }
}

#[cfg(not(target_os = "linux"))]
mod elsewhere {
    /// This system reports no jumps.
    pub struct ClockJumps;

    impl ClockJumps {
        pub fn new() -> Self {
            Self
        }

        #[cfg(unix)]
        pub fn descriptor(&self) -> Option<&std::os::fd::OwnedFd> {
            None
        }

        #[cfg(unix)]
        pub fn take(&self) {}
    }
}
