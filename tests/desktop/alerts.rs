//! Alerts in the real desktop: notifications on a real bus, their clicks, when they are removed, and when none may
//! come.

use std::time::Duration;

use anyhow::{Context, Result};
use watchbill_testkit::fantoccini::Locator;
use watchbill_testkit::{
    Count, Desktop, Driver, Launcher, Notification, NotificationServer, TrayHost, TrayItem, until,
};

use crate::agent::Agent;
use crate::roster::shows;
use crate::{PROGRAM, ended, start, window};

const API: &str = "11111111-1111-4111-8111-111111111111";
const WEB: &str = "22222222-2222-4222-8222-222222222222";
const DOCS: &str = "33333333-3333-4333-8333-333333333333";
const WANTS: &str = "api-server wants to run `npm publish`";

/// Longer than the dwell and the time in which alerts are collected, with room for a busy machine.
const ALERT_WOULD_HAVE_COME: Duration = Duration::from_secs(5);

/// A desktop with a panel, a notification server, and the program in the tray without a window.
struct Stage {
    screen: NotificationServer,
    item: TrayItem,
    _panel: TrayHost,
    _program: tokio::process::Child,
    desktop: Desktop,
    /// The folder of the settings file, which the program watches.
    _config: Option<tempfile::TempDir>,
}

impl Stage {
    async fn set(args: &[&str]) -> Result<Self> {
        let desktop = Desktop::start().await?;
        let screen = NotificationServer::start(&desktop).await?;
        let panel = TrayHost::start(&desktop).await?;
        let mut all = vec!["--hidden"];
        all.extend(args);
        let program = start(&desktop, &all)?;
        let item = panel.item().await?;
        let stage = Self { screen, item, _panel: panel, _program: program, desktop, _config: None };
        stage.menu("No agent is at work").await?;
        Ok(stage)
    }

    /// The same, with the user's choices in the settings file.
    async fn set_with(choices: &str) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let config = folder.path().join("config.toml");
        std::fs::write(&config, choices)?;
        let mut stage = Self::set(&["--config", &config.display().to_string()]).await?;
        stage._config = Some(folder);
        Ok(stage)
    }

    /// A client at work in a terminal of its own, which is in front.
    async fn agent_in_terminal(&self, name: &str, session: &str) -> Result<Agent> {
        let mut agent = Agent::start_in_terminal(&self.desktop, name, session).await?;
        agent.is_asked(&format!("Work on {name}"))?;
        self.menu(&format!("● Work on {name}")).await?;
        self.in_front(name).await?;
        Ok(agent)
    }

    async fn in_front(&self, window: &str) -> Result<()> {
        until(&format!("{window} to be in front"), 60, async || {
            self.desktop.focused().await.ok()?.filter(|name| name == window)
        })
        .await
        .map(drop)
    }

    /// A client at work, which the program has seen.
    async fn agent(&self, name: &str, session: &str) -> Result<Agent> {
        let mut agent = Agent::start(self.desktop.home(), name, session)?;
        agent.is_asked(&format!("Work on {name}"))?;
        self.menu(&format!("● Work on {name}")).await?;
        Ok(agent)
    }

    async fn menu(&self, text: &str) -> Result<()> {
        menu(&self.item, text).await
    }

    async fn standing(&self, summary: &str) -> Result<Notification> {
        standing(&self.screen, summary).await
    }

    /// Only this notification was shown. Its need began after the need that must stay silent: an alert for that one
    /// would have come before, or in the same notification.
    async fn tells_only(&self, summary: &str) -> Result<()> {
        self.standing(summary).await?;
        assert_eq!(self.screen.shown(), 1, "{:?}", self.screen.standing());
        Ok(())
    }
}

async fn menu(item: &TrayItem, text: &str) -> Result<()> {
    until(&format!("{text:?} in the tray's menu"), 60, async || {
        item.menu().await.ok()?.find(text).map(|_| ())
    })
    .await
}

async fn choose(item: &TrayItem, text: &str) -> Result<()> {
    menu(item, text).await?;
    if let Some(entry) = item.menu().await?.find(text) {
        item.choose(entry).await?;
    }
    Ok(())
}

async fn standing(screen: &NotificationServer, summary: &str) -> Result<Notification> {
    until(&format!("the notification {summary:?}"), 60, async || {
        screen.standing().into_iter().find(|standing| standing.summary == summary)
    })
    .await
}

async fn nothing_stands(screen: &NotificationServer) -> Result<()> {
    until("the notification to go", 60, async || screen.standing().is_empty().then_some(())).await
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_alert_opens_its_session_and_is_removed_when_answered() -> Result<()> {
    let stage = Stage::set(&[]).await?;
    let mut api = stage.agent("api-server", API).await?;
    api.wants_to_run("npm publish")?;
    let shown = stage.standing(WANTS).await?;
    assert_eq!((shown.urgency, shown.silent), (Some(2), true));
    assert_eq!(shown.body, "Work on api-server");
    let labels: Vec<&str> = shown.actions.iter().map(|(_, label)| label.as_str()).collect();
    assert_eq!(labels, ["Open", "Focus terminal", "Snooze 15 min"]);

    // The prompt was answered in the terminal: the notification would be wrong now.
    api.answers("Published.")?;
    until("the notification to change", 60, async || {
        let standing = stage.screen.standing();
        standing.iter().all(|standing| standing.summary != WANTS).then_some(())
    })
    .await?;

    api.is_asked("Once more")?;
    nothing_stands(&stage.screen).await?;
    api.wants_to_run("npm publish")?;
    let shown = stage.standing(WANTS).await?;
    assert!(
        stage.desktop.windows(crate::TITLE).await?.is_empty(),
        "an alert never raises the window by itself"
    );
    stage.screen.choose(shown.id, "default").await?;
    window(&stage.desktop).await?;
    until("the focus", 60, async || stage.desktop.focused().await.ok()?.filter(|name| name == crate::TITLE))
        .await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_click_selects_the_session_and_a_session_in_front_is_not_announced() -> Result<()> {
    let desktop = Desktop::start().await?;
    let screen = NotificationServer::start(&desktop).await?;
    let mut api = Agent::start(desktop.home(), "api-server", API)?;
    api.is_asked("Publish it")?;
    let mut web = Agent::start(desktop.home(), "web-app", WEB)?;
    web.is_asked("Paint the button")?;
    let opened = Driver::start(&desktop, std::path::Path::new(PROGRAM), &[]).await?;
    for session in [API, WEB] {
        let row = format!("[data-session='{session}']");
        until("the row", 60, async || opened.page.find(Locator::Css(&row)).await.ok()).await?;
    }

    api.wants_to_run("npm publish")?;
    let shown = standing(&screen, WANTS).await?;
    screen.choose(shown.id, "default").await?;
    let selected = format!("[data-session='{API}'][aria-current='true']");
    until("the session to be selected", 60, async || opened.page.find(Locator::Css(&selected)).await.ok())
        .await?;
    until("the focus", 60, async || desktop.focused().await.ok()?.filter(|name| name == crate::TITLE))
        .await?;

    // The window in front shows the session, so no alert is needed for it; the other session gets one.
    api.is_asked("Never mind")?;
    desktop.resize_window(&window(&desktop).await?, 1200, 760).await?;
    let row = format!("[data-session='{API}']");
    // The page may redraw a row between the search and the click.
    until("the row to be clicked", 60, async || {
        opened.page.find(Locator::Css(&row)).await.ok()?.click().await.ok()
    })
    .await?;
    shows(&opened.page, "Focus terminal").await?;
    let before = screen.shown();
    api.wants_to_run("npm publish --tag next")?;
    web.wants_to_run("make")?;
    // An alert for the first session would come before this one, or together with it.
    standing(&screen, "web-app wants to run `make`").await?;
    assert_eq!(screen.shown(), before + 1, "{:?}", screen.standing());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn five_at_once_are_one_notification_that_names_them() -> Result<()> {
    let stage = Stage::set(&[]).await?;
    let mut agents = Vec::new();
    for n in 1..=6_u32 {
        let session = format!("{n}{n}{n}{n}{n}{n}{n}{n}-1111-4111-8111-111111111111");
        agents.push(stage.agent(&format!("project-{n}"), &session).await?);
    }
    for agent in &mut agents {
        agent.wants_to_run("make")?;
    }
    let shown = stage.standing("6 sessions need you").await?;
    assert_eq!(stage.screen.standing().len(), 1);
    assert_eq!(shown.body.lines().count(), 6, "{}", shown.body);
    assert!(
        shown.body.contains("wants to run `make`") && shown.body.ends_with("and 1 more"),
        "{}",
        shown.body
    );
    assert_eq!(shown.actions.len(), 1, "a button would not say which session it means");

    for agent in &mut agents[1..] {
        agent.is_asked("never mind")?;
    }
    let last = stage.standing("project-1 wants to run `make`").await?;
    assert_eq!(last.id, shown.id, "it is the same notification, with who is left");
    agents[0].is_asked("never mind")?;
    nothing_stands(&stage.screen).await
}

#[tokio::test(flavor = "multi_thread")]
async fn needs_from_before_the_start_are_one_summary() -> Result<()> {
    let desktop = Desktop::start().await?;
    let screen = NotificationServer::start(&desktop).await?;
    let panel = TrayHost::start(&desktop).await?;
    let mut agents = Vec::new();
    for (name, session) in [("api-server", API), ("web-app", WEB)] {
        let mut agent = Agent::start(desktop.home(), name, session)?;
        agent.is_asked("Build it")?;
        agent.wants_to_run("make")?;
        agents.push(agent);
    }
    // So that the needs began before the program, by any clock.
    tokio::time::sleep(Duration::from_millis(50)).await;
    let _program = start(&desktop, &["--hidden"])?;
    let item = panel.item().await?;
    menu(&item, "2 need you").await?;
    standing(&screen, "2 sessions need you").await?;
    // Any other alert for these two would come before one for a new need.
    let mut docs = Agent::start(desktop.home(), "docs", DOCS)?;
    docs.is_asked("Build it")?;
    menu(&item, "● Build it").await?;
    docs.wants_to_run("make")?;
    // It joins the recent summary, or stands alone if that is too long ago.
    until("the third", 60, async || {
        let told = ["3 sessions need you", "docs wants to run `make`"];
        screen.standing().iter().any(|one| told.contains(&one.summary.as_str())).then_some(())
    })
    .await?;
    assert_eq!(screen.shown(), 2, "{:?}", screen.standing());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_users_alert_settings_keep_it_silent() -> Result<()> {
    // The other session's need is of another kind, and in another project.
    for choice in ["approval = false", "muted = ['api-server']"] {
        let stage = Stage::set_with(&format!("[alerts]\n{choice}\n")).await?;
        let mut web = stage.agent("web-app", WEB).await?;
        let mut api = stage.agent("api-server", API).await?;
        api.wants_to_run("npm publish")?;
        stage.menu("1 needs you").await?;
        web.answers("Green.")?;
        stage.tells_only("web-app has finished: Green.").await.context(choice)?;
    }
    // In quiet hours no alert comes at all, so the test can only wait.
    let stage = Stage::set_with("[alerts]\nquiet_hours = ['00:00-24:00']\n").await?;
    let mut api = stage.agent("api-server", API).await?;
    api.wants_to_run("npm publish")?;
    stage.menu("1 needs you").await?;
    tokio::time::sleep(ALERT_WOULD_HAVE_COME).await;
    assert_eq!((stage.screen.standing(), stage.screen.shown()), (vec![], 0));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mute_from_the_tray_survives_a_restart_until_it_is_ended() -> Result<()> {
    let desktop = Desktop::start().await?;
    let screen = NotificationServer::start(&desktop).await?;
    let panel = TrayHost::start(&desktop).await?;
    let mut program = start(&desktop, &["--hidden"])?;
    let item = panel.item().await?;
    choose(&item, "Mute for an hour").await?;
    menu(&item, "Unmute (muted until ").await?;
    program.kill().await?;
    drop((item, panel));

    let panel = TrayHost::start(&desktop).await?;
    let _program = start(&desktop, &["--hidden"])?;
    let item = panel.item().await?;
    menu(&item, "Unmute (muted until ").await?;
    let mut api = Agent::start(desktop.home(), "api-server", API)?;
    api.is_asked("Publish it")?;
    menu(&item, "● Publish it").await?;
    api.wants_to_run("npm publish")?;
    menu(&item, "1 needs you").await?;
    tokio::time::sleep(ALERT_WOULD_HAVE_COME).await;
    assert_eq!(screen.shown(), 0, "{:?}", screen.standing());

    choose(&item, "Unmute").await?;
    menu(&item, "Mute for an hour").await?;
    standing(&screen, WANTS).await?;
    assert_eq!(screen.shown(), 1, "what still waits is told once the mute is over");
    api.is_asked("Once more")?;
    nothing_stands(&screen).await?;
    api.wants_to_run("npm publish")?;
    standing(&screen, WANTS).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_whose_terminal_is_in_front_is_not_announced_and_a_button_brings_it_there() -> Result<()> {
    let stage = Stage::set(&[]).await?;
    let mut docs = stage.agent("docs", DOCS).await?;
    let mut api = stage.agent_in_terminal("api-server", API).await?;
    api.wants_to_run("npm publish")?;
    stage.menu("1 needs you").await?;
    docs.wants_to_run("make")?;
    stage.tells_only("docs wants to run `make`").await?;
    docs.is_asked("Never mind")?;
    nothing_stands(&stage.screen).await?;

    // Another terminal covers it: now the user would not see the request.
    api.is_asked("Never mind")?;
    let _web = stage.agent_in_terminal("web-app", WEB).await?;
    stage.menu("● Work on api-server").await?;
    api.wants_to_run("npm publish")?;
    let shown = stage.standing(WANTS).await?;
    stage.screen.choose(shown.id, "focus-terminal").await?;
    stage.in_front("api-server").await?;
    assert!(stage.desktop.windows(crate::TITLE).await?.is_empty(), "the terminal is enough");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn alerts_make_a_sound_when_the_setting_says_so() -> Result<()> {
    let stage = Stage::set_with("[alerts]\nsound = true\n").await?;
    let mut api = stage.agent("api-server", API).await?;
    api.wants_to_run("npm publish")?;
    let shown = stage.standing(WANTS).await?;
    assert_eq!((shown.silent, shown.sound.as_deref()), (false, Some("message-new-instant")));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_launcher_shows_the_number_of_sessions_that_need_the_user() -> Result<()> {
    let desktop = Desktop::start().await?;
    let launcher = Launcher::start(&desktop).await?;
    let mut api = Agent::start(desktop.home(), "api-server", API)?;
    let mut web = Agent::start(desktop.home(), "web-app", WEB)?;
    let _panel = TrayHost::start(&desktop).await?;
    let _program = start(&desktop, &["--hidden"])?;
    let bears = async |count: i64| {
        let entry = "application://Watchbill.desktop".to_owned();
        let wanted = Some(Count { entry, count, visible: count > 0 });
        until(&format!("{count} on the launcher"), 60, async || (launcher.count() == wanted).then_some(()))
            .await
    };
    bears(0).await?;
    for (agent, count) in [(&mut api, 1), (&mut web, 2)] {
        agent.is_asked("Build it")?;
        agent.wants_to_run("make")?;
        bears(count).await?;
    }
    for (agent, count) in [(&mut api, 1), (&mut web, 0)] {
        agent.is_asked("Never mind")?;
        bears(count).await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_notification_server_that_comes_back_is_used_even_with_few_abilities() -> Result<()> {
    let Stage { screen, item, _panel, _program, desktop, .. } = Stage::set(&[]).await?;
    let agent = async |name: &str, session| -> Result<Agent> {
        let mut agent = Agent::start(desktop.home(), name, session)?;
        agent.is_asked(&format!("Work on {name}"))?;
        menu(&item, &format!("● Work on {name}")).await?;
        Ok(agent)
    };
    let (mut api, mut web) = (agent("api-server", API).await?, agent("web-app", WEB).await?);
    api.wants_to_run("npm publish")?;
    standing(&screen, WANTS).await?;

    drop(screen);
    web.wants_to_run("make")?;
    let log = desktop.home().join("program.log");
    let complaint = "no program of this desktop shows notifications";
    until("a word in the log", 60, async || {
        std::fs::read_to_string(&log).ok().filter(|log| log.contains(complaint))
    })
    .await?;

    // Needs whose notification was lost with the first server, and those without a server, still wait: they are
    // announced at once, in one notification.
    let screen = NotificationServer::start_plain(&desktop).await?;
    let shown = standing(&screen, "2 sessions need you").await?;
    assert!(shown.silent && shown.body.contains("wants to run `npm publish`"), "{shown:?}");
    web.is_asked("never mind")?;
    menu(&item, "● Work on web-app").await?;
    standing(&screen, WANTS).await?;
    web.wants_to_run("a && b < c")?;
    let shown = standing(&screen, "web-app wants to run `a && b < c`").await?;
    assert_eq!((shown.actions, shown.body.as_str()), (vec![], "Work on web-app"));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_snooze_from_the_notification_removes_it_and_its_count() -> Result<()> {
    let stage = Stage::set(&[]).await?;
    let mut api = stage.agent("api-server", API).await?;
    api.wants_to_run("npm publish")?;
    let shown = stage.standing(WANTS).await?;
    stage.menu("1 needs you").await?;
    stage.screen.choose(shown.id, "snooze").await?;
    until("no session to need the user", 60, async || {
        stage.item.menu().await.ok()?.find("needs you").is_none().then_some(())
    })
    .await?;
    assert_eq!(stage.screen.shown(), 1);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hanging_notification_server_loses_only_the_alert_it_got() -> Result<()> {
    let stage = Stage::set(&[]).await?;
    let mut api = stage.agent("api-server", API).await?;
    let mut web = stage.agent("web-app", WEB).await?;
    stage.screen.hang(true);
    api.wants_to_run("npm publish")?;
    let log = stage.desktop.home().join("program.log");
    until("a word in the log", 60, async || {
        std::fs::read_to_string(&log).ok().filter(|log| log.contains("notification"))
    })
    .await?;
    stage.screen.hang(false);
    web.wants_to_run("make")?;
    stage.standing("web-app wants to run `make`").await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_late_notification_opens_its_session_or_is_removed_if_over() -> Result<()> {
    let stage = Stage::set(&[]).await?;
    let mut api = stage.agent("api-server", API).await?;
    let mut web = stage.agent("web-app", WEB).await?;
    stage.screen.hold(true);
    api.wants_to_run("npm publish")?;
    let log = stage.desktop.home().join("program.log");
    until("a word in the log", 60, async || {
        let log = std::fs::read_to_string(&log).ok()?;
        log.contains("has not answered").then_some(())
    })
    .await?;
    web.wants_to_run("make")?;
    stage.menu("2 need you").await?;
    // So that the server has the call for the second one, too.
    tokio::time::sleep(ALERT_WOULD_HAVE_COME).await;
    api.is_asked("Never mind")?;
    stage.menu("1 needs you").await?;
    stage.screen.hold(false);

    let shown = stage.standing("web-app wants to run `make`").await?;
    // The server may show the delayed calls in any order.
    until("each to be shown once, and the first to go", 60, async || {
        (stage.screen.shown() == 2 && stage.screen.standing().len() == 1).then_some(())
    })
    .await?;
    stage.screen.choose(shown.id, "default").await?;
    window(&stage.desktop).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn no_notification_stays_after_the_program_has_quit() -> Result<()> {
    let Stage { screen, item, _panel, _program, desktop, .. } = Stage::set(&[]).await?;
    let mut api = Agent::start(desktop.home(), "api-server", API)?;
    api.is_asked("Work on api-server")?;
    menu(&item, "● Work on api-server").await?;
    api.wants_to_run("npm publish")?;
    standing(&screen, WANTS).await?;
    choose(&item, "Quit").await?;
    ended(_program).await?;
    nothing_stands(&screen).await
}
