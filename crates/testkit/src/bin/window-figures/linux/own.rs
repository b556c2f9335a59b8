//! Sessions of your own in the window: from a key to the agent, from its line or byte to the drawn frame, and a flood.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};
use watchbill_testkit::fantoccini::Client;
use watchbill_testkit::{Desktop, until};

use super::flood::memory;
use super::{Figure, Options, figure, page, processes};

/// The stand-in of an agent on pipes.
const AGENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../benches/own_agent.py");
/// Writes the time over and over on one line of a terminal, at any moment of a frame.
const CLOCK: &str = "import sys, time\nn = 0\nwhile True:\n\
    \x20   time.sleep(0.05 + n * 7 % 16 / 1e3)\n    n += 1\n\
    \x20   sys.stdout.write(f'\\r={time.time_ns() / 1e6:.3f}=')\n    sys.stdout.flush()\n";
const SCROLLBACK: usize = 10_000;
/// The prompts, pieces of text, and writes that are measured.
const TIMES: usize = 200;
/// Of each `yes`, in seconds.
const FLOOD: u64 = 30;
/// The folder of all sessions, in the home.
const SESSIONS: &str = "data/watchbill/own";
/// The list that has the agent's text.
const LIVE: &str = "[aria-label=Live]";
/// The drawn lines of a terminal.
const ROWS: &str = ".xterm-rows";

pub async fn measure(wish: &Options) -> Result<Vec<Figure>> {
    let desktop = Desktop::start().await?;
    let window = page::open(&desktop, wish, &[]).await?;
    let id = until("the window", 30, async || desktop.windows("Watchbill").await.ok()?.pop()).await?;
    desktop.resize_window(&id, 1200, 760).await?;
    let (page, home) = (&window.page, desktop.home());
    let _hosts = Hosts(home);
    let mut figures = stream(page, home).await?;
    figures.extend(terminal(page, home).await?);
    figures.extend(attach(page, home).await?);
    let pid = processes::find(&wish.program, home)?;
    figures.extend(flood(page, home, pid, wish.seconds.min(FLOOD)).await?);
    Ok(figures)
}

/// Starts a session as the page does, and opens its row.
async fn open(page: &Client, cwd: &Path, number: u32, kind: &str, command: Value) -> Result<String> {
    let session = format!("{number:08x}-0000-4000-8000-000000000002");
    let agent = if kind == "pty" { "shell" } else { "claude" };
    let spec = json!({
        "session": session, "agent": agent, "kind": kind, "cwd": cwd, "command": command,
        "createdAt": format!("{:.3}", jiff::Timestamp::now()),
    });
    let script = "const [spec, done] = arguments; \
        window.__TAURI_INTERNALS__.invoke('ask', { request: { request: 'own_start', spec } }).then(() => done(''), (error) => done(JSON.stringify(error)));";
    let said = page.execute_async(script, vec![spec]).await?;
    ensure!(said == json!(""), "the session was not started: {said}");
    let row = format!("[data-session='{session}']");
    page::there(page, &row).await?;
    page::probe(page, &format!("(document.querySelector(\"{row}\").click(), 0)")).await?;
    Ok(session)
}

/// Prompts by key, and the text of the agent.
async fn stream(page: &Client, home: &Path) -> Result<Vec<Figure>> {
    let cwd = home.join("stream");
    std::fs::create_dir(&cwd)?;
    open(page, &cwd, 1, "stream", json!(["python3", "-B", AGENT])).await?;
    page::there(page, "textarea[aria-label=Prompt]").await?;
    let send = |words: &str, times: usize| format!("prompting({{ words: '{words}', times: {times} }})");
    page::probe(page, &send("first", 1)).await?;
    received(&cwd, "first 0").await?;
    // The words are "say", the number of the pieces, their distance, and the number of the prompt.
    page::probe(page, &send(&format!("say {} 37", TIMES + 40), 1)).await?;
    page::there(page, LIVE).await?;
    let spans = page::probe(page, &format!("stamped({{ selector: '{LIVE}', count: {TIMES} }})")).await?;
    let mut figures = spans_of("window, agent's line to frame", &spans, 50.0);
    // The turn ends.
    tokio::time::sleep(Duration::from_secs(5)).await;
    let pressed = page::probe(page, &send("key", TIMES)).await?;
    let mut spans = Vec::new();
    for (number, at) in pressed.iter().enumerate() {
        spans.push(received(&cwd, &format!("key {number}")).await? - at);
    }
    figures.extend(spans_of("window, Enter in the prompt box to agent's input", &spans, 20.0));
    Ok(figures)
}

/// When the agent read these words, in milliseconds since 1970.
async fn received(cwd: &Path, words: &str) -> Result<f64> {
    until(words, 60, async || {
        let text = std::fs::read_to_string(cwd.join("received")).ok()?;
        let line = text.lines().find_map(|line| line.split_once(' ').filter(|(_, said)| *said == words))?;
        line.0.parse().ok()
    })
    .await
}

fn spans_of(what: &str, spans: &[f64], at_most: f64) -> Vec<Figure> {
    vec![
        figure(format!("{what}, 95 of 100"), page::quantile(spans, 0.95), "ms", Some(at_most)),
        figure(format!("{what}, median"), page::quantile(spans, 0.5), "ms", None),
    ]
}

/// What a program writes into its terminal.
async fn terminal(page: &Client, home: &Path) -> Result<Vec<Figure>> {
    open(page, home, 2, "pty", json!(["python3", "-B", "-c", CLOCK])).await?;
    page::there(page, ROWS).await?;
    tokio::time::sleep(Duration::from_secs(2)).await;
    let spans = page::probe(page, &format!("stamped({{ selector: '{ROWS}', count: {TIMES} }})")).await?;
    Ok(spans_of("window, byte in a terminal to frame", &spans, 30.0))
}

/// The tab of a terminal with much scrollback.
async fn attach(page: &Client, home: &Path) -> Result<Vec<Figure>> {
    let format = "line %06.0f of a program that writes sixty characters in each";
    let script = format!("seq -f '{format}' 1 {}; printf 'all drawn'; exec cat", SCROLLBACK + 100);
    open(page, home, 3, "pty", json!(["sh", "-c", script])).await?;
    page::there(page, ROWS).await?;
    tokio::time::sleep(Duration::from_secs(3)).await;
    let spans = page::probe(page, "attaching({ text: 'all drawn', times: 40 })").await?;
    Ok(spans_of(
        &format!("window, terminal with {SCROLLBACK} lines of scrollback, click to frame"),
        &spans,
        150.0,
    ))
}

/// A program that writes as fast as it can.
async fn flood(page: &Client, home: &Path, window: u32, seconds: u64) -> Result<Vec<Figure>> {
    let until_then = (seconds + 20).to_string();
    let session = open(page, home, 4, "pty", json!(["timeout", until_then, "yes"])).await?;
    page::there(page, ROWS).await?;
    let socket = home.join(SESSIONS).join(&session).join("host.sock");
    let host = host_of(&socket)?;
    tokio::time::sleep(Duration::from_secs(3)).await;
    let call = format!("steady({{ selector: '{ROWS}', seconds: {seconds} }})");
    let (begun, mut held, mut hosts) = (Instant::now(), Vec::new(), Vec::new());
    let probe = page::probe(page, &call);
    tokio::pin!(probe);
    let found = loop {
        tokio::select! {
            found = &mut probe => break found?,
            () = tokio::time::sleep(Duration::from_secs(1)) => {
                let used = processes::used(window);
                held.push((begun.elapsed(), used.memory, used.own));
                hosts.push(processes::used(host).own);
            }
        }
    };
    let what = format!("window, `yes` for {seconds} s");
    let (drawn, gaps) = found.split_first().context("no frame")?;
    let mut figures = page::frames(&what, gaps);
    figures.push(figure(format!("{what}, the terminal drawn"), *drawn, "a second", None));
    figures.extend(memory(&what, &held, Duration::from_secs(seconds / 6)));
    let third = hosts.len().div_ceil(3);
    let most = |looks: &[f64]| looks.iter().copied().fold(f64::NAN, f64::max);
    let before = most(&hosts[..third]);
    figures.push(figure(format!("{what}, the host, most of the first third"), before, "MB", None));
    let last = most(&hosts[hosts.len() - third..]);
    figures.push(figure(
        format!("{what}, the host, most of the last third"),
        last,
        "MB",
        Some(before * 1.05),
    ));
    Ok(figures)
}

/// The hosts of a home. They outlive the window, and end with this value.
struct Hosts<'a>(&'a Path);

impl Drop for Hosts<'_> {
    fn drop(&mut self) {
        let folders = std::fs::read_dir(self.0.join(SESSIONS)).into_iter().flatten().flatten();
        let sockets: Vec<_> = folders.map(|folder| folder.path().join("host.sock")).collect();
        for host in sockets.iter().filter_map(|socket| host_of(socket).ok()) {
            let _ = std::process::Command::new("kill").arg(host.to_string()).status();
        }
        let begun = Instant::now();
        while sockets.iter().any(|socket| socket.exists()) && begun.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

/// The process that listens at this socket, by its greeting.
fn host_of(socket: &Path) -> Result<u32> {
    use std::io::BufRead as _;
    let stream = std::os::unix::net::UnixStream::connect(socket)
        .with_context(|| format!("no host at {}", socket.display()))?;
    let mut line = String::new();
    std::io::BufReader::new(stream).read_line(&mut line)?;
    let hello: Value = serde_json::from_str(&line)?;
    let pid = hello["pid"].as_u64().and_then(|pid| u32::try_from(pid).ok());
    pid.context("a host without a process")
}
