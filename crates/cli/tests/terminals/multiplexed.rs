//! tmux: panes, sessions and clients, in xterm and in kitty.

use std::path::PathBuf;

use anyhow::Result;
use tokio::process::Child;
use watchbill_testkit::{Desktop, until};

use crate::agent::{Agent, agent, script};
use crate::{decoy, focus, in_front, is_there, output};

/// A private tmux server. It ends when it is dropped.
struct Tmux<'a> {
    desktop: &'a Desktop,
    socket: PathBuf,
}

impl<'a> Tmux<'a> {
    fn new(desktop: &'a Desktop) -> Self {
        Self { desktop, socket: desktop.home().join("tmux.sock") }
    }

    async fn run(&self, args: &[&str]) -> Result<String> {
        let socket = self.socket.display().to_string();
        output(self.desktop, "tmux", &[&["-S", &socket], args].concat()).await
    }

    /// A session with an empty first window, and a stand-in process in its second window, out of sight.
    async fn session(&self, name: &str) -> Result<Agent> {
        self.run(&["-f", "/dev/null", "new-session", "-d", "-s", name, "sleep", "600"]).await?;
        let script = script(self.desktop, name)?;
        self.run(&["new-window", "-d", "-t", name, "sh", &script]).await?;
        // Another pane has the focus in that window.
        self.run(&["split-window", "-t", &format!("{name}:1"), "sleep", "600"]).await?;
        self.run(&["select-window", "-t", &format!("{name}:0")]).await?;
        agent(self.desktop, name).await
    }

    /// An xterm with a client of tmux that shows a session.
    async fn client(&self, session: &str, title: &str) -> Result<Child> {
        let mut xterm = self.desktop.command("xterm");
        xterm.args(["-T", title, "-e", "tmux", "-S"]).arg(&self.socket).args(["attach", "-t", session]);
        let before = self.clients().await;
        let child = xterm.spawn()?;
        until("the client", 20, async || (self.clients().await > before).then_some(())).await?;
        Ok(child)
    }

    async fn clients(&self) -> usize {
        self.run(&["list-clients"]).await.map_or(0, |list| list.lines().count())
    }

    /// The process in the active pane of a session.
    async fn shown(&self, session: &str) -> Result<u32> {
        Ok(self.run(&["display-message", "-p", "-t", session, "#{pane_pid}"]).await?.parse()?)
    }
}

impl Drop for Tmux<'_> {
    fn drop(&mut self) {
        let server =
            std::process::Command::new("tmux").arg("-S").arg(&self.socket).arg("kill-server").output();
        assert!(server.is_ok(), "{server:?}");
    }
}

#[tokio::test]
async fn the_pane_is_shown_by_the_client_that_shows_its_session() -> Result<()> {
    let desktop = Desktop::start().await?;
    let tmux = Tmux::new(&desktop);
    let (one, two) = (tmux.session("one").await?, tmux.session("two").await?);
    let _first = tmux.client("one", "first").await?;
    let _second = tmux.client("two", "second").await?;
    let _decoy = decoy(&desktop).await?;
    for (agent, session, title) in [(&one, "one", "first"), (&two, "two", "second")] {
        assert_ne!(tmux.shown(session).await?, agent.pid);
        let answer = focus(&desktop, agent).await?;
        assert_eq!(
            (&answer["outcome"], &answer["by"]),
            (&"focused".into(), &"tmux in xterm".into()),
            "{answer}"
        );
        assert_eq!(tmux.shown(session).await?, agent.pid);
        in_front(&desktop, title).await?;
    }
    assert_eq!(tmux.clients().await, 2);
    Ok(())
}

#[tokio::test]
async fn of_two_tmux_clients_the_one_in_front_shows_the_pane() -> Result<()> {
    let desktop = Desktop::start().await?;
    let tmux = Tmux::new(&desktop);
    let one = tmux.session("one").await?;
    let _first = tmux.client("one", "first").await?;
    let _second = tmux.client("one", "second").await?;
    for title in ["first", "second"] {
        output(&desktop, "wmctrl", &["-a", title]).await?;
        in_front(&desktop, title).await?;
        tmux.run(&["select-window", "-t", "one:0"]).await?;
        assert_eq!(focus(&desktop, &one).await?["outcome"], "focused");
        assert_eq!(tmux.shown("one").await?, one.pid);
        in_front(&desktop, title).await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_tmux_client_of_another_session_is_switched_and_a_missing_client_is_reported() -> Result<()> {
    let desktop = Desktop::start().await?;
    let tmux = Tmux::new(&desktop);
    let (one, two) = (tmux.session("one").await?, tmux.session("two").await?);
    let answer = focus(&desktop, &one).await?;
    assert_eq!(answer["outcome"], "notPossible", "{answer}");
    assert!(answer["reason"].as_str().is_some_and(|why| why.contains("`one`")), "{answer}");
    let attach = answer["attachCommand"].as_str().unwrap_or_default();
    assert!(attach.starts_with("tmux -S ") && attach.ends_with("attach -t '=one'"), "{attach}");
    assert_eq!(tmux.shown("one").await?, one.pid, "the next client finds it");
    let _client = tmux.client("one", "first").await?;
    let _decoy = decoy(&desktop).await?;
    assert_eq!(focus(&desktop, &two).await?["outcome"], "focused");
    in_front(&desktop, "first").await?;
    assert_eq!(tmux.run(&["list-clients", "-F", "#{session_name}"]).await?, "two");
    assert_eq!(tmux.shown("two").await?, two.pid);
    Ok(())
}

#[tokio::test]
async fn tmux_in_a_tab_of_kitty_is_shown_through_both() -> Result<()> {
    if !is_there("kitty") {
        return Ok(());
    }
    let desktop = Desktop::start().await?;
    let tmux = Tmux::new(&desktop);
    let one = tmux.session("one").await?;
    let address = format!("unix:{}", desktop.home().join("kitty.sock").display());
    let mut kitty = desktop.command("kitty");
    kitty.env("LIBGL_ALWAYS_SOFTWARE", "1").stderr(std::process::Stdio::null());
    kitty.args(["-o", "allow_remote_control=yes", "--listen-on", &address, "-T", "mine", "tmux", "-S"]);
    let _kitty = kitty.arg(&tmux.socket).args(["attach", "-t", "one"]).spawn()?;
    until("the client", 20, async || (tmux.clients().await > 0).then_some(())).await?;
    let launch = ["@", "--to", &address, "launch", "--type=tab", "sleep", "600"];
    until("kitty to listen", 20, async || output(&desktop, "kitty", &launch).await.ok()).await?;
    let _decoy = decoy(&desktop).await?;
    let answer = focus(&desktop, &one).await?;
    assert_eq!((&answer["outcome"], &answer["by"]), (&"focused".into(), &"tmux in kitty".into()), "{answer}");
    assert_eq!(tmux.shown("one").await?, one.pid);
    in_front(&desktop, "mine").await?;
    let ls: serde_json::Value =
        serde_json::from_str(&output(&desktop, "kitty", &["@", "--to", &address, "ls"]).await?)?;
    let tabs = ls[0]["tabs"].as_array().cloned().unwrap_or_default();
    let active: Vec<bool> = tabs.iter().map(|tab| tab["is_focused"] == true).collect();
    assert_eq!(active, [true, false]);
    Ok(())
}
