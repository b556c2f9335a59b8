//! Terminals with windows of their own, on X11.

use anyhow::Result;
use serde_json::Value;
use tokio::process::Child;
use watchbill_testkit::{Desktop, until};

use crate::agent::{agent, proc_start, register, script};
use crate::{ask, decoy, focus, in_front, is_there, output};

/// A terminal that runs one stand-in process. It ends when it is dropped.
fn alone(desktop: &Desktop, program: &str, args: &[&str], name: &str) -> Result<Child> {
    let script = script(desktop, name)?;
    let mut command = desktop.command(program);
    // For machines without a graphics card.
    command.args(args).args(["sh", &script]).env("LIBGL_ALWAYS_SOFTWARE", "1");
    Ok(command.stdout(std::process::Stdio::null()).stderr(std::process::Stdio::null()).spawn()?)
}

#[tokio::test]
async fn xterm_comes_to_the_front_from_another_desktop() -> Result<()> {
    let desktop = Desktop::start().await?;
    let _xterm = alone(&desktop, "xterm", &["-T", "mine", "-e"], "one")?;
    let agent = agent(&desktop, "one").await?;
    in_front(&desktop, "mine").await?;
    output(&desktop, "wmctrl", &["-r", "mine", "-t", "2"]).await?;
    let _decoy = decoy(&desktop).await?;
    let answer = focus(&desktop, &agent).await?;
    assert_eq!((&answer["outcome"], &answer["by"]), (&"focused".into(), &"xterm".into()), "{answer}");
    in_front(&desktop, "mine").await?;
    assert_eq!(output(&desktop, "xdotool", &["get_desktop"]).await?, "2");
    Ok(())
}

#[tokio::test]
async fn without_a_display_the_program_uses_the_clients() -> Result<()> {
    let desktop = Desktop::start().await?;
    let _xterm = alone(&desktop, "xterm", &["-T", "mine", "-e"], "one")?;
    let agent = agent(&desktop, "one").await?;
    in_front(&desktop, "mine").await?;
    let _decoy = decoy(&desktop).await?;
    let mut command = desktop.command(crate::PROGRAM);
    command.env_remove("DISPLAY");
    assert_eq!(ask(&mut command, &desktop, &agent).await?["outcome"], "focused");
    in_front(&desktop, "mine").await
}

#[tokio::test]
async fn alacritty_comes_to_the_front() -> Result<()> {
    if !is_there("alacritty") {
        return Ok(());
    }
    let desktop = Desktop::start().await?;
    let _alacritty = alone(&desktop, "alacritty", &["-t", "mine", "-e"], "one")?;
    let agent = agent(&desktop, "one").await?;
    let _decoy = decoy(&desktop).await?;
    let answer = focus(&desktop, &agent).await?;
    assert_eq!((&answer["outcome"], &answer["by"]), (&"focused".into(), &"alacritty".into()), "{answer}");
    in_front(&desktop, "mine").await
}

/// kitty with remote control, and a second tab in front of the agent's.
async fn kitty(desktop: &Desktop, name: &str) -> Result<(Child, String)> {
    let address = format!("unix:{}", desktop.home().join("kitty.sock").display());
    let listens = ["-o", "allow_remote_control=yes", "--listen-on", &address, "-T", "mine"];
    let kitty = alone(desktop, "kitty", &listens, name)?;
    agent(desktop, name).await?;
    let launch = ["@", "--to", &address, "launch", "--type=tab", "sleep", "600"];
    until("kitty to listen", 20, async || output(desktop, "kitty", &launch).await.ok()).await?;
    Ok((kitty, address))
}

/// The id of the window in kitty's active tab.
async fn shown_in_kitty(desktop: &Desktop, address: &str) -> Result<u64> {
    let ls: Value = serde_json::from_str(&output(desktop, "kitty", &["@", "--to", address, "ls"]).await?)?;
    let tabs = ls[0]["tabs"].as_array().cloned().unwrap_or_default();
    let tab = tabs
        .iter()
        .find(|tab| tab["is_active"] == true || tab["is_active_tab"] == true || tab["is_focused"] == true);
    Ok(tab.and_then(|tab| tab["windows"][0]["id"].as_u64()).unwrap_or_default())
}

#[tokio::test]
async fn kitty_shows_the_tab() -> Result<()> {
    if !is_there("kitty") {
        return Ok(());
    }
    let desktop = Desktop::start().await?;
    let (_kitty, address) = kitty(&desktop, "one").await?;
    let agent = agent(&desktop, "one").await?;
    assert_eq!(shown_in_kitty(&desktop, &address).await?, 2);
    let _decoy = decoy(&desktop).await?;
    let answer = focus(&desktop, &agent).await?;
    assert_eq!((&answer["outcome"], &answer["by"]), (&"focused".into(), &"kitty".into()), "{answer}");
    in_front(&desktop, "mine").await?;
    assert_eq!(shown_in_kitty(&desktop, &address).await?, 1);
    Ok(())
}

#[tokio::test]
async fn without_remote_control_kitty_shows_its_window_and_says_so() -> Result<()> {
    if !is_there("kitty") {
        return Ok(());
    }
    let desktop = Desktop::start().await?;
    let _kitty = alone(&desktop, "kitty", &["-T", "mine"], "one")?;
    let agent = agent(&desktop, "one").await?;
    let _decoy = decoy(&desktop).await?;
    let answer = focus(&desktop, &agent).await?;
    assert_eq!(answer["outcome"], "windowOnly", "{answer}");
    assert!(answer["reason"].as_str().is_some_and(|why| why.contains("allow_remote_control")), "{answer}");
    in_front(&desktop, "mine").await
}

#[tokio::test]
async fn a_kitty_that_hangs_costs_two_seconds_and_its_window_is_still_raised() -> Result<()> {
    if !is_there("kitty") {
        return Ok(());
    }
    let desktop = Desktop::start().await?;
    let (kitty, _) = kitty(&desktop, "one").await?;
    let agent = agent(&desktop, "one").await?;
    let _decoy = decoy(&desktop).await?;
    let pid = kitty.id().unwrap_or_default().to_string();
    output(&desktop, "kill", &["-STOP", &pid]).await?;
    let answer = focus(&desktop, &agent).await?;
    output(&desktop, "kill", &["-CONT", &pid]).await?;
    assert_eq!(answer["outcome"], "windowOnly", "{answer}");
    assert!(answer["reason"].as_str().is_some_and(|why| why.contains("did not answer")), "{answer}");
    in_front(&desktop, "mine").await
}

#[tokio::test]
async fn a_terminal_that_inherited_anothers_variables_is_recognised() -> Result<()> {
    let desktop = Desktop::start().await?;
    let script = script(&desktop, "one")?;
    let mut command = desktop.command("xterm");
    // As in a terminal started from kitty. The ids name windows that do not exist.
    command.env("KITTY_WINDOW_ID", "1").env("KITTY_PID", "1").env("KITTY_LISTEN_ON", "unix:/nowhere");
    command.env("TERM_PROGRAM", "vscode").env("ZELLIJ_PANE_ID", "3");
    let _xterm = command.args(["-T", "mine", "-e", "sh", &script]).spawn()?;
    let agent = agent(&desktop, "one").await?;
    let _decoy = decoy(&desktop).await?;
    let answer = focus(&desktop, &agent).await?;
    assert_eq!((&answer["outcome"], &answer["by"]), (&"focused".into(), &"xterm".into()), "{answer}");
    in_front(&desktop, "mine").await
}

/// The server of GNOME Terminal with two tabs, with or without the setting that lets programs choose a tab.
async fn gnome_terminal(desktop: &Desktop, integrated: bool) -> Result<Child> {
    let folder = desktop.home().join("config/glib-2.0/settings");
    std::fs::create_dir_all(&folder)?;
    let setting = format!("[org/gnome/terminal/legacy]\nshell-integration-enabled={integrated}\n");
    std::fs::write(folder.join("keyfile"), setting)?;
    let mut server = desktop.command("/usr/libexec/gnome-terminal-server");
    let server = server.env("GSETTINGS_BACKEND", "keyfile").stderr(std::process::Stdio::null()).spawn()?;
    let asked = ["--session", "--print-reply", "--dest=org.freedesktop.DBus", "/"];
    let owner = ["org.freedesktop.DBus.GetNameOwner", "string:org.gnome.Terminal"];
    let owner = [&asked[..], &owner[..]].concat();
    until("org.gnome.Terminal", 20, async || output(desktop, "dbus-send", &owner).await.ok()).await?;
    for (tab, name) in [("--window", "one"), ("--tab", "two")] {
        let script = script(desktop, name)?;
        output(desktop, "gnome-terminal", &[tab, "--title", name, "--", "sh", &script]).await?;
        agent(desktop, name).await?;
    }
    in_front(desktop, "two").await?;
    Ok(server)
}

#[tokio::test]
async fn gnome_terminal_shows_the_tab() -> Result<()> {
    if !is_there("gnome-terminal") {
        return Ok(());
    }
    let desktop = Desktop::start().await?;
    let _server = gnome_terminal(&desktop, true).await?;
    let (one, two) = (agent(&desktop, "one").await?, agent(&desktop, "two").await?);
    let _decoy = decoy(&desktop).await?;
    // The window's title is the title of its active tab.
    for (agent, title) in [(one, "one"), (two, "two")] {
        let answer = focus(&desktop, &agent).await?;
        assert_eq!(
            (&answer["outcome"], &answer["by"]),
            (&"focused".into(), &"GNOME Terminal".into()),
            "{answer}"
        );
        in_front(&desktop, title).await?;
    }
    Ok(())
}

#[tokio::test]
async fn without_its_setting_gnome_terminal_shows_its_window_and_says_so() -> Result<()> {
    if !is_there("gnome-terminal") {
        return Ok(());
    }
    let desktop = Desktop::start().await?;
    let _server = gnome_terminal(&desktop, false).await?;
    let one = agent(&desktop, "one").await?;
    let _decoy = decoy(&desktop).await?;
    let answer = focus(&desktop, &one).await?;
    assert_eq!(answer["outcome"], "windowOnly", "{answer}");
    let reason = answer["reason"].as_str().unwrap_or_default();
    assert!(reason.contains("shell-integration-enabled true"), "{answer}");
    in_front(&desktop, "two").await
}

#[tokio::test]
async fn konsole_shows_the_tab() -> Result<()> {
    if !is_there("konsole") {
        return Ok(());
    }
    let desktop = Desktop::start().await?;
    let (one, two) = (script(&desktop, "one")?, script(&desktop, "two")?);
    let tabs = desktop.home().join("tabs");
    std::fs::write(&tabs, format!("title: one;; command: sh {one}\ntitle: two;; command: sh {two}\n"))?;
    let mut command = desktop.command("konsole");
    command.arg("--tabs-from-file").arg(&tabs).args(["-e", "true"]).env("QT_QPA_PLATFORM", "xcb");
    let _konsole = command.stderr(std::process::Stdio::null()).spawn()?;
    let agents = [agent(&desktop, "one").await?, agent(&desktop, "two").await?];
    let _decoy = decoy(&desktop).await?;
    for agent in agents {
        let answer = focus(&desktop, &agent).await?;
        assert_eq!((&answer["outcome"], &answer["by"]), (&"focused".into(), &"Konsole".into()), "{answer}");
        let environ =
            String::from_utf8_lossy(&std::fs::read(format!("/proc/{}/environ", agent.pid))?).into_owned();
        let variable =
            |name: &str| environ.split('\0').find_map(|entry| entry.strip_prefix(name)?.strip_prefix('='));
        let (service, window) = (variable("KONSOLE_DBUS_SERVICE"), variable("KONSOLE_DBUS_WINDOW"));
        let call = [
            "--session",
            "--print-reply=literal",
            &format!("--dest={}", service.unwrap_or_default()),
            window.unwrap_or("/Windows/1"),
            "org.kde.konsole.Window.currentSession",
        ];
        let current = output(&desktop, "dbus-send", &call).await?;
        let session = variable("KONSOLE_DBUS_SESSION").unwrap_or_default();
        assert_eq!(current.split_whitespace().last(), session.rsplit('/').next(), "{current} {session}");
        assert_ne!(desktop.focused().await?.as_deref(), Some("decoy"));
    }
    Ok(())
}

#[tokio::test]
async fn a_terminal_over_ssh_is_not_searched_on_this_machine() -> Result<()> {
    let desktop = Desktop::start().await?;
    // A shell under the name of the SSH server.
    let sshd = desktop.home().join("sshd");
    std::fs::copy("/bin/sh", &sshd)?;
    let script = script(&desktop, "one")?;
    let inner = desktop.home().join("inner.sh");
    std::fs::write(&inner, format!("sh '{script}'\ntrue\n"))?;
    let mut xterm = desktop.command("xterm");
    let _xterm = xterm.arg("-e").arg(&sshd).arg(&inner).spawn()?;
    let agent = agent(&desktop, "one").await?;
    let answer = focus(&desktop, &agent).await?;
    assert_eq!(answer["outcome"], "notPossible", "{answer}");
    assert!(answer["reason"].as_str().is_some_and(|why| why.contains("another machine")), "{answer}");
    let resume = answer["resumeCommand"].as_str().unwrap_or_default();
    assert!(resume.ends_with(&format!("&& claude --resume {}", agent.session)), "{resume}");
    Ok(())
}

#[tokio::test]
async fn a_process_that_reuses_the_id_is_not_raised() -> Result<()> {
    let desktop = Desktop::start().await?;
    let _xterm = alone(&desktop, "xterm", &["-T", "mine", "-e"], "one")?;
    let real = agent(&desktop, "one").await?;
    let _decoy = decoy(&desktop).await?;
    let start: u64 = proc_start(real.pid)?.parse()?;
    // The registry file of an earlier process with this id.
    let stale = register(&desktop, "one", real.pid, &(start - 1).to_string())?;
    let output = desktop
        .command(crate::PROGRAM)
        .args(["focus", &stale.session, "--claude-dir"])
        .arg(crate::agent::claude_dir(&desktop))
        .output()
        .await?;
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    in_front(&desktop, "decoy").await
}
