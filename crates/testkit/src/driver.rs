//! The window by WebDriver: WebKit's own driver starts the program and speaks to its page.

use std::fs::File;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, Result};
use fantoccini::{Client, ClientBuilder};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::json;
use tokio::process::Child;

use crate::{Desktop, program, until};

/// A program with its page under control; both end with this value.
pub struct Driver {
    /// The page.
    pub page: Client,
    log: PathBuf,
    _driver: Child,
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
        let page = ClientBuilder::new(HttpConnector::new())
            .capabilities(capabilities)
            .connect(&format!("http://127.0.0.1:{port}"))
            .await
            .with_context(|| format!("{} showed no page; it said: {}", program.display(), read(&log)))?;
        Ok(Self { page, log, _driver: driver })
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
