//! foot under sway, without a screen: a terminal whose compositor can be reached, and one whose compositor cannot.

use std::process::Stdio;

use anyhow::Result;
use serde_json::Value;
use tokio::process::Child;
use watchbill_testkit::{Desktop, until};

use crate::agent::{agent, script};
use crate::{ask, is_there, output};

/// A compositor. It ends when it is dropped.
async fn sway(desktop: &Desktop) -> Result<(Child, String)> {
    let config = desktop.home().join("sway.conf");
    std::fs::write(&config, "xwayland disable\n")?;
    let socket = desktop.home().join("sway.sock").display().to_string();
    // sway refuses to run as root. In a user namespace, root is another user.
    let mut sway = if rustix::process::geteuid().is_root() {
        let mut unshare = desktop.command("unshare");
        unshare.args(["--user", "--map-user=1000", "sway"]);
        unshare
    } else {
        desktop.command("sway")
    };
    sway.arg("-c").arg(&config).env("SWAYSOCK", &socket).env_remove("DISPLAY");
    sway.env("WLR_BACKENDS", "headless").env("WLR_RENDERER", "pixman").env("WLR_LIBINPUT_NO_DEVICES", "1");
    let child = sway.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    until("sway", 20, async || output(desktop, "swaymsg", &["-s", &socket, "-t", "get_version"]).await.ok())
        .await?;
    Ok((child, socket))
}

/// Makes sway start a program.
async fn exec(desktop: &Desktop, socket: &str, line: &str) -> Result<()> {
    output(desktop, "swaymsg", &["-s", socket, "exec", line]).await.map(drop)
}

/// The title of the window in front.
async fn front(desktop: &Desktop, socket: &str) -> Result<String> {
    fn focused(node: &Value) -> Option<&str> {
        let children = ["nodes", "floating_nodes"].map(|name| node[name].as_array());
        let inner = children.into_iter().flatten().flatten().find_map(focused);
        inner.or_else(|| node["name"].as_str().filter(|_| node["focused"] == true))
    }
    let tree: Value =
        serde_json::from_str(&output(desktop, "swaymsg", &["-s", socket, "-t", "get_tree"]).await?)?;
    Ok(focused(&tree).unwrap_or_default().to_owned())
}

#[tokio::test]
async fn sway_brings_foot_to_the_front_and_without_sway_the_reason_is_reported() -> Result<()> {
    if !is_there("sway") || !is_there("foot") {
        return Ok(());
    }
    let desktop = Desktop::start().await?;
    let (_sway, socket) = sway(&desktop).await?;
    let (one, two) = (script(&desktop, "one")?, script(&desktop, "two")?);
    exec(&desktop, &socket, &format!("foot -T mine sh {one}")).await?;
    let seen = agent(&desktop, "one").await?;
    exec(&desktop, &socket, &format!("env -u SWAYSOCK foot -T decoy sh {two}")).await?;
    let unseen = agent(&desktop, "two").await?;
    until("the second window", 20, async || (front(&desktop, &socket).await.ok()? == "decoy").then_some(()))
        .await?;
    // As on a desktop without X11.
    let mut command = desktop.command(crate::PROGRAM);
    let answer = ask(command.env_remove("DISPLAY"), &desktop, &seen).await?;
    assert_eq!((&answer["outcome"], &answer["by"]), (&"focused".into(), &"foot".into()), "{answer}");
    assert_eq!(front(&desktop, &socket).await?, "mine");
    let mut command = desktop.command(crate::PROGRAM);
    let answer = ask(command.env_remove("DISPLAY"), &desktop, &unseen).await?;
    assert_eq!(answer["outcome"], "notPossible", "{answer}");
    assert!(answer["reason"].as_str().is_some_and(|why| why.contains("Wayland")), "{answer}");
    let mut command = desktop.command(crate::PROGRAM);
    command.env_remove("DISPLAY").env("XDG_CURRENT_DESKTOP", "ubuntu:GNOME");
    let answer = ask(&mut command, &desktop, &unseen).await?;
    assert!(answer["reason"].as_str().is_some_and(|why| why.contains("GNOME")), "{answer}");
    assert_eq!(front(&desktop, &socket).await?, "mine", "nothing has moved");
    Ok(())
}
