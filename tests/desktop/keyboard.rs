//! All work without a pointer: real keys to the real window, checked in the page, in files and on the desktop.

use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use watchbill_testkit::fantoccini::Client;
use watchbill_testkit::{Desktop, Driver, until};

use crate::TITLE;
use crate::agent::Agent;
use crate::roster::{open, row_with, rows, selected, shows};

const API: &str = "11111111-1111-4111-8111-111111111111";
const WEB: &str = "22222222-2222-4222-8222-222222222222";
const DOCS: &str = "33333333-3333-4333-8333-333333333333";
const OLD: &str = "44444444-4444-4444-8444-444444444444";

/// The element with the focus: a session's id, else a name, else its first words.
const FOCUSED: &str = "const at = document.activeElement; if (at === document.body) return 'body'; \
    return at.dataset.session ?? at.getAttribute('aria-label') ?? (at.id || at.textContent.trim().slice(0, 60));";

/// Counts presses of the tabulator key since the first call.
const TABS: &str = "if (window.tabs === undefined) { window.tabs = 0; \
    addEventListener('keyup', (event) => { if (event.key === 'Tab') window.tabs += 1; }, true); } return window.tabs;";

/// A user with a keyboard alone.
struct KeyboardUser {
    driver: Driver,
    config: PathBuf,
    _agents: Vec<Agent>,
    desktop: Desktop,
}

impl KeyboardUser {
    async fn ready() -> Result<Self> {
        let desktop = Desktop::start().await?;
        let mut api = Agent::start_in_terminal(&desktop, "api-server", API).await?;
        for turn in 0..30 {
            api.is_asked(&format!("Step {turn} of the release"))?;
            api.answers(&format!("Step {turn} is done, and this is what came of it."))?;
        }
        api.is_asked("Publish the package")?;
        api.has_run("npm test", "all green")?;
        api.wants_to_run("npm publish")?;
        let mut web = Agent::start(desktop.home(), "web-app", WEB)?;
        web.is_asked("Paint the button")?;
        // It comes before `docs`, and its process has ended: a session that still works would keep a row of its own
        // when it is joined.
        let mut old = Agent::start(desktop.home(), "docs", OLD)?;
        old.is_asked("Collect the flags")?;
        old.answers("There are nine.")?;
        drop(old);
        let mut docs = Agent::start(desktop.home(), "docs", DOCS)?;
        docs.is_asked("Explain the flags")?;
        docs.answers("They are explained.")?;
        let config = desktop.home().join("watchbill.toml");
        std::fs::write(&config, "[hooks]\noffer = false\n")?;
        let driver = open(&desktop, &["--config", &config.to_string_lossy()]).await?;
        let hands = Self { driver, config, _agents: vec![api, web, docs], desktop };
        let id = crate::window(&hands.desktop).await?;
        hands.desktop.resize_window(&id, 1200, 760).await?;
        hands.in_front(TITLE).await?;
        until("four rows", 60, async || (rows(hands.page()).await.len() == 4).then_some(())).await?;
        shows(hands.page(), "Needs you 1").await?;
        Ok(hands)
    }

    fn page(&self) -> &Client {
        &self.driver.page
    }

    async fn press(&self, keys: &[&str]) -> Result<()> {
        self.desktop.press(keys).await
    }

    async fn focused(&self) -> Option<String> {
        self.page().execute(FOCUSED, vec![]).await.ok()?.as_str().map(str::to_owned)
    }

    async fn focus_is(&self, wanted: &str) -> Result<()> {
        until(&format!("the focus on {wanted:?}"), 60, async || {
            (self.focused().await? == wanted).then_some(())
        })
        .await
        .with_context(|| "it was elsewhere")
    }

    /// The number of releases of the tabulator key since the first call.
    async fn tabs(&self) -> Option<u64> {
        self.page().execute(TABS, vec![]).await.ok()?.as_u64()
    }

    /// Presses the tabulator key until the focus is there; returns the names that it passed.
    async fn tab_to(&self, wanted: &str) -> Result<Vec<String>> {
        let mut passed = Vec::new();
        while passed.len() < 60 {
            // Two neighbours may have the same name, so the key event shows that a step was made.
            let before = self.tabs().await;
            self.press(&["Tab"]).await?;
            until("the key to reach the page", 60, async || (self.tabs().await? > before?).then_some(()))
                .await?;
            let now = self.focused().await.unwrap_or_default();
            if now.starts_with(wanted) {
                return Ok(passed);
            }
            passed.push(now);
        }
        anyhow::bail!("the tabulator key never reached {wanted:?}; it came by {passed:?}")
    }

    /// Opens the menu of the button with the focus, goes down to an item, and chooses it.
    async fn choose(&self, button: &str, item: &str) -> Result<()> {
        self.tab_to(button).await?;
        self.press(&["Return"]).await?;
        until("the menu", 60, async || {
            let inside = "return document.activeElement.closest('[role=menu]') !== null";
            (self.page().execute(inside, vec![]).await.ok()? == json!(true)).then_some(())
        })
        .await?;
        for _ in 0..20 {
            if self.focused().await.is_some_and(|now| now.contains(item)) {
                return self.press(&["Return"]).await;
            }
            let before = self.focused().await;
            self.press(&["Down"]).await?;
            until("the next item", 60, async || (self.focused().await != before).then_some(())).await?;
        }
        anyhow::bail!("the menu has no item {item:?}")
    }

    async fn in_front(&self, title: &str) -> Result<()> {
        until(&format!("{title:?} in front"), 60, async || {
            self.desktop.focused().await.ok()?.filter(|name| name == title)
        })
        .await
        .map(drop)
    }

    async fn becomes(&self, what: &str, script: &str, wanted: Value) -> Result<()> {
        until(what, 60, async || (self.page().execute(script, vec![]).await.ok()? == wanted).then_some(()))
            .await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn all_work_is_possible_by_keyboard_alone() -> Result<()> {
    let hands = KeyboardUser::ready().await?;
    roster(&hands).await.context("in the roster")?;
    detail(&hands).await.context("in the detail pane")?;
    overlays(&hands).await.context("in palette, help and menu")?;
    chain(&hands).await.context("with name, join and snooze")?;
    settings(&hands).await.context("in the settings")?;
    terminal(&hands).await.context("with the terminal")
}

/// Arrows, letters, the filter.
async fn roster(hands: &KeyboardUser) -> Result<()> {
    hands.press(&["Down"]).await?;
    hands.focus_is(API).await?;
    selected(hands.page(), API).await?;
    hands.press(&["j"]).await?;
    hands.focus_is(WEB).await?;
    hands.press(&["g", "t"]).await?;
    hands.focus_is(DOCS).await?;
    hands.press(&["n"]).await?;
    hands.focus_is(API).await?;

    hands.press(&["slash"]).await?;
    hands.focus_is("Filter sessions").await?;
    hands.desktop.write("paint").await?;
    until("one row", 60, async || (rows(hands.page()).await.len() == 1).then_some(())).await?;
    hands.press(&["Return"]).await?;
    selected(hands.page(), WEB).await?;
    shows(hands.page(), "Focus terminal").await?;
    hands.focus_is(WEB).await?;
    // The first Escape closes the pane, the second one clears the filter.
    hands.press(&["Escape"]).await?;
    shows(hands.page(), "Usage").await?;
    hands.press(&["Escape"]).await?;
    until("all rows", 60, async || (rows(hands.page()).await.len() == 4).then_some(())).await?;
    hands.focus_is(WEB).await
}

/// The tab order, the timeline's keys, an opened call.
async fn detail(hands: &KeyboardUser) -> Result<()> {
    hands.press(&["n", "Return"]).await?;
    shows(hands.page(), "Answer in its terminal.").await?;
    hands.focus_is(API).await?;
    let passed = hands.tab_to("Timeline").await?;
    let wanted = ["Focus terminal", "More", "Close", "Why?"];
    let places: Vec<_> =
        wanted.iter().map(|name| passed.iter().position(|at| at.starts_with(name))).collect();
    ensure!(places.iter().all(Option::is_some) && places.is_sorted(), "{passed:?}");
    // First its tab, then the timeline itself.
    hands.tab_to("Timeline").await?;
    let in_it = "return document.activeElement.getAttribute('role')";
    hands.becomes("the focus in the timeline", in_it, json!("region")).await?;

    let top = "return document.querySelector('[role=region][aria-label=Timeline]').scrollTop === 0";
    hands.press(&["Home"]).await?;
    hands.becomes("the timeline's beginning", top, json!(true)).await?;
    shows(hands.page(), "Step 0 of the release").await?;
    hands.press(&["Next"]).await?;
    hands.becomes("a page further", top, json!(false)).await?;
    hands.press(&["End"]).await?;
    shows(hands.page(), "npm test").await?;
    hands.tab_to("✓").await?;
    hands.press(&["Return"]).await?;
    shows(hands.page(), "all green").await?;
    hands.press(&["Escape"]).await?;
    hands.focus_is(API).await
}

/// Each overlay returns the focus to its earlier place.
async fn overlays(hands: &KeyboardUser) -> Result<()> {
    hands.press(&["ctrl+k"]).await?;
    hands.focus_is("Find").await?;
    hands.desktop.write("what is watched").await?;
    hands.becomes("the command", "return document.querySelector('[aria-selected=true]')?.innerText.includes('What is watched') ?? false", json!(true)).await?;
    hands.press(&["Return"]).await?;
    shows(hands.page(), "Versions").await?;
    hands.press(&["Escape"]).await?;
    hands.focus_is(API).await?;

    hands.press(&["question"]).await?;
    shows(hands.page(), "A strip above all windows, and back").await?;
    hands.press(&["Escape"]).await?;
    hands.focus_is(API).await?;

    hands.press(&["slash"]).await?;
    hands.focus_is("Filter sessions").await?;
    hands.choose("Menu", "Show superseded").await?;
    hands.focus_is("Menu").await?;
    let checked = "return document.activeElement.getAttribute('aria-checked') === 'true'";
    hands.press(&["Return"]).await?;
    hands.becomes("the item's mark", checked, json!(true)).await?;
    hands.press(&["Return"]).await?;
    hands.focus_is("Menu").await?;
    hands.press(&["Return"]).await?;
    hands
        .becomes(
            "the item without its mark",
            "return document.activeElement.getAttribute('aria-checked')",
            json!("false"),
        )
        .await?;
    hands.press(&["Escape"]).await?;
    hands.focus_is("Menu").await
}

/// A name, a join and its end, a snooze and its end.
async fn chain(hands: &KeyboardUser) -> Result<()> {
    hands.press(&["n", "Return"]).await?;
    shows(hands.page(), "Answer in its terminal.").await?;
    hands.choose("More", "Rename").await?;
    hands.focus_is("Name of this work; empty for its own title").await?;
    hands.desktop.write("The release").await?;
    hands.press(&["Return"]).await?;
    row_with(hands.page(), &["The release", "api-server"]).await?;
    hands.focus_is("The release").await?;

    hands.choose("More", "1 hour").await?;
    shows(hands.page(), "Snoozed until").await?;
    shows(hands.page(), "Needs you 0").await?;
    hands.tab_to("End it").await?;
    hands.press(&["Return"]).await?;
    shows(hands.page(), "Needs you 1").await?;

    hands.press(&["slash"]).await?;
    hands.focus_is("Filter sessions").await?;
    hands.desktop.write("collect").await?;
    hands.press(&["Return"]).await?;
    selected(hands.page(), OLD).await?;
    hands.press(&["slash", "Escape"]).await?;
    hands.press(&["Escape"]).await?;
    hands.focus_is(OLD).await?;
    hands.choose("More", "Join with another").await?;
    hands.focus_is("Filter").await?;
    hands.desktop.write("explain").await?;
    hands.press(&["Tab", "Return"]).await?;
    shows(hands.page(), "as you said").await?;
    until("one row less", 60, async || (rows(hands.page()).await.len() == 3).then_some(())).await?;
    hands.choose("More", "Undo the last").await?;
    until("the row again", 60, async || (rows(hands.page()).await.len() == 4).then_some(())).await
}

/// Another window, a change in the file, and back.
async fn settings(hands: &KeyboardUser) -> Result<()> {
    hands.press(&["n", "ctrl+comma"]).await?;
    hands.in_front("Watchbill settings").await?;
    let roster = hands.page().window().await?;
    let other = until("the other window", 60, async || {
        hands.page().windows().await.ok()?.into_iter().find(|window| *window != roster)
    })
    .await?;
    hands.page().switch_to_window(other).await?;
    shows(hands.page(), "A permission is asked for").await?;
    hands.tab_to("Alerts").await?;
    hands.press(&["Return"]).await?;
    hands.tab_to("set-alerts.approval").await?;
    hands.press(&["space"]).await?;
    until("the change in the file", 60, async || {
        let text = std::fs::read_to_string(&hands.config).ok()?;
        (text == "[hooks]\noffer = false\n\n[alerts]\napproval = false\n").then_some(())
    })
    .await?;
    hands.press(&["alt+F4"]).await?;
    hands.page().switch_to_window(roster).await?;
    hands.in_front(TITLE).await?;
    hands.focus_is(API).await
}

/// To the terminal and back; then out of the pane, to the first row.
async fn terminal(hands: &KeyboardUser) -> Result<()> {
    hands.press(&["Return"]).await?;
    shows(hands.page(), "Answer in its terminal.").await?;
    hands.press(&["f"]).await?;
    hands.in_front("api-server").await?;
    hands.press(&["alt+Tab"]).await?;
    hands.in_front(TITLE).await?;
    hands.focus_is(API).await?;
    hands.press(&["Escape"]).await?;
    shows(hands.page(), "Usage").await?;
    hands.focus_is(API).await
}
