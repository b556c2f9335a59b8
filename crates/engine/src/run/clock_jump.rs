//! Notices jumps of the wall clock, without waking the machine to look.
//!
//! The clock that measures sleeps stops while the machine is suspended. If a night interrupts a deadline of ten
//! minutes, it fires ten minutes into the morning, and everything looks busy until then. On Linux, a timer of the wall
//! clock ends its wait when the clock is set and when the machine resumes (`TFD_TIMER_CANCEL_ON_SET`,
//! timerfd_create(2)). The timer itself never fires. Other systems notice nothing.

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

    /// A timer that is only ever cancelled; `None` if the system has none.
    pub struct ClockJumps(Option<OwnedFd>);

    /// The year 2096: the timer never fires.
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
                // The read fails when the clock was set. Both results clear the event.
                let _ = rustix::io::read(timer, &mut count);
                // If this fails, it fails for good, and later jumps go unnoticed.
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
