//! `open`: starts the window, or raises the open one.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, bail};
use watchbill_agents::layout::ROOT_OPTION;
use watchbill_engine::SessionId;
use watchbill_engine::engine::Outlook;

use super::{running, settings};
use crate::args::Global;

const DESKTOP: &str = "watchbill-desktop";

/// Starts the desktop program. It hands over to a running one by itself.
///
/// # Errors
/// When the session is not known or the program cannot be started.
pub fn open(global: &Global, session: Option<&str>) -> anyhow::Result<()> {
    let session = match session {
        Some(asked) => Some(super::engine(global, Outlook::LIVE)?.find(asked)?),
        None => None,
    };
    if !global.demo
        && let Some(mut running) =
            running::client(&settings(global)?).filter(|running| running.hello().window)
    {
        match running.open(session.as_ref().map(SessionId::as_str)) {
            Ok(()) => return Ok(()),
            Err(error) => tracing::debug!(%error, "the window is started"),
        }
    }
    let mut command = Command::new(desktop());
    for root in &global.roots {
        command.arg(ROOT_OPTION).arg(root.named());
    }
    if let Some(dir) = &global.data_dir {
        command.arg("--data-dir").arg(dir);
    }
    if let Some(file) = &global.config {
        command.arg("--config").arg(file);
    }
    if global.demo {
        command.arg("--demo");
    }
    if let Some(session) = &session {
        command.arg("--session").arg(session.as_str());
    }
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // An interrupt from the terminal must not end the window.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    match command.spawn() {
        Ok(mut window) => first_moments(&mut window),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => bail!(
            "the window is not installed: no program `{DESKTOP}` beside this one or on PATH; build it with `cargo xtask run`"
        ),
        Err(error) => Err(error).context(format!("cannot start {DESKTOP}")),
    }
}

/// Waits a moment, because a window that cannot be shown ends at once, and the user should know. A program that hands
/// over to a running window also ends at once, with success.
fn first_moments(window: &mut std::process::Child) -> anyhow::Result<()> {
    for _ in 0..25 {
        match window.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => {
                bail!("the window ended at once ({status}); run `{DESKTOP}` in this terminal to see why")
            }
            Ok(None) => std::thread::sleep(Duration::from_millis(20)),
            Err(error) => return Err(error).context(format!("cannot tell whether {DESKTOP} runs")),
        }
    }
    Ok(())
}

/// The desktop program beside this one, else the one on PATH.
fn desktop() -> PathBuf {
    let name = format!("{DESKTOP}{}", std::env::consts::EXE_SUFFIX);
    std::env::current_exe()
        .ok()
        .and_then(|exe| Some(exe.parent()?.join(&name)))
        .filter(|path| path.exists())
        .unwrap_or_else(|| PathBuf::from(name))
}
