//! Whether the user sees a terminal: the question that alerts ask before they appear.

use anyhow::Result;
use watchbill_engine::alone::single_look::look;
use watchbill_engine::clock::SystemClock;
use watchbill_engine::engine::Outlook;
use watchbill_engine::handle::focus::in_front;
use watchbill_engine::handle::real_sources;
use watchbill_engine::world::archive::with_archive;
use watchbill_settings::{CommandLineOptions, resolve_settings};
use watchbill_testkit::{Desktop, until};

use crate::agent::{Agent, agent, claude_dir, script};
use crate::{decoy, output};

fn is_in_front(desktop: &Desktop, agent: &Agent) -> Result<Option<bool>> {
    let given = CommandLineOptions {
        roots: vec![claude_dir(desktop).into()],
        data_dir: Some(desktop.home().join("watchbill")),
        config: None,
    };
    let settings = resolve_settings(&given, &|name| (name == "HOME").then(|| desktop.home().into()))?;
    let world = with_archive(real_sources(), &settings);
    let engine = look(settings, world, Outlook::LIVE, &SystemClock);
    Ok(in_front(&engine.session_location(&agent.session)?))
}

#[tokio::test]
async fn a_window_or_pane_in_front_is_distinguished_from_one_behind() -> Result<()> {
    let desktop = Desktop::start().await?;
    let socket = desktop.home().join("tmux.sock").display().to_string();
    let tmux = async |args: &[&str]| output(&desktop, "tmux", &[&["-S", &socket], args].concat()).await;
    let script = script(&desktop, "one")?;
    tmux(&["-f", "/dev/null", "new-session", "-d", "-s", "one", "sh", &script]).await?;
    tmux(&["new-window", "-d", "-t", "one", "sleep", "600"]).await?;
    let agent = agent(&desktop, "one").await?;
    assert_eq!(is_in_front(&desktop, &agent)?, Some(false), "no client is attached");
    let mut xterm = desktop.command("xterm");
    let _xterm = xterm.args(["-T", "mine", "-e", "tmux", "-S", &socket, "attach", "-t", "one"]).spawn()?;
    let looked_at = async |wanted| {
        until("the pane", 20, async || (is_in_front(&desktop, &agent).ok()? == wanted).then_some(())).await
    };
    looked_at(Some(true)).await?;
    tmux(&["select-window", "-t", "one:1"]).await?;
    looked_at(Some(false)).await?;
    tmux(&["select-window", "-t", "one:0"]).await?;
    looked_at(Some(true)).await?;
    let _decoy = decoy(&desktop).await?;
    looked_at(Some(false)).await?;
    tmux(&["kill-server"]).await.map(drop)
}
