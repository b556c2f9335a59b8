//! The window through WebDriver: WebKit's own driver starts the program and controls its page.

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

/// The longest time until a program shows its page, on a busy machine.
const TIMEOUT: Duration = Duration::from_secs(120);

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
    /// Only WebKit's driver is needed: it starts the program itself. The program inherits the variable that lets its
    /// web view be controlled.
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
        // The driver waits for ever for a program that has passed its arguments to a running one and ended.
        let page = tokio::time::timeout(TIMEOUT, connected)
            .await
            .map_err(anyhow::Error::from)
            .and_then(|connected| Ok(connected?))
            .with_context(|| format!("{} showed no page; it said: {}", program.display(), read(&log)))?;
        Ok(Self { page, log, driver })
    }

    /// Ends the program through its driver, and waits until it has ended: if the driver ended first, the program
    /// would go on.
    ///
    /// # Errors
    /// When it does not end.
    pub async fn end(self) -> Result<()> {
        self.page.clone().close().await?;
        until("the program to end", 60, async || (!self.has_program()).then_some(())).await
    }

    /// Whether the driver has a child process.
    fn has_program(&self) -> bool {
        let Some(driver) = self.driver.id() else { return false };
        let threads = std::fs::read_dir(format!("/proc/{driver}/task")).into_iter().flatten().flatten();
        threads.map(|thread| thread.path().join("children")).any(|children| !read(&children).is_empty())
    }

    /// The program's error output.
    pub fn log(&self) -> String {
        read(&self.log)
    }
}

fn read(log: &Path) -> String {
    std::fs::read_to_string(log).unwrap_or_default()
}

/// A port that is free now. If another program takes it first, the driver does not start and the test reports it.
fn free_port() -> Result<u16> {
    Ok(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port())
}
