//! Answers outside the window, in the real desktop. A button of a notification answers exactly the request that it showed, once.

use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use watchbill_testkit::fantoccini::Locator;
use watchbill_testkit::{
    Desktop, Driver, MenuEntry, Notification, NotificationServer, ScreenReader, ScreenSaver, Stranger,
    TrayHost, TrayItem, until,
};

use crate::agent::Agent;

const API: &str = "11111111-1111-4111-8111-111111111111";
const WANTS: &str = "api-server wants to run `npm publish`";

/// Longer than a button must stand before its answer counts.
const STANDS: Duration = Duration::from_millis(500);

/// The command line program, beside the window's.
fn cli() -> Result<PathBuf> {
    let program = Path::new(crate::PROGRAM).with_file_name("watchbill");
    ensure!(program.is_file(), "{} is missing; build it: cargo build -p watchbill", program.display());
    Ok(program)
}

/// A client whose hook process waits in a permission dialog.
struct Asking {
    agent: Agent,
    hook: Hook,
}

/// A hook process, and the folder of its files. It ends with this value.
struct Hook(PathBuf);

impl Hook {
    fn waits(&self) -> bool {
        !self.0.join("ended").exists()
    }
}

impl Drop for Hook {
    fn drop(&mut self) {
        if let (true, Ok(pid)) = (self.waits(), std::fs::read_to_string(self.0.join("pid"))) {
            // It may have ended already.
            let _ = std::process::Command::new("kill").arg(pid.trim()).status();
        }
    }
}

impl Asking {
    /// The program has seen the client at work before it asks.
    async fn start(desktop: &Desktop, item: &TrayItem) -> Result<Self> {
        let mut agent = Agent::start(desktop.home(), "api-server", API)?;
        agent.is_asked("Work on api-server")?;
        is_at_work(item).await?;
        let hook = asks(desktop, &mut agent, "Bash", &json!({ "command": "npm publish" })).await?;
        agent.wants_to_run("npm publish")?;
        Ok(Self { agent, hook })
    }

    /// What the hook process has printed at its end: the behavior, or nothing.
    async fn decision(self) -> Result<(Agent, Option<String>)> {
        until("the hook process to end", 60, async || (!self.hook.waits()).then_some(())).await?;
        let output = std::fs::read(self.hook.0.join("out"))?;
        if output.is_empty() {
            return Ok((self.agent, None));
        }
        let printed: Value = serde_json::from_slice(&output)?;
        let behavior = printed["hookSpecificOutput"]["decision"]["behavior"].as_str();
        Ok((self.agent, behavior.map(str::to_owned)))
    }

    fn still_waits(&self) -> bool {
        self.hook.waits()
    }
}

async fn is_at_work(item: &TrayItem) -> Result<()> {
    until("the session at work", 60, async || item.menu().await.ok()?.find("● Work on api-server").map(drop))
        .await
}

/// Starts the hook process that asks for permission, as the client does.
async fn asks(desktop: &Desktop, agent: &mut Agent, tool: &str, input: &Value) -> Result<Hook> {
    let payload = json!({ "session_id": API, "cwd": agent.cwd(), "permission_mode": "default",
        "hook_event_name": "PermissionRequest", "tool_name": tool, "tool_input": input });
    let hook = Hook(tempfile::Builder::new().prefix("hook-").tempdir_in(desktop.home())?.keep());
    let folder = hook.0.display();
    std::fs::write(hook.0.join("in"), payload.to_string())?;
    let command = desktop.command(cli()?);
    let set = command.as_std().get_envs();
    let set = set.filter_map(|(name, value)| Some(format!("{}='{}'", name.to_str()?, value?.to_str()?)));
    let script = format!(
        "env -i {} CLAUDE_PID={} '{}' hook --answer <{folder}/in >{folder}/out &\n\
         echo $! >{folder}/pid.part; mv {folder}/pid.part {folder}/pid; wait $!; touch {folder}/ended\n",
        set.collect::<Vec<_>>().join(" "),
        agent.pid(),
        cli()?.display(),
    );
    std::fs::write(hook.0.join("script"), script)?;
    agent.starts(&format!("sh {folder}/script"))?;
    until("the hook process", 60, async || hook.0.join("pid").exists().then_some(())).await?;
    Ok(hook)
}

/// The stored answers: decision and surface of each.
async fn stored(desktop: &Desktop) -> Result<Vec<(String, String)>> {
    let output = desktop.command(cli()?).args(["answers", "--json"]).output().await?;
    let rows: Vec<Value> = serde_json::from_slice(&output.stdout).with_context(|| format!("{output:?}"))?;
    let text = |row: &Value, name: &str| row[name].as_str().unwrap_or_default().to_owned();
    Ok(rows.iter().map(|row| (text(row, "decision"), text(row, "surface"))).collect())
}

fn one(decision: &str, surface: &str) -> Vec<(String, String)> {
    vec![(decision.to_owned(), surface.to_owned())]
}

/// The program in the tray, with a notification server.
struct Stage {
    screen: NotificationServer,
    item: TrayItem,
    _panel: TrayHost,
    program: Detached,
    desktop: Desktop,
}

impl Stage {
    async fn set() -> Result<Self> {
        Self::on(Desktop::start().await?).await
    }

    async fn on(desktop: Desktop) -> Result<Self> {
        let screen = NotificationServer::start(&desktop).await?;
        let panel = TrayHost::start(&desktop).await?;
        let program = Detached::start(&desktop, crate::PROGRAM, &["--hidden"]).await?;
        let item = panel.item().await?;
        let stage = Self { screen, item, _panel: panel, program, desktop };
        until("the first scan", 60, async || {
            stage.item.menu().await.ok()?.find("No agent is at work").map(drop)
        })
        .await?;
        Ok(stage)
    }

    /// The notification that offers an answer, or the one that does not.
    async fn standing(&self, with_allow: bool) -> Result<Notification> {
        let what = format!("the notification, with Allow: {with_allow}");
        until(&what, 60, async || {
            let standing = self.screen.standing();
            standing.into_iter().find(|one| one.summary == WANTS && has_allow(one) == with_allow)
        })
        .await
    }
}

fn has_allow(notification: &Notification) -> bool {
    notification.actions.iter().any(|(_, label)| label == "Allow")
}

/// The action of a button: it names the request.
fn action<'n>(notification: &'n Notification, label: &str) -> Result<&'n str> {
    let button = notification.actions.iter().find(|(_, shown)| shown == label);
    button.map(|(action, _)| action.as_str()).context("the notification has no such button")
}

#[tokio::test(flavor = "multi_thread")]
async fn allow_in_a_notification_answers_its_request_once() -> Result<()> {
    let stage = Stage::set().await?;
    let api = Asking::start(&stage.desktop, &stage.item).await?;
    let shown = stage.standing(true).await?;
    assert_eq!(shown.body, "Work on api-server\nBash: npm publish", "the whole request is shown");
    let labels: Vec<&str> = shown.actions.iter().map(|(_, label)| label.as_str()).collect();
    assert_eq!(labels, ["Open", "Allow", "Deny", "Focus terminal"]);
    // A server that keeps a pressed notification: a second tap follows, on the other button.
    let (allow, deny) = (action(&shown, "Allow")?, action(&shown, "Deny")?);
    tokio::time::sleep(STANDS).await;
    stage.screen.press(shown.id, allow).await?;
    stage.screen.press(shown.id, deny).await?;
    let (mut agent, decision) = api.decision().await?;
    assert_eq!(decision.as_deref(), Some("allow"));
    agent.answers("Published.")?;
    until("the notification to go", 60, async || {
        stage.screen.standing().iter().all(|one| one.summary != WANTS).then_some(())
    })
    .await?;
    // A press on the settled request.
    stage.screen.press(shown.id, deny).await?;
    assert_eq!(stored(&stage.desktop).await?, one("allowed once", "notification"));
    assert!(stage.desktop.windows(crate::TITLE).await?.is_empty(), "the second tap does nothing");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_in_the_terminal_withdraws_the_notification() -> Result<()> {
    let stage = Stage::set().await?;
    let mut api = Asking::start(&stage.desktop, &stage.item).await?;
    stage.standing(true).await?;
    // After a "Yes" in the terminal the client tells the hook nothing and goes on.
    api.agent.is_asked("Go on")?;
    until("the notification to go", 60, async || stage.screen.standing().is_empty().then_some(())).await?;
    let (_agent, decision) = api.decision().await?;
    assert_eq!((decision, stored(&stage.desktop).await?), (None, Vec::new()), "nothing was decided here");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_locked_screen_offers_no_answer_and_takes_none() -> Result<()> {
    let desktop = Desktop::start().await?;
    let saver = ScreenSaver::start(&desktop, true).await?;
    let stage = Stage::on(desktop).await?;
    let api = Asking::start(&stage.desktop, &stage.item).await?;
    stage.standing(false).await?;
    saver.lock(false).await?;
    let offered = stage.standing(true).await?;
    assert!(offered.silent, "it is no news");
    saver.lock(true).await?;
    let shown = stage.standing(false).await?;
    let allow = action(&offered, "Allow")?;
    // A server that shows the buttons of before.
    stage.screen.press(shown.id, allow).await?;
    // The window opens and says why, so the press was handled.
    crate::window(&stage.desktop).await?;
    assert!(api.still_waits() && stored(&stage.desktop).await?.is_empty(), "nothing was answered");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_buttons_of_the_request_before_answer_nothing() -> Result<()> {
    let stage = Stage::set().await?;
    let mut api = Asking::start(&stage.desktop, &stage.item).await?;
    let first = stage.standing(true).await?;
    // The same command is asked once more: the session, the notification and its text are the same.
    let _again = asks(&stage.desktop, &mut api.agent, "Bash", &json!({ "command": "npm publish" })).await?;
    let before = action(&first, "Allow")?;
    let second = until("the buttons of the other request", 60, async || {
        let shown = stage.standing(true).await.ok()?;
        (action(&shown, "Allow").ok()? != before).then_some(shown)
    })
    .await?;
    assert_eq!((second.id, &second.body), (first.id, &first.body));
    tokio::time::sleep(STANDS).await;
    // A slow server still shows the first one.
    stage.screen.press(second.id, before).await?;
    crate::window(&stage.desktop).await?;
    assert!(stored(&stage.desktop).await?.is_empty(), "nothing was answered");
    let (_agent, decision) = api.decision().await?;
    assert_eq!(decision, None, "the hook of the first request ended with nothing");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_program_closes_its_notifications_when_it_starts_again() -> Result<()> {
    let stage = Stage::set().await?;
    let _api = Asking::start(&stage.desktop, &stage.item).await?;
    let shown = stage.standing(true).await?;
    let list = stage.desktop.home().join("data/watchbill/run/notifications.json");
    until("the list of notifications", 60, async || {
        let text = std::fs::read_to_string(&list).ok()?;
        text.contains(&format!(",{}]", shown.id)).then_some(())
    })
    .await?;
    stage.program.kill().await?;
    assert_eq!(stage.screen.standing().len(), 1, "a killed program closes nothing");
    let _program = Detached::start(&stage.desktop, crate::PROGRAM, &["--hidden"]).await?;
    until("the old notification to go", 60, async || {
        stage.screen.standing().iter().all(|one| one.id != shown.id).then_some(())
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_trays_menu_answers_nothing_and_opens_the_request() -> Result<()> {
    let stage = Stage::set().await?;
    let api = Asking::start(&stage.desktop, &stage.item).await?;
    let entry = needs_the_user(&stage.item).await?;
    assert_eq!(entry.children, [], "any program on the bus can choose an entry");
    stage.item.choose(&entry).await?;
    crate::window(&stage.desktop).await?;
    assert!(api.still_waits() && stored(&stage.desktop).await?.is_empty(), "nothing was answered");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_server_that_shows_a_notification_presses_its_buttons() -> Result<()> {
    let stage = Stage::set().await?;
    let api = Asking::start(&stage.desktop, &stage.item).await?;
    let shown = stage.standing(true).await?;
    let (allow, deny) = (action(&shown, "Allow")?, action(&shown, "Deny")?);
    tokio::time::sleep(STANDS).await;
    stage.screen.press_as_stranger(&stage.desktop, shown.id, allow).await?;
    stage.screen.press(shown.id, deny).await?;
    let (_agent, decision) = api.decision().await?;
    assert_eq!(decision.as_deref(), Some("deny"));
    assert_eq!(stored(&stage.desktop).await?, one("denied", "notification"));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_action_that_the_notification_never_offered_answers_nothing() -> Result<()> {
    let stage = Stage::set().await?;
    let mut api = Asking::start(&stage.desktop, &stage.item).await?;
    stage.standing(true).await?;
    // Two lines do not fit a notification: it offers no answer. Any program can read the names of the request.
    let _next =
        asks(&stage.desktop, &mut api.agent, "Bash", &json!({ "command": "make\nmake install" })).await?;
    let shown = stage.standing(false).await?;
    let names = until("the names of the request", 60, async || {
        let output = stage.desktop.command(cli().ok()?).args(["roster", "--json"]).output().await.ok()?;
        let roster: Value = serde_json::from_slice(&output.stdout).ok()?;
        let request = roster["sessions"][0]["request"].clone();
        let (id, digest) = (request["id"].as_str()?, request["digest"].as_str()?);
        request["shown"].as_str()?.contains("install").then(|| json!([id, digest]).to_string())
    })
    .await?;
    tokio::time::sleep(STANDS).await;
    stage.screen.press(shown.id, &format!("allow {names}")).await?;
    // The window opens and says why, so the press was handled.
    crate::window(&stage.desktop).await?;
    assert!(stored(&stage.desktop).await?.is_empty(), "nothing was answered");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_screen_saver_unlocks_the_screen() -> Result<()> {
    let desktop = Desktop::start().await?;
    let saver = ScreenSaver::start(&desktop, false).await?;
    let stage = Stage::on(desktop).await?;
    let api = Asking::start(&stage.desktop, &stage.item).await?;
    let offered = stage.standing(true).await?;
    saver.lock(true).await?;
    let shown = stage.standing(false).await?;
    let stranger = Stranger::to(&stage.desktop, &stage.screen.program()?).await?;
    stranger
        .signal("/org/freedesktop/ScreenSaver", "org.freedesktop.ScreenSaver", "ActiveChanged", &false)
        .await?;
    // The owner of another screen saver's name cannot unlock this one either.
    let name = "org.mate.ScreenSaver";
    stranger.owns(name).await?;
    stranger.signal("/org/mate/ScreenSaver", name, "ActiveChanged", &false).await?;
    tokio::time::sleep(STANDS).await;
    stage.screen.press(shown.id, action(&offered, "Allow")?).await?;
    crate::window(&stage.desktop).await?;
    assert!(api.still_waits() && stored(&stage.desktop).await?.is_empty(), "nothing was answered");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_window_that_an_agent_started_answers_nothing() -> Result<()> {
    let mut desktop = Desktop::start().await?;
    desktop.set("CLAUDECODE", "1");
    let stage = Stage::on(desktop).await?;
    let api = Asking::start(&stage.desktop, &stage.item).await?;
    // It offers none, and refuses one that the engine would take.
    stage.standing(false).await?;
    stage.item.choose(&needs_the_user(&stage.item).await?).await?;
    until("the window in front", 60, async || {
        stage.desktop.focused().await.ok()?.filter(|name| name == crate::TITLE)
    })
    .await?;
    until("the refusal to be listed", 60, async || {
        stage.desktop.press(&["a"]).await.ok()?;
        let stored = stored(&stage.desktop).await.ok()?;
        stored.iter().any(|(decision, _)| decision.contains("this window answers nothing")).then_some(())
    })
    .await?;
    assert!(api.still_waits() && stored(&stage.desktop).await?.len() == 1, "nothing was answered");
    Ok(())
}

async fn needs_the_user(item: &TrayItem) -> Result<MenuEntry> {
    until("the session to need the user", 60, async || {
        item.menu().await.ok()?.find("▲ Work on api-server").cloned()
    })
    .await
}

/// A program that no agent started: its parent is gone. It ends with this value.
struct Detached(String);

impl Detached {
    /// Tests may run below an agent, whose programs may not answer.
    async fn start(desktop: &Desktop, program: &str, args: &[&str]) -> Result<Self> {
        let told = desktop.home().join("detached.pid");
        let mut command = desktop.command("setsid");
        let log = std::fs::File::create(desktop.home().join("detached.log"))?;
        let script = "echo $$ >\"$1\"; shift; exec \"$@\"";
        command.args(["--fork", "sh", "-c", script, "sh"]).arg(&told).arg(program).args(args);
        ensure!(command.stdout(Stdio::null()).stderr(log).status().await?.success(), "setsid failed");
        let pid = until("the detached program", 60, async || {
            std::fs::read_to_string(&told).ok()?.strip_suffix('\n').map(str::to_owned)
        })
        .await?;
        Ok(Self(pid))
    }
}

impl Detached {
    /// Kills it, and waits until it is gone.
    async fn kill(&self) -> Result<()> {
        ensure!(
            std::process::Command::new("kill").args(["-KILL", &self.0]).status()?.success(),
            "it has ended"
        );
        let entry = PathBuf::from(format!("/proc/{}/exe", self.0));
        until("its end", 60, async || std::fs::read_link(&entry).is_err().then_some(())).await
    }
}

impl Drop for Detached {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = std::process::Command::new("kill").arg(&self.0).status();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_window_beside_serve_shows_and_answers_the_requests_that_serve_holds() -> Result<()> {
    let desktop = Desktop::start().await?;
    let screen = NotificationServer::start(&desktop).await?;
    let panel = TrayHost::start(&desktop).await?;
    let _serve = desktop.command(cli()?).arg("serve").stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let socket = desktop.home().join("data/watchbill/run/engine.sock");
    until("serve to listen", 60, async || socket.exists().then_some(())).await?;
    let _window = Detached::start(&desktop, crate::PROGRAM, &["--hidden"]).await?;
    let item = panel.item().await?;
    let api = Asking::start(&desktop, &item).await?;
    let shown =
        until("Allow in the notification", 60, async || screen.standing().into_iter().find(has_allow))
            .await?;
    tokio::time::sleep(STANDS).await;
    screen.press(shown.id, action(&shown, "Allow")?).await?;
    let (_agent, decision) = api.decision().await?;
    assert_eq!(decision.as_deref(), Some("allow"));
    assert_eq!(stored(&desktop).await?, one("allowed once", "notification"));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_comes_after_its_notification_brings_the_buttons() -> Result<()> {
    let stage = Stage::set().await?;
    let mut agent = Agent::start(stage.desktop.home(), "api-server", API)?;
    agent.is_asked("Work on api-server")?;
    is_at_work(&stage.item).await?;
    agent.wants_to_run("npm publish")?;
    stage.standing(false).await?;
    let hook = asks(&stage.desktop, &mut agent, "Bash", &json!({ "command": "npm publish" })).await?;
    stage.standing(true).await?;
    drop(hook);
    stage.standing(false).await.map(drop)
}

/// A window in front, with a card, in a desktop with a screen reader.
struct Window {
    reader: ScreenReader,
    item: TrayItem,
    _panel: TrayHost,
    _program: Detached,
    desktop: Desktop,
}

impl Window {
    async fn open() -> Result<Self> {
        let desktop = Desktop::with_accessibility().await?;
        let reader = ScreenReader::start(&desktop).await?;
        let panel = TrayHost::start(&desktop).await?;
        let _program = Detached::start(&desktop, crate::PROGRAM, &[]).await?;
        let item = panel.item().await?;
        until("the window in front", 60, async || {
            desktop.focused().await.ok()?.filter(|name| name == crate::TITLE)
        })
        .await?;
        // The web view reports its page from the first reading on.
        until("the page on the accessibility bus", 60, async || {
            let window = reader.window(crate::TITLE).await.ok()?;
            (!window.all("document web").is_empty()).then_some(())
        })
        .await?;
        Ok(Self { reader, item, _panel: panel, _program, desktop })
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_card_is_read_aloud_and_answered_by_the_keyboard_alone() -> Result<()> {
    let window = Window::open().await?;
    let api = Asking::start(&window.desktop, &window.item).await?;
    needs_the_user(&window.item).await?;
    window.desktop.press(&["n", "Return"]).await?;
    let words = "Work on api-server wants to run npm publish, a allows, d denies.";
    window.reader.wait_for_announcement(words).await?;
    // The card counts after it was in sight for 400 ms.
    tokio::time::sleep(STANDS).await;
    window.desktop.press(&["d"]).await?;
    window.desktop.write("Use npm pack").await?;
    window.desktop.press(&["Return"]).await?;
    let (_agent, decision) = api.decision().await?;
    assert_eq!(decision.as_deref(), Some("deny"));
    window.reader.wait_for_announcement("Denied.").await?;
    assert_eq!(stored(&window.desktop).await?, one("denied: Use npm pack", "window"));
    Ok(())
}

/// Notes when a card with this text was painted: the frame after the one that has it.
const PAINTED: &str = "const [text] = arguments; window.painted = 0; const look = () => { \
    const card = document.querySelector('.request'); \
    if (window.painted === 0 && card !== null && card.textContent.includes(text)) \
      requestAnimationFrame(() => requestAnimationFrame(() => { window.painted = Date.now(); })); }; \
    new MutationObserver(look).observe(document.body, { childList: true, subtree: true, characterData: true });";

#[tokio::test(flavor = "multi_thread")]
async fn each_request_of_a_session_in_front_is_painted_as_a_card() -> Result<()> {
    let desktop = Desktop::start().await?;
    let mut agent = Agent::start(desktop.home(), "api-server", API)?;
    agent.is_asked("Work on api-server")?;
    agent.wants_to_run("npm publish")?;
    let opened = Driver::start(&desktop, Path::new(crate::PROGRAM), &[]).await?;
    let row = format!("[data-session='{API}']");
    until("the row to be clicked", 60, async || {
        opened.page.find(Locator::Css(&row)).await.ok()?.click().await.ok()
    })
    .await?;
    let mut took = Vec::new();
    // For a measurement by hand: WATCHBILL_CARDS=60 and --nocapture.
    let rounds = std::env::var("WATCHBILL_CARDS").ok().and_then(|number| number.parse().ok()).unwrap_or(2);
    for round in 0..rounds {
        let command = format!("echo round-{round}-");
        opened.page.execute(PAINTED, vec![json!(command)]).await?;
        let asked = jiff::Timestamp::now().as_millisecond();
        let _hook = asks(&desktop, &mut agent, "Bash", &json!({ "command": command })).await?;
        let painted = until("the card", 60, async || {
            opened.page.execute("return window.painted", vec![]).await.ok()?.as_i64().filter(|at| *at > 0)
        })
        .await?;
        took.push(painted - asked);
        // Rows go to the window at most every 50 ms.
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    took.sort_unstable();
    let [half, most] = [took.len() / 2, took.len() * 95 / 100].map(|place| took[place]);
    #[allow(clippy::print_stdout, reason = "the result of the measurement")]
    {
        println!(
            "from the start of a hook process to its card painted: p50 {half} ms, p95 {most} ms, of {}",
            took.len()
        );
    }
    Ok(())
}
