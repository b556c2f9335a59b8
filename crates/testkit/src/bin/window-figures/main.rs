//! Measures the cost of the real window: real files, real engine, real page, on a private desktop. `cargo xtask
//! bench` calls it.
//!
//! `window-figures --program FILE --rows FILE [--sessions N] [--seconds N] [--items N] [PART]...`. The parts are `start`,
//! `flood`, `timeline`, `idle` and `own`; without a part it measures all. The rows are JSON lines: name, value, unit, and the
//! highest allowed value. Xvfb has no vertical sync: the time between frames is the drawing time, or WebKit's own 60 a
//! second.

#![forbid(unsafe_code)]

#[cfg(target_os = "linux")]
mod linux;

#[cfg(target_os = "linux")]
fn main() -> anyhow::Result<()> {
    linux::main()
}

/// A program needs a `main` on every system, also where there is nothing to measure.
#[cfg(not(target_os = "linux"))]
fn main() {}
