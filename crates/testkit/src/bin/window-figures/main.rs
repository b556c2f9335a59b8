//! What the real window costs: real files, real engine, real page, on a private desktop. Called by `cargo xtask bench`.
//!
//! `window-figures --program FILE --rows FILE [--sessions N] [--seconds N] [--items N] [PART]...`; the parts are `start`,
//! `flood`, `timeline` and `idle`, all without a word. The rows are JSON lines: what, value, unit, the most it may be.
//! There is no vertical sync below Xvfb: a time between frames is what drawing them took, or WebKit's own 60 a second.

#![forbid(unsafe_code)]

#[cfg(target_os = "linux")]
mod linux;

#[cfg(target_os = "linux")]
fn main() -> anyhow::Result<()> {
    linux::main()
}

/// A program must have a beginning everywhere, also where there is nothing to be measured.
#[cfg(not(target_os = "linux"))]
fn main() {}
