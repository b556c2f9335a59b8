//! What goes wrong around an open window: its page is killed, folders vanish, settings are torn, files are none.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use watchbill_testkit::{Desktop, until};

use crate::agent::Agent;
use crate::roster::{open, row_with, shows};
use crate::{picture, start, window};

const API: &str = "11111111-1111-4111-8111-111111111111";
const WEB: &str = "22222222-2222-4222-8222-222222222222";

/// The processes that draw pages on this desktop.
fn web_processes(desktop: &Desktop) -> Vec<u32> {
    let home = format!("HOME={}\0", desktop.home().display());
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter(|pid| {
        let read = |name: &str| std::fs::read(format!("/proc/{pid}/{name}")).unwrap_or_default();
        let environment = read("environ");
        // The kernel cuts names of processes to fifteen bytes.
        read("comm").starts_with(b"WebKitWebProces")
            && environment.windows(home.len()).any(|part| part == home.as_bytes())
    })
    .collect()
}

/// The driver loses a page with its process, so what is seen decides, and what is shown stands still: sessions of hours ago.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_whose_process_was_killed_comes_back_as_it_was() -> Result<()> {
    let desktop = Desktop::start().await?;
    // Five minutes from the next hour, so that no age changes meanwhile.
    let then = jiff::Timestamp::now().checked_sub(jiff::SignedDuration::from_mins(3 * 60 + 5))?;
    session_of(desktop.home(), then, API, "Publish the package")?;
    let args = ["--session", API];
    let program = start(&desktop, &args)?;
    let id = window(&desktop).await?;
    let shown = still(&desktop, &id, "shown").await?;
    let [first] = *web_processes(&desktop) else { anyhow::bail!("{:?}", web_processes(&desktop)) };

    kill(first)?;
    let second = until("another web process", 30, async || {
        web_processes(&desktop).into_iter().find(|pid| *pid != first)
    })
    .await?;
    let again = desktop.home().join("again.png");
    until("the session to be shown again", 30, async || looks_as(&desktop, &id, &again, &shown).await)
        .await?;

    // WebKit ends us with it if a page dies while its process is only beginning; this one lives and follows the roster.
    session_of(desktop.home(), then, WEB, "Paint the button")?;
    until("the other session", 30, async || {
        looks_as(&desktop, &id, &again, &shown).await.is_none().then_some(())
    })
    .await?;

    // Once more. If that is soon enough for the session itself to be to blame, the roster alone comes back; a slow machine
    // may be too late for that.
    let with_session = still(&desktop, &id, "both").await?;
    kill(second)?;
    until("a third web process", 30, async || {
        web_processes(&desktop).into_iter().find(|pid| ![first, second].contains(pid))
    })
    .await?;
    let roster = desktop.home().join("fresh.png");
    picture_of_a_fresh_start(then, &roster).await?;
    let seen = until("what a fresh start shows, or the session", 30, async || {
        match looks_as(&desktop, &id, &again, &roster).await {
            Some(()) => Some(()),
            None => looks_as(&desktop, &id, &again, &with_session).await,
        }
    })
    .await;
    if seen.is_err() {
        std::fs::copy(&again, picture("killed-again.png"))?;
        std::fs::copy(&roster, picture("killed-fresh.png"))?;
    }
    drop(program);
    seen
}

/// The roster of both sessions in a window that has shown nothing else.
async fn picture_of_a_fresh_start(then: jiff::Timestamp, to: &Path) -> Result<()> {
    let desktop = Desktop::start().await?;
    for (session, title) in [(API, "Publish the package"), (WEB, "Paint the button")] {
        session_of(desktop.home(), then, session, title)?;
    }
    let _program = start(&desktop, &[])?;
    let fresh = still(&desktop, &window(&desktop).await?, "roster").await?;
    std::fs::copy(fresh, to)?;
    Ok(())
}

fn session_of(home: &Path, at: jiff::Timestamp, session: &str, prompt: &str) -> Result<()> {
    let line = serde_json::json!({
        "parentUuid": null, "isSidechain": false, "type": "user", "uuid": format!("{}-0000-4000-8000-000000000001", &session[..8]),
        "timestamp": format!("{at:.3}"), "userType": "external", "entrypoint": "cli", "cwd": "/home/dev/api",
        "sessionId": session, "version": "2.1.329", "gitBranch": "main",
        "message": { "role": "user", "content": prompt },
    });
    let folder = home.join(".claude/projects/-home-dev-api");
    std::fs::create_dir_all(&folder)?;
    Ok(std::fs::write(folder.join(format!("{session}.jsonl")), format!("{line}\n"))?)
}

/// Takes a picture of a window.
async fn take(desktop: &Desktop, id: &str, to: &Path) -> Option<()> {
    desktop.command("import").args(["-window", id]).arg(to).status().await.ok()?.success().then_some(())
}

/// How many pixels of two pictures differ.
async fn difference(desktop: &Desktop, one: &Path, other: &Path) -> Option<u64> {
    let mut compare = desktop.command("compare");
    let output = compare.args(["-metric", "AE"]).args([one, other]).arg("null:").output().await.ok()?;
    String::from_utf8_lossy(&output.stderr).trim().parse().ok()
}

/// The window's picture, once it shows something and has not changed for a moment.
async fn still(desktop: &Desktop, id: &str, name: &str) -> Result<PathBuf> {
    let [one, other] = [1, 2].map(|n| desktop.home().join(format!("{name}-{n}.png")));
    until("a still picture", 60, async || {
        take(desktop, id, &one).await?;
        tokio::time::sleep(Duration::from_secs(2)).await;
        take(desktop, id, &other).await?;
        let mut colours = desktop.command("identify");
        let colours = colours.args(["-format", "%k"]).arg(&other).output().await.ok()?;
        let several = String::from_utf8_lossy(&colours.stdout).trim().parse::<u32>().ok()? > 40;
        (several && difference(desktop, &one, &other).await? == 0).then_some(())
    })
    .await?;
    Ok(other)
}

async fn looks_as(desktop: &Desktop, id: &str, taken: &Path, wanted: &Path) -> Option<()> {
    take(desktop, id, taken).await?;
    (difference(desktop, taken, wanted).await? == 0).then_some(())
}

fn kill(pid: u32) -> Result<()> {
    let status = std::process::Command::new("kill").args(["-9", &pid.to_string()]).status()?;
    ensure!(status.success(), "{pid} could not be killed");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agents_folder_that_vanishes_and_comes_back_is_followed() -> Result<()> {
    let desktop = Desktop::start().await?;
    let mut api = Agent::start(desktop.home(), "api-server", API)?;
    api.is_asked("Publish the package")?;
    let driven = open(&desktop, &[]).await?;
    row_with(&driven.page, &["Publish the package"]).await?;

    let (folder, elsewhere) = (desktop.home().join(".claude"), desktop.home().join("elsewhere"));
    std::fs::rename(&folder, &elsewhere)?;
    until("the roster to be empty", 60, async || {
        crate::roster::rows(&driven.page).await.is_empty().then_some(())
    })
    .await?;
    std::fs::rename(&elsewhere, &folder)?;
    row_with(&driven.page, &["Publish the package"]).await?;
    api.wants_to_run("npm publish")?;
    row_with(&driven.page, &["npm publish"]).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn files_that_are_none_and_names_that_mean_harm_stop_nothing() -> Result<()> {
    let desktop = Desktop::start().await?;
    let mut api = Agent::start(desktop.home(), "api-server", API)?;
    api.is_asked("Publish the package")?;
    let _ear = hostile(&desktop.home().join(".claude/projects"))?;
    let driven = open(&desktop, &[]).await?;
    row_with(&driven.page, &["Publish the package"]).await?;
    api.wants_to_run("npm publish")?;
    row_with(&driven.page, &["npm publish"]).await?;

    // A transcript that becomes a folder while it is read, and a file again.
    let mut web = Agent::start(desktop.home(), "web-app", WEB)?;
    web.is_asked("Paint the button")?;
    row_with(&driven.page, &["Paint the button"]).await?;
    let transcript = transcript_of(&desktop, WEB)?;
    let aside = transcript.with_extension("aside");
    std::fs::rename(&transcript, &aside)?;
    std::fs::create_dir(&transcript)?;
    api.is_asked("And then tag it")?;
    shows(&driven.page, "Working").await?;
    std::fs::remove_dir(&transcript)?;
    std::fs::rename(&aside, &transcript)?;
    web.answers("It is green.")?;
    shows(&driven.page, "Your turn").await?;
    Ok(())
}

fn transcript_of(desktop: &Desktop, session: &str) -> Result<PathBuf> {
    let projects = std::fs::read_dir(desktop.home().join(".claude/projects"))?.flatten();
    let name = format!("{session}.jsonl");
    projects.map(|entry| entry.path().join(&name)).find(|path| path.is_file()).context("a transcript")
}

/// Everything that may lie where a transcript is expected. The socket lives as long as what is returned.
fn hostile(projects: &Path) -> Result<std::os::unix::net::UnixListener> {
    for name in ["-new\nline", "-turned\u{202e}gnp", "-\u{1b}[31mred", "-plain"] {
        std::fs::create_dir_all(projects.join(name))?;
        std::fs::write(projects.join(name).join("aaaaaaaa-0000-4000-8000-000000000001.jsonl"), b"\0\0{\n")?;
    }
    let plain = projects.join("-plain");
    std::os::unix::fs::symlink(&plain, plain.join("loop"))?;
    std::os::unix::fs::symlink("self.jsonl", plain.join("self.jsonl"))?;
    std::os::unix::fs::symlink("/dev/zero", plain.join("aaaaaaaa-0000-4000-8000-000000000002.jsonl"))?;
    std::fs::create_dir(plain.join("aaaaaaaa-0000-4000-8000-000000000003.jsonl"))?;
    let pipe = plain.join("aaaaaaaa-0000-4000-8000-000000000004.jsonl");
    let status = std::process::Command::new("mkfifo").arg(&pipe).status()?;
    ensure!(status.success(), "mkfifo");
    // A socket's path may be 107 bytes long.
    let near = tempfile::tempdir()?;
    std::os::unix::fs::symlink(&plain, near.path().join("p"))?;
    Ok(std::os::unix::net::UnixListener::bind(
        near.path().join("p/aaaaaaaa-0000-4000-8000-000000000005.jsonl"),
    )?)
}
