//! The real window as pixels: WebKitGTK's drawing against checked-in pictures. `VISUAL=write` makes them anew: look at each
//! before you check it in.
//!
//! Fixed are fonts (those of `ui/browser/pictures`), time zone, motion, the pointer's place, and every time in words. Only the
//! version of WebKitGTK remains: another version may draw differently; the test reports that, and it proves nothing.

use std::path::Path;

use anyhow::{Context, Result, bail, ensure};
use serde_json::json;
use watchbill_testkit::fantoccini::Client;
use watchbill_testkit::{Desktop, Driver, Picture, until};

use crate::agent::Agent;
use crate::roster::{health, open, row_with, shows};
use crate::{TITLE, drawn, picture, window};

const API: &str = "11111111-1111-4111-8111-111111111111";
const WEB: &str = "22222222-2222-4222-8222-222222222222";
const DOCS: &str = "33333333-3333-4333-8333-333333333333";

/// The allowed difference of a channel, of 255: less than between a chosen row and the background.
const SHADE: u8 = 8;
/// The allowed number of different pixels. Two runs of one version differ by none; the smallest element has more.
const PIXELS: usize = 8;

/// GTK's part of the differences between desktops.
const GTK: &str = "[Settings]\ngtk-enable-animations=0\ngtk-cursor-blink=0\ngtk-font-name=DejaVu Sans 10\ngtk-xft-antialias=1\n\
    gtk-xft-hinting=0\ngtk-xft-hintstyle=hintnone\ngtk-xft-rgba=none\ngtk-xft-dpi=98304\n";

/// Replaces every age, duration and clock time by a fixed one, also later ones. How many tokens of today are stored by now is hidden.
const STEADY: &str = "const hidden = new CSSStyleSheet(); hidden.replaceSync('.plan { display: none !important }'); \
    document.adoptedStyleSheets = [hidden]; const steady = (node) => { const words = node.data\
      .replace(/\\b\\d+(\\.\\d+)? (ms|s|min|h|d)\\b/g, '5 min').replace(/\\b\\d\\d:\\d\\d\\b/g, '13:02'); \
      if (words !== node.data) node.data = words; }; \
    const all = () => { const nodes = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT); \
      while (nodes.nextNode()) steady(nodes.currentNode); }; \
    new MutationObserver(all).observe(document.body, { subtree: true, childList: true, characterData: true }); all();";

/// The window on a desktop that looks the same on every machine.
struct Painter {
    driver: Driver,
    _agents: Vec<Agent>,
    desktop: Desktop,
}

impl Painter {
    async fn start(theme: &str, agents: impl FnOnce(&Path) -> Result<Vec<Agent>>) -> Result<Self> {
        let mut desktop = Desktop::start().await?;
        let fonts = Path::new(env!("CARGO_MANIFEST_DIR")).join("ui/browser/pictures/fonts.conf");
        desktop.set("FONTCONFIG_FILE", fonts.display().to_string());
        desktop.set("TZ", "UTC");
        let gtk = desktop.home().join("config/gtk-3.0");
        std::fs::create_dir_all(&gtk)?;
        std::fs::write(gtk.join("settings.ini"), GTK)?;
        let config = desktop.home().join("watchbill.toml");
        std::fs::write(&config, format!("[window]\ntheme = \"{theme}\"\n\n[hooks]\noffer = false\n"))?;
        desktop.point_at(1279, 899).await?;
        let agents = agents(desktop.home())?;
        let driver = open(&desktop, &["--config", &config.to_string_lossy()]).await?;
        Ok(Self { driver, _agents: agents, desktop })
    }

    fn page(&self) -> &Client {
        &self.driver.page
    }

    async fn resize(&self, width: u32, height: u32) -> Result<()> {
        let id = window(&self.desktop).await?;
        self.desktop.resize_window(&id, width, height).await?;
        until(&format!("{width} x {height} pixels"), 60, async || {
            let size = self.page().execute("return [innerWidth, innerHeight]", vec![]).await.ok()?;
            (size == json!([width, height])).then_some(())
        })
        .await
    }

    /// A picture two frames later, so that the last change has been drawn.
    async fn seen(&self) -> Option<Picture> {
        let frames = "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 100)));";
        self.page().execute_async(frames, vec![]).await.ok()?;
        let id = self.desktop.windows(TITLE).await.ok()?.pop()?;
        self.desktop.picture(&id).await.ok()
    }

    /// A picture, as soon as two in a row are the same.
    async fn taken(&self) -> Result<Picture> {
        self.page().execute(STEADY, vec![]).await?;
        let mut before = None;
        until("a picture that stays", 60, async || {
            let now = self.seen().await?;
            let stays = before.as_ref() == Some(&now);
            before = Some(now);
            stays.then(|| before.clone()).flatten()
        })
        .await
    }

    /// Waits until two pictures in a row differ by no more than allowed. Otherwise returns the last picture, if there
    /// was one.
    async fn becomes(
        &self,
        wanted: &Picture,
        shade: u8,
        pixels: usize,
        seconds: u64,
    ) -> Result<Option<Picture>> {
        self.page().execute(STEADY, vec![]).await?;
        let (mut last, mut agreed) = (None, 0);
        let found = until("the picture", seconds, async || {
            let now = self.seen().await?;
            agreed = if wanted.compare(&now, shade).off <= pixels { agreed + 1 } else { 0 };
            last = Some(now);
            (agreed == 2).then_some(())
        })
        .await;
        match (found, last) {
            (Ok(()), _) => Ok(None),
            (Err(_), Some(seen)) => Ok(Some(seen)),
            (Err(error), None) => Err(error),
        }
    }
}

fn three(home: &Path) -> Result<Vec<Agent>> {
    let mut api = Agent::start(home, "api-server", API)?;
    api.is_asked("Publish the 2.4 release")?;
    api.answers(
        "Before that:\n\n1. `npm test`\n2. the *change log*\n\n| step | done |\n|---|---|\n| tests | yes |\n",
    )?;
    api.is_asked("Go ahead")?;
    api.has_run("npm test", "all green")?;
    api.wants_to_run("npm publish --tag latest")?;
    let mut web = Agent::start(home, "web-app", WEB)?;
    web.is_asked("Paint the button")?;
    let mut docs = Agent::start(home, "docs", DOCS)?;
    docs.is_asked("Explain the flags")?;
    docs.answers("They are explained.")?;
    Ok(vec![api, web, docs])
}

/// The longest wait for the right picture, in seconds. Only a lasting difference waits that long.
const TIMEOUT: u64 = 60;
/// The same with another WebKitGTK than the one that drew the pictures: it may differ for good.
const HOPE: u64 = 10;

/// Compares with the picture of this name.
async fn check(name: &str, painter: &Painter) -> Result<()> {
    let place = drawn::folder().join(format!("{name}.png"));
    if drawn::is_anew() {
        let actual = painter.taken().await?;
        drawn::here_it_was()?;
        let same = Picture::read(&place).is_ok_and(|there| there.compare(&actual, SHADE).off <= PIXELS);
        return if same { Ok(()) } else { actual.write(&place) };
    }
    let left = picture(&format!("{name}.actual.png"));
    let elsewhere = drawn::elsewhere()?;
    let wanted = match Picture::read(&place) {
        Ok(wanted) => wanted,
        Err(error) => {
            painter.taken().await?.write(&left)?;
            bail!("{name}: {error:#}; this is what is seen: {}. {IF_INTENDED}", left.display());
        }
    };
    let seconds = if elsewhere.is_some() { HOPE } else { TIMEOUT };
    let Some(actual) = painter.becomes(&wanted, SHADE, PIXELS, seconds).await? else { return Ok(()) };
    let found = wanted.compare(&actual, SHADE);
    let red = picture(&format!("{name}.difference.png"));
    actual.write(&left)?;
    if let Some(shown) = &found.shown {
        shown.write(&red)?;
    }
    if let Some(which) = elsewhere {
        drawn::not_compared(&format!("the picture {name}"), &which);
        return Ok(());
    }
    let places = format!("{} and {}", left.display(), red.display());
    bail!("{name}: {} pixels are off; look at {places}. {IF_INTENDED}", found.off);
}

const IF_INTENDED: &str = "If this is intended, run with VISUAL=write.";

async fn roster_and_detail(theme: &str) -> Result<()> {
    let painter = Painter::start(theme, three).await?;
    row_with(painter.page(), &["Publish the 2.4 release", "npm publish"]).await?;
    row_with(painter.page(), &["Explain the flags", "They are explained."]).await?;
    shows(painter.page(), "Needs you 1").await?;
    health(painter.page(), "Hooks").await?;
    painter.resize(420, 720).await?;
    check(&format!("roster-420-{theme}"), &painter).await?;
    painter.resize(1200, 760).await?;
    painter.desktop.press(&["Down", "Return"]).await?;
    shows(painter.page(), "Answer in its terminal.").await?;
    shows(painter.page(), "Go ahead").await?;
    check(&format!("detail-1200-{theme}"), &painter).await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_light_window_matches_its_pictures() -> Result<()> {
    roster_and_detail("light").await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_dark_window_matches_its_pictures() -> Result<()> {
    roster_and_detail("dark").await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_window_matches_its_pictures() -> Result<()> {
    let painter = Painter::start("light", |_| Ok(Vec::new())).await?;
    shows(painter.page(), "Nothing is going on").await?;
    health(painter.page(), "1 problem while reading").await?;
    painter.resize(420, 520).await?;
    check("empty-420", &painter).await?;
    painter.resize(320, 520).await?;
    check("empty-320", &painter).await
}

/// The smallest possible faults, each by itself.
const FAULTS: [(&str, &str); 5] = [
    ("one figure is another", "document.querySelector('.chip b').textContent = '2'"),
    (
        "a glyph has another colour",
        "document.querySelector('[data-session] .glyph .glyph').style.color = 'var(--work)'",
    ),
    (
        "a line is one grey fainter",
        "document.querySelectorAll('[data-session] .now')[1].style.color = 'var(--faint)'",
    ),
    ("a row stands a pixel lower", "document.querySelector('[data-session]').style.marginTop = '1px'"),
    ("the health dot is gone", "document.querySelector('[title^=Health] .dot').remove()"),
];

#[tokio::test(flavor = "multi_thread")]
async fn the_comparison_notices_the_smallest_fault_and_nothing_else() -> Result<()> {
    let painter = Painter::start("light", three).await?;
    painter.resize(420, 720).await?;
    let ready = async || {
        row_with(painter.page(), &["Publish the 2.4 release", "npm publish"]).await?;
        row_with(painter.page(), &["Explain the flags", "They are explained."]).await?;
        shows(painter.page(), "Needs you 1").await?;
        health(painter.page(), "Hooks").await
    };
    ready().await?;
    let before = painter.taken().await?;
    for (name, harm) in FAULTS {
        painter.page().execute(harm, vec![]).await.with_context(|| name.to_owned())?;
        let off = before.compare(&painter.taken().await?, SHADE).off;
        ensure!(off > PIXELS, "when {name}, only {off} pixels are off");
        painter.page().refresh().await?;
        ready().await?;
        let other = painter.becomes(&before, 0, 0, TIMEOUT).await?;
        ensure!(other.is_none(), "the same page gives the same picture, after {name}");
    }
    Ok(())
}
