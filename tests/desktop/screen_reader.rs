//! The window as a screen reader gets it: names, descriptions, and announcements.
//!
//! The snapshots are WebKitGTK's own tree: role, name, text, states; children are indented. Read one aloud from top
//! to bottom: nothing may be spoken twice, and no visible text may be missing.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::json;
use watchbill_testkit::{Accessible, Desktop, ScreenReader, until};

use crate::agent::Agent;
use crate::roster::{invoke, open};
use crate::{TITLE, drawn, start};

const API: &str = "11111111-1111-4111-8111-111111111111";
const WEB: &str = "22222222-2222-4222-8222-222222222222";
const DOCS: &str = "33333333-3333-4333-8333-333333333333";

/// A desktop with a screen reader, the program's window, and three sessions: one that needs the user, one at work,
/// one whose turn has ended.
struct Stage {
    reader: ScreenReader,
    api: Agent,
    web: Agent,
    _docs: Agent,
    _program: tokio::process::Child,
    desktop: Desktop,
}

impl Stage {
    async fn set() -> Result<Self> {
        let desktop = Desktop::with_accessibility().await?;
        let reader = ScreenReader::start(&desktop).await?;
        let mut api = Agent::start(desktop.home(), "api-server", API)?;
        api.is_asked("Publish the package")?;
        let mut web = Agent::start(desktop.home(), "web-app", WEB)?;
        web.is_asked("Paint the button")?;
        let mut docs = Agent::start(desktop.home(), "docs", DOCS)?;
        docs.is_asked("Explain the flags")?;
        docs.answers("They are **explained**.")?;
        let program = start(&desktop, &[])?;
        let stage = Self { reader, api, web, _docs: docs, _program: program, desktop };
        // The rows, and the parts that the page asks for separately.
        let whole = |page: &Accessible| {
            let health =
                page.all("push button").iter().any(|button| button.name.starts_with("Health: Hooks"));
            page.all("list item").len() == 3 && page.find("landmark", "Hooks").is_some() && health
        };
        stage.reads("the rows, the offer and the health", whole).await?;
        until("the window in front", 60, async || {
            stage.desktop.focused().await.ok()?.filter(|name| name == TITLE)
        })
        .await?;
        Ok(stage)
    }

    /// The page, as soon as it is as wanted and two readings agree: it is read piece by piece, while it may change.
    async fn reads(&self, what: &str, is_so: impl Fn(&Accessible) -> bool) -> Result<Accessible> {
        let mut last = String::new();
        let mut before = None;
        let found = until(&format!("{what} in the tree"), 60, async || {
            let page = self.page().await.ok()?;
            last = page.outline();
            let now = is_so(&page).then(|| steady(&page));
            let stays = now.is_some() && now == before;
            before = now;
            stays.then_some(page)
        })
        .await;
        found.with_context(|| format!("the tree was\n{last}"))
    }

    async fn page(&self) -> Result<Accessible> {
        let window = self.reader.window(TITLE).await?;
        let page = window.all("document web").first().map(|page| (*page).clone());
        page.context("the window shows no page")
    }
}

/// Compares the page with its snapshot. Another WebKitGTK may order the tree differently.
fn same(name: &str, page: &Accessible) -> Result<()> {
    let page = steady(page);
    let kept = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join(format!("tests/desktop/snapshots/desktop__screen_reader__{name}.snap"));
    // The text below the snapshot's head, which ends with a line of its own.
    let kept = std::fs::read_to_string(kept)?;
    let text = kept.splitn(3, "---\n").nth(2).unwrap_or_default();
    if let (false, Some(which)) = (drawn::is_anew(), drawn::elsewhere()?)
        && text.trim() != page.trim()
    {
        drawn::not_compared(&format!("the page that is read aloud, {name},"), &which);
        return Ok(());
    }
    insta::assert_snapshot!(name, page);
    Ok(())
}

/// The session that needs the user is counted and was announced.
fn needed(page: &Accessible) -> bool {
    let said = "Publish the package needs you: wants to run: npm publish.";
    page.find("toggle button", "Needs you 1").is_some() && page.find("paragraph", said).is_some()
}

/// The outline without values that differ between runs: clock times, durations and ages, and how many tokens of today are stored by now.
fn steady(page: &Accessible) -> String {
    let is_steady = |line: &&str| !line.contains("push button \"today ");
    let outline: String = page.outline().split_inclusive('\n').filter(is_steady).collect();
    let mut rest = outline.as_str();
    let mut text = String::new();
    while let Some(letter) = rest.chars().next() {
        let after = rest.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
        let number = &rest[..rest.len() - after.len()];
        let unit: String =
            after.trim_start_matches(' ').chars().take_while(char::is_ascii_alphabetic).collect();
        if number.len() == 2 && after.starts_with(':') {
            text.push_str("HH:MM");
            rest = after.get(3..).unwrap_or_default();
        } else if !number.is_empty() && after.starts_with(' ') && ["ms", "s", "min"].contains(&unit.as_str())
        {
            text.push_str("N s");
            rest = &after[1 + unit.len()..];
        } else {
            let taken = number.len().max(letter.len_utf8());
            text.push_str(&rest[..taken]);
            rest = &rest[taken..];
        }
    }
    text
}

#[tokio::test(flavor = "multi_thread")]
async fn the_roster_is_headings_lists_and_one_name_a_row() -> Result<()> {
    let mut stage = Stage::set().await?;
    stage.api.wants_to_run("npm publish")?;
    let page = stage.reads("what needs the user", needed).await?;
    same("roster", &page)?;

    stage.desktop.press(&["Down"]).await?;
    let page = stage
        .reads("the row with the focus", |page| {
            page.focused().is_some_and(|one| one.name.contains("npm publish"))
        })
        .await?;
    let row = page.focused().context("just seen")?;
    assert_eq!(row.attributes.get("current").map(String::as_str), Some("true"), "{}", row.outline());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_need_is_announced_once() -> Result<()> {
    let mut stage = Stage::set().await?;
    stage.api.wants_to_run("npm publish")?;
    let first = "Publish the package needs you: wants to run: npm publish.";
    stage.reader.wait_for_announcement(first).await?;
    stage.web.wants_to_run("rm -rf build")?;
    stage.reader.wait_for_announcement("Paint the button needs you: wants to run: rm -rf build.").await?;
    // The same request again is announced again.
    stage.api.answers("Published.")?;
    stage.reads("the end of the turn", |page| page.find("toggle button", "Your turn 2").is_some()).await?;
    stage.api.wants_to_run("npm publish")?;
    until("the same words once more", 60, async || {
        (stage.reader.announcements().iter().filter(|said| *said == first).count() == 2).then_some(())
    })
    .await
    .with_context(|| format!("heard were {:?}", stage.reader.announcements()))?;
    assert_eq!(stage.reader.announcements().len(), 3, "{:?}", stage.reader.announcements());

    // The keys come before the page has asked for the resume command.
    stage.desktop.press(&["Down", "c"]).await?;
    stage.reader.wait_for_announcement("Resume command copied").await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_detail_pane_and_the_overlays_have_names_roles_and_the_focus() -> Result<()> {
    let mut stage = Stage::set().await?;
    stage.api.has_run("npm test", "all green")?;
    stage.api.wants_to_run("npm publish")?;
    stage.reads("what needs the user", needed).await?;
    stage.desktop.press(&["Down", "Return"]).await?;
    let page = stage
        .reads("the timeline", |page| page.find("push button", "Bash npm publish no result yet").is_some())
        .await?;
    assert_eq!(
        page.focused().map(|one| (one.role.as_str(), one.name.as_str())),
        Some(("heading", "Publish the package"))
    );
    assert!(page.all("toggle button").is_empty(), "what is covered is not read");
    same("detail", &page)?;

    stage.desktop.press(&["ctrl+k"]).await?;
    stage.desktop.write("settings").await?;
    let chosen = |page: &Accessible| {
        let answered = page.find("paragraph", "Nothing in the history has these words.").is_some();
        answered && page.focused().is_some_and(|one| one.name == "Settings")
    };
    let page = stage.reads("the choice", chosen).await?;
    same("palette", &page)?;
    stage.desktop.press(&["Escape", "Escape"]).await?;
    let row = |page: &Accessible| {
        page.focused().is_some_and(|one| one.role == "push button" && one.name.contains("npm publish"))
    };
    stage.reads("the row with the focus again", row).await?;

    // From the field, Tab reaches the health, then the menu.
    stage.desktop.press(&["slash", "Tab", "Tab", "Return"]).await?;
    let page = stage
        .reads("the menu", |page| page.focused().is_some_and(|one| one.role == "check menu item"))
        .await?;
    same("menu", &page)?;
    stage.desktop.press(&["Escape", "question"]).await?;
    let page = stage.reads("the help", |page| page.find("dialog", "Keyboard").is_some()).await?;
    same("help", &page)?;
    Ok(())
}

/// A terminal of our own, as a new session of the window would start it.
#[tokio::test(flavor = "multi_thread")]
async fn the_lines_of_a_terminal_are_read() -> Result<()> {
    if std::env::var_os("WATCHBILL_PROGRAMS_BUILT").is_none() {
        let build = ["build", "--quiet", "--locked", "--package", "watchbill-host"];
        let built = tokio::process::Command::new(env!("CARGO")).args(build).status().await?;
        ensure!(built.success(), "the program of the hosts was not built");
    }
    let desktop = Desktop::with_accessibility().await?;
    let reader = ScreenReader::start(&desktop).await?;
    let driver = open(&desktop, &[]).await?;
    let script = r"printf 'first line\r\nread \033[1;31maloud\033[m by you\r\n'; exec sleep 120";
    let spec = json!({
        "session": API, "agent": "shell", "kind": "pty", "cwd": desktop.home(), "command": ["sh", "-c", script],
        "createdAt": "2026-11-26T10:00:00.000Z",
    });
    let started = invoke(&driver.page, json!({ "request": "own_start", "spec": spec })).await?;
    ensure!(started.get("ok").is_some(), "{started}");
    let row = format!("document.querySelector(\"[data-session='{API}']\").click()");
    until("the row", 60, async || driver.page.execute(&row, vec![]).await.ok()).await?;
    let mut last = String::new();
    let read = until("the line in the tree", 60, async || {
        let window = reader.window(TITLE).await.ok()?;
        last = window.outline();
        let terminal = window.find("landmark", "Terminal")?.clone();
        let lines = terminal.outline();
        (lines.contains("first line") && lines.contains("read aloud by you")).then_some(terminal)
    })
    .await;
    let stop = json!({ "request": "own_command", "session": API, "command": { "do": "stop" } });
    let stopped = invoke(&driver.page, stop).await?;
    ensure!(stopped.get("ok").is_some(), "{stopped}");
    let read = read.with_context(|| format!("the tree was\n{last}"))?;
    let lines = read.outline();
    assert_eq!(lines.matches("first line").count(), 1, "a line is read once:\n{lines}");
    Ok(())
}
