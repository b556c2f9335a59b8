//! The real window as pixels: what WebKitGTK draws, against pictures that are checked in. `VISUAL=write` makes them anew: look
//! at each before it is checked in.
//!
//! Held fast are fonts (those of `ui/browser/pictures`), zone, motion, the pointer's place, and every time in words. What is left is
//! the version of WebKitGTK, which a failure names.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde_json::json;
use watchbill_testkit::fantoccini::Client;
use watchbill_testkit::{Desktop, Driver, Picture, until};

use crate::agent::Agent;
use crate::roster::{open, row_with, shows};
use crate::{picture, window};

const API: &str = "11111111-1111-4111-8111-111111111111";
const WEB: &str = "22222222-2222-4222-8222-222222222222";
const DOCS: &str = "33333333-3333-4333-8333-333333333333";

/// How far a channel may be off, of 255: less than between a chosen row and the ground.
const SHADE: u8 = 8;
/// How many pixels may be off. Two runs of one version differ by none; the least that says something is made of more.
const PIXELS: usize = 8;

/// GTK's part of what differs between desktops.
const GTK: &str = "[Settings]\ngtk-enable-animations=0\ngtk-cursor-blink=0\ngtk-font-name=DejaVu Sans 10\ngtk-xft-antialias=1\n\
    gtk-xft-hinting=0\ngtk-xft-hintstyle=hintnone\ngtk-xft-rgba=none\ngtk-xft-dpi=98304\n";

/// Every age, duration and clock time becomes one and the same, also those that come later.
const STEADY: &str = "const steady = (node) => { const words = node.data\
      .replace(/\\b\\d+(\\.\\d+)? (ms|s|min|h|d)\\b/g, '5 min').replace(/\\b\\d\\d:\\d\\d\\b/g, '13:02'); \
      if (words !== node.data) node.data = words; }; \
    const all = () => { const nodes = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT); \
      while (nodes.nextNode()) steady(nodes.currentNode); }; \
    new MutationObserver(all).observe(document.body, { subtree: true, childList: true, characterData: true }); all();";

/// The window on a desktop that looks the same everywhere.
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
        until(&format!("{width} x {height} pixels"), 20, async || {
            let size = self.page().execute("return [innerWidth, innerHeight]", vec![]).await.ok()?;
            (size == json!([width, height])).then_some(())
        })
        .await
    }

    /// What is seen, as soon as it is the same twice.
    async fn taken(&self) -> Result<Picture> {
        self.page().execute(STEADY, vec![]).await?;
        let id = window(&self.desktop).await?;
        let mut before = None;
        until("a picture that stays", 30, async || {
            // Two frames, so that what was asked for last has been drawn.
            let frames = "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 100)));";
            self.page().execute_async(frames, vec![]).await.ok()?;
            let now = self.desktop.picture(&id).await.ok()?;
            let stays = before.as_ref() == Some(&now);
            before = Some(now);
            stays.then(|| before.clone()).flatten()
        })
        .await
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

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/desktop/pictures")
}

/// The version of WebKitGTK that the program was built with, which is the one it runs with here.
fn webkit() -> Result<String> {
    let output =
        std::process::Command::new("pkg-config").args(["--modversion", "webkit2gtk-4.1"]).output()?;
    Ok(format!("WebKitGTK {}", String::from_utf8_lossy(&output.stdout).trim()))
}

/// Compares with the picture of this name.
fn check(name: &str, actual: &Picture) -> Result<()> {
    let place = folder().join(format!("{name}.png"));
    let drawn_by = folder().join("drawn-by.txt");
    let (there, found) = match Picture::read(&place) {
        Ok(wanted) => {
            let found = wanted.compare(actual, SHADE);
            if found.off <= PIXELS {
                return Ok(());
            }
            (true, Some(found))
        }
        Err(_) => (place.exists(), None),
    };
    if std::env::var_os("VISUAL").is_some_and(|wish| wish == "write") {
        std::fs::create_dir_all(folder())?;
        std::fs::write(drawn_by, format!("{}\n", webkit()?))?;
        return actual.write(&place);
    }
    let left = picture(&format!("{name}.actual.png"));
    actual.write(&left)?;
    let mut why = match found {
        Some(found) => {
            let red = picture(&format!("{name}.difference.png"));
            if let Some(shown) = &found.shown {
                shown.write(&red)?;
            }
            format!("{} pixels are off; look at {} and {}", found.off, left.display(), red.display())
        }
        None if there => {
            format!("{} cannot be read; this is what is seen: {}", place.display(), left.display())
        }
        None => format!("there is no such picture yet; this is what is seen: {}", left.display()),
    };
    let (drawn, here) = (std::fs::read_to_string(drawn_by).unwrap_or_default(), webkit()?);
    if drawn.trim() != here {
        why += &format!(
            ". The pictures were drawn by {}, this is {here}, which may be all the difference",
            drawn.trim()
        );
    }
    bail!("{name}: {why}. If it ought to look so, run with VISUAL=write.")
}

async fn roster_and_detail(theme: &str) -> Result<()> {
    let painter = Painter::start(theme, three).await?;
    row_with(painter.page(), &["Publish the 2.4 release", "npm publish"]).await?;
    row_with(painter.page(), &["Explain the flags", "They are explained."]).await?;
    shows(painter.page(), "Needs you 1").await?;
    painter.resize(420, 720).await?;
    check(&format!("roster-420-{theme}"), &painter.taken().await?)?;
    painter.resize(1200, 760).await?;
    painter.desktop.press(&["Down", "Return"]).await?;
    shows(painter.page(), "Answer in its terminal.").await?;
    shows(painter.page(), "Go ahead").await?;
    check(&format!("detail-1200-{theme}"), &painter.taken().await?)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_light_window_looks_as_it_did() -> Result<()> {
    roster_and_detail("light").await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_dark_window_looks_as_it_did() -> Result<()> {
    roster_and_detail("dark").await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_empty_window_looks_as_it_did() -> Result<()> {
    let painter = Painter::start("light", |_| Ok(Vec::new())).await?;
    shows(painter.page(), "No sessions yet").await?;
    painter.resize(420, 520).await?;
    check("empty-420", &painter.taken().await?)?;
    painter.resize(320, 520).await?;
    check("empty-320", &painter.taken().await?)
}

/// The least that may go wrong, each by itself.
const HARMS: [(&str, &str); 5] = [
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
async fn the_least_harm_is_noticed_and_nothing_else() -> Result<()> {
    let painter = Painter::start("light", three).await?;
    painter.resize(420, 720).await?;
    let ready = async || {
        row_with(painter.page(), &["Publish the 2.4 release", "npm publish"]).await?;
        row_with(painter.page(), &["Explain the flags", "They are explained."]).await?;
        shows(painter.page(), "Needs you 1").await
    };
    ready().await?;
    let before = painter.taken().await?;
    for (name, harm) in HARMS {
        painter.page().execute(harm, vec![]).await.with_context(|| name.to_owned())?;
        let off = before.compare(&painter.taken().await?, SHADE).off;
        ensure!(off > PIXELS, "when {name}, only {off} pixels are off");
        painter.page().refresh().await?;
        ready().await?;
    }
    assert_eq!(before.compare(&painter.taken().await?, 0).off, 0, "the same page gives the same picture");
    Ok(())
}
