//! Display, session bus, window manager and home of one test; on request the accessibility bus.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;
use tokio::process::{Child, Command};

use crate::{Picture, program, until};

/// A bus without service files: a call on it starts no service of the real machine.
const BUS: &str = r#"<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-Bus Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig>
  <type>session</type>
  <listen>unix:tmpdir=/tmp</listen>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>
"#;

/// The configuration of the accessibility bus from the package at-spi2-core, at the same path on every system.
const ACCESSIBILITY: &str = "/usr/share/defaults/at-spi2/accessibility.conf";

/// The optional parts of a desktop.
#[derive(Clone, Copy)]
struct Furniture {
    bus: bool,
    accessibility: bool,
}

/// A private desktop; it ends when it is dropped.
pub struct Desktop {
    display: String,
    bus: Option<String>,
    accessibility: Option<String>,
    /// Additional environment variables of every program.
    more: Vec<(&'static str, String)>,
    // Fields are dropped in this order: the processes before the folder in which they work.
    _accessibility: Option<Child>,
    _window_manager: Child,
    _bus: Option<Child>,
    _display: Child,
    home: TempDir,
}

impl Desktop {
    /// Starts a desktop with a session bus and without a tray.
    ///
    /// # Errors
    /// When a program is missing or does not start.
    pub async fn start() -> Result<Self> {
        Self::furnished(Furniture { bus: true, accessibility: false }).await
    }

    /// Starts a desktop on which there is no session bus at all.
    ///
    /// # Errors
    /// When a program is missing or does not start.
    pub async fn start_without_bus() -> Result<Self> {
        Self::furnished(Furniture { bus: false, accessibility: false }).await
    }

    /// Starts a desktop whose programs report their windows to a [`ScreenReader`](crate::ScreenReader).
    ///
    /// # Errors
    /// When a program is missing or does not start.
    pub async fn with_accessibility() -> Result<Self> {
        Self::furnished(Furniture { bus: true, accessibility: true }).await
    }

    async fn furnished(wanted: Furniture) -> Result<Self> {
        let home = tempfile::Builder::new().prefix("watchbill-desktop-").tempdir()?;
        let run = home.path().join("run");
        std::fs::create_dir(&run)?;
        let mut x = Command::new("Xvfb");
        x.args(["-displayfd", "1", "-screen", "0", "1280x900x24", "-nolisten", "tcp", "-noreset"]);
        let (display_server, number) = program::start_and_read_line(&mut x).await?;
        let display = format!(":{number}");
        let (bus_daemon, bus) = if wanted.bus {
            let config = home.path().join("bus.conf");
            std::fs::write(&config, BUS)?;
            let mut daemon = Command::new("dbus-daemon");
            daemon.arg(format!("--config-file={}", config.display()));
            daemon.args(["--nofork", "--nopidfile", "--print-address=1"]);
            let (child, address) = program::start_and_read_line(&mut daemon).await?;
            (Some(child), Some(address))
        } else {
            (None, None)
        };
        let base = environment(home.path(), &display, bus.as_deref());
        let mut openbox = Command::new("openbox");
        openbox.envs(base.clone()).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // The window manager's own windows are no subject of these tests.
        let window_manager = program::start(openbox.env("NO_AT_BRIDGE", "1"))?;
        let (accessibility_daemon, accessibility) = if wanted.accessibility {
            let (child, address) = accessibility(&run, base).await?;
            (Some(child), Some(address))
        } else {
            (None, None)
        };
        let desktop = Self {
            display,
            bus,
            accessibility,
            more: Vec::new(),
            _accessibility: accessibility_daemon,
            _window_manager: window_manager,
            _bus: bus_daemon,
            _display: display_server,
            home,
        };
        // Without a window manager the first window may get no focus.
        until("the window manager", 20, async || desktop.has_window_manager().await.then_some(())).await?;
        Ok(desktop)
    }

    /// Sets a variable for every program that is started from now on.
    pub fn set(&mut self, name: &'static str, value: impl Into<String>) {
        self.more.push((name, value.into()));
    }

    /// The home folder of all programs on this desktop.
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// The session bus.
    ///
    /// # Errors
    /// When this desktop has none.
    pub fn bus(&self) -> Result<&str> {
        self.bus.as_deref().context("this desktop has no session bus")
    }

    /// The accessibility bus.
    ///
    /// # Errors
    /// When this desktop has none.
    pub fn accessibility_bus(&self) -> Result<&str> {
        self.accessibility.as_deref().context("this desktop was started without accessibility")
    }

    /// A program that will run on this desktop, with an environment of its own. The process ends when its child value
    /// is dropped.
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        // No setting of the developer's machine may reach the tested program, not even one of the client.
        let path = std::env::var_os("PATH").unwrap_or_default();
        command.env_clear().env("PATH", path).env("LANG", "C.UTF-8");
        command.envs(environment(self.home(), &self.display, self.bus.as_deref()));
        // Otherwise the library looks for an accessibility bus, and starts one of its own.
        command.env(
            match &self.accessibility {
                Some(_) => "AT_SPI_BUS_ADDRESS",
                None => "NO_AT_BRIDGE",
            },
            self.accessibility.as_deref().unwrap_or("1"),
        );
        command.envs(self.more.iter().map(|(name, value)| (name, value)));
        command.stdin(Stdio::null()).kill_on_drop(true);
        command
    }

    /// Saves a picture of the whole screen.
    ///
    /// # Errors
    /// When ImageMagick fails.
    pub async fn screenshot(&self, to: &Path) -> Result<()> {
        let output = program::output(self.command("import").args(["-window", "root"]).arg(to)).await?;
        ensure!(output.status.success(), "import: {}", String::from_utf8_lossy(&output.stderr));
        Ok(())
    }

    /// A picture of a window, without its frame.
    ///
    /// # Errors
    /// When ImageMagick fails, or the window is not there.
    pub async fn picture(&self, id: &str) -> Result<Picture> {
        let file = self.home().join(format!("window-{id}.png"));
        let to = format!("PNG24:{}", file.display());
        let output = program::output(self.command("import").args(["-window", id, &to])).await?;
        ensure!(output.status.success(), "import: {}", String::from_utf8_lossy(&output.stderr));
        Picture::read(&file)
    }

    /// Moves the pointer to a place on the screen.
    ///
    /// # Errors
    /// When xdotool is missing.
    pub async fn point_at(&self, x: u32, y: u32) -> Result<()> {
        let mut xdotool = self.command("xdotool");
        let output = program::output(xdotool.args(["mousemove", &x.to_string(), &y.to_string()])).await?;
        ensure!(output.status.success(), "xdotool: {}", String::from_utf8_lossy(&output.stderr));
        Ok(())
    }

    /// The ids of all visible windows with this title.
    ///
    /// # Errors
    /// When xdotool is missing.
    pub async fn windows(&self, title: &str) -> Result<Vec<String>> {
        let pattern = format!("^{title}$");
        let mut xdotool = self.command("xdotool");
        let output = program::output(xdotool.args(["search", "--onlyvisible", "--name", &pattern])).await?;
        // xdotool exits with 1 when there is none.
        Ok(String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect())
    }

    /// The title of the window that has the focus.
    ///
    /// # Errors
    /// When xdotool is missing.
    pub async fn focused(&self) -> Result<Option<String>> {
        let mut xdotool = self.command("xdotool");
        let output = program::output(xdotool.args(["getactivewindow", "getwindowname"])).await?;
        let name = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        Ok(output.status.success().then_some(name))
    }

    /// Presses keys one after the other, sent to the focus, by their X names: `Down`, `slash`, `ctrl+k`.
    ///
    /// # Errors
    /// When xdotool is missing or knows no such key.
    pub async fn press(&self, keys: &[&str]) -> Result<()> {
        let output =
            program::output(self.command("xdotool").args(["key", "--delay", "40"]).args(keys)).await?;
        ensure!(output.status.success(), "xdotool: {}", String::from_utf8_lossy(&output.stderr));
        Ok(())
    }

    /// Types a text into the focus.
    ///
    /// # Errors
    /// When xdotool is missing.
    pub async fn write(&self, text: &str) -> Result<()> {
        let output = program::output(self.command("xdotool").args(["type", "--delay", "40", text])).await?;
        ensure!(output.status.success(), "xdotool: {}", String::from_utf8_lossy(&output.stderr));
        Ok(())
    }

    /// Asks a window to close, as its close button does.
    ///
    /// # Errors
    /// When wmctrl is missing.
    pub async fn close_window(&self, id: &str) -> Result<()> {
        let output = program::output(self.command("wmctrl").args(["-i", "-c", id])).await?;
        ensure!(output.status.success(), "wmctrl: {}", String::from_utf8_lossy(&output.stderr));
        Ok(())
    }

    /// Gives a window another size, in pixels.
    ///
    /// # Errors
    /// When xdotool is missing.
    pub async fn resize_window(&self, id: &str, width: u32, height: u32) -> Result<()> {
        let (width, height) = (width.to_string(), height.to_string());
        let mut xdotool = self.command("xdotool");
        let output = program::output(xdotool.args(["windowsize", id, &width, &height])).await?;
        ensure!(output.status.success(), "xdotool: {}", String::from_utf8_lossy(&output.stderr));
        Ok(())
    }

    /// Width and height of a window's content, in pixels.
    ///
    /// # Errors
    /// When xdotool is missing, or the window is.
    pub async fn window_size(&self, id: &str) -> Result<(u32, u32)> {
        let mut xdotool = self.command("xdotool");
        let output = program::output(xdotool.args(["getwindowgeometry", "--shell", id])).await?;
        let text = String::from_utf8_lossy(&output.stdout);
        let number = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)?.parse().ok());
        let size = number("WIDTH=").zip(number("HEIGHT="));
        size.with_context(|| format!("the window {id} is not there"))
    }

    async fn has_window_manager(&self) -> bool {
        let mut xdotool = self.command("xdotool");
        // The call succeeds only when a window manager keeps the list of desktops.
        program::output(xdotool.arg("get_desktop")).await.is_ok_and(|output| output.status.success())
    }
}

/// Starts the accessibility bus, which starts the registry of programs itself. On a usual desktop the session bus
/// starts at-spi-bus-launcher, and that starts this bus; when the launcher is killed, the bus stays.
async fn accessibility(run: &Path, environment: Vec<(&'static str, String)>) -> Result<(Child, String)> {
    ensure!(
        Path::new(ACCESSIBILITY).is_file(),
        "{ACCESSIBILITY} is missing; on Debian and Ubuntu: apt-get install at-spi2-core"
    );
    let address = format!("unix:path={}", run.join("accessibility").display());
    let mut daemon = Command::new("dbus-daemon");
    // The registry inherits this environment; it must contain nothing of the developer's.
    daemon.env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default()).envs(environment);
    daemon.env("AT_SPI_BUS_ADDRESS", &address);
    daemon.arg(format!("--config-file={ACCESSIBILITY}")).arg(format!("--address={address}"));
    daemon.args(["--nofork", "--nopidfile", "--print-address=1"]);
    program::start_and_read_line(&mut daemon).await
}

fn environment(home: &Path, display: &str, bus: Option<&str>) -> Vec<(&'static str, String)> {
    let folder = |name: &str| home.join(name).display().to_string();
    // An address that is certainly dead: without one, libraries look for a bus in other places.
    let bus = bus.map_or_else(|| format!("unix:path={}", folder("no-bus")), str::to_owned);
    vec![
        ("DISPLAY", display.to_owned()),
        ("DBUS_SESSION_BUS_ADDRESS", bus),
        ("HOME", PathBuf::from(home).display().to_string()),
        ("XDG_RUNTIME_DIR", folder("run")),
        ("XDG_DATA_HOME", folder("data")),
        ("XDG_CONFIG_HOME", folder("config")),
        ("XDG_CACHE_HOME", folder("cache")),
        ("GDK_BACKEND", "x11".into()),
        // This desktop has no settings daemon and no graphics card.
        ("GSETTINGS_BACKEND", "memory".into()),
        ("WEBKIT_DISABLE_DMABUF_RENDERER", "1".into()),
    ]
}
