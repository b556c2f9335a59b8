//! Faults around an open window: its page is killed, folders disappear, settings are torn, paths are no files.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use watchbill_testkit::{Desktop, Picture, ScreenReader, until};

use crate::agent::Agent;
use crate::roster::{open, row_with, shows};
use crate::{TITLE, picture, start, window};

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
        // The kernel cuts the names of processes to fifteen bytes.
        read("comm").starts_with(b"WebKitWebProces")
            && environment.windows(home.len()).any(|part| part == home.as_bytes())
    })
    .collect()
}

/// A desktop with a screen reader, which shows when the page is complete.
struct WatchedWindow {
    reader: ScreenReader,
    _program: tokio::process::Child,
    id: String,
    desktop: Desktop,
}

impl WatchedWindow {
    /// Starts the program in a home that `furnish` has filled.
    async fn of(args: &[&str], furnish: impl Fn(&Path) -> Result<()>) -> Result<Self> {
        let desktop = Desktop::with_accessibility().await?;
        let reader = ScreenReader::start(&desktop).await?;
        furnish(desktop.home())?;
        let program = start(&desktop, args)?;
        let id = window(&desktop).await?;
        // Wide enough for the roster beside the session; a narrow window shows only one of them.
        desktop.resize_window(&id, 1200, 760).await?;
        until("a wide window", 60, async || {
            (desktop.window_size(&id).await.ok()? == (1200, 760)).then_some(())
        })
        .await?;
        Ok(Self { reader, _program: program, id, desktop })
    }

    /// A picture once all these names are in the tree, the header's answers too, and the picture is stable.
    async fn settled(&self, names: &[&str]) -> Result<Picture> {
        let mut before = (String::new(), None);
        let mut last = String::new();
        let found = until("a window that has everything and stays", 60, async || {
            let outline = self.reader.window(TITLE).await.ok()?.outline();
            last.clone_from(&outline);
            let all = ["landmark \"Hooks\"", "\"Health: Hooks"]
                .iter()
                .chain(names)
                .all(|name| outline.contains(name));
            let now = (outline, Some(self.desktop.picture(&self.id).await.ok()?));
            let stays = all && now == before;
            before = now;
            stays.then(|| before.1.clone()).flatten()
        })
        .await;
        found.with_context(|| format!("{names:?} were looked for; there was\n{last}"))
    }

    /// Whether it looks like one of these. A picture that cannot be taken now does not count.
    async fn looks_as(&self, width: u32, wanted: &[&Picture]) -> Option<()> {
        let now = self.desktop.picture(&self.id).await.ok()?.left(width);
        wanted.iter().any(|wanted| wanted.left(width).compare(&now, 0).off == 0).then_some(())
    }

    /// Another process that draws pages than these.
    async fn another(&self, than: &[u32]) -> Result<u32> {
        until("another web process", 60, async || {
            web_processes(&self.desktop).into_iter().find(|pid| !than.contains(pid))
        })
        .await
    }
}

/// The width of the roster in pixels. The day beside it goes on.
const ROSTER: u32 = 400;

/// The driver loses a page with its process, so the test compares pictures. The content does not change: sessions of
/// hours ago.
#[tokio::test(flavor = "multi_thread")]
async fn a_page_whose_process_was_killed_is_shown_again() -> Result<()> {
    // Five minutes from the next hour, so that no age changes meanwhile.
    let then = jiff::Timestamp::now().checked_sub(jiff::SignedDuration::from_mins(3 * 60 + 5))?;
    let sight =
        WatchedWindow::of(&["--session", API], |home| session_of(home, then, API, "Publish the package"))
            .await?;
    let opened = "heading \"Publish the package\"";
    let shown = sight.settled(&[opened, "landmark \"Timeline\""]).await?;
    let [first] = *web_processes(&sight.desktop) else {
        anyhow::bail!("{:?}", web_processes(&sight.desktop))
    };

    kill(first)?;
    let second = sight.another(&[first]).await?;
    until("the session to be shown again", 60, async || sight.looks_as(u32::MAX, &[&shown]).await).await?;

    // WebKit ends the program too if a page dies while its process is just starting; this one lives and follows the
    // roster.
    session_of(sight.desktop.home(), then, WEB, "Paint the button")?;
    let with_session = sight.settled(&[opened, "Paint the button"]).await?;

    // Once more. If the second end comes soon after the first, the session itself may be the cause, and only the
    // roster comes back. A slow machine may be too late for that.
    kill(second)?;
    sight.another(&[first, second]).await?;
    let fresh = WatchedWindow::of(&[], |home| {
        session_of(home, then, API, "Publish the package")?;
        session_of(home, then, WEB, "Paint the button")
    })
    .await?;
    let roster = fresh.settled(&["Publish the package", "Paint the button"]).await?;
    let seen = until("what a fresh start shows, or the session", 60, async || {
        sight.looks_as(ROSTER, &[&roster, &with_session]).await
    })
    .await;
    if seen.is_err() {
        sight.desktop.picture(&sight.id).await?.write(&picture("killed-again.png"))?;
        roster.write(&picture("killed-fresh.png"))?;
    }
    seen
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

fn kill(pid: u32) -> Result<()> {
    let status = std::process::Command::new("kill").args(["-9", &pid.to_string()]).status()?;
    ensure!(status.success(), "{pid} could not be killed");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_clients_folder_that_disappears_and_returns_is_followed() -> Result<()> {
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
async fn special_files_and_malicious_names_stop_nothing() -> Result<()> {
    let desktop = Desktop::start().await?;
    let mut api = Agent::start(desktop.home(), "api-server", API)?;
    api.is_asked("Publish the package")?;
    let _ear = hostile(&desktop.home().join(".claude/projects"))?;
    let driven = open(&desktop, &[]).await?;
    row_with(&driven.page, &["Publish the package"]).await?;
    api.wants_to_run("npm publish")?;
    row_with(&driven.page, &["npm publish"]).await?;

    // A transcript becomes a folder while it is read, and then a file again.
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

/// Every kind of path that may lie where a transcript is expected. The socket lives as long as the returned value.
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
