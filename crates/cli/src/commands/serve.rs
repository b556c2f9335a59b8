//! `serve`: the engine without a window, in the foreground.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use watchbill_agents::layout::{ROOT_OPTION, ROOT_VARIABLE};
use watchbill_agents::{Agent, traits};
use watchbill_engine::handle::{Handle, start};
use watchbill_service::HttpService;
use watchbill_settings::Configuration;
use watchbill_settings::follow::follow;

use super::{configuration, emit};
use crate::args::Global;

/// Keeps watch until the program is interrupted or terminated. Also serves HTTP while the settings want it, or all the time with a
/// port; 0 leaves the port to the settings.
///
/// # Errors
/// When the engine cannot be started, has stopped by an error, or the service that the command line wants cannot start.
pub fn serve(global: &Global, http: Option<u16>) -> anyhow::Result<()> {
    anyhow::ensure!(!global.demo, "the demo needs a window or a terminal: leave --demo or `serve` out");
    let configuration = Arc::new(configuration(global)?);
    let settings = configuration.settings();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        // Before the engine starts, so that an early signal also stops it in order.
        let mut ends = ends()?;
        let handle = start((*settings).clone())?;
        handle.follow(&configuration);
        let service = Arc::new(HttpService::new(http));
        serve_http(&service, &handle, &configuration);
        if let Some(problem) = service.state().problem.filter(|_| http.is_some()) {
            anyhow::bail!(problem);
        }
        let _following = follow(&configuration);
        let (gone, ended) = tokio::sync::oneshot::channel::<()>();
        // The engine drops the sink, and the sender with it, when it ends.
        let subscription = watchbill_engine::model::publish::Subscription::default();
        handle.subscribe(subscription, Box::new(move |_| !gone.is_closed()));
        tracing::info!(roots = settings.roots.len(), "keeping watch");
        tokio::select! {
            () = ends.next() => {}
            _ = ended => anyhow::bail!("watching has stopped after an internal error; run `watchbill serve` again"),
        }
        service.stop();
        handle.stop();
        Ok(())
    })
}

/// Serves HTTP now, and follows each change of the settings. The engine has taken the change over before.
fn serve_http(service: &Arc<HttpService>, handle: &Handle, configuration: &Configuration) {
    service.follow(handle);
    let (service, handle) = (Arc::downgrade(service), handle.clone());
    configuration.subscribe(Box::new(move |_| {
        service.upgrade().map(|service| service.follow(&handle)).is_some() && !handle.stopped()()
    }));
}

/// The signals that end the program.
struct EndSignals {
    #[cfg(unix)]
    terminate: tokio::signal::unix::Signal,
    #[cfg(unix)]
    interrupt: tokio::signal::unix::Signal,
    #[cfg(windows)]
    interrupt: tokio::signal::windows::CtrlC,
}

#[cfg(unix)]
fn ends() -> std::io::Result<EndSignals> {
    use tokio::signal::unix::{SignalKind, signal};
    Ok(EndSignals {
        terminate: signal(SignalKind::terminate())?,
        interrupt: signal(SignalKind::interrupt())?,
    })
}

#[cfg(windows)]
fn ends() -> std::io::Result<EndSignals> {
    Ok(EndSignals { interrupt: tokio::signal::windows::ctrl_c()? })
}

impl EndSignals {
    async fn next(&mut self) {
        #[cfg(unix)]
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
        #[cfg(windows)]
        self.interrupt.recv().await;
    }
}

/// Prints a unit for systemd's user manager that runs `serve` with the given folders.
///
/// # Errors
/// When this program's own path is not known, or a path is not valid UTF-8.
pub fn print_unit(global: &Global) -> anyhow::Result<()> {
    let program = std::env::current_exe().context("the path of this program is not known")?;
    let mut words = vec![quoted(&program)?];
    let whole = |path: &Path| {
        std::path::absolute(path).with_context(|| format!("{} is not a full path", path.display()))
    };
    let mut option = |name: &str, value: &Path| -> anyhow::Result<()> {
        words.extend([name.to_owned(), quoted(value)?]);
        Ok(())
    };
    // The unit runs without this shell's environment.
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let settings = super::settings(global)?;
    let of_agent = |agent: Agent| traits(agent).folder_variable.is_some_and(|(name, _)| is_set(name));
    if !global.roots.is_empty() || is_set(ROOT_VARIABLE) || Agent::ALL.into_iter().any(of_agent) {
        for root in &settings.roots {
            option(ROOT_OPTION, Path::new(&root.at(whole(root)?).named()))?;
        }
        for left_out in global.roots.iter().filter(|root| root.as_os_str().is_empty()) {
            option(ROOT_OPTION, Path::new(&left_out.named()))?;
        }
    }
    if let Some(data_dir) = settings.data_dir.as_ref()
        && (global.data_dir.is_some() || is_set("WATCHBILL_DATA_DIR"))
    {
        option("--data-dir", &whole(data_dir)?)?;
    }
    if let Some(config) = settings.config_file.as_ref()
        && (global.config.is_some() || is_set("WATCHBILL_CONFIG"))
    {
        option("--config", &whole(config)?)?;
    }
    words.push("serve".to_owned());
    emit(&format!(
        "[Unit]\nDescription=Watchbill: keeps watch over coding agents\n\n\
         [Service]\nExecStart={}\nRestart=on-failure\nRestartSec=5\nUMask=0077\n\n\
         [Install]\nWantedBy=default.target\n",
        words.join(" ")
    ))
}

/// A path as one word of `ExecStart`: systemd.service(5), "Command lines", and systemd.unit(5), "Specifiers".
fn quoted(path: &Path) -> anyhow::Result<String> {
    let text = path.to_str().with_context(|| format!("{} is no UTF-8 text", path.display()))?;
    anyhow::ensure!(
        !text.chars().any(char::is_control),
        "{} holds a control character, which a unit cannot name",
        path.display()
    );
    let text = text.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%").replace('$', "$$");
    Ok(format!("\"{text}\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_quoted_as_one_word_for_systemd() {
        let word = |path: &str| quoted(Path::new(path)).unwrap_or_else(|error| error.to_string());
        assert_eq!(word("/opt/watchbill"), "\"/opt/watchbill\"");
        assert_eq!(word("/a b/\"c\"/100%/$x/\\"), "\"/a b/\\\"c\\\"/100%%/$$x/\\\\\"");
        assert!(quoted(Path::new("/a\nb")).is_err());
    }
}
