//! Notices that the wall clock has jumped, without ever waking the machine to look.
//!
//! Sleeps are measured on a clock that stands still while the machine is suspended. A deadline of ten minutes
//! that is cut by a night would come ten minutes into the morning, and everything would look busy until then. Linux
//! ends the wait on a timer of the wall clock when that clock is set and when the machine resumes
//! (`TFD_TIMER_CANCEL_ON_SET`, timerfd_create(2)); the timer itself never fires. Elsewhere nothing is noticed.

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

    /// A timer that is only ever cancelled; `None` where the system has no such thing.
    pub struct ClockJumps(Option<OwnedFd>);

    /// The year 2096: never, as far as this timer is concerned.
    const NEVER: i64 = 4_000_000_000;

    impl ClockJumps {
        /// Waits from now on.
        pub fn new() -> Self {
            let flags = TimerfdFlags::CLOEXEC | TimerfdFlags::NONBLOCK;
            let timer = timerfd_create(TimerfdClockId::Realtime, flags).ok();
            Self(timer.filter(|timer| arm(timer).is_ok()))
        }

        /// Becomes readable when the clock has jumped.
        pub fn descriptor(&self) -> Option<&OwnedFd> {
            self.0.as_ref()
        }

        /// Takes note of a jump, and waits for the next one.
        pub fn take(&self) {
            if let Some(timer) = &self.0 {
                let mut count = [0; 8];
                // The read itself is what fails when the clock was set; either way it is heard.
                let _ = rustix::io::read(timer, &mut count);
                // Refused once it is refused for good, and then nothing more is noticed.
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
    /// Nothing is noticed here.
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
