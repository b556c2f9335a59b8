//! The window by WebDriver: WebKit's own driver starts the program and speaks to its page.

use std::fs::File;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context, Result};
use fantoccini::{Client, ClientBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::json;
use tokio::process::Child;

use crate::{Desktop, program, until};

/// For a program to show its page, on a machine that has much else to do.
const PATIENCE: Duration = Duration::from_secs(120);

/// A program with its page under control; both end with this value.
pub struct Driver {
    /// The page.
    pub page: Client,
    log: PathBuf,
    driver: Child,
}

impl Driver {
    /// Starts `program` with `args` and takes its first page.
    ///
    /// WebKit's driver is all that is needed: it starts the program itself, which inherits the variable
    /// that makes its web view obey.
    ///
    /// # Errors
    /// When the driver is missing, or the program shows no page.
    pub async fn start(desktop: &Desktop, program: &Path, args: &[&str]) -> Result<Self> {
        let port = free_port()?;
        let log = desktop.home().join(format!("driver-{port}.log"));
        let mut command = desktop.command("WebKitWebDriver");
        command.arg(format!("--port={port}")).arg("--host=127.0.0.1");
        command.env("TAURI_WEBVIEW_AUTOMATION", "true").env("RUST_LOG", "info");
        command.stdout(Stdio::null()).stderr(File::create(&log)?);
        let driver = program::start(&mut command)?;
        until("WebKitWebDriver to listen", 20, async || {
            tokio::net::TcpStream::connect((Ipv4Addr::LOCALHOST, port)).await.ok()
        })
        .await?;
        let mut capabilities = serde_json::Map::new();
        let options = json!({ "binary": program, "args": args });
        capabilities.insert("webkitgtk:browserOptions".into(), options);
        let address = format!("http://127.0.0.1:{port}");
        let mut client = ClientBuilder::new(HttpConnector::new());
        let connected = client.capabilities(capabilities).connect(&address);
        // The driver waits for ever for a program that has handed its arguments over and ended.
        let page = tokio::time::timeout(PATIENCE, connected)
            .await
            .map_err(anyhow::Error::from)
            .and_then(|connected| Ok(connected?))
            .with_context(|| format!("{} showed no page; it said: {}", program.display(), read(&log)))?;
        Ok(Self { page, log, driver })
    }

    /// Ends the program as its driver does, and waits until it has ended: a driver that is gone before lets it live.
    ///
    /// # Errors
    /// When it does not end.
    pub async fn end(self) -> Result<()> {
        self.page.clone().close().await?;
        until("the program to end", 60, async || (!self.has_program()).then_some(())).await
    }

    /// Whether the driver has a process that it started.
    fn has_program(&self) -> bool {
        let Some(driver) = self.driver.id() else { return false };
        let threads = std::fs::read_dir(format!("/proc/{driver}/task")).into_iter().flatten().flatten();
        threads.map(|thread| thread.path().join("children")).any(|children| !read(&children).is_empty())
    }

    /// What the program has written to its error stream.
    pub fn log(&self) -> String {
        read(&self.log)
    }
}

fn read(log: &Path) -> String {
    std::fs::read_to_string(log).unwrap_or_default()
}

/// A port that is free now. Another program could take it first; then the driver does not start and the
/// test says so.
fn free_port() -> Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}
